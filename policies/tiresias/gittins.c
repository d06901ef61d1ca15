/* SPDX-License-Identifier: MIT */
#include "policies/tiresias/gittins.h"

#include <string.h>

/*
 * With samples s_1 <= ... <= s_n and i the first above a, ending at s_j gives
 *
 *	(j - i + 1) / (sum of s_i..s_j + s_j (n - j) - a (n - i + 1)),
 *
 * the slope from P = (S_(i-1) + a (n - i + 1), i - 1) to Q_j = (S_j + s_j (n - j), j), S being
 * sums of the first samples. So the index is the slope of the tangent from P to the upper hull of
 * Q_i..Q_n. All these hulls are built from the right as one tree, next[i] being the neighbour of
 * Q_i in the hull that begins with it; the tangent point is found by jumping along it, O(log n).
 * The arithmetic is exact; only the last division is not.
 */
struct Gittins {
	GittinsKind kind;
	GpuTime delta;
	guint n;
	GpuTime *samples;           /* from 0 */
	GpuTime *sums;              /* of the first i, from 0 to n */
	guint *next, *jump, *depth; /* by sample; n is beyond the last */
};

/* Q of the sample at @index. */
static GpuTime
point_x(const Gittins *gittins, guint index)
{
	return gittins->sums[index + 1] + gittins->samples[index] * (gittins->n - 1 - index);
}

/* From (@x, @y), is the slope to Q_one at most that to Q_other, which is further right? */
static gboolean
is_no_steeper(const Gittins *gittins, GpuTime x, guint y, guint one, guint other)
{
	GpuTime one_run = point_x(gittins, one) - x, other_run = point_x(gittins, other) - x;

	return (GpuTime)(one + 1 - y) * other_run <= (GpuTime)(other + 1 - y) * one_run;
}

/* The hull that begins with Q_index, from that with the next. Jumps as in Myers, "An applicative
 * random-access stack", 1983. */
static void
hull_add(Gittins *gittins, guint index)
{
	guint next = index + 1;

	while (
	    next < gittins->n && gittins->next[next] < gittins->n &&
	    is_no_steeper(gittins, point_x(gittins, index), index + 1, next, gittins->next[next]))
		next = gittins->next[next];
	gittins->next[index] = next;
	gittins->depth[index] = gittins->depth[next] + 1;
	if (gittins->depth[next] - gittins->depth[gittins->jump[next]] ==
	    gittins->depth[gittins->jump[next]] -
	        gittins->depth[gittins->jump[gittins->jump[next]]])
		gittins->jump[index] = gittins->jump[gittins->jump[next]];
	else
		gittins->jump[index] = next;
}

Gittins *
gittins_new(GittinsKind kind, const GpuTime *samples, guint n, GpuTime delta)
{
	Gittins *gittins = g_new0(Gittins, 1);

	gittins->kind = kind;
	gittins->delta = delta;
	gittins->n = n;
	gittins->samples = g_new0(GpuTime, n + 1);
	gittins->sums = g_new0(GpuTime, n + 1);
	for (guint i = 0; i < n; i++) {
		gittins->samples[i] = samples[i];
		gittins->sums[i + 1] = gittins->sums[i] + samples[i];
	}
	if (kind != GITTINS_TEXTBOOK)
		return gittins;
	gittins->next = g_new(guint, n + 1);
	gittins->jump = g_new(guint, n + 1);
	gittins->depth = g_new0(guint, n + 1);
	gittins->next[n] = gittins->jump[n] = n;
	for (guint i = n; i > 0; i--)
		hull_add(gittins, i - 1);
	return gittins;
}

void
gittins_free(Gittins *gittins)
{
	if (gittins == NULL)
		return;
	g_free(gittins->samples);
	g_free(gittins->sums);
	g_free(gittins->next);
	g_free(gittins->jump);
	g_free(gittins->depth);
	g_free(gittins);
}

/* The first sample above @attained; n if there is none. */
static guint
first_above(const Gittins *gittins, GpuTime attained)
{
	guint low = 0, high = gittins->n;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (gittins->samples[middle] <= attained)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The same, beginning at a guess that is likely a little low. */
static guint
first_above_from(const Gittins *gittins, GpuTime attained, guint guess)
{
	const guint n_tries = 8;

	if (guess > gittins->n || (guess > 0 && gittins->samples[guess - 1] > attained))
		return first_above(gittins, attained);
	for (guint i = 0; i < n_tries; i++, guess++)
		if (guess == gittins->n || gittins->samples[guess] > attained)
			return guess;
	return first_above(gittins, attained);
}

/* Whether the tangent point is beyond Q_index, as seen from (@x, @y). */
static gboolean
is_before_tangent(const Gittins *gittins, GpuTime x, guint y, guint index)
{
	return index < gittins->n && gittins->next[index] < gittins->n &&
	       is_no_steeper(gittins, x, y, index, gittins->next[index]);
}

static double
textbook_index(const Gittins *gittins, GpuTime attained, guint first)
{
	GpuTime x = gittins->sums[first] + attained * (gittins->n - first);
	guint at = first;

	while (is_before_tangent(gittins, x, first, at)) {
		guint jump = gittins->jump[at];

		at = is_before_tangent(gittins, x, first, jump) ? jump : gittins->next[at];
	}
	return (double)(at + 1 - first) / (double)(point_x(gittins, at) - x);
}

static double
fixed_index(const Gittins *gittins, GpuTime attained, guint first)
{
	guint end = first_above(gittins, attained + gittins->delta);
	GpuTime spent = gittins->sums[end] - gittins->sums[first] - attained * (end - first) +
	                gittins->delta * (gittins->n - end);

	return (double)(end - first) / (double)spent;
}

/* Its table has an entry for each sample s, made for a = s - 1 GPU-second, and its expectation sums
 * whole samples and not what is left of them. */
static double
tiresias_sim_index(const Gittins *gittins, guint first)
{
	GpuTime attained = gittins->samples[first] - GPU_TIME_PER_GPU_S;
	guint from = first_above(gittins, attained);
	guint end = first_above(gittins, attained + gittins->delta);
	GpuTime spent =
	    gittins->sums[end] - gittins->sums[from] + gittins->delta * (gittins->n - end);

	return (double)(end - from) / (double)spent;
}

double
gittins_index(const Gittins *gittins, GpuTime attained, guint *hint)
{
	guint first = first_above_from(gittins, attained, *hint);

	*hint = first;
	if (first == gittins->n)
		return 0;
	switch (gittins->kind) {
	case GITTINS_OFF:
		break;
	case GITTINS_TEXTBOOK:
		return textbook_index(gittins, attained, first);
	case GITTINS_FIXED_DELTA:
		return fixed_index(gittins, attained, first);
	case GITTINS_TIRESIAS_SIM:
		return tiresias_sim_index(gittins, first);
	}
	g_assert_not_reached();
}
