/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Bid tables. A bidder (an app) says for each number of GPUs that it could use how it would split
 * them: a *piece* is so many GPUs for one job, and the *choices* of a piece say where it could be
 * taken and how much faster the app then goes. A row is the pieces of one number of GPUs. What a
 * row is worth follows from the rate at which the app would work:
 *
 *	V = 1 / rho = T_id / (elapsed + time of the work left at this rate)
 *
 * or the rate itself (option value=speed). This says the same as a table of machine-count vectors,
 *an entry for each way to take the GPUs of a row, and is as short as machines are alike.
 *
 * A rate is the sum over an app's jobs of GPUs x speed per GPU, in parts per billion of a GPU at
 * full speed.
 */

#include "policies/themis/forecast.h"
#include "policies/themis/offer.h"
#include "policies/themis/options.h"

/* What an app bids for GPUs when it has no work to speak of (A89). */
#define VALUE_WITHOUT_WORK 1e6

typedef struct Choice {
	gint64 rate_ppb;  /* added to the app's rate */
	PlaceRange range; /* at any one of these */
} Choice;

typedef struct Piece {
	guint32 claim; /* whose: the bidder's own numbering */
	guint32 n_gpus;
	guint32 first_choice, n_choices; /* by falling rate; equal pieces have the same choices */
} Piece;

typedef struct Row {
	guint32 n_gpus;
	guint32 first_piece, n_pieces;
	gint64 rate_ppb; /* of the app, at best; see bids_end_row() */
	double value;
	gint64 rank; /* of the value; see score_rank() */
} Row;

typedef struct Bidder {
	AgentId agent;
	gboolean bids_speed; /* its values are rates, not 1 / rho */
	gint64 held_ppb;     /* the rate of what its jobs hold by leases that go on */
	double elapsed_ns;
	Forecast forecast;
	double ideal_ns; /* T_id; 0 without work */
	double value_of_nothing;
	guint32 first_row, n_rows; /* by rising number of GPUs; the first is no GPU */
} Bidder;

typedef struct Bids {
	GArray *choices;      /* of Choice */
	GArray *pieces;       /* of Piece */
	GArray *rows;         /* of Row */
	GArray *bidders;      /* of Bidder */
	GArray *gains;        /* scratch */
	gboolean prefers_few; /* see bids_nth_row() */
} Bids;

Bids *bids_new(void);
void bids_free(Bids *bids);
void bids_reset(Bids *bids);

/* With bids_speed, after the program behind the paper's figures: what no bid counts, and what a
 * speed of one GPU or less does. */
#define SPEED_VALUE_OF_NOTHING 1.0
#define SPEED_VALUE_OF_LITTLE  1e-5

/* What it is worth to go on at @rate_ppb > 0: 1 / rho, or GPUs at full speed, 0 if those are no
 * more than it keeps. */
double bidder_value(const Bidder *bidder, gint64 rate_ppb);

/* Opens the table of a bidder, copied, with the row of no GPU. Rows must follow by rising number
 * of GPUs, the earliest app's table first. */
void bids_add_bidder(Bids *bids, const Bidder *bidder);

/* The best choice first; returns the first one's number. */
guint32 bids_add_choices(Bids *bids, const Choice *choices, guint n);

/* A piece of the row to come. */
void bids_add_piece(Bids *bids, const Piece *piece);

/* Forgets the pieces added since the last row. */
void bids_drop_row(Bids *bids);

/* The row of the pieces added since the last; kept if it is worth strictly more than each that
 * came before (A71). Its rate is that of all pieces at their best choices, but no more pieces of a
 * size at a level, or closer, than @offer has room for: an upper bound, and for one piece exact. */
gboolean bids_end_row(Bids *bids, Offer *offer);

static inline const Bidder *
bids_bidder(const Bids *bids, guint i)
{
	return &g_array_index(bids->bidders, Bidder, i);
}

static inline const Row *
bids_row(const Bids *bids, const Bidder *bidder, guint row)
{
	return &g_array_index(bids->rows, Row, bidder->first_row + row);
}

/* Of deals with equal products that one is taken which gives the first bidder, then the next, the
 * row of the largest n: that of most GPUs (A72), or, with prefers_few, of fewest, but not none. The
 * n-th row; or, of row n, which it is: the order is its own inverse. */
static inline guint
bids_nth_row(const Bids *bids, const Bidder *bidder, guint n)
{
	return !bids->prefers_few || n == 0 ? n : bidder->n_rows - n;
}

static inline const Piece *
bids_piece(const Bids *bids, const Row *row, guint piece)
{
	return &g_array_index(bids->pieces, Piece, row->first_piece + piece);
}

static inline const Choice *
bids_choice(const Bids *bids, const Piece *piece, guint choice)
{
	return &g_array_index(bids->choices, Choice, piece->first_choice + choice);
}

/* What a piece adds to the rate at a place: by its best choice that has the place. */
gint64 piece_rate_ppb(const Bids *bids, const Piece *piece, guint32 place);

static inline gboolean
pieces_are_alike(const Piece *one, const Piece *other)
{
	return one->n_gpus == other->n_gpus && one->first_choice == other->first_choice &&
	       one->n_choices == other->n_choices;
}
