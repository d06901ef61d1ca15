/* SPDX-License-Identifier: MIT */

/*
 * What is on offer, as a cluster of its own: the real one but for what has been handed in and given
 * out in this decision. So a place that is found here is one that the whole plan leaves room for.
 */

#include "policies/greedy/state.h"

void
stock_open(Greedy *greedy)
{
	guint n_gpus = greedy->spec->n_gpus;

	greedy->open = cluster_new(greedy->spec);
	greedy->former = g_new(JobId, n_gpus);
	for (guint i = 0; i < n_gpus; i++)
		greedy->former[i] = JOB_NONE;
	greedy->returned = g_array_new(FALSE, FALSE, sizeof(guint32));
	greedy->touched = g_array_new(FALSE, FALSE, sizeof(JobId));
	greedy->known = g_new0(Alloc, n_gpus + 1);
	greedy->known_version = g_new0(guint32, n_gpus + 1);
	greedy->version = 1;
}

void
stock_close(Greedy *greedy)
{
	if (greedy->open == NULL)
		return;
	for (guint i = 0; i <= greedy->spec->n_gpus; i++)
		alloc_clear(&greedy->known[i]);
	g_free(greedy->known);
	g_free(greedy->known_version);
	g_free(greedy->former);
	g_array_unref(greedy->returned);
	g_array_unref(greedy->touched);
	alloc_clear(&greedy->scratch);
	alloc_clear(&greedy->where);
	alloc_clear(&greedy->base);
	cluster_free(greedy->open);
}

void
stock_touch(Greedy *greedy, JobId job)
{
	if (!greedy->jobs[job].is_due && !greedy->jobs[job].is_won)
		g_array_append_val(greedy->touched, job);
}

void
stock_empty(Greedy *greedy, const View *view)
{
	for (guint i = 0; i < greedy->returned->len; i++)
		greedy->former[g_array_index(greedy->returned, guint32, i)] = JOB_NONE;
	g_array_set_size(greedy->returned, 0);
	for (guint i = 0; i < greedy->touched->len; i++) {
		JobId job = g_array_index(greedy->touched, JobId, i);
		GreedyJob *own = &greedy->jobs[job];
		gboolean was_due = own->is_due;

		own->is_due = FALSE;
		own->is_won = FALSE;
		if (!was_due)
			continue;
		party_of(greedy, job)->n_due--;
		if (own->gpus.n == 0)
			parties_requeue(greedy, view, view_job(view, job));
	}
	g_array_set_size(greedy->touched, 0);
}

gint64
stock_rate_ppb(const View *view, const Job *job, const Alloc *gpus)
{
	gint64 speed_ppb = view_speed_on_ppb(view, job->id, gpus);

	return (gint64)((__int128)speed_ppb * job_held_milli(job, job->num_gpus) / GPU_MILLI);
}

gboolean
stock_may_fit(const Greedy *greedy, const Job *job, guint n_gpus)
{
	guint n_free = 0;

	if (job->share_milli != GPU_MILLI)
		return TRUE;
	if (n_gpus > greedy->open->n_free)
		return FALSE;
	if (job->gpu_types == GPU_TYPE_ANY && greedy->spec->n_types == 1)
		return TRUE;
	for (guint type = 0; type < greedy->spec->n_types; type++)
		if (job->gpu_types >> type & 1)
			n_free = MAX(n_free, greedy->open->free_by_type[type]);
	return n_gpus <= n_free;
}

/* a GPU more */

static PlacementLevel
max_level(const Greedy *greedy)
{
	return (PlacementLevel)greedy->options.placement.max_level;
}

/* Whether @job may hold @gpus beside all that is given out. */
static gboolean
may_hold(Greedy *greedy, const Job *job, const Alloc *gpus)
{
	const Alloc *holds = &greedy->jobs[job->id].gpus;
	gboolean may;

	if (cluster_spec_level(greedy->spec, gpus) > max_level(greedy) ||
	    !cluster_alloc_is_sane(greedy->spec, job, gpus))
		return FALSE;
	if (!job_is_picky(job)) /* then an open GPU is all it asks for */
		return TRUE;
	if (holds->n > 0)
		cluster_give(greedy->open, job, holds);
	may = cluster_has_room(greedy->open, job, gpus, CROWD_SHARES);
	if (holds->n > 0)
		cluster_take(greedy->open, job, holds);
	return may;
}

static gboolean
try_gpu(Greedy *greedy, const Job *job, const Alloc *base, guint32 gpu)
{
	if (!cluster_gpu_is_free(greedy->open, gpu) || alloc_has(base, gpu))
		return FALSE;
	alloc_copy(&greedy->scratch, base);
	alloc_add(&greedy->scratch, gpu);
	return may_hold(greedy, job, &greedy->scratch);
}

/* An open GPU of @from to @end: the job's own of before first. */
static guint32
gpu_between(Greedy *greedy, const Job *job, const Alloc *base, const Alloc *former, guint32 from,
            guint32 end)
{
	for (guint i = 0; i < former->n; i++)
		if (former->gpus[i] >= from && former->gpus[i] < end &&
		    try_gpu(greedy, job, base, former->gpus[i]))
			return former->gpus[i];
	for (guint32 gpu = cluster_next_free(greedy->open, from, end); gpu < end;
	     gpu = cluster_next_free(greedy->open, gpu + 1, end))
		if (try_gpu(greedy, job, base, gpu))
			return gpu;
	return GPU_NONE;
}

static guint32
gpu_in_slots_of(Greedy *greedy, const Job *job, const Alloc *base, const Alloc *former)
{
	for (guint i = 0; i < base->n; i++) {
		const Machine *machine =
		    &greedy->spec->machines[greedy->spec->machine_of[base->gpus[i]]];
		guint32 slot = cluster_spec_slot(machine, base->gpus[i]);
		guint32 from = machine->first_gpu + slot * machine->slot_gpus;
		guint32 end = MIN(from + machine->slot_gpus, machine->first_gpu + machine->n_gpus);
		guint32 gpu = gpu_between(greedy, job, base, former, from, end);

		if (gpu != GPU_NONE)
			return gpu;
	}
	return GPU_NONE;
}

static guint32
gpu_on_machine(Greedy *greedy, const Job *job, const Alloc *base, const Alloc *former,
               guint32 number)
{
	const Machine *machine = &greedy->spec->machines[number];

	return gpu_between(greedy, job, base, former, machine->first_gpu,
	                   machine->first_gpu + machine->n_gpus);
}

static guint32
gpu_on_machines_of(Greedy *greedy, const Job *job, const Alloc *base, const Alloc *former)
{
	guint32 last = G_MAXUINT32;

	for (guint i = 0; i < base->n; i++) {
		guint32 machine = greedy->spec->machine_of[base->gpus[i]];
		guint32 gpu = GPU_NONE;

		if (machine != last)
			gpu = gpu_on_machine(greedy, job, base, former, machine);
		if (gpu != GPU_NONE)
			return gpu;
		last = machine;
	}
	return GPU_NONE;
}

/* Of the machines from @first to @end the one with the fewest open GPUs that has one for it, or
 * the lowest-numbered. */
static guint32
gpu_on_machines(Greedy *greedy, const Job *job, const Alloc *base, const Alloc *former,
                guint32 first, guint32 end, gboolean is_lowest)
{
	guint type = greedy->spec->machines[greedy->spec->machine_of[base->gpus[0]]].type;
	guint32 best = GPU_NONE, fewest = G_MAXUINT32;

	for (guint32 i = first; i < end && (!is_lowest || best == GPU_NONE); i++) {
		guint32 n_free = greedy->open->machines[i].n_free;
		guint32 gpu;

		if (greedy->spec->machines[i].type != type || n_free == 0 || n_free >= fewest)
			continue;
		gpu = gpu_on_machine(greedy, job, base, former, i);
		if (gpu == GPU_NONE)
			continue;
		best = gpu;
		fewest = n_free;
	}
	return best;
}

/* The nearest open GPU to @base; under first-fit the job's own of before, or the first. */
static guint32
next_gpu(Greedy *greedy, const View *view, const Job *job, const Alloc *base)
{
	const Alloc *former = view_last_alloc(view, job->id);
	const ClusterSpec *spec = greedy->spec;
	const Rack *rack = &spec->racks[spec->machines[spec->machine_of[base->gpus[0]]].rack];
	guint32 gpu;

	if (base->n + 1 > spec->n_gpus || !stock_may_fit(greedy, job, 1))
		return GPU_NONE;
	if (greedy->options.placement.kind == PLACEMENT_FIRST_FIT) {
		for (guint i = 0; i < former->n; i++)
			if (try_gpu(greedy, job, base, former->gpus[i]))
				return former->gpus[i];
		return gpu_on_machines(greedy, job, base, former, 0, spec->n_machines, TRUE);
	}
	gpu = gpu_in_slots_of(greedy, job, base, former);
	if (gpu == GPU_NONE)
		gpu = gpu_on_machines_of(greedy, job, base, former);
	if (gpu == GPU_NONE && max_level(greedy) >= LEVEL_RACK)
		gpu = gpu_on_machines(greedy, job, base, former, rack->first_machine,
		                      rack->first_machine + rack->n_machines, FALSE);
	if (gpu == GPU_NONE && max_level(greedy) >= LEVEL_CLUSTER)
		gpu = gpu_on_machines(greedy, job, base, former, 0, spec->n_machines, FALSE);
	return gpu;
}

/* places */

/* @greedy->where becomes @base and as many GPUs near it as it takes to hold @n_gpus. */
static const Alloc *
grow(Greedy *greedy, const View *view, const Job *job, guint n_gpus)
{
	while (greedy->where.n < n_gpus) {
		guint32 gpu;

		alloc_copy(&greedy->base, &greedy->where);
		gpu = next_gpu(greedy, view, job, &greedy->base);
		if (gpu == GPU_NONE)
			return NULL;
		alloc_add(&greedy->where, gpu);
	}
	return &greedy->where;
}

/* With @gpu among them: it alone may be too little to start on. */
static const Alloc *
find_around(Greedy *greedy, const View *view, const Job *job, guint n_gpus, guint32 gpu)
{
	const Alloc *holds = &greedy->jobs[job->id].gpus;
	guint type = greedy->spec->machines[greedy->spec->machine_of[gpu]].type;

	if (!(job->gpu_types >> type & 1) || !try_gpu(greedy, job, holds, gpu))
		return NULL;
	alloc_copy(&greedy->where, holds);
	alloc_add(&greedy->where, gpu);
	return grow(greedy, view, job, n_gpus);
}

static const Alloc *
find_gang(Greedy *greedy, const View *view, const Job *job, guint n_gpus)
{
	const PlacementOptions *placement = &greedy->options.placement;
	gboolean is_common =
	    greedy->spec->n_types == 1 && !job_is_picky(job) && placement->kind != PLACEMENT_RANDOM;

	/* Where its own of before come first is for the seating to look after. */
	if (is_common && greedy->known_version[n_gpus] == greedy->version)
		return greedy->known[n_gpus].n > 0 ? &greedy->known[n_gpus] : NULL;
	alloc_reset(&greedy->where);
	if (!placement_find_on(greedy->open, view, job, n_gpus, placement, &greedy->where))
		alloc_reset(&greedy->where);
	if (is_common) {
		greedy->known_version[n_gpus] = greedy->version;
		alloc_copy(&greedy->known[n_gpus], &greedy->where);
	}
	return greedy->where.n > 0 ? &greedy->where : NULL;
}

const Alloc *
stock_find(Greedy *greedy, const View *view, const Job *job, guint32 gpu)
{
	const Alloc *holds = &greedy->jobs[job->id].gpus;
	guint n_gpus = holds->n > 0 ? holds->n + 1 : job->min_gpus;

	/* Workers do not come GPU by GPU. */
	if (holds->n == 0 && (gpu == GPU_NONE || job->share_milli != GPU_MILLI || job->workers > 0))
		return find_gang(greedy, view, job, n_gpus);
	if (gpu != GPU_NONE)
		return find_around(greedy, view, job, n_gpus, gpu);
	alloc_copy(&greedy->where, holds);
	return grow(greedy, view, job, n_gpus);
}
