/* SPDX-License-Identifier: MIT */

/*
 * The gate. The ledger (Cluster) is edited as the policy speaks, so that what it sees is what is
 * left; the jobs themselves change at the commit, once, by the net effect.
 */

#include "sim/engine/plan.h"
#include "sim/engine/runs.h"

const char *
plan_verdict_to_string(PlanVerdict verdict)
{
	switch (verdict) {
	case PLAN_OK:
		return "ok";
	case PLAN_NO_ROOM:
		return "no room";
	case PLAN_WRONG_STATE:
		return "wrong state";
	case PLAN_NOT_CAPABLE:
		return "not capable";
	case PLAN_BAD_ALLOC:
		return "bad allocation";
	}
	g_assert_not_reached();
}

void
plan_init(Plan *plan, Engine *engine)
{
	plan->engine = engine;
}

void
plan_clear(Plan *plan)
{
	for (guint i = 0; i < plan->size; i++)
		alloc_clear(&plan->edits[i].to);
	g_free(plan->edits);
}

static gboolean
can(const Plan *plan, PolicyCaps cap)
{
	return (plan->engine->policy->caps & cap) != 0;
}

static PlanVerdict
refuse(Plan *plan, const char *edit, JobId job, PlanVerdict verdict)
{
	engine_count_refusal(plan->engine, edit, job, plan_verdict_to_string(verdict));
	return verdict;
}

static PlanEdit *
edit_of(const Plan *plan, JobId job)
{
	guint32 place = plan->engine->runs[job].edit;

	return place > 0 ? &plan->edits[place - 1] : NULL;
}

/* The job's edit in this plan, a new one if it has none. */
static PlanEdit *
edit_open(Plan *plan, JobId job)
{
	PlanEdit *edit = edit_of(plan, job);

	if (edit != NULL)
		return edit;
	if (plan->n == plan->size) {
		plan->size = MAX(16, plan->size * 2);
		plan->edits = g_renew(PlanEdit, plan->edits, plan->size);
		memset(plan->edits + plan->n, 0, (plan->size - plan->n) * sizeof(PlanEdit));
	}
	edit = &plan->edits[plan->n++];
	edit->job = job;
	edit->was_running = plan->engine->record->jobs[job].state == JOB_RUNNING;
	edit->will_run = edit->was_running;
	edit->is_migration = FALSE;
	edit->reject_reason = NULL;
	alloc_copy(&edit->to, &plan->engine->runs[job].alloc);
	plan->engine->runs[job].edit = plan->n;
	return edit;
}

static gboolean
is_known(const Plan *plan, JobId job)
{
	return job < plan->engine->scenario->workload->n_jobs;
}

/* Whether the job runs, or would after this plan. */
static gboolean
will_run(const Plan *plan, JobId job)
{
	const PlanEdit *edit = edit_of(plan, job);

	if (edit != NULL)
		return edit->will_run;
	return plan->engine->record->jobs[job].state == JOB_RUNNING;
}

/* Whether it waits, or would after this plan, with nothing in the way of a start. */
static gboolean
will_wait(const Plan *plan, JobId job)
{
	const PlanEdit *edit = edit_of(plan, job);

	if (edit != NULL)
		return !edit->will_run && edit->reject_reason == NULL;
	return plan->engine->record->jobs[job].state == JOB_QUEUED;
}

static gboolean
suspends(const Plan *plan, const Job *job)
{
	const Scenario *scenario = plan->engine->scenario;

	return overheads_of(&scenario->overheads, scenario->models, job).suspend_ns > 0;
}

/* A running job that this plan stops keeps its GPUs for suspend_s (A10): they are still its own
 * in the ledger, and free only for itself. */
static gboolean
still_holds(const Plan *plan, const PlanEdit *edit, const Job *job)
{
	return edit->was_running && !edit->will_run && suspends(plan, job);
}

static CrowdRule
crowd_rule(const Plan *plan)
{
	return can(plan, POLICY_SHARES) ? CROWD_PACKED : CROWD_SHARES;
}

static PlanVerdict
judge_alloc(const Plan *plan, const Job *job, const Alloc *where)
{
	const Scenario *scenario = plan->engine->scenario;

	if (where->n == 0 || !cluster_alloc_is_sane(scenario->cluster, job, where))
		return PLAN_BAD_ALLOC;
	if (where->n < job->min_gpus || where->n > engine_max_gpus(plan->engine, job->id))
		return PLAN_BAD_ALLOC;
	if (where->n != job->num_gpus && !can(plan, POLICY_RESIZES))
		return PLAN_NOT_CAPABLE;
	if (speed_alone_ppb(scenario->models, scenario->cluster, job, where) == 0)
		return PLAN_BAD_ALLOC;
	return PLAN_OK;
}

/* Takes @where in the ledger in place of @held, or leaves the ledger as it was. */
static PlanVerdict
swap_in_ledger(Plan *plan, const Job *job, const Alloc *held, const Alloc *where)
{
	Cluster *cluster = plan->engine->cluster;

	if (held != NULL)
		cluster_give(cluster, job, held);
	if (cluster_has_room(cluster, job, where, crowd_rule(plan))) {
		cluster_take(cluster, job, where);
		return PLAN_OK;
	}
	if (held != NULL)
		cluster_take(cluster, job, held);
	return PLAN_NO_ROOM;
}

static PlanVerdict
place(Plan *plan, JobId id, const Alloc *where, gboolean is_migration)
{
	const Job *job = engine_job(plan->engine, id);
	PlanEdit *edit = edit_of(plan, id);
	const Alloc *held = NULL;
	PlanVerdict verdict = judge_alloc(plan, job, where);

	if (verdict != PLAN_OK)
		return verdict;
	if (edit != NULL && still_holds(plan, edit, job))
		held = &plan->engine->runs[id].alloc;
	verdict = swap_in_ledger(plan, job, held, where);
	if (verdict != PLAN_OK)
		return verdict;
	edit = edit_open(plan, id);
	edit->will_run = TRUE;
	edit->is_migration = is_migration;
	alloc_copy(&edit->to, where);
	return PLAN_OK;
}

PlanVerdict
plan_place(Plan *plan, JobId job, const Alloc *where)
{
	PlanVerdict verdict = PLAN_WRONG_STATE;

	if (is_known(plan, job) && will_wait(plan, job))
		verdict = place(plan, job, where, FALSE);
	return verdict == PLAN_OK ? verdict : refuse(plan, "place", job, verdict);
}

PlanVerdict
plan_preempt(Plan *plan, JobId job)
{
	const Job *spec;
	PlanEdit *edit;

	if (!can(plan, POLICY_PREEMPTS))
		return refuse(plan, "preempt", job, PLAN_NOT_CAPABLE);
	if (!is_known(plan, job) || !will_run(plan, job))
		return refuse(plan, "preempt", job, PLAN_WRONG_STATE);
	spec = engine_job(plan->engine, job);
	edit = edit_of(plan, job);
	/* With suspend_s a job that this plan has moved has no GPUs to be suspended on. */
	if (edit != NULL && edit->was_running && suspends(plan, spec))
		return refuse(plan, "preempt", job, PLAN_WRONG_STATE);
	edit = edit_open(plan, job);
	edit->will_run = FALSE;
	if (!still_holds(plan, edit, spec))
		cluster_give(plan->engine->cluster, spec, &edit->to);
	alloc_reset(&edit->to);
	return PLAN_OK;
}

static PlanVerdict
move(Plan *plan, JobId id, const Alloc *where)
{
	const Job *job = engine_job(plan->engine, id);
	PlanEdit *edit = edit_of(plan, id);
	const Alloc *held = edit != NULL ? &edit->to : &plan->engine->runs[id].alloc;
	PlanVerdict verdict = judge_alloc(plan, job, where);

	if (verdict == PLAN_OK)
		verdict = swap_in_ledger(plan, job, held, where);
	if (verdict != PLAN_OK)
		return verdict;
	edit = edit_open(plan, id);
	alloc_copy(&edit->to, where);
	return PLAN_OK;
}

PlanVerdict
plan_move(Plan *plan, JobId job, const Alloc *where)
{
	PlanVerdict verdict = PLAN_WRONG_STATE;

	if (!can(plan, POLICY_MIGRATES))
		verdict = PLAN_NOT_CAPABLE;
	else if (!is_known(plan, job))
		verdict = PLAN_WRONG_STATE;
	else if (will_run(plan, job))
		verdict = move(plan, job, where);
	else if (will_wait(plan, job) && plan->engine->record->jobs[job].has_started)
		verdict = place(plan, job, where, TRUE);
	return verdict == PLAN_OK ? verdict : refuse(plan, "move", job, verdict);
}

PlanVerdict
plan_reject(Plan *plan, JobId job, const char *reason)
{
	PlanEdit *edit;

	if (!is_known(plan, job) || !will_wait(plan, job) ||
	    plan->engine->record->jobs[job].has_started)
		return refuse(plan, "reject", job, PLAN_WRONG_STATE);
	edit = edit_open(plan, job);
	edit->reject_reason = g_string_chunk_insert_const(plan->engine->record->strings, reason);
	return PLAN_OK;
}

void
plan_wake(Plan *plan, SimTime at_ns, guint64 tag)
{
	timers_set(plan->engine, tag, MAX(at_ns, plan->engine->now_ns));
}

void
plan_unwake(Plan *plan, guint64 tag)
{
	timers_unset(plan->engine, tag);
}

static void
commit_reject(Engine *engine, const PlanEdit *edit)
{
	const Job *job = engine_job(engine, edit->job);
	JobRecord *record = &engine->record->jobs[edit->job];

	record->state = JOB_REJECTED;
	record->reject_reason = edit->reject_reason;
	engine->n_queued--;
	engine->queued_milli -= job_held_milli(job, job->num_gpus);
	lives_done(engine->lives, job, engine_max_gpus(engine, edit->job));
	if (engine->tuning != NULL)
		tuning_leave(engine, edit->job);
	engine_job_is_done(engine, edit->job);
}

static void
commit_stop(Engine *engine, const PlanEdit *edit)
{
	if (!edit->was_running || edit->will_run)
		return;
	run_mark_off_beat(engine, &engine->runs[edit->job].alloc);
	run_stop(engine, edit->job);
}

static void
commit_start(Engine *engine, const PlanEdit *edit)
{
	const Alloc *from = &engine->runs[edit->job].alloc;

	if (!edit->will_run)
		return;
	if (!edit->was_running) {
		run_start(engine, edit->job, &edit->to, edit->is_migration);
		run_mark_off_beat(engine, &edit->to);
	} else if (!alloc_equal(from, &edit->to)) {
		run_mark_off_beat(engine, from);
		run_move(engine, edit->job, &edit->to);
		run_mark_off_beat(engine, &edit->to);
	}
}

void
plan_commit(Plan *plan)
{
	Engine *engine = plan->engine;

	for (guint i = 0; i < plan->n; i++) {
		engine->runs[plan->edits[i].job].edit = 0;
		commit_stop(engine, &plan->edits[i]);
		if (plan->edits[i].reject_reason != NULL)
			commit_reject(engine, &plan->edits[i]);
	}
	for (guint i = 0; i < plan->n; i++)
		commit_start(engine, &plan->edits[i]);
	run_settle_speeds(engine);
	plan->n = 0;
}
