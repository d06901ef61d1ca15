/* SPDX-License-Identifier: MIT */

#include "policies/themis/deal.h"

static const Row *
row_of(const Deal *deal, const Bids *bids, guint bidder)
{
	return bids_row(bids, bids_bidder(bids, bidder), deal->rows[bidder]);
}

static guint
most_pieces(const Bids *bids, const Bidder *bidder)
{
	guint most = 0;

	for (guint r = 0; r < bidder->n_rows; r++)
		most = MAX(most, bids_row(bids, bidder, r)->n_pieces);
	return most;
}

Deal *
deal_new(const Bids *bids, guint without)
{
	Deal *deal = g_new0(Deal, 1);

	deal->n = bids->bidders->len;
	deal->without = without;
	deal->rows = g_new0(guint32, deal->n);
	deal->first_place = g_new0(guint32, deal->n);
	for (guint i = 0; i < deal->n; i++) {
		deal->first_place[i] = deal->n_places;
		deal->n_places += most_pieces(bids, bids_bidder(bids, i));
	}
	deal->places = g_new0(guint32, deal->n_places);
	deal->product = score_of(1);
	return deal;
}

void
deal_free(Deal *deal)
{
	if (deal == NULL)
		return;
	g_free(deal->rows);
	g_free(deal->first_place);
	g_free(deal->places);
	g_free(deal);
}

void
deal_copy(Deal *to, const Deal *from)
{
	memcpy(to->rows, from->rows, from->n * sizeof(guint32));
	memcpy(to->places, from->places, from->n_places * sizeof(guint32));
	to->product = from->product;
}

gboolean
row_value(const Bids *bids, const Bidder *bidder, guint row, gint64 rate_ppb, Score *ret_value)
{
	guint smaller;
	Score value;

	if (row == 0) {
		*ret_value = score_of(bidder->value_of_nothing);
		return TRUE;
	}
	value = score_of(bidder_value(bidder, rate_ppb));
	smaller = bids_row(bids, bidder, row)->n_pieces == 1 ? row - 1 : 0;
	if (score_rank(value) <= bids_row(bids, bidder, smaller)->rank)
		return FALSE;
	*ret_value = value;
	return TRUE;
}

static gboolean
value_of(const Deal *deal, const Bids *bids, guint bidder, Score *ret_value)
{
	const Bidder *who = bids_bidder(bids, bidder);
	const Row *row = row_of(deal, bids, bidder);
	const guint32 *places = deal_places(deal, bidder);
	gint64 rate_ppb = who->held_ppb;

	for (guint i = 0; i < row->n_pieces; i++)
		rate_ppb += piece_rate_ppb(bids, bids_piece(bids, row, i), places[i]);
	return row_value(bids, who, deal->rows[bidder], rate_ppb, ret_value);
}

Score
deal_product(const Deal *deal, const Bids *bids, guint but)
{
	Score product = score_of(1), value;

	for (guint i = 0; i < deal->n; i++)
		if (i != deal->without && i != but && value_of(deal, bids, i, &value))
			product = score_times(product, value);
	return product;
}

/* packing */

/* A piece on its way to a place. */
typedef struct Parcel {
	const Piece *piece;
	guint bidder;
	guint32 *place;
	gint64 loss_ppb;     /* of the last choice, against the first */
	gboolean is_at_home; /* its first choice is one place: where it was */
} Parcel;

static int
compare_parcels(gconstpointer one, gconstpointer other)
{
	const Parcel *a = one, *b = other;

	if (a->loss_ppb != b->loss_ppb)
		return a->loss_ppb > b->loss_ppb ? -1 : 1;
	if (a->piece->n_gpus != b->piece->n_gpus)
		return a->piece->n_gpus > b->piece->n_gpus ? -1 : 1;
	if (a->is_at_home != b->is_at_home)
		return a->is_at_home ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static Parcel
parcel_of(const Bids *bids, const Piece *piece, guint bidder, guint32 *place)
{
	const Choice *first = bids_choice(bids, piece, 0);
	const Choice *last = bids_choice(bids, piece, piece->n_choices - 1);

	return (Parcel){
		.piece = piece,
		.bidder = bidder,
		.place = place,
		.loss_ppb = first->rate_ppb - last->rate_ppb,
		.is_at_home = first->range.end == first->range.first + 1,
	};
}

static GArray * /* of Parcel */
collect_parcels(const Deal *deal, const Bids *bids)
{
	GArray *parcels = g_array_new(FALSE, FALSE, sizeof(Parcel));

	for (guint i = 0; i < deal->n; i++) {
		const Row *row = row_of(deal, bids, i);

		for (guint p = 0; p < row->n_pieces; p++) {
			Parcel parcel =
			    parcel_of(bids, bids_piece(bids, row, p), i, deal_places(deal, i) + p);

			g_array_append_val(parcels, parcel);
		}
	}
	g_array_sort(parcels, compare_parcels);
	return parcels;
}

static gboolean
settle_parcel(const Parcel *parcel, const Bids *bids, Offer *offer)
{
	for (guint c = 0; c < parcel->piece->n_choices; c++) {
		const Choice *choice = bids_choice(bids, parcel->piece, c);
		guint32 place = offer_best_fit(offer, choice->range, parcel->piece->n_gpus);

		if (place == PLACE_NONE)
			continue;
		offer_take(offer, place, parcel->piece->n_gpus);
		*parcel->place = place;
		return TRUE;
	}
	return FALSE;
}

/* Packs the rows as they are; returns the bidder that stands in the way, or BIDDER_NONE. */
static guint
try_to_pack(Deal *deal, const Bids *bids, Offer *offer)
{
	g_autoptr(GArray) parcels = collect_parcels(deal, bids);
	guint stuck = BIDDER_NONE, n = 0;
	Score value;

	for (; n < parcels->len && stuck == BIDDER_NONE; n++) {
		const Parcel *parcel = &g_array_index(parcels, Parcel, n);

		if (!settle_parcel(parcel, bids, offer)) {
			stuck = parcel->bidder;
			break;
		}
	}
	while (n-- > 0) {
		const Parcel *parcel = &g_array_index(parcels, Parcel, n);

		offer_give(offer, *parcel->place, parcel->piece->n_gpus);
	}
	for (guint i = 0; i < deal->n && stuck == BIDDER_NONE; i++)
		if (!value_of(deal, bids, i, &value))
			stuck = i;
	return stuck;
}

void
deal_pack(Deal *deal, const Bids *bids, Offer *offer)
{
	for (;;) {
		guint stuck = try_to_pack(deal, bids, offer);

		if (stuck == BIDDER_NONE)
			break;
		deal->rows[stuck]--;
	}
	deal->product = deal_product(deal, bids, BIDDER_NONE);
}
