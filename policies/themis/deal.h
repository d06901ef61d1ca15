/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A deal is one way to serve all bidders of an auction, or all but one: a row for each and a place
 * for each piece. Deals are compared by the product of their valuations.
 */

#include "policies/themis/bids.h"

#define BIDDER_NONE G_MAXUINT /* as the bidder left out: nobody */

typedef struct Deal {
	guint n;       /* bidders */
	guint without; /* the bidder left out, whose row is 0; BIDDER_NONE */
	guint n_places;
	guint32 *rows;        /* by bidder */
	guint32 *first_place; /* by bidder: where its pieces begin in places */
	guint32 *places;
	Score product; /* as settled or packed */
} Deal;

/* Room for any deal of @bids; nobody has anything. */
Deal *deal_new(const Bids *bids, guint without);
void deal_free(Deal *deal);

/* Between deals of the same bids. */
void deal_copy(Deal *to, const Deal *from);

static inline guint32 *
deal_places(const Deal *deal, guint bidder)
{
	return deal->places + deal->first_place[bidder];
}

/* What @row is worth at @rate_ppb; FALSE if no more than nothing, or, for GPUs for one job, than a
 * smaller row (A71). Of a row of many jobs the best places may make it worth more than a smaller
 * one at its best, and lesser places less; to rule those out would rule out nearly everything
 * where others bid, too. */
gboolean row_value(const Bids *bids, const Bidder *bidder, guint row, gint64 rate_ppb,
                   Score *ret_value);

/* Finds places for the pieces of the deal's rows, those that have most to lose first. Where that
 * fails, or leaves a row worth no more than a smaller one, the bidder gets its next smaller row.
 * Settles the deal; the offer is as before. */
void deal_pack(Deal *deal, const Bids *bids, Offer *offer);

/* The product of what all but @but have. */
Score deal_product(const Deal *deal, const Bids *bids, guint but);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Deal, deal_free)
