/* SPDX-License-Identifier: MIT */
#include "policies/fgd/scores.h"

#include <math.h>

#define BEST        100
#define LARGEST_BIT 63

guint64
fgd_kind(guint n_gpus, guint gpu_milli)
{
	guint bit = gpu_milli < GPU_MILLI ? 0 : n_gpus;

	return G_GUINT64_CONSTANT(1) << MIN(bit, LARGEST_BIT);
}

static gboolean
is_part(const TaskType *task)
{
	return task->n_gpus > 0 && task->gpu_milli < GPU_MILLI;
}

static gboolean
may_sit_on(const FgdMachine *machine, const TaskType *task, guint gpu)
{
	return !machine->is_shut[gpu] && machine->rest->free_milli[gpu] >= task->gpu_milli;
}

/* @value is in 0 to 100. */
static gint64
round_down(const FgdScorer *scorer, double value)
{
	return scorer->is_exact ? score_rank_of(value) : (gint64)value;
}

/* fgd */

static gint64
fgd_score_on(const FgdScorer *scorer, const FgdMachine *machine, const TaskType *task, guint gpu)
{
	guint64 after = fragmentation_after(machine->rest, scorer->mix, task, gpu);
	gint64 growth = (gint64)after - (gint64)machine->fragmentation;
	double growth_gpus = (double)growth / ((double)scorer->mix->n_tasks * GPU_MILLI);

	/* No growth at all is one half exactly, whatever order the terms were added in. */
	return scorer->is_exact ? -growth : (gint64)(BEST / (1 + exp(growth_gpus)));
}

static gint64
score_by_fragmentation(const FgdScorer *scorer, const FgdMachine *machine, const TaskType *task,
                       guint *ret_gpu)
{
	gint64 best = G_MININT64;

	if (!is_part(task))
		return fgd_score_on(scorer, machine, task, 0);
	for (guint i = 0; i < machine->rest->n_gpus; i++) {
		gint64 score;

		if (!may_sit_on(machine, task, i))
			continue;
		score = fgd_score_on(scorer, machine, task, i);
		if (score > best) {
			best = score;
			*ret_gpu = i;
		}
	}
	return best;
}

/* what it is compared with */

static guint
find_tightest_gpu(const FgdMachine *machine, const TaskType *task)
{
	const guint32 *free_milli = machine->rest->free_milli;
	guint found = machine->rest->n_gpus;

	for (guint i = 0; i < machine->rest->n_gpus; i++)
		if (may_sit_on(machine, task, i) &&
		    (found == machine->rest->n_gpus || free_milli[i] < free_milli[found]))
			found = i;
	return found;
}

static double
part_of(guint64 amount, guint64 largest)
{
	return largest > 0 ? (double)amount / (double)largest : 0;
}

static guint64
wanted_gpus_milli(const TaskType *task)
{
	return (guint64)task->n_gpus * task->gpu_milli;
}

static gint64
score_by_fit(const FgdScorer *scorer, const MachineRest *rest, const TaskType *task)
{
	guint64 gpus_milli = machine_rest_free_milli(rest) - wanted_gpus_milli(task);
	guint64 cpus_milli = rest->has_cpus ? rest->cpus_milli - task->cpus_milli : 0;
	double left = part_of(cpus_milli, scorer->largest_cpus_milli) / 2 +
	              part_of(gpus_milli, scorer->largest_gpus_milli) / 2;

	return round_down(scorer, (1 - left) * BEST);
}

static gint64
score_by_dot_product(const FgdScorer *scorer, const MachineRest *rest, const TaskType *task)
{
	double cpus = part_of(rest->cpus_milli, scorer->largest_cpus_milli) *
	              part_of(task->cpus_milli, scorer->largest_cpus_milli);
	double gpus = part_of(machine_rest_free_milli(rest), scorer->largest_gpus_milli) *
	              part_of(wanted_gpus_milli(task), scorer->largest_gpus_milli);

	return round_down(scorer, BEST * (1 - (cpus + gpus) / 2));
}

static gint64
score_by_packing(const MachineRest *rest, const TaskType *task, guint gpu)
{
	gint64 n_gpus = rest->n_gpus;

	if (task->n_gpus == 0)
		return 0;
	if (machine_rest_free_milli(rest) == (guint64)rest->n_gpus * GPU_MILLI)
		return MAX(BEST / 3 - n_gpus, n_gpus);
	if (!is_part(task))
		return MAX(BEST / 2 - (gint64)task->n_gpus, BEST / 3);
	if (rest->free_milli[gpu] == GPU_MILLI)
		return MAX(BEST / 2 - 1, BEST / 3);
	return MAX(BEST - rest->free_milli[gpu] * 100 / GPU_MILLI / 10, BEST / 2);
}

static gint64
score_by_kind(const FgdScorer *scorer, const FgdMachine *machine, const TaskType *task)
{
	guint64 kind = fgd_kind(task->n_gpus, task->gpu_milli);
	gint64 largest_milli = (gint64)scorer->largest_gpus_milli;
	gint64 held_milli = largest_milli - (gint64)machine_rest_free_milli(machine->rest);
	gint64 score = BEST / 4 * held_milli / largest_milli;

	if (task->n_gpus == 0)
		return 0;
	if (machine->kinds == 0)
		return score + BEST / 4;
	if ((machine->kinds & kind) == 0)
		return score;
	return score + (machine->kinds == kind ? BEST * 3 / 4 : BEST / 2);
}

gint64
fgd_score(const FgdScorer *scorer, const FgdMachine *machine, const TaskType *task, guint *ret_gpu)
{
	guint gpu = 0;

	if (scorer->score == FGD_SCORE_FGD)
		return score_by_fragmentation(scorer, machine, task, ret_gpu);
	if (is_part(task))
		gpu = *ret_gpu = find_tightest_gpu(machine, task);
	switch (scorer->score) {
	case FGD_SCORE_BEST_FIT:
		return score_by_fit(scorer, machine->rest, task);
	case FGD_SCORE_DOT_PRODUCT:
		return score_by_dot_product(scorer, machine->rest, task);
	case FGD_SCORE_PACKING:
		return score_by_packing(machine->rest, task, gpu);
	case FGD_SCORE_CLUSTERING:
		return score_by_kind(scorer, machine, task);
	case FGD_SCORE_FGD:
	case FGD_SCORE_RANDOM:
		return 0;
	}
	g_assert_not_reached();
}
