/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a policy may see. The cluster is shown with the edits of the plan in progress already
 * made; jobs and apps as they were when the policy was called. Nothing seen here may be kept
 * beyond the call but ids.
 */

#include "sim/base/rng.h"
#include "sim/model/app.h"
#include "sim/model/cluster.h"
#include "sim/model/overhead.h"

typedef struct View View;

typedef enum JobState {
	JOB_PENDING,    /* not submitted yet */
	JOB_QUEUED,     /* waits, holding nothing */
	JOB_RUNNING,    /* holds its GPUs */
	JOB_SUSPENDING, /* stopped, and holds its GPUs until its suspend_s is over */
	JOB_PAUSED,     /* by its tuner: neither waits nor holds anything, and may come back */
	JOB_FINISHED,
	JOB_REJECTED,
	JOB_TIMEOUT,
	JOB_FAILED,
	JOB_UNFINISHED,
	JOB_STOPPED, /* early, by its tuner */
} JobState;

static inline gboolean
job_state_is_done(JobState state)
{
	return state >= JOB_FINISHED;
}

SimTime view_now_ns(const View *view);
const ClusterSpec *view_cluster_spec(const View *view);
const Cluster *view_cluster(const View *view);
const ModelTable *view_models(const View *view);

/* Random numbers of the run's seed. */
RngStream view_stream(const View *view, const char *name);

guint view_n_jobs(const View *view);
guint view_n_apps(const View *view);
const Job *view_job(const View *view, JobId job);
const App *view_app(const View *view, AppId app);

/* As it was before this plan's edits. */
JobState view_state(const View *view, JobId job);

/* The GPUs that the job holds, this plan's edits included; empty if none. */
const Alloc *view_alloc(const View *view, JobId job);

/* The GPUs of the job's last stretch, for one that waits and would have them back (B22); empty if
 * it never ran. */
const Alloc *view_last_alloc(const View *view, JobId job);

/* How often the job has been started so far. */
guint32 view_n_starts(const View *view, JobId job);

/* GPUs held by jobs that are being suspended: not free yet, but nobody's for long (A10). */
guint view_n_suspending_gpus(const View *view);

/* FALSE if it never started. */
gboolean view_first_start_ns(const View *view, JobId job, SimTime *ret_ns);

/* When the present stretch on GPUs began, whatever happened to its speed since. The job runs. */
SimTime view_started_ns(const View *view, JobId job);

/* Time on GPUs so far, overhead and suspension included (A12), and the same times the GPUs held. */
SimTime view_attained_ns(const View *view, JobId job);
GpuTime view_attained_service(const View *view, JobId job);

/* Parts per billion; 0 if it does not run. */
gint64 view_speed_ppb(const View *view, JobId job);

/* When the job's present stretch starts to do work: before that it pays an overhead. The job runs.
 */
SimTime view_works_from_ns(const View *view, JobId job);

Overheads view_overheads(const View *view, JobId job);

/* The largest of what any job of this run may pay, for policies that check their quanta (B05). */
Overheads view_largest_overheads(const View *view);

/* The most GPUs the job can use now: its max_gpus, or less in an early phase of its tuner. Plans
 * that give more are refused. It never falls. */
guint32 view_max_gpus(const View *view, JobId job);

/* Work done and kept so far, at speed 1: what the owner of any training sees of it. */
SimWork view_work_done_ns(const View *view, JobId job);

/* The truth, for a policy with the ORACLE capability; without it FALSE, and counted as refused.
 * Remaining work excludes overhead still to be paid (A12). Of a job whose tuner has granted it a
 * part of its training so far, that part is all that anybody knows: its duration is what is
 * granted in all, and it may grow, with an arrival of the job or, where it keeps its GPUs, without.
 */
gboolean view_duration_ns(const View *view, JobId job, SimWork *ret_ns);
gboolean view_remaining_ns(const View *view, JobId job, SimWork *ret_ns);

/* W of an app (A23), likewise; of an app with a tuner the work done and forecast. */
gboolean view_app_work(const View *view, AppId app, GpuTime *ret_work);

/* d of an app (A23) in thousandths of GPUs: the sum of max_gpus, or the largest demand of a phase
 * that an app with a tuner has had or will have. For every policy. */
guint64 view_app_demand_milli(const View *view, AppId app);

/* A stretch of an app's life during which it can use a number of GPUs. */
typedef struct Phase {
	double work_gpu_ns; /* GPUs x ns at speed 1 */
	double cap_gpus;    /* (shares count as parts) */
} Phase;

#define MAX_APP_PHASES TUNER_MAX_PHASES

/* What the app still has to go through, the present phase first: k GPUs take the sum over phases
 * of work / min(k, cap) (policies.md 1.4). At most MAX_APP_PHASES; 0 for one that is done; likewise
 * 0 without the ORACLE capability. All jobs count that are not done, submitted or not.
 *
 * Without a tuner, and for hyperdrive (whose trials may all go on), it is one phase: all that is
 * left of all jobs that are not done. Else: what is left of the present phase to the trials that
 * are not paused; then for each later phase the number of survivors times the median of what the
 * present trials would work and use in it, as nobody knows who they will be. Brackets are beside
 * each other: their first phases are added, their second ones, and so on. */
guint view_app_forecast(const View *view, AppId app, Phase ret_phases[MAX_APP_PHASES]);

/* num_gpus x duration of every job of the trace that is not rejected, ascending: a distribution is
 * known even where a job's own duration is not (A61). */
const GpuTime *view_service_distribution(const View *view, guint *ret_n);

/* n(t): apps in the system now (A20), and the mean over [first submit of @app, now), which at the
 * submit itself is n (A68). */
guint view_n_active_apps(const View *view);
double view_app_n_avg(const View *view, AppId app);

/* The speed @job would have on @where, parts per billion, alone; 0 if it cannot run there. */
gint64 view_speed_on_ppb(const View *view, JobId job, const Alloc *where);
