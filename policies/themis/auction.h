/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The partial-allocation auction (Cole, Gkatzelis, Goel, EC'13) over whole GPUs. Of all ways to
 * give each bidder one row of its table, every piece at one of its choices, the one with the
 * largest product of valuations is found; then each bidder keeps the part c of its bundle,
 *
 *	c_i = product over j != i of V_j there / the largest such product without i,
 *
 * and pays with the rest. Of equal products the one that gives most GPUs to the first bidder is
 * taken, then to the next (A72), or the other way round (bids_nth_row()). Pure: the offer is as
 *before when it returns.
 *
 * The search is branch and bound over bidders, rows, pieces and places, exact unless it runs into
 * the node cap; it starts from a packing of the rows that would be best if only the number of GPUs
 * mattered, and that number, dynamically programmed, is its bound. When the packing reaches the
 * bound, as it mostly does, there is no search.
 */

#include "policies/themis/bids.h"

typedef struct AuctionRules {
	gboolean is_greedy; /* the packing it is: no search */
	guint64 node_cap;   /* of a round */
} AuctionRules;

typedef struct Award {
	guint32 row;         /* of its table */
	guint32 first_place; /* in Auction.places: one a piece of the row */
	double kept;         /* c, in (0, 1] */
} Award;

typedef struct Auction {
	GArray *awards;        /* of Award, by bidder */
	GArray *places;        /* of guint32 */
	gboolean is_truncated; /* the cap was reached: there may be better */
	guint64 n_nodes;
} Auction;

Auction *auction_new(void);
void auction_free(Auction *auction);

void auction_run(Auction *auction, const Bids *bids, Offer *offer, const AuctionRules *rules);

static inline const Award *
auction_award(const Auction *auction, guint bidder)
{
	return &g_array_index(auction->awards, Award, bidder);
}
