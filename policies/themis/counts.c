/* SPDX-License-Identifier: MIT */

#include "policies/themis/counts.h"

struct Counts {
	const Bids *bids;
	guint n;        /* bidders */
	guint width;    /* 1 + the most GPUs that can be given */
	Score *values;  /* by row of the bids */
	Score *before;  /* at i * width + k: bidders below i share at most k GPUs */
	Score *behind;  /* at i * width + k: bidders from i on do */
	guint left_out; /* of behind */
};

static guint
most_gpus(const Bids *bids)
{
	guint n_gpus = 0;

	for (guint i = 0; i < bids->bidders->len; i++) {
		const Bidder *bidder = bids_bidder(bids, i);

		n_gpus += bids_row(bids, bidder, bidder->n_rows - 1)->n_gpus;
	}
	return n_gpus;
}

static Score
value_of(const Counts *counts, const Bidder *bidder, guint row)
{
	return counts->values[bidder->first_row + row];
}

/* The best of @bidder's rows beside the others' best, given for each number of GPUs. */
static Score
best_beside(const Counts *counts, const Bidder *bidder, const Score *others, guint n_gpus)
{
	Score best = { 0, 0 };

	for (guint r = 0; r < bidder->n_rows; r++) {
		guint need = bids_row(counts->bids, bidder, r)->n_gpus;
		Score product;

		if (need > n_gpus)
			break;
		product = score_times(value_of(counts, bidder, r), others[n_gpus - need]);
		if (r == 0 || score_is_above(product, best))
			best = product;
	}
	return best;
}

static void
fill_behind(Counts *counts)
{
	for (guint i = counts->n; i-- > 0;) {
		const Score *next = counts->behind + (i + 1) * counts->width;
		Score *here = counts->behind + i * counts->width;

		for (guint k = 0; k < counts->width; k++)
			here[k] = i == counts->left_out
			              ? next[k]
			              : best_beside(counts, bids_bidder(counts->bids, i), next, k);
	}
}

static void
fill_before(Counts *counts)
{
	for (guint i = 0; i < counts->n; i++) {
		const Score *last = counts->before + i * counts->width;
		Score *here = counts->before + (i + 1) * counts->width;

		for (guint k = 0; k < counts->width; k++)
			here[k] = best_beside(counts, bids_bidder(counts->bids, i), last, k);
	}
}

Counts *
counts_new(const Bids *bids, guint n_gpus)
{
	Counts *counts = g_new0(Counts, 1);
	gsize size;

	counts->bids = bids;
	counts->n = bids->bidders->len;
	counts->width = 1 + MIN(n_gpus, most_gpus(bids));
	counts->left_out = BIDDER_NONE;
	size = (gsize)(counts->n + 1) * counts->width;
	counts->values = g_new(Score, bids->rows->len);
	counts->before = g_new(Score, size);
	counts->behind = g_new(Score, size);
	for (guint i = 0; i < bids->rows->len; i++)
		counts->values[i] = score_of(g_array_index(bids->rows, Row, i).value);
	for (guint k = 0; k < counts->width; k++)
		counts->before[k] = counts->behind[counts->n * counts->width + k] = score_of(1);
	fill_before(counts);
	fill_behind(counts);
	return counts;
}

void
counts_free(Counts *counts)
{
	if (counts == NULL)
		return;
	g_free(counts->values);
	g_free(counts->before);
	g_free(counts->behind);
	g_free(counts);
}

gboolean
counts_are_exact(const Counts *counts)
{
	const Bids *bids = counts->bids;
	guint32 place = PLACE_NONE;

	for (guint i = 0; i < bids->pieces->len; i++) {
		const Piece *piece = &g_array_index(bids->pieces, Piece, i);
		const Choice *choice = bids_choice(bids, piece, 0);

		if (piece->n_choices > 1 || choice->range.end != choice->range.first + 1)
			return FALSE;
		if (place != PLACE_NONE && place != choice->range.first)
			return FALSE;
		place = choice->range.first;
	}
	return TRUE;
}

/* How many GPUs those before bidder @without get where the product is largest. */
static guint
best_split(const Counts *counts, guint without)
{
	const Score *before = counts->before + without * counts->width;
	const Score *behind = counts->behind + (without + 1) * counts->width;
	Score best = { 0, 0 };
	guint split = 0;

	for (guint k = 0; k < counts->width; k++) {
		Score product = score_times(before[k], behind[counts->width - 1 - k]);

		if (k > 0 && !score_is_above(product, best))
			continue;
		best = product;
		split = k;
	}
	return split;
}

Score
counts_bound(const Counts *counts, guint without)
{
	guint split;

	if (without == BIDDER_NONE)
		return counts->behind[counts->width - 1];
	split = best_split(counts, without);
	return score_times(
	    counts->before[without * counts->width + split],
	    counts->behind[(without + 1) * counts->width + counts->width - 1 - split]);
}

Score
counts_behind(const Counts *counts, guint first, guint n_gpus)
{
	return counts->behind[first * counts->width + MIN(n_gpus, counts->width - 1)];
}

/* The most preferred row of bidder @i that can still lead to @goal; FALSE if none can. */
static gboolean
preferred_row(const Counts *counts, guint i, Score prefix, guint n_gpus, gint64 goal,
              guint *ret_row)
{
	const Bidder *bidder = bids_bidder(counts->bids, i);

	for (guint n = bidder->n_rows; n-- > 0;) {
		guint r = bids_nth_row(counts->bids, bidder, n);
		guint need = bids_row(counts->bids, bidder, r)->n_gpus;
		Score product;

		if (need > n_gpus)
			continue;
		product = score_times(score_times(prefix, value_of(counts, bidder, r)),
		                      counts_behind(counts, i + 1, n_gpus - need));
		if (score_rank(product) < goal)
			continue;
		*ret_row = r;
		return TRUE;
	}
	return FALSE;
}

/* The row with which bidder @i and those behind it do best; for when, by a rounding, none ties. */
static guint
best_row(const Counts *counts, guint i, guint n_gpus)
{
	const Bidder *bidder = bids_bidder(counts->bids, i);
	Score best = { 0, 0 };
	guint row = 0;

	for (guint r = 0; r < bidder->n_rows; r++) {
		guint need = bids_row(counts->bids, bidder, r)->n_gpus;
		Score product;

		if (need > n_gpus)
			break;
		product = score_times(value_of(counts, bidder, r),
		                      counts_behind(counts, i + 1, n_gpus - need));
		if (!score_is_above(product, best))
			continue;
		best = product;
		row = r;
	}
	return row;
}

static void
choose_behind(const Counts *counts, Deal *deal, guint first, guint n_gpus)
{
	gint64 goal = score_rank(counts->behind[first * counts->width + n_gpus]);
	Score prefix = score_of(1);

	for (guint i = first; i < counts->n; i++) {
		const Bidder *bidder = bids_bidder(counts->bids, i);

		if (!preferred_row(counts, i, prefix, n_gpus, goal, &deal->rows[i]))
			deal->rows[i] = best_row(counts, i, n_gpus);
		prefix = score_times(prefix, value_of(counts, bidder, deal->rows[i]));
		n_gpus -= bids_row(counts->bids, bidder, deal->rows[i])->n_gpus;
	}
}

/* For the bidders below @end, from the last on: the row from which the table was made. */
static void
choose_before(const Counts *counts, Deal *deal, guint end, guint n_gpus)
{
	for (guint i = end; i-- > 0;) {
		const Bidder *bidder = bids_bidder(counts->bids, i);
		const Score *last = counts->before + i * counts->width;
		Score goal = counts->before[(i + 1) * counts->width + n_gpus];

		for (guint r = 0; r < bidder->n_rows; r++) {
			guint need = bids_row(counts->bids, bidder, r)->n_gpus;

			if (need > n_gpus)
				break;
			if (score_is_above(goal, score_times(value_of(counts, bidder, r),
			                                     last[n_gpus - need])))
				continue;
			deal->rows[i] = r;
			n_gpus -= need;
			break;
		}
	}
}

void
counts_choose(const Counts *counts, Deal *deal)
{
	guint split;

	if (deal->without == BIDDER_NONE) {
		choose_behind(counts, deal, 0, counts->width - 1);
		return;
	}
	split = best_split(counts, deal->without);
	deal->rows[deal->without] = 0;
	choose_before(counts, deal, deal->without, split);
	choose_behind(counts, deal, deal->without + 1, counts->width - 1 - split);
}

gboolean
counts_may_please_more(const Counts *counts, const Deal *deal, guint first, Score prefix,
                       guint n_gpus)
{
	gint64 goal = score_rank(deal->product);
	guint row = 0;

	for (guint i = first; i < counts->n; i++) {
		const Bidder *bidder = bids_bidder(counts->bids, i);

		if (!preferred_row(counts, i, prefix, n_gpus, goal, &row))
			return FALSE;
		if (row != deal->rows[i])
			return bids_nth_row(counts->bids, bidder, row) >
			       bids_nth_row(counts->bids, bidder, deal->rows[i]);
		prefix = score_times(prefix, value_of(counts, bidder, row));
		n_gpus -= bids_row(counts->bids, bidder, row)->n_gpus;
	}
	return FALSE;
}

void
counts_leave_out(Counts *counts, guint bidder)
{
	if (counts->left_out == bidder)
		return;
	counts->left_out = bidder;
	fill_behind(counts);
}
