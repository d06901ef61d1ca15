/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Gandiva's shapes: jobs that ask for the same are of one shape, and where one of them finds no
 * place no other does. So a queue is kept a shape, and however long it is, only its first job is
 * ever asked. How wide a job runs, and whether one machine can hold it, is worked out once a
 * shape too.
 *
 * A Guest is what Gandiva remembers of a job.
 */

#include "sim/policy.h"

#define GUEST_NOWHERE G_MAXUINT32

/* Where a job that may be packed can be found; see packing.c. */
typedef enum Pool {
	POOL_NONE,
	POOL_WAITS,
	POOL_RUNS,
} Pool;

#define N_POOLS 3

typedef struct Guest {
	guint32 shape;
	guint32 row;          /* whose turns it shares, or GUEST_NOWHERE */
	guint32 shared_gpu;   /* of a running job with a share, else GUEST_NOWHERE */
	JobId next, previous; /* in the ring of its row, or in the queue of its shape */
	JobId partner;        /* packed with it: they share one seat in the ring; or JOB_NONE */
	gboolean is_queued;
	guint64 stopped_in; /* the decision that last stopped it; 0 = none */
	guint64 moved_in;   /* the decision that last moved it as it ran */
	Pool pool;
	JobId pool_next, pool_previous;
} Guest;

/* All that decides where a job can go, and how fast it is there. */
typedef struct ShapeKey {
	guint64 gpu_types, mem_mib;
	guint32 num_gpus, min_gpus, share_milli, gpu_mem_mib;
	guint32 cpus_milli, workers, gpus_per_worker, model;
} ShapeKey;

typedef struct Shape {
	ShapeKey key;
	guint width;               /* GPUs it starts on: num_gpus, or fewer where no more exist */
	gboolean is_wide;          /* more than one machine can give */
	PlacementLevel best_level; /* the smallest part of the empty cluster that holds it */
	JobId first, last;         /* the queue, ascending; JOB_NONE if empty */
	guint64 failed_in;         /* the epoch in which it last found no free GPUs */
	guint64 join_failed_in;    /* RowWidth.version when it last found no row */
	gint64 utilisation_ppb;    /* of a GPU it has to itself; 0 if it cannot be packed */
	JobId pools[N_POOLS];      /* heads, in no order that matters */
} Shape;

typedef struct Shapes {
	const ClusterSpec *spec;
	PlacementLevel max_level;
	Cluster *empty; /* nobody on it: what could ever fit */
	Guest *guests;  /* by JobId */
	GArray *all;    /* of Shape */
	GArray *queued; /* of guint32: shapes with a queue, by the first job in it */
	GHashTable *by_key;
} Shapes;

void gandiva_shapes_init(Shapes *shapes, const View *view, PlacementLevel max_level);
void gandiva_shapes_clear(Shapes *shapes);

/* The shape of a job new to us; its Guest is set up. TRUE if no job had it before. */
gboolean gandiva_shapes_meet(Shapes *shapes, const Job *job, guint32 *ret_shape);

void gandiva_shapes_queue(Shapes *shapes, JobId job);
void gandiva_shapes_unqueue(Shapes *shapes, JobId job);

/* Whether whatever holds a job of shape @one would hold one of @other, but for GPUs spread over
 * machines: @one asks for no more of anything. */
gboolean gandiva_shape_is_humbler(const Shape *one, const Shape *other);

static inline Shape *
gandiva_shape(const Shapes *shapes, guint32 shape)
{
	return &g_array_index(shapes->all, Shape, shape);
}

static inline Shape *
gandiva_shape_of(const Shapes *shapes, JobId job)
{
	return gandiva_shape(shapes, shapes->guests[job].shape);
}
