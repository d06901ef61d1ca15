/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A run in memory: a few jobs as a text, a cluster as a shorthand, a policy as on the command line.
 *
 *	g_autoptr(Fixture) fixture = fixture_new("A,0,4,100; B,10,2,20", "1x4");
 *
 *	fixture_run(fixture, "tiresias:thresholds_gpu_s=[4,8]");
 *	ck_assert_double_eq(fixture_finish_s(fixture, "B"), 30);
 *
 * A job is `id,submit,gpus,duration` in seconds, and then any of app=, user=, tenant=, model=,
 * type=, share=, gpu_mem=, mem=, cpus=, workers=, per_worker=, min=, max=, priority=, limit=,
 * weight=, iteration=, tuner= (with + for its commas), loss=. Runs are strict and paranoid: a
 * refused edit or a broken invariant fails the test.
 */

#include "sim/engine/engine.h"

typedef struct Fixture {
	Workload *workload;
	ClusterSpec *cluster;
	ModelTable *models;       /* empty until fixture_set_models() */
	Scenario scenario;        /* overheads, seed, stop_ns: to be set before a run */
	const Recorder *recorder; /* or NULL */
	RunRecord *record;        /* of the last run */
	gboolean is_resolved;
} Fixture;

/* @cluster is a shorthand, or a YAML text of several lines. Anything wrong aborts the test. */
Fixture *fixture_new(const char *jobs, const char *cluster);
void fixture_free(Fixture *fixture);

/* @yaml as in traces/models.yaml; before the first run. */
void fixture_set_models(Fixture *fixture, const char *yaml);

/* Runs `NAME[:key=value,...]`; the record is that of this run from now on. */
void fixture_run(Fixture *fixture, const char *policy);
void fixture_run_class(Fixture *fixture, const PolicyClass *policy, const char *options);

/* For runs that should fail: FALSE and @error. */
gboolean fixture_try(Fixture *fixture, const char *policy, GError **error);
gboolean fixture_try_class(Fixture *fixture, const PolicyClass *policy, const char *options,
                           GError **error);

JobId fixture_job_id(const Fixture *fixture, const char *job);
const JobRecord *fixture_job(const Fixture *fixture, const char *job);
double fixture_start_s(const Fixture *fixture, const char *job);
double fixture_finish_s(const Fixture *fixture, const char *job);
double fixture_jct_s(const Fixture *fixture, const char *job);

/* Over the finished jobs. */
double fixture_mean_jct_s(const Fixture *fixture);
double fixture_makespan_s(const Fixture *fixture);

/* "A 0-10; B 10-20 P1 M1": first start and finish of each job in trace order, and how often it was
 * preempted and migrated where it was; "A REJECTED". Free with g_free(). */
char *fixture_to_string(const Fixture *fixture);

/* Runs @policy and checks fixture_to_string() of it. */
void fixture_expect(const char *jobs, const char *cluster, const char *policy,
                    const char *expected);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Fixture, fixture_free)
