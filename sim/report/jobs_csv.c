/* SPDX-License-Identifier: MIT */
#include "sim/report/jobs_csv.h"

#include <stdlib.h>

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

/* A run without a stop_s ends with jobs UNFINISHED if its policy never starts them. */
static SimTime
stop_of(const Scenario *scenario, const RunRecord *record)
{
	return scenario->stop_ns != TIME_NEVER ? scenario->stop_ns : record->end_ns;
}

/* Order */

typedef struct JobEnd {
	SimTime at_ns;
	guint32 row;
	JobId job;
} JobEnd;

static int
job_end_compare(const void *one, const void *other)
{
	const JobEnd *a = one;
	const JobEnd *b = other;

	if (a->at_ns != b->at_ns)
		return a->at_ns < b->at_ns ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* When it is known what became of the job (B16). */
static SimTime
job_end_ns(const Scenario *scenario, const RunRecord *record, const Job *job)
{
	const JobRecord *done = &record->jobs[job->id];

	if (job_has_finish(done))
		return done->finish_ns;
	return done->state == JOB_REJECTED ? job->submit_ns : stop_of(scenario, record);
}

static void
sort_by_end(const Scenario *scenario, const RunRecord *record, JobId *order)
{
	guint n = scenario->workload->n_jobs;
	g_autofree JobEnd *ends = g_new(JobEnd, n);

	for (JobId i = 0; i < n; i++) {
		const Job *job = &scenario->workload->jobs[i];

		ends[i] = (JobEnd){ job_end_ns(scenario, record, job), job->row, i };
	}
	if (n > 0)
		qsort(ends, n, sizeof *ends, job_end_compare);
	for (guint i = 0; i < n; i++)
		order[i] = ends[i].job;
}

JobId *
job_order_new(const Scenario *scenario, const RunRecord *record, JobOrder order)
{
	const Workload *workload = scenario->workload;
	JobId *jobs = g_new(JobId, workload->n_jobs);

	switch (order) {
	case JOB_ORDER_TRACE:
		for (guint i = 0; i < workload->n_jobs; i++)
			jobs[i] = workload->by_row[i];
		break;
	case JOB_ORDER_FINISH:
		sort_by_end(scenario, record, jobs);
		break;
	}
	return jobs;
}

/* Rows */

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
pending_of(const Job *job, const JobRecord *done, SimTime stop_ns, SimTime *ret_ns)
{
	SimTime end_ns = job_has_finish(done) ? done->finish_ns : stop_ns;

	if (done->state == JOB_REJECTED)
		return FALSE;
	*ret_ns = end_ns > job->submit_ns ? end_ns - job->submit_ns - done->run_ns : 0;
	return TRUE;
}

static void
append_pending(GString *out, const Job *job, const JobRecord *done, SimTime stop_ns)
{
	SimTime pending_ns;

	if (pending_of(job, done, stop_ns, &pending_ns))
		cell_seconds(out, pending_ns);
	else
		cell_empty(out);
}

static void
append_times(GString *out, const Job *job, const JobRecord *done, SimWork duration_ns,
             SimTime stop_ns)
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
	append_pending(out, job, done, stop_ns);
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

static void
append_row(GString *out, const Scenario *scenario, const RunRecord *record, JobId id)
{
	const Job *job = &scenario->workload->jobs[id];
	const JobRecord *done = &record->jobs[id];

	append_names(out, scenario, job);
	append_outcome(out, scenario, job, done);
	append_times(out, job, done, scenario->workload->duration_ns[id],
	             stop_of(scenario, record));
	append_ratios(out, scenario, job, done);
	row_end(out);
}

gboolean
jobs_csv_write(const char *path, const Scenario *scenario, const RunRecord *record,
               const JobId *order, GError **error)
{
	g_autoptr(OutputFile) file = output_file_open(path, error);
	GString *out;

	if (!file)
		return FALSE;
	out = output_file_text(file);
	header_append(out, columns);
	for (guint i = 0; i < scenario->workload->n_jobs; i++) {
		append_row(out, scenario, record, order[i]);
		if (!output_file_flush(file, error))
			return FALSE;
	}
	return output_file_commit(g_steal_pointer(&file), error);
}
