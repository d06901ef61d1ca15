/* SPDX-License-Identifier: MIT */

#include "sim/engine/runs.h"

SimTime
view_now_ns(const View *view)
{
	return view->engine->now_ns;
}

const ClusterSpec *
view_cluster_spec(const View *view)
{
	return view->engine->scenario->cluster;
}

const Cluster *
view_cluster(const View *view)
{
	return view->engine->cluster;
}

const ModelTable *
view_models(const View *view)
{
	return view->engine->scenario->models;
}

RngStream
view_stream(const View *view, const char *name)
{
	return rng_stream(view->engine->scenario->seed, name);
}

guint
view_n_jobs(const View *view)
{
	return view->engine->scenario->workload->n_jobs;
}

guint
view_n_apps(const View *view)
{
	return view->engine->scenario->workload->n_apps;
}

const Job *
view_job(const View *view, JobId job)
{
	return engine_job(view->engine, job);
}

const App *
view_app(const View *view, AppId app)
{
	return &view->engine->scenario->workload->apps[app];
}

JobState
view_state(const View *view, JobId job)
{
	return view->engine->record->jobs[job].state;
}

const Alloc *
view_alloc(const View *view, JobId job)
{
	const Run *run = &view->engine->runs[job];

	return run->edit > 0 ? &view->engine->plan.edits[run->edit - 1].to : &run->alloc;
}

const Alloc *
view_last_alloc(const View *view, JobId job)
{
	const Run *run = &view->engine->runs[job];

	return run->alloc.n > 0 ? &run->alloc : &run->last_alloc;
}

guint32
view_n_starts(const View *view, JobId job)
{
	return view->engine->runs[job].n_starts;
}

guint
view_n_suspending_gpus(const View *view)
{
	return view->engine->n_suspending_gpus;
}

gboolean
view_first_start_ns(const View *view, JobId job, SimTime *ret_ns)
{
	const JobRecord *record = &view->engine->record->jobs[job];

	if (!record->has_started)
		return FALSE;
	*ret_ns = record->first_start_ns;
	return TRUE;
}

SimTime
view_started_ns(const View *view, JobId job)
{
	return view->engine->runs[job].started_ns;
}

SimTime
view_attained_ns(const View *view, JobId job)
{
	return run_attained_ns(view->engine, job);
}

GpuTime
view_attained_service(const View *view, JobId job)
{
	const Engine *engine = view->engine;
	const JobRecord *record = &engine->record->jobs[job];
	const Run *run = &engine->runs[job];

	/* What came before this segment, at the widths of then, and this segment at its own. */
	return record->service + (GpuTime)(run_attained_ns(engine, job) - record->run_ns) *
	                             job_held_milli(engine_job(engine, job), run->alloc.n);
}

gint64
view_speed_ppb(const View *view, JobId job)
{
	return view_state(view, job) == JOB_RUNNING ? view->engine->runs[job].speed_ppb : 0;
}

SimTime
view_works_from_ns(const View *view, JobId job)
{
	return view->engine->runs[job].works_from_ns;
}

Overheads
view_overheads(const View *view, JobId job)
{
	const Scenario *scenario = view->engine->scenario;

	return overheads_of(&scenario->overheads, scenario->models, view_job(view, job));
}

Overheads
view_largest_overheads(const View *view)
{
	return view->engine->largest_overheads;
}

static gboolean
may_know(const View *view, JobId job)
{
	if ((view->engine->policy->caps & POLICY_ORACLE) != 0)
		return TRUE;
	engine_count_refusal(view->engine, "knowledge of the work", job,
	                     plan_verdict_to_string(PLAN_NOT_CAPABLE));
	return FALSE;
}

guint32
view_max_gpus(const View *view, JobId job)
{
	return engine_max_gpus(view->engine, job);
}

SimWork
view_work_done_ns(const View *view, JobId job)
{
	return view->engine->runs[job].goal_ns - run_work_left_ns(view->engine, job);
}

static SimWork
granted_ns(const Engine *engine, JobId job)
{
	return engine->tuning != NULL ? tuning_granted_ns(engine, job) : engine->runs[job].goal_ns;
}

gboolean
view_duration_ns(const View *view, JobId job, SimWork *ret_ns)
{
	if (!may_know(view, job))
		return FALSE;
	*ret_ns = granted_ns(view->engine, job);
	return TRUE;
}

gboolean
view_remaining_ns(const View *view, JobId job, SimWork *ret_ns)
{
	if (!may_know(view, job))
		return FALSE;
	*ret_ns = granted_ns(view->engine, job) - view_work_done_ns(view, job);
	return TRUE;
}

static GpuTime
work_done(const View *view, const App *app)
{
	GpuTime work = 0;

	for (guint i = 0; i < app->n_jobs; i++) {
		const Job *job = view_job(view, app->jobs[i]);

		work +=
		    (GpuTime)job_held_milli(job, job->num_gpus) * view_work_done_ns(view, job->id);
	}
	return work;
}

static GpuTime
work_forecast(const Engine *engine, AppId app)
{
	Phase phases[MAX_APP_PHASES];
	guint n = tuning_forecast(engine, app, phases);
	GpuTime work = 0;

	for (guint i = 0; i < n; i++)
		work += (GpuTime)(phases[i].work_gpu_ns * GPU_MILLI + 0.5);
	return work;
}

gboolean
view_app_work(const View *view, AppId app, GpuTime *ret_work)
{
	const App *spec = view_app(view, app);

	if (!may_know(view, spec->jobs[0]))
		return FALSE;
	*ret_work = spec->tuner == NULL ? spec->work
	                                : work_done(view, spec) + work_forecast(view->engine, app);
	return TRUE;
}

guint64
view_app_demand_milli(const View *view, AppId app)
{
	const App *spec = view_app(view, app);
	Phase phases[MAX_APP_PHASES];
	guint64 demand_milli;
	guint n;

	if (spec->tuner == NULL)
		return spec->demand_milli;
	demand_milli = tuning_demand_milli(view->engine, app);
	n = tuning_forecast(view->engine, app, phases);
	for (guint i = 1; i < n; i++)
		demand_milli = MAX(demand_milli, (guint64)(phases[i].cap_gpus * GPU_MILLI + 0.5));
	return demand_milli;
}

/* All that is left of all jobs, at once. */
static Phase
only_phase(const View *view, const App *app)
{
	Phase all = { 0, 0 };

	for (guint i = 0; i < app->n_jobs; i++) {
		const Job *job = view_job(view, app->jobs[i]);

		if (job_state_is_done(view_state(view, job->id)))
			continue;
		all.work_gpu_ns += (double)job_held_milli(job, job->num_gpus) / GPU_MILLI *
		                   (double)run_work_left_ns(view->engine, job->id);
		all.cap_gpus += (double)job_held_milli(job, job->max_gpus) / GPU_MILLI;
	}
	return all;
}

guint
view_app_forecast(const View *view, AppId app, Phase ret_phases[MAX_APP_PHASES])
{
	const App *spec = view_app(view, app);

	if (!may_know(view, spec->jobs[0]))
		return 0;
	if (spec->tuner != NULL)
		return tuning_forecast(view->engine, app, ret_phases);
	ret_phases[0] = only_phase(view, spec);
	return ret_phases[0].cap_gpus > 0 ? 1 : 0;
}

static int
compare_service(gconstpointer one, gconstpointer other)
{
	const GpuTime *a = one, *b = other;

	return (*a > *b) - (*a < *b);
}

/* Made when first asked for: few policies do. */
static void
make_distribution(Engine *engine)
{
	const Workload *workload = engine->scenario->workload;
	guint n = 0;

	engine->distribution = g_new(GpuTime, workload->n_jobs);
	for (JobId id = 0; id < workload->n_jobs; id++) {
		const Job *job = &workload->jobs[id];
		g_autofree char *refusal = job->num_gpus > 0 ? fit_refusal(engine, job) : NULL;

		if (job->num_gpus > 0 && refusal == NULL)
			engine->distribution[n++] =
			    (GpuTime)workload->duration_ns[id] * job_held_milli(job, job->num_gpus);
	}
	qsort(engine->distribution, n, sizeof(GpuTime), compare_service);
	engine->n_distribution = n;
}

const GpuTime *
view_service_distribution(const View *view, guint *ret_n)
{
	if (view->engine->distribution == NULL)
		make_distribution(view->engine);
	*ret_n = view->engine->n_distribution;
	return view->engine->distribution;
}

guint
view_n_active_apps(const View *view)
{
	return view->engine->lives->n_active;
}

double
view_app_n_avg(const View *view, AppId app)
{
	return lives_n_avg(view->engine->lives, app);
}

gint64
view_speed_on_ppb(const View *view, JobId job, const Alloc *where)
{
	const Scenario *scenario = view->engine->scenario;

	return speed_alone_ppb(scenario->models, scenario->cluster, view_job(view, job), where);
}
