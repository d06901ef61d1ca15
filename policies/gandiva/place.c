/* SPDX-License-Identifier: MIT */

/*
 * Where a job goes (specs 2.2): free GPUs on the least loaded server of its affinity, else on a
 * fresh one, else on any; else to the shortest row of the least loaded server of its affinity;
 * else it is queued. A gang wider than a machine takes whole free machines where it can, which
 * get its affinity, and joins gangs as wide as itself.
 */

#include "policies/gandiva/state.h"

/* inside a machine */

typedef struct Pick {
	const Cluster *cluster;
	const Alloc *former;
	FormerGpus kind;
} Pick;

static gboolean
is_open(const Pick *pick, guint32 gpu)
{
	return cluster_gpu_is_free(pick->cluster, gpu) ||
	       (pick->kind == FORMER_HELD && alloc_has(pick->former, gpu));
}

static guint
count_open(const Pick *pick, guint32 from, guint32 end, guint *ret_n_former)
{
	guint n = 0;

	*ret_n_former = 0;
	for (guint32 gpu = from; gpu < end; gpu++) {
		if (!is_open(pick, gpu))
			continue;
		n++;
		*ret_n_former += alloc_has(pick->former, gpu);
	}
	return n;
}

/* Takes open GPUs, the former ones first, until there are @n_gpus. */
static void
take_open(const Pick *pick, guint32 from, guint32 end, guint n_gpus, Alloc *where)
{
	alloc_reset(where);
	for (guint32 gpu = from; gpu < end && where->n < n_gpus; gpu++)
		if (alloc_has(pick->former, gpu) && is_open(pick, gpu))
			alloc_add(where, gpu);
	for (guint32 gpu = from; gpu < end && where->n < n_gpus; gpu++)
		if (!alloc_has(pick->former, gpu) && is_open(pick, gpu))
			alloc_add(where, gpu);
}

/* The slot that has enough and most former GPUs, the lowest on ties; FALSE if none has. */
static gboolean
pick_slot(const Pick *pick, const Machine *machine, guint n_gpus, guint32 *ret_from,
          guint32 *ret_end)
{
	guint32 machine_end = machine->first_gpu + machine->n_gpus;
	gboolean is_found = FALSE;
	guint most_former = 0;

	for (guint32 from = machine->first_gpu; from < machine_end; from += machine->slot_gpus) {
		guint32 end = MIN(from + machine->slot_gpus, machine_end);
		guint n_former;

		if (count_open(pick, from, end, &n_former) < n_gpus ||
		    (is_found && n_former <= most_former))
			continue;
		is_found = TRUE;
		most_former = n_former;
		*ret_from = from;
		*ret_end = end;
	}
	return is_found;
}

gboolean
gandiva_pick(const Decision *decision, guint32 id, guint n_gpus, const Alloc *former,
             FormerGpus kind, Alloc *ret_where)
{
	const Machine *machine = &decision->self->spec->machines[id];
	Pick pick = { .cluster = decision->cluster, .former = former, .kind = kind };
	guint32 from = machine->first_gpu, end = machine->first_gpu + machine->n_gpus;
	guint n_former;

	if (n_gpus > machine->n_gpus)
		return FALSE;
	if (!pick_slot(&pick, machine, n_gpus, &from, &end) &&
	    (decision->self->options.placement.max_level == LEVEL_SLOT ||
	     count_open(&pick, from, end, &n_former) < n_gpus))
		return FALSE;
	take_open(&pick, from, end, n_gpus, ret_where);
	return TRUE;
}

/* free GPUs */

static gboolean
accepts(const Shape *shape, guint type)
{
	return (shape->key.gpu_types >> type) & 1;
}

static gboolean
machine_may_fit(const Decision *decision, const Shape *shape, guint type)
{
	const ClusterSpec *spec = decision->self->spec;
	const guint32 *n_in_bucket =
	    decision->cluster->n_in_bucket + (gsize)type * (spec->max_machine_gpus + 1);

	for (guint n_free = shape->width; n_free <= spec->max_machine_gpus; n_free++)
		if (n_in_bucket[n_free] > 0)
			return TRUE;
	return FALSE;
}

/* Whether some machine has as many free GPUs as a job of the shape needs. */
static gboolean
may_fit(const Decision *decision, const Shape *shape)
{
	gboolean is_narrow = !shape->is_wide && decision->self->options.affinity;

	if (shape->key.share_milli < GPU_MILLI)
		return TRUE;
	for (guint type = 0; type < decision->self->spec->n_types; type++) {
		if (!accepts(shape, type) || decision->cluster->free_by_type[type] < shape->width)
			continue;
		if (!is_narrow || machine_may_fit(decision, shape, type))
			return TRUE;
	}
	return FALSE;
}

static gboolean
pick_for(const Decision *decision, guint32 machine, const Job *job, guint width, Alloc *ret_where)
{
	return gandiva_pick(decision, machine, width, view_last_alloc(decision->view, job->id),
	                    FORMER_FREE, ret_where);
}

static gboolean
takes(const Decision *decision, guint32 machine, const Job *job, guint width)
{
	return decision->cluster->machines[machine].n_free >= width &&
	       cluster_machine_room(decision->cluster, machine, job) >= width &&
	       (decision->self->options.placement.max_level > LEVEL_SLOT ||
	        pick_for(decision, machine, job, width, &decision->self->other));
}

/* n1: the least loaded server of that affinity. */
static guint32
find_of_affinity(const Decision *decision, const Job *job, guint width)
{
	const Servers *servers = &decision->self->servers;
	guint32 none = decision->self->spec->n_machines, best = none;

	for (guint32 machine = gandiva_servers_next(servers, width, 0); machine < none;
	     machine = gandiva_servers_next(servers, width, machine + 1)) {
		if (best != none && !gandiva_servers_is_less(servers, machine, best))
			continue;
		if (takes(decision, machine, job, width))
			best = machine;
	}
	return best;
}

/* n2: a server nobody is on, of the type with most free GPUs (A44). */
static guint32
find_fresh(const Decision *decision, const Job *job, guint width)
{
	const Gandiva *self = decision->self;
	const guint32 *free_by_type = decision->cluster->free_by_type;
	const Machine *machines = self->spec->machines;
	guint32 none = self->spec->n_machines, best = none;

	for (guint32 machine = gandiva_servers_next(&self->servers, 0, 0); machine < none;
	     machine = gandiva_servers_next(&self->servers, 0, machine + 1)) {
		if (best != none &&
		    free_by_type[machines[machine].type] <= free_by_type[machines[best].type])
			continue;
		if (!takes(decision, machine, job, width))
			continue;
		best = machine;
		if (self->spec->n_types == 1)
			break;
	}
	return best;
}

/* n3, of one type and number of free GPUs: the least loaded server but for @best. */
static guint32
find_any_with(const Decision *decision, const Job *job, guint type, guint n_free, guint32 best)
{
	const Gandiva *self = decision->self;
	guint32 none = self->spec->n_machines;

	for (guint32 machine = cluster_machine_with(decision->cluster, type, n_free, 0);
	     machine < none;
	     machine = cluster_machine_with(decision->cluster, type, n_free, machine + 1)) {
		gboolean is_less =
		    best == none || gandiva_servers_is_less(&self->servers, machine, best) ||
		    (machine < best && !gandiva_servers_is_less(&self->servers, best, machine));

		if (is_less &&
		    takes(decision, machine, job, gandiva_shape_of(&self->shapes, job->id)->width))
			best = machine;
	}
	return best;
}

/* n3: the least loaded server of any affinity. */
static guint32
find_any(const Decision *decision, const Job *job, const Shape *shape)
{
	const ClusterSpec *spec = decision->self->spec;
	guint32 best = spec->n_machines;

	for (guint type = 0; type < spec->n_types; type++) {
		if (!accepts(shape, type))
			continue;
		for (guint n_free = shape->width; n_free <= spec->max_machine_gpus; n_free++)
			best = find_any_with(decision, job, type, n_free, best);
	}
	return best;
}

/* Whether one that asks for no more has failed in this epoch. */
static gboolean
is_hopeless(const Gandiva *self, const Shape *shape)
{
	for (guint i = 0; i < self->failed->len; i++) {
		guint32 other = g_array_index(self->failed, guint32, i);

		if (gandiva_shape_is_humbler(gandiva_shape(&self->shapes, other), shape))
			return TRUE;
	}
	return FALSE;
}

static gboolean
find_by_affinity(const Decision *decision, const Job *job, const Shape *shape, Alloc *ret_where)
{
	guint32 none = decision->self->spec->n_machines;
	guint32 machine = find_of_affinity(decision, job, shape->width);

	if (machine == none)
		machine = find_fresh(decision, job, shape->width);
	if (machine == none)
		machine = find_any(decision, job, shape);
	return machine != none && pick_for(decision, machine, job, shape->width, ret_where);
}

gboolean
gandiva_find(const Decision *decision, const Job *job, Alloc *ret_where)
{
	Gandiva *self = decision->self;
	Shape *shape = gandiva_shape_of(&self->shapes, job->id);
	gboolean is_found = FALSE, is_hopeless_now;

	if (gandiva_has_failed(self, shape))
		return FALSE;
	is_hopeless_now = !may_fit(decision, shape) || is_hopeless(self, shape);
	if (is_hopeless_now)
		is_found = FALSE;
	else if (shape->is_wide || job->share_milli < GPU_MILLI || !self->options.affinity)
		is_found = placement_find(decision->view, job, shape->width,
		                          &self->options.placement, ret_where);
	else
		is_found = find_by_affinity(decision, job, shape, ret_where);
	if (is_found)
		return TRUE;
	shape->failed_in = self->epoch;
	if (!is_hopeless_now)
		g_array_append_val(self->failed, self->shapes.guests[job->id].shape);
	return FALSE;
}

/* rows to join */

/* Whether @job could be on the row's GPUs if nobody else were there. */
static gboolean
suits(const Gandiva *self, guint32 id, const Job *job)
{
	const Alloc *gpus = &gandiva_row(&self->rows, id)->gpus;

	return !job_is_picky(job) ||
	       (cluster_alloc_is_sane(self->spec, job, gpus) &&
	        cluster_has_room(self->shapes.empty, job, gpus, CROWD_SHARES));
}

static gboolean
is_joinable(const Gandiva *self, guint32 id, const Job *job, guint width)
{
	const Row *row = gandiva_row(&self->rows, id);

	return row->n_jobs > 0 && row->n_jobs < self->rows.max_height &&
	       gandiva_row_width(&self->rows, id) == width && suits(self, id, job);
}

/* Fewest jobs, then lowest GPU (A81); ROW_NONE is worst. */
static guint32
shorter_of(const Gandiva *self, guint32 one, guint32 other)
{
	const Row *first, *second;

	if (one == ROW_NONE || other == ROW_NONE)
		return one == ROW_NONE ? other : one;
	first = gandiva_row(&self->rows, one);
	second = gandiva_row(&self->rows, other);
	if (first->n_jobs != second->n_jobs)
		return first->n_jobs < second->n_jobs ? one : other;
	return first->gpus.gpus[0] < second->gpus.gpus[0] ? one : other;
}

static guint32
shortest_on_machine(const Gandiva *self, guint32 id, const Job *job, guint width)
{
	const Machine *machine = &self->spec->machines[id];
	guint32 best = ROW_NONE;

	for (guint32 i = 0; i < machine->n_gpus; i++) {
		guint32 row = self->rows.row_of[machine->first_gpu + i];

		if (row != ROW_NONE && row != best && is_joinable(self, row, job, width))
			best = shorter_of(self, row, best);
	}
	return best;
}

/* On the least loaded server of the job's affinity that has such a row. */
static guint32
shortest_of_affinity(const Gandiva *self, const Job *job, guint width)
{
	guint32 none = self->spec->n_machines, best = none, row = ROW_NONE;

	for (guint32 machine = gandiva_servers_next(&self->servers, width, 0); machine < none;
	     machine = gandiva_servers_next(&self->servers, width, machine + 1)) {
		guint32 found;

		if (best != none && !gandiva_servers_is_less(&self->servers, machine, best))
			continue;
		found = shortest_on_machine(self, machine, job, width);
		if (found == ROW_NONE)
			continue;
		best = machine;
		row = found;
	}
	return row;
}

static guint32
shortest_of_all(const Gandiva *self, const Job *job, guint width)
{
	guint32 best = ROW_NONE;

	for (guint32 row = 0; row < self->rows.n; row++)
		if (is_joinable(self, row, job, width))
			best = shorter_of(self, row, best);
	return best;
}

/* What there is of the shape's width that has not been looked through in vain; or NULL. */
static const RowWidth *
rows_to_join(const Gandiva *self, const Shape *shape)
{
	const RowWidth *width;

	if (!self->options.time_slicing || shape->key.share_milli < GPU_MILLI)
		return NULL;
	width = gandiva_rows_find_width(&self->rows, shape->width);
	if (width == NULL || width->n_open == 0 || width->version == shape->join_failed_in)
		return NULL;
	return width;
}

static guint32
find_row(Gandiva *self, const Job *job, Shape *shape)
{
	const RowWidth *width = rows_to_join(self, shape);
	guint32 row;

	if (width == NULL)
		return ROW_NONE;
	row = shape->is_wide || !self->options.affinity
	          ? shortest_of_all(self, job, shape->width)
	          : shortest_of_affinity(self, job, shape->width);
	if (row == ROW_NONE)
		shape->join_failed_in = width->version;
	return row;
}

/* the queue */

static gboolean
start(Decision *decision, const Job *job, const Alloc *where)
{
	if (plan_place(decision->plan, job->id, where) != PLAN_OK)
		return FALSE;
	gandiva_shapes_unqueue(&decision->self->shapes, job->id);
	gandiva_settle(decision, job->id, where);
	return TRUE;
}

static gboolean
serve_job(Decision *decision, JobId id)
{
	Gandiva *self = decision->self;
	const Job *job = view_job(decision->view, id);
	guint32 row;

	if (gandiva_find(decision, job, &self->where))
		return start(decision, job, &self->where);
	if (gandiva_shrink_for(decision, job) && gandiva_find(decision, job, &self->where))
		return start(decision, job, &self->where);
	row = find_row(self, job, gandiva_shape_of(&self->shapes, id));
	if (row == ROW_NONE)
		return FALSE;
	gandiva_shrink(decision, row);
	gandiva_shapes_unqueue(&self->shapes, id);
	gandiva_join(decision, row, id);
	return TRUE;
}

/* Whether it is worth asking a job of the shape. */
static gboolean
is_worth_asking(const Gandiva *self, const Shape *shape)
{
	return !gandiva_has_failed(self, shape) || self->grown->len > 0 ||
	       rows_to_join(self, shape) != NULL;
}

/* In the order of arrival; where the first of a shape goes, the next one moves back in that order,
 * and where it stays so do all behind it. */
void
gandiva_serve_queue(Decision *decision)
{
	Gandiva *self = decision->self;
	const GArray *queued = self->shapes.queued;

	for (guint i = 0; i < queued->len;) {
		const Shape *shape =
		    gandiva_shape(&self->shapes, g_array_index(queued, guint32, i));

		if (!is_worth_asking(self, shape) || !serve_job(decision, shape->first))
			i++;
	}
}
