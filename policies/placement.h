/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Ready answers to "where?". Each looks at what is free in the view (the plan's edits included)
 * and finds GPUs for a gang, honouring what the job asks for: one GPU type (of several that will
 * do the one with most free GPUs, A44), memory, CPUs, workers, share. The rules are those of
 * SEMANTICS C02 and B22. Policies get this through sim/policy.h.
 */

#include "sim/engine/policy_class.h"

typedef enum PlacementKind {
	PLACEMENT_CONSOLIDATE, /* the smallest level that holds it now; fewest slots, machines,
	                          racks */
	PLACEMENT_FIRST_FIT,   /* machines by number */
	PLACEMENT_BEST_FIT,    /* machines with the fewest free GPUs that suffice */
	PLACEMENT_SPREAD,      /* machines with the most free GPUs, a GPU at a time */
	PLACEMENT_RANDOM,      /* drawn from (seed, "placement", job, start) */
	PLACEMENT_LEFTOVERS, /* machines with the fewest free GPUs, whatever they have (Tiresias) */
} PlacementKind;

typedef struct PlacementOptions {
	gint kind;      /* PlacementKind */
	gint max_level; /* PlacementLevel: a gang is never spread beyond it */
	/* Not an option of its own: the gang waits until it can have as few machines as it would in
	 * the empty cluster (C03). */
	gboolean is_compact;
} PlacementOptions;

extern const char *const placement_kind_names[];
extern const char *const placement_level_names[];

/* The two rows that every placing policy has in its table, for a member of @type. */
#define PLACEMENT_OPTION_ROWS(type, member)                                                       \
	{ .name = "placement",                                                                    \
	  .kind = OPTION_CHOICE,                                                                  \
	  .offset = G_STRUCT_OFFSET(type, member) + G_STRUCT_OFFSET(PlacementOptions, kind),      \
	  .standard = "consolidate",                                                              \
	  .choices = placement_kind_names,                                                        \
	  .help = "how the GPUs of a gang are chosen among those that are free" },                \
	{                                                                                         \
		.name = "max_level", .kind = OPTION_CHOICE,                                       \
		.offset =                                                                         \
		    G_STRUCT_OFFSET(type, member) + G_STRUCT_OFFSET(PlacementOptions, max_level), \
		.standard = "cluster", .choices = placement_level_names,                          \
		.help = "a gang is never spread beyond this level"                                \
	}

/* GPUs for @n_gpus of @job; FALSE if they do not fit now. */
gboolean placement_find(const View *view, const Job *job, guint n_gpus,
                        const PlacementOptions *options, Alloc *ret_where);

/* The same on a cluster other than the view's: what would be if others held GPUs. */
gboolean placement_find_on(const Cluster *cluster, const View *view, const Job *job, guint n_gpus,
                           const PlacementOptions *options, Alloc *ret_where);

/* Whether the job may run on GPUs of @type, by name, memory and speed. */
gboolean placement_type_will_do(const View *view, const Job *job, guint type);

/* Whether nothing but the number of free GPUs decides if a gang of this cluster fits under
 * @options: one GPU type, and no level or compactness to keep. */
gboolean placement_is_by_count(const ClusterSpec *spec, const PlacementOptions *options);

/* Whether @job, too, asks for nothing but a number of GPUs that this cluster could refuse. */
gboolean placement_job_is_by_count(const ClusterSpec *spec, const Job *job);
