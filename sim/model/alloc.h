/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * An Alloc is a set of GPUs, ascending by number. A PlacementLevel is the smallest part of the
 * cluster that holds a set: GPUs of one slot share the fastest link.
 */

#include <glib.h>

typedef enum PlacementLevel {
	LEVEL_SLOT,
	LEVEL_MACHINE,
	LEVEL_RACK,
	LEVEL_CLUSTER,
} PlacementLevel;

#define N_LEVELS 4

const char *level_to_string(PlacementLevel level);

typedef struct Alloc {
	guint32 *gpus; /* ascending, each once */
	guint n;
	guint size; /* of the memory behind gpus */
} Alloc;

void alloc_init(Alloc *alloc);
void alloc_clear(Alloc *alloc); /* frees the memory; all zero is a valid Alloc */

/* Empties it and keeps the memory. */
void alloc_reset(Alloc *alloc);

/* Adds a GPU anywhere in the order; adding one twice is a bug of the caller that
 * plan_place() refuses, so nothing is checked here. */
void alloc_add(Alloc *alloc, guint32 gpu);
void alloc_add_range(Alloc *alloc, guint32 first_gpu, guint n);
void alloc_copy(Alloc *to, const Alloc *from);
void alloc_swap(Alloc *one, Alloc *other);
gboolean alloc_equal(const Alloc *one, const Alloc *other);
gboolean alloc_has(const Alloc *alloc, guint32 gpu);
