/* SPDX-License-Identifier: MIT */

/*
 * Migration (specs 2.1, 2.3, A82): when GPUs are free that nobody in the queue can use, waiting
 * jobs of the longest rows move in, jobs that are spread come together, and a machine with next to
 * nobody on it is vacated for one who needs it whole.
 */

#include "policies/gandiva/state.h"

/* waiting jobs */

gboolean
gandiva_start_elsewhere(Decision *decision, JobId job, const Alloc *where)
{
	SimTime first_start_ns;

	if (view_first_start_ns(decision->view, job, &first_start_ns))
		return plan_move(decision->plan, job, where) == PLAN_OK;
	return plan_place(decision->plan, job, where) == PLAN_OK;
}

/* The job of the row that waits and whose turn comes first, or one of two that are packed;
 * JOB_NONE if none could go. */
static JobId
next_waiting(const Decision *decision, guint32 id)
{
	const Gandiva *self = decision->self;
	JobId holder = gandiva_row(&self->rows, id)->holder;

	for (JobId job = gandiva_guest(self, holder)->next; job != holder;
	     job = gandiva_guest(self, job)->next)
		if (gandiva_is_ready(decision, job))
			return job;
	return JOB_NONE;
}

/* Whether the row has a waiting job that has not been tried in vain in this epoch. */
static gboolean
may_send(const Decision *decision, guint32 row)
{
	const Gandiva *self = decision->self;
	JobId job = next_waiting(decision, row);

	return job != JOB_NONE && !gandiva_has_failed(self, gandiva_shape_of(&self->shapes, job));
}

/* The longest row of that width that may send a job; ROW_NONE if none may. */
static guint32
longest_of_width(const Decision *decision, const RowWidth *width)
{
	const Gandiva *self = decision->self;
	guint32 best = ROW_NONE;

	if (width->crowd->len == 0)
		return ROW_NONE;
	if (may_send(decision, g_array_index(width->crowd, guint32, 0)))
		return g_array_index(width->crowd, guint32, 0);
	for (guint i = 1; i < width->crowd->len; i++) {
		guint32 row = g_array_index(width->crowd, guint32, i);

		if (best != ROW_NONE && !gandiva_rows_is_longer(&self->rows, row, best))
			continue;
		if (may_send(decision, row))
			best = row;
	}
	return best;
}

/* The longest row up to that width that may send a job; ROW_NONE if none may. */
static guint32
longest_row(const Decision *decision, guint widest)
{
	const Gandiva *self = decision->self;
	guint32 best = ROW_NONE;

	for (guint i = 0; i < self->rows.widths->len; i++) {
		const RowWidth *width = &g_array_index(self->rows.widths, RowWidth, i);
		guint32 row;

		if (width->width > widest)
			continue;
		row = longest_of_width(decision, width);
		if (row != ROW_NONE &&
		    (best == ROW_NONE || gandiva_rows_is_longer(&self->rows, row, best)))
			best = row;
	}
	return best;
}

static void
move_in(Decision *decision, JobId job)
{
	Gandiva *self = decision->self;

	if (!gandiva_find(decision, view_job(decision->view, job), &self->where))
		return;
	if (!gandiva_start_elsewhere(decision, job, &self->where)) {
		gandiva_shape_of(&self->shapes, job)->failed_in = self->epoch;
		return;
	}
	gandiva_leave(self, decision->view, job);
	gandiva_settle(decision, job, &self->where);
}

void
gandiva_refill(Decision *decision)
{
	Gandiva *self = decision->self;
	guint32 row;

	while (self->rows.n_crowded > 0 && decision->cluster->n_free > 0 &&
	       (row = longest_row(decision, decision->cluster->n_free)) != ROW_NONE)
		move_in(decision, next_waiting(decision, row));
}

void
gandiva_refill_from_turned(Decision *decision)
{
	GArray *turned = decision->self->turned;

	for (guint i = 0; i < turned->len && decision->cluster->n_free > 0; i++) {
		guint32 row = g_array_index(turned, guint32, i);

		if (may_send(decision, row))
			move_in(decision, next_waiting(decision, row));
	}
}

/* jobs that run alone */

gboolean
gandiva_move_lone(Decision *decision, guint32 row, const Alloc *where)
{
	JobId job = gandiva_row(&decision->self->rows, row)->holder;

	if (plan_move(decision->plan, job, where) != PLAN_OK)
		return FALSE;
	decision->self->shapes.guests[job].moved_in = decision->self->decision;
	gandiva_resettle(decision, row, where);
	gandiva_begin_epoch(decision->self);
	return TRUE;
}

/* coming together */

gboolean
gandiva_pick_beside(const Decision *decision, guint32 machine, const Row *row, guint n_gpus,
                    Alloc *where)
{
	const Job *job = view_job(decision->view, row->holder);
	guint n_more = 0;

	if (!gandiva_pick(decision, machine, n_gpus, &row->gpus, FORMER_HELD, where))
		return FALSE;
	for (guint i = 0; i < where->n; i++)
		n_more += !alloc_has(&row->gpus, where->gpus[i]);
	return n_more == 0 || cluster_machine_room(decision->cluster, machine, job) >= n_more;
}

/* GPUs on which the row's job would be faster: all in one of its machines, or free ones. */
static gboolean
find_closer(Decision *decision, const Row *row, Alloc *where)
{
	Gandiva *self = decision->self;
	JobId job = row->holder;
	gint64 now_ppb = view_speed_on_ppb(decision->view, job, &row->gpus);

	for (guint i = 0; i < row->gpus.n; i++) {
		guint32 machine = self->spec->machine_of[row->gpus.gpus[i]];

		if (i > 0 && machine == self->spec->machine_of[row->gpus.gpus[i - 1]])
			continue;
		if (gandiva_pick_beside(decision, machine, row, row->gpus.n, where) &&
		    view_speed_on_ppb(decision->view, job, where) > now_ppb)
			return TRUE;
	}
	return gandiva_find(decision, view_job(decision->view, job), where) &&
	       view_speed_on_ppb(decision->view, job, where) > now_ppb;
}

/* Whether the row's job is spread over more of the cluster than it need be, and slower by it. */
static gboolean
is_spread(const Decision *decision, const Row *row)
{
	const Gandiva *self = decision->self;
	const ModelTable *models = view_models(decision->view);
	guint32 model = view_job(decision->view, row->holder)->model;
	PlacementLevel best, level;

	if (model == MODEL_NONE || row->gpus.n == 1)
		return FALSE;
	best = gandiva_shape_of(&self->shapes, row->holder)->best_level;
	level = cluster_spec_level(self->spec, &row->gpus);
	return level > best &&
	       speed_placement_ppb(models, model, best) > speed_placement_ppb(models, model, level);
}

void
gandiva_note_spread(Decision *decision, guint32 id)
{
	Gandiva *self = decision->self;
	Row *row = gandiva_row(&self->rows, id);

	if (row->is_spread || !is_spread(decision, row))
		return;
	row->is_spread = TRUE;
	g_array_append_val(self->spread, id);
}

/* TRUE if the row is no more, or is as close together as it can be. */
static gboolean
merge_row(Decision *decision, guint32 id)
{
	Gandiva *self = decision->self;
	const Row *row = gandiva_row(&self->rows, id);

	if (row->n_jobs == 0)
		return TRUE;
	if (!gandiva_is_lone(self, id) || row->gpus.n != gandiva_row_width(&self->rows, id))
		return FALSE;
	if (is_spread(decision, row) && find_closer(decision, row, &self->where))
		gandiva_move_lone(decision, id, &self->where);
	return !is_spread(decision, row);
}

void
gandiva_merge(Decision *decision)
{
	GArray *spread = decision->self->spread;
	guint n_left = 0;

	for (guint i = 0; i < spread->len; i++) {
		guint32 row = g_array_index(spread, guint32, i);

		if (merge_row(decision, row))
			gandiva_row(&decision->self->rows, row)->is_spread = FALSE;
		else
			g_array_index(spread, guint32, n_left++) = row;
	}
	g_array_set_size(spread, n_left);
}

/* making room */

/* The first job of the queue that one machine could hold; JOB_NONE if there is none. */
static JobId
first_queued(const Gandiva *self)
{
	const GArray *queued = self->shapes.queued;

	for (guint i = 0; i < queued->len; i++) {
		const Shape *shape =
		    gandiva_shape(&self->shapes, g_array_index(queued, guint32, i));

		if (!shape->is_wide && shape->key.share_milli == GPU_MILLI)
			return shape->first;
	}
	return JOB_NONE;
}

/* The next of the longest row that one machine could hold; JOB_NONE if there is none. */
static JobId
first_of_rows(const Decision *decision)
{
	const Gandiva *self = decision->self;
	guint32 best = ROW_NONE;

	for (guint i = 0; i < self->rows.widths->len; i++) {
		const RowWidth *width = &g_array_index(self->rows.widths, RowWidth, i);
		guint32 row =
		    width->crowd->len > 0 ? g_array_index(width->crowd, guint32, 0) : ROW_NONE;

		if (row != ROW_NONE && width->width <= self->spec->max_machine_gpus &&
		    (best == ROW_NONE || gandiva_rows_is_longer(&self->rows, row, best)))
			best = row;
	}
	return best != ROW_NONE ? next_waiting(decision, best) : JOB_NONE;
}

/* Whether all that is on the machine are jobs that could be moved. */
static gboolean
is_movable(const Gandiva *self, guint32 id)
{
	const Machine *machine = &self->spec->machines[id];
	guint n_jobs = 0;

	for (guint32 gpu = machine->first_gpu; gpu < machine->first_gpu + machine->n_gpus; gpu++) {
		guint32 row = self->rows.row_of[gpu];

		if (row == ROW_NONE || gandiva_row(&self->rows, row)->gpus.gpus[0] != gpu)
			continue;
		if (!gandiva_is_lone(self, row) || gandiva_row(&self->rows, row)->is_grown)
			return FALSE;
		n_jobs++;
	}
	/* Shares are in no row, and gangs that lie over machines begin elsewhere. */
	return n_jobs > 0 && n_jobs == self->servers.servers[id].n_jobs;
}

/* Whether the row's job could go to the machine, which is in use, and be no slower there. */
static gboolean
is_refuge(const Decision *decision, guint32 machine, const Row *row, Alloc *where)
{
	const Job *job = view_job(decision->view, row->holder);

	return decision->self->servers.servers[machine].n_jobs > 0 &&
	       cluster_machine_room(decision->cluster, machine, job) >= row->gpus.n &&
	       gandiva_pick(decision, machine, row->gpus.n, &row->gpus, FORMER_FREE, where) &&
	       view_speed_on_ppb(decision->view, job->id, where) >=
	           view_speed_on_ppb(decision->view, job->id, &row->gpus);
}

/* The fullest machine but @from that is a refuge. */
static gboolean
find_refuge(const Decision *decision, guint32 from, const Row *row, Alloc *where)
{
	const Cluster *cluster = decision->cluster;
	guint32 none = decision->self->spec->n_machines;
	guint type = decision->self->spec->machines[from].type;

	for (guint n_free = row->gpus.n; n_free <= cluster->machines[from].n_free; n_free++)
		for (guint32 machine = cluster_machine_with(cluster, type, n_free, 0);
		     machine < none;
		     machine = cluster_machine_with(cluster, type, n_free, machine + 1))
			if (machine != from && is_refuge(decision, machine, row, where))
				return TRUE;
	return FALSE;
}

typedef enum VacateKind {
	VACATE_TRIAL, /* only to find out whether each could go */
	VACATE_FOR_GOOD,
} VacateKind;

/* All jobs of the machine go; FALSE if one could not. */
static gboolean
vacate(Decision *decision, guint32 id, VacateKind kind)
{
	Gandiva *self = decision->self;
	const Machine *machine = &self->spec->machines[id];

	for (guint32 gpu = machine->first_gpu; gpu < machine->first_gpu + machine->n_gpus; gpu++) {
		guint32 row = self->rows.row_of[gpu];

		if (row == ROW_NONE || gandiva_row(&self->rows, row)->gpus.gpus[0] != gpu)
			continue;
		if (!find_refuge(decision, id, gandiva_row(&self->rows, row), &self->where))
			return FALSE;
		if (kind == VACATE_FOR_GOOD && !gandiva_move_lone(decision, row, &self->where))
			return FALSE;
	}
	return TRUE;
}

/* Whether at most a quarter of the machine is in use, by jobs that could go, and @job could have
 * it then. */
static gboolean
is_worth_vacating(Decision *decision, guint32 id, const Job *job)
{
	const Gandiva *self = decision->self;
	const Machine *machine = &self->spec->machines[id];
	guint width = gandiva_shape_of(&self->shapes, job->id)->width;

	if (decision->cluster->machines[id].n_free * 4 < machine->n_gpus * 3 ||
	    cluster_machine_room(self->shapes.empty, id, job) < width)
		return FALSE;
	if (self->options.placement.max_level == LEVEL_SLOT && machine->slot_gpus < width)
		return FALSE;
	return is_movable(self, id) && vacate(decision, id, VACATE_TRIAL);
}

static gboolean
vacate_one_with(Decision *decision, const Job *job, guint type, guint n_free)
{
	guint32 none = decision->self->spec->n_machines;

	for (guint32 machine = cluster_machine_with(decision->cluster, type, n_free, 0);
	     machine < none;
	     machine = cluster_machine_with(decision->cluster, type, n_free, machine + 1))
		if (is_worth_vacating(decision, machine, job))
			return vacate(decision, machine, VACATE_FOR_GOOD);
	return FALSE;
}

/* Those with most free GPUs first. */
static gboolean
vacate_one_for(Decision *decision, JobId job)
{
	const ClusterSpec *spec = decision->self->spec;

	if (job == JOB_NONE)
		return FALSE;
	for (guint n_free = spec->max_machine_gpus; n_free-- > 1;)
		for (guint type = 0; type < spec->n_types; type++)
			if (vacate_one_with(decision, view_job(decision->view, job), type, n_free))
				return TRUE;
	return FALSE;
}

gboolean
gandiva_defragment(Decision *decision)
{
	return decision->cluster->n_free > 0 &&
	       (vacate_one_for(decision, first_queued(decision->self)) ||
	        vacate_one_for(decision, first_of_rows(decision)));
}
