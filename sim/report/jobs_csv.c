/* SPDX-License-Identifier: MIT */
#include "sim/report/jobs_csv.h"

#include "sim/base/file.h"
#include "sim/report/cell.h"
#include "sim/report/exact.h"
#include "sim/report/metrics.h"

static const char *const columns[] = {
	"job_id",          "app_id",   "user",        "tenant",        "group",
	"model",           "gpu_type", "num_gpus",    "submit_s",      "first_start_s",
	"finish_s",        "state",    "trace_state", "reject_reason", "duration_s",
	"jct_s",           "wait_s",   "pending_s",   "run_s",         "overhead_s",
	"service_gpu_s",   "slowdown", "segments",    "preemptions",   "migrations",
	"placement_score", NULL,
};

static void
append_names(GString *out, const Scenario *scenario, const Job *job)
{
	cell_text(out, job->name);
	cell_text(out, scenario->workload->apps[job->app].name);
	cell_text(out, job->user);
	cell_text(out, job->tenant);
	cell_text(out, job->group);
	cell_text(out, job->model_name);
	cell_text(out, job->gpu_type_name);
	cell_count(out, job->num_gpus);
}

static void
append_outcome(GString *out, const Scenario *scenario, const Job *job, const JobRecord *done)
{
	gint64 origin_ns = scenario->workload->origin_ns;

	cell_clock(out, origin_ns, job->submit_ns);
	if (done->has_started)
		cell_clock(out, origin_ns, done->first_start_ns);
	else
		cell_empty(out);
	if (job_has_finish(done))
		cell_clock(out, origin_ns, done->finish_ns);
	else
		cell_empty(out);
	cell_text(out, job_state_to_string(done->state));
	cell_text(out, job->trace_state);
	cell_text(out, done->state == JOB_REJECTED ? done->reject_reason : "");
}

/* Time neither running nor done; FALSE for a job that was never queued (A32). */
static gboolean
pending_of(const Job *job, const JobRecord *done, SimTime run_end_ns, SimTime *ret_ns)
{
	SimTime end_ns = job_has_finish(done) ? done->finish_ns : run_end_ns;

	if (done->state == JOB_REJECTED)
		return FALSE;
	*ret_ns = end_ns > job->submit_ns ? end_ns - job->submit_ns - done->run_ns : 0;
	return TRUE;
}

static void
append_pending(GString *out, const Job *job, const JobRecord *done, SimTime run_end_ns)
{
	SimTime pending_ns;

	if (pending_of(job, done, run_end_ns, &pending_ns))
		cell_seconds(out, pending_ns);
	else
		cell_empty(out);
}

static void
append_times(GString *out, const Job *job, const JobRecord *done, SimWork duration_ns,
             SimTime run_end_ns)
{
	cell_seconds(out, duration_ns);
	if (job_has_finish(done))
		cell_seconds(out, done->finish_ns - job->submit_ns);
	else
		cell_empty(out);
	if (done->has_started)
		cell_seconds(out, done->first_start_ns - job->submit_ns);
	else
		cell_empty(out);
	append_pending(out, job, done, run_end_ns);
	cell_seconds(out, done->run_ns);
	cell_seconds(out, done->overhead_ns);
	cell_gpu_seconds(out, done->service);
}

static void
append_ratios(GString *out, const Scenario *scenario, const Job *job, const JobRecord *done)
{
	SimWork duration_ns = scenario->workload->duration_ns[job->id];
	gint64 placement_nano;

	if (job_has_finish(done) && duration_ns > 0)
		cell_nano(out, ratio_to_nano(done->finish_ns - job->submit_ns, duration_ns));
	else
		cell_empty(out);
	cell_count(out, done->segments);
	cell_count(out, done->preemptions);
	cell_count(out, done->migrations);
	if (job_placement_nano(scenario, job, done, &placement_nano))
		cell_nano(out, placement_nano);
	else
		cell_empty(out);
}

void
jobs_csv_append_header(GString *out)
{
	header_append(out, columns);
}

void
jobs_csv_append_row(GString *out, const Scenario *scenario, JobId id, const JobRecord *done,
                    SimTime run_end_ns)
{
	const Job *job = &scenario->workload->jobs[id];

	append_names(out, scenario, job);
	append_outcome(out, scenario, job, done);
	append_times(out, job, done, scenario->workload->duration_ns[id], run_end_ns);
	append_ratios(out, scenario, job, done);
	row_end(out);
}

gboolean
jobs_csv_write(const char *path, const Scenario *scenario, const RunRecord *record, GError **error)
{
	g_autoptr(OutputFile) file = output_file_open(path, error);
	const JobId *by_row = scenario->workload->by_row;
	GString *out;

	if (!file)
		return FALSE;
	out = output_file_text(file);
	jobs_csv_append_header(out);
	for (guint i = 0; i < scenario->workload->n_jobs; i++) {
		jobs_csv_append_row(out, scenario, by_row[i], &record->jobs[by_row[i]],
		                    record->end_ns);
		if (!output_file_flush(file, error))
			return FALSE;
	}
	return output_file_commit(g_steal_pointer(&file), error);
}
