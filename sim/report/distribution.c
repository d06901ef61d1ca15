/* SPDX-License-Identifier: MIT */
#include "sim/report/distribution.h"

#include "sim/report/exact.h"

/* Sums behind the indices: of x, x^2, and rank x x, the ranks -(n - 1), -(n - 3) .. n - 1; the same
 * of 1 / x, whose ranks are those of x the other way round. */
typedef enum IndexSum {
	SUM_X,
	SUM_SQUARE,
	SUM_RANKED,
	SUM_INVERSE,
	SUM_INVERSE_SQUARE,
	SUM_INVERSE_RANKED,
	SUM_EXCESS,
	N_SUMS,
} IndexSum;

/* So many values are summed up plainly before what was lost is carried: enough for speed, few
 * enough to lose nothing that a cell can hold. */
#define BLOCK 64

static void
add_block(NumberSum *sums, const double *values, gsize n, double rank)
{
	double block[N_SUMS] = { 0 };

	for (gsize i = 0; i < n; i++) {
		double x = values[i];
		double inverse = 1 / x;

		block[SUM_X] += x;
		block[SUM_SQUARE] += x * x;
		block[SUM_RANKED] += rank * x;
		block[SUM_INVERSE] += inverse;
		block[SUM_INVERSE_SQUARE] += inverse * inverse;
		block[SUM_INVERSE_RANKED] -= rank * inverse;
		block[SUM_EXCESS] += MAX(0, x - 1);
		rank += 2;
	}
	for (guint i = 0; i < N_SUMS; i++)
		number_sum_add(&sums[i], block[i]);
}

/* (sum x)^2 / (n sum x^2), by Jain, Chiu and Hawe. */
static double
jain_of(const NumberSum *x, const NumberSum *square, gsize n)
{
	double total = number_sum_total(x);

	return total * total / ((double)n * number_sum_total(square));
}

/* sum (2i - n - 1) x_(i) / (n sum x), x ascending, i from 1; never below 0 but for rounding. */
static double
gini_of(const NumberSum *x, const NumberSum *ranked, gsize n)
{
	return MAX(0, number_sum_total(ranked) / ((double)n * number_sum_total(x)));
}

/* How many of @n ascending values are above @bound. */
static gsize
count_over(const double *sorted, gsize n, double bound)
{
	gsize low = 0, high = n;

	while (low < high) {
		gsize middle = low + (high - low) / 2;

		if (sorted[middle] > bound)
			high = middle;
		else
			low = middle + 1;
	}
	return n - low;
}

static void
find_indices(Distribution *found, const double *sorted, gsize n)
{
	NumberSum sums[N_SUMS] = { 0 };

	for (gsize i = 0; i < n; i += BLOCK)
		add_block(sums, sorted + i, MIN(BLOCK, n - i), 2 * (double)i - (double)(n - 1));
	found->mean = number_sum_total(&sums[SUM_X]) / (double)n;
	found->excess_mean = number_sum_total(&sums[SUM_EXCESS]) / (double)n;
	found->jain = jain_of(&sums[SUM_X], &sums[SUM_SQUARE], n);
	found->gini = gini_of(&sums[SUM_X], &sums[SUM_RANKED], n);
	found->jain_inverse = jain_of(&sums[SUM_INVERSE], &sums[SUM_INVERSE_SQUARE], n);
	found->gini_inverse = gini_of(&sums[SUM_INVERSE], &sums[SUM_INVERSE_RANKED], n);
	found->over_1 = count_over(sorted, n, OVER_1);
	found->over_1_1 = count_over(sorted, n, OVER_1_1);
}

Distribution
distribution_of(const double *sorted, gsize n)
{
	Distribution found = { .n = n };

	if (n == 0)
		return found;
	found.min = sorted[0];
	found.p5 = quantile_of_numbers(sorted, n, 5);
	found.p50 = quantile_of_numbers(sorted, n, 50);
	found.p90 = quantile_of_numbers(sorted, n, 90);
	found.p95 = quantile_of_numbers(sorted, n, 95);
	found.p99 = quantile_of_numbers(sorted, n, 99);
	found.max = sorted[n - 1];
	find_indices(&found, sorted, n);
	return found;
}
