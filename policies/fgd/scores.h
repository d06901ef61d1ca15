/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a machine is worth to a task: FGD's score and those of the policies it is compared with
 * (Weng et al., ATC'23, section 6; the authors' simulator decides what the paper leaves open). The
 * machine with the highest score gets the task, the first one on ties.
 *
 *	fgd          100 x sigmoid(-growth of the fragmentation in GPUs)
 *	best-fit     100 x (1 - the mean over CPUs and GPUs of what would be left, in parts of the
 *	             largest machine)
 *	dot-product  100 x (1 - the mean over CPUs and GPUs of free x wanted, in parts of the
 *	             largest machine)
 *	packing      an idle machine of k GPUs: max(33 - k, k); else, if n wholly free GPUs would be
 *	             taken, max(50 - n, 33); else max(100 - sum of free parts in percent / 10, 50)
 *	clustering   25 x the held part of 8 GPUs (the largest machine's), and 75 where only tasks
 *	             of its own kind are, 50 where also such are, 25 where nobody is
 *	random       0
 *
 * fgd, best-fit and dot-product are rounded down to whole numbers, as theirs, or not at all. A part
 * of a GPU goes to the GPU of the best score under fgd, else to the one with the least free.
 */

#include "sim/policy.h"

typedef enum FgdScore {
	FGD_SCORE_FGD,
	FGD_SCORE_BEST_FIT,
	FGD_SCORE_DOT_PRODUCT,
	FGD_SCORE_PACKING,
	FGD_SCORE_CLUSTERING,
	FGD_SCORE_RANDOM,
} FgdScore;

typedef struct FgdScorer {
	FgdScore score;
	gboolean is_exact; /* not rounded down */
	const TaskMix *mix;
	guint64 largest_cpus_milli; /* of a machine; 0 = none given */
	guint64 largest_gpus_milli;
} FgdScorer;

/* A machine as a scorer sees it. */
typedef struct FgdMachine {
	MachineRest *rest;
	gboolean *is_shut;     /* by GPU: may the task not have a part of it, though it is free? */
	guint64 kinds;         /* bits: fgd_kind() of the tasks there */
	guint64 fragmentation; /* of the rest */
} FgdMachine;

/* Tasks with a part of a GPU are of one kind, those with n GPUs of another for each n. */
guint64 fgd_kind(guint n_gpus, guint gpu_milli);

/* The score of @machine, where @task fits. It only means something beside others of the same scorer
 * and task. @ret_gpu is the GPU that the task would have a part of (else untouched). */
gint64 fgd_score(const FgdScorer *scorer, const FgdMachine *machine, const TaskType *task,
                 guint *ret_gpu);
