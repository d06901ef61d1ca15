/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A job is one training run: a gang of GPUs that starts and stops whole. This is what the trace
 * says of it and a policy may know; how much work it really has is the Workload's secret.
 *
 * A JobId is the job's rank by (submit time, row of the trace), so that comparing two ids breaks
 * every tie as DESIGN 2 asks. Texts are never NULL; absent is "". They belong to the Workload.
 */

#include "sim/model/loss.h"

typedef guint32 JobId;
typedef guint32 AppId;

#define JOB_NONE     G_MAXUINT32
#define MODEL_NONE   G_MAXUINT32
#define GPU_TYPE_ANY G_MAXUINT64

typedef struct Job {
	JobId id;
	AppId app;
	guint32 row;      /* place in the trace file, counted from 0 */
	guint32 num_gpus; /* the gang; 0 for a job that needs none */
	guint32 min_gpus; /* min_gpus <= num_gpus <= max_gpus; all equal for a rigid job */
	guint32 max_gpus;
	guint32 share_milli; /* of one GPU, where the job asks for a part; else GPU_MILLI */
	guint32 gpu_mem_mib; /* on each GPU; 0 = no demand */
	guint32 cpus_milli;  /* thousandths of a CPU, of the whole gang; 0 = no demand */
	guint32 workers;     /* 0 = not given: any split over machines will do */
	guint32 gpus_per_worker;
	guint32 model;     /* index into the ModelTable, or MODEL_NONE */
	guint64 gpu_types; /* bit i: type i of the cluster will do; GPU_TYPE_ANY = all */
	guint64 mem_mib;   /* host memory of the whole gang; 0 = no demand */
	SimTime submit_ns;
	/* Of one training iteration at speed 1 on num_gpus, to the nearest nanosecond; 0 = not
	 * known: the job can stop anywhere */
	SimTime iteration_ns;
	SimTime time_limit_ns; /* 0 = none */
	SimTime deadline_ns;   /* TIME_NEVER = none */
	gint64 priority;       /* a larger number is more urgent */
	double weight;         /* 1 where not given */
	const char *name;      /* the job_id of the trace, verbatim */
	const char *user, *tenant, *group, *model_name, *gpu_type_name, *kind;
	const char *trace_state;
	const LossCurve *loss; /* of its training; NULL = not given */
} Job;

/* Thousandths of GPUs the job holds when it holds @n_gpus. */
static inline guint64
job_held_milli(const Job *job, guint n_gpus)
{
	return (guint64)n_gpus * job->share_milli;
}

static inline gboolean
job_is_rigid(const Job *job)
{
	return job->min_gpus == job->max_gpus;
}

/* Whether anything but a number of GPUs decides where the job can run. */
static inline gboolean
job_is_picky(const Job *job)
{
	return job->gpu_types != GPU_TYPE_ANY || job->share_milli != GPU_MILLI ||
	       job->gpu_mem_mib > 0 || job->cpus_milli > 0 || job->mem_mib > 0 || job->workers > 0;
}
