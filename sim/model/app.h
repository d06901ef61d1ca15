/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * An app is what one user wants done: one job, or the many jobs of a hyper-parameter search.
 * Fairness is per app. An AppId is the rank of the app's first job by (submit time, trace row).
 */

#include "sim/model/tuner.h"

typedef struct App {
	AppId id;
	const char *name;     /* app_id of the trace, or the job_id of a job without one */
	const JobId *jobs;    /* ascending; the Workload's */
	guint32 n_jobs;       /* all of them */
	guint32 n_gpu_jobs;   /* those of one or more GPUs */
	SimTime submit_ns;    /* of its first job */
	guint64 demand_milli; /* the sum of max_gpus (or shares): d of SEMANTICS A23, x 1000 */
	GpuTime work;         /* the sum of num_gpus (or share) x duration: W of A23 */
	const Tuner *tuner;   /* who stops jobs of it early; NULL = nobody. Then work and
	                       * demand_milli are what it would take if all ran to their ends */
} App;
