/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The contract that a policy signs: one static const table. The core never copies, writes or
 * frees it, and never asks which policy it is talking to.
 */

#include "sim/base/options.h"
#include "sim/engine/plan.h"
#include "sim/engine/view.h"

#define POLICY_ABI    2u

/* A policy as a shared object exports its table under this name: const PolicyClass policy_class. */
#define POLICY_SYMBOL "policy_class"

typedef enum PolicyCaps {
	POLICY_PREEMPTS = 1 << 0,   /* may it stop a running job? */
	POLICY_MIGRATES = 1 << 1,   /* may it move one without a stop? */
	POLICY_RESIZES = 1 << 2,    /* may it run a job on another number of GPUs than asked for? */
	POLICY_SHARES = 1 << 3,     /* may it put whole jobs on one GPU together? */
	POLICY_ORACLE = 1 << 4,     /* may it know how much work a job really has? */
	POLICY_PARTITIONS = 1 << 5, /* may it cut GPUs into slices? (nothing does yet) */
} PolicyCaps;

/* Why decide() is called, any of: */
typedef enum PolicyWake {
	POLICY_WAKE_COMPLETED = 1 << 0, /* a job ended or timed out */
	POLICY_WAKE_RELEASED = 1 << 1,  /* suspended GPUs are free now */
	POLICY_WAKE_ARRIVED = 1 << 2,
	POLICY_WAKE_TIMER = 1 << 3,
	POLICY_WAKE_NODES = 1 << 4,
} PolicyWake;

/* Something that a policy counts about itself, for perf.json. */
typedef struct PolicyCounter {
	const char *name; /* static */
	guint64 value;
} PolicyCounter;

#define MAX_POLICY_COUNTERS 8

typedef struct PolicyClass {
	guint abi; /* POLICY_ABI */
	const char *name;
	const char *version;
	const char *summary; /* one line */
	const char *source;  /* paper, section */
	PolicyCaps caps;
	const Option *options; /* ends with a row without a name; may be NULL */
	gsize options_size, state_size;
	/* @self is state_size zeroed bytes. Checks what options say together; may be NULL. */
	gboolean (*init)(void *self, const void *options, const View *view, GError **error);
	/* Notes: they change the policy alone. May be NULL. From arrived() to completed() a job
	 * wants GPUs. A completed one ran until now, or was being suspended, and is done, however
	 * it ended, but for plan_reject(); or it is paused (view_state()) and may arrive once more,
	 * as soon as at the same instant. So arrived() may show a job with a lower id than the last
	 * one, which has run before (view_n_starts()). Nobody is told of the end of a paused job,
	 * nor when a running one is granted more work (view_remaining_ns()) or a higher cap
	 * (view_max_gpus()) where it is. */
	void (*arrived)(void *self, const View *view, const Job *job);
	void (*completed)(void *self, const View *view, const Job *job);
	void (*timer)(void *self, const View *view, guint64 tag);
	/* Reads the view, edits the plan; once an instant. Required. */
	void (*decide)(void *self, const View *view, PolicyWake why, Plan *plan);
	/* Frees what the state holds; may be NULL. */
	void (*finish)(void *self);
	/* What the policy's preset option asks for, where the run gives no overheads of its own;
	 * may be NULL. */
	void (*preset)(const void *options, Overheads *overheads);
	/* The widest level that the policy ever spreads a gang over; NULL = the cluster. A job that
	 * would not fit into the empty cluster that way is rejected at its submit (A07). */
	PlacementLevel (*max_level)(const void *options);
	/* What it counted; writes at most MAX_POLICY_COUNTERS and returns how many. May be NULL. */
	guint (*counters)(const void *self, PolicyCounter *ret_counters);
	/* A paragraph for `themis-sim policies NAME`; may be NULL. */
	const char *idea;
} PolicyClass;
