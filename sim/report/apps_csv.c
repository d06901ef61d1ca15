/* SPDX-License-Identifier: MIT */
#include "sim/report/apps_csv.h"

#include "sim/base/file.h"
#include "sim/report/cell.h"
#include "sim/report/fairness.h"
#include "sim/report/metrics.h"

static const char *const columns[] = {
	"app_id",
	"user",
	"tenant",
	"group",
	"jobs",
	"submit_s",
	"finish_s",
	"state",
	"jct_s",
	"service_gpu_s",
	"n_avg",
	"t_shared_s",
	"t_independent_s",
	"rho",
	"rho_capped",
	"contention",
	"rho_contention",
	"n_jobs_avg",
	"n_at_work",
	"rho_gavel",
	"rho_sia",
	"rho_shockwave_static",
	"rho_shockwave_themis",
	"received_ratio",
	NULL,
};

static void
append_names(GString *out, const Scenario *scenario, const App *app)
{
	const Job *first = app_first_job(scenario->workload, app);

	cell_text(out, app->name);
	cell_text(out, first->user);
	cell_text(out, first->tenant);
	cell_text(out, first->group);
	cell_count(out, app->n_jobs);
}

static void
append_outcome(GString *out, const Scenario *scenario, const App *app, const AppRecord *done)
{
	gint64 origin_ns = scenario->workload->origin_ns;

	cell_clock(out, origin_ns, app->submit_ns);
	if (done->has_life)
		cell_clock(out, origin_ns, done->finish_ns);
	else
		cell_empty(out);
	cell_text(out, job_state_to_string(done->state));
	if (done->has_life)
		cell_seconds(out, done->finish_ns - app->submit_ns);
	else
		cell_empty(out);
	cell_gpu_seconds(out, done->service);
}

static void
append_number(GString *out, gboolean is_defined, double value)
{
	if (is_defined)
		cell_number(out, value);
	else
		cell_empty(out);
}

static void
append_value(GString *out, const AppFairness *fairness, Fairness variant)
{
	append_number(out, fairness->has_rho, fairness->values[variant]);
}

static void
append_fairness(GString *out, const FairnessBase *base, const App *app, const AppRecord *done)
{
	AppFairness fairness = { 0 };

	if (done->has_life)
		fairness = app_fairness(base, app, done);
	append_number(out, done->has_life, done->n_avg);
	if (done->has_life)
		cell_seconds(out, fairness.shared_ns);
	else
		cell_empty(out);
	append_number(out, fairness.has_isolated, fairness.independent_s);
	append_value(out, &fairness, RHO_THEMIS);
	append_value(out, &fairness, RHO_CAPPED);
	append_number(out, done->has_life, done->contention);
	append_value(out, &fairness, RHO_CONTENTION);
	append_number(out, done->has_life, done->n_jobs_avg);
	append_number(out, fairness.has_rho, done->n_at_work);
	append_value(out, &fairness, RHO_GAVEL);
	append_value(out, &fairness, RHO_SIA);
	append_value(out, &fairness, RHO_SHOCKWAVE_STATIC);
	append_value(out, &fairness, RHO_SHOCKWAVE_THEMIS);
	append_value(out, &fairness, RECEIVED_RATIO);
}

gboolean
apps_csv_write(const char *path, const Scenario *scenario, const RunRecord *record, GError **error)
{
	const Workload *workload = scenario->workload;
	FairnessBase base = fairness_base(scenario);
	g_autoptr(OutputFile) file = output_file_open(path, error);
	GString *out;

	if (!file)
		return FALSE;
	out = output_file_text(file);
	header_append(out, columns);
	for (guint i = 0; i < workload->n_apps; i++) {
		AppId id = workload->apps_by_row[i];

		append_names(out, scenario, &workload->apps[id]);
		append_outcome(out, scenario, &workload->apps[id], &record->apps[id]);
		append_fairness(out, &base, &workload->apps[id], &record->apps[id]);
		row_end(out);
		if (!output_file_flush(file, error))
			return FALSE;
	}
	return output_file_commit(g_steal_pointer(&file), error);
}
