/* SPDX-License-Identifier: MIT */

/*
 * Growing and shrinking (specs 2.1): a job whose max_gpus is above what it runs on takes idle GPUs
 * of its machine while nobody waits, and gives back what it took as soon as that makes room for
 * somebody. Jobs without max_gpus never change width.
 */

#include "policies/gandiva/state.h"

static guint32
machine_of_row(const Gandiva *self, guint32 row)
{
	return self->spec->machine_of[gandiva_row(&self->rows, row)->gpus.gpus[0]];
}

void
gandiva_shrink(Decision *decision, guint32 id)
{
	Gandiva *self = decision->self;
	const Row *row = gandiva_row(&self->rows, id);
	guint width = gandiva_row_width(&self->rows, id);

	if (row->gpus.n <= width)
		return;
	if (!gandiva_pick_beside(decision, machine_of_row(self, id), row, width, &self->other)) {
		alloc_copy(&self->other, &row->gpus);
		self->other.n = width;
	}
	gandiva_move_lone(decision, id, &self->other);
}

/* Forgets those that have shrunk or ended. */
static void
tidy_grown(Gandiva *self)
{
	guint n_left = 0;

	for (guint i = 0; i < self->grown->len; i++) {
		guint32 id = g_array_index(self->grown, guint32, i);
		Row *row = gandiva_row(&self->rows, id);

		row->is_grown = row->n_jobs > 0 && row->gpus.n > gandiva_row_width(&self->rows, id);
		if (row->is_grown)
			g_array_index(self->grown, guint32, n_left++) = id;
	}
	g_array_set_size(self->grown, n_left);
}

/* Whose GPUs would do for a job: those of one machine, or of all of its type. */
typedef enum Reach {
	REACH_MACHINE,
	REACH_TYPE,
} Reach;

static gboolean
is_in_reach(const Gandiva *self, guint32 row, guint32 machine, Reach reach)
{
	guint32 its = machine_of_row(self, row);

	switch (reach) {
	case REACH_MACHINE:
		return its == machine;
	case REACH_TYPE:
		return self->spec->machines[its].type == self->spec->machines[machine].type;
	}
	g_assert_not_reached();
}

static guint
count_free(const Decision *decision, guint32 machine, Reach reach)
{
	switch (reach) {
	case REACH_MACHINE:
		return decision->cluster->machines[machine].n_free;
	case REACH_TYPE:
		return decision->cluster
		    ->free_by_type[decision->self->spec->machines[machine].type];
	}
	g_assert_not_reached();
}

/* What all that have grown could give back. */
static guint
count_surplus(const Gandiva *self, guint32 machine, Reach reach)
{
	guint n = 0;

	for (guint i = 0; i < self->grown->len; i++) {
		guint32 row = g_array_index(self->grown, guint32, i);

		if (is_in_reach(self, row, machine, reach))
			n += gandiva_row(&self->rows, row)->gpus.n -
			     gandiva_row_width(&self->rows, row);
	}
	return n;
}

static void
shrink_all(Decision *decision, guint32 machine, Reach reach)
{
	Gandiva *self = decision->self;

	for (guint i = 0; i < self->grown->len; i++) {
		guint32 row = g_array_index(self->grown, guint32, i);

		if (is_in_reach(self, row, machine, reach))
			gandiva_shrink(decision, row);
	}
	tidy_grown(self);
}

gboolean
gandiva_shrink_for(Decision *decision, const Job *job)
{
	Gandiva *self = decision->self;
	const Shape *shape = gandiva_shape_of(&self->shapes, job->id);
	Reach reach = shape->is_wide || !self->options.affinity ? REACH_TYPE : REACH_MACHINE;
	guint32 best = G_MAXUINT32;

	tidy_grown(self);
	for (guint i = 0; i < self->grown->len; i++) {
		guint32 machine = machine_of_row(self, g_array_index(self->grown, guint32, i));
		guint type = self->spec->machines[machine].type;

		if ((shape->key.gpu_types >> type & 1) && machine < best &&
		    count_free(decision, machine, reach) + count_surplus(self, machine, reach) >=
		        shape->width)
			best = machine;
	}
	if (best != G_MAXUINT32)
		shrink_all(decision, best, reach);
	return best != G_MAXUINT32;
}

/* As many idle GPUs of its machine as the row's job may have and is faster for. */
static void
grow_row(Decision *decision, guint32 id, guint32 machine)
{
	Gandiva *self = decision->self;
	Row *row = gandiva_row(&self->rows, id);
	const Job *job = view_job(decision->view, row->holder);
	guint unit = job->workers > 0 ? job->gpus_per_worker : 1, n_more;

	if (!gandiva_is_lone(self, id) || view_max_gpus(decision->view, job->id) <= row->gpus.n ||
	    self->spec->machine_of[row->gpus.gpus[row->gpus.n - 1]] != machine)
		return;
	n_more = MIN(view_max_gpus(decision->view, job->id) - row->gpus.n,
	             cluster_machine_room(decision->cluster, machine, job));
	n_more -= n_more % unit;
	while (n_more > 0 &&
	       !gandiva_pick_beside(decision, machine, row, row->gpus.n + n_more, &self->where))
		n_more -= unit;
	if (n_more == 0 || view_speed_on_ppb(decision->view, job->id, &self->where) <=
	                       view_speed_on_ppb(decision->view, job->id, &row->gpus))
		return;
	if (!gandiva_move_lone(decision, id, &self->where) || row->is_grown)
		return;
	row->is_grown = TRUE;
	g_array_append_val(self->grown, id);
}

void
gandiva_grow(Decision *decision)
{
	Gandiva *self = decision->self;

	if (self->n_elastic == 0 || self->rows.n_crowded > 0 || self->shapes.queued->len > 0)
		return;
	for (guint32 id = 0; id < self->spec->n_machines; id++) {
		const Machine *machine = &self->spec->machines[id];
		guint32 end = machine->first_gpu + machine->n_gpus;

		for (guint32 gpu = machine->first_gpu;
		     gpu < end && decision->cluster->machines[id].n_free > 0; gpu++) {
			guint32 row = self->rows.row_of[gpu];

			if (row != ROW_NONE && gandiva_row(&self->rows, row)->gpus.gpus[0] == gpu)
				grow_row(decision, row, id);
		}
	}
}
