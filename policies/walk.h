/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The walk: all active jobs in the order of a key, each that still fits is chosen; running jobs
 * that are not chosen are stopped, chosen ones that do not run are started (SEMANTICS A55, B03,
 * C01). One piece of code serves every policy that is a priority order: fifo, fifo-skip, sjf,
 * srtf, srsf, las, 2d-las, priority, tiresias. A decision costs what changes, not the queue's
 * length. Policies get this through sim/policy.h.
 */

#include "policies/placement.h"

/* Ascending: the smaller goes first; ties go to the running job (where the rules say so), then to
 * the smaller JobId. */
typedef __int128 WalkKey;

/* How the keys of running jobs that keep running move against each other as time passes. The more
 * is known, the less is sorted. */
typedef enum WalkOrder {
	WALK_ORDER_CHANGES,          /* anyhow */
	WALK_ORDER_STATIC_PER_WIDTH, /* among jobs of equal num_gpus their order stays */
	WALK_ORDER_STATIC,           /* their order stays */
} WalkOrder;

typedef struct WalkRules {
	gboolean preempts;        /* may running jobs be stopped? else they all stay */
	gboolean is_strict;       /* the first misfit ends the walk; else it is passed over */
	gboolean prefers_running; /* at equal keys */
	/* Whether a job is pinned when it is started: it keeps its GPUs whatever the order says
	 * until walk_unpin() (a quantum, min_run_s). */
	gboolean pins_started;
	WalkOrder running_order;
	/* The key of @job now. A queued job's key must not change while it waits unless
	 * walk_rekey() is called; a running job's may, as running_order says. */
	WalkKey (*key)(const void *self, const View *view, const Job *job);
	/* Told of every job that a decision starts or stops; not of one it moves. May be NULL. */
	void (*started)(void *self, const View *view, const Job *job, Plan *plan);
	void (*stopped)(void *self, const View *view, const Job *job, Plan *plan);
	/* Where a job may go, if not every job is placed alike; NULL = the walk's own options. */
	const PlacementOptions *(*placement)(const void *self, const View *view, const Job *job);
} WalkRules;

typedef struct Walk Walk;

/* @self is handed to the rules' functions. All that is given must outlive the walk. */
Walk *walk_new(const View *view, const WalkRules *rules, const PlacementOptions *placement,
               void *self);
void walk_free(Walk *walk);

void walk_arrived(Walk *walk, const View *view, const Job *job);
void walk_completed(Walk *walk, const View *view, const Job *job);

/* The key of @job (queued or running) has changed by other than the passing of time. */
void walk_rekey(Walk *walk, const View *view, const Job *job);

/* A running job must keep its GPUs, or need no longer. The policy sets the timer at which a pin
 * ends. FALSE, and nothing done, if the job does not run, or is (or is not) pinned already. */
gboolean walk_pin(Walk *walk, const View *view, const Job *job);
gboolean walk_unpin(Walk *walk, const View *view, const Job *job);

gboolean walk_has_queued(const Walk *walk);

void walk_decide(Walk *walk, const View *view, Plan *plan);

/* What a policy whose state begins with its Walk * may put into its table as it is. */
void walk_policy_arrived(void *self, const View *view, const Job *job);
void walk_policy_completed(void *self, const View *view, const Job *job);
void walk_policy_decide(void *self, const View *view, PolicyWake why, Plan *plan);
void walk_policy_finish(void *self);
