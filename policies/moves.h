/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * From what jobs are to hold to edits of a plan, in an order in which none is refused: stops
 * first, then whatever has room by now, and jobs that stand in each other's way are lifted
 * together. A move that needs GPUs which are still being released lapses (B04): the job stays
 * where it is, on its own GPUs or in the queue. Policies get this through sim/policy.h.
 */

#include "policies/placement.h"

typedef struct Move {
	JobId job;
	Alloc to;
	guint32 n_wanted; /* GPUs to be searched for, once all others have theirs */
	gboolean is_done;
} Move;

typedef struct Moves {
	const View *view;    /* during a decision */
	const JobId *former; /* by GPU: who has handed it in; JOB_NONE */
	PlacementOptions placement;
	GArray *moves; /* of Move; their memory is kept */
	guint n;
	guint32 *move_of; /* by JobId: 1 + its move, or 0 */
	Alloc more;       /* scratch */
} Moves;

/* @former, of as many entries as there are GPUs, must outlive the moves. */
Moves *moves_new(const View *view, const JobId *former, PlacementLevel max_level);
void moves_free(Moves *moves);

void moves_open(Moves *moves, const View *view);

/* The number of the move of @job: at first, to what it holds and has not handed in. */
guint moves_add(Moves *moves, JobId job);
void moves_widen(Moves *moves, guint move, const Alloc *by);

/* To any @n_gpus that will do, if there are such in the end. */
void moves_search(Moves *moves, guint move, guint n_gpus);

/* Edits @plan. What became of a job then is in the view. */
void moves_apply(Moves *moves, Plan *plan);

static inline Move *
moves_get(const Moves *moves, guint move)
{
	return &g_array_index(moves->moves, Move, move);
}
