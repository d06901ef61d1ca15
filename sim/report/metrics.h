/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a run's jobs come to. A job is measured if it is FINISHED and was submitted in the window
 * (SEMANTICS A25); means and quantiles are over those alone, everything else is over all.
 */

#include "sim/engine/record.h"
#include "sim/model/scenario.h"

/* Of a set of times: 0 values are a state of their own, with nothing else defined. */
typedef struct TimeFigures {
	guint n;
	__int128 sum_ns;
	SimTime *sorted_ns;
} TimeFigures;

void time_figures_init(TimeFigures *figures, guint size);
void time_figures_clear(TimeFigures *figures);

/* To be sorted before a quantile is asked for. */
void time_figures_add(TimeFigures *figures, SimTime length_ns);

typedef struct JobMetrics {
	guint64 finished, rejected, timeout, failed, unfinished, stopped;
	guint64 preemptions, migrations;
	GpuTime useful;                         /* work done and kept */
	GpuTime goodput;                        /* that of jobs that FINISHED */
	GpuTime stopped_service;                /* held by jobs that their tuners stopped */
	TimeFigures jct, wait;                  /* of the measured */
	__int128 slowdown_nano, placement_nano; /* means */
	gboolean has_slowdown, has_placement;
	JobId longest_wait; /* whose it is; JOB_NONE if none is measured */
	SimTime longest_wait_ns;
} JobMetrics;

void job_metrics_init(JobMetrics *metrics, const Scenario *scenario, const RunRecord *record);
void job_metrics_clear(JobMetrics *metrics);

/* Whether a job or app submitted then is inside the window. */
gboolean window_has(const Scenario *scenario, SimTime submit_ns);

static inline gboolean
job_has_finish(const JobRecord *done)
{
	return done->state == JOB_FINISHED || done->state == JOB_TIMEOUT ||
	       done->state == JOB_FAILED || done->state == JOB_STOPPED;
}

/* The time-weighted mean of 1 / slowdown of level, in billionths; FALSE where it is undefined
 * (A29, B15). */
gboolean job_placement_nano(const Scenario *scenario, const Job *job, const JobRecord *done,
                            gint64 *ret_nano);

/* The app's labels are those of its first job in the file (SEMANTICS A35). */
const Job *app_first_job(const Workload *workload, const App *app);
