/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A claim is what one job could get in a round: GPUs beside those it keeps (held by leases that go
 * on). The claims of an app, in the order in which it serves its jobs (A80), make its bid table;
 * what the auction and the leftovers give is written into them.
 *
 * An app serves first the jobs that held GPUs up to now, then, by (submit, trace order), those
 * that hold nothing, or those with most work left first: a rigid job its gang, a moldable one its
 * smallest width; then spare GPUs go to the moldable jobs with most work left.
 *
 * The speed of a bundle: each job at the placement level of its own GPUs; the rates of an app's
 * jobs add up, which is the balanced split of the work over them (policies.md 1.4).
 */

#include "policies/themis/agents.h"
#include "policies/themis/bids.h"

typedef struct Claim {
	JobId job;
	const AgentJob *own;
	gboolean was_held; /* its GPUs, or some, have just come back */
	guint32 n_back;    /* of them */
	guint32 n_kept;    /* held by leases that go on */
	gint64 kept_ppb;   /* what they amount to */
	GpuTime work;      /* left; of a moldable job, or with jobs=longest of any */
	guint32 n_gpus;    /* given */
	guint32 place;     /* where, if n_gpus > 0 */
	gint64 rate_ppb;   /* what that adds to the app's rate */
} Claim;

typedef struct Claims {
	const View *view; /* during a round */
	Offer *offer;
	Agents *agents;
	Bids *bids;
	GArray *claims;    /* of Claim */
	GArray *known;     /* of KnownChoices: choices that many jobs have in common */
	GArray *scratch;   /* of Choice */
	GArray *by_work;   /* of guint: claims of a range that may have spare GPUs */
	gboolean is_blind; /* takes no notice of places (the strawman) */
} Claims;

typedef struct ClaimRange {
	guint first, n;
} ClaimRange;

Claims *claims_new(Agents *agents, Offer *offer, Bids *bids);
void claims_free(Claims *claims);

/* Forgets the claims of the last round. */
void claims_open(Claims *claims, const View *view);

/* Adds the claims of an app; *ret_kept_ppb is the rate of all that its jobs keep. */
ClaimRange claims_add(Claims *claims, const Agent *agent, gint64 *ret_kept_ppb);

static inline Claim *
claims_get(const Claims *claims, guint claim)
{
	return &g_array_index(claims->claims, Claim, claim);
}

/* Writes the bid table of an app whose claims are @range. */
void claims_bid(Claims *claims, ClaimRange range, const Bidder *bidder);

/* What the smallest bundle that the app can use adds to its rate; 0 if there is none. */
gint64 claims_least_rate_ppb(Claims *claims, ClaimRange range);

typedef struct Unit {
	guint claim;
	guint32 n_gpus; /* of the claim, with this unit */
	guint32 place;
	gint64 rate_ppb;
} Unit;

/* The next unit (A74) that the app would take of what is left of the offer; FALSE if it can use
 * nothing. */
gboolean claims_find_unit(Claims *claims, ClaimRange range, Unit *ret_unit);
void claims_take_unit(Claims *claims, const Unit *unit);

/* A claim gives back all that it was given but @n_gpus. */
void claims_give_back(Claims *claims, guint claim, guint32 n_gpus);
