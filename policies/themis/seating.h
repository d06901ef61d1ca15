/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * From places to GPUs. Claims taken at the innermost places are seated first; then there is
 * always room for the others. Each takes its own former GPUs first (A76), then what nobody had;
 * in a place of many machines, the machine with the fewest GPUs left that will do, else the
 * fullest ones.
 */

#include "policies/themis/claims.h"

typedef struct Seat {
	guint claim;
	Alloc gpus; /* beside those kept; fewer than claimed if it is not seated */
	gboolean is_seated;
} Seat;

typedef struct Seating {
	const View *view; /* during a round */
	Offer *offer;
	Claims *claims;
	GArray *seats; /* of Seat, one a claim with GPUs; their memory is kept */
	guint n_seats;
	guint8 *is_taken;    /* by GPU */
	guint32 *n_unseated; /* by machine: GPUs on offer that are not taken */
	gboolean is_blind;   /* the lowest-numbered GPUs, whoever had them */
} Seating;

Seating *seating_new(Offer *offer, Claims *claims);
void seating_free(Seating *seating);

/* Seats all claims. A job that asks for CPUs, memory or workers is seated only on GPUs it had: for
 * another place more counts than GPUs. */
void seating_run(Seating *seating, const View *view);

static inline Seat *
seating_seat(const Seating *seating, guint seat)
{
	return &g_array_index(seating->seats, Seat, seat);
}
