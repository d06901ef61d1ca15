/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a policy may do. Each edit is checked and reserved when it is made and answered with a
 * verdict; the engine commits the net effect of all edits: a job preempted and put back on the
 * same GPUs was never stopped (DESIGN 3). A refused edit changes nothing; it is counted, and
 * ends the run under --strict.
 */

#include "sim/engine/view.h"

typedef struct Plan Plan;

typedef enum PlanVerdict {
	PLAN_OK,
	PLAN_NO_ROOM,     /* somebody is there, or share, memory or CPUs do not suffice */
	PLAN_WRONG_STATE, /* the job is not in the state that this edit needs */
	PLAN_NOT_CAPABLE, /* the policy does not declare the capability */
	PLAN_BAD_ALLOC,   /* no such GPU, one named twice, a wrong type, or not the gang's size */
} PlanVerdict;

const char *plan_verdict_to_string(PlanVerdict verdict);

/* Starts a queued job, or puts back one that this plan has preempted. @where must have the gang's
 * num_gpus GPUs (under RESIZES: min_gpus to view_max_gpus()). The Alloc is copied. */
PlanVerdict plan_place(Plan *plan, JobId job, const Alloc *where);

/* Stops a running job, or takes back a plan_place() of this plan. */
PlanVerdict plan_preempt(Plan *plan, JobId job);

/* Moves a running job, or changes its width, without a stop: it pays migrate_s. A queued job that
 * has run before starts on @where as a migration: migrate_s instead of resume_s (A82). */
PlanVerdict plan_move(Plan *plan, JobId job, const Alloc *where);

/* Ends a queued job as REJECTED. */
PlanVerdict plan_reject(Plan *plan, JobId job, const char *reason);

/* Wakes the policy at @at_ns >= now with timer(tag). One pending wake per tag, the sooner stands.
 * A wake that has become pointless may be left to fire. */
void plan_wake(Plan *plan, SimTime at_ns, guint64 tag);

/* Forgets the pending wake of @tag. */
void plan_unwake(Plan *plan, guint64 tag);
