/* SPDX-License-Identifier: MIT */

#include "policies/bids.h"

Bids *
bids_new(void)
{
	Bids *bids = g_new0(Bids, 1);

	bids->choices = g_array_new(FALSE, FALSE, sizeof(Choice));
	bids->pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
	bids->rows = g_array_new(FALSE, FALSE, sizeof(Row));
	bids->bidders = g_array_new(FALSE, FALSE, sizeof(Bidder));
	return bids;
}

void
bids_free(Bids *bids)
{
	if (bids == NULL)
		return;
	g_array_unref(bids->choices);
	g_array_unref(bids->pieces);
	g_array_unref(bids->rows);
	g_array_unref(bids->bidders);
	g_free(bids);
}

void
bids_reset(Bids *bids)
{
	g_array_set_size(bids->choices, 0);
	g_array_set_size(bids->pieces, 0);
	g_array_set_size(bids->rows, 0);
	g_array_set_size(bids->bidders, 0);
}

double
bidder_value(const Bidder *bidder, gint64 rate_ppb)
{
	double finish_ns;

	if (bidder->ideal_ns <= 0)
		return VALUE_WITHOUT_WORK;
	finish_ns = bidder->elapsed_ns + bidder->work_gpu_ns * 1e9 / (double)rate_ppb;
	return bidder->ideal_ns / MAX(finish_ns, 1);
}

void
bids_add_bidder(Bids *bids, const Bidder *bidder)
{
	Row nothing = {
		.first_piece = bids->pieces->len,
		.rate_ppb = bidder->held_ppb,
		.value = bidder->value_of_nothing,
	};
	Bidder copy = *bidder;

	copy.first_row = bids->rows->len;
	copy.n_rows = 1;
	g_array_append_val(bids->rows, nothing);
	g_array_append_val(bids->bidders, copy);
}

guint32
bids_add_choices(Bids *bids, const Choice *choices, guint n)
{
	guint32 first = bids->choices->len;

	g_array_append_vals(bids->choices, choices, n);
	return first;
}

void
bids_add_piece(Bids *bids, const Piece *piece)
{
	g_array_append_vals(bids->pieces, piece, 1);
}

static Bidder *
last_bidder(Bids *bids)
{
	return &g_array_index(bids->bidders, Bidder, bids->bidders->len - 1);
}

static const Row *
last_row(Bids *bids)
{
	const Bidder *bidder = last_bidder(bids);

	return bids_row(bids, bidder, bidder->n_rows - 1);
}

void
bids_drop_row(Bids *bids)
{
	const Row *last = last_row(bids);

	g_array_set_size(bids->pieces, last->first_piece + last->n_pieces);
}

gboolean
bids_end_row(Bids *bids)
{
	Bidder *bidder = last_bidder(bids);
	const Row *last = last_row(bids);
	Row row = { .first_piece = last->first_piece + last->n_pieces,
		    .rate_ppb = bidder->held_ppb };

	row.n_pieces = bids->pieces->len - row.first_piece;
	for (guint i = 0; i < row.n_pieces; i++) {
		const Piece *piece = bids_piece(bids, &row, i);

		row.n_gpus += piece->n_gpus;
		row.rate_ppb += bids_choice(bids, piece, 0)->rate_ppb;
	}
	row.value = bidder_value(bidder, row.rate_ppb);
	if (score_rank_of(row.value) <= score_rank_of(last->value)) {
		bids_drop_row(bids);
		return FALSE;
	}
	g_array_append_val(bids->rows, row);
	bidder->n_rows++;
	return TRUE;
}

gint64
piece_rate_ppb(const Bids *bids, const Piece *piece, guint32 place)
{
	for (guint c = 0; c < piece->n_choices; c++) {
		const Choice *choice = bids_choice(bids, piece, c);

		if (place >= choice->range.first && place < choice->range.end)
			return choice->rate_ppb;
	}
	g_assert_not_reached();
}
