/* SPDX-License-Identifier: MIT */

/*
 * Where? A search looks at one GPU type at a time, that of the most free GPUs first (A44, B08).
 * Machines are visited through the cluster's buckets of equal free GPUs, so that what is not
 * looked at costs nothing; what a job asks for beyond a number (CPUs, memory, workers) lowers the
 * room of a machine that is visited. Whether a gang fits is exact: every kind finds GPUs if and
 * only if the rooms of some part of the cluster that the options allow add up to it.
 */

#include "sim/policy.h"

const char *const placement_kind_names[] = { "consolidate", "first-fit", "best-fit",
	                                     "spread",      "random",    NULL };
const char *const placement_level_names[] = { "slot", "machine", "rack", "cluster", NULL };

/* A row of machines: all, those of a rack, or one. */
typedef struct Row {
	guint32 from, end;
} Row;

typedef struct Search {
	const Cluster *cluster;
	const ClusterSpec *spec;
	const Job *job;
	const Alloc *former; /* the job's own GPUs of before come first (B22) */
	const PlacementOptions *options;
	RngStream stream;
	Job whole;         /* the job as one that takes free GPUs only */
	gboolean is_plain; /* a machine's room is its number of free GPUs */
	guint type;
	guint n; /* GPUs wanted */
	guint32 n_starts;
	Alloc *where;
} Search;

/* rooms */

static guint
search_room(const Search *search, guint32 machine)
{
	if (search->is_plain)
		return search->cluster->machines[machine].n_free;
	return MIN(cluster_machine_room(search->cluster, machine, &search->whole),
	           search->cluster->machines[machine].n_free);
}

static Row
row_all(const Search *search)
{
	return (Row){ 0, search->spec->n_machines };
}

static Row
row_rack(const Search *search, guint32 rack)
{
	const Rack *spec = &search->spec->racks[rack];

	return (Row){ spec->first_machine, spec->first_machine + spec->n_machines };
}

/* Machines that this search has taken whole already. */
static gboolean
is_taken(const Search *search, guint32 machine)
{
	return search->where->n > 0 &&
	       alloc_has(search->where, search->spec->machines[machine].first_gpu);
}

/* The first machine of @row from @from on with exactly @n_free free GPUs and room for @n. */
static guint32
next_with(const Search *search, guint n_free, guint n, guint32 from, Row row)
{
	guint32 machine = cluster_machine_with(search->cluster, search->type, n_free, from);

	while (machine < row.end && (search_room(search, machine) < n || is_taken(search, machine)))
		machine = cluster_machine_with(search->cluster, search->type, n_free, machine + 1);
	return machine < row.end ? machine : G_MAXUINT32;
}

/* The machine of @row with the fewest free GPUs, at most @most, that has room for @n; lowest
 * number on ties. */
static guint32
best_machine(const Search *search, guint n, guint most, Row row)
{
	for (guint n_free = n; n_free <= most; n_free++) {
		guint32 machine = next_with(search, n_free, n, row.from, row);

		if (machine != G_MAXUINT32)
			return machine;
	}
	return G_MAXUINT32;
}

/* The machine of @row with the most free GPUs that has room for @n. */
static guint32
widest_machine(const Search *search, guint n, Row row)
{
	for (guint n_free = search->spec->max_machine_gpus; n_free >= n; n_free--) {
		guint32 machine = next_with(search, n_free, n, row.from, row);

		if (machine != G_MAXUINT32)
			return machine;
	}
	return G_MAXUINT32;
}

/* The machine of @row, by number from @from on, that has room for @n. */
static guint32
next_machine(const Search *search, guint n, guint32 from, Row row)
{
	guint32 first = G_MAXUINT32;

	for (guint n_free = n; n_free <= search->spec->max_machine_gpus; n_free++)
		first = MIN(first, next_with(search, n_free, n, from, row));
	return first;
}

/* Free GPUs of the type in @row, as far as they are room for the job. */
static guint
row_room(const Search *search, Row row)
{
	guint room = 0;

	for (guint32 i = row.from; i < row.end; i++)
		if (search->spec->machines[i].type == search->type)
			room += search_room(search, i);
	return room;
}

/* taking */

/* @n free GPUs from @from to @end: the job's own of before first, then the lowest numbers. */
static void
take_gpus(Search *search, guint32 from, guint32 end, guint n)
{
	const Alloc *former = search->former;
	guint n_own = 0;

	for (guint i = 0; i < former->n && n > 0; i++) {
		guint32 gpu = former->gpus[i];

		if (gpu < from || gpu >= end || !cluster_gpu_is_free(search->cluster, gpu))
			continue;
		alloc_add(search->where, gpu);
		n_own++;
		n--;
	}
	for (guint32 gpu = cluster_next_free(search->cluster, from, end); n > 0;
	     gpu = cluster_next_free(search->cluster, gpu + 1, end)) {
		g_assert(gpu < end);
		if (n_own > 0 && alloc_has(search->where, gpu))
			continue;
		alloc_add(search->where, gpu);
		n--;
	}
}

static void
take_machine(Search *search, guint32 machine, guint n)
{
	const Machine *spec = &search->spec->machines[machine];

	take_gpus(search, spec->first_gpu, spec->first_gpu + spec->n_gpus, n);
}

/* slots */

static guint
slot_free(const Search *search, guint32 from, guint32 end)
{
	guint n = 0;

	for (guint32 gpu = cluster_next_free(search->cluster, from, end); gpu < end;
	     gpu = cluster_next_free(search->cluster, gpu + 1, end))
		n++;
	return n;
}

static guint
slot_own(const Search *search, guint32 from, guint32 end)
{
	guint n = 0;

	for (guint i = 0; i < search->former->n; i++) {
		guint32 gpu = search->former->gpus[i];

		n += gpu >= from && gpu < end && cluster_gpu_is_free(search->cluster, gpu);
	}
	return n;
}

/* The first GPU of the slot of @machine that holds the gang now, G_MAXUINT32 if none does: that of
 * the most own GPUs of before, the lowest number on ties. */
static guint32
find_slot(const Search *search, guint32 machine)
{
	const Machine *spec = &search->spec->machines[machine];
	guint32 end = spec->first_gpu + spec->n_gpus, found = G_MAXUINT32;
	guint most_own = 0;

	if (spec->slot_gpus >= spec->n_gpus)
		return spec->first_gpu;
	for (guint32 from = spec->first_gpu; from < end; from += spec->slot_gpus) {
		guint32 slot_end = MIN(from + spec->slot_gpus, end);
		guint n_own = slot_own(search, from, slot_end);

		if (found != G_MAXUINT32 && n_own <= most_own)
			continue;
		if (slot_free(search, from, slot_end) < search->n)
			continue;
		found = from;
		most_own = n_own;
	}
	return found;
}

static void
take_slot(Search *search, guint32 machine, guint32 from)
{
	const Machine *spec = &search->spec->machines[machine];

	take_gpus(search, from, MIN(from + spec->slot_gpus, spec->first_gpu + spec->n_gpus),
	          search->n);
}

/* The gang in a slot of the machine with exactly @n_free free GPUs. */
static gboolean
place_slot_with(Search *search, guint n_free)
{
	Row row = row_all(search);

	for (guint32 machine = next_with(search, n_free, search->n, 0, row); machine != G_MAXUINT32;
	     machine = next_with(search, n_free, search->n, machine + 1, row)) {
		guint32 slot = find_slot(search, machine);

		if (slot == G_MAXUINT32)
			continue;
		take_slot(search, machine, slot);
		return TRUE;
	}
	return FALSE;
}

static gboolean
place_in_slot(Search *search)
{
	guint largest = search->spec->max_machine_gpus;
	gboolean is_upward = search->options->kind != PLACEMENT_SPREAD;

	for (guint i = search->n; i <= largest; i++)
		if (place_slot_with(search, is_upward ? i : largest + search->n - i))
			return TRUE;
	return FALSE;
}

/* one machine */

static gboolean
place_in_machine(Search *search)
{
	Row row = row_all(search);
	guint32 machine = best_machine(search, search->n, search->spec->max_machine_gpus, row);

	if (machine == G_MAXUINT32)
		return FALSE;
	take_machine(search, machine, search->n);
	return TRUE;
}

/* many machines */

/* What @n GPUs of @row's machines would be, the widest first and the rest by best fit. Returns the
 * number of machines, and takes them if @takes; 0 if they do not suffice. */
static guint
gather(Search *search, guint n, Row row, gboolean takes)
{
	guint n_machines = 0;

	for (guint n_free = search->spec->max_machine_gpus; n_free > 0; n_free--) {
		guint32 machine = next_with(search, n_free, 1, row.from, row);

		for (; machine != G_MAXUINT32;
		     machine = next_with(search, n_free, 1, machine + 1, row)) {
			guint room = MIN(search_room(search, machine), n);
			guint32 best = G_MAXUINT32;

			/* Machines taken before have this many free GPUs or more. */
			if (room == n)
				best = best_machine(search, n, n_free - 1, row);
			if (takes)
				take_machine(search, best != G_MAXUINT32 ? best : machine, room);
			n_machines++;
			n -= room;
			if (n == 0)
				return n_machines;
		}
	}
	return 0;
}

/* Whole free machines of @row, while they are no more than @n GPUs; returns what is left. */
static guint
take_whole_machines(Search *search, Row row, guint n)
{
	for (guint n_free = MIN(n, search->spec->max_machine_gpus); n_free > 0; n_free--) {
		guint32 machine = next_with(search, n_free, n_free, row.from, row);

		while (n >= n_free && machine != G_MAXUINT32) {
			if (search->spec->machines[machine].n_gpus == n_free) {
				take_machine(search, machine, n_free);
				n -= n_free;
			}
			machine = next_with(search, n_free, n_free, machine + 1, row);
		}
	}
	return n;
}

/* Whole free machines of @row, then what has most free GPUs, the remainder by best fit (C02). */
static gboolean
consolidate(Search *search, Row row)
{
	guint n = take_whole_machines(search, row, search->n);

	return n == 0 || gather(search, n, row, TRUE) > 0;
}

/* Machines of @row by number, each giving what it has. */
static gboolean
fill_by_number(Search *search, Row row)
{
	guint n = search->n;

	for (guint32 machine = next_machine(search, 1, row.from, row);
	     n > 0 && machine != G_MAXUINT32; machine = next_machine(search, 1, machine + 1, row)) {
		guint room = MIN(search_room(search, machine), n);

		take_machine(search, machine, room);
		n -= room;
	}
	return n == 0;
}

/* Machines of @row by free GPUs, the fewest first. */
static gboolean
fill_leftovers(Search *search, Row row)
{
	guint n = search->n;

	for (guint n_free = 1; n > 0 && n_free <= search->spec->max_machine_gpus; n_free++) {
		guint32 machine = next_with(search, n_free, 1, row.from, row);

		while (n > 0 && machine != G_MAXUINT32) {
			guint room = MIN(search_room(search, machine), n);

			take_machine(search, machine, room);
			n -= room;
			machine = next_with(search, n_free, 1, machine + 1, row);
		}
	}
	return n == 0;
}

/* GPUs that move together: one, or those of a worker. */
static guint
unit_gpus(const Search *search)
{
	return search->job->workers > 0 ? search->job->gpus_per_worker : 1;
}

/* Taking from the machine with most free GPUs, a GPU at a time, lowers a water line: each machine
 * gives what it has above the line, and the first few by number one unit more. Finds that line. */
static gboolean
find_water_line(const Search *search, Row row, guint *ret_line, guint *ret_n_more)
{
	guint unit = unit_gpus(search), n = search->n;

	for (guint line = search->spec->max_machine_gpus / unit; line > 0; line--) {
		guint n_above = 0;

		for (guint32 machine = next_machine(search, line * unit, row.from, row);
		     machine != G_MAXUINT32 && n_above * unit < n;
		     machine = next_machine(search, line * unit, machine + 1, row))
			n_above++;
		if (n_above * unit >= n) {
			*ret_line = line;
			*ret_n_more = n / unit;
			return TRUE;
		}
		n -= n_above * unit;
	}
	return FALSE;
}

static gboolean
fill_spread(Search *search, Row row)
{
	guint unit = unit_gpus(search), line, n_more;

	if (!find_water_line(search, row, &line, &n_more))
		return FALSE;
	for (guint32 machine = next_machine(search, line * unit, row.from, row);
	     machine != G_MAXUINT32;
	     machine = next_machine(search, line * unit, machine + 1, row)) {
		guint n_units = search_room(search, machine) / unit - line;

		if (n_more > 0) {
			n_units++;
			n_more--;
		}
		if (n_units > 0)
			take_machine(search, machine, n_units * unit);
	}
	return TRUE;
}

/* random */

/* The @draw-th number below @n of this job's start. */
static guint32
draw_below(const Search *search, guint draw, guint32 n)
{
	guint64 entity = (guint64)search->n_starts << 32 | search->job->id;

	return (guint32)rng_below(search->stream, entity, draw, n);
}

/* Any free GPUs of @row, all sets alike: Floyd's sampling of places among them. */
static gboolean
fill_random_gpus(Search *search, Row row)
{
	guint n_free = row_room(search, row), place = 0;
	Alloc places = { 0 };

	if (n_free < search->n)
		return FALSE;
	for (guint i = n_free - search->n; i < n_free; i++) {
		guint32 drawn = draw_below(search, i, i + 1);

		alloc_add(&places, alloc_has(&places, drawn) ? i : drawn);
	}
	for (guint32 machine = next_machine(search, 1, row.from, row); machine != G_MAXUINT32;
	     machine = next_machine(search, 1, machine + 1, row)) {
		const Machine *spec = &search->spec->machines[machine];
		guint32 end = spec->first_gpu + spec->n_gpus;

		for (guint32 gpu = cluster_next_free(search->cluster, spec->first_gpu, end);
		     gpu < end; gpu = cluster_next_free(search->cluster, gpu + 1, end))
			if (alloc_has(&places, place++))
				alloc_add(search->where, gpu);
	}
	alloc_clear(&places);
	return TRUE;
}

/* Where rooms are not just free GPUs: machines by number from a drawn one on, and around. */
static gboolean
fill_random_machines(Search *search, Row row)
{
	guint32 first = row.from + draw_below(search, 0, row.end - row.from);
	guint n = search->n;

	for (guint32 i = 0; n > 0 && i < row.end - row.from; i++) {
		guint32 machine = first + i < row.end ? first + i : first + i - row.end + row.from;
		guint room = 0;

		if (search->spec->machines[machine].type == search->type)
			room = MIN(search_room(search, machine), n);
		if (room > 0)
			take_machine(search, machine, room);
		n -= room;
	}
	return n == 0;
}

/* parts of the cluster */

/* The gang in the machines of @row, however many. */
static gboolean
fill_row(Search *search, Row row)
{
	guint32 machine;

	switch ((PlacementKind)search->options->kind) {
	case PLACEMENT_CONSOLIDATE:
		return consolidate(search, row);
	case PLACEMENT_BEST_FIT:
		return gather(search, search->n, row, TRUE) > 0;
	case PLACEMENT_FIRST_FIT:
		machine = next_machine(search, search->n, row.from, row);
		if (machine == G_MAXUINT32)
			return fill_by_number(search, row);
		take_machine(search, machine, search->n);
		return TRUE;
	case PLACEMENT_SPREAD:
		return fill_spread(search, row);
	case PLACEMENT_RANDOM:
		return search->is_plain ? fill_random_gpus(search, row)
		                        : fill_random_machines(search, row);
	case PLACEMENT_LEFTOVERS:
		return fill_leftovers(search, row);
	}
	g_assert_not_reached();
}

/* A machine for the whole gang. */
static gboolean
place_by_kind_in_machine(Search *search)
{
	Row row = row_all(search);
	guint32 machine = G_MAXUINT32;
	guint n_that_do = 0;

	switch ((PlacementKind)search->options->kind) {
	case PLACEMENT_CONSOLIDATE:
	case PLACEMENT_BEST_FIT:
	case PLACEMENT_LEFTOVERS:
		return place_in_machine(search);
	case PLACEMENT_FIRST_FIT:
		machine = next_machine(search, search->n, 0, row);
		break;
	case PLACEMENT_SPREAD:
		machine = widest_machine(search, search->n, row);
		break;
	case PLACEMENT_RANDOM:
		/* Each that does takes the place of those before with the odds it deserves. */
		for (guint32 i = next_machine(search, search->n, 0, row); i != G_MAXUINT32;
		     i = next_machine(search, search->n, i + 1, row), n_that_do++)
			if (draw_below(search, n_that_do, n_that_do + 1) == 0)
				machine = i;
		break;
	}
	if (machine != G_MAXUINT32)
		take_machine(search, machine, search->n);
	return machine != G_MAXUINT32;
}

/* How many machines of @row consolidation takes. Where all are of one size, those that are wholly
 * free are those with most free GPUs. */
static guint
count_machines(Search *search, Row row)
{
	const ClusterSpec *spec = search->spec;
	guint n_machines = 0;

	if (spec->n_gpus == spec->n_machines * spec->max_machine_gpus)
		return gather(search, search->n, row, FALSE);
	consolidate(search, row);
	for (guint i = 0; i < search->where->n; i++)
		n_machines += i == 0 || spec->machine_of[search->where->gpus[i]] !=
		                            spec->machine_of[search->where->gpus[i - 1]];
	alloc_reset(search->where);
	return n_machines;
}

/* How much worse a rack is than another for the gang: the smaller, the better. */
static guint64
rack_cost(Search *search, guint32 rack, guint n_that_did)
{
	guint32 n_free = search->cluster->free_by_rack[rack];

	switch ((PlacementKind)search->options->kind) {
	case PLACEMENT_CONSOLIDATE: /* fewest machines, then fewest free GPUs */
		return (guint64)count_machines(search, row_rack(search, rack)) << 32 | n_free;
	case PLACEMENT_BEST_FIT:
	case PLACEMENT_LEFTOVERS:
		return n_free;
	case PLACEMENT_FIRST_FIT:
		return 0;
	case PLACEMENT_SPREAD:
		return G_MAXUINT32 - n_free;
	case PLACEMENT_RANDOM:
		return draw_below(search, n_that_did, n_that_did + 1) == 0 ? 0 : G_MAXUINT64;
	}
	g_assert_not_reached();
}

/* Whether every machine is a rack of its own (A85): the racks in the order of their free GPUs are
 * the machines in the order of theirs. */
static gboolean
is_rackless(const ClusterSpec *spec)
{
	return spec->n_racks == spec->n_machines;
}

/* A rack for the whole gang. */
static gboolean
place_in_rack(Search *search)
{
	guint32 found = G_MAXUINT32;
	guint64 least = G_MAXUINT64;
	guint n_that_do = 0;

	if (is_rackless(search->spec))
		return place_by_kind_in_machine(search);
	for (guint32 i = 0; i < search->spec->n_racks; i++) {
		guint64 cost;

		if (search->cluster->free_by_rack[i] < search->n ||
		    row_room(search, row_rack(search, i)) < search->n)
			continue;
		cost = rack_cost(search, i, n_that_do++);
		if (cost < least || (cost == 0 && search->options->kind == PLACEMENT_RANDOM)) {
			least = cost;
			found = i;
		}
	}
	return found != G_MAXUINT32 && fill_row(search, row_rack(search, found));
}

/* consolidate: racks with the most free GPUs give their whole free machines (C02) */

/* The rack behind @rack in the order of most free GPUs, lowest number on ties; G_MAXUINT32 begins
 * and ends it. */
static guint32
next_rack(const Search *search, guint32 rack)
{
	const guint32 *n_free = search->cluster->free_by_rack;
	guint32 found = G_MAXUINT32;

	for (guint32 i = 0; i < search->spec->n_racks; i++) {
		gboolean is_behind = rack == G_MAXUINT32 || n_free[i] < n_free[rack] ||
		                     (i > rack && n_free[i] == n_free[rack]);

		if (is_behind && (found == G_MAXUINT32 || n_free[i] > n_free[found]))
			found = i;
	}
	return found;
}

static gboolean
place_over_racks(Search *search)
{
	guint n = search->n;

	if (search->cluster->free_by_type[search->type] < n)
		return FALSE;
	if (is_rackless(search->spec))
		return consolidate(search, row_all(search));
	for (guint32 rack = next_rack(search, G_MAXUINT32);
	     n > 0 && rack != G_MAXUINT32 && search->cluster->free_by_rack[rack] > 0;
	     rack = next_rack(search, rack))
		n = take_whole_machines(search, row_rack(search, rack), n);
	return n == 0 || gather(search, n, row_all(search), TRUE) > 0;
}

/* the whole search */

/* As few machines as the gang would have in the empty cluster (C03). */
static gboolean
is_compact_enough(const Search *search)
{
	const ClusterSpec *spec = search->spec;
	guint n_machines = 1, n_fewest = 0, n = search->n;

	if (!search->options->is_compact)
		return TRUE;
	for (guint i = 1; i < search->where->n; i++)
		n_machines += spec->machine_of[search->where->gpus[i]] !=
		              spec->machine_of[search->where->gpus[i - 1]];
	for (guint size = spec->max_machine_gpus; size > 0 && n > 0; size--)
		for (guint i = 0; i < spec->n_machines && n > 0; i++)
			if (spec->machines[i].n_gpus == size &&
			    spec->machines[i].type == search->type) {
				n_fewest++;
				n -= MIN(n, size);
			}
	return n_machines <= n_fewest;
}

static gboolean
place_at_level(Search *search, PlacementLevel level)
{
	gboolean is_consolidated = search->options->kind == PLACEMENT_CONSOLIDATE;

	switch (level) {
	case LEVEL_SLOT:
		return place_in_slot(search);
	case LEVEL_MACHINE:
		return place_by_kind_in_machine(search);
	case LEVEL_RACK:
		return place_in_rack(search);
	case LEVEL_CLUSTER:
		return is_consolidated ? place_over_racks(search)
		                       : fill_row(search, row_all(search));
	}
	g_assert_not_reached();
}

/* Consolidation goes up from the smallest level, the other kinds know one level only. */
static gboolean
place_on_type(Search *search)
{
	PlacementLevel widest = (PlacementLevel)search->options->max_level;
	PlacementLevel level = LEVEL_SLOT;

	if (search->cluster->free_by_type[search->type] < search->n)
		return FALSE;
	if (search->options->kind != PLACEMENT_CONSOLIDATE)
		level = widest;
	for (; level <= widest; level++) {
		alloc_reset(search->where);
		if (place_at_level(search, level) && is_compact_enough(search))
			return TRUE;
	}
	return FALSE;
}

/* The accepted type not in @tried with the most free GPUs (A44); G_MAXUINT if none is left. */
static guint
next_type(const Cluster *cluster, const Job *job, guint64 tried)
{
	guint found = G_MAXUINT;

	for (guint type = 0; type < cluster->spec->n_types; type++)
		if (((job->gpu_types & ~tried) >> type & 1) &&
		    (found == G_MAXUINT ||
		     cluster->free_by_type[type] > cluster->free_by_type[found]))
			found = type;
	return found;
}

static gboolean
is_plain(const Job *job)
{
	return job->share_milli == GPU_MILLI && job->gpu_mem_mib == 0 && job->cpus_milli == 0 &&
	       job->mem_mib == 0 && job->workers == 0;
}

static gboolean
place_gang(const Cluster *cluster, const View *view, const Job *job, guint n_gpus,
           const PlacementOptions *options, Alloc *where)
{
	Search search = {
		.cluster = cluster,
		.spec = cluster->spec,
		.job = job,
		.former = view_last_alloc(view, job->id),
		.options = options,
		.whole = *job,
		.is_plain = is_plain(job),
		.n = n_gpus,
		.where = where,
	};
	guint64 tried = 0;

	search.whole.share_milli = GPU_MILLI;
	if (options->kind == PLACEMENT_RANDOM) {
		search.stream = view_stream(view, "placement");
		search.n_starts = view_n_starts(view, job->id);
	}
	for (guint type = next_type(cluster, job, tried); type != G_MAXUINT;
	     type = next_type(cluster, job, tried)) {
		search.type = type;
		if (place_on_type(&search))
			return TRUE;
		tried |= G_GUINT64_CONSTANT(1) << type;
	}
	return FALSE;
}

/* shares */

/* The partly used GPU of an accepted type with the least room that suffices, the lowest number on
 * ties; a part of a GPU is not worth a free one while another's rest will do. */
static gboolean
place_share(const Cluster *cluster, const Job *job, Alloc *where)
{
	guint32 most_held_milli = 0;
	guint32 found = G_MAXUINT32;

	for (guint32 gpu = 0; gpu < cluster->spec->n_gpus; gpu++) {
		guint32 held_milli = cluster->gpus[gpu].held_milli;
		guint32 machine = cluster->spec->machine_of[gpu];

		if (held_milli <= most_held_milli || held_milli + job->share_milli > GPU_MILLI ||
		    !(job->gpu_types >> cluster->spec->machines[machine].type & 1))
			continue;
		alloc_reset(where);
		alloc_add(where, gpu);
		if (!cluster_has_room(cluster, job, where, CROWD_SHARES))
			continue;
		most_held_milli = held_milli;
		found = gpu;
	}
	alloc_reset(where);
	if (found != G_MAXUINT32)
		alloc_add(where, found);
	return found != G_MAXUINT32;
}

gboolean
placement_find_on(const Cluster *cluster, const View *view, const Job *job, guint n_gpus,
                  const PlacementOptions *options, Alloc *ret_where)
{
	if (job->share_milli < GPU_MILLI && place_share(cluster, job, ret_where))
		return TRUE;
	if (cluster->n_free < n_gpus || n_gpus == 0)
		return FALSE;
	return place_gang(cluster, view, job, n_gpus, options, ret_where);
}

gboolean
placement_find(const View *view, const Job *job, guint n_gpus, const PlacementOptions *options,
               Alloc *ret_where)
{
	return placement_find_on(view_cluster(view), view, job, n_gpus, options, ret_where);
}

gboolean
placement_type_will_do(const View *view, const Job *job, guint type)
{
	const ClusterSpec *spec = view_cluster_spec(view);
	guint32 mem_mib = spec->types[type].mem_mib;

	if (!(job->gpu_types >> type & 1) || (mem_mib > 0 && job->gpu_mem_mib > mem_mib))
		return FALSE;
	return job->model == MODEL_NONE || speed_type_ppb(view_models(view), spec, job, type) > 0;
}

/* what a count decides */

gboolean
placement_is_by_count(const ClusterSpec *spec, const PlacementOptions *options)
{
	if (spec->n_types > 1)
		return FALSE;
	if (options->is_compact && spec->n_machines > 1)
		return FALSE;
	switch ((PlacementLevel)options->max_level) {
	case LEVEL_SLOT:
		return spec->n_machines == 1 &&
		       spec->machines[0].slot_gpus >= spec->machines[0].n_gpus;
	case LEVEL_MACHINE:
		return spec->n_machines == 1;
	case LEVEL_RACK:
		return spec->n_racks == 1;
	case LEVEL_CLUSTER:
		return TRUE;
	}
	g_assert_not_reached();
}

gboolean
placement_job_is_by_count(const ClusterSpec *spec, const Job *job)
{
	guint64 all_types =
	    spec->n_types < 64 ? (G_GUINT64_CONSTANT(1) << spec->n_types) - 1 : G_MAXUINT64;

	if ((job->gpu_types & all_types) != all_types)
		return FALSE;
	return is_plain(job) || (job->share_milli == GPU_MILLI && job->cpus_milli == 0 &&
	                         job->mem_mib == 0 && (job->workers == 0 || spec->n_machines == 1));
}
