/* SPDX-License-Identifier: MIT */

/*
 * Growing and shrinking (specs 2.1): a job whose max_gpus is above what it runs on takes idle GPUs
 * of its machine while nobody waits, and gives back what it took as soon as that makes room for
 * somebody. Jobs without max_gpus never change width.
 */

#include "policies/gandiva_state.h"

void
gandiva_shrink(Decision *decision, guint32 id)
{
	Gandiva *self = decision->self;
	const Row *row = gandiva_row(&self->rows, id);
	guint width = gandiva_row_width(&self->rows, id);

	if (row->gpus.n <= width)
		return;
	alloc_reset(&self->other);
	for (guint i = 0; i < width; i++)
		alloc_add(&self->other, row->gpus.gpus[i]);
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

static guint32
machine_of_row(const Gandiva *self, guint32 row)
{
	return self->spec->machine_of[gandiva_row(&self->rows, row)->gpus.gpus[0]];
}

/* What all that have grown on the machine, or on machines of its type, could give back. */
static guint
count_surplus(const Gandiva *self, guint32 machine, gboolean of_type)
{
	guint n = 0;

	for (guint i = 0; i < self->grown->len; i++) {
		guint32 row = g_array_index(self->grown, guint32, i);
		guint32 its = machine_of_row(self, row);

		if (its == machine || (of_type && self->spec->machines[its].type ==
		                                      self->spec->machines[machine].type))
			n += gandiva_row(&self->rows, row)->gpus.n -
			     gandiva_row_width(&self->rows, row);
	}
	return n;
}

static void
shrink_all_on(Decision *decision, guint32 machine, gboolean of_type)
{
	Gandiva *self = decision->self;

	for (guint i = 0; i < self->grown->len; i++) {
		guint32 row = g_array_index(self->grown, guint32, i);
		guint32 its = machine_of_row(self, row);

		if (its == machine || (of_type && self->spec->machines[its].type ==
		                                      self->spec->machines[machine].type))
			gandiva_shrink(decision, row);
	}
	tidy_grown(self);
}

gboolean
gandiva_shrink_for(Decision *decision, const Job *job)
{
	Gandiva *self = decision->self;
	const Cluster *cluster = decision->cluster;
	const Shape *shape = gandiva_shape_of(&self->shapes, job->id);
	gboolean of_type = shape->is_wide || !self->options.affinity;
	guint32 best = G_MAXUINT32;

	tidy_grown(self);
	for (guint i = 0; i < self->grown->len; i++) {
		guint32 machine = machine_of_row(self, g_array_index(self->grown, guint32, i));
		guint type = self->spec->machines[machine].type;
		guint n_free =
		    of_type ? cluster->free_by_type[type] : cluster->machines[machine].n_free;

		if ((shape->key.gpu_types >> type & 1) &&
		    n_free + count_surplus(self, machine, of_type) >= shape->width)
			best = MIN(best, machine);
	}
	if (best != G_MAXUINT32)
		shrink_all_on(decision, best, of_type);
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

	if (!gandiva_is_lone(self, id) || job->max_gpus <= row->gpus.n ||
	    self->spec->machine_of[row->gpus.gpus[row->gpus.n - 1]] != machine)
		return;
	n_more =
	    MIN(job->max_gpus - row->gpus.n, cluster_machine_room(decision->cluster, machine, job));
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
