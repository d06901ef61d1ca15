/* SPDX-License-Identifier: MIT */

#include "policies/themis/offer.h"

static gboolean
models_know_slots(const ModelTable *models)
{
	for (guint i = 0; i < models->n; i++)
		if (models->models[i].slowdown_ppb[LEVEL_SLOT] !=
		    models->models[i].slowdown_ppb[LEVEL_MACHINE])
			return TRUE;
	return FALSE;
}

static gboolean
cluster_has_slots(const ClusterSpec *spec)
{
	for (guint i = 0; i < spec->n_machines; i++)
		if (spec->machines[i].slot_gpus < spec->machines[i].n_gpus)
			return TRUE;
	return FALSE;
}

static guint32
add_place(Offer *offer, guint32 parent, PlacementLevel level)
{
	offer->parent[offer->n_places] = parent;
	offer->level[offer->n_places] = level;
	return offer->n_places++;
}

static void
open_range(Offer *offer, guint type, PlacementLevel level)
{
	offer->ranges[type * N_LEVELS + level].first = offer->n_places;
}

static void
close_range(Offer *offer, guint type, PlacementLevel level)
{
	offer->ranges[type * N_LEVELS + level].end = offer->n_places;
}

/* The part of each rack that is of @type; rack_place is scratch, by rack. */
static void
add_racks(Offer *offer, guint type, guint32 whole, guint32 *rack_place)
{
	const ClusterSpec *spec = offer->spec;

	open_range(offer, type, LEVEL_RACK);
	for (guint i = 0; i < spec->n_racks; i++)
		rack_place[i] = PLACE_NONE;
	for (guint i = 0; i < spec->n_machines; i++) {
		const Machine *machine = &spec->machines[i];

		if (machine->type == type && rack_place[machine->rack] == PLACE_NONE)
			rack_place[machine->rack] = add_place(offer, whole, LEVEL_RACK);
	}
	close_range(offer, type, LEVEL_RACK);
}

static void
add_machines(Offer *offer, guint type, const guint32 *rack_place)
{
	const ClusterSpec *spec = offer->spec;

	open_range(offer, type, LEVEL_MACHINE);
	for (guint i = 0; i < spec->n_machines; i++)
		if (spec->machines[i].type == type) {
			PlaceRange *rack = &offer->inside[rack_place[spec->machines[i].rack]];

			offer->machine_place[i] =
			    add_place(offer, rack_place[spec->machines[i].rack], LEVEL_MACHINE);
			offer->machine[offer->machine_place[i]] = i;
			if (rack->end == 0)
				rack->first = offer->machine_place[i];
			rack->end = offer->machine_place[i] + 1;
		}
	close_range(offer, type, LEVEL_MACHINE);
}

static void
add_slots_of(Offer *offer, guint32 number)
{
	const Machine *machine = &offer->spec->machines[number];
	PlaceRange *inside = &offer->inside[offer->machine_place[number]];

	inside->first = offer->n_places;
	for (guint32 i = 0; i < machine->n_gpus; i++) {
		guint32 gpu = machine->first_gpu + i;

		offer->slot_place[gpu] =
		    i % machine->slot_gpus == 0
		        ? add_place(offer, offer->machine_place[number], LEVEL_SLOT)
		        : offer->slot_place[gpu - 1];
		offer->machine[offer->slot_place[gpu]] = number;
	}
	inside->end = offer->n_places;
}

static void
add_slots(Offer *offer, guint type)
{
	const ClusterSpec *spec = offer->spec;

	open_range(offer, type, LEVEL_SLOT);
	for (guint i = 0; i < spec->n_machines && offer->has_slots; i++)
		if (spec->machines[i].type == type)
			add_slots_of(offer, i);
	close_range(offer, type, LEVEL_SLOT);
}

static void
add_places(Offer *offer)
{
	const ClusterSpec *spec = offer->spec;
	g_autofree guint32 *rack_place = g_new(guint32, spec->n_racks);

	for (guint type = 0; type < spec->n_types; type++) {
		guint32 whole;

		open_range(offer, type, LEVEL_CLUSTER);
		whole = add_place(offer, PLACE_NONE, LEVEL_CLUSTER);
		close_range(offer, type, LEVEL_CLUSTER);
		add_racks(offer, type, whole, rack_place);
		add_machines(offer, type, rack_place);
		add_slots(offer, type);
	}
}

Offer *
offer_new(const ClusterSpec *spec, const ModelTable *models, PlacementLevel max_level)
{
	Offer *offer = g_new0(Offer, 1);
	guint most = spec->n_types * (1 + spec->n_racks) + spec->n_machines + spec->n_gpus;

	offer->spec = spec;
	offer->has_slots =
	    (max_level == LEVEL_SLOT || models_know_slots(models)) && cluster_has_slots(spec);
	offer->parent = g_new(guint32, most);
	offer->level = g_new0(guint8, most);
	offer->machine = g_new0(guint32, most);
	offer->n_left = g_new0(guint32, most);
	offer->inside = g_new0(PlaceRange, most);
	offer->ranges = g_new0(PlaceRange, spec->n_types * N_LEVELS);
	offer->most_left = g_new0(guint32, spec->n_types * N_LEVELS);
	offer->machine_place = g_new0(guint32, spec->n_machines);
	offer->slot_place = g_new0(guint32, spec->n_gpus);
	offer->former = g_new(JobId, spec->n_gpus);
	for (guint i = 0; i < spec->n_gpus; i++)
		offer->former[i] = JOB_NONE;
	offer->capacities = g_array_new(FALSE, FALSE, sizeof(Capacity));
	offer->returned = g_array_new(FALSE, FALSE, sizeof(guint32));
	add_places(offer);
	return offer;
}

void
offer_free(Offer *offer)
{
	if (offer == NULL)
		return;
	g_free(offer->parent);
	g_free(offer->level);
	g_free(offer->machine);
	g_free(offer->n_left);
	g_free(offer->inside);
	g_free(offer->ranges);
	g_free(offer->most_left);
	g_free(offer->machine_place);
	g_free(offer->slot_place);
	g_free(offer->former);
	g_array_unref(offer->capacities);
	g_array_unref(offer->returned);
	g_free(offer);
}

void
offer_return(Offer *offer, guint32 gpu, JobId former)
{
	offer->former[gpu] = former;
	g_array_append_val(offer->returned, gpu);
}

void
offer_empty(Offer *offer)
{
	for (guint i = 0; i < offer->returned->len; i++)
		offer->former[g_array_index(offer->returned, guint32, i)] = JOB_NONE;
	g_array_set_size(offer->returned, 0);
}

guint32
offer_place_of(const Offer *offer, guint32 gpu, PlacementLevel level)
{
	guint32 machine = offer->spec->machine_of[gpu];
	guint32 place = offer->machine_place[machine];

	switch (level) {
	case LEVEL_SLOT:
		return offer->has_slots ? offer->slot_place[gpu] : place;
	case LEVEL_MACHINE:
		return place;
	case LEVEL_RACK:
		return offer->parent[place];
	case LEVEL_CLUSTER:
		return offer->parent[offer->parent[place]];
	}
	g_assert_not_reached();
}

/* A machine with something idle: its GPUs go to their slots, if there are any. */
static void
fill_machine(Offer *offer, const Cluster *cluster, guint32 number)
{
	const Machine *machine = &offer->spec->machines[number];
	guint32 end = machine->first_gpu + machine->n_gpus;

	if (!offer->has_slots) {
		offer_give(offer, offer->machine_place[number], cluster->machines[number].n_free);
		return;
	}
	for (guint32 gpu = cluster_next_free(cluster, machine->first_gpu, end); gpu < end;
	     gpu = cluster_next_free(cluster, gpu + 1, end))
		offer_give(offer, offer->slot_place[gpu], 1);
}

static void
find_most_left(Offer *offer)
{
	for (guint i = 0; i < offer->spec->n_types * N_LEVELS; i++) {
		guint32 most = 0;

		for (guint32 j = offer->ranges[i].first; j < offer->ranges[i].end; j++)
			most = MAX(most, offer->n_left[j]);
		offer->most_left[i] = most;
	}
}

void
offer_fill(Offer *offer, const Cluster *cluster)
{
	memset(offer->n_left, 0, offer->n_places * sizeof(guint32));
	for (guint i = 0; i < offer->spec->n_machines; i++)
		if (cluster->machines[i].n_free > 0)
			fill_machine(offer, cluster, i);
	for (guint i = 0; i < offer->returned->len; i++) {
		guint32 gpu = g_array_index(offer->returned, guint32, i);

		offer_give(offer, offer_place_of(offer, gpu, LEVEL_SLOT), 1);
	}
	offer->n_gpus = cluster->n_free + offer->returned->len;
	g_array_set_size(offer->capacities, 0);
	find_most_left(offer);
}

static guint32
count_sets(const Offer *offer, PlacementLevel level, guint n_gpus)
{
	guint32 n_sets = 0;

	for (guint type = 0; type < offer->spec->n_types; type++) {
		PlaceRange range = offer_range(offer, type, level);

		for (guint32 place = range.first; place < range.end; place++)
			n_sets += offer->n_left[place] / n_gpus;
	}
	return n_sets;
}

const Capacity *
offer_capacity(Offer *offer, guint n_gpus)
{
	Capacity capacity = { .n_gpus = n_gpus };

	for (guint i = 0; i < offer->capacities->len; i++) {
		const Capacity *known = &g_array_index(offer->capacities, Capacity, i);

		if (known->n_gpus == n_gpus)
			return known;
	}
	for (PlacementLevel level = LEVEL_SLOT; level <= LEVEL_CLUSTER; level++)
		capacity.n_sets[level] = count_sets(offer, level, n_gpus);
	g_array_append_val(offer->capacities, capacity);
	return &g_array_index(offer->capacities, Capacity, offer->capacities->len - 1);
}

/* As many GPUs left, also in each place inside; places are nested three deep. */
static gboolean
are_as_full(const Offer *offer, guint32 one, guint32 other)
{
	const PlaceRange *inside = &offer->inside[one], *others = &offer->inside[other];
	guint n = inside->end - inside->first;

	if (offer->n_left[one] != offer->n_left[other] || others->end - others->first != n)
		return FALSE;
	for (guint i = 0; i < n; i++)
		if (!are_as_full(offer, inside->first + i, others->first + i))
			return FALSE;
	return TRUE;
}

gboolean
offer_are_alike(const Offer *offer, guint32 one, guint32 other)
{
	return offer->parent[one] == offer->parent[other] && are_as_full(offer, one, other);
}

guint32
offer_best_fit(const Offer *offer, PlaceRange range, guint n)
{
	guint32 best = PLACE_NONE, least = G_MAXUINT32;

	for (guint32 place = range.first; place < range.end; place++) {
		if (offer->n_left[place] < n || offer->n_left[place] >= least)
			continue;
		if (!offer_has(offer, place, n))
			continue;
		best = place;
		least = offer->n_left[place];
		if (least == n)
			break;
	}
	return best;
}
