/* SPDX-License-Identifier: MIT */

/* C01: the fewest jobs lose their GPUs, and of as many the latest in the order. */

#include "policies/walk/state.h"

static gint
compare_sizes(gconstpointer one, gconstpointer other)
{
	const guint *a = one, *b = other;

	return *a > *b ? -1 : *a < *b; /* descending */
}

/* How few of the @n sizes add up to @need; G_MAXUINT if all do not. */
static guint
fewest(GArray *scratch, const guint *sizes, guint n, guint64 need)
{
	guint64 sum = 0;

	g_array_set_size(scratch, 0);
	g_array_append_vals(scratch, sizes, n);
	if (n > 0)
		qsort(scratch->data, n, sizeof(guint), compare_sizes);
	for (guint i = 0; i < n; i++) {
		sum += g_array_index(scratch, guint, i);
		if (sum >= need)
			return i + 1;
	}
	return G_MAXUINT;
}

/* How many sizes from the first on it takes until @k of them can add up to @need. */
static guint
shortest_prefix(GArray *scratch, const guint *sizes, guint n, guint k, guint64 need)
{
	guint64 sum = 0; /* of the k largest so far, which scratch holds, descending */

	g_array_set_size(scratch, 0);
	for (guint i = 0; i < n; i++) {
		guint at = scratch->len;

		while (at > 0 && g_array_index(scratch, guint, at - 1) < sizes[i])
			at--;
		g_array_insert_val(scratch, at, sizes[i]);
		sum += sizes[i];
		if (scratch->len > k) {
			sum -= g_array_index(scratch, guint, k);
			g_array_set_size(scratch, k);
		}
		if (sum >= need)
			return i + 1;
	}
	g_assert_not_reached();
}

gboolean
walk_pick_victims(GArray *scratch, const guint *sizes, guint n, guint64 need, guint most,
                  GArray *victims)
{
	guint k = fewest(scratch, sizes, n, need);

	g_array_set_size(victims, 0);
	if (k > most)
		return FALSE;
	for (; k > 0; k--) {
		n = shortest_prefix(scratch, sizes, n, k, need) - 1;
		g_array_append_val(victims, n);
		need -= MIN(need, sizes[n]);
	}
	return TRUE;
}
