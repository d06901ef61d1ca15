/* SPDX-License-Identifier: MIT */

#include "sim/engine/runs.h"

static SimTime
attained_ns(const Engine *engine, JobId job)
{
	const JobRecord *record = &engine->record->jobs[job];

	if (record->state != JOB_RUNNING && record->state != JOB_SUSPENDING)
		return record->run_ns;
	return record->run_ns + (engine->now_ns - engine->runs[job].since_ns);
}

SimTime
run_attained_ns(const Engine *engine, JobId job)
{
	return attained_ns(engine, job);
}

SimWork
run_work_left_ns(const Engine *engine, JobId job)
{
	const Run *run = &engine->runs[job];
	SimWork done;

	if (engine->record->jobs[job].state != JOB_RUNNING || engine->now_ns <= run->works_from_ns)
		return run->work_left_ns;
	done = work_done_ns(engine->now_ns - run->works_from_ns, run->speed_ppb);
	return MAX(run->work_left_ns - done, 0);
}

/* Slowest of its GPUs: on each the product of what every other whole job there costs it (A83).
 * Jobs with a share of a GPU do not slow one another (A45). */
static gint64
packed_factor_ppb(const Engine *engine, const Job *job, const Alloc *alloc)
{
	const Cluster *cluster = engine->cluster;
	gint64 slowest_ppb = SPEED_ONE_PPB;

	if (job->share_milli != GPU_MILLI || cluster->held_milli == 0)
		return slowest_ppb;
	for (guint i = 0; i < alloc->n; i++) {
		gint64 factor_ppb = SPEED_ONE_PPB;
		JobId other = JOB_NONE;

		if (cluster->gpus[alloc->gpus[i]].n_residents < 2)
			continue;
		while ((other = cluster_next_resident(cluster, alloc->gpus[i], other)) != JOB_NONE)
			if (other != job->id)
				factor_ppb = work_done_ns(
				    factor_ppb,
				    speed_packed_ppb(engine->scenario->models, job->model,
				                     engine_job(engine, other)->model));
		slowest_ppb = MIN(slowest_ppb, factor_ppb);
	}
	return slowest_ppb;
}

static gint64
speed_now_ppb(const Engine *engine, const Job *job, const Alloc *alloc)
{
	const Scenario *scenario = engine->scenario;
	gint64 alone_ppb;

	if (alloc->n == 0)
		return SPEED_ONE_PPB;
	alone_ppb = speed_alone_ppb(scenario->models, scenario->cluster, job, alloc);
	return work_done_ns(alone_ppb, packed_factor_ppb(engine, job, alloc));
}

/* When the job's time limit is reached if it goes on holding GPUs; TIME_NEVER without one. */
static SimTime
timeout_ns(const Engine *engine, JobId job)
{
	const Job *spec = engine_job(engine, job);

	if (spec->time_limit_ns == 0)
		return TIME_NEVER;
	return time_add(engine->now_ns, spec->time_limit_ns - attained_ns(engine, job));
}

/* The trace's own clock ends at 2^63 - 1 ns, too (A19). */
static SimTime
last_time_ns(const Engine *engine)
{
	return TIME_NEVER - 1 - MAX(engine->scenario->workload->origin_ns, 0);
}

static void
post_end(Engine *engine, JobId job)
{
	const Run *run = &engine->runs[job];
	SimTime end_ns = TIME_NEVER;

	if (run->speed_ppb > 0)
		end_ns =
		    time_add(run->works_from_ns, work_length_ns(run->work_left_ns, run->speed_ppb));
	end_ns = MIN(end_ns, timeout_ns(engine, job));
	if (run->speed_ppb > 0 && end_ns > last_time_ns(engine))
		engine_fail(engine, SIM_ERROR_INPUT,
		            "time overflow: job %s would end more than 292 years after the start "
		            "of the trace's clock",
		            engine_job(engine, job)->name);
	event_queue_set(engine->events, job, end_ns, job);
}

/* Opens a segment at this instant on the job's present allocation. */
static void
open_segment(Engine *engine, JobId job, SimTime overhead_ns)
{
	const Recorder *recorder = engine->settings.recorder;
	const Job *spec = engine_job(engine, job);
	Run *run = &engine->runs[job];

	run->since_ns = engine->now_ns;
	run->works_from_ns = time_add(engine->now_ns, overhead_ns);
	run->load_at_start = lives_crowd_load(engine->lives, spec->app);
	run->speed_ppb = speed_now_ppb(engine, spec, &run->alloc);
	run->level = cluster_spec_level(engine->scenario->cluster, &run->alloc);
	run->placement_atto =
	    speed_placement_atto(engine->scenario->models, spec->model, run->level);
	if (recorder != NULL && recorder->begin != NULL)
		recorder->begin(recorder->self, job, engine->now_ns,
		                job_held_milli(spec, run->alloc.n));
	post_end(engine, job);
}

/* What of the overhead that the segment began with is still to be paid. */
static SimTime
unpaid_ns(const Engine *engine, const Run *run)
{
	return MAX(run->works_from_ns - engine->now_ns, 0);
}

/* A stop that did no work counts towards a swap without end; one that did clears the count. */
static void
note_stop(Engine *engine, JobId job, SimWork done_ns)
{
	engine->stops++;
	if (engine->stopped_jobs[0] != job) {
		engine->stopped_jobs[1] = engine->stopped_jobs[0];
		engine->stopped_jobs[0] = job;
	}
	if (done_ns == 0) {
		engine->idle_stops++;
		return;
	}
	engine->idle_stops = 0;
	engine->has_work_check = FALSE;
}

/* Books the work done up to now. */
static void
book_work(Engine *engine, JobId job)
{
	engine->runs[job].work_left_ns = run_work_left_ns(engine, job);
}

/* What share of the cluster the work of a segment that ends now had a right to. */
static void
tell_lives(Engine *engine, const Job *job, const Run *run, SimTime worked_ns)
{
	double work = (double)worked_ns * (double)run->speed_ppb / (double)SPEED_ONE_PPB *
	              (double)job_held_milli(job, job->num_gpus) / GPU_MILLI;

	if (work > 0)
		lives_worked(engine->lives, job->app, work, engine->now_ns - run->since_ns,
		             run->load_at_start);
}

/* Closes the segment at this instant; its work must have been booked. */
static void
close_segment(Engine *engine, JobId job, SegmentEnd end)
{
	Run *run = &engine->runs[job];
	JobRecord *record = &engine->record->jobs[job];
	const Recorder *recorder = engine->settings.recorder;
	SimTime length_ns = engine->now_ns - run->since_ns;
	SimTime worked_until_ns = run->stopped_ns != TIME_NEVER ? run->stopped_ns : engine->now_ns;
	SimTime worked_ns = MAX(worked_until_ns - run->works_from_ns, 0);
	Segment segment = {
		.job = job,
		.index = record->segments,
		.start_ns = run->since_ns,
		.end_ns = engine->now_ns,
		.overhead_ns = length_ns - worked_ns,
		.speed_ppb = run->speed_ppb,
		.level = run->level,
		.end = end,
		.alloc = &run->alloc,
	};

	tell_lives(engine, engine_job(engine, job), run, worked_ns);
	record->segments++;
	record->preemptions += end == SEGMENT_PREEMPTED;
	record->migrations += end == SEGMENT_MOVED;
	record->run_ns += length_ns;
	record->overhead_ns += segment.overhead_ns;
	record->service +=
	    (GpuTime)length_ns * job_held_milli(engine_job(engine, job), run->alloc.n);
	record->placement_atto_ns += (__int128)length_ns * run->placement_atto;
	if (recorder != NULL && recorder->segment != NULL)
		recorder->segment(recorder->self, &segment);
}

static void
add_running(Engine *engine, JobId job)
{
	engine->running_at[job] = engine->running->len;
	g_array_append_val(engine->running, job);
}

static void
drop_running(Engine *engine, JobId job)
{
	guint place = engine->running_at[job];
	JobId last = g_array_index(engine->running, JobId, engine->running->len - 1);

	g_array_index(engine->running, JobId, place) = last;
	engine->running_at[last] = place;
	g_array_set_size(engine->running, engine->running->len - 1);
}

void
run_start(Engine *engine, JobId job, const Alloc *where, gboolean is_migration)
{
	const Job *spec = engine_job(engine, job);
	Overheads overheads =
	    overheads_of(&engine->scenario->overheads, engine->scenario->models, spec);
	JobRecord *record = &engine->record->jobs[job];
	Run *run = &engine->runs[job];
	SimTime overhead_ns = overheads.resume_ns;

	if (!record->has_started) {
		record->has_started = TRUE;
		record->first_start_ns = engine->now_ns;
		overhead_ns = overheads.start_ns;
	}
	if (is_migration) {
		overhead_ns = overheads.migrate_ns;
		record->migrations++;
	}
	if (where->n == 0)
		overhead_ns = 0; /* nothing is held, nothing is paid (A04) */
	record->state = JOB_RUNNING;
	run->n_starts++;
	run->started_ns = engine->now_ns;
	run->stopped_ns = TIME_NEVER;
	alloc_copy(&run->alloc, where);
	if (where->n > 0) {
		add_running(engine, job);
		engine->n_queued--;
		engine->queued_milli -= job_held_milli(spec, spec->num_gpus);
	} else {
		engine->n_running_free++;
	}
	open_segment(engine, job, overhead_ns);
}

void
run_move(Engine *engine, JobId job, const Alloc *where)
{
	Run *run = &engine->runs[job];
	Overheads overheads = overheads_of(&engine->scenario->overheads, engine->scenario->models,
	                                   engine_job(engine, job));
	SimTime overhead_ns = time_add(unpaid_ns(engine, run), overheads.migrate_ns);
	SimWork left_ns = run->work_left_ns;

	book_work(engine, job);
	note_stop(engine, job, left_ns - run->work_left_ns);
	close_segment(engine, job, SEGMENT_MOVED);
	alloc_copy(&run->last_alloc, &run->alloc);
	alloc_copy(&run->alloc, where);
	open_segment(engine, job, overhead_ns);
}

/* Work since the last checkpoint is lost (A16); the end of a tuner's phase is one. */
static void
lose_unsaved_work(Engine *engine, JobId job, SimTime checkpoint_every_ns)
{
	Run *run = &engine->runs[job];
	SimWork done_ns = run->goal_ns - run->work_left_ns;
	SimWork kept_ns;

	if (checkpoint_every_ns == 0)
		return;
	kept_ns = done_ns - done_ns % checkpoint_every_ns;
	if (engine->tuning != NULL)
		kept_ns = MAX(kept_ns, tuning_saved_ns(engine, job));
	run->work_left_ns += done_ns - kept_ns;
}

/* The job holds nothing any more. */
static void
leave_gpus(Engine *engine, JobId job)
{
	Run *run = &engine->runs[job];

	drop_running(engine, job);
	alloc_swap(&run->last_alloc, &run->alloc);
	alloc_reset(&run->alloc);
}

static void
join_queue(Engine *engine, JobId job)
{
	const Job *spec = engine_job(engine, job);

	engine->record->jobs[job].state = JOB_QUEUED;
	engine->n_queued++;
	engine->queued_milli += job_held_milli(spec, spec->num_gpus);
}

void
run_queue(Engine *engine, JobId job)
{
	join_queue(engine, job);
	engine->why |= POLICY_WAKE_ARRIVED;
	if (engine->policy->arrived != NULL)
		engine->policy->arrived(engine->self, &engine->view, engine_job(engine, job));
}

static void
back_to_queue(Engine *engine, JobId job)
{
	close_segment(engine, job, SEGMENT_PREEMPTED);
	leave_gpus(engine, job);
	join_queue(engine, job);
}

void
run_stop(Engine *engine, JobId job)
{
	Run *run = &engine->runs[job];
	Overheads overheads = overheads_of(&engine->scenario->overheads, engine->scenario->models,
	                                   engine_job(engine, job));
	SimWork left_ns = run->work_left_ns;

	book_work(engine, job);
	note_stop(engine, job, left_ns - run->work_left_ns);
	lose_unsaved_work(engine, job, overheads.checkpoint_every_ns);
	run->stopped_ns = engine->now_ns;
	if (overheads.suspend_ns == 0) {
		event_queue_remove(engine->events, job);
		back_to_queue(engine, job);
		return;
	}
	event_queue_set(
	    engine->events, job,
	    MIN(time_add(engine->now_ns, overheads.suspend_ns), timeout_ns(engine, job)), job);
	engine->record->jobs[job].state = JOB_SUSPENDING;
	engine->n_suspending_gpus += run->alloc.n;
}

/* The segment ends, and its GPUs are free. */
static void
end_segment(Engine *engine, JobId job, SegmentEnd end)
{
	Run *run = &engine->runs[job];

	close_segment(engine, job, end);
	if (run->alloc.n == 0) {
		engine->n_running_free--;
		return;
	}
	cluster_give(engine->cluster, engine_job(engine, job), &run->alloc);
	run_mark_off_beat(engine, &run->alloc);
	leave_gpus(engine, job);
}

/* The job is done: its app may be done, too. @max_gpus is what it could use until now. */
static void
end_job(Engine *engine, JobId job, JobState state, guint max_gpus)
{
	JobRecord *record = &engine->record->jobs[job];
	Run *run = &engine->runs[job];

	record->state = state;
	record->finish_ns = engine->now_ns;
	record->kept_work_ns = run->goal_ns - run->work_left_ns;
	alloc_clear(&run->alloc);
	alloc_clear(&run->last_alloc);
	lives_done(engine->lives, engine_job(engine, job), max_gpus);
}

/* A job that the policy knows wants nothing any more, for now or for good. */
static void
tell_completed(Engine *engine, JobId job)
{
	engine->idle_stops = 0;
	if (engine_job(engine, job)->num_gpus == 0)
		return;
	engine->why |= POLICY_WAKE_COMPLETED;
	if (engine->policy->completed != NULL)
		engine->policy->completed(engine->self, &engine->view, engine_job(engine, job));
}

/* The work of the present segment is not booked: it goes on. */
void
run_extend(Engine *engine, JobId job, SimWork goal_ns)
{
	Run *run = &engine->runs[job];

	run->work_left_ns += goal_ns - run->goal_ns;
	run->goal_ns = goal_ns;
	post_end(engine, job);
}

void
run_pause(Engine *engine, JobId job)
{
	book_work(engine, job);
	end_segment(engine, job, SEGMENT_PAUSED);
	engine->record->jobs[job].state = JOB_PAUSED;
	lives_change_demand(engine->lives, engine_job(engine, job), engine_max_gpus(engine, job),
	                    0);
	tell_completed(engine, job);
}

void
run_resume(Engine *engine, JobId job, SimWork goal_ns)
{
	Run *run = &engine->runs[job];

	run->work_left_ns += goal_ns - run->goal_ns;
	run->goal_ns = goal_ns;
	lives_change_demand(engine->lives, engine_job(engine, job), 0,
	                    engine_max_gpus(engine, job));
	if (engine_job(engine, job)->num_gpus == 0)
		run_start(engine, job, &run->alloc, FALSE);
	else
		run_queue(engine, job);
}

void
run_end_early(Engine *engine, JobId job)
{
	if (engine->record->jobs[job].state == JOB_PAUSED) {
		end_job(engine, job, JOB_STOPPED, 0);
	} else {
		book_work(engine, job);
		end_segment(engine, job, SEGMENT_STOPPED);
		end_job(engine, job, JOB_STOPPED, engine_max_gpus(engine, job));
		tell_completed(engine, job);
	}
	engine_job_is_done(engine, job);
}

static void
release(Engine *engine, JobId job)
{
	Run *run = &engine->runs[job];

	engine->n_suspending_gpus -= run->alloc.n;
	cluster_give(engine->cluster, engine_job(engine, job), &run->alloc);
	run_mark_off_beat(engine, &run->alloc);
	back_to_queue(engine, job);
	engine->why |= POLICY_WAKE_RELEASED;
}

/* Whether what is due is a look of the job's tuner, which has the word then. */
static gboolean
is_for_tuner(Engine *engine, JobId job)
{
	return engine->tuning != NULL && engine->now_ns >= engine->runs[job].works_from_ns &&
	       run_work_left_ns(engine, job) == 0 && tuning_reach(engine, job);
}

void
run_due(Engine *engine, JobId job)
{
	const Job *spec = engine_job(engine, job);
	JobRecord *record = &engine->record->jobs[job];
	Run *run = &engine->runs[job];
	gboolean is_over =
	    spec->time_limit_ns > 0 && attained_ns(engine, job) >= spec->time_limit_ns;

	if (record->state == JOB_SUSPENDING) {
		if (!is_over) {
			release(engine, job);
			return;
		}
		engine->n_suspending_gpus -= run->alloc.n;
	} else {
		if (is_for_tuner(engine, job))
			return;
		/* Work done at the very instant of the limit is finished (A17). */
		book_work(engine, job);
		is_over = run->work_left_ns > 0 || engine->now_ns < run->works_from_ns;
		if (is_over)
			lose_unsaved_work(engine, job,
			                  engine->scenario->overheads.checkpoint_every_ns);
	}
	end_segment(engine, job, is_over ? SEGMENT_TIMEOUT : SEGMENT_FINISHED);
	end_job(engine, job, is_over ? JOB_TIMEOUT : JOB_FINISHED, engine_max_gpus(engine, job));
	if (engine->tuning != NULL)
		tuning_leave(engine, job);
	tell_completed(engine, job);
}

void
run_cut(Engine *engine, JobId job)
{
	JobRecord *record = &engine->record->jobs[job];

	if (record->state == JOB_RUNNING || record->state == JOB_SUSPENDING) {
		book_work(engine, job);
		close_segment(engine, job, SEGMENT_STOPPED);
	}
	record->kept_work_ns = engine->runs[job].goal_ns - engine->runs[job].work_left_ns;
	record->state = JOB_UNFINISHED;
}

void
run_mark_off_beat(Engine *engine, const Alloc *alloc)
{
	if ((engine->policy->caps & POLICY_SHARES) == 0)
		return;
	for (guint i = 0; i < alloc->n; i++) {
		JobId other = JOB_NONE;

		while ((other = cluster_next_resident(engine->cluster, alloc->gpus[i], other)) !=
		       JOB_NONE) {
			if (engine->runs[other].is_off_beat)
				continue;
			engine->runs[other].is_off_beat = TRUE;
			g_array_append_val(engine->off_beat, other);
		}
	}
}

static void
re_rate(Engine *engine, JobId job)
{
	Run *run = &engine->runs[job];
	SimTime overhead_ns = unpaid_ns(engine, run);

	if (engine->record->jobs[job].state != JOB_RUNNING ||
	    speed_now_ppb(engine, engine_job(engine, job), &run->alloc) == run->speed_ppb)
		return;
	book_work(engine, job);
	close_segment(engine, job, SEGMENT_SPEED);
	open_segment(engine, job, overhead_ns);
}

void
run_settle_speeds(Engine *engine)
{
	for (guint i = 0; i < engine->off_beat->len; i++) {
		JobId job = g_array_index(engine->off_beat, JobId, i);

		engine->runs[job].is_off_beat = FALSE;
		re_rate(engine, job);
	}
	g_array_set_size(engine->off_beat, 0);
}
