/* SPDX-License-Identifier: MIT */

/*
 * The walk of A55 and C01 where it matters which GPUs are free: several GPU types, a max_level,
 * jobs that share GPUs or ask for memory, CPUs or whole workers.
 *
 * Two clusters are played with. In `chosen` are the jobs chosen so far, and nobody else: whether a
 * job fits at its place is asked there. In `held` are, besides, the running jobs that have not been
 * reached: whether a job fits without anybody losing his GPUs is asked there. Where it fits only
 * in the former, victims are taken out of the latter, in the part of the cluster where they are
 * fewest. A victim reached later is placed anew if it fits. Between decisions `held` is as the real
 * cluster, and in `chosen` are the pinned jobs.
 *
 * Every walk costs the number of running jobs that are not pinned.
 */

#include "policies/walk/state.h"

/* A job of this walk. */
typedef struct Actor {
	WalkPlace place;
	const Alloc *alloc;          /* held when the walk begins; NULL if nothing is */
	Alloc where;                 /* given by this walk; the memory is kept */
	gboolean is_held, is_chosen; /* on @alloc in these clusters */
	gboolean is_placed;          /* on @where in both */
	gboolean is_lost;            /* a runner that gave its GPUs to others */
} Actor;

/* What a runner has in some part of the cluster. */
typedef struct Stake {
	guint32 part, gpu; /* the part, and one of its GPUs */
	guint runner;      /* index: the larger, the later in the order */
	guint milli;
} Stake;

typedef struct WalkPlaces {
	Cluster *chosen, *held;
	Alloc *allocs; /* by JobId: in held between decisions; empty for who holds nothing */
	guint n_jobs;
	GArray *runners;        /* of Actor, ascending */
	GArray *others;         /* of Actor: jobs being suspended, and waiting ones given a place */
	GArray *stakes;         /* of Stake */
	GArray *victims, *best; /* of guint: indices of runners */
	GArray *sizes, *scratch; /* of guint */
	Alloc where;
	guint n_runners_used, n_others_used; /* of the arrays, whose Allocs are kept */
} WalkPlaces;

typedef struct Decision {
	Walk *walk;
	const View *view;
	WalkPlaces *places;
	guint reached;         /* runners before this index have been reached */
	guint n_lost;          /* runners lost and not reached yet */
	gboolean has_released; /* jobs being suspended have been taken out of held */
} Decision;

/* life */

static WalkPlaces *
places_new(const ClusterSpec *spec, guint n_jobs)
{
	WalkPlaces *places = g_new0(WalkPlaces, 1);

	places->allocs = g_new0(Alloc, n_jobs);
	places->n_jobs = n_jobs;
	places->chosen = cluster_new(spec);
	places->held = cluster_new(spec);
	places->runners = g_array_new(FALSE, TRUE, sizeof(Actor));
	places->others = g_array_new(FALSE, TRUE, sizeof(Actor));
	places->stakes = g_array_new(FALSE, FALSE, sizeof(Stake));
	places->victims = g_array_new(FALSE, FALSE, sizeof(guint));
	places->best = g_array_new(FALSE, FALSE, sizeof(guint));
	places->sizes = g_array_new(FALSE, FALSE, sizeof(guint));
	places->scratch = g_array_new(FALSE, FALSE, sizeof(guint));
	return places;
}

static void
actors_free(GArray *actors)
{
	for (guint i = 0; i < actors->len; i++)
		alloc_clear(&g_array_index(actors, Actor, i).where);
	g_array_unref(actors);
}

void
walk_places_free(WalkPlaces *places)
{
	if (places == NULL)
		return;
	for (guint i = 0; i < places->n_jobs; i++)
		alloc_clear(&places->allocs[i]);
	g_free(places->allocs);
	cluster_free(places->chosen);
	cluster_free(places->held);
	actors_free(places->runners);
	actors_free(places->others);
	g_array_unref(places->stakes);
	g_array_unref(places->victims);
	g_array_unref(places->best);
	g_array_unref(places->sizes);
	g_array_unref(places->scratch);
	alloc_clear(&places->where);
	g_free(places);
}

/* between decisions */

void
walk_places_take(Walk *walk, const Job *job, const Alloc *alloc)
{
	WalkPlaces *places = walk->places;

	if (places == NULL)
		return;
	alloc_copy(&places->allocs[job->id], alloc);
	cluster_take(places->held, job, &places->allocs[job->id]);
}

void
walk_places_give(Walk *walk, const Job *job)
{
	WalkPlaces *places = walk->places;

	if (places == NULL)
		return;
	cluster_give(places->held, job, &places->allocs[job->id]);
	alloc_clear(&places->allocs[job->id]);
}

void
walk_places_pin(Walk *walk, const Job *job)
{
	if (walk->places != NULL)
		cluster_take(walk->places->chosen, job, &walk->places->allocs[job->id]);
}

void
walk_places_unpin(Walk *walk, const Job *job)
{
	if (walk->places != NULL)
		cluster_give(walk->places->chosen, job, &walk->places->allocs[job->id]);
}

static void
take_all(Walk *walk, const View *view, const JobId *jobs, guint n)
{
	for (guint i = 0; i < n; i++)
		walk_places_take(walk, view_job(view, jobs[i]), view_alloc(view, jobs[i]));
}

/* At the first decision that looks at places. */
static void
places_begin(Walk *walk, const View *view)
{
	const JobId *pinned = (const JobId *)(gconstpointer)walk->pinned->data;

	walk->places = places_new(walk->spec, view_n_jobs(view));
	for (guint i = 0; i < walk->lanes->len; i++) {
		const WalkLane *lane = &g_array_index(walk->lanes, WalkLane, i);

		take_all(walk, view, lane->jobs, lane->n);
	}
	take_all(walk, view, pinned, walk->pinned->len);
	for (guint i = 0; i < walk->pinned->len; i++)
		walk_places_pin(walk, view_job(view, pinned[i]));
	for (guint i = 0; i < walk->releases->len; i++)
		take_all(walk, view, &g_array_index(walk->releases, WalkRelease, i).job, 1);
}

/* actors */

/* A fresh one of @actors, the @n_used-th; the memory of its Alloc is that of an earlier walk. */
static Actor *
actor_new(GArray *actors, guint *n_used, WalkPlace place, const Alloc *alloc)
{
	Alloc where;
	Actor *actor;

	if (*n_used == actors->len)
		g_array_set_size(actors, actors->len + 1);
	actor = &g_array_index(actors, Actor, (*n_used)++);
	where = actor->where;
	alloc_reset(&where);
	*actor = (Actor){ .place = place, .alloc = alloc, .where = where };
	return actor;
}

static Actor *
runner_get(const WalkPlaces *places, guint index)
{
	return &g_array_index(places->runners, Actor, index);
}

static Actor *
other_get(const WalkPlaces *places, guint index)
{
	return &g_array_index(places->others, Actor, index);
}

static const Job *
actor_job(const Decision *decision, const Actor *actor)
{
	return view_job(decision->view, actor->place.job);
}

static void
actor_hold(const Decision *decision, Actor *actor)
{
	if (!actor->is_held && actor->alloc != NULL)
		cluster_take(decision->places->held, actor_job(decision, actor), actor->alloc);
	actor->is_held = TRUE;
}

static void
actor_unhold(const Decision *decision, Actor *actor)
{
	if (actor->is_held)
		cluster_give(decision->places->held, actor_job(decision, actor), actor->alloc);
	actor->is_held = FALSE;
}

static void
actor_choose(const Decision *decision, Actor *actor)
{
	cluster_take(decision->places->chosen, actor_job(decision, actor), actor->alloc);
	actor->is_chosen = TRUE;
}

/* Both clusters as they were before the walk. */
static void
actor_leave(const Decision *decision, Actor *actor)
{
	WalkPlaces *places = decision->places;
	const Job *job = actor_job(decision, actor);

	if (actor->is_placed) {
		cluster_give(places->held, job, &actor->where);
		cluster_give(places->chosen, job, &actor->where);
	}
	if (actor->is_chosen)
		cluster_give(places->chosen, job, actor->alloc);
	actor->is_chosen = FALSE;
}

/* the stage */

static gint
compare_actors(gconstpointer one, gconstpointer other)
{
	const Actor *a = one, *b = other;

	return walk_place_before(a->place, b->place) ? -1 : 1;
}

static void
enter_runners(const Decision *decision)
{
	const Walk *walk = decision->walk;
	WalkPlaces *places = decision->places;

	places->n_runners_used = 0;
	for (guint i = 0; i < walk->lanes->len; i++) {
		const WalkLane *lane = &g_array_index(walk->lanes, WalkLane, i);

		for (guint j = 0; j < lane->n; j++) {
			JobId job = lane->jobs[j];
			WalkPlace place = { walk_key(walk, decision->view, job), job };

			actor_new(places->runners, &places->n_runners_used, place,
			          &places->allocs[job])
			    ->is_held = TRUE;
		}
	}
	if (places->n_runners_used > 1 &&
	    (walk->lanes->len > 1 || walk->rules->running_order == WALK_ORDER_CHANGES))
		qsort(places->runners->data, places->n_runners_used, sizeof(Actor), compare_actors);
}

static void
enter_others(const Decision *decision)
{
	const GArray *releases = decision->walk->releases;
	WalkPlaces *places = decision->places;

	places->n_others_used = 0;
	for (guint i = 0; i < releases->len; i++) {
		JobId job = g_array_index(releases, WalkRelease, i).job;

		actor_new(places->others, &places->n_others_used, (WalkPlace){ 0, job },
		          &places->allocs[job])
		    ->is_held = TRUE;
	}
}

/* First all that was given goes back, then what was taken away returns. */
static void
leave_all(const Decision *decision)
{
	WalkPlaces *places = decision->places;

	for (guint i = 0; i < places->n_runners_used; i++)
		actor_leave(decision, runner_get(places, i));
	for (guint i = 0; i < places->n_others_used; i++)
		actor_leave(decision, other_get(places, i));
	for (guint i = 0; i < places->n_runners_used; i++)
		actor_hold(decision, runner_get(places, i));
	for (guint i = 0; i < places->n_others_used; i++)
		actor_hold(decision, other_get(places, i));
}

/* victims */

/* The part of the cluster that a gang of @level has to be in, by one of its GPUs. */
static guint32
part_of(const ClusterSpec *spec, const Job *job, PlacementLevel level, guint32 gpu)
{
	guint32 machine = spec->machine_of[gpu];
	const Machine *of = &spec->machines[machine];

	if (job->share_milli < GPU_MILLI)
		return gpu;
	switch (level) {
	case LEVEL_SLOT:
		return of->first_gpu + cluster_spec_slot(of, gpu) * of->slot_gpus;
	case LEVEL_MACHINE:
		return machine;
	case LEVEL_RACK:
		return of->rack * spec->n_types + of->type;
	case LEVEL_CLUSTER:
		return of->type;
	}
	g_assert_not_reached();
}

/* Free GPUs of @type in machines @from to @end. */
static guint64
count_free(const Cluster *cluster, guint32 type, guint32 from, guint32 end)
{
	guint64 n_free = 0;

	for (guint32 i = from; i < end; i++)
		if (cluster->spec->machines[i].type == type)
			n_free += cluster->machines[i].n_free;
	return n_free;
}

static guint64
slot_free(const Cluster *cluster, guint32 slot, const Machine *machine)
{
	guint32 end = MIN(slot + machine->slot_gpus, machine->first_gpu + machine->n_gpus);
	guint64 n_free = 0;

	for (guint32 gpu = slot; gpu < end; gpu++)
		n_free += cluster_gpu_is_free(cluster, gpu);
	return n_free;
}

/* Thousandths of GPUs that are free in @held in the part that @stake is in. */
static guint64
part_free_milli(const Cluster *held, const Job *job, PlacementLevel level, const Stake *stake)
{
	const ClusterSpec *spec = held->spec;
	guint32 machine = spec->machine_of[stake->gpu];
	const Machine *of = &spec->machines[machine];
	const Rack *rack = &spec->racks[of->rack];

	if (job->share_milli < GPU_MILLI)
		return GPU_MILLI - MIN(held->gpus[stake->gpu].held_milli, GPU_MILLI);
	switch (level) {
	case LEVEL_SLOT:
		return GPU_MILLI * slot_free(held, stake->part, of);
	case LEVEL_MACHINE:
		return GPU_MILLI * (guint64)held->machines[machine].n_free;
	case LEVEL_RACK:
		return GPU_MILLI * count_free(held, of->type, rack->first_machine,
		                              rack->first_machine + rack->n_machines);
	case LEVEL_CLUSTER:
		return GPU_MILLI * (guint64)held->free_by_type[of->type];
	}
	g_assert_not_reached();
}

/* By part, and in it the last in the order first. */
static gint
compare_stakes(gconstpointer one, gconstpointer other)
{
	const Stake *a = one, *b = other;

	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	return a->runner > b->runner ? -1 : a->runner < b->runner;
}

/* What runners that have not been reached hold where @job may run, one stake a runner and part. */
static void
gather_stakes(const Decision *decision, const Job *job, PlacementLevel level)
{
	const WalkPlaces *places = decision->places;
	const ClusterSpec *spec = decision->walk->spec;
	Stake *stakes;
	guint n = 0;

	g_array_set_size(places->stakes, 0);
	for (guint i = decision->reached; i < places->n_runners_used; i++) {
		const Actor *runner = runner_get(places, i);
		guint milli = actor_job(decision, runner)->share_milli;

		for (guint j = 0; !runner->is_lost && j < runner->alloc->n; j++) {
			guint32 gpu = runner->alloc->gpus[j];
			guint32 type = spec->machines[spec->machine_of[gpu]].type;
			Stake stake = { part_of(spec, job, level, gpu), gpu, i, milli };

			if (job->gpu_types >> type & 1)
				g_array_append_val(places->stakes, stake);
		}
	}
	stakes = (Stake *)(gpointer)places->stakes->data;
	if (places->stakes->len > 0)
		qsort(stakes, places->stakes->len, sizeof(Stake), compare_stakes);
	for (guint i = 0; i < places->stakes->len; i++) {
		if (n > 0 && compare_stakes(&stakes[n - 1], &stakes[i]) == 0)
			stakes[n - 1].milli += stakes[i].milli;
		else
			stakes[n++] = stakes[i];
	}
	g_array_set_size(places->stakes, n);
}

/* Whether the fewer jobs lose, and of as many the later ones. */
static gboolean
is_better(const GArray *victims, const GArray *best)
{
	if (best->len == 0 || victims->len != best->len)
		return best->len == 0 || victims->len < best->len;
	for (guint i = 0; i < victims->len; i++) {
		guint one = g_array_index(victims, guint, i);
		guint other = g_array_index(best, guint, i);

		if (one != other)
			return one > other;
	}
	return FALSE;
}

/* The victims of the part whose @n stakes begin at @stakes become the best ones if they are. */
static void
try_part(const Decision *decision, const Job *job, PlacementLevel level, const Stake *stakes,
         guint n)
{
	WalkPlaces *places = decision->places;
	GArray *victims = places->victims, *best = places->best;
	guint64 want_milli = job_held_milli(job, job->num_gpus);
	guint64 free_milli = part_free_milli(places->held, job, level, stakes);

	g_array_set_size(places->sizes, 0);
	for (guint i = 0; i < n; i++)
		g_array_append_val(places->sizes, stakes[i].milli);
	/* Where enough is free and the gang still does not fit, somebody has to go all the same. */
	if (!walk_pick_victims(places->scratch, (const guint *)(gconstpointer)places->sizes->data,
	                       n, want_milli > free_milli ? want_milli - free_milli : 1,
	                       best->len > 0 ? best->len : G_MAXUINT - 1, victims))
		return;
	for (guint i = 0; i < victims->len; i++) {
		guint *victim = &g_array_index(victims, guint, i);

		*victim = stakes[*victim].runner;
	}
	if (!is_better(victims, best))
		return;
	places->best = victims;
	places->victims = best;
}

/* C01: the fewest jobs that lose their GPUs to @job, of as many the latest in the order. */
static void
find_victims(const Decision *decision, const Job *job, PlacementLevel level)
{
	const Stake *stakes;
	guint n_stakes, n;

	g_array_set_size(decision->places->best, 0);
	gather_stakes(decision, job, level);
	stakes = (const Stake *)(gconstpointer)decision->places->stakes->data;
	n_stakes = decision->places->stakes->len;
	for (guint i = 0; i < n_stakes; i += n) {
		for (n = 1; i + n < n_stakes && stakes[i + n].part == stakes[i].part;)
			n++;
		try_part(decision, job, level, stakes + i, n);
	}
}

static void
lose(Decision *decision, guint index)
{
	Actor *runner = runner_get(decision->places, index);

	if (runner->is_lost)
		return;
	actor_unhold(decision, runner);
	runner->is_lost = TRUE;
	decision->n_lost++;
}

/* choosing */

static gboolean
find_on(const Decision *decision, const Cluster *cluster, const Job *job)
{
	return placement_find_on(cluster, decision->view, job, job->num_gpus,
	                         walk_placement(decision->walk, decision->view, job),
	                         &decision->places->where);
}

/* GPUs for a job that fits, but for those who hold them: counted in milli, some more may have to
 * go than was thought; with all of them gone it fits. */
static void
find_with_victims(Decision *decision, const Job *job)
{
	WalkPlaces *places = decision->places;
	const PlacementOptions *options = walk_placement(decision->walk, decision->view, job);

	find_victims(decision, job, (PlacementLevel)options->max_level);
	for (guint i = 0; i < places->best->len; i++)
		lose(decision, g_array_index(places->best, guint, i));
	for (guint i = places->n_runners_used; !find_on(decision, places->held, job); i--) {
		g_assert(i > decision->reached);
		lose(decision, i - 1);
	}
}

/* Jobs that are being suspended make way: their GPUs count as available (A10). All of them, or that
 * of @job alone. */
static void
release(const Decision *decision, JobId job)
{
	WalkPlaces *places = decision->places;

	for (guint i = 0; i < places->n_others_used; i++) {
		Actor *other = other_get(places, i);

		if (other->alloc != NULL && (job == JOB_NONE || other->place.job == job))
			actor_unhold(decision, other);
	}
}

/* GPUs for the job at its place in the order into places->where; FALSE if it does not fit. */
static gboolean
find_place(Decision *decision, const Job *job)
{
	WalkPlaces *places = decision->places;

	if (find_on(decision, places->held, job))
		return TRUE;
	if (!find_on(decision, places->chosen, job))
		return FALSE;
	if (!decision->has_released) {
		release(decision, JOB_NONE);
		decision->has_released = TRUE;
		if (find_on(decision, places->held, job))
			return TRUE;
	}
	find_with_victims(decision, job);
	return TRUE;
}

static void
place_actor(const Decision *decision, Actor *actor)
{
	const Job *job = actor_job(decision, actor);

	alloc_copy(&actor->where, &decision->places->where);
	cluster_take(decision->places->held, job, &actor->where);
	cluster_take(decision->places->chosen, job, &actor->where);
	actor->is_placed = TRUE;
}

/* A victim's turn. One whose GPUs nobody took after all keeps them. */
static gboolean
choose_lost(Decision *decision, Actor *runner)
{
	WalkPlaces *places = decision->places;
	const Job *job = actor_job(decision, runner);

	decision->n_lost--;
	if (cluster_has_room(places->held, job, runner->alloc, CROWD_SHARES)) {
		runner->is_lost = FALSE;
		actor_hold(decision, runner);
		actor_choose(decision, runner);
		return TRUE;
	}
	if (!find_place(decision, job))
		return FALSE;
	place_actor(decision, runner);
	return TRUE;
}

static gboolean
choose_runner(Decision *decision)
{
	Actor *runner = runner_get(decision->places, decision->reached++);

	if (runner->is_lost)
		return choose_lost(decision, runner);
	actor_choose(decision, runner);
	return TRUE;
}

static gboolean
choose_waiting(Decision *decision, guint index)
{
	Walk *walk = decision->walk;
	WalkPlaces *places = decision->places;
	WalkPlace place = g_array_index(walk->heads, WalkHead, index).place;

	if (walk_is_suspending(decision->view, place.job))
		release(decision, place.job);
	if (!find_place(decision, view_job(decision->view, place.job)))
		return FALSE;
	place_actor(decision, actor_new(places->others, &places->n_others_used, place, NULL));
	walk_heads_pop(walk, index);
	return TRUE;
}

/* Whether the next runner comes before the head at @index. */
static gboolean
is_runners_turn(const Decision *decision, guint index)
{
	const WalkPlaces *places = decision->places;
	const GArray *heads = decision->walk->heads;

	if (decision->reached == places->n_runners_used)
		return FALSE;
	return index >= heads->len ||
	       !walk_is_behind(decision->walk, runner_get(places, decision->reached)->place,
	                       g_array_index(heads, WalkHead, index).place);
}

/* Under strict rules the first misfit, running or waiting, is the last turn of a waiting job;
 * losers behind it may still keep their GPUs (B03). */
static void
choose(Decision *decision)
{
	gboolean is_strict = decision->walk->rules->is_strict;
	guint index = 0;

	while (index < decision->walk->heads->len || decision->n_lost > 0) {
		gboolean is_runners = is_runners_turn(decision, index);
		gboolean is_placed =
		    is_runners ? choose_runner(decision) : choose_waiting(decision, index);

		if (!is_placed && is_strict)
			index = decision->walk->heads->len;
		else if (!is_placed && !is_runners)
			index++;
	}
}

/* carrying out */

/* Whether @where is free but for what the job itself holds until it is placed. */
static gboolean
is_own_or_free(const Cluster *cluster, const Job *job, const Alloc *where)
{
	if (job->cpus_milli > 0 || job->mem_mib > 0)
		return FALSE;
	for (guint i = 0; i < where->n; i++) {
		const GpuState *gpu = &cluster->gpus[where->gpus[i]];

		if (gpu->n_residents > 1 || (gpu->n_residents == 1 && gpu->resident != job->id))
			return FALSE;
	}
	return TRUE;
}

static gboolean
is_ready(const Decision *decision, const Actor *actor)
{
	const Job *job = actor_job(decision, actor);
	const Cluster *cluster = view_cluster(decision->view);

	if (walk_is_suspending(decision->view, job->id))
		return FALSE;
	return cluster_has_room(cluster, job, &actor->where, CROWD_SHARES) ||
	       (actor->is_lost && is_own_or_free(cluster, job, &actor->where));
}

/* Places what can be placed now; each may make way for another. Returns whether any did. */
static gboolean
place_ready(const Decision *decision, Plan *plan)
{
	WalkPlaces *places = decision->places;
	gboolean is_any = FALSE;

	for (guint i = 0; i < places->n_runners_used; i++) {
		Actor *runner = runner_get(places, i);

		if (!runner->is_placed || !is_ready(decision, runner))
			continue;
		runner->is_placed = FALSE;
		if (plan_place(plan, runner->place.job, &runner->where) != PLAN_OK)
			continue;
		runner->is_lost = FALSE;
		walk_moved(decision->walk, actor_job(decision, runner), &runner->where);
		is_any = TRUE;
	}
	for (guint i = 0; i < places->n_others_used; i++) {
		Actor *other = other_get(places, i);

		if (!other->is_placed || !is_ready(decision, other))
			continue;
		if (walk_start(decision->walk, decision->view, plan, actor_job(decision, other),
		               &other->where)) {
			other->is_placed = FALSE;
			is_any = TRUE;
		}
	}
	return is_any;
}

static void
carry_out(const Decision *decision, Plan *plan)
{
	WalkPlaces *places = decision->places;

	for (guint i = 0; i < places->n_runners_used; i++)
		if (runner_get(places, i)->is_lost)
			plan_preempt(plan, runner_get(places, i)->place.job);
	while (place_ready(decision, plan))
		continue;
	for (guint i = 0; i < places->n_runners_used; i++) {
		const Actor *runner = runner_get(places, i);

		if (runner->is_lost)
			walk_stopped(decision->walk, decision->view, plan,
			             actor_job(decision, runner));
	}
	for (guint i = 0; i < places->n_others_used; i++) {
		const Actor *other = other_get(places, i);

		if (other->is_placed)
			walk_wait(decision->walk, actor_job(decision, other), other->place.key);
	}
}

/* The last running job of the order; FALSE if there is none. */
static gboolean
find_last(const Decision *decision, WalkPlace *ret_last)
{
	const Walk *walk = decision->walk;
	gboolean is_in_order = walk->rules->running_order != WALK_ORDER_CHANGES;
	gboolean is_any = FALSE;

	for (guint i = 0; i < walk->lanes->len; i++) {
		const WalkLane *lane = &g_array_index(walk->lanes, WalkLane, i);

		for (guint j = is_in_order && lane->n > 0 ? lane->n - 1 : 0; j < lane->n; j++) {
			JobId job = lane->jobs[j];
			WalkPlace place = { walk_key(walk, decision->view, job), job };

			if (!is_any || walk_place_before(*ret_last, place))
				*ret_last = place;
			is_any = TRUE;
		}
	}
	return is_any;
}

/* Whether some waiting job fits beside all running ones, or has running jobs behind it. Else
 * nothing will change, and the walk can be spared. */
static gboolean
is_worth_while(const Decision *decision)
{
	const Walk *walk = decision->walk;
	WalkPlace last = { 0, JOB_NONE };
	gboolean has_last = find_last(decision, &last);

	if (walk->releases->len > 0)
		return TRUE;
	for (guint i = 0; i < walk->heads->len; i++) {
		WalkPlace place = g_array_index(walk->heads, WalkHead, i).place;

		if (has_last && walk_is_behind(walk, last, place))
			return TRUE;
		if (find_on(decision, view_cluster(decision->view),
		            view_job(decision->view, place.job)))
			return TRUE;
	}
	return FALSE;
}

void
walk_decide_by_places(Walk *walk, const View *view, Plan *plan)
{
	Decision decision = { .walk = walk, .view = view };
	guint64 n_most = walk->spec->n_gpus;

	walk_heads_gather(walk, n_most);
	if (walk->places == NULL)
		places_begin(walk, view);
	decision.places = walk->places;
	if (!is_worth_while(&decision))
		return;
	enter_runners(&decision);
	enter_others(&decision);
	choose(&decision);
	leave_all(&decision);
	carry_out(&decision, plan);
}
