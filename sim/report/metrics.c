/* SPDX-License-Identifier: MIT */

#include "sim/report/metrics.h"

#include "sim/report/exact.h"

#define ATTO_PER_NANO G_GINT64_CONSTANT(1000000000)

void
time_figures_init(TimeFigures *figures, guint size)
{
	*figures = (TimeFigures){ .sorted_ns = g_new(SimTime, size) };
}

void
time_figures_clear(TimeFigures *figures)
{
	g_clear_pointer(&figures->sorted_ns, g_free);
}

void
time_figures_add(TimeFigures *figures, SimTime length_ns)
{
	figures->sorted_ns[figures->n++] = length_ns;
	figures->sum_ns += length_ns;
}

/* A job of duration 0 has no time to weigh with. What it ran at is known all the same where no
 * place slows its model down, and for a single GPU, which is in one slot with itself. */
static gboolean
is_never_slowed(const ModelTable *models, const Job *job)
{
	PlacementLevel worst = job->max_gpus > 1 ? LEVEL_CLUSTER : LEVEL_SLOT;

	for (PlacementLevel level = LEVEL_SLOT; level <= worst; level++) {
		if (speed_placement_ppb(models, job->model, level) != SPEED_ONE_PPB)
			return FALSE;
	}
	return TRUE;
}

/* Times 10^18, so that nine places of it are right. The job has run for some time. */
static gint64
placement_atto(const JobRecord *done)
{
	return (gint64)divide_half_even(done->placement_atto_ns, done->run_ns);
}

gboolean
job_placement_nano(const Scenario *scenario, const Job *job, const JobRecord *done,
                   gint64 *ret_nano)
{
	if (job->num_gpus == 0 || !done->has_started)
		return FALSE;
	if (done->run_ns > 0)
		*ret_nano = (gint64)divide_half_even(placement_atto(done), ATTO_PER_NANO);
	else if (is_never_slowed(scenario->models, job))
		*ret_nano = NANO_PER_ONE;
	else
		return FALSE;
	return TRUE;
}

/* Sums over the measured jobs on the way to their means; placement in ppb. */
typedef struct JobMeans {
	RatioMean slowdown, placement;
} JobMeans;

static void
add_placement(JobMeans *means, const Scenario *scenario, const Job *job, const JobRecord *done)
{
	gint64 nano;

	if (!job_placement_nano(scenario, job, done, &nano))
		return;
	/* The exact value where there is one, lest it be rounded twice. */
	if (done->run_ns > 0)
		ratio_mean_add(&means->placement, placement_atto(done), ATTO_PER_NANO);
	else
		ratio_mean_add(&means->placement, nano, 1);
}

static void
add_wait(JobMetrics *metrics, const Job *job, SimTime wait_ns)
{
	time_figures_add(&metrics->wait, wait_ns);
	/* Ids ascend by (submit, trace order), so the first of equal waits stays (B06). */
	if (metrics->longest_wait == JOB_NONE || wait_ns > metrics->longest_wait_ns) {
		metrics->longest_wait = job->id;
		metrics->longest_wait_ns = wait_ns;
	}
}

static void
add_measured(JobMetrics *metrics, JobMeans *means, const Scenario *scenario, const Job *job,
             const JobRecord *done)
{
	SimWork duration_ns = scenario->workload->duration_ns[job->id];
	SimTime jct_ns = done->finish_ns - job->submit_ns;

	time_figures_add(&metrics->jct, jct_ns);
	add_wait(metrics, job, done->first_start_ns - job->submit_ns);
	if (duration_ns > 0)
		ratio_mean_add(&means->slowdown, jct_ns, duration_ns);
	add_placement(means, scenario, job, done);
}

static void
add_state(JobMetrics *metrics, JobState state)
{
	switch (state) {
	case JOB_FINISHED:
		metrics->finished++;
		break;
	case JOB_REJECTED:
		metrics->rejected++;
		break;
	case JOB_TIMEOUT:
		metrics->timeout++;
		break;
	case JOB_FAILED:
		metrics->failed++;
		break;
	case JOB_UNFINISHED:
		metrics->unfinished++;
		break;
	case JOB_STOPPED:
		metrics->stopped++;
		break;
	case JOB_PENDING:
	case JOB_QUEUED:
	case JOB_RUNNING:
	case JOB_SUSPENDING:
	case JOB_PAUSED:
		g_assert_not_reached();
	}
}

static void
add_job(JobMetrics *metrics, JobMeans *means, const Scenario *scenario, const Job *job,
        const JobRecord *done)
{
	GpuTime kept = (GpuTime)job_held_milli(job, job->num_gpus) * done->kept_work_ns;

	add_state(metrics, done->state);
	metrics->preemptions += done->preemptions;
	metrics->migrations += done->migrations;
	metrics->useful += kept;
	if (done->state == JOB_STOPPED)
		metrics->stopped_service += done->service;
	if (done->state == JOB_FINISHED)
		metrics->goodput += kept;
	if (done->state == JOB_FINISHED && window_has(scenario, job->submit_ns))
		add_measured(metrics, means, scenario, job, done);
}

void
job_metrics_init(JobMetrics *metrics, const Scenario *scenario, const RunRecord *record)
{
	const Workload *workload = scenario->workload;
	JobMeans means = { 0 };

	*metrics = (JobMetrics){ .longest_wait = JOB_NONE };
	time_figures_init(&metrics->jct, workload->n_jobs);
	time_figures_init(&metrics->wait, workload->n_jobs);
	for (JobId i = 0; i < workload->n_jobs; i++)
		add_job(metrics, &means, scenario, &workload->jobs[i], &record->jobs[i]);
	times_sort(metrics->jct.sorted_ns, metrics->jct.n);
	times_sort(metrics->wait.sorted_ns, metrics->wait.n);
	metrics->has_slowdown = means.slowdown.n > 0;
	if (metrics->has_slowdown)
		metrics->slowdown_nano = ratio_mean_scaled(&means.slowdown, NANO_PER_ONE);
	metrics->has_placement = means.placement.n > 0;
	if (metrics->has_placement)
		metrics->placement_nano = ratio_mean_scaled(&means.placement, 1);
}

void
job_metrics_clear(JobMetrics *metrics)
{
	time_figures_clear(&metrics->jct);
	time_figures_clear(&metrics->wait);
}

gboolean
window_has(const Scenario *scenario, SimTime submit_ns)
{
	return submit_ns >= scenario->window_from_ns && submit_ns < scenario->window_to_ns;
}

const Job *
app_first_job(const Workload *workload, const App *app)
{
	const Job *first = &workload->jobs[app->jobs[0]];

	for (guint32 i = 1; i < app->n_jobs; i++) {
		const Job *job = &workload->jobs[app->jobs[i]];

		if (job->row < first->row)
			first = job;
	}
	return first;
}
