/* SPDX-License-Identifier: MIT */

#include "policies/themis/search.h"

/* So many unlike places of a range are remembered, not to try others like them. */
#define MAX_TRIED 32

typedef struct Search {
	const Bids *bids;
	Offer *offer;
	const Counts *counts;
	SearchLimit *limit;
	guint8 *is_named; /* by place: it, or one inside it, is some piece's only place */
	Deal *here;       /* as far as it has been decided */
	Deal *best;
	gint64 rank_to_beat;
	gboolean wants_tie; /* to reach rank_to_beat is enough if earlier bidders prefer it */
	gboolean is_over;
} Search;

/* A bidder in the middle of being served. */
typedef struct Stand {
	guint bidder;
	guint n_left; /* GPUs, once it has its row */
	Score prefix; /* of the bidders before */
	const Bidder *who;
	const Row *row;
} Stand;

/* Where to go on with a piece like the last one, so that each set of places comes once. */
typedef struct Start {
	guint choice;
	guint32 place;
} Start;

static void search_bidder(Search *search, guint bidder, Score prefix, guint n_left);
static void search_piece(Search *search, const Stand *stand, guint piece, gint64 rate_ppb,
                         Start start);

static gboolean
is_promising(const Search *search, Score bound)
{
	gint64 rank = score_rank(bound);

	return search->wants_tie ? rank >= search->rank_to_beat : rank > search->rank_to_beat;
}

static gboolean
may_go_on(Search *search)
{
	if (search->limit->n_nodes >= search->limit->cap) {
		search->limit->was_hit = TRUE;
		search->is_over = TRUE;
	}
	search->limit->n_nodes++;
	return !search->is_over;
}

static void
keep_deal(Search *search, Score product)
{
	search->here->product = product;
	deal_copy(search->best, search->here);
	search->rank_to_beat = score_rank(product);
}

/* For ties: whether those before @bidder prefer what they have to that in the best deal, by the
 * first of them for whom that differs: 1, or not: -1, or have the same: 0. */
static gint
compare_rows(const Search *search, guint bidder)
{
	for (guint i = 0; i < bidder; i++) {
		const Bidder *who = bids_bidder(search->bids, i);
		guint here = bids_nth_row(search->bids, who, search->here->rows[i]);
		guint best = bids_nth_row(search->bids, who, search->best->rows[i]);

		if (here != best)
			return here > best ? 1 : -1;
	}
	return 0;
}

static gboolean
may_tie(const Search *search, guint bidder, Score prefix, guint n_left)
{
	gint order = search->wants_tie ? compare_rows(search, bidder) : 1;

	if (order != 0)
		return order > 0;
	return counts_may_please_more(search->counts, search->best, bidder, prefix, n_left);
}

/* Whether the stand can still lead to something with its pieces placed for @rate_ppb at most; the
 * row as a whole has a bound, too. */
static gboolean
can_win(const Search *search, const Stand *stand, gint64 rate_ppb)
{
	Score value;

	rate_ppb = MIN(rate_ppb, stand->row->rate_ppb);
	if (!row_value(search->bids, stand->who, search->here->rows[stand->bidder], rate_ppb,
	               &value))
		return FALSE;
	return is_promising(
	    search, score_times(score_times(stand->prefix, value),
	                        counts_behind(search->counts, stand->bidder + 1, stand->n_left)));
}

static void
end_row(Search *search, const Stand *stand, gint64 rate_ppb)
{
	Score value;

	if (row_value(search->bids, stand->who, search->here->rows[stand->bidder], rate_ppb,
	              &value))
		search_bidder(search, stand->bidder + 1, score_times(stand->prefix, value),
		              stand->n_left);
}

static void
try_place(Search *search, const Stand *stand, guint number, gint64 rate_ppb, Start at)
{
	const Piece *piece = bids_piece(search->bids, stand->row, number);
	const Piece *next = number + 1 < stand->row->n_pieces ? piece + 1 : NULL;
	Start start = { 0, 0 };

	if (next != NULL && pieces_are_alike(piece, next))
		start = at;
	deal_places(search->here, stand->bidder)[number] = at.place;
	offer_take(search->offer, at.place, piece->n_gpus);
	search_piece(search, stand, number + 1, rate_ppb, start);
	offer_give(search->offer, at.place, piece->n_gpus);
}

static gboolean
was_tried(const Search *search, const guint32 *tried, guint n_tried, guint32 place)
{
	for (guint i = 0; i < n_tried; i++)
		if (offer_are_alike(search->offer, tried[i], place))
			return TRUE;
	return FALSE;
}

/* All places of one choice. */
static void
try_choice(Search *search, const Stand *stand, guint number, gint64 rate_ppb, Start start)
{
	const Piece *piece = bids_piece(search->bids, stand->row, number);
	const Choice *choice = bids_choice(search->bids, piece, start.choice);
	guint32 tried[MAX_TRIED];
	guint n_tried = 0;

	for (guint32 place = MAX(choice->range.first, start.place);
	     place < choice->range.end && !search->is_over; place++) {
		if (!offer_has(search->offer, place, piece->n_gpus))
			continue;
		if (!search->is_named[place]) {
			if (was_tried(search, tried, n_tried, place))
				continue;
			if (n_tried < MAX_TRIED)
				tried[n_tried++] = place;
		}
		try_place(search, stand, number, rate_ppb, (Start){ start.choice, place });
	}
}

/* The pieces of a row from @number on; @rate_ppb is the row's with all of those at their best. */
static void
search_piece(Search *search, const Stand *stand, guint number, gint64 rate_ppb, Start start)
{
	const Piece *piece;
	gint64 best_ppb;

	if (!may_go_on(search))
		return;
	if (number == stand->row->n_pieces) {
		end_row(search, stand, rate_ppb);
		return;
	}
	piece = bids_piece(search->bids, stand->row, number);
	best_ppb = bids_choice(search->bids, piece, 0)->rate_ppb;
	for (guint c = start.choice; c < piece->n_choices && !search->is_over; c++) {
		const Choice *choice = bids_choice(search->bids, piece, c);
		gint64 with_ppb = rate_ppb - best_ppb + choice->rate_ppb;

		if (!can_win(search, stand, with_ppb))
			break;
		try_choice(search, stand, number, with_ppb,
		           (Start){ c, c == start.choice ? start.place : 0 });
	}
}

/* The rate of the bidder with every piece of the row at its best choice. */
static gint64
hopes_ppb(const Search *search, const Stand *stand)
{
	gint64 rate_ppb = stand->who->held_ppb;

	for (guint i = 0; i < stand->row->n_pieces; i++)
		rate_ppb +=
		    bids_choice(search->bids, bids_piece(search->bids, stand->row, i), 0)->rate_ppb;
	return rate_ppb;
}

static void
search_bidder(Search *search, guint bidder, Score prefix, guint n_left)
{
	Stand stand = { .bidder = bidder, .prefix = prefix };

	if (!may_tie(search, bidder, prefix, n_left))
		return;
	if (bidder == search->here->n) {
		if (is_promising(search, prefix))
			keep_deal(search, prefix);
		return;
	}
	if (bidder == search->here->without) {
		search_bidder(search, bidder + 1, prefix, n_left);
		return;
	}
	stand.who = bids_bidder(search->bids, bidder);
	for (guint n = stand.who->n_rows; n-- > 0 && !search->is_over;) {
		guint r = bids_nth_row(search->bids, stand.who, n);

		stand.row = bids_row(search->bids, stand.who, r);
		if (stand.row->n_gpus > n_left)
			continue;
		search->here->rows[bidder] = r;
		stand.n_left = n_left - stand.row->n_gpus;
		if (can_win(search, &stand, stand.row->rate_ppb))
			search_piece(search, &stand, 0, hopes_ppb(search, &stand), (Start){ 0, 0 });
	}
}

/* A place that some piece can have and others not is like no other place. */
static guint8 *
find_named(const Bids *bids, const Offer *offer)
{
	guint8 *is_named = g_new0(guint8, offer->n_places);

	for (guint i = 0; i < bids->choices->len; i++) {
		const Choice *choice = &g_array_index(bids->choices, Choice, i);

		if (choice->range.end > choice->range.first + 1)
			continue;
		for (guint32 place = choice->range.first; place != PLACE_NONE;
		     place = offer->parent[place])
			is_named[place] = TRUE;
	}
	return is_named;
}

void
search_run(Deal *deal, const Bids *bids, Offer *offer, Counts *counts, SearchLimit *limit)
{
	g_autoptr(Deal) here = deal_new(bids, deal->without);
	g_autofree guint8 *is_named = find_named(bids, offer);
	Search search = {
		.bids = bids,
		.offer = offer,
		.counts = counts,
		.limit = limit,
		.is_named = is_named,
		.here = here,
		.best = deal,
		.rank_to_beat = score_rank(deal->product),
	};

	counts_leave_out(counts, deal->without);
	search_bidder(&search, 0, score_of(1), offer->n_gpus);
	if (deal->without == BIDDER_NONE && !search.is_over) {
		search.wants_tie = TRUE;
		search_bidder(&search, 0, score_of(1), offer->n_gpus);
	}
	counts_leave_out(counts, BIDDER_NONE);
}
