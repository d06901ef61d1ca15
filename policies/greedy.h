/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The greedy machine: whenever GPUs are idle or leases end, whoever has the best key takes of
 * them, then the next, until nobody can use what is left (policies.md 1.13). A policy says how
 * those who ask are ordered; leases, offers, places and edits are the machine's.
 *
 * Those who ask are parties: apps, jobs, or all that a user or a tenant has here. A party serves
 * first its jobs whose leases have just ended, then those that wait (A80), each by (submit, trace
 * order), or of those that wait the one with most work left first: a rigid job its gang or nothing,
 * a moldable one its smallest width, then a GPU more at a time.
 * Jobs that ask for a part of a GPU hold it to their end. Policies get this through sim/policy.h.
 */

#include "policies/placement.h"
#include "sim/base/score.h"

typedef enum GreedyGrain {
	GREEDY_BY_APP,  /* the best party takes all it can use, then the next */
	GREEDY_BY_GANG, /* the best party takes one grant, then all are asked anew */
	GREEDY_BY_GPU,  /* each free GPU in turn, by number, goes to the best party for it */
} GreedyGrain;

typedef enum GreedyUnit {
	GREEDY_APPS,
	GREEDY_JOBS,
	GREEDY_USERS,
	GREEDY_TENANTS,
} GreedyUnit;

typedef enum GreedyJobOrder {
	GREEDY_JOBS_BY_TRACE,
	GREEDY_JOBS_LONGEST, /* GPU-time at full speed that is left; for ORACLE policies */
} GreedyJobOrder;

typedef enum GreedyCount {
	GREEDY_EXACTLY,
	/* Where a job's iterations are known, the one in progress counts in full: as work left, as
	 * work done, and as time held. */
	GREEDY_IN_ITERATIONS,
} GreedyCount;

typedef enum GreedyLeaseEnd {
	GREEDY_ENDS_EXACTLY,
	GREEDY_ENDS_WITH_ITERATION, /* the last that is over by then */
} GreedyLeaseEnd;

typedef enum GreedyTies {
	GREEDY_TIES_SUBMIT,
	GREEDY_TIES_HELD, /* fewer GPUs held, then longer without, then by submit */
} GreedyTies;

typedef enum GreedyArrivals {
	GREEDY_ARRIVALS_POOLED,
	GREEDY_ARRIVALS_FIRST, /* what was free before is offered before the leases that end */
} GreedyArrivals;

typedef enum GreedyPreset {
	GREEDY_PRESET_NONE,
	GREEDY_PRESET_AUTHORS,
} GreedyPreset;

/* Ascending: the smaller goes first. Ties go to the party whose first job is the earlier by
 * (submit, trace order), within it likewise. */
typedef __int128 GreedyKey;

/* A rank that floats gave (score_rank_of()), best first. */
static inline GreedyKey
greedy_key_of(double value)
{
	return -(GreedyKey)score_rank_of(value);
}

/* Whoever has this key does not ask. */
#define GREEDY_KEY_NONE (((GreedyKey)G_MAXINT64) << 63)

typedef struct GreedyOptions {
	gint grain, unit, preset;    /* GreedyGrain, GreedyUnit, GreedyPreset */
	gint jobs;                   /* GreedyJobOrder */
	gint count, lease_end, ties; /* GreedyCount, GreedyLeaseEnd, GreedyTies */
	gint arrivals;               /* GreedyArrivals */
	SimTime lease_ns;            /* TIME_NEVER: what is given is kept to the end */
	PlacementOptions placement;
} GreedyOptions;

/* One job's next grant. The rates are in parts per billion of a GPU at full speed. */
typedef struct GreedyBid {
	const Job *job;
	guint32 party;
	guint32 n_now, n_then; /* GPUs of the job, without and with the grant */
	gint64 rate_now_ppb;   /* of the job; the rates are 0 unless the rules look at them */
	gint64 rate_then_ppb;
	gint64 factor_ppb; /* 1/S where it would be */
} GreedyBid;

typedef struct Greedy Greedy;

typedef struct GreedyRules {
	GreedyKey (*key)(const void *self, const View *view, const GreedyBid *bid);
	/* Where no key says it: whether @one goes before @other, the best so far. May be NULL. */
	gboolean (*beats)(const void *self, const View *view, const GreedyBid *one,
	                  const GreedyBid *other);
	gboolean needs_rates; /* key() looks at rates or factors; else they cost time */
	gboolean needs_work;  /* at the work that parties have left: for ORACLE policies */
} GreedyRules;

/* All that is given must outlive the machine; @self is handed to the rules' functions. */
Greedy *greedy_new(const View *view, const GreedyRules *rules, const GreedyOptions *options,
                   const void *self, GError **error);
void greedy_free(Greedy *greedy);

/* What a party has here, this round's grants included. */
typedef struct GreedyHolding {
	guint64 gpus_milli, cpus_milli, mem_mib;
	gint64 rate_ppb; /* if the rules need rates */
} GreedyHolding;

const GreedyHolding *greedy_holding(const Greedy *greedy, guint32 party);

/* GPU-time that the party's jobs have held so far, of those that are done as well. */
GpuTime greedy_service(const Greedy *greedy, const View *view, guint32 party);

/* Work left of the party's jobs that are here: GPU-time at full speed, and of the longest its
 * time at the requested width. */
GpuTime greedy_work_left(const Greedy *greedy, const View *view, guint32 party);
SimWork greedy_longest_left_ns(const Greedy *greedy, const View *view, guint32 party);

/* Work that a job has done, as GPU-time at full speed. */
GpuTime greedy_work_done(const Greedy *greedy, const View *view, const Job *job);

/* How long the party's work takes at @rate_ppb > 0. */
double greedy_time_left_ns(const Greedy *greedy, const View *view, guint32 party, gint64 rate_ppb);

/* What a policy whose state begins with its Greedy * may put into its table as it is. */
void greedy_policy_arrived(void *self, const View *view, const Job *job);
void greedy_policy_completed(void *self, const View *view, const Job *job);
void greedy_policy_timer(void *self, const View *view, guint64 tag);
void greedy_policy_decide(void *self, const View *view, PolicyWake why, Plan *plan);
void greedy_policy_finish(void *self);

/* For options that begin with a GreedyOptions. */
PlacementLevel greedy_policy_max_level(const void *options);

/* All of them, in a PolicyClass. */
#define GREEDY_POLICY_FUNCTIONS                                                 \
	.arrived = greedy_policy_arrived, .completed = greedy_policy_completed, \
	.timer = greedy_policy_timer, .decide = greedy_policy_decide,           \
	.finish = greedy_policy_finish, .max_level = greedy_policy_max_level

extern const char *const greedy_grain_names[];
extern const char *const greedy_unit_names[];
extern const char *const greedy_owner_names[];
extern const char *const greedy_job_order_names[];
extern const char *const greedy_preset_names[];
extern const char *const greedy_count_names[];
extern const char *const greedy_lease_end_names[];
extern const char *const greedy_ties_names[];
extern const char *const greedy_arrivals_names[];

#define GREEDY_OFFSET(type, member) \
	(G_STRUCT_OFFSET(type, greedy) + G_STRUCT_OFFSET(GreedyOptions, member))

/* Rows of an options struct whose first member is called greedy. */
#define GREEDY_ROW_GRAIN(type, default_grain)                                                   \
	{                                                                                       \
		.name = "grain", .kind = OPTION_CHOICE, .offset = GREEDY_OFFSET(type, grain),   \
		.standard = default_grain, .choices = greedy_grain_names,                       \
		.help = "the best takes all it can use; or one gang or GPU more, then all are " \
		        "asked anew; or each free GPU in turn goes to the best for it"          \
	}

#define GREEDY_ROW_UNIT(type, default_unit)                                                 \
	{                                                                                   \
		.name = "unit", .kind = OPTION_CHOICE, .offset = GREEDY_OFFSET(type, unit), \
		.standard = default_unit, .choices = greedy_unit_names,                     \
		.help = "who asks: an app for its jobs together, or each job"               \
	}

#define GREEDY_ROW_JOBS(type)                                                                 \
	{                                                                                     \
		.name = "jobs", .kind = OPTION_CHOICE, .offset = GREEDY_OFFSET(type, jobs),   \
		.standard = "trace", .choices = greedy_job_order_names,                       \
		.help = "which of its waiting jobs an app serves first: in the order of the " \
		        "trace, or that with most work left"                                  \
	}

#define GREEDY_ROW_LEASE(type, default_lease)                                                    \
	{                                                                                        \
		.name = "lease_s", .kind = OPTION_SECONDS,                                       \
		.offset = GREEDY_OFFSET(type, lease_ns), .standard = default_lease, .min = 1e-9, \
		.max = 1e9, .may_be_off = TRUE,                                                  \
		.help = "how long a GPU is given for; off: to the job's end"                     \
	}

#define GREEDY_ROW_PLACEMENT(type, default_placement)                                         \
	{                                                                                     \
		.name = "placement", .kind = OPTION_CHOICE,                                   \
		.offset =                                                                     \
		    GREEDY_OFFSET(type, placement) + G_STRUCT_OFFSET(PlacementOptions, kind), \
		.standard = default_placement, .choices = placement_kind_names,               \
		.help = "how the GPUs of a gang are chosen among those that are free; a GPU " \
		        "more is the nearest, under first-fit the lowest-numbered"            \
	}

#define GREEDY_ROW_MAX_LEVEL(type)                                                                 \
	{                                                                                          \
		.name = "max_level", .kind = OPTION_CHOICE,                                        \
		.offset =                                                                          \
		    GREEDY_OFFSET(type, placement) + G_STRUCT_OFFSET(PlacementOptions, max_level), \
		.standard = "cluster", .choices = placement_level_names,                           \
		.help = "a gang is never spread beyond this level"                                 \
	}

#define GREEDY_ROW_COUNT(type)                                                                 \
	{                                                                                      \
		.name = "count", .kind = OPTION_CHOICE, .offset = GREEDY_OFFSET(type, count),  \
		.standard = "exact", .choices = greedy_count_names,                            \
		.help = "of a job whose iteration time is known, the one in progress counts "  \
		        "as it goes, or in full: as work left, as work done, and as time held" \
	}

/* The rows that all policies of apps begin with. */
#define GREEDY_ROWS_OFFER(type, default_placement)                                          \
	GREEDY_ROW_GRAIN(type, "app"), GREEDY_ROW_UNIT(type, "app"), GREEDY_ROW_JOBS(type), \
	    GREEDY_ROW_PLACEMENT(type, default_placement), GREEDY_ROW_MAX_LEVEL(type)

/* What the program behind the paper's figures does differently, and all of it. */
#define GREEDY_ROWS_AUTHORS(type, what)                                                            \
	{ .name = "lease_end",                                                                     \
	  .kind = OPTION_CHOICE,                                                                   \
	  .offset = GREEDY_OFFSET(type, lease_end),                                                \
	  .standard = "exact",                                                                     \
	  .choices = greedy_lease_end_names,                                                       \
	  .help = "a GPU is given up when its lease is over, or, by a job whose iteration "        \
		  "time is known, after the last iteration that is over by then" },                \
	    { .name = "ties",                                                                      \
	      .kind = OPTION_CHOICE,                                                               \
	      .offset = GREEDY_OFFSET(type, ties),                                                 \
	      .standard = "submit",                                                                \
	      .choices = greedy_ties_names,                                                        \
	      .help = "who goes first of equals: the earlier; or who holds fewer GPUs, then who "  \
		      "has been without for longer" },                                             \
	    { .name = "arrivals",                                                                  \
	      .kind = OPTION_CHOICE,                                                               \
	      .offset = GREEDY_OFFSET(type, arrivals),                                             \
	      .standard = "pooled",                                                                \
	      .choices = greedy_arrivals_names,                                                    \
	      .help = "where jobs arrive when leases end: one offer of all that is free then; or " \
		      "first one of what was free before, then one of the leases" },               \
	{                                                                                          \
		.name = "preset", .kind = OPTION_CHOICE, .offset = GREEDY_OFFSET(type, preset),    \
		.standard = "none", .choices = greedy_preset_names,                                \
		.help = "authors: as in the program behind the paper's figures, where an "         \
		        "option is left at its default: grain=gpu, unit=job, "                     \
		        "lease_end=iteration, ties=held, arrivals=first" what                      \
	}

/* TRUE under preset=authors, and then @choice, if it is at its default, the first, is @theirs. */
static inline gboolean
greedy_follow_authors(const GreedyOptions *options, gint *choice, gint theirs)
{
	if (options->preset != GREEDY_PRESET_AUTHORS)
		return FALSE;
	if (*choice == 0)
		*choice = theirs;
	return TRUE;
}
