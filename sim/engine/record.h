/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What is left of a run: a record for every job and app, sums, and, for whoever asks, what happened
 * as it happened. Looking never changes a result.
 */

#include "sim/engine/policy_class.h"
#include "sim/engine/view.h"

typedef struct JobRecord {
	JobState state;
	gboolean has_started;
	const char *reject_reason;  /* "" but for REJECTED; the run's */
	SimTime first_start_ns;     /* if it has started */
	SimTime finish_ns;          /* if FINISHED, TIMEOUT, FAILED or STOPPED */
	SimTime run_ns;             /* holding GPUs, overhead and suspension included */
	SimTime overhead_ns;        /* of that */
	SimWork kept_work_ns;       /* work done and not lost */
	GpuTime service;            /* integral of GPUs (or share) held */
	__int128 placement_atto_ns; /* integral of 10^18 / slowdown of level, over run_ns */
	guint32 segments, preemptions, migrations;
} JobRecord;

typedef struct AppRecord {
	gboolean has_life; /* all its jobs ended FINISHED or STOPPED, and their times are below */
	JobState state;    /* by A22 */
	SimTime finish_ns; /* if FINISHED */
	GpuTime service;
	/* Of an app with a tuner, see app_work() and app_demand_milli(). */
	GpuTime tuned_work;
	guint64 tuned_demand_milli;
	double n_avg;      /* time-weighted mean of n(t) over its life (A20, A21) */
	double contention; /* mean of max(1, demand(t) / GPUs that are up) (C04) */
	double n_jobs_avg; /* mean over its life of the GPU jobs that are submitted and not done */
	double n_at_work;  /* see lives.h; 0 if it did no work */
} AppRecord;

/* W of A23: what an app is about; with a tuner, what all its jobs did and kept. */
static inline GpuTime
app_work(const App *app, const AppRecord *done)
{
	return app->tuner != NULL ? done->tuned_work : app->work;
}

/* d of A23: the most it could use; with a tuner, that of its largest phase. */
static inline guint64
app_demand_milli(const App *app, const AppRecord *done)
{
	return app->tuner != NULL ? done->tuned_demand_milli : app->demand_milli;
}

typedef enum SegmentEnd {
	SEGMENT_FINISHED,
	SEGMENT_PREEMPTED,
	SEGMENT_MOVED,
	SEGMENT_SPEED,
	SEGMENT_FAILED,
	SEGMENT_TIMEOUT,
	SEGMENT_STOPPED, /* by the tuner, or by the end of the run */
	SEGMENT_PAUSED,
} SegmentEnd;

const char *segment_end_to_string(SegmentEnd end);

typedef struct Segment {
	JobId job;
	guint32 index; /* of the job's segments, from 0 */
	SimTime start_ns, end_ns;
	SimTime overhead_ns;
	gint64 speed_ppb;
	PlacementLevel level;
	SegmentEnd end;
	const Alloc *alloc; /* valid during the call; empty for a job of 0 GPUs */
} Segment;

typedef struct Instant {
	SimTime at_ns;
	guint64 held_milli, capacity_milli; /* thousandths of GPUs */
	guint n_running, n_queued;          /* a job being suspended counts as running */
	guint64 queued_milli;               /* asked for by queued jobs */
} Instant;

/* Any of the calls may be NULL. */
typedef struct Recorder {
	void *self;
	/* What a submitted job can use changes: with its submit, its end, and its tuner's mind. */
	void (*demand)(void *self, JobId job, SimTime at_ns, guint64 from_milli, guint64 to_milli);
	/* A segment begins, on so many thousandths of GPUs. */
	void (*begin)(void *self, JobId job, SimTime at_ns, guint64 held_milli);
	void (*segment)(void *self, const Segment *segment);
	void (*instant)(void *self, const Instant *instant); /* after every instant */
	/* The job's record is final; valid during the call. */
	void (*done)(void *self, JobId job, const JobRecord *record);
} Recorder;

typedef struct RunRecord {
	JobRecord *jobs;   /* by JobId */
	AppRecord *apps;   /* by AppId */
	GpuTime allocated; /* integral over GPUs of min(1, shares held) (A27) */
	GpuTime capacity;  /* integral of GPUs that are up over the span of A27 */
	gboolean has_span; /* some job was not rejected and some job ended or ran */
	SimTime first_submit_ns, last_finish_ns; /* A26 */
	gboolean has_first_submit, has_last_finish;
	SimTime end_ns; /* when the run ended */
	guint64 events, decisions, refused;
	char *first_refusal; /* or NULL */
	PolicyCounter counters[MAX_POLICY_COUNTERS];
	guint n_counters;
	GStringChunk *strings;
} RunRecord;

void run_record_free(RunRecord *record);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunRecord, run_record_free)
