/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A score is a positive float that decides an order: a product of many valuations, a rho. It is
 * kept as mantissa and exponent, so that a product of a thousand factors neither over- nor
 * underflows, and compared by its rank, rounded to 32 bits of mantissa (SEMANTICS B02): equal
 * ranks are a tie. Only +, *, / and frexp are used, which are exact or correctly rounded
 * everywhere; no logarithms.
 */

#include <glib.h>
#include <math.h>

typedef struct Score {
	double mantissa; /* in [0.5, 1), or 0 */
	gint exponent;
} Score;

static inline Score
score_of(double value)
{
	Score score;

	score.mantissa = frexp(value, &score.exponent);
	return score;
}

static inline Score
score_times(Score one, Score other)
{
	Score product = { one.mantissa * other.mantissa, one.exponent + other.exponent };

	if (product.mantissa < 0.5) {
		product.mantissa *= 2;
		product.exponent--;
	}
	return product;
}

/* @one / @other as a plain number. */
static inline double
score_ratio(Score one, Score other)
{
	return ldexp(one.mantissa / other.mantissa, one.exponent - other.exponent);
}

/* Unrounded; for bounds. */
static inline gboolean
score_is_above(Score one, Score other)
{
	if (one.exponent != other.exponent)
		return one.exponent > other.exponent;
	return one.mantissa > other.mantissa;
}

/* Rises with the score; equal when the scores tie. Infinity, as of a division by nothing, is above
 * all others; what is not a number, below. */
static inline gint64
score_rank(Score score)
{
	const gint64 half = G_GINT64_CONSTANT(1) << 31;

	if (!(score.mantissa > 0))
		return G_MININT64;
	if (score.mantissa > 1)
		return G_MAXINT64;
	return score.exponent * half + (gint64)(score.mantissa * 2.0 * (double)half + 0.5) - half;
}

static inline gint64
score_rank_of(double value)
{
	return score_rank(score_of(value));
}
