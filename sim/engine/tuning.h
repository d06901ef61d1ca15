/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The tuners of a run at work: which trial is in which phase, who pauses, goes on or is stopped.
 * The rules are model/tuner.h; what is done about them to a job is runs.h. Exists only where some
 * app has a tuner.
 *
 * Run.goal_ns of a trial is the work at which its phase is over. When it is there (run_due()), the
 * trial still holds its GPUs; tuning_settle(), right after the segment ends of an instant, decides
 * in the order of AppId and JobId:
 *
 *   goes on where it is        a longer goal; nobody is told
 *   pauses                     its GPUs are free; told to the policy as completed
 *   is stopped                 likewise, for good; one that was paused already is not told twice
 *   comes back from a pause    queued again; told to the policy as arrived
 *
 * A job that could never fit or that the policy rejects is no trial; one that times out leaves.
 */

#include "sim/engine/engine.h"

typedef struct Tuning Tuning;

struct Engine;

/* Reads the jobs' phases into their first goals. */
Tuning *tuning_new(Engine *engine);
void tuning_free(Tuning *tuning, guint n_apps);

/* @job has done the work up to its goal. FALSE if that was all of it: the job is finished. */
gboolean tuning_reach(Engine *engine, JobId job);

/* @job is done, and not by its tuner. */
void tuning_leave(Engine *engine, JobId job);

/* Whether some tuner has something to decide. */
gboolean tuning_is_due(const Tuning *tuning);
void tuning_settle(Engine *engine);

/* The most GPUs @job can use in its phase. */
guint32 tuning_max_gpus(const Engine *engine, JobId job);

/* Work that the tuner has granted @job in all: to the end of its phase, or of its training where
 * it is looked at without a pause (hyperdrive). */
SimWork tuning_granted_ns(const Engine *engine, JobId job);

/* Work that no stop can lose: a phase that was evaluated is kept. */
SimWork tuning_saved_ns(const Engine *engine, JobId job);

/* d of the app: the largest sum of caps of the trials of a phase, so far (A23). */
guint64 tuning_demand_milli(const Engine *engine, AppId app);

/* See view_app_forecast(); the app has a tuner. */
guint tuning_forecast(const Engine *engine, AppId app, Phase *ret_phases);

/* NULL, or what is wrong with the trials of the run (A79, check.c); free with g_free(). */
char *tuning_check(const Engine *engine);
