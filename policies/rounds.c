/* SPDX-License-Identifier: MIT */

#include "sim/policy.h"

#include <stdlib.h>
#include <string.h>

#define TAG_ROUND 0

/* What a job is to have in this round. */
typedef struct Wish {
	JobId job;
	guint type;
	guint32 num_gpus;
	guint32 rank; /* in the order of claims */
} Wish;

struct Rounds {
	const RoundsRules *rules;
	const PlacementOptions *placement;
	void *self;
	const ClusterSpec *spec;
	SimTime base_ns;     /* rounds begin at multiples of the length from here */
	gboolean is_open;    /* a round is being handed out */
	gboolean is_fresh;   /* what a round has left has not been given out yet */
	GArray *active;      /* of JobId, ascending */
	GArray *wishes;      /* of Wish: to be placed in this round, as soon as there is room */
	guint8 *is_wanted;   /* by JobId: has a wish in the round that is open, or to be placed */
	guint64 *room_milli; /* by type, while a round is open */
	/* By type, and last for any: the least gang that has not fitted at this decision. What is
	 * free only shrinks in it, so that this speaks for all wider ones. */
	guint32 *misfit;
	guint n_sharers; /* of the active: jobs that ask for a part of a GPU */
	Alloc where;
};

Rounds *
rounds_new(const View *view, const RoundsRules *rules, const PlacementOptions *placement,
           void *self)
{
	Rounds *rounds = g_new0(Rounds, 1);

	rounds->rules = rules;
	rounds->placement = placement;
	rounds->self = self;
	rounds->spec = view_cluster_spec(view);
	rounds->active = g_array_new(FALSE, FALSE, sizeof(JobId));
	rounds->wishes = g_array_new(FALSE, FALSE, sizeof(Wish));
	rounds->is_wanted = g_new0(guint8, view_n_jobs(view));
	rounds->room_milli = g_new0(guint64, rounds->spec->n_types);
	rounds->misfit = g_new0(guint32, rounds->spec->n_types + 1);
	return rounds;
}

void
rounds_free(Rounds *rounds)
{
	if (rounds == NULL)
		return;
	g_array_unref(rounds->active);
	g_array_unref(rounds->wishes);
	g_free(rounds->is_wanted);
	g_free(rounds->room_milli);
	g_free(rounds->misfit);
	alloc_clear(&rounds->where);
	g_free(rounds);
}

gboolean
rounds_check_length(const View *view, const char *name, SimTime length_ns, GError **error)
{
	Overheads largest = view_largest_overheads(view);
	const struct {
		const char *name;
		SimTime ns;
	} costs[] = {
		{ "start_s", largest.start_ns },
		{ "resume_s + suspend_s", time_add(largest.resume_ns, largest.suspend_ns) },
		{ "migrate_s", largest.migrate_ns },
	};

	for (guint i = 0; i < G_N_ELEMENTS(costs); i++) {
		g_autofree char *length = NULL, *cost = NULL;

		if (length_ns > costs[i].ns)
			continue;
		length = seconds_to_string(length_ns);
		cost = seconds_to_string(costs[i].ns);
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
		            "%s: found %s, wanted more than %s of %s", name, length, costs[i].name,
		            cost);
		return FALSE;
	}
	return TRUE;
}

/* notes */

/* Where @job is among those here, or would be. */
static guint
find_active(const Rounds *rounds, JobId job)
{
	guint from = 0, end = rounds->active->len;

	while (from < end) {
		guint middle = from + (end - from) / 2;

		if (g_array_index(rounds->active, JobId, middle) < job)
			from = middle + 1;
		else
			end = middle;
	}
	return from;
}

void
rounds_arrived(Rounds *rounds, const Job *job)
{
	g_array_insert_val(rounds->active, find_active(rounds, job->id), job->id);
	rounds->n_sharers += job->share_milli != GPU_MILLI;
}

void
rounds_completed(Rounds *rounds, const Job *job)
{
	g_array_remove_index(rounds->active, find_active(rounds, job->id));
	rounds->n_sharers -= job->share_milli != GPU_MILLI;
	if (!rounds->is_wanted[job->id])
		return;
	rounds->is_wanted[job->id] = FALSE;
	for (guint i = 0; i < rounds->wishes->len; i++)
		if (g_array_index(rounds->wishes, Wish, i).job == job->id)
			g_array_remove_index(rounds->wishes, i--);
}

const GArray *
rounds_active(const Rounds *rounds)
{
	return rounds->active;
}

/* taking */

/* What the job runs on; a job that is being suspended keeps its GPUs, but has lost them. */
static const Alloc *
gpus_of(const View *view, JobId job)
{
	static const Alloc none = { 0 };

	return view_state(view, job) == JOB_SUSPENDING ? &none : view_alloc(view, job);
}

static guint
type_of(const Rounds *rounds, const Alloc *gpus)
{
	return rounds->spec->machines[rounds->spec->machine_of[gpus->gpus[0]]].type;
}

guint64
rounds_left_milli(const Rounds *rounds, const View *view)
{
	guint64 left_milli = 0;

	if (!rounds->is_open)
		return (guint64)rounds->spec->n_gpus * GPU_MILLI - view_cluster(view)->held_milli;
	for (guint type = 0; type < rounds->spec->n_types; type++)
		left_milli += rounds->room_milli[type];
	return left_milli;
}

guint
rounds_held(const Rounds *rounds, const View *view, JobId job)
{
	if (rounds->is_wanted[job])
		return view_job(view, job)->num_gpus;
	return rounds->is_open ? 0 : gpus_of(view, job)->n;
}

/* Of the types with enough room the one that the job runs on, else that with most. */
static guint
pick_type(const Rounds *rounds, const View *view, const Job *job)
{
	const Alloc *holds = gpus_of(view, job->id);
	guint64 need_milli = job_held_milli(job, job->num_gpus);
	guint best = ROUNDS_ANY_TYPE;

	if (holds->n > 0 && rounds->room_milli[type_of(rounds, holds)] >= need_milli)
		return type_of(rounds, holds);
	for (guint type = 0; type < rounds->spec->n_types; type++)
		if (placement_type_will_do(view, job, type) &&
		    rounds->room_milli[type] >= need_milli &&
		    (best == ROUNDS_ANY_TYPE ||
		     rounds->room_milli[type] > rounds->room_milli[best]))
			best = type;
	return best;
}

static gboolean
wish(Rounds *rounds, const View *view, const Job *job, guint type)
{
	guint64 need_milli = job_held_milli(job, job->num_gpus);
	Wish wish = {
		.job = job->id,
		.type = type == ROUNDS_ANY_TYPE ? pick_type(rounds, view, job) : type,
		.num_gpus = job->num_gpus,
		.rank = rounds->wishes->len,
	};

	if (wish.type == ROUNDS_ANY_TYPE || rounds->room_milli[wish.type] < need_milli)
		return FALSE;
	rounds->room_milli[wish.type] -= need_milli;
	rounds->is_wanted[job->id] = TRUE;
	g_array_append_val(rounds->wishes, wish);
	return TRUE;
}

static gboolean
is_free(const View *view, const Alloc *gpus)
{
	for (guint i = 0; i < gpus->n; i++)
		if (!cluster_gpu_is_free(view_cluster(view), gpus->gpus[i]))
			return FALSE;
	return TRUE;
}

/* GPUs for the job, those of last time if they can be had. */
static gboolean
find_gpus(Rounds *rounds, const View *view, const Job *job, guint type)
{
	const Alloc *last = view_last_alloc(view, job->id);
	Job typed = *job;

	if (type != ROUNDS_ANY_TYPE)
		typed.gpu_types = G_GUINT64_CONSTANT(1) << type;
	if (last->n == job->num_gpus && is_free(view, last) &&
	    (type == ROUNDS_ANY_TYPE || type_of(rounds, last) == type) &&
	    cluster_has_room(view_cluster(view), job, last, CROWD_SHARES)) {
		alloc_copy(&rounds->where, last);
		return TRUE;
	}
	return placement_find(view, &typed, job->num_gpus, rounds->placement, &rounds->where);
}

/* Whether a misfit of this job speaks for others, and one of others for it. */
static gboolean
is_like_others(const Rounds *rounds, const Job *job)
{
	return !job_is_picky(job) && (job->model == MODEL_NONE || rounds->spec->n_types == 1);
}

static gboolean
start(Rounds *rounds, const View *view, Plan *plan, const Job *job, guint type)
{
	guint32 *misfit = &rounds->misfit[MIN(type, rounds->spec->n_types)];

	if (view_state(view, job->id) == JOB_SUSPENDING ||
	    (is_like_others(rounds, job) && job->num_gpus >= *misfit))
		return FALSE;
	if (find_gpus(rounds, view, job, type))
		return plan_place(plan, job->id, &rounds->where) == PLAN_OK;
	if (is_like_others(rounds, job))
		*misfit = job->num_gpus;
	return FALSE;
}

gboolean
rounds_take(Rounds *rounds, const View *view, Plan *plan, const Job *job, guint type)
{
	return rounds->is_open ? wish(rounds, view, job, type)
	                       : start(rounds, view, plan, job, type);
}

/* rounds */

static void
forget_misfits(Rounds *rounds)
{
	memset(rounds->misfit, 0xff, (rounds->spec->n_types + 1) * sizeof(guint32));
}

static void
forget_wishes(Rounds *rounds)
{
	for (guint i = 0; i < rounds->wishes->len; i++)
		rounds->is_wanted[g_array_index(rounds->wishes, Wish, i).job] = FALSE;
	g_array_set_size(rounds->wishes, 0);
}

static void
open_round(Rounds *rounds)
{
	forget_wishes(rounds);
	for (guint type = 0; type < rounds->spec->n_types; type++)
		rounds->room_milli[type] = (guint64)rounds->spec->types[type].n_gpus * GPU_MILLI;
	rounds->is_open = TRUE;
	rounds->is_fresh = TRUE;
}

/* Leaves a wish only where something is to be done; the others keep their GPUs. */
static void
settle_keepers(Rounds *rounds, const View *view)
{
	guint n = 0;

	for (guint i = 0; i < rounds->wishes->len; i++) {
		Wish wish = g_array_index(rounds->wishes, Wish, i);
		const Alloc *holds = gpus_of(view, wish.job);

		if (holds->n > 0 && type_of(rounds, holds) == wish.type)
			continue;
		g_array_index(rounds->wishes, Wish, n++) = wish;
	}
	g_array_set_size(rounds->wishes, n);
}

/* Who is wanted elsewhere stops too: with the place that follows in the same plan it is a move. */
static void
stop_others(Rounds *rounds, const View *view, Plan *plan)
{
	for (guint i = 0; i < rounds->active->len; i++) {
		JobId job = g_array_index(rounds->active, JobId, i);

		if (!rounds->is_wanted[job] && gpus_of(view, job)->n > 0)
			plan_preempt(plan, job);
	}
	for (guint i = 0; i < rounds->wishes->len; i++) {
		JobId job = g_array_index(rounds->wishes, Wish, i).job;

		if (gpus_of(view, job)->n > 0)
			plan_preempt(plan, job);
	}
}

static int
compare_wishes(gconstpointer one, gconstpointer other)
{
	const Wish *a = one, *b = other;

	if (a->num_gpus != b->num_gpus)
		return a->num_gpus > b->num_gpus ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Places who is to be placed; those that find no room wait for GPUs which are being released. */
static void
place_wishes(Rounds *rounds, const View *view, Plan *plan)
{
	guint n = 0;

	for (guint i = 0; i < rounds->wishes->len; i++) {
		Wish wish = g_array_index(rounds->wishes, Wish, i);

		if (start(rounds, view, plan, view_job(view, wish.job), wish.type))
			rounds->is_wanted[wish.job] = FALSE;
		else
			g_array_index(rounds->wishes, Wish, n++) = wish;
	}
	g_array_set_size(rounds->wishes, n);
}

static void
close_round(Rounds *rounds, const View *view, Plan *plan)
{
	rounds->is_open = FALSE;
	settle_keepers(rounds, view);
	stop_others(rounds, view, plan);
	for (guint i = 0; i < rounds->active->len; i++)
		rounds->is_wanted[g_array_index(rounds->active, JobId, i)] = FALSE;
	for (guint i = 0; i < rounds->wishes->len; i++)
		rounds->is_wanted[g_array_index(rounds->wishes, Wish, i).job] = TRUE;
	g_array_sort(rounds->wishes, compare_wishes);
}

/* Jobs here that hold no GPUs, and not for the moment alone. */
static guint
n_waiting(const Rounds *rounds, const View *view)
{
	guint n = 0;

	for (guint i = 0; i < rounds->active->len; i++) {
		JobState state = view_state(view, g_array_index(rounds->active, JobId, i));

		n += state != JOB_RUNNING && state != JOB_SUSPENDING;
	}
	return n;
}

gboolean
rounds_is_due(const Rounds *rounds, const View *view)
{
	SimTime length_ns = rounds->rules->length_ns;

	if (length_ns == TIME_NEVER || rounds->active->len == 0)
		return FALSE;
	return (view_now_ns(view) - rounds->base_ns) % length_ns == 0 ||
	       n_waiting(rounds, view) == rounds->active->len;
}

/* Whether GPUs are being released, or will be by this plan. */
static gboolean
is_releasing(const Rounds *rounds, const View *view)
{
	if (view_n_suspending_gpus(view) > 0)
		return TRUE;
	for (guint i = 0; i < rounds->active->len; i++) {
		JobId job = g_array_index(rounds->active, JobId, i);

		if (view_state(view, job) == JOB_RUNNING && view_alloc(view, job)->n == 0 &&
		    view_overheads(view, job).suspend_ns > 0)
			return TRUE;
	}
	return FALSE;
}

/* Who is wanted and finds no room though nothing is being released, waits like all others. */
static gboolean
may_fill(Rounds *rounds, const View *view)
{
	if (rounds->wishes->len > 0 && is_releasing(rounds, view))
		return FALSE;
	forget_wishes(rounds);
	if (rounds->rules->waits && !rounds->is_fresh)
		return FALSE;
	return view_cluster(view)->n_free > 0 || rounds->n_sharers > 0;
}

static void
set_wake(const Rounds *rounds, const View *view, Plan *plan)
{
	SimTime length_ns = rounds->rules->length_ns;
	SimTime into_round_ns = (view_now_ns(view) - rounds->base_ns) % length_ns;

	if (n_waiting(rounds, view) > 0 || (rounds->spec->n_types > 1 && rounds->active->len > 0))
		plan_wake(plan, time_add(view_now_ns(view), length_ns - into_round_ns), TAG_ROUND);
}

static void
hold_round(Rounds *rounds, const View *view, Plan *plan)
{
	if (n_waiting(rounds, view) == rounds->active->len)
		rounds->base_ns = view_now_ns(view);
	open_round(rounds);
	rounds->rules->serve(rounds->self, view, plan);
	close_round(rounds, view, plan);
}

void
rounds_decide(Rounds *rounds, const View *view, Plan *plan)
{
	forget_misfits(rounds);
	if (rounds_is_due(rounds, view))
		hold_round(rounds, view, plan);
	place_wishes(rounds, view, plan);
	if (may_fill(rounds, view)) {
		rounds->rules->serve(rounds->self, view, plan);
		rounds->is_fresh = FALSE;
	}
	if (rounds->rules->length_ns != TIME_NEVER)
		set_wake(rounds, view, plan);
}
