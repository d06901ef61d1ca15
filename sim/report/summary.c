/* SPDX-License-Identifier: MIT */
#include "sim/report/report.h"

#include "sim/base/file.h"
#include "sim/report/cell.h"
#include "sim/report/exact.h"
#include "sim/report/fairness.h"
#include "sim/report/metrics.h"

/* Append-only: a new column goes to the end (DESIGN 8). */
const char *const summary_columns[] = {
	"policy",
	"policy_options",
	"trace",
	"cluster",
	"seed",
	"jobs",
	"apps",
	"finished",
	"rejected",
	"timeout",
	"failed",
	"unfinished",
	"measured",
	"first_submit_s",
	"last_finish_s",
	"makespan_s",
	"jct_mean_s",
	"jct_p50_s",
	"jct_p90_s",
	"jct_p95_s",
	"jct_p99_s",
	"jct_max_s",
	"wait_mean_s",
	"wait_p50_s",
	"wait_p99_s",
	"slowdown_mean",
	"rho_mean",
	"rho_p50",
	"rho_p90",
	"rho_p99",
	"rho_max",
	"rho_over_1_frac",
	"rho_capped_max",
	"jain_rho",
	"alloc_gpu_s",
	"useful_gpu_s",
	"util_frac",
	"placement_score_mean",
	"preemptions",
	"migrations",
	"events",
	"decisions",
	"refused",
	"wait_max_s",
	"wait_max_job",
	"rho_apps",
	"rho_contention_mean",
	"rho_contention_max",
	"rho_excess_mean",
	"gini_rho",
	"stopped",
	"stopped_gpu_s",
	"goodput_frac",
	NULL,
};

#define N_COLUMNS (G_N_ELEMENTS(summary_columns) - 1)

struct SummaryRow {
	char *cells[N_COLUMNS]; /* without quotes; NULL where undefined */
	guint64 n_rejected, n_unfinished;
};

static guint
column_index(const char *column)
{
	for (guint i = 0; i < N_COLUMNS; i++) {
		if (g_str_equal(summary_columns[i], column))
			return i;
	}
	g_assert_not_reached();
}

/* Cells */

static void
put_text(SummaryRow *row, const char *column, const char *text)
{
	char **cell = &row->cells[column_index(column)];

	g_assert(!*cell);
	*cell = g_strdup(text);
}

/* A text built by a writer of cell.h, whose comma is cut off. */
static void
put_cell(SummaryRow *row, const char *column, GString *cell)
{
	g_string_truncate(cell, cell->len - 1);
	put_text(row, column, cell->str);
	g_string_free(cell, TRUE);
}

static void
put_count(SummaryRow *row, const char *column, guint64 count)
{
	GString *cell = g_string_new(NULL);

	cell_count(cell, count);
	put_cell(row, column, cell);
}

static void
put_seconds(SummaryRow *row, const char *column, SimTime length_ns)
{
	GString *cell = g_string_new(NULL);

	cell_seconds(cell, length_ns);
	put_cell(row, column, cell);
}

static void
put_clock(SummaryRow *row, const char *column, gint64 origin_ns, SimTime at_ns)
{
	GString *cell = g_string_new(NULL);

	cell_clock(cell, origin_ns, at_ns);
	put_cell(row, column, cell);
}

static void
put_gpu_seconds(SummaryRow *row, const char *column, GpuTime time)
{
	GString *cell = g_string_new(NULL);

	cell_gpu_seconds(cell, time);
	put_cell(row, column, cell);
}

static void
put_nano(SummaryRow *row, const char *column, __int128 billionths)
{
	GString *cell = g_string_new(NULL);

	cell_nano(cell, billionths);
	put_cell(row, column, cell);
}

static void
put_number(SummaryRow *row, const char *column, double value)
{
	GString *cell = g_string_new(NULL);

	cell_number(cell, value);
	put_cell(row, column, cell);
}

/* Parts of a row */

static void
put_scenario(SummaryRow *row, const Scenario *scenario)
{
	put_text(row, "trace", scenario->workload->path);
	put_text(row, "cluster", scenario->cluster->given);
	put_count(row, "seed", scenario->seed);
	put_count(row, "jobs", scenario->workload->n_jobs);
	put_count(row, "apps", scenario->workload->n_apps);
}

static void
put_states(SummaryRow *row, const JobMetrics *metrics)
{
	put_count(row, "finished", metrics->finished);
	put_count(row, "rejected", metrics->rejected);
	put_count(row, "timeout", metrics->timeout);
	put_count(row, "failed", metrics->failed);
	put_count(row, "unfinished", metrics->unfinished);
	put_count(row, "stopped", metrics->stopped);
	put_count(row, "measured", metrics->jct.n);
	put_count(row, "preemptions", metrics->preemptions);
	put_count(row, "migrations", metrics->migrations);
	row->n_rejected = metrics->rejected;
	row->n_unfinished = metrics->unfinished;
}

static void
put_span(SummaryRow *row, const Scenario *scenario, const RunRecord *record)
{
	gint64 origin_ns = scenario->workload->origin_ns;

	if (record->has_first_submit)
		put_clock(row, "first_submit_s", origin_ns, record->first_submit_ns);
	if (record->has_last_finish)
		put_clock(row, "last_finish_s", origin_ns, record->last_finish_ns);
	if (record->has_first_submit && record->has_last_finish)
		put_seconds(row, "makespan_s", record->last_finish_ns - record->first_submit_ns);
}

static void
put_mean(SummaryRow *row, const char *column, const TimeFigures *figures)
{
	put_nano(row, column, divide_half_even(figures->sum_ns, figures->n));
}

static void
put_quantile(SummaryRow *row, const char *column, const TimeFigures *figures, guint percent)
{
	put_seconds(row, column, quantile_of_times(figures->sorted_ns, figures->n, percent));
}

static void
put_times(SummaryRow *row, const JobMetrics *metrics, const Workload *workload)
{
	if (metrics->jct.n == 0)
		return;
	put_mean(row, "jct_mean_s", &metrics->jct);
	put_quantile(row, "jct_p50_s", &metrics->jct, 50);
	put_quantile(row, "jct_p90_s", &metrics->jct, 90);
	put_quantile(row, "jct_p95_s", &metrics->jct, 95);
	put_quantile(row, "jct_p99_s", &metrics->jct, 99);
	put_quantile(row, "jct_max_s", &metrics->jct, 100);
	put_mean(row, "wait_mean_s", &metrics->wait);
	put_quantile(row, "wait_p50_s", &metrics->wait, 50);
	put_quantile(row, "wait_p99_s", &metrics->wait, 99);
	put_seconds(row, "wait_max_s", metrics->longest_wait_ns);
	put_text(row, "wait_max_job", workload->jobs[metrics->longest_wait].name);
}

static void
put_job_ratios(SummaryRow *row, const JobMetrics *metrics)
{
	if (metrics->has_slowdown)
		put_nano(row, "slowdown_mean", metrics->slowdown_nano);
	if (metrics->has_placement)
		put_nano(row, "placement_score_mean", metrics->placement_nano);
}

static void
put_fairness(SummaryRow *row, const MeasuredApps *measured)
{
	Distribution rho = measured_distribution(measured, RHO_THEMIS);
	Distribution capped = measured_distribution(measured, RHO_CAPPED);
	Distribution contention = measured_distribution(measured, RHO_CONTENTION);

	put_count(row, "rho_apps", rho.n);
	if (rho.n == 0)
		return;
	put_number(row, "rho_mean", rho.mean);
	put_number(row, "rho_p50", rho.p50);
	put_number(row, "rho_p90", rho.p90);
	put_number(row, "rho_p99", rho.p99);
	put_number(row, "rho_max", rho.max);
	put_nano(row, "rho_over_1_frac", ratio_to_nano(rho.over_1, rho.n));
	put_number(row, "rho_capped_max", capped.max);
	put_number(row, "jain_rho", rho.jain);
	put_number(row, "rho_contention_mean", contention.mean);
	put_number(row, "rho_contention_max", contention.max);
	put_number(row, "rho_excess_mean", rho.excess_mean);
	put_number(row, "gini_rho", rho.gini);
}

static void
put_cluster_use(SummaryRow *row, const JobMetrics *metrics, const RunRecord *record)
{
	put_gpu_seconds(row, "alloc_gpu_s", record->allocated);
	put_gpu_seconds(row, "useful_gpu_s", metrics->useful);
	put_gpu_seconds(row, "stopped_gpu_s", metrics->stopped_service);
	if (record->capacity > 0) {
		put_nano(row, "util_frac", ratio_to_nano(record->allocated, record->capacity));
		put_nano(row, "goodput_frac", ratio_to_nano(metrics->goodput, record->capacity));
	}
	put_count(row, "events", record->events);
	put_count(row, "decisions", record->decisions);
	put_count(row, "refused", record->refused);
}

SummaryRow *
summary_row_new(const Scenario *scenario, const RunRecord *record, const char *label,
                const char *policy_options)
{
	SummaryRow *row = g_new0(SummaryRow, 1);
	JobMetrics metrics;
	MeasuredApps measured;

	job_metrics_init(&metrics, scenario, record);
	measured_apps_init(&measured, scenario, record,
	                   1 << RHO_THEMIS | 1 << RHO_CAPPED | 1 << RHO_CONTENTION);
	put_text(row, "policy", label);
	put_text(row, "policy_options", policy_options);
	put_scenario(row, scenario);
	put_states(row, &metrics);
	put_span(row, scenario, record);
	put_times(row, &metrics, scenario->workload);
	put_job_ratios(row, &metrics);
	put_fairness(row, &measured);
	put_cluster_use(row, &metrics, record);
	measured_apps_clear(&measured);
	job_metrics_clear(&metrics);
	return row;
}

void
summary_row_free(SummaryRow *row)
{
	if (!row)
		return;
	for (guint i = 0; i < N_COLUMNS; i++)
		g_free(row->cells[i]);
	g_free(row);
}

const char *
summary_row_get(const SummaryRow *row, const char *column)
{
	const char *cell = row->cells[column_index(column)];

	return cell ? cell : "";
}

guint64
summary_row_n_rejected(const SummaryRow *row)
{
	return row->n_rejected;
}

guint64
summary_row_n_unfinished(const SummaryRow *row)
{
	return row->n_unfinished;
}

/* The file */

static void
append_row(GString *out, const SummaryRow *row)
{
	for (guint i = 0; i < N_COLUMNS; i++)
		cell_text(out, row->cells[i] ? row->cells[i] : "");
	row_end(out);
}

gboolean
summary_write(const char *path, const SummaryRow *const *rows, guint n_rows, GError **error)
{
	OutputFile *file = output_file_open(path, error);

	if (!file)
		return FALSE;
	header_append(output_file_text(file), summary_columns);
	for (guint i = 0; i < n_rows; i++)
		append_row(output_file_text(file), rows[i]);
	return output_file_commit(file, error);
}
