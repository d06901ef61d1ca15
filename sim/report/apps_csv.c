/* SPDX-License-Identifier: MIT */
#include "sim/report/apps_csv.h"

#include "sim/base/file.h"
#include "sim/report/cell.h"
#include "sim/report/fairness.h"

static const char *const columns[] = {
	"app_id",          "user",  "tenant",     "group",         "jobs",           "submit_s",
	"finish_s",        "state", "jct_s",      "service_gpu_s", "n_avg",          "t_shared_s",
	"t_independent_s", "rho",   "rho_capped", "contention",    "rho_contention", NULL,
};

/* The app's labels are those of its first job in the file (A35). */
static const Job *
first_job(const Workload *workload, const App *app)
{
	const Job *first = &workload->jobs[app->jobs[0]];

	for (guint32 i = 1; i < app->n_jobs; i++) {
		const Job *job = &workload->jobs[app->jobs[i]];

		if (job->row < first->row)
			first = job;
	}
	return first;
}

static void
append_names(GString *out, const Scenario *scenario, const App *app)
{
	const Job *first = first_job(scenario->workload, app);

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
append_fairness(GString *out, const Scenario *scenario, const App *app, const AppRecord *done)
{
	AppFairness fairness = { 0 };

	if (done->has_life)
		fairness = app_fairness(scenario, app, done);
	append_number(out, done->has_life, done->n_avg);
	if (done->has_life)
		cell_seconds(out, fairness.shared_ns);
	else
		cell_empty(out);
	append_number(out, fairness.has_isolated, fairness.independent_s);
	append_number(out, fairness.has_rho, fairness.rho);
	append_number(out, fairness.has_rho, fairness.rho_capped);
	append_number(out, done->has_life, done->contention);
	append_number(out, fairness.has_rho, fairness.rho_contention);
}

gboolean
apps_csv_write(const char *path, const Scenario *scenario, const RunRecord *record, GError **error)
{
	const Workload *workload = scenario->workload;
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
		append_fairness(out, scenario, &workload->apps[id], &record->apps[id]);
		row_end(out);
		if (!output_file_flush(file, error))
			return FALSE;
	}
	return output_file_commit(g_steal_pointer(&file), error);
}
