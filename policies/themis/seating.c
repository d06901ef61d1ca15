/* SPDX-License-Identifier: MIT */

#include "policies/themis/seating.h"

Seating *
seating_new(Offer *offer, Claims *claims)
{
	Seating *seating = g_new0(Seating, 1);

	seating->offer = offer;
	seating->claims = claims;
	seating->seats = g_array_new(FALSE, TRUE, sizeof(Seat));
	seating->is_taken = g_new0(guint8, offer->spec->n_gpus);
	seating->n_unseated = g_new0(guint32, offer->spec->n_machines);
	return seating;
}

void
seating_free(Seating *seating)
{
	if (seating == NULL)
		return;
	for (guint i = 0; i < seating->seats->len; i++)
		alloc_clear(&seating_seat(seating, i)->gpus);
	g_array_unref(seating->seats);
	g_free(seating->is_taken);
	g_free(seating->n_unseated);
	g_free(seating);
}

static Seat *
add_seat(Seating *seating, guint claim)
{
	Seat *seat;

	if (seating->n_seats == seating->seats->len)
		g_array_set_size(seating->seats, seating->n_seats + 1);
	seat = seating_seat(seating, seating->n_seats++);
	alloc_reset(&seat->gpus);
	seat->claim = claim;
	seat->is_seated = FALSE;
	return seat;
}

static void
open_machines(Seating *seating)
{
	const Cluster *cluster = view_cluster(seating->view);
	const Offer *offer = seating->offer;

	for (guint i = 0; i < offer->spec->n_machines; i++)
		seating->n_unseated[i] = cluster->machines[i].n_free;
	for (guint i = 0; i < offer->returned->len; i++)
		seating->n_unseated[offer->spec
		                        ->machine_of[g_array_index(offer->returned, guint32, i)]]++;
}

static gboolean
is_open(const Seating *seating, guint32 gpu)
{
	return !seating->is_taken[gpu] && (seating->offer->former[gpu] != JOB_NONE ||
	                                   cluster_gpu_is_free(view_cluster(seating->view), gpu));
}

static gboolean
is_inside(const Offer *offer, guint32 gpu, guint32 place)
{
	return offer_place_of(offer, gpu, (PlacementLevel)offer->level[place]) == place;
}

static guint32
n_missing(const Seating *seating, const Seat *seat)
{
	return claims_get(seating->claims, seat->claim)->n_gpus - seat->gpus.n;
}

static void
take_gpu(Seating *seating, Seat *seat, guint32 gpu)
{
	alloc_add(&seat->gpus, gpu);
	seating->is_taken[gpu] = TRUE;
	seating->n_unseated[seating->offer->spec->machine_of[gpu]]--;
}

/* Its own of before, as far as they are on offer: those it runs on, or last ran on (B22). */
static void
take_own(Seating *seating, Seat *seat)
{
	const Claim *claim = claims_get(seating->claims, seat->claim);
	const Alloc *last = view_last_alloc(seating->view, claim->job);

	for (guint i = 0; i < last->n && n_missing(seating, seat) > 0; i++) {
		JobId former = seating->offer->former[last->gpus[i]];

		if ((former == JOB_NONE || former == claim->job) &&
		    is_open(seating, last->gpus[i]) &&
		    is_inside(seating->offer, last->gpus[i], claim->place))
			take_gpu(seating, seat, last->gpus[i]);
	}
}

/* Of the machine, what nobody had first. */
static void
take_in_machine(Seating *seating, Seat *seat, guint32 number, guint32 place)
{
	const Machine *machine = &seating->offer->spec->machines[number];
	guint32 end = machine->first_gpu + machine->n_gpus;

	for (guint round = seating->is_blind ? 1 : 0; round < 2; round++)
		for (guint32 gpu = machine->first_gpu; gpu < end && n_missing(seating, seat) > 0;
		     gpu++)
			if ((round == 1 || seating->offer->former[gpu] == JOB_NONE) &&
			    is_open(seating, gpu) && is_inside(seating->offer, gpu, place))
				take_gpu(seating, seat, gpu);
}

/* The machine inside @place to take from next; G_MAXUINT32 if there is nothing left. */
static guint32
next_machine(const Seating *seating, guint32 place, guint32 n_wanted)
{
	const ClusterSpec *spec = seating->offer->spec;
	guint32 best = G_MAXUINT32, best_left = 0;

	for (guint32 i = 0; i < spec->n_machines; i++) {
		guint32 n = seating->n_unseated[i];
		gboolean is_better;

		if (n == 0 || !is_inside(seating->offer, spec->machines[i].first_gpu, place))
			continue;
		if (seating->is_blind)
			return i;
		if (n >= n_wanted) /* the tightest that will do; else the fullest */
			is_better = best_left < n_wanted || n < best_left;
		else
			is_better = best_left < n_wanted && n > best_left;
		if (best == G_MAXUINT32 || is_better) {
			best = i;
			best_left = n;
		}
	}
	return best;
}

/* Machines on which the job is already come first. */
static void
take_beside(Seating *seating, Seat *seat)
{
	const Claim *claim = claims_get(seating->claims, seat->claim);
	const Alloc *gpus = &claim->own->gpus;
	guint32 last = G_MAXUINT32;

	for (guint i = 0; i < gpus->n && n_missing(seating, seat) > 0; i++) {
		guint32 machine = seating->offer->spec->machine_of[gpus->gpus[i]];

		if (machine != last)
			take_in_machine(seating, seat, machine, claim->place);
		last = machine;
	}
}

static void
take_anywhere(Seating *seating, Seat *seat)
{
	guint32 place = claims_get(seating->claims, seat->claim)->place;

	if (seating->offer->level[place] <= LEVEL_MACHINE) {
		take_in_machine(seating, seat, seating->offer->machine[place], place);
		return;
	}
	while (n_missing(seating, seat) > 0) {
		guint32 machine = next_machine(seating, place, n_missing(seating, seat));

		if (machine == G_MAXUINT32)
			return;
		take_in_machine(seating, seat, machine, place);
	}
}

static void
fill_seat(Seating *seating, Seat *seat)
{
	if (!seating->is_blind)
		take_beside(seating, seat);
	take_anywhere(seating, seat);
}

static gboolean
needs_more_than_gpus(const Job *job)
{
	return job->cpus_milli > 0 || job->mem_mib > 0 || job->workers > 0;
}

static void
clear_seat(Seating *seating, Seat *seat)
{
	for (guint i = 0; i < seat->gpus.n; i++) {
		seating->is_taken[seat->gpus.gpus[i]] = FALSE;
		seating->n_unseated[seating->offer->spec->machine_of[seat->gpus.gpus[i]]]++;
	}
	alloc_reset(&seat->gpus);
}

static void
seat_level(Seating *seating, PlacementLevel level)
{
	for (guint i = 0; i < seating->n_seats; i++) {
		Seat *seat = seating_seat(seating, i);
		const Claim *claim = claims_get(seating->claims, seat->claim);

		if (seating->offer->level[claim->place] == level)
			take_own(seating, seat);
	}
	for (guint i = 0; i < seating->n_seats; i++) {
		Seat *seat = seating_seat(seating, i);
		const Claim *claim = claims_get(seating->claims, seat->claim);

		if (seating->offer->level[claim->place] != level)
			continue;
		if (!needs_more_than_gpus(view_job(seating->view, claim->job)))
			fill_seat(seating, seat);
		seat->is_seated = n_missing(seating, seat) == 0;
		if (!seat->is_seated)
			clear_seat(seating, seat);
	}
}

void
seating_run(Seating *seating, const View *view)
{
	seating->view = view;
	seating->n_seats = 0;
	open_machines(seating);
	for (guint i = 0; i < seating->claims->claims->len; i++)
		if (claims_get(seating->claims, i)->n_gpus > 0)
			add_seat(seating, i);
	for (PlacementLevel level = LEVEL_SLOT; level <= LEVEL_CLUSTER; level++)
		seat_level(seating, level);
	for (guint i = 0; i < seating->n_seats; i++) {
		const Alloc *gpus = &seating_seat(seating, i)->gpus;

		for (guint j = 0; j < gpus->n; j++)
			seating->is_taken[gpus->gpus[j]] = FALSE;
	}
}
