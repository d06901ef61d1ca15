/* SPDX-License-Identifier: MIT */
#include "sim/report/exact.h"

#include <string.h>

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

/*
 * Sorting: by eleven bits at a time, from the lowest, as the bits of whole numbers and of doubles
 * that are not below 0 ascend with them. What is equal stays in its order.
 */

#define DIGIT_BITS    11
#define N_DIGIT_KINDS (1u << DIGIT_BITS)
#define N_DIGITS      6 /* of 64 bits */

typedef struct Keyed {
	guint64 key;
	gsize place;
} Keyed;

static guint
digit_of(guint64 key, guint digit)
{
	return (guint)(key >> (digit * DIGIT_BITS)) & (N_DIGIT_KINDS - 1);
}

struct Sorter {
	Keyed *items, *room;
	gsize *counts; /* of each kind of each digit */
};

Sorter *
sorter_new(gsize n)
{
	Sorter *sorter = g_new(Sorter, 1);

	sorter->items = g_new(Keyed, n);
	sorter->room = g_new(Keyed, n);
	sorter->counts = g_new(gsize, N_DIGITS * N_DIGIT_KINDS);
	return sorter;
}

void
sorter_free(Sorter *sorter)
{
	if (!sorter)
		return;
	g_free(sorter->items);
	g_free(sorter->room);
	g_free(sorter->counts);
	g_free(sorter);
}

static void
take_items(Sorter *sorter, const void *values, gsize n)
{
	gsize *counts = sorter->counts;

	memset(counts, 0, N_DIGITS * N_DIGIT_KINDS * sizeof *counts);
	for (gsize i = 0; i < n; i++) {
		Keyed *item = &sorter->items[i];

		memcpy(&item->key, (const guint64 *)values + i, sizeof item->key);
		item->place = i;
		for (guint digit = 0; digit < N_DIGITS; digit++)
			counts[digit * N_DIGIT_KINDS + digit_of(item->key, digit)]++;
	}
}

/* @counts of the kinds of this digit become where the next of each goes. */
static void
sort_by_digit(Sorter *sorter, gsize n, guint digit, gsize *counts)
{
	Keyed *from = sorter->items;
	Keyed *to = sorter->room;
	gsize next = 0;

	for (guint kind = 0; kind < N_DIGIT_KINDS; kind++) {
		gsize count = counts[kind];

		counts[kind] = next;
		next += count;
	}
	for (gsize i = 0; i < n; i++)
		to[counts[digit_of(from[i].key, digit)]++] = from[i];
	sorter->items = to;
	sorter->room = from;
}

static const Keyed *
sort_items(Sorter *sorter, const void *values, gsize n)
{
	take_items(sorter, values, n);
	for (guint digit = 0; digit < N_DIGITS && n > 0; digit++) {
		gsize *counts = sorter->counts + digit * N_DIGIT_KINDS;

		/* Nothing to do where all are of one kind. */
		if (counts[digit_of(sorter->items[0].key, digit)] < n)
			sort_by_digit(sorter, n, digit, counts);
	}
	return sorter->items;
}

void
sorter_order(Sorter *sorter, const double *values, gsize n, guint32 *ret_order)
{
	const Keyed *sorted = sort_items(sorter, values, n);

	for (gsize i = 0; i < n; i++)
		ret_order[i] = (guint32)sorted[i].place;
}

static void
sort_bits(void *values, gsize n)
{
	g_autoptr(Sorter) sorter = sorter_new(n);
	const Keyed *sorted = sort_items(sorter, values, n);

	for (gsize i = 0; i < n; i++)
		memcpy((guint64 *)values + i, &sorted[i].key, sizeof sorted[i].key);
}

void
times_sort(gint64 *values, gsize n)
{
	sort_bits(values, n);
}

void
numbers_sort(double *values, gsize n)
{
	sort_bits(values, n);
}
