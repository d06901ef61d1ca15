/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Quotients, means and quantiles of integers, exactly, in billionths: what a cell with nine places
 * can hold, rounded half to even once and at the end (SEMANTICS A28, A31). All values are >= 0.
 */

#include <math.h>

#include "sim/base/units.h"

#define NANO_PER_ONE G_GINT64_CONSTANT(1000000000)

/* @value / @divisor, rounded half to even; @divisor > 0. */
__int128 divide_half_even(__int128 value, __int128 divisor);

/* The quotient in billionths; both below 2^123, @denominator > 0. */
__int128 ratio_to_nano(__int128 numerator, __int128 denominator);

/* Sums quotients so that their mean is right to the last place however many there are: the
 * fractions are kept to 10^-18. All zero is an empty one. */
typedef struct RatioMean {
	__int128 whole;
	__int128 fraction; /* in 10^-18 */
	guint64 n;
} RatioMean;

void ratio_mean_add(RatioMean *mean, __int128 numerator, gint64 denominator);

/* Times @scale, a power of ten up to 10^18, rounded half to even; there must be one. */
__int128 ratio_mean_scaled(const RatioMean *mean, gint64 scale);

/* Of @n > 0 ascending values, linear between neighbours, at @percent of the way (A28). */
gint64 quantile_of_times(const gint64 *sorted, gsize n, guint percent);
double quantile_of_numbers(const double *sorted, gsize n, guint percent);

void times_sort(gint64 *values, gsize n);
void numbers_sort(double *values, gsize n);

/* Room to sort up to @n numbers, again and again. */
typedef struct Sorter Sorter;

Sorter *sorter_new(gsize n);
void sorter_free(Sorter *sorter);

/* The places of @values, none below 0, in ascending order; equal ones stay as they came. */
void sorter_order(Sorter *sorter, const double *values, gsize n, guint32 *ret_order);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sorter, sorter_free)

/* A sum of doubles in the order given that carries what each addition has lost (Neumaier). */
typedef struct NumberSum {
	double sum, lost;
} NumberSum;

static inline void
number_sum_add(NumberSum *sum, double value)
{
	double total = sum->sum + value;

	if (fabs(sum->sum) >= fabs(value))
		sum->lost += sum->sum - total + value;
	else
		sum->lost += value - total + sum->sum;
	sum->sum = total;
}

static inline double
number_sum_total(const NumberSum *sum)
{
	return sum->sum + sum->lost;
}
