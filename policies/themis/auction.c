/* SPDX-License-Identifier: MIT */

#include "policies/themis/auction.h"
#include "policies/themis/search.h"

typedef struct Hall {
	const Bids *bids;
	Offer *offer;
	const AuctionRules *rules;
	Counts *counts;
	gboolean is_exact; /* numbers of GPUs are all there is */
	SearchLimit limit;
} Hall;

Auction *
auction_new(void)
{
	Auction *auction = g_new0(Auction, 1);

	auction->awards = g_array_new(FALSE, FALSE, sizeof(Award));
	auction->places = g_array_new(FALSE, FALSE, sizeof(guint32));
	return auction;
}

void
auction_free(Auction *auction)
{
	if (auction == NULL)
		return;
	g_array_unref(auction->awards);
	g_array_unref(auction->places);
	g_free(auction);
}

/* The best deal, without one bidder or BIDDER_NONE. */
static Deal *
find_deal(Hall *hall, guint without)
{
	Deal *deal = deal_new(hall->bids, without);

	counts_choose(hall->counts, deal);
	deal_pack(deal, hall->bids, hall->offer);
	if (hall->is_exact || hall->rules->is_greedy)
		return deal;
	if (score_rank(deal->product) < score_rank(counts_bound(hall->counts, without)))
		search_run(deal, hall->bids, hall->offer, hall->counts, &hall->limit);
	return deal;
}

/* c of one bidder, given what the others have in the best deal. */
static double
kept_part(Hall *hall, const Deal *deal, guint bidder)
{
	Score beside, alone = counts_bound(hall->counts, bidder);
	g_autoptr(Deal) other = NULL;

	if (deal->rows[bidder] == 0)
		return 1;
	beside = deal_product(deal, hall->bids, bidder);
	if (score_rank(alone) <= score_rank(beside))
		return 1;
	if (!hall->is_exact) {
		other = find_deal(hall, bidder);
		alone = other->product;
	}
	return MIN(score_ratio(beside, alone), 1);
}

static void
award(Auction *auction, const Deal *deal, const Bids *bids, guint bidder, double kept)
{
	Award award = {
		.row = deal->rows[bidder],
		.first_place = auction->places->len,
		.kept = kept,
	};
	const Row *row = bids_row(bids, bids_bidder(bids, bidder), award.row);

	g_array_append_vals(auction->places, deal_places(deal, bidder), row->n_pieces);
	g_array_append_val(auction->awards, award);
}

void
auction_run(Auction *auction, const Bids *bids, Offer *offer, const AuctionRules *rules)
{
	g_autoptr(Counts) counts = counts_new(bids, offer->n_gpus);
	g_autoptr(Deal) deal = NULL;
	Hall hall = {
		.bids = bids,
		.offer = offer,
		.rules = rules,
		.counts = counts,
		.is_exact = counts_are_exact(counts),
		.limit = { .cap = rules->node_cap },
	};

	g_array_set_size(auction->awards, 0);
	g_array_set_size(auction->places, 0);
	deal = find_deal(&hall, BIDDER_NONE);
	for (guint i = 0; i < deal->n; i++)
		award(auction, deal, bids, i, kept_part(&hall, deal, i));
	auction->is_truncated = hall.limit.was_hit;
	auction->n_nodes = hall.limit.n_nodes;
}
