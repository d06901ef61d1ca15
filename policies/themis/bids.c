/* SPDX-License-Identifier: MIT */

#include "policies/themis/bids.h"

/* Pieces of one size that gain the same by being at a level or closer, against being wider
 * apart. */
typedef struct Gain {
	guint32 n_gpus;
	guint32 n_pieces;
	guint32 n_had; /* of them, by the bound */
	gint64 each_ppb;
} Gain;

Bids *
bids_new(void)
{
	Bids *bids = g_new0(Bids, 1);

	bids->choices = g_array_new(FALSE, FALSE, sizeof(Choice));
	bids->pieces = g_array_new(FALSE, FALSE, sizeof(Piece));
	bids->rows = g_array_new(FALSE, FALSE, sizeof(Row));
	bids->bidders = g_array_new(FALSE, FALSE, sizeof(Bidder));
	bids->gains = g_array_new(FALSE, FALSE, sizeof(Gain));
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
	g_array_unref(bids->gains);
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
	if (bidder->bids_speed && rate_ppb <= bidder->held_ppb)
		return 0;
	if (bidder->bids_speed)
		return rate_ppb > SPEED_ONE_PPB ? (double)rate_ppb / SPEED_ONE_PPB
		                                : SPEED_VALUE_OF_LITTLE;
	finish_ns = bidder->elapsed_ns + forecast_time_ns(&bidder->forecast, (double)rate_ppb);
	return bidder->ideal_ns / MAX(finish_ns, 1);
}

void
bids_add_bidder(Bids *bids, const Bidder *bidder)
{
	Row nothing = {
		.first_piece = bids->pieces->len,
		.rate_ppb = bidder->held_ppb,
		.value = bidder->value_of_nothing,
		.rank = score_rank_of(bidder->value_of_nothing),
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

static void
add_gain(GArray *gains, guint32 n_gpus, gint64 each_ppb)
{
	Gain gain = { .n_gpus = n_gpus, .n_pieces = 1, .each_ppb = each_ppb };

	for (guint i = 0; i < gains->len; i++) {
		Gain *known = &g_array_index(gains, Gain, i);

		if (known->n_gpus == n_gpus && known->each_ppb == each_ppb) {
			known->n_pieces++;
			return;
		}
	}
	g_array_append_val(gains, gain);
}

static int
compare_gains(gconstpointer one, gconstpointer other)
{
	const Gain *a = one, *b = other;

	if (a->each_ppb != b->each_ppb)
		return a->each_ppb > b->each_ppb ? -1 : 1;
	return (a->n_gpus > b->n_gpus) - (a->n_gpus < b->n_gpus);
}

/* How many pieces of at least @n_gpus may still be had at @level. */
static guint32
room_for(const GArray *gains, Offer *offer, PlacementLevel level, guint32 n_gpus)
{
	guint32 n_sets = offer_capacity(offer, n_gpus)->n_sets[level];
	guint32 n_had = 0;

	for (guint i = 0; i < gains->len; i++)
		if (g_array_index(gains, Gain, i).n_gpus >= n_gpus)
			n_had += g_array_index(gains, Gain, i).n_had;
	return n_sets - MIN(n_sets, n_had);
}

/* The most that can be had at once: of the pieces of at least n GPUs no more than there are sets of
 * n. These limits are nested, so that taking the largest gain first is best. */
static gint64
sum_gains_ppb(GArray *gains, Offer *offer, PlacementLevel level)
{
	gint64 sum_ppb = 0;

	g_array_sort(gains, compare_gains);
	for (guint i = 0; i < gains->len; i++) {
		Gain *gain = &g_array_index(gains, Gain, i);
		guint32 n = gain->n_pieces;

		for (guint j = 0; j < gains->len; j++) {
			guint32 n_gpus = g_array_index(gains, Gain, j).n_gpus;

			if (n_gpus <= gain->n_gpus)
				n = MIN(n, room_for(gains, offer, level, n_gpus));
		}
		gain->n_had = n;
		sum_ppb += n * gain->each_ppb;
	}
	return sum_ppb;
}

/* The best rate of a piece at @level or wider. */
static gint64
best_from_ppb(const Bids *bids, const Offer *offer, const Piece *piece, PlacementLevel level)
{
	for (guint c = 0; c < piece->n_choices; c++) {
		const Choice *choice = bids_choice(bids, piece, c);

		if (offer->level[choice->range.first] >= level)
			return choice->rate_ppb;
	}
	return 0;
}

/* What the pieces of a row gain at most by being at @level or closer. */
static gint64
level_gain_ppb(Bids *bids, Offer *offer, const Row *row, PlacementLevel level)
{
	g_array_set_size(bids->gains, 0);
	for (guint i = 0; i < row->n_pieces; i++) {
		const Piece *piece = bids_piece(bids, row, i);
		gint64 gain_ppb = best_from_ppb(bids, offer, piece, level);

		if (level < LEVEL_CLUSTER)
			gain_ppb -= best_from_ppb(bids, offer, piece, level + 1);
		if (gain_ppb > 0)
			add_gain(bids->gains, piece->n_gpus, gain_ppb);
	}
	return sum_gains_ppb(bids->gains, offer, level);
}

gboolean
bids_end_row(Bids *bids, Offer *offer)
{
	Bidder *bidder = last_bidder(bids);
	const Row *last = last_row(bids);
	Row row = { .first_piece = last->first_piece + last->n_pieces,
		    .rate_ppb = bidder->held_ppb };

	row.n_pieces = bids->pieces->len - row.first_piece;
	for (guint i = 0; i < row.n_pieces; i++)
		row.n_gpus += bids_piece(bids, &row, i)->n_gpus;
	for (PlacementLevel level = LEVEL_SLOT; level <= LEVEL_CLUSTER; level++)
		row.rate_ppb += level_gain_ppb(bids, offer, &row, level);
	row.value = bidder_value(bidder, row.rate_ppb);
	row.rank = score_rank_of(row.value);
	if (row.rank <= last->rank) {
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
