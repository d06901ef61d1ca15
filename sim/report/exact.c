/* SPDX-License-Identifier: MIT */
#include "sim/report/exact.h"

#include <math.h>
#include <stdlib.h>

#define ATTO_PER_ONE  ((__int128)NANO_PER_ONE * NANO_PER_ONE)
#define SAFE_TO_SCALE ((__int128)1 << 97) /* times 10^9 it still fits */

__int128
divide_half_even(__int128 value, __int128 divisor)
{
	__int128 quotient, rest;

	g_assert(value >= 0 && divisor > 0);
	quotient = value / divisor;
	rest = value - quotient * divisor;
	if (rest > divisor - rest || (rest == divisor - rest && quotient % 2 != 0))
		quotient++;
	return quotient;
}

/* Place by place, as on paper, for numerators whose billionfold is beyond 128 bits. */
static __int128
long_ratio_to_nano(__int128 numerator, __int128 denominator)
{
	__int128 quotient = numerator / denominator;
	__int128 rest = numerator % denominator;

	for (guint place = 0; place < 9; place++) {
		rest *= 10;
		quotient = quotient * 10 + rest / denominator;
		rest %= denominator;
	}
	if (rest > denominator - rest || (rest == denominator - rest && quotient % 2 != 0))
		quotient++;
	return quotient;
}

__int128
ratio_to_nano(__int128 numerator, __int128 denominator)
{
	if (numerator < SAFE_TO_SCALE)
		return divide_half_even(numerator * NANO_PER_ONE, denominator);
	return long_ratio_to_nano(numerator, denominator);
}

void
ratio_mean_add(RatioMean *mean, __int128 numerator, gint64 denominator)
{
	__int128 rest = numerator % denominator;

	/* The rest is below 2^63, so its 10^18-fold fits. */
	mean->whole += numerator / denominator;
	mean->fraction += divide_half_even(rest * ATTO_PER_ONE, denominator);
	mean->n++;
}

__int128
ratio_mean_scaled(const RatioMean *mean, gint64 scale)
{
	__int128 even, rest;

	g_assert(mean->n > 0);
	/* What is taken off before the rounding is even, so that a half goes the same way. */
	even = mean->whole / mean->n / 2 * 2;
	rest = (mean->whole - even * mean->n) * ATTO_PER_ONE + mean->fraction;
	return even * scale + divide_half_even(rest, mean->n * (ATTO_PER_ONE / scale));
}

/* Where the quantile of @n values lies: behind the value @ret_below, by @ret_percent of the way to
 * the next. */
static void
quantile_place(gsize n, guint percent, gsize *ret_below, guint *ret_percent)
{
	guint64 place = (guint64)(n - 1) * percent;

	*ret_below = (gsize)(place / 100);
	*ret_percent = (guint)(place % 100);
}

gint64
quantile_of_times(const gint64 *sorted, gsize n, guint percent)
{
	gsize below;
	guint way;

	quantile_place(n, percent, &below, &way);
	if (way == 0)
		return sorted[below];
	return (gint64)divide_half_even(
	    (__int128)sorted[below] * (100 - way) + (__int128)sorted[below + 1] * way, 100);
}

double
quantile_of_numbers(const double *sorted, gsize n, guint percent)
{
	gsize below;
	guint way;

	quantile_place(n, percent, &below, &way);
	if (way == 0)
		return sorted[below];
	return sorted[below] + (sorted[below + 1] - sorted[below]) * (way / 100.0);
}

static int
time_compare(const void *one, const void *other)
{
	gint64 a = *(const gint64 *)one;
	gint64 b = *(const gint64 *)other;

	return (a > b) - (a < b);
}

void
times_sort(gint64 *values, gsize n)
{
	if (n > 0)
		qsort(values, n, sizeof *values, time_compare);
}

static int
number_compare(const void *one, const void *other)
{
	double a = *(const double *)one;
	double b = *(const double *)other;

	return (a > b) - (a < b);
}

void
numbers_sort(double *values, gsize n)
{
	if (n > 0)
		qsort(values, n, sizeof *values, number_compare);
}

void
number_sum_add(NumberSum *sum, double value)
{
	double total = sum->sum + value;

	if (fabs(sum->sum) >= fabs(value))
		sum->lost += sum->sum - total + value;
	else
		sum->lost += value - total + sum->sum;
	sum->sum = total;
}

double
number_sum_total(const NumberSum *sum)
{
	return sum->sum + sum->lost;
}
