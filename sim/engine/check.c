/* SPDX-License-Identifier: MIT */

/*
 * Every invariant, recounted from nothing (policies.md 8): no GPU held twice, gangs whole, work
 * neither lost nor made, time never back, and the counters that the engine keeps.
 */

#include "sim/base/error.h"
#include "sim/engine/runs.h"

#define BROKEN(error, ...) (g_set_error(error, SIM_ERROR, SIM_ERROR_INTERNAL, __VA_ARGS__), FALSE)

static gboolean
is_on_its_gpus(const Engine *engine, JobId job)
{
	const Alloc *alloc = &engine->runs[job].alloc;

	for (guint i = 0; i < alloc->n; i++) {
		JobId other = JOB_NONE;

		do {
			other = cluster_next_resident(engine->cluster, alloc->gpus[i], other);
			if (other == JOB_NONE)
				return FALSE;
		} while (other != job);
	}
	return TRUE;
}

static gboolean
check_holder(const Engine *engine, JobId job, GError **error)
{
	const Job *spec = engine_job(engine, job);
	const Run *run = &engine->runs[job];
	JobState state = engine->record->jobs[job].state;
	gboolean resizes = (engine->policy->caps & POLICY_RESIZES) != 0;
	guint min = resizes ? spec->min_gpus : spec->num_gpus;
	guint max = resizes ? engine_max_gpus(engine, job) : spec->num_gpus;

	if (state != JOB_RUNNING && state != JOB_SUSPENDING)
		return BROKEN(error, "job %s holds GPUs and does not run", spec->name);
	if (run->alloc.n < min || run->alloc.n > max)
		return BROKEN(error, "job %s runs on %u GPUs, its gang is %u", spec->name,
		              run->alloc.n, spec->num_gpus);
	if (!is_on_its_gpus(engine, job))
		return BROKEN(error, "job %s is not on the GPUs it holds", spec->name);
	if (run->since_ns > engine->now_ns || run->work_left_ns < 0 ||
	    run->work_left_ns > run->goal_ns ||
	    run->goal_ns > engine->scenario->workload->duration_ns[job])
		return BROKEN(error, "job %s has impossible progress", spec->name);
	return TRUE;
}

static guint64
n_residents(const Engine *engine)
{
	guint64 n = 0;

	for (guint gpu = 0; gpu < engine->scenario->cluster->n_gpus; gpu++)
		n += engine->cluster->gpus[gpu].n_residents;
	return n;
}

static gboolean
check_counts(const Engine *engine, GError **error)
{
	guint n_queued = 0;
	guint64 queued_milli = 0, held = 0;

	for (JobId job = 0; job < engine->next_arrival; job++) {
		const Job *spec = engine_job(engine, job);

		if (engine->record->jobs[job].state != JOB_QUEUED)
			continue;
		n_queued++;
		queued_milli += job_held_milli(spec, spec->num_gpus);
	}
	for (guint i = 0; i < engine->running->len; i++)
		held += engine->runs[g_array_index(engine->running, JobId, i)].alloc.n;
	if (n_queued != engine->n_queued || queued_milli != engine->queued_milli)
		return BROKEN(error, "%u jobs are queued, %u are counted", n_queued,
		              engine->n_queued);
	if (held != n_residents(engine))
		return BROKEN(error,
		              "jobs hold %" G_GUINT64_FORMAT " GPUs, the ledger has another "
		              "number",
		              held);
	return TRUE;
}

/* What submitted jobs can use now: nothing while their tuners have them paused (C04). */
static gboolean
check_demand(const Engine *engine, GError **error)
{
	guint64 demand_milli = 0;

	for (JobId job = 0; job < engine->next_arrival; job++) {
		JobState state = engine->record->jobs[job].state;

		if (!job_state_is_done(state) && state != JOB_PAUSED)
			demand_milli +=
			    job_held_milli(engine_job(engine, job), engine_max_gpus(engine, job));
	}
	if (demand_milli != engine->lives->demand_milli)
		return BROKEN(error,
		              "jobs can use %" G_GUINT64_FORMAT " thousandths of GPUs, "
		              "another number is counted",
		              demand_milli);
	return TRUE;
}

static gboolean
check_tuners(const Engine *engine, GError **error)
{
	g_autofree char *fault = engine->tuning != NULL ? tuning_check(engine) : NULL;

	return fault == NULL || BROKEN(error, "%s", fault);
}

gboolean
engine_check(const Engine *engine, GError **error)
{
	g_autofree char *fault = cluster_check(engine->cluster);

	if (fault != NULL)
		return BROKEN(error, "at %" G_GINT64_FORMAT " ns: %s", engine->now_ns, fault);
	for (guint i = 0; i < engine->running->len; i++)
		if (!check_holder(engine, g_array_index(engine->running, JobId, i), error))
			return FALSE;
	return check_counts(engine, error) && check_demand(engine, error) &&
	       check_tuners(engine, error);
}
