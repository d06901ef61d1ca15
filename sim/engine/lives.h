/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * How contended the cluster was over the life of every app: the integrals behind N_avg (A20) and
 * contention (C04), kept exactly as time passes.
 */

#include "sim/model/workload.h"

typedef struct AppLife {
	guint32 n_alive;     /* submitted GPU jobs that are not done */
	guint32 n_at_submit; /* n(t) at the first submit, after that instant's arrivals */
	gint64 load_at_submit_milli;
	gboolean is_born;
	SimTime born_ns, died_ns;
	__int128 apps_at_birth, apps_at_death; /* integral of n(t) up to then */
	__int128 load_at_birth, load_at_death; /* integral of max(demand(t), capacity), milli */
} AppLife;

typedef struct Lives {
	const Workload *workload;
	AppLife *lives; /* by AppId */
	guint n_active; /* n(t) */
	guint64 demand_milli, capacity_milli;
	SimTime now_ns;
	__int128 apps_ns, load_milli_ns; /* the integrals up to now */
	GArray *born_now;                /* of AppId: first submit at this instant */
} Lives;

Lives *lives_new(const Workload *workload, guint64 capacity_milli);
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

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lives, lives_free)
