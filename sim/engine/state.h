/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The state of one run, private to this room: what the corridor walks through (engine.c), what
 * the gate edits (plan.c) and the window shows (view.c).
 */

#include "sim/base/error.h"
#include "sim/engine/engine.h"
#include "sim/engine/events.h"
#include "sim/engine/lives.h"
#include "sim/engine/tuning.h"

/* Among events of one instant segment ends come before timers (DESIGN 3). */
#define ORDER_TIMER ((guint64)1 << 63)

/* A job as it runs: one segment, and what outlives a segment. Times of the segment are those of
 * its own start; see runs.h. */
typedef struct Run {
	__int128 load_at_start; /* lives_crowd_load() at since_ns */
	SimTime since_ns;       /* start of the present segment */
	SimTime works_from_ns;  /* end of the overhead it began with */
	SimTime started_ns;     /* start of the present stretch on GPUs */
	SimTime stopped_ns;     /* while suspending: when work ceased */
	SimWork work_left_ns;   /* up to goal_ns; as of since_ns; once stopped, as of then */
	SimWork goal_ns;        /* the job's duration, or where its tuner looks at it next */
	gint64 speed_ppb;
	gint64 placement_atto; /* 1 / slowdown of its level, times 10^18 */
	PlacementLevel level;
	guint32 n_starts;
	guint32 edit;         /* 1 + its place in the plan, or 0 */
	gboolean is_off_beat; /* its co-residents changed: to be re-rated */
	Alloc alloc;          /* held now */
	Alloc last_alloc;     /* of the last stretch */
} Run;

typedef struct PlanEdit {
	JobId job;
	gboolean was_running;
	gboolean will_run;
	gboolean is_migration; /* starts elsewhere as a move */
	const char *reject_reason;
	Alloc to; /* if will_run */
} PlanEdit;

struct Plan {
	Engine *engine;
	PlanEdit *edits; /* their Allocs keep their memory from plan to plan */
	guint n, size;
};

typedef struct Timer {
	guint64 tag;
	SimTime at_ns;
} Timer;

typedef struct Timers {
	Timer *timers;
	GArray *unused;     /* of guint32: places in timers */
	GHashTable *by_tag; /* tag -> 1 + place */
	guint n, size;
	guint64 sequence; /* of setting: order among equal times */
} Timers;

struct View {
	Engine *engine;
};

struct Engine {
	const Scenario *scenario;
	const PolicyClass *policy;
	void *self; /* the policy's state */
	EngineSettings settings;
	Overheads largest_overheads;
	PlacementLevel max_level;

	SimTime now_ns;
	JobId next_arrival;
	EventQueue *events; /* entry: JobId, or n_jobs + place of the timer */
	Timers timers;

	Cluster *cluster;
	Cluster *empty; /* the same cluster with nobody on it: what could ever fit */
	Lives *lives;
	Tuning *tuning;      /* NULL if no app has a tuner */
	Run *runs;           /* by JobId */
	RunRecord *record;   /* what engine_run() hands over */
	GArray *running;     /* of JobId: holding GPUs, in no order that matters */
	guint32 *running_at; /* by JobId: place in running */
	guint n_queued;
	guint n_running_free; /* running jobs of 0 GPUs */
	guint64 queued_milli;
	guint n_suspending_gpus;
	GArray *off_beat; /* of JobId: to be re-rated at the end of the plan */

	Plan plan;
	View view;
	PolicyWake why; /* collected during the instant */

	guint n_done;        /* jobs that are */
	guint idle_instants; /* in a row: nothing runs, nobody comes, jobs wait */
	guint idle_passes;   /* of this instant: through the five steps without an end */
	/* since a job last came or went */
	JobId stopped_jobs[2];  /* the last two that were stopped; JOB_NONE */
	guint idle_stops;       /* in a row, without work done in between (A79) */
	__int128 work_at_check; /* work left of all jobs when last looked */
	gboolean has_work_check;
	guint stops;
	__int128 work_at_stops; /* work left of all jobs when last so many were counted */
	SimTime stops_counted_ns;
	gboolean has_stops_count;
	GError *failure; /* the run ends with it after this instant */

	GpuTime *distribution; /* see view_service_distribution() */
	guint n_distribution;
};

static inline const Job *
engine_job(const Engine *engine, JobId job)
{
	return &engine->scenario->workload->jobs[job];
}

static inline guint32
engine_max_gpus(const Engine *engine, JobId job)
{
	return engine->tuning != NULL ? tuning_max_gpus(engine, job)
	                              : engine_job(engine, job)->max_gpus;
}

/* plan.c */
void plan_init(Plan *plan, Engine *engine);
void plan_clear(Plan *plan);
void plan_commit(Plan *plan);
void engine_count_refusal(Engine *engine, const char *edit, JobId job, const char *verdict);

/* engine.c */

/* The job's record is final. */
void engine_job_is_done(Engine *engine, JobId job);

/* The run ends after this instant; what went wrong first is what is told. */
void engine_fail(Engine *engine, SimErrorCode code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* timers.c */
void timers_init(Timers *timers);
void timers_clear(Timers *timers);
void timers_set(Engine *engine, guint64 tag, SimTime at_ns);
void timers_unset(Engine *engine, guint64 tag);
/* Takes the timer behind @entry out and returns its tag. */
guint64 timers_take(Engine *engine, guint32 entry);

/* fit.c: NULL if @job fits into the empty cluster under the policy's limits (A07), else the
 * reason, which the caller frees. */
char *fit_refusal(const Engine *engine, const Job *job);

/* check.c: every invariant; FALSE with the first that is broken. */
gboolean engine_check(const Engine *engine, GError **error);
