/* SPDX-License-Identifier: MIT */

/*
 * The walk without stops, and the books of both kinds. Walks that may stop jobs decide in
 * count.c where a number of free GPUs says all, and in places.c where it does not.
 */

#include "policies/walk/state.h"

Walk *
walk_new(const View *view, const WalkRules *rules, const PlacementOptions *placement, void *self)
{
	Walk *walk = g_new0(Walk, 1);

	walk->rules = rules;
	walk->placement = placement;
	walk->self = self;
	walk->spec = view_cluster_spec(view);
	walk->suspends = view_largest_overheads(view).suspend_ns > 0;
	walk->is_by_count =
	    rules->placement == NULL && placement_is_by_count(walk->spec, placement);
	walk_queue_init(walk, view);
	return walk;
}

void
walk_free(Walk *walk)
{
	if (walk == NULL)
		return;
	walk_queue_clear(walk);
	walk_count_free(walk->count);
	walk_places_free(walk->places);
	alloc_clear(&walk->where);
	g_free(walk);
}

/* notes */

void
walk_arrived(Walk *walk, const View *view, const Job *job)
{
	walk->n_picky += !placement_job_is_by_count(walk->spec, job);
	walk_wait(walk, job, walk_key(walk, view, job->id));
}

/* A job that has ended while it was being suspended. */
static void
forget_release(Walk *walk, const Job *job)
{
	for (guint i = 0; i < walk->releases->len; i++) {
		WalkRelease release = g_array_index(walk->releases, WalkRelease, i);

		if (release.job != job->id)
			continue;
		if (release.n_gpus > 0)
			walk_places_give(walk, job);
		g_array_remove_index(walk->releases, i);
		return;
	}
}

/* Takes the job out of whatever it is in. */
static void
forget(Walk *walk, const Job *job)
{
	switch ((WalkStatus)walk->status[job->id]) {
	case WALK_ABSENT:
		break;
	case WALK_WAITING:
		walk_unwait(walk, job->id);
		forget_release(walk, job);
		break;
	case WALK_RUNNING:
		walk_lane_remove(walk, job);
		walk_places_give(walk, job);
		break;
	case WALK_PINNED:
		walk_pinned_remove(walk, job->id);
		walk_places_unpin(walk, job);
		walk_places_give(walk, job);
		break;
	}
}

void
walk_completed(Walk *walk, const View *view, const Job *job)
{
	forget(walk, job);
	walk->n_picky -= !placement_job_is_by_count(walk->spec, job);
}

void
walk_rekey(Walk *walk, const View *view, const Job *job)
{
	switch ((WalkStatus)walk->status[job->id]) {
	case WALK_ABSENT:
	case WALK_PINNED:
		break;
	case WALK_WAITING:
		walk_unwait(walk, job->id);
		walk_wait(walk, job, walk_key(walk, view, job->id));
		break;
	case WALK_RUNNING:
		walk_lane_remove(walk, job);
		walk_lane_add(walk, view, job);
		break;
	}
}

gboolean
walk_pin(Walk *walk, const View *view, const Job *job)
{
	if (walk->status[job->id] != WALK_RUNNING)
		return FALSE;
	walk_lane_remove(walk, job);
	walk_pinned_add(walk, job->id);
	walk_places_pin(walk, job);
	return TRUE;
}

gboolean
walk_unpin(Walk *walk, const View *view, const Job *job)
{
	if (walk->status[job->id] != WALK_PINNED)
		return FALSE;
	walk_pinned_remove(walk, job->id);
	walk_places_unpin(walk, job);
	walk_lane_add(walk, view, job);
	return TRUE;
}

gboolean
walk_has_queued(const Walk *walk)
{
	return walk->n_waiting > 0;
}

/* edits */

gboolean
walk_start(Walk *walk, const View *view, Plan *plan, const Job *job, const Alloc *where)
{
	if (plan_place(plan, job->id, where) != PLAN_OK)
		return FALSE;
	if (walk->rules->started != NULL)
		walk->rules->started(walk->self, view, job, plan);
	if (!walk->rules->preempts)
		return TRUE;
	walk_places_take(walk, job, where);
	if (walk->rules->pins_started) {
		walk_pinned_add(walk, job->id);
		walk_places_pin(walk, job);
	} else {
		walk_lane_add(walk, view, job);
	}
	return TRUE;
}

WalkRelease
walk_release_of(const View *view, const Job *job)
{
	SimTime suspend_ns = view_overheads(view, job->id).suspend_ns;

	return (WalkRelease){ .at_ns = time_add(view_now_ns(view), suspend_ns),
		              .job = job->id,
		              .n_gpus = suspend_ns > 0 ? job->num_gpus : 0 };
}

/* Releases are few, and of one length unless models differ: the last is nearly always the latest.
 */
void
walk_release_add(GArray *releases, WalkRelease release)
{
	guint at = releases->len;

	while (at > 0 && g_array_index(releases, WalkRelease, at - 1).at_ns > release.at_ns)
		at--;
	g_array_insert_val(releases, at, release);
}

void
walk_moved(Walk *walk, const Job *job, const Alloc *where)
{
	walk_places_give(walk, job);
	walk_places_take(walk, job, where);
}

/* The job's key is looked at again once the plan is carried out, as work since the last checkpoint
 * is lost by then (A16). */
void
walk_stopped(Walk *walk, const View *view, Plan *plan, const Job *job)
{
	WalkRelease release = walk_release_of(view, job);

	walk_lane_remove(walk, job);
	if (walk->rules->stopped != NULL)
		walk->rules->stopped(walk->self, view, job, plan);
	walk_wait(walk, job, walk_key(walk, view, job->id));
	walk_release_add(walk->releases, release);
	if (release.n_gpus == 0)
		walk_places_give(walk, job);
}

/* decisions */

/* Jobs stopped since the last decision have keys of then; and while a job is being suspended its
 * time on GPUs goes on (A12). */
static void
settle_releases(Walk *walk, const View *view)
{
	guint n_left = 0;

	for (guint i = 0; i < walk->releases->len; i++) {
		WalkRelease release = g_array_index(walk->releases, WalkRelease, i);

		walk_rekey(walk, view, view_job(view, release.job));
		if (walk_is_suspending(view, release.job))
			g_array_index(walk->releases, WalkRelease, n_left++) = release;
		else if (release.n_gpus > 0)
			walk_places_give(walk, view_job(view, release.job));
	}
	g_array_set_size(walk->releases, n_left);
}

/* Running jobs stay; only what is free is given. */
static void
decide_without_stops(Walk *walk, const View *view, Plan *plan)
{
	walk_heads_gather(walk, view_cluster(view)->n_free);
	for (guint i = 0; i < walk->heads->len;) {
		const Job *job = view_job(view, g_array_index(walk->heads, WalkHead, i).place.job);

		if (!placement_find(view, job, job->num_gpus, walk_placement(walk, view, job),
		                    &walk->where)) {
			if (walk->rules->is_strict)
				break;
			i++;
			continue;
		}
		walk_heads_pop(walk, i);
		walk_start(walk, view, plan, job, &walk->where);
	}
}

void
walk_decide(Walk *walk, const View *view, Plan *plan)
{
	if (walk->releases->len > 0)
		settle_releases(walk, view);
	if (walk->n_waiting == 0)
		return;
	if (!walk->rules->preempts)
		decide_without_stops(walk, view, plan);
	else if (walk->is_by_count && walk->n_picky == 0)
		walk_decide_by_count(walk, view, plan);
	else
		walk_decide_by_places(walk, view, plan);
}

/* the table of a policy that is a walk */

typedef struct WalkPolicy {
	Walk *walk;
} WalkPolicy;

void
walk_policy_arrived(void *self, const View *view, const Job *job)
{
	walk_arrived(((WalkPolicy *)self)->walk, view, job);
}

void
walk_policy_completed(void *self, const View *view, const Job *job)
{
	walk_completed(((WalkPolicy *)self)->walk, view, job);
}

void
walk_policy_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	walk_decide(((WalkPolicy *)self)->walk, view, plan);
}

void
walk_policy_finish(void *self)
{
	walk_free(((WalkPolicy *)self)->walk);
}
