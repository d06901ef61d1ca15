/* SPDX-License-Identifier: MIT */
#include "sim/report/fairness_csv.h"

#include <string.h>

#include "sim/base/file.h"
#include "sim/report/cell.h"
#include "sim/report/exact.h"
#include "sim/report/fairness.h"
#include "sim/report/metrics.h"

static const char *const columns[] = {
	"scope",         "group",       "variant", "apps",   "mean",
	"min",           "p5",          "p50",     "p90",    "p95",
	"p99",           "max",         "spread",  "over_1", "over_1_frac",
	"over_1_1_frac", "excess_mean", "jain",    "gini",   "jain_inverse",
	"gini_inverse",  NULL,
};

typedef enum Scope {
	SCOPE_ALL,
	SCOPE_TENANT,
	SCOPE_USER,
	SCOPE_GROUP,
	SCOPE_SIZE,
	SCOPE_DURATION,
	SCOPE_MODEL,
	SCOPE_SENSITIVITY,
	N_SCOPES,
} Scope;

static const char *const scope_names[N_SCOPES] = {
	"all", "tenant", "user", "group", "size", "duration", "model", "sensitivity",
};

/* Classes: the name of the first whose bound is not below the number. */
typedef struct SizeClass {
	const char *name;
	double most;
} SizeClass;

static const SizeClass gpu_classes[] = {
	{ "1", 1 },
	{ "2-4", 4 },
	{ "5-8", 8 },
	{ ">8", G_MAXDOUBLE },
};

static const SizeClass second_classes[] = {
	{ "<=10min", 600 },        { "10min-1h", 3600 },    { "1h-6h", 6 * 3600.0 },
	{ "6h-24h", 24 * 3600.0 }, { ">24h", G_MAXDOUBLE },
};

static const char *
class_of(const SizeClass *classes, double number)
{
	while (number > classes->most)
		classes++;
	return classes->name;
}

/* The widest gang of the app, as asked for. */
static guint
widest_gang(const Workload *workload, const App *app)
{
	guint widest = 0;

	for (guint32 i = 0; i < app->n_jobs; i++)
		widest = MAX(widest, workload->jobs[app->jobs[i]].num_gpus);
	return widest;
}

/* Whether a model runs slower by more than a tenth when it is spread over the cluster; nothing is
 * known of a job without a model. */
static const char *
sensitivity_of(const ModelTable *models, const Job *job)
{
	gint64 slowdown_ppb;

	if (job->model == MODEL_NONE)
		return "";
	slowdown_ppb = models->models[job->model].slowdown_ppb[LEVEL_CLUSTER];
	return slowdown_ppb > SPEED_ONE_PPB + SPEED_ONE_PPB / 10 ? ">1.1" : "<=1.1";
}

static const char *
name_in(const Scenario *scenario, const App *app, const AppRecord *done, Scope scope)
{
	const Job *first = app_first_job(scenario->workload, app);

	switch (scope) {
	case SCOPE_ALL:
		return "";
	case SCOPE_TENANT:
		return first->tenant;
	case SCOPE_USER:
		return first->user;
	case SCOPE_GROUP:
		return first->group;
	case SCOPE_SIZE:
		return class_of(gpu_classes, widest_gang(scenario->workload, app));
	case SCOPE_DURATION:
		return class_of(second_classes, app_alone_s(scenario, app, done));
	case SCOPE_MODEL:
		return first->model_name;
	case SCOPE_SENSITIVITY:
		return sensitivity_of(scenario->models, first);
	case N_SCOPES:
		break;
	}
	g_assert_not_reached();
}

/* The measured apps by one scope: groups in the order of their names, as bytes, or of the classes
 * above. Where no app has a name there are no groups. */
typedef struct Grouping {
	guint n;
	const char **names;    /* the workload's, or constants */
	guint32 *group_of;     /* by measured app */
	guint32 *first;        /* where the group's values begin; n + 1 of them */
	Distribution *figures; /* by group, by Fairness */
} Grouping;

static guint
class_rank(const SizeClass *classes, const char *name)
{
	guint rank = 0;

	while (!g_str_equal(classes[rank].name, name))
		rank++;
	return rank;
}

static int
compare_names(const void *one, const void *other, void *scope)
{
	const char *a = *(const char *const *)one;
	const char *b = *(const char *const *)other;

	if (GPOINTER_TO_UINT(scope) == SCOPE_SIZE)
		return (int)class_rank(gpu_classes, a) - (int)class_rank(gpu_classes, b);
	if (GPOINTER_TO_UINT(scope) == SCOPE_DURATION)
		return (int)class_rank(second_classes, a) - (int)class_rank(second_classes, b);
	return strcmp(a, b);
}

/* Numbers the names as they come, and says so in group_of. */
static GPtrArray *
collect_names(Grouping *grouping, const Scenario *scenario, const RunRecord *record,
              const MeasuredApps *measured, Scope scope)
{
	g_autoptr(GHashTable) number_of = g_hash_table_new(g_str_hash, g_str_equal);
	GPtrArray *names = g_ptr_array_new();
	const char *last = NULL;
	guint number = 0;

	for (guint i = 0; i < measured->n; i++) {
		const App *app = &scenario->workload->apps[measured->apps[i]];
		const char *name = name_in(scenario, app, &record->apps[app->id], scope);

		/* Texts that are the same are often one text. */
		if (name != last)
			number = GPOINTER_TO_UINT(g_hash_table_lookup(number_of, name));
		last = name;
		if (number == 0) {
			g_ptr_array_add(names, (gpointer)(guintptr)name);
			number = names->len;
			g_hash_table_insert(number_of, (gpointer)(guintptr)name,
			                    GUINT_TO_POINTER(number));
		}
		grouping->group_of[i] = number - 1;
	}
	return names;
}

/* From the order in which the names came to theirs. */
static void
sort_groups(Grouping *grouping, const GPtrArray *came, guint n_apps, Scope scope)
{
	g_autoptr(GHashTable) rank_of = g_hash_table_new(g_str_hash, g_str_equal);
	g_autofree guint32 *ranks = g_new(guint32, came->len);

	grouping->n = came->len;
	grouping->names = g_new(const char *, came->len);
	for (guint i = 0; i < came->len; i++)
		grouping->names[i] = came->pdata[i];
	g_qsort_with_data(grouping->names, (int)came->len, sizeof *grouping->names, compare_names,
	                  GUINT_TO_POINTER(scope));
	for (guint i = 0; i < came->len; i++)
		g_hash_table_insert(rank_of, (gpointer)(guintptr)grouping->names[i],
		                    GUINT_TO_POINTER(i));
	for (guint i = 0; i < came->len; i++)
		ranks[i] = GPOINTER_TO_UINT(g_hash_table_lookup(rank_of, came->pdata[i]));
	for (guint i = 0; i < n_apps; i++)
		grouping->group_of[i] = ranks[grouping->group_of[i]];
}

static void
grouping_init(Grouping *grouping, const Scenario *scenario, const RunRecord *record,
              const MeasuredApps *measured, Scope scope)
{
	g_autoptr(GPtrArray) came = NULL;

	*grouping = (Grouping){ .group_of = g_new(guint32, measured->n) };
	came = collect_names(grouping, scenario, record, measured, scope);
	/* One group of no name says nothing that all together does not say. */
	if (scope != SCOPE_ALL && came->len == 1 && *(const char *)came->pdata[0] == '\0')
		return;
	sort_groups(grouping, came, measured->n, scope);
	grouping->first = g_new0(guint32, grouping->n + 1);
	for (guint i = 0; i < measured->n; i++)
		grouping->first[grouping->group_of[i] + 1]++;
	for (guint i = 0; i < grouping->n; i++)
		grouping->first[i + 1] += grouping->first[i];
	grouping->figures = g_new0(Distribution, (gsize)grouping->n * N_FAIRNESS);
}

static void
grouping_clear(Grouping *grouping)
{
	g_free(grouping->names);
	g_free(grouping->group_of);
	g_free(grouping->first);
	g_free(grouping->figures);
}

/* Deals @values out to the groups in ascending order, so that one sort does for all scopes; into
 * @sorted, with room for all. */
static void
find_figures(Grouping *grouping, const double *values, const guint32 *order, guint n,
             Fairness variant, double *sorted)
{
	g_autofree guint32 *next = g_memdup2(grouping->first, grouping->n * sizeof *next);

	if (grouping->n == 0)
		return;
	for (guint i = 0; i < n; i++)
		sorted[next[grouping->group_of[order[i]]]++] = values[order[i]];
	for (guint i = 0; i < grouping->n; i++)
		grouping->figures[i * N_FAIRNESS + variant] = distribution_of(
		    sorted + grouping->first[i], grouping->first[i + 1] - grouping->first[i]);
}

static void
find_all_figures(Grouping *groupings, const MeasuredApps *measured)
{
	g_autoptr(Sorter) sorter = sorter_new(measured->n);
	g_autofree guint32 *order = g_new(guint32, measured->n);
	g_autofree double *sorted = g_new(double, measured->n);

	for (Fairness variant = 0; variant < N_FAIRNESS; variant++) {
		const double *values = measured->values[variant];

		sorter_order(sorter, values, measured->n, order);
		for (Scope scope = 0; scope < N_SCOPES; scope++)
			find_figures(&groupings[scope], values, order, measured->n, variant,
			             sorted);
	}
}

/* Above 1 is a broken promise where rho is, and luck where GPU time is. */
static void
append_violations(GString *out, const Distribution *figures, Fairness variant)
{
	if (!fairness_is_rho(variant)) {
		for (guint i = 0; i < 4; i++)
			cell_empty(out);
		return;
	}
	cell_count(out, figures->over_1);
	cell_nano(out, ratio_to_nano(figures->over_1, figures->n));
	cell_nano(out, ratio_to_nano(figures->over_1_1, figures->n));
	cell_number(out, figures->excess_mean);
}

static void
append_row(GString *out, Scope scope, const char *group, Fairness variant,
           const Distribution *figures)
{
	cell_text(out, scope_names[scope]);
	cell_text(out, group);
	cell_text(out, fairness_names[variant]);
	cell_count(out, figures->n);
	cell_number(out, figures->mean);
	cell_number(out, figures->min);
	cell_number(out, figures->p5);
	cell_number(out, figures->p50);
	cell_number(out, figures->p90);
	cell_number(out, figures->p95);
	cell_number(out, figures->p99);
	cell_number(out, figures->max);
	cell_number(out, figures->p95 - figures->p5);
	append_violations(out, figures, variant);
	cell_number(out, figures->jain);
	cell_number(out, figures->gini);
	cell_number(out, figures->jain_inverse);
	cell_number(out, figures->gini_inverse);
	row_end(out);
}

static gboolean
write_groups(OutputFile *file, const Grouping *groupings, GError **error)
{
	for (Scope scope = 0; scope < N_SCOPES; scope++) {
		const Grouping *grouping = &groupings[scope];

		for (guint i = 0; i < grouping->n * N_FAIRNESS; i++) {
			append_row(output_file_text(file), scope, grouping->names[i / N_FAIRNESS],
			           (Fairness)(i % N_FAIRNESS), &grouping->figures[i]);
			if (!output_file_flush(file, error))
				return FALSE;
		}
	}
	return TRUE;
}

gboolean
fairness_csv_write(const char *path, const Scenario *scenario, const RunRecord *record,
                   GError **error)
{
	g_autoptr(OutputFile) file = output_file_open(path, error);
	Grouping groupings[N_SCOPES];
	MeasuredApps measured;
	gboolean is_written;

	if (!file)
		return FALSE;
	header_append(output_file_text(file), columns);
	measured_apps_init(&measured, scenario, record, (1u << N_FAIRNESS) - 1);
	for (Scope scope = 0; scope < N_SCOPES; scope++)
		grouping_init(&groupings[scope], scenario, record, &measured, scope);
	find_all_figures(groupings, &measured);
	is_written = write_groups(file, groupings, error);
	for (Scope scope = 0; scope < N_SCOPES; scope++)
		grouping_clear(&groupings[scope]);
	measured_apps_clear(&measured);
	return is_written && output_file_commit(g_steal_pointer(&file), error);
}
