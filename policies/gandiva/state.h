/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Gandiva: its options, its state, and what the parts of one decision ask of each other. The
 * order of a decision is in gandiva.c.
 */

#include "policies/gandiva/rows.h"
#include "policies/gandiva/servers.h"

typedef struct GandivaOptions {
	SimTime quantum_ns;
	gboolean time_slicing, migration, packing, affinity, grow_shrink, defragment;
	gint64 max_height;
	PlacementOptions placement;
	gint preset;
} GandivaOptions;

typedef struct Gandiva {
	GandivaOptions options;
	const ClusterSpec *spec;
	Shapes shapes;
	Servers servers;
	Rows rows;
	GArray *due;        /* of guint32: rows whose turn is over */
	GArray *vacant;     /* of guint32: rows whose holder waits for the GPUs */
	GArray *stale;      /* of guint32: rows whose wake is to be looked at */
	GArray *grown;      /* of guint32: rows on more GPUs than asked for */
	GArray *spread;     /* of guint32: rows on GPUs further apart than need be */
	GArray *turned;     /* of guint32: crowded rows in which a turn began in this decision */
	GArray *failed;     /* of guint32: shapes that found no free GPUs in this epoch */
	GArray *packable;   /* of guint32: shapes that can be packed, least utilised first */
	GArray *pairs;      /* of JobId: those that joined another on its GPUs */
	guint8 *worth;      /* what is known of pairs of models, a square */
	guint n_elastic;    /* jobs in the house that could grow */
	guint64 decision;   /* counted from 1 */
	guint64 epoch;      /* a time in which nothing falls free; counted from 1 */
	gboolean has_freed; /* something fell free since the last look at who waits */
	gboolean has_new_pairs; /* somebody entered a pool since the last look at them */
	Alloc where, other;     /* scratch */
} Gandiva;

/* One call of decide(). */
typedef struct Decision {
	Gandiva *self;
	const View *view;
	Plan *plan;
	const Cluster *cluster;
	SimTime now_ns;
} Decision;

static inline const Guest *
gandiva_guest(const Gandiva *self, JobId job)
{
	return &self->shapes.guests[job];
}

/* Whether @shape has been found to have no place in this epoch. */
static inline gboolean
gandiva_has_failed(const Gandiva *self, const Shape *shape)
{
	return shape->failed_in == self->epoch;
}

/* gandiva.c: who is where */

/* Something fell free: whoever found no place may find one now. */
void gandiva_begin_epoch(Gandiva *self);

/* @job has been given @where, and has it to itself. */
void gandiva_settle(Decision *decision, JobId job, const Alloc *where);

/* @job takes its turns on the row's GPUs from now on. */
void gandiva_join(Decision *decision, guint32 row, JobId job);

/* @job, in a row, is there no more. */
void gandiva_leave(Gandiva *self, const View *view, JobId job);

/* The only job of a row has other GPUs now. */
void gandiva_resettle(Decision *decision, guint32 row, const Alloc *where);

/* Whether @job waits, in the queue or for its turn, with nothing in the way of a start. */
gboolean gandiva_is_ready(const Decision *decision, JobId job);

/* Whether the row is one job that runs, alone on its GPUs. */
gboolean gandiva_is_lone(const Gandiva *self, guint32 row);

/* place.c: where to */

/* Whether a job's former GPUs are open to it only where they are free, or all, as its own. */
typedef enum FormerGpus {
	FORMER_FREE,
	FORMER_HELD,
} FormerGpus;

/* The lowest-numbered free GPUs of the machine, @former ones first (B22), in one slot if one has
 * enough (C02). FALSE if there are not enough within the levels allowed. */
gboolean gandiva_pick(const Decision *decision, guint32 machine, guint n_gpus, const Alloc *former,
                      FormerGpus kind, Alloc *ret_where);

/* Free GPUs for @job: on a server of its affinity, else a fresh one, else any (2.2). A shape for
 * which there are none is not tried again in this epoch. */
gboolean gandiva_find(const Decision *decision, const Job *job, Alloc *ret_where);

/* Every queued job that has a place gets it, or joins a row. */
void gandiva_serve_queue(Decision *decision);

/* moves.c: migration */

/* A waiting job that goes where it has not run before: plan_move(), or its first start. */
gboolean gandiva_start_elsewhere(Decision *decision, JobId job, const Alloc *where);

/* The only job of a row moves, or changes its width. */
gboolean gandiva_move_lone(Decision *decision, guint32 row, const Alloc *where);

/* The machine's GPUs for a row that is there already, its own among them. */
gboolean gandiva_pick_beside(const Decision *decision, guint32 machine, const Row *row,
                             guint n_gpus, Alloc *where);

/* Waiting jobs move to free GPUs: those of the longest rows first, or those of rows in which a
 * turn has just begun. */
void gandiva_refill(Decision *decision);
void gandiva_refill_from_turned(Decision *decision);

/* The row is new, or on new GPUs. */
void gandiva_note_spread(Decision *decision, guint32 row);
void gandiva_merge(Decision *decision);

/* TRUE if a machine was vacated for somebody who waits. */
gboolean gandiva_defragment(Decision *decision);

/* elastic.c: growing and shrinking */

void gandiva_grow(Decision *decision);

/* Jobs that have grown give back what makes room for @job; FALSE if that would not do. */
gboolean gandiva_shrink_for(Decision *decision, const Job *job);
void gandiva_shrink(Decision *decision, guint32 row);

/* packing.c */

void gandiva_packing_init(Gandiva *self, const View *view);
void gandiva_packing_clear(Gandiva *self);

/* What the models say of a shape that is new. */
void gandiva_packing_meet(Gandiva *self, const View *view, guint32 shape);

/* @job's place among those that could be packed, after whatever has happened to it. */
void gandiva_packing_settle(Gandiva *self, JobId job);

/* Jobs that wait join others. */
void gandiva_pack(Decision *decision);

/* Packed jobs that slow each other down part when there are free GPUs. */
void gandiva_part(Decision *decision);
