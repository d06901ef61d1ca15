/* SPDX-License-Identifier: MIT */
#include "sim/cli/trace_stats.h"

#include <string.h>

#include "sim/base/text.h"
#include "sim/report/exact.h"

#define NAME_WIDTH   16
#define NUMBER_WIDTH 13
#define PLACES       3
#define NS_PER_MS    1000000

/* Figures are sums of integers, shown in thousandths. */

static void
append_nano(GString *out, __int128 billionths)
{
	decimal_append(out, divide_half_even(billionths, NS_PER_MS), PLACES);
}

static void
append_right(GString *out, const char *text)
{
	g_string_append_printf(out, "%*s", NUMBER_WIDTH, text);
}

static void
append_number(GString *out, __int128 billionths)
{
	g_autoptr(GString) text = g_string_new(NULL);

	append_nano(text, billionths);
	append_right(out, text->str);
}

static void
append_line(GString *out, const char *name, const char *value)
{
	g_string_append_printf(out, "%-*s%s\n", NAME_WIDTH, name, value);
}

static void
append_count(GString *out, const char *name, guint64 count)
{
	g_string_append_printf(out, "%-*s%" G_GUINT64_FORMAT "\n", NAME_WIDTH, name, count);
}

static void
append_figure(GString *out, const char *name, __int128 billionths)
{
	g_autoptr(GString) text = g_string_new(NULL);

	append_nano(text, billionths);
	append_line(out, name, text->str);
}

/* Distributions */

static const guint percents[] = { 0, 10, 50, 90, 99, 100 };

static void
append_distribution_header(GString *out)
{
	static const char *const names[] = { "min", "p10", "median", "p90", "p99", "max", "mean" };

	g_string_append_printf(out, "\n%-*s", NAME_WIDTH, "");
	for (guint i = 0; i < G_N_ELEMENTS(names); i++)
		append_right(out, names[i]);
	g_string_append_c(out, '\n');
}

/* @values, in billionths, are sorted. Nothing has no distribution. */
static void
append_distribution(GString *out, const char *name, GArray *values)
{
	gint64 *numbers = (gint64 *)(void *)values->data;
	__int128 sum = 0;

	if (values->len == 0)
		return;
	times_sort(numbers, values->len);
	for (guint i = 0; i < values->len; i++)
		sum += numbers[i];
	g_string_append_printf(out, "%-*s", NAME_WIDTH, name);
	for (guint i = 0; i < G_N_ELEMENTS(percents); i++)
		append_number(out, quantile_of_times(numbers, values->len, percents[i]));
	append_number(out, divide_half_even(sum, values->len));
	g_string_append_c(out, '\n');
}

static void
add_value(GArray *values, gint64 value)
{
	g_array_append_val(values, value);
}

static void
append_distributions(GString *out, const Workload *workload)
{
	g_autoptr(GArray) durations = g_array_new(FALSE, FALSE, sizeof(gint64));
	g_autoptr(GArray) gpus = g_array_new(FALSE, FALSE, sizeof(gint64));
	g_autoptr(GArray) gaps = g_array_new(FALSE, FALSE, sizeof(gint64));
	g_autoptr(GArray) sizes = g_array_new(FALSE, FALSE, sizeof(gint64));

	for (guint i = 0; i < workload->n_jobs; i++) {
		const Job *job = &workload->jobs[i];

		add_value(durations, workload->duration_ns[i]);
		add_value(gpus, (gint64)job_held_milli(job, job->num_gpus) * NS_PER_MS);
	}
	for (guint i = 0; i < workload->n_apps; i++) {
		const App *app = &workload->apps[i];

		add_value(sizes, app->n_jobs * NS_PER_S);
		if (i > 0)
			add_value(gaps, app->submit_ns - app[-1].submit_ns);
	}
	append_distribution_header(out);
	append_distribution(out, "duration_s", durations);
	append_distribution(out, "gpus", gpus);
	append_distribution(out, "jobs_per_app", sizes);
	append_distribution(out, "app_gap_s", gaps);
}

/* Demand */

typedef struct Demand {
	GpuTime work;        /* of all jobs */
	SimTime last_end_ns; /* if no job ever waited */
	guint64 peak_milli;  /* likewise */
} Demand;

static gint
compare_ends(gconstpointer one, gconstpointer other, gpointer data)
{
	const SimTime *ends_ns = data;
	guint32 a = *(const guint32 *)one, b = *(const guint32 *)other;

	if (ends_ns[a] != ends_ns[b])
		return ends_ns[a] < ends_ns[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

static guint64
job_asks_milli(const Workload *workload, guint32 job)
{
	return job_held_milli(&workload->jobs[job], workload->jobs[job].num_gpus);
}

/* Walks the submits, which are in order, and beside them the ends; an end comes first. */
static guint64
peak_milli(const Workload *workload, const SimTime *ends_ns, const guint32 *by_end)
{
	guint64 now_milli = 0, peak = 0;
	guint n_ended = 0;

	for (guint i = 0; i < workload->n_jobs; i++) {
		while (n_ended < i && ends_ns[by_end[n_ended]] <= workload->jobs[i].submit_ns)
			now_milli -= job_asks_milli(workload, by_end[n_ended++]);
		now_milli += job_asks_milli(workload, i);
		peak = MAX(peak, now_milli);
	}
	return peak;
}

static Demand
demand_of(const Workload *workload)
{
	g_autofree SimTime *ends_ns = g_new(SimTime, workload->n_jobs);
	g_autofree guint32 *by_end = g_new(guint32, workload->n_jobs);
	Demand demand = { 0 };

	for (guint i = 0; i < workload->n_jobs; i++) {
		ends_ns[i] = time_add(workload->jobs[i].submit_ns, workload->duration_ns[i]);
		by_end[i] = i;
		demand.work += (GpuTime)job_asks_milli(workload, i) * workload->duration_ns[i];
		demand.last_end_ns = MAX(demand.last_end_ns, ends_ns[i]);
	}
	g_qsort_with_data(by_end, (gint)workload->n_jobs, sizeof(guint32), compare_ends, ends_ns);
	demand.peak_milli = peak_milli(workload, ends_ns, by_end);
	return demand;
}

static SimTime
span_ns(const Workload *workload)
{
	return workload->n_jobs > 0 ? workload->jobs[workload->n_jobs - 1].submit_ns : 0;
}

static void
append_demand(GString *out, const Workload *workload, const Demand *demand)
{
	append_figure(out, "gpu_hours", demand->work / (GPU_MILLI * 3600));
	append_figure(out, "peak_gpus", (__int128)demand->peak_milli * NS_PER_MS);
	if (demand->last_end_ns > 0)
		append_figure(
		    out, "mean_gpus",
		    ratio_to_nano(demand->work, (__int128)demand->last_end_ns * GPU_MILLI));
}

/* Over the span of the submits, not of the run: a long last job would hide the load. */
static void
append_capacity(GString *out, const Workload *workload, const ClusterSpec *cluster,
                const Demand *demand)
{
	SimTime span = span_ns(workload);
	guint64 n_too_wide = 0;

	for (guint i = 0; i < workload->n_jobs; i++)
		n_too_wide += workload->jobs[i].num_gpus > cluster->n_gpus;
	g_string_append_c(out, '\n');
	append_line(out, "cluster", cluster->given);
	append_count(out, "cluster_gpus", cluster->n_gpus);
	if (span > 0 && cluster->n_gpus > 0)
		append_figure(
		    out, "offered_load",
		    ratio_to_nano(demand->work, (__int128)span * GPU_MILLI * cluster->n_gpus));
	if (cluster->n_gpus > 0)
		append_figure(
		    out, "peak_load",
		    ratio_to_nano(demand->peak_milli, (__int128)GPU_MILLI * cluster->n_gpus));
	append_count(out, "jobs_too_wide", n_too_wide);
}

/* Counts */

/* How many values a text of the jobs has, empty ones left out. */
static guint
count_labels(const Workload *workload, gsize offset)
{
	g_autoptr(GHashTable) labels = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < workload->n_jobs; i++) {
		const char *const *field =
		    (const void *)((const char *)&workload->jobs[i] + offset);

		if ((*field)[0] != '\0')
			g_hash_table_add(labels, (gpointer)(guintptr)*field);
	}
	return g_hash_table_size(labels);
}

static guint
count_apps_of_many(const Workload *workload)
{
	guint n = 0;

	for (guint i = 0; i < workload->n_apps; i++)
		n += workload->apps[i].n_jobs > 1;
	return n;
}

static guint
count_moldable(const Workload *workload)
{
	guint n = 0;

	for (guint i = 0; i < workload->n_jobs; i++)
		n += !job_is_rigid(&workload->jobs[i]);
	return n;
}

static void
append_counts(GString *out, const Workload *workload)
{
	append_line(out, "trace", workload->path);
	append_line(out, "format", workload->format);
	append_count(out, "rows", workload->n_rows_read);
	append_count(out, "bad_rows", workload->n_rows_read - workload->n_jobs);
	append_count(out, "jobs", workload->n_jobs);
	append_count(out, "moldable_jobs", count_moldable(workload));
	append_count(out, "apps", workload->n_apps);
	append_count(out, "apps_of_many", count_apps_of_many(workload));
	append_count(out, "users", count_labels(workload, G_STRUCT_OFFSET(Job, user)));
	append_count(out, "tenants", count_labels(workload, G_STRUCT_OFFSET(Job, tenant)));
	append_count(out, "models", count_labels(workload, G_STRUCT_OFFSET(Job, model_name)));
}

static void
append_times(GString *out, const Workload *workload)
{
	if (workload->n_jobs == 0)
		return;
	append_figure(out, "first_submit_s", workload->origin_ns);
	append_figure(out, "last_submit_s", (__int128)workload->origin_ns + span_ns(workload));
	append_figure(out, "span_s", span_ns(workload));
}

char *
trace_stats_table(const Workload *workload, const ClusterSpec *cluster)
{
	GString *out = g_string_new(NULL);
	Demand demand = demand_of(workload);

	append_counts(out, workload);
	append_times(out, workload);
	append_demand(out, workload, &demand);
	if (workload->n_jobs > 0)
		append_distributions(out, workload);
	if (cluster)
		append_capacity(out, workload, cluster, &demand);
	return g_string_free(out, FALSE);
}
