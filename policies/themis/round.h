/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One round of Themis (policies.md 1.5): all apps that could use some of the offer are ranked,
 * the worst off of them bid, the auction says who wins what and what each keeps of it, and what is
 * left goes to the others. The outcome is in the claims.
 */

#include "policies/themis/auction.h"
#include "policies/themis/claims.h"

typedef struct Contender {
	Agent *agent;
	gint64 standing; /* 0 without work, 1 held nothing up to now, 2 the others (A67, A89) */
	gint64 rank;     /* of elapsed / T_id, or of rho: the larger is worse off */
	double tie;      /* among equals the smaller comes first; then the earlier agent */
	double elapsed_ns, ideal_ns;
	gint64 kept_ppb;
	ClaimRange claims;
} Contender;

typedef struct RoundCounts {
	guint64 n_rounds, n_auctions, n_truncated, n_nodes;
} RoundCounts;

typedef struct Round {
	const View *view; /* during a round */
	const ThemisOptions *options;
	Offer *offer;
	Agents *agents;
	Claims *claims;
	Bids *bids;
	Auction *auction;
	GArray *contenders; /* of Contender, the worst off first */
	guint n_bidders;    /* the first so many */
	RngStream lottery, leftover, ties;
	guint64 n_draws; /* from leftover, in this round */
	RoundCounts counts;
} Round;

Round *round_new(const View *view, const ThemisOptions *options, Agents *agents, Offer *offer);
void round_free(Round *round);

/* The number of apps that bid: a part 1 - f of @n, rounded up or down, at least one (E4). */
guint round_n_bidders(double fairness_knob, guint n, gboolean is_down);

/* Whether, by number, @n_gpus would do for something that some app wants beside what it has just
 * returned. The offer need not be filled. */
gboolean round_is_contested(Round *round, const View *view, guint n_gpus);

/* A round whose outcome is known without holding it. */
void round_skip(Round *round);

/* Finds who takes part, worst off first; their number. */
guint round_open(Round *round, const View *view);

/* The auction, the payments and the leftovers. */
void round_hold(Round *round);

/* leftover=auction: the bidders take no part in further rounds of this instant. */
void round_pass(Round *round);

/* The strawman: the worst off takes all it can use, then the next (policies.md 1.12). */
void round_hold_greedily(Round *round);
