/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What is on offer in a round of Themis: idle GPUs, and those whose leases have just ended, as
 * nested places: per GPU type one place for the whole cluster, in it racks, machines and slots.
 *
 * A gang is taken *at* a place: it gets GPUs somewhere inside. A set of such takings can be
 * carried out if and only if in each place no more is taken, at it or further in, than it has:
 * places are nested (Hall's theorem for a laminar family). So GPUs of a place are
 * interchangeable, and who gets which is left to the end.
 */

#include "sim/policy.h"

#define PLACE_NONE G_MAXUINT32

typedef struct PlaceRange {
	guint32 first, end;
} PlaceRange;

/* How many sets of n_gpus, each within one place of a level, the whole offer holds. */
typedef struct Capacity {
	guint32 n_gpus;
	guint32 n_sets[N_LEVELS];
} Capacity;

typedef struct Offer {
	const ClusterSpec *spec;
	guint n_gpus; /* on offer, of all types */
	guint n_places;
	guint32 *parent;    /* by place; PLACE_NONE for a type's whole cluster */
	guint8 *level;      /* by place: a PlacementLevel */
	guint32 *machine;   /* by place: of a slot or machine, which machine */
	guint32 *n_left;    /* by place: GPUs not taken at it or inside it */
	PlaceRange *inside; /* by place: the machines of a rack, the slots of a machine */
	gboolean has_slots; /* else machines are the innermost places */
	PlaceRange *ranges; /* at type * N_LEVELS + level: the places of one kind, by number */
	guint32 *machine_place, *slot_place; /* by machine, by GPU */
	guint32 *most_left; /* at type * N_LEVELS + level: the most in one place, when filled */
	GArray *capacities; /* of Capacity: as far as asked for since the offer was filled */
	JobId *former;      /* by GPU: whose lease has just ended; JOB_NONE */
	GArray *returned;   /* of guint32: GPUs that have a former */
} Offer;

/* Slots cost time and matter only where some model tells a slot from a machine, or gangs are to
 * stay within a slot. */
Offer *offer_new(const ClusterSpec *spec, const ModelTable *models, PlacementLevel max_level);
void offer_free(Offer *offer);

/* Everything idle, and the GPUs handed in by offer_return(). */
void offer_return(Offer *offer, guint32 gpu, JobId former);
void offer_fill(Offer *offer, const Cluster *cluster);

/* Of the offer as it was filled: it must be whole when first asked. */
const Capacity *offer_capacity(Offer *offer, guint n_gpus);

/* After a round: nothing is handed in any more. */
void offer_empty(Offer *offer);

static inline PlaceRange
offer_range(const Offer *offer, guint type, PlacementLevel level)
{
	return offer->ranges[type * N_LEVELS + level];
}

/* The most GPUs that one place of a kind had when the offer was filled. */
static inline guint32
offer_most_left(const Offer *offer, guint type, PlacementLevel level)
{
	return offer->most_left[type * N_LEVELS + level];
}

/* Whether @n GPUs can be taken at @place. */
static inline gboolean
offer_has(const Offer *offer, guint32 place, guint n)
{
	for (; place != PLACE_NONE; place = offer->parent[place])
		if (offer->n_left[place] < n)
			return FALSE;
	return TRUE;
}

static inline void
offer_take(Offer *offer, guint32 place, guint n)
{
	for (; place != PLACE_NONE; place = offer->parent[place])
		offer->n_left[place] -= n;
}

static inline void
offer_give(Offer *offer, guint32 place, guint n)
{
	for (; place != PLACE_NONE; place = offer->parent[place])
		offer->n_left[place] += n;
}

/* The place of @level around @gpu. */
guint32 offer_place_of(const Offer *offer, guint32 gpu, PlacementLevel level);

/* Whether two places are alike: in the same place, with as many GPUs left, also place by place
 * inside. */
gboolean offer_are_alike(const Offer *offer, guint32 one, guint32 other);

/* The place of @range with the fewest GPUs left that has @n, the lowest number on ties;
 * PLACE_NONE if there is none. */
guint32 offer_best_fit(const Offer *offer, PlaceRange range, guint n);
