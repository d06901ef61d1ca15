/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * How much of what is free on a machine is of no use to the usual task (Weng et al., Beware of
 * Fragmentation, ATC'23). To a task type m of popularity p_m the machine's free GPU parts are
 * worth
 *
 *	F_m = all of them, if m cannot run there now (GPU type, GPUs, CPUs) or wants no GPU;
 *	      else those of the GPUs with less free than m wants of each
 *
 * and the machine's fragmentation is the expectation F = sum of p_m x F_m. It is kept as a whole
 * number, in thousandths of GPUs times tasks counted (divide by 1000 x n_tasks for GPUs), so that
 * equal is equal. Policies get this through sim/policy.h.
 */

#include "sim/engine/view.h"

/* What one task asks of a machine. */
typedef struct TaskType {
	guint32 n_gpus;    /* 0 = CPUs alone */
	guint32 gpu_milli; /* of each; below GPU_MILLI for one GPU only */
	guint64 cpus_milli;
	guint64 gpu_types; /* bits, as in Job */
	guint64 n_tasks;   /* how many such tasks there are: the popularity */
} TaskType;

typedef struct TaskMix {
	TaskType *types; /* the most popular first */
	guint n_types;
	guint64 n_tasks;
} TaskMix;

/* The most popular of @types, at least one, until these are @popular_frac of all tasks. Equal types
 * are added up; equally popular ones are in falling order of (CPUs, part, GPUs, GPU types). */
TaskMix *task_mix_new(const TaskType *types, guint n_types, double popular_frac);
void task_mix_free(TaskMix *mix);

/* What is left of a machine. */
typedef struct MachineRest {
	guint32 type;
	guint n_gpus;
	guint32 *free_milli; /* by GPU, of the machine's first on */
	guint32 *kept_milli; /* room for a copy */
	gboolean has_cpus;   /* given, and hence a limit */
	guint64 cpus_milli;
} MachineRest;

/* For machines of up to @max_gpus; all free, no CPUs given. */
MachineRest *machine_rest_new(guint max_gpus);
void machine_rest_free(MachineRest *rest);

void machine_rest_read(MachineRest *rest, const Cluster *cluster, guint32 machine);

guint64 machine_rest_free_milli(const MachineRest *rest);

/* By count: GPUs of the machine with enough free for @task, and whether they and the CPUs do. */
gboolean machine_rest_fits(const MachineRest *rest, const TaskType *task);

/* @task, which fits, takes its part of @gpu, or if it wants whole GPUs the first free ones. */
void machine_rest_take(MachineRest *rest, const TaskType *task, guint gpu);

guint64 fragmentation_of(const MachineRest *rest, const TaskMix *mix);

/* fragmentation_of() after machine_rest_take(), which is undone. */
guint64 fragmentation_after(MachineRest *rest, const TaskMix *mix, const TaskType *task, guint gpu);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(TaskMix, task_mix_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MachineRest, machine_rest_free)
