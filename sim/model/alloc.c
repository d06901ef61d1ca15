/* SPDX-License-Identifier: MIT */
#include "sim/model/alloc.h"

#include <string.h>

const char *
level_to_string(PlacementLevel level)
{
	switch (level) {
	case LEVEL_SLOT:
		return "slot";
	case LEVEL_MACHINE:
		return "machine";
	case LEVEL_RACK:
		return "rack";
	case LEVEL_CLUSTER:
		return "cluster";
	}
	g_assert_not_reached();
}

void
alloc_init(Alloc *alloc)
{
	*alloc = (Alloc){ 0 };
}

void
alloc_clear(Alloc *alloc)
{
	g_free(alloc->gpus);
	alloc_init(alloc);
}

void
alloc_reset(Alloc *alloc)
{
	alloc->n = 0;
}

static void
alloc_reserve(Alloc *alloc, guint n)
{
	if (n <= alloc->size)
		return;
	alloc->size = MAX(MAX(n, 8), alloc->size * 2);
	alloc->gpus = g_renew(guint32, alloc->gpus, alloc->size);
}

/* How many GPUs of @alloc are below @gpu. */
static guint
alloc_rank(const Alloc *alloc, guint32 gpu)
{
	guint low = 0, high = alloc->n;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (alloc->gpus[middle] < gpu)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Room for @n numbers in front of what is not below @gpu. Nearly everybody adds in ascending
 * order, where that is the end. */
static guint32 *
alloc_open(Alloc *alloc, guint32 gpu, guint n)
{
	guint rank = alloc->n;

	alloc_reserve(alloc, alloc->n + n);
	if (alloc->n > 0 && alloc->gpus[alloc->n - 1] >= gpu)
		rank = alloc_rank(alloc, gpu);
	memmove(alloc->gpus + rank + n, alloc->gpus + rank,
	        (alloc->n - rank) * sizeof(alloc->gpus[0]));
	alloc->n += n;
	return alloc->gpus + rank;
}

void
alloc_add(Alloc *alloc, guint32 gpu)
{
	*alloc_open(alloc, gpu, 1) = gpu;
}

void
alloc_add_range(Alloc *alloc, guint32 first_gpu, guint n)
{
	if (n == 0)
		return;
	/* Numbers already inside the range would fall behind it: rare, and then one by one. */
	if (alloc_rank(alloc, first_gpu) != alloc_rank(alloc, first_gpu + n)) {
		for (guint i = 0; i < n; i++)
			alloc_add(alloc, first_gpu + i);
		return;
	}

	guint32 *gpus = alloc_open(alloc, first_gpu, n);

	for (guint i = 0; i < n; i++)
		gpus[i] = first_gpu + i;
}

void
alloc_copy(Alloc *to, const Alloc *from)
{
	if (to == from)
		return;
	alloc_reserve(to, from->n);
	if (from->n > 0)
		memcpy(to->gpus, from->gpus, from->n * sizeof(from->gpus[0]));
	to->n = from->n;
}

void
alloc_swap(Alloc *one, Alloc *other)
{
	Alloc kept = *one;

	*one = *other;
	*other = kept;
}

gboolean
alloc_equal(const Alloc *one, const Alloc *other)
{
	return one->n == other->n &&
	       (one->n == 0 || memcmp(one->gpus, other->gpus, one->n * sizeof(one->gpus[0])) == 0);
}

gboolean
alloc_has(const Alloc *alloc, guint32 gpu)
{
	guint rank = alloc_rank(alloc, gpu);

	return rank < alloc->n && alloc->gpus[rank] == gpu;
}
