/* SPDX-License-Identifier: MIT */

/*
 * The walk of A55 and C01 where a job fits if enough GPUs are free, wherever they are.
 *
 * At a place in the order there is available what is spare (free, under suspension (A10), or given
 * up) and what running jobs behind that place hold. To see whether a waiting job fits it is enough
 * to go up from the end of the order for as many GPUs as it asks for. If the spare ones do not
 * suffice, running jobs behind it lose theirs; the next to be looked at is the first waiting job or
 * loser that comes behind. A loser that still fits at its place is placed anew, else it stops. So
 * jobs ahead of what changes are never looked at, and neither are those behind that stay.
 *
 * Who is chosen does not depend on who loses, as what is available does not. On one machine nobody
 * need move, then: a loser that fits keeps its GPUs, and who took them takes those of the jobs that
 * stop. Over several machines the walk is carried out step by step, as C01 has it.
 */

#include "policies/walk/state.h"

/* A running job, from the end of the order upward. */
typedef struct Runner {
	WalkPlace place;
	guint n_gpus;
	gboolean is_lost;
} Runner;

/* Where a lane's unseen part ends, and its last job there. */
typedef struct LaneEnd {
	guint n;
	WalkPlace place;
} LaneEnd;

typedef enum StepKind {
	STEP_LOSE,
	STEP_START, /* of a waiting job */
	STEP_MOVE,  /* of a loser */
} StepKind;

typedef struct Step {
	WalkPlace place;
	StepKind kind;
	gboolean is_done;
} Step;

typedef struct WalkCount {
	GArray *tail; /* of Runner, descending; as far as somebody asked */
	GArray *ends; /* of LaneEnd, by lane; or where lanes are in no order: */
	GArray *heap; /* of WalkPlace: runners not in the tail yet, the last on top */
	GArray
	    *losers;   /* of guint: indices in tail, the first in the order last; not reached yet */
	GArray *steps; /* of Step */
	GArray *releases;                  /* of WalkRelease: what is not spoken for yet */
	GArray *sizes, *scratch, *victims; /* of guint */
} WalkCount;

typedef struct Decision {
	Walk *walk;
	const View *view;
	WalkCount *count;
	gint64 n_spare;       /* GPUs nobody holds or is chosen for */
	gboolean is_in_steps; /* losers that fit are placed anew, one step after the other */
	gboolean has_begun;   /* the tail has */
} Decision;

static WalkCount *
count_new(void)
{
	WalkCount *count = g_new0(WalkCount, 1);

	count->tail = g_array_new(FALSE, FALSE, sizeof(Runner));
	count->ends = g_array_new(FALSE, FALSE, sizeof(LaneEnd));
	count->heap = g_array_new(FALSE, FALSE, sizeof(WalkPlace));
	count->losers = g_array_new(FALSE, FALSE, sizeof(guint));
	count->steps = g_array_new(FALSE, FALSE, sizeof(Step));
	count->releases = g_array_new(FALSE, FALSE, sizeof(WalkRelease));
	count->sizes = g_array_new(FALSE, FALSE, sizeof(guint));
	count->scratch = g_array_new(FALSE, FALSE, sizeof(guint));
	count->victims = g_array_new(FALSE, FALSE, sizeof(guint));
	return count;
}

void
walk_count_free(WalkCount *count)
{
	if (count == NULL)
		return;
	g_array_unref(count->tail);
	g_array_unref(count->ends);
	g_array_unref(count->heap);
	g_array_unref(count->losers);
	g_array_unref(count->steps);
	g_array_unref(count->releases);
	g_array_unref(count->sizes);
	g_array_unref(count->scratch);
	g_array_unref(count->victims);
	g_free(count);
}

/* the tail of the running jobs */

static void
end_set(const Decision *decision, guint lane, guint n)
{
	LaneEnd *end = &g_array_index(decision->count->ends, LaneEnd, lane);

	end->n = n;
	if (n == 0)
		return;
	end->place.job = g_array_index(decision->walk->lanes, WalkLane, lane).jobs[n - 1];
	end->place.key = walk_key(decision->walk, decision->view, end->place.job);
}

/* A heap with the last in the order on top. */
static void
heap_down(WalkPlace *heap, guint n, guint slot, WalkPlace place)
{
	for (guint child = 2 * slot + 1; child < n; child = 2 * slot + 1) {
		if (child + 1 < n && walk_place_before(heap[child], heap[child + 1]))
			child++;
		if (!walk_place_before(place, heap[child]))
			break;
		heap[slot] = heap[child];
		slot = child;
	}
	heap[slot] = place;
}

static void
heap_begin(const Decision *decision)
{
	GArray *heap = decision->count->heap;
	WalkPlace *places;

	g_array_set_size(heap, 0);
	for (guint i = 0; i < decision->walk->lanes->len; i++) {
		const WalkLane *lane = &g_array_index(decision->walk->lanes, WalkLane, i);

		for (guint j = 0; j < lane->n; j++) {
			JobId job = lane->jobs[j];
			WalkPlace place = { walk_key(decision->walk, decision->view, job), job };

			g_array_append_val(heap, place);
		}
	}
	places = (WalkPlace *)(gpointer)heap->data;
	for (guint i = heap->len / 2; i > 0; i--)
		heap_down(places, heap->len, i - 1, places[i - 1]);
}

/* Nothing is sorted, nor any key asked for, before somebody wants to know. */
static void
tail_begin(Decision *decision)
{
	GArray *lanes = decision->walk->lanes;

	decision->has_begun = TRUE;
	if (decision->walk->rules->running_order == WALK_ORDER_CHANGES) {
		heap_begin(decision);
		return;
	}
	g_array_set_size(decision->count->ends, lanes->len);
	for (guint i = 0; i < lanes->len; i++)
		end_set(decision, i, g_array_index(lanes, WalkLane, i).n);
}

/* The lane with the last job that is not in the tail yet; G_MAXUINT if all are. */
static guint
last_lane(const GArray *ends)
{
	guint last = G_MAXUINT;

	for (guint i = 0; i < ends->len; i++) {
		const LaneEnd *end = &g_array_index(ends, LaneEnd, i);

		if (end->n > 0 &&
		    (last == G_MAXUINT ||
		     walk_place_before(g_array_index(ends, LaneEnd, last).place, end->place)))
			last = i;
	}
	return last;
}

static gboolean
pop_lanes(const Decision *decision, WalkPlace *ret_place)
{
	guint lane = last_lane(decision->count->ends);
	LaneEnd end;

	if (lane == G_MAXUINT)
		return FALSE;
	end = g_array_index(decision->count->ends, LaneEnd, lane);
	*ret_place = end.place;
	end_set(decision, lane, end.n - 1);
	return TRUE;
}

static gboolean
pop_heap(const Decision *decision, WalkPlace *ret_place)
{
	GArray *heap = decision->count->heap;
	WalkPlace *places = (WalkPlace *)(gpointer)heap->data;
	guint n = heap->len;

	if (n == 0)
		return FALSE;
	*ret_place = places[0];
	heap_down(places, n - 1, 0, places[n - 1]);
	g_array_set_size(heap, n - 1);
	return TRUE;
}

/* The running job at @index from the end, which is one more than asked for before at most; NULL if
 * there are not so many. */
static Runner *
tail_get(Decision *decision, guint index)
{
	GArray *tail = decision->count->tail;
	WalkPlace place;
	gboolean is_any;
	Runner runner;

	if (index < tail->len)
		return &g_array_index(tail, Runner, index);
	if (!decision->has_begun)
		tail_begin(decision);
	if (decision->walk->rules->running_order == WALK_ORDER_CHANGES)
		is_any = pop_heap(decision, &place);
	else
		is_any = pop_lanes(decision, &place);
	if (!is_any)
		return NULL;
	runner = (Runner){ place, view_job(decision->view, place.job)->num_gpus, FALSE };
	g_array_append_val(tail, runner);
	return &g_array_index(tail, Runner, index);
}

/* A job whose turn it is: a waiting one, or a loser. */
typedef struct Turn {
	WalkPlace place;
	guint n_gpus;
	gboolean is_loser;
} Turn;

/* The running job at @index from the end if it is behind @turn, else NULL. */
static Runner *
tail_behind(Decision *decision, guint index, const Turn *turn)
{
	Runner *runner = tail_get(decision, index);

	if (runner == NULL)
		return NULL;
	if (turn->is_loser)
		return walk_place_before(turn->place, runner->place) ? runner : NULL;
	return walk_is_behind(decision->walk, runner->place, turn->place) ? runner : NULL;
}

/* choosing */

static gboolean
fits(Decision *decision, const Turn *turn)
{
	gint64 n_missing = turn->n_gpus - decision->n_spare;

	for (guint i = 0; n_missing > 0; i++) {
		const Runner *runner = tail_behind(decision, i, turn);

		if (runner == NULL)
			return FALSE;
		if (!runner->is_lost)
			n_missing -= runner->n_gpus;
	}
	return TRUE;
}

static void
add_step(const Decision *decision, WalkPlace place, StepKind kind)
{
	Step step = { place, kind, FALSE };

	g_array_append_val(decision->count->steps, step);
}

static void
lose(Decision *decision, guint index)
{
	GArray *losers = decision->count->losers;
	Runner *runner = tail_get(decision, index);
	guint at = losers->len;

	runner->is_lost = TRUE;
	decision->n_spare += runner->n_gpus;
	if (decision->is_in_steps)
		add_step(decision, runner->place, STEP_LOSE);
	while (at > 0 && g_array_index(losers, guint, at - 1) > index)
		at--;
	g_array_insert_val(losers, at, index);
}

/* On one machine it does not matter who loses first. */
static void
lose_last(Decision *decision, const Turn *turn)
{
	for (guint i = 0; decision->n_spare < turn->n_gpus; i++) {
		const Runner *runner = tail_behind(decision, i, turn);

		g_assert(runner != NULL);
		if (!runner->is_lost)
			lose(decision, i);
	}
}

/* The last one that is enough by itself; G_MAXUINT if none is. */
static guint
find_single(Decision *decision, const Turn *turn, guint64 n_missing)
{
	const Runner *runner;

	for (guint i = 0; (runner = tail_behind(decision, i, turn)) != NULL; i++)
		if (!runner->is_lost && runner->n_gpus >= n_missing)
			return i;
	return G_MAXUINT;
}

static void
lose_fewest(Decision *decision, const Turn *turn)
{
	WalkCount *count = decision->count;
	guint64 n_missing = (guint64)(turn->n_gpus - decision->n_spare);
	guint single = find_single(decision, turn, n_missing);
	const Runner *runner;

	if (single != G_MAXUINT) {
		lose(decision, single);
		return;
	}
	g_array_set_size(count->sizes, 0);
	for (guint i = 0; (runner = tail_behind(decision, i, turn)) != NULL; i++) {
		guint size = runner->is_lost ? 0 : runner->n_gpus;

		g_array_append_val(count->sizes, size);
	}
	walk_pick_victims(count->scratch, (const guint *)(gconstpointer)count->sizes->data,
	                  count->sizes->len, n_missing, G_MAXUINT - 1, count->victims);
	for (guint i = 0; i < count->victims->len; i++)
		lose(decision, g_array_index(count->victims, guint, i));
}

/* Gives the job whose turn it is its GPUs, if it fits. */
static gboolean
take_turn(Decision *decision, const Turn *turn)
{
	if (!fits(decision, turn))
		return FALSE;
	if (decision->n_spare < turn->n_gpus && decision->is_in_steps)
		lose_fewest(decision, turn);
	else if (decision->n_spare < turn->n_gpus)
		lose_last(decision, turn);
	decision->n_spare -= turn->n_gpus;
	if (!turn->is_loser)
		add_step(decision, turn->place, STEP_START);
	else if (decision->is_in_steps)
		add_step(decision, turn->place, STEP_MOVE);
	return TRUE;
}

/* The first of the losers that have not had their turn. */
static gboolean
take_losers_turn(Decision *decision)
{
	GArray *losers = decision->count->losers;
	guint index = g_array_index(losers, guint, losers->len - 1);
	const Runner *runner = tail_get(decision, index);
	Turn turn = { runner->place, runner->n_gpus, TRUE };
	gboolean is_placed;

	g_array_set_size(losers, losers->len - 1);
	is_placed = take_turn(decision, &turn);
	if (is_placed && !decision->is_in_steps)
		tail_get(decision, index)->is_lost = FALSE;
	return is_placed;
}

static gboolean
take_heads_turn(Decision *decision, guint index)
{
	WalkPlace place = g_array_index(decision->walk->heads, WalkHead, index).place;
	Turn turn = { place, view_job(decision->view, place.job)->num_gpus, FALSE };

	if (!take_turn(decision, &turn))
		return FALSE;
	walk_heads_pop(decision->walk, index);
	return TRUE;
}

static gboolean
is_losers_turn(Decision *decision, guint index)
{
	const GArray *losers = decision->count->losers;
	const GArray *heads = decision->walk->heads;
	const Runner *runner;

	if (losers->len == 0)
		return FALSE;
	runner = tail_get(decision, g_array_index(losers, guint, losers->len - 1));
	return index >= heads->len || !walk_is_behind(decision->walk, runner->place,
	                                              g_array_index(heads, WalkHead, index).place);
}

/* Under strict rules the first misfit, running or waiting, is the last turn of a waiting job;
 * losers behind it may still keep their GPUs (B03). */
static void
choose(Decision *decision)
{
	gboolean is_strict = decision->walk->rules->is_strict;
	guint index = 0;

	while (index < decision->walk->heads->len || decision->count->losers->len > 0) {
		gboolean is_losers = is_losers_turn(decision, index);
		gboolean is_placed =
		    is_losers ? take_losers_turn(decision) : take_heads_turn(decision, index);

		if (!is_placed && is_strict)
			index = decision->walk->heads->len;
		else if (!is_placed && !is_losers)
			index++;
	}
}

/* waiting for GPUs under suspension */

/* When @n_gpus will be there, if @n_ready are now: not before @job itself is released. */
static SimTime
ready_at_ns(const GArray *releases, JobId job, guint n_gpus, guint n_ready)
{
	SimTime at_ns = 0;
	gint64 n_missing = (gint64)n_gpus - n_ready;

	for (guint i = 0; i < releases->len; i++) {
		const WalkRelease *release = &g_array_index(releases, WalkRelease, i);

		if (n_missing > 0 || release->job == job)
			at_ns = release->at_ns;
		n_missing -= release->n_gpus;
	}
	return at_ns;
}

/* Speaks for @n_gpus that a job will take as soon as they are there. Of the GPUs that come by then
 * those that come last, so that others may have what is free now; returns what is left of
 * @n_ready. */
static guint
reserve(GArray *releases, JobId job, guint n_gpus, guint n_ready)
{
	SimTime at_ns = ready_at_ns(releases, job, n_gpus, n_ready);

	for (guint i = releases->len; i > 0 && n_gpus > 0; i--) {
		WalkRelease *release = &g_array_index(releases, WalkRelease, i - 1);
		guint n = MIN(n_gpus, release->n_gpus);

		if (release->at_ns > at_ns)
			continue;
		release->n_gpus -= n;
		n_gpus -= n;
	}
	return n_ready - MIN(n_ready, n_gpus);
}

/* All that is under suspension, and what the losers that are not placed yet will be. */
static void
gather_releases(const Decision *decision)
{
	const GArray *steps = decision->count->steps;
	GArray *releases = decision->count->releases;

	g_array_set_size(releases, 0);
	g_array_append_vals(releases, decision->walk->releases->data,
	                    decision->walk->releases->len);
	for (guint i = 0; i < steps->len; i++) {
		const Step *step = &g_array_index(steps, Step, i);

		if (step->kind == STEP_LOSE && !step->is_done)
			walk_release_add(
			    releases, walk_release_of(decision->view,
			                              view_job(decision->view, step->place.job)));
	}
}

/* carrying out */

static Step *
find_loss(const Decision *decision, JobId job)
{
	GArray *steps = decision->count->steps;

	for (guint i = 0; i < steps->len; i++) {
		Step *step = &g_array_index(steps, Step, i);

		if (step->kind == STEP_LOSE && step->place.job == job)
			return step;
	}
	g_assert_not_reached();
}

/* Places a job on what is free now. A loser that is placed has not lost after all. */
static gboolean
place(const Decision *decision, Plan *plan, Step *step)
{
	Walk *walk = decision->walk;
	const View *view = decision->view;
	const Job *job = view_job(view, step->place.job);

	if (!placement_find(view, job, job->num_gpus, walk->placement, &walk->where))
		return FALSE;
	if (step->kind == STEP_START)
		step->is_done = walk_start(walk, view, plan, job, &walk->where);
	else
		step->is_done = plan_place(plan, job->id, &walk->where) == PLAN_OK;
	if (step->kind == STEP_MOVE && step->is_done) {
		find_loss(decision, job->id)->is_done = TRUE;
		walk_moved(walk, job, &walk->where);
	}
	return step->is_done;
}

/* Everybody who can be placed now, in the order of the walk; who cannot has his GPUs kept from
 * those behind him (A10). TRUE if a loser was placed: then his own are free at once. */
static gboolean
place_all(const Decision *decision, Plan *plan)
{
	const View *view = decision->view;
	GArray *steps = decision->count->steps;
	guint n_ready = view_cluster(view)->n_free;

	gather_releases(decision);
	for (guint i = 0; i < steps->len; i++) {
		Step *step = &g_array_index(steps, Step, i);
		const Job *job = view_job(view, step->place.job);

		if (step->kind == STEP_LOSE || step->is_done)
			continue;
		if (job->num_gpus > n_ready || walk_is_suspending(view, job->id) ||
		    !place(decision, plan, step))
			n_ready =
			    reserve(decision->count->releases, job->id, job->num_gpus, n_ready);
		else if (step->kind == STEP_MOVE)
			return TRUE;
		else
			n_ready -= job->num_gpus;
	}
	return FALSE;
}

/* Losses and placings, one after the other where losers move and nobody is suspended: then each
 * place is chosen among the GPUs that were free at that turn. */
static void
take_steps(const Decision *decision, Plan *plan)
{
	GArray *steps = decision->count->steps;

	for (guint i = 0; i < steps->len; i++) {
		Step *step = &g_array_index(steps, Step, i);
		JobId job = step->place.job;

		if (step->kind == STEP_LOSE)
			plan_preempt(plan, job);
		else if (decision->is_in_steps && !decision->walk->suspends)
			place(decision, plan, step);
	}
	while (place_all(decision, plan))
		continue;
}

static void
settle_steps(const Decision *decision, Plan *plan)
{
	GArray *steps = decision->count->steps;

	for (guint i = 0; i < steps->len; i++) {
		const Step *step = &g_array_index(steps, Step, i);
		const Job *job = view_job(decision->view, step->place.job);

		if (step->is_done || step->kind == STEP_MOVE)
			continue;
		if (step->kind == STEP_LOSE)
			walk_stopped(decision->walk, decision->view, plan, job);
		else
			walk_wait(decision->walk, job, step->place.key);
	}
}

/* On one machine losers that fitted are none any more; the others are now known. */
static void
add_losses(const Decision *decision)
{
	const GArray *tail = decision->count->tail;

	for (guint i = 0; i < tail->len; i++) {
		const Runner *runner = &g_array_index(tail, Runner, i);

		if (runner->is_lost)
			add_step(decision, runner->place, STEP_LOSE);
	}
}

static guint64
releasing_gpus(const GArray *releases)
{
	guint64 n = 0;

	for (guint i = 0; i < releases->len; i++)
		n += g_array_index(releases, WalkRelease, i).n_gpus;
	return n;
}

void
walk_decide_by_count(Walk *walk, const View *view, Plan *plan)
{
	guint64 n_spare = view_cluster(view)->n_free + releasing_gpus(walk->releases);
	Decision decision = {
		.walk = walk,
		.view = view,
		.n_spare = (gint64)n_spare,
		.is_in_steps = walk->spec->n_machines > 1,
	};

	walk_heads_gather(walk, n_spare + walk->running_gpus);
	if (walk->heads->len == 0)
		return;
	if (walk->count == NULL)
		walk->count = count_new();
	decision.count = walk->count;
	g_array_set_size(walk->count->tail, 0);
	g_array_set_size(walk->count->steps, 0);
	g_array_set_size(walk->count->losers, 0);
	choose(&decision);
	if (!decision.is_in_steps)
		add_losses(&decision);
	take_steps(&decision, plan);
	settle_steps(&decision, plan);
}
