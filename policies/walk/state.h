/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a walk keeps between decisions, private to this folder: who waits and who runs, each in
 * order.
 *
 * Waiting jobs are kept in a class for every different demand. Along the order what is available
 * only shrinks, so that within a class the first misfit speaks for all behind it: a decision looks
 * at the head of each class and at what it chooses, no further. A job being suspended waits too,
 * but cannot be placed yet (A10).
 *
 * Running jobs are kept in lanes, each in ascending order as far as the rules promise that the
 * order stays; where they promise nothing, there is one lane in no order. Pinned jobs are in no
 * lane: a decision has nothing to say about them.
 */

#include "sim/policy.h"

/* A job at its place in the order. */
typedef struct WalkPlace {
	WalkKey key;
	JobId job;
} WalkPlace;

/* What a job asks for; all zero under strict rules, where nobody is passed over. */
typedef struct WalkDemand {
	guint64 gpu_types, mem_mib;
	guint32 num_gpus, share_milli, gpu_mem_mib, cpus_milli, workers, gpus_per_worker, model;
	guint32 unused; /* no holes: demands are compared as bytes */
} WalkDemand;

typedef struct WalkClass {
	WalkPlace *heap; /* the first in the order on top */
	guint n, size;
	WalkDemand demand;
} WalkClass;

typedef struct WalkLane {
	JobId *jobs; /* ascending by (key, id), if in order */
	guint n, size;
	guint64 held_milli; /* of each job, where lanes are kept per width */
} WalkLane;

typedef enum WalkStatus {
	WALK_ABSENT,
	WALK_WAITING,
	WALK_RUNNING,
	WALK_PINNED,
} WalkStatus;

/* A job stopped at the last decision, or still being suspended. */
typedef struct WalkRelease {
	SimTime at_ns;
	JobId job;
	guint n_gpus; /* that it holds till then; 0 if it is not suspended at all */
} WalkRelease;

/* The head of a class during a decision. */
typedef struct WalkHead {
	WalkPlace place;
	guint class;
} WalkHead;

struct Walk {
	const WalkRules *rules;
	const PlacementOptions *placement;
	void *self;
	const ClusterSpec *spec;
	gboolean is_by_count; /* see placement_is_by_count() */
	gboolean suspends;    /* a job may keep its GPUs for a while when it is stopped */

	guint8 *status;    /* of WalkStatus, by JobId */
	guint32 *class_of; /* by JobId, while waiting */
	guint32 *slot_of;  /* by JobId: place in the heap, or in pinned */

	GArray *classes;             /* of WalkClass */
	GHashTable *class_by_demand; /* WalkDemand * -> 1 + index in classes */
	guint n_waiting;
	guint n_picky; /* active jobs that a count does not decide for */

	GArray *lanes;        /* of WalkLane */
	guint64 running_gpus; /* GPUs of the jobs in lanes */
	GArray *pinned;       /* of JobId */
	GArray *releases;     /* of WalkRelease, by time */

	/* scratch of a decision */
	GArray *heads; /* of WalkHead, ascending */
	Alloc where;
	struct WalkCount *count;
	struct WalkPlaces *places;
};

/* queue.c */

void walk_queue_init(Walk *walk, const View *view);
void walk_queue_clear(Walk *walk);

static inline gboolean
walk_place_before(WalkPlace one, WalkPlace other)
{
	return one.key < other.key || (one.key == other.key && one.job < other.job);
}

/* Puts @job in its class at @key, and takes it out. */
void walk_wait(Walk *walk, const Job *job, WalkKey key);
void walk_unwait(Walk *walk, JobId job);

/* Puts a running job in its lane, and takes it out. */
void walk_lane_add(Walk *walk, const View *view, const Job *job);
void walk_lane_remove(Walk *walk, const Job *job);

void walk_pinned_add(Walk *walk, JobId job);
void walk_pinned_remove(Walk *walk, JobId job);

/* Gathers the heads of the classes that @n_gpus GPUs could be enough for into walk->heads. */
void walk_heads_gather(Walk *walk, guint64 n_gpus);

/* Takes the job of the head at @index out of its class; the next of the class becomes the head, at
 * its place from @index on. */
void walk_heads_pop(Walk *walk, guint index);

static inline WalkClass *
walk_class(const Walk *walk, guint index)
{
	return &g_array_index(walk->classes, WalkClass, index);
}

/* victims.c: of @n @sizes, which stand from the last in the order to the first, the fewest
 * that add up to @need, and of as many the latest: their indices go to @victims (of guint), that of
 * the first in the order first. FALSE if it takes more than @most of them. @scratch is of guint. */
gboolean walk_pick_victims(GArray *scratch, const guint *sizes, guint n, guint64 need, guint most,
                           GArray *victims);

/* walk.c */

/* Starts a waiting job, which has been taken out of its class; FALSE if the plan refused. */
gboolean walk_start(Walk *walk, const View *view, Plan *plan, const Job *job, const Alloc *where);

/* The books of a loser that this plan has placed anew, and of a job that it stops. */
void walk_moved(Walk *walk, const Job *job, const Alloc *where);
void walk_stopped(Walk *walk, const View *view, Plan *plan, const Job *job);

/* When the GPUs of a job that is stopped now will be free. */
WalkRelease walk_release_of(const View *view, const Job *job);
void walk_release_add(GArray *releases, WalkRelease release);

static inline WalkKey
walk_key(const Walk *walk, const View *view, JobId job)
{
	return walk->rules->key(walk->self, view, view_job(view, job));
}

static inline const PlacementOptions *
walk_placement(const Walk *walk, const View *view, const Job *job)
{
	return walk->rules->placement ? walk->rules->placement(walk->self, view, job)
	                              : walk->placement;
}

/* Whether the job still holds the GPUs that it was stopped on. */
static inline gboolean
walk_is_suspending(const View *view, JobId job)
{
	return view_state(view, job) == JOB_SUSPENDING;
}

/* Whether a running job at @running is behind a waiting one at @waiting. */
static inline gboolean
walk_is_behind(const Walk *walk, WalkPlace running, WalkPlace waiting)
{
	if (running.key != waiting.key)
		return running.key > waiting.key;
	return !walk->rules->prefers_running && running.job > waiting.job;
}

/* count.c and places.c: a decision of a walk that may stop jobs. */

void walk_decide_by_count(Walk *walk, const View *view, Plan *plan);
void walk_decide_by_places(Walk *walk, const View *view, Plan *plan);
/* Who holds what, for decisions that look at places: nothing is done before the first of them. */
void walk_places_take(Walk *walk, const Job *job, const Alloc *alloc);
void walk_places_give(Walk *walk, const Job *job);
void walk_places_pin(Walk *walk, const Job *job);
void walk_places_unpin(Walk *walk, const Job *job);

void walk_count_free(struct WalkCount *count);
void walk_places_free(struct WalkPlaces *places);
