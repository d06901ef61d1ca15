/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * How contended the cluster was over the life of every app: the integrals behind N_avg (A20) and
 * contention (C04), and those of the later definitions of fairness (docs/metrics.md), kept exactly
 * as time passes.
 */

#include "sim/engine/crowd.h"
#include "sim/engine/record.h"
#include "sim/model/workload.h"

typedef struct AppLife {
	guint32 n_alive; /* submitted GPU jobs that are not done */
	gboolean is_born;
	SimTime born_ns, died_ns;
	/* Integrals at the birth: of n(t), of the GPU jobs in the system, and of max(demand(t),
	 * capacity), milli. */
	__int128 apps_at_birth, jobs_at_birth, load_at_birth;
	/* Means over the life up to died_ns; of one of length 0 those at its instant, after the
	 * arrivals (A21). */
	double n_avg, n_jobs_avg, contention;
	double work;      /* done in segments, GPU-ns */
	double work_apps; /* the same times the max(n(t), GPUs / d) it met */
} AppLife;

typedef struct Lives {
	const Workload *workload;
	const Recorder *recorder; /* to be told of demand; or NULL */
	AppLife *lives;           /* by AppId */
	guint n_active;           /* n(t) */
	guint n_jobs;             /* GPU jobs submitted and not done, but for paused ones */
	Crowd crowd;
	guint64 demand_milli, capacity_milli;
	SimTime now_ns;
	__int128 apps_ns, jobs_ns, load_milli_ns; /* the integrals up to now */
	GArray *born_now;                         /* of AppId: first submit at this instant */
} Lives;

Lives *lives_new(const Workload *workload, guint64 capacity_milli, const Recorder *recorder);
void lives_free(Lives *lives);

/* Integrates up to @now_ns. */
void lives_advance(Lives *lives, SimTime now_ns);

/* The job is submitted and can use @max_gpus. One that is rejected at once has a birth for its app
 * and nothing else. */
void lives_submitted(Lives *lives, const Job *job, gboolean is_admitted, guint max_gpus);

/* All arrivals of this instant are in: what n(t) is for those born now. */
void lives_settle(Lives *lives);

/* What an admitted job can use changes: 0 while its tuner has it paused. */
void lives_change_demand(Lives *lives, const Job *job, guint from_gpus, guint to_gpus);

/* An admitted job is done, however it ended; @max_gpus is what it could use last. */
void lives_done(Lives *lives, const Job *job, guint max_gpus);

double lives_n_avg(const Lives *lives, AppId app);         /* up to now (A68) */
double lives_n_avg_of_life(const Lives *lives, AppId app); /* up to the last end (A20, A21) */
double lives_contention_of_life(const Lives *lives, AppId app);
double lives_n_jobs_of_life(const Lives *lives, AppId app); /* mean of the GPU jobs in the system */

/* The integral up to now of max(n(t) x d, GPUs) with the d of @app; 0 if it uses none. */
__int128 lives_crowd_load(const Lives *lives, AppId app);

/* A segment of an app's job ended now that began @length_ns > 0 ago, when lives_crowd_load() was
 * @load_at_start, and did @work GPU-ns of work. */
void lives_worked(Lives *lives, AppId app, double work, SimTime length_ns, __int128 load_at_start);

/* Into how many equal parts the cluster was cut while the app worked: the mean over its work of
 * max(n(t), GPUs / d), which within a segment is taken over all its time; 0 if it did no work. */
double lives_n_at_work(const Lives *lives, AppId app);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lives, lives_free)
