/* SPDX-License-Identifier: MIT */

/* What could never run: the empty cluster, every node up, the policy's own limits (A07). */

#include "sim/engine/state.h"

static guint
size_tested(const Engine *engine, const Job *job)
{
	return (engine->policy->caps & POLICY_RESIZES) != 0 ? job->min_gpus : job->num_gpus;
}

static gboolean
accepts(const Job *job, guint type)
{
	return (job->gpu_types >> type & 1) != 0;
}

/* GPUs of one machine that the job could hold at once; whole workers only. */
static guint
machine_room(const Engine *engine, const Job *job, guint32 machine, guint within)
{
	guint room = cluster_machine_room(engine->empty, machine, job);

	room = MIN(room, within);
	return job->gpus_per_worker > 0 ? room - room % job->gpus_per_worker : room;
}

/* The most GPUs of @type in any one part of the cluster at the policy's widest level. */
static guint64
largest_room(const Engine *engine, const Job *job, guint type)
{
	const ClusterSpec *spec = engine->scenario->cluster;
	guint64 largest = 0, sum = 0;

	for (guint m = 0; m < spec->n_machines; m++) {
		const Machine *machine = &spec->machines[m];
		gboolean is_new_part = engine->max_level == LEVEL_RACK
		                           ? m == spec->racks[machine->rack].first_machine
		                           : engine->max_level < LEVEL_RACK;
		guint within =
		    engine->max_level == LEVEL_SLOT ? machine->slot_gpus : machine->n_gpus;

		if (is_new_part)
			sum = 0;
		if (machine->type == type)
			sum += machine_room(engine, job, m, within);
		largest = MAX(largest, sum);
	}
	return largest;
}

static char *
type_names(const ClusterSpec *spec)
{
	g_autoptr(GString) names = g_string_new(NULL);

	for (guint i = 0; i < spec->n_types; i++)
		g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", spec->types[i].name);
	return g_strdup(names->len > 0 ? names->str : "no named type");
}

/* Either no type named is there, or the model stands still on all that would do (E26). */
static char *
type_refusal_text(const Engine *engine, const Job *job)
{
	const ClusterSpec *spec = engine->scenario->cluster;
	g_autofree char *names = type_names(spec);

	if (job->gpu_type_name[0] == '\0' || cluster_spec_types(spec, job->gpu_type_name) != 0)
		return g_strdup_printf("model %s cannot run on the types it may have, the cluster "
		                       "has %s",
		                       job->model_name, names);
	return g_strdup_printf("needs gpu_type %s, the cluster has %s", job->gpu_type_name, names);
}

static gboolean
is_easy(const Engine *engine, const Job *job, guint size)
{
	const ClusterSpec *spec = engine->scenario->cluster;

	return !job_is_picky(job) && engine->max_level == LEVEL_CLUSTER &&
	       size <= spec->types[0].n_gpus;
}

static char *
refusal_text(const Engine *engine, const Job *job, guint size, guint64 largest)
{
	const ClusterSpec *spec = engine->scenario->cluster;
	g_autofree char *where = NULL;

	if (size > spec->n_gpus)
		return g_strdup_printf("needs %u GPUs, the cluster has %u", size, spec->n_gpus);
	if (engine->max_level != LEVEL_CLUSTER)
		where = g_strdup_printf(" within a %s", level_to_string(engine->max_level));
	return g_strdup_printf(
	    "needs %u GPUs of one type%s with the memory, CPUs and workers asked "
	    "for, the cluster has at most %" G_GUINT64_FORMAT,
	    size, where != NULL ? where : "", largest);
}

char *
fit_refusal(const Engine *engine, const Job *job)
{
	const ClusterSpec *spec = engine->scenario->cluster;
	guint size = size_tested(engine, job);
	guint64 largest = 0;

	if (is_easy(engine, job, size))
		return NULL;
	if (job->gpu_types == 0)
		return type_refusal_text(engine, job);
	for (guint type = 0; type < spec->n_types; type++) {
		if (accepts(job, type))
			largest = MAX(largest, largest_room(engine, job, type));
		if (largest >= size)
			return NULL;
	}
	return refusal_text(engine, job, size, largest);
}
