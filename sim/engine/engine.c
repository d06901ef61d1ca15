/* SPDX-License-Identifier: MIT */

#include <math.h>

#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/engine/runs.h"

/* So often in a row may a policy wake itself at one instant, or stop jobs that have done nothing,
 * before the run is given up (A79, E11). */
#define MAX_IDLE_PASSES     10000
#define MAX_IDLE_STOPS      10000

/* After so many stops in a row, while no job comes or goes, the work done in between must be more
 * than a millionth of the time that passed. */
#define STOPS_PER_CHECK     100000
#define LEAST_WORK_FRACTION 1000000

/* So many instants in a row may pass with nothing running, nobody to come and jobs waiting. */
#define MAX_IDLE_INSTANTS   10000

static gboolean
check_class(const PolicyClass *policy, GError **error)
{
	if (policy->abi == POLICY_ABI && policy->decide != NULL && policy->name != NULL)
		return TRUE;
	if (policy->abi != POLICY_ABI)
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
		            "policy: abi %u, this program's is %u", policy->abi, POLICY_ABI);
	else
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE, "policy: no %s in its table",
		            policy->name == NULL ? "name" : "decide");
	return FALSE;
}

static void
raise_to(SimTime *largest_ns, SimTime ns)
{
	*largest_ns = MAX(*largest_ns, ns);
}

static void
find_largest_overheads(Engine *engine)
{
	const Scenario *scenario = engine->scenario;
	Overheads *largest = &engine->largest_overheads;

	*largest = scenario->overheads;
	for (JobId id = 0; id < scenario->workload->n_jobs; id++) {
		const Job *job = engine_job(engine, id);
		Overheads own;

		if (job->model == MODEL_NONE)
			continue;
		own = overheads_of(&scenario->overheads, scenario->models, job);
		raise_to(&largest->start_ns, own.start_ns);
		raise_to(&largest->suspend_ns, own.suspend_ns);
		raise_to(&largest->resume_ns, own.resume_ns);
		raise_to(&largest->migrate_ns, own.migrate_ns);
	}
}

static void
make_runs(Engine *engine)
{
	const Workload *workload = engine->scenario->workload;

	engine->runs = g_new0(Run, workload->n_jobs);
	engine->running_at = g_new0(guint32, workload->n_jobs);
	engine->record = g_new0(RunRecord, 1);
	engine->record->jobs = g_new0(JobRecord, workload->n_jobs);
	engine->record->strings = g_string_chunk_new(256);
	for (JobId job = 0; job < workload->n_jobs; job++) {
		engine->runs[job].work_left_ns = workload->duration_ns[job];
		engine->runs[job].goal_ns = workload->duration_ns[job];
		engine->runs[job].stopped_ns = TIME_NEVER;
		engine->record->jobs[job].reject_reason = "";
	}
}

Engine *
engine_new(const Scenario *scenario, const PolicyClass *policy, const void *options,
           const EngineSettings *settings, GError **error)
{
	g_autoptr(Engine) engine = NULL;

	if (!check_class(policy, error))
		return NULL;
	engine = g_new0(Engine, 1);
	engine->scenario = scenario;
	engine->policy = policy;
	engine->settings = *settings;
	engine->max_level = policy->max_level != NULL ? policy->max_level(options) : LEVEL_CLUSTER;
	engine->cluster = cluster_new(scenario->cluster);
	engine->empty = cluster_new(scenario->cluster);
	engine->lives = lives_new(
	    scenario->workload, (guint64)scenario->cluster->n_gpus * GPU_MILLI, settings->recorder);
	engine->events = event_queue_new();
	engine->running = g_array_new(FALSE, FALSE, sizeof(JobId));
	engine->off_beat = g_array_new(FALSE, FALSE, sizeof(JobId));
	engine->view.engine = engine;
	engine->stopped_jobs[0] = engine->stopped_jobs[1] = JOB_NONE;
	timers_init(&engine->timers);
	plan_init(&engine->plan, engine);
	make_runs(engine);
	find_largest_overheads(engine);
	if (scenario->workload->has_tuners)
		engine->tuning = tuning_new(engine);
	engine->self = g_malloc0(MAX(policy->state_size, 1));
	if (policy->init != NULL && !policy->init(engine->self, options, &engine->view, error))
		return NULL;
	return g_steal_pointer(&engine);
}

void
engine_free(Engine *engine)
{
	if (engine == NULL)
		return;
	if (engine->policy->finish != NULL)
		engine->policy->finish(engine->self);
	g_free(engine->self);
	for (JobId job = 0; job < engine->scenario->workload->n_jobs; job++) {
		alloc_clear(&engine->runs[job].alloc);
		alloc_clear(&engine->runs[job].last_alloc);
	}
	g_free(engine->runs);
	g_free(engine->running_at);
	run_record_free(engine->record);
	g_array_unref(engine->running);
	g_array_unref(engine->off_beat);
	timers_clear(&engine->timers);
	plan_clear(&engine->plan);
	event_queue_free(engine->events);
	tuning_free(engine->tuning, engine->scenario->workload->n_apps);
	lives_free(engine->lives);
	cluster_free(engine->cluster);
	cluster_free(engine->empty);
	g_clear_error(&engine->failure);
	g_free(engine->distribution);
	g_free(engine);
}

void
engine_fail(Engine *engine, SimErrorCode code, const char *format, ...)
{
	g_autofree char *at = seconds_to_string(engine->now_ns);
	g_autofree char *what = NULL;
	va_list args;

	if (engine->failure != NULL)
		return;
	va_start(args, format);
	what = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(&engine->failure, SIM_ERROR, code, "policy %s, %s s after the first submit: %s",
	            engine->policy->name, at, what);
}

void
engine_count_refusal(Engine *engine, const char *edit, JobId job, const char *verdict)
{
	gboolean is_known = job < engine->scenario->workload->n_jobs;
	g_autofree char *text = NULL;

	engine->record->refused++;
	if (engine->record->first_refusal != NULL && !engine->settings.is_strict)
		return;
	text = g_strdup_printf("%s of job %s refused: %s", edit,
	                       is_known ? engine_job(engine, job)->name : "(no such job)", verdict);
	if (engine->settings.is_strict)
		engine_fail(engine, SIM_ERROR_INTERNAL, "%s", text);
	if (engine->record->first_refusal == NULL)
		engine->record->first_refusal = g_steal_pointer(&text);
}

static void
forget_stops(Engine *engine)
{
	engine->stopped_jobs[0] = engine->stopped_jobs[1] = JOB_NONE;
	engine->idle_stops = 0;
	engine->has_work_check = FALSE;
	engine->stops = 0;
	engine->has_stops_count = FALSE;
}

void
engine_job_is_done(Engine *engine, JobId job)
{
	const Recorder *recorder = engine->settings.recorder;

	engine->n_done++;
	forget_stops(engine);
	engine->idle_passes = 0;
	engine->idle_instants = 0;
	if (recorder != NULL && recorder->done != NULL)
		recorder->done(recorder->self, job, &engine->record->jobs[job]);
}

/* Time passes: the integrals that depend on it. */
static void
advance(Engine *engine, SimTime to_ns)
{
	g_assert(to_ns >= engine->now_ns);
	engine->record->allocated +=
	    (GpuTime)(to_ns - engine->now_ns) * engine->cluster->held_milli;
	lives_advance(engine->lives, to_ns);
	engine->now_ns = to_ns;
}

static gboolean
is_due(const Engine *engine)
{
	return event_queue_next_ns(engine->events) == engine->now_ns;
}

/* Step 1: segments that end now end. */
static void
end_segments(Engine *engine)
{
	while (is_due(engine) && event_queue_next_order(engine->events) < ORDER_TIMER) {
		JobId job = event_queue_pop(engine->events);

		engine->record->events++;
		run_due(engine, job);
		if (job_state_is_done(engine->record->jobs[job].state))
			engine_job_is_done(engine, job);
	}
}

/* Step 2: tuners decide about trials that are where they look at them. */
static void
settle_tuners(Engine *engine)
{
	if (engine->tuning != NULL)
		tuning_settle(engine);
}

static void
arrive(Engine *engine, const Job *job)
{
	JobRecord *record = &engine->record->jobs[job->id];
	g_autofree char *refusal = NULL;

	engine->record->events++;
	forget_stops(engine);
	if (job->num_gpus == 0) { /* runs at once and is nobody's concern (A04) */
		lives_submitted(engine->lives, job, TRUE, 0);
		run_start(engine, job->id, &engine->runs[job->id].alloc, FALSE);
		return;
	}
	refusal = fit_refusal(engine, job);
	lives_submitted(engine->lives, job, refusal == NULL, engine_max_gpus(engine, job->id));
	if (refusal == NULL) {
		run_queue(engine, job->id);
		return;
	}
	record->state = JOB_REJECTED;
	record->reject_reason = g_string_chunk_insert_const(engine->record->strings, refusal);
	engine_job_is_done(engine, job->id);
}

static SimTime
next_submit_ns(const Engine *engine)
{
	const Workload *workload = engine->scenario->workload;

	if (engine->next_arrival == workload->n_jobs)
		return TIME_NEVER;
	return workload->jobs[engine->next_arrival].submit_ns;
}

/* Step 3: jobs submitted now join the queue, in trace order. */
static void
take_arrivals(Engine *engine)
{
	while (engine->next_arrival < engine->scenario->workload->n_jobs &&
	       next_submit_ns(engine) == engine->now_ns)
		arrive(engine, engine_job(engine, engine->next_arrival++));
	lives_settle(engine->lives);
}

/* Step 4: timers due now fire. */
static void
fire_timers(Engine *engine)
{
	while (is_due(engine) && event_queue_next_order(engine->events) >= ORDER_TIMER) {
		guint64 tag = timers_take(engine, event_queue_pop(engine->events));

		engine->record->events++;
		engine->why |= POLICY_WAKE_TIMER;
		if (engine->policy->timer != NULL)
			engine->policy->timer(engine->self, &engine->view, tag);
	}
}

/* Step 5: the policy decides once; its plan commits as a net effect. */
static void
decide(Engine *engine)
{
	PolicyWake why = engine->why;

	engine->why = 0;
	if (why == 0)
		return;
	engine->record->decisions++;
	engine->policy->decide(engine->self, &engine->view, why, &engine->plan);
	plan_commit(&engine->plan);
}

static __int128
total_work_left(const Engine *engine)
{
	__int128 total = 0;

	for (JobId job = 0; job < engine->next_arrival; job++)
		total += engine->scenario->workload->duration_ns[job] - engine->runs[job].goal_ns +
		         run_work_left_ns(engine, job);
	return total;
}

static void
fail_for_stops(Engine *engine, const char *what)
{
	const char *name = engine_job(engine, engine->stopped_jobs[0])->name;

	if (engine->stopped_jobs[1] == JOB_NONE)
		engine_fail(engine, SIM_ERROR_INTERNAL, "job %s is stopped again and again %s",
		            name, what);
	else
		engine_fail(engine, SIM_ERROR_INTERNAL,
		            "jobs %s and %s are stopped again and again %s", name,
		            engine_job(engine, engine->stopped_jobs[1])->name, what);
}

/* Stops without work may be followed by work of others: only a sum that does not move is a swap
 * without end. */
static void
check_idle_stops(Engine *engine)
{
	__int128 left;

	if (engine->idle_stops < MAX_IDLE_STOPS)
		return;
	left = total_work_left(engine);
	if (engine->has_work_check && left == engine->work_at_check)
		fail_for_stops(engine, "without any work done");
	engine->has_work_check = TRUE;
	engine->work_at_check = left;
	engine->idle_stops = 0;
}

/* A few nanoseconds of work between overheads, or work that is lost at each stop, are progress by
 * the letter, and a run without end. */
static void
check_thrashing(Engine *engine)
{
	SimTime passed_ns = engine->now_ns - engine->stops_counted_ns;
	__int128 left;

	if (engine->stops < STOPS_PER_CHECK || passed_ns == 0)
		return;
	left = total_work_left(engine);
	if (engine->has_stops_count &&
	    engine->work_at_stops - left < passed_ns / LEAST_WORK_FRACTION)
		fail_for_stops(engine, "with next to no work done in between");
	engine->stops = 0;
	engine->has_stops_count = TRUE;
	engine->work_at_stops = left;
	engine->stops_counted_ns = engine->now_ns;
}

/* A policy that does nothing but wake itself while jobs wait would go on till the end of time. */
static void
check_idle_instants(Engine *engine)
{
	gboolean is_idle = engine->running->len == 0 && engine->n_running_free == 0 &&
	                   engine->next_arrival == engine->scenario->workload->n_jobs;

	engine->idle_instants = is_idle ? engine->idle_instants + 1 : 0;
	if (engine->idle_instants > MAX_IDLE_INSTANTS)
		engine_fail(engine, SIM_ERROR_INTERNAL,
		            "wakes itself again and again without starting any of %u queued jobs",
		            engine->n_queued);
}

/* Something is due at once, or the plan has rejected a trial whose app waits for it alone. */
static gboolean
is_unsettled(const Engine *engine)
{
	return is_due(engine) || (engine->tuning != NULL && tuning_is_due(engine->tuning));
}

/* One instant: the steps, again as long as they make something due at once (A03). */
static void
live_instant(Engine *engine)
{
	engine->idle_passes = 0;
	do {
		end_segments(engine);
		settle_tuners(engine);
		take_arrivals(engine);
		fire_timers(engine);
		decide(engine);
		run_settle_speeds(engine);
		check_idle_stops(engine);
		if (engine->idle_passes++ > MAX_IDLE_PASSES)
			engine_fail(engine, SIM_ERROR_INTERNAL,
			            "wakes itself again and again at one instant without progress; "
			            "%u jobs are queued",
			            engine->n_queued);
	} while (is_unsettled(engine) && engine->failure == NULL);
	check_idle_instants(engine);
	check_thrashing(engine);
}

static void
tell_instant(Engine *engine)
{
	const Recorder *recorder = engine->settings.recorder;
	Instant instant = {
		.at_ns = engine->now_ns,
		.held_milli = engine->cluster->held_milli,
		.capacity_milli = engine->lives->capacity_milli,
		.n_running = engine->running->len + engine->n_running_free,
		.n_queued = engine->n_queued,
		.queued_milli = engine->queued_milli,
	};

	if (recorder != NULL && recorder->instant != NULL)
		recorder->instant(recorder->self, &instant);
}

static gboolean
is_cancelled(const Engine *engine)
{
	return engine->settings.is_cancelled != NULL &&
	       g_atomic_int_get(engine->settings.is_cancelled) != 0;
}

static gboolean
is_well(Engine *engine, GError **error)
{
	if (engine->failure != NULL) {
		g_propagate_error(error, g_steal_pointer(&engine->failure));
		return FALSE;
	}
	if (engine->settings.is_paranoid && !engine_check(engine, error))
		return FALSE;
	if (is_cancelled(engine)) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_CANCELLED, "interrupted");
		return FALSE;
	}
	return TRUE;
}

/* At stop_s jobs whose work is done then are finished, and nothing else happens (A18). */
static void
end_at_stop(Engine *engine)
{
	advance(engine, engine->scenario->stop_ns);
	while (is_due(engine) && event_queue_next_order(engine->events) < ORDER_TIMER) {
		JobId job = event_queue_pop(engine->events);

		/* A job without work may be due for its limit, inside an overhead. */
		if (engine->record->jobs[job].state != JOB_RUNNING ||
		    run_work_left_ns(engine, job) > 0 ||
		    engine->now_ns < engine->runs[job].works_from_ns)
			continue;
		run_due(engine, job);
		if (job_state_is_done(engine->record->jobs[job].state))
			engine_job_is_done(engine, job);
	}
}

/* What is not done when the run ends is UNFINISHED. */
static void
cut_the_rest(Engine *engine)
{
	for (JobId job = 0; job < engine->scenario->workload->n_jobs; job++) {
		if (job_state_is_done(engine->record->jobs[job].state))
			continue;
		run_cut(engine, job);
		engine_job_is_done(engine, job);
	}
}

static void
find_span(Engine *engine)
{
	const Workload *workload = engine->scenario->workload;
	RunRecord *record = engine->record;
	gboolean has_unfinished = FALSE;
	SimTime to_ns;

	for (JobId job = 0; job < workload->n_jobs; job++) {
		const JobRecord *done = &record->jobs[job];

		if (done->state == JOB_UNFINISHED)
			has_unfinished = TRUE;
		if (done->state != JOB_REJECTED && !record->has_first_submit) {
			record->has_first_submit = TRUE;
			record->first_submit_ns = workload->jobs[job].submit_ns;
		}
		if (done->state == JOB_FINISHED || done->state == JOB_TIMEOUT ||
		    done->state == JOB_FAILED || done->state == JOB_STOPPED) {
			record->has_last_finish = TRUE;
			record->last_finish_ns = MAX(record->last_finish_ns, done->finish_ns);
		}
	}
	record->has_span = record->has_first_submit && (record->has_last_finish || has_unfinished);
	to_ns = has_unfinished ? record->end_ns : record->last_finish_ns;
	if (record->has_span && to_ns > record->first_submit_ns)
		record->capacity =
		    (GpuTime)(to_ns - record->first_submit_ns) * engine->lives->capacity_milli;
}

/* The first of these that one of its jobs is in is the state of an app (A22); trials that its own
 * tuner has stopped do not count. */
static JobState
app_state(const Engine *engine, const App *app)
{
	static const JobState order[] = { JOB_UNFINISHED, JOB_FAILED, JOB_TIMEOUT, JOB_REJECTED };

	for (guint i = 0; i < G_N_ELEMENTS(order); i++)
		for (guint j = 0; j < app->n_jobs; j++)
			if (engine->record->jobs[app->jobs[j]].state == order[i])
				return order[i];
	return JOB_FINISHED;
}

static void
record_app(Engine *engine, const App *app)
{
	AppRecord *record = &engine->record->apps[app->id];
	GpuTime kept_work = 0;

	for (guint j = 0; j < app->n_jobs; j++) {
		const Job *spec = engine_job(engine, app->jobs[j]);
		const JobRecord *job = &engine->record->jobs[spec->id];

		record->service += job->service;
		kept_work += (GpuTime)job_held_milli(spec, spec->num_gpus) * job->kept_work_ns;
		record->finish_ns = MAX(record->finish_ns, job->finish_ns);
	}
	if (app->tuner != NULL) {
		record->tuned_work = kept_work;
		record->tuned_demand_milli = tuning_demand_milli(engine, app->id);
	}
	record->state = app_state(engine, app);
	record->has_life = record->state == JOB_FINISHED;
	if (!record->has_life)
		return;
	record->n_avg = lives_n_avg_of_life(engine->lives, app->id);
	record->contention = lives_contention_of_life(engine->lives, app->id);
	record->n_jobs_avg = lives_n_jobs_of_life(engine->lives, app->id);
	record->n_at_work = lives_n_at_work(engine->lives, app->id);
}

static RunRecord *
conclude(Engine *engine)
{
	const Workload *workload = engine->scenario->workload;
	gboolean is_last_told = engine->n_done == workload->n_jobs;

	if (engine->scenario->stop_ns != TIME_NEVER && !is_last_told)
		end_at_stop(engine);
	engine->record->end_ns = engine->now_ns;
	if (engine->policy->counters != NULL)
		engine->record->n_counters =
		    engine->policy->counters(engine->self, engine->record->counters);
	cut_the_rest(engine);
	if (!is_last_told)
		tell_instant(engine);
	find_span(engine);
	engine->record->apps = g_new0(AppRecord, workload->n_apps);
	for (AppId app = 0; app < workload->n_apps; app++)
		record_app(engine, &workload->apps[app]);
	return g_steal_pointer(&engine->record);
}

RunRecord *
engine_run(Engine *engine, GError **error)
{
	SimTime next_ns;

	while (engine->n_done < engine->scenario->workload->n_jobs) {
		next_ns = MIN(next_submit_ns(engine), event_queue_next_ns(engine->events));
		if (next_ns == TIME_NEVER || next_ns >= engine->scenario->stop_ns)
			break;
		advance(engine, next_ns);
		live_instant(engine);
		tell_instant(engine);
		if (!is_well(engine, error))
			return NULL;
	}
	return conclude(engine);
}
