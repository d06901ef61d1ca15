/* SPDX-License-Identifier: MIT */

#include "sim/policy.h"

/* task types */

static gint
falling(guint64 one, guint64 other)
{
	return one < other ? 1 : one > other ? -1 : 0;
}

static gint
compare_demands(gconstpointer a, gconstpointer b)
{
	const TaskType *one = a, *other = b;
	gint order = falling(one->cpus_milli, other->cpus_milli);

	if (order == 0)
		order = falling(one->gpu_milli, other->gpu_milli);
	if (order == 0)
		order = falling(one->n_gpus, other->n_gpus);
	return order != 0 ? order : falling(one->gpu_types, other->gpu_types);
}

static gint
compare_popularity(gconstpointer a, gconstpointer b)
{
	const TaskType *one = a, *other = b;
	gint order = falling(one->n_tasks, other->n_tasks);

	return order != 0 ? order : compare_demands(a, b);
}

static GArray * /* of TaskType */
merge(const TaskType *types, guint n_types)
{
	GArray *merged = g_array_new(FALSE, FALSE, sizeof(TaskType));
	guint n = 0;

	g_array_append_vals(merged, types, n_types);
	g_array_sort(merged, compare_demands);
	for (guint i = 0; i < n_types; i++) {
		TaskType type = g_array_index(merged, TaskType, i);
		TaskType *last = n > 0 ? &g_array_index(merged, TaskType, n - 1) : NULL;

		if (last != NULL && compare_demands(last, &type) == 0)
			last->n_tasks += type.n_tasks;
		else
			g_array_index(merged, TaskType, n++) = type;
	}
	g_array_set_size(merged, n);
	return merged;
}

TaskMix *
task_mix_new(const TaskType *types, guint n_types, double popular_frac)
{
	TaskMix *mix = g_new0(TaskMix, 1);
	g_autoptr(GArray) merged = merge(types, n_types);
	guint64 n_all = 0;

	g_array_sort(merged, compare_popularity);
	for (guint i = 0; i < merged->len; i++)
		n_all += g_array_index(merged, TaskType, i).n_tasks;
	while (mix->n_types < merged->len &&
	       (mix->n_types == 0 || (double)mix->n_tasks < popular_frac * (double)n_all))
		mix->n_tasks += g_array_index(merged, TaskType, mix->n_types++).n_tasks;
	mix->types = (TaskType *)g_array_free(g_steal_pointer(&merged), FALSE);
	return mix;
}

void
task_mix_free(TaskMix *mix)
{
	if (mix == NULL)
		return;
	g_free(mix->types);
	g_free(mix);
}

/* the rest of a machine */

MachineRest *
machine_rest_new(guint max_gpus)
{
	MachineRest *rest = g_new0(MachineRest, 1);

	rest->n_gpus = max_gpus;
	rest->free_milli = g_new(guint32, max_gpus);
	rest->kept_milli = g_new(guint32, max_gpus);
	for (guint i = 0; i < max_gpus; i++)
		rest->free_milli[i] = GPU_MILLI;
	return rest;
}

void
machine_rest_free(MachineRest *rest)
{
	if (rest == NULL)
		return;
	g_free(rest->free_milli);
	g_free(rest->kept_milli);
	g_free(rest);
}

void
machine_rest_read(MachineRest *rest, const Cluster *cluster, guint32 machine)
{
	const Machine *spec = &cluster->spec->machines[machine];

	rest->type = spec->type;
	rest->n_gpus = spec->n_gpus;
	rest->has_cpus = spec->cpus_milli > 0;
	rest->cpus_milli =
	    rest->has_cpus ? spec->cpus_milli - cluster->machines[machine].held_cpus_milli : 0;
	for (guint i = 0; i < spec->n_gpus; i++) {
		guint32 held_milli = cluster->gpus[spec->first_gpu + i].held_milli;

		rest->free_milli[i] = GPU_MILLI - MIN(held_milli, GPU_MILLI);
	}
}

guint64
machine_rest_free_milli(const MachineRest *rest)
{
	guint64 sum_milli = 0;

	for (guint i = 0; i < rest->n_gpus; i++)
		sum_milli += rest->free_milli[i];
	return sum_milli;
}

static gboolean
would_do_but_for_gpus(const MachineRest *rest, const TaskType *task)
{
	return (task->gpu_types >> rest->type & 1) &&
	       (!rest->has_cpus || task->cpus_milli <= rest->cpus_milli);
}

gboolean
machine_rest_fits(const MachineRest *rest, const TaskType *task)
{
	guint n_fit = 0;

	for (guint i = 0; i < rest->n_gpus; i++)
		n_fit += rest->free_milli[i] >= task->gpu_milli;
	return n_fit >= task->n_gpus && would_do_but_for_gpus(rest, task);
}

void
machine_rest_take(MachineRest *rest, const TaskType *task, guint gpu)
{
	if (rest->has_cpus)
		rest->cpus_milli -= task->cpus_milli;
	if (task->gpu_milli < GPU_MILLI) {
		if (task->n_gpus > 0)
			rest->free_milli[gpu] -= task->gpu_milli;
		return;
	}
	for (guint i = 0, n = 0; n < task->n_gpus; i++) {
		if (rest->free_milli[i] < GPU_MILLI)
			continue;
		rest->free_milli[i] = 0;
		n++;
	}
}

/* fragmentation */

static guint64
fragment_milli(const MachineRest *rest, const TaskType *task, guint64 free_milli)
{
	guint64 small_milli = 0;
	guint n_fit = 0;

	if (task->n_gpus == 0 || !would_do_but_for_gpus(rest, task))
		return free_milli;
	for (guint i = 0; i < rest->n_gpus; i++) {
		if (rest->free_milli[i] >= task->gpu_milli)
			n_fit++;
		else
			small_milli += rest->free_milli[i];
	}
	return n_fit >= task->n_gpus ? small_milli : free_milli;
}

guint64
fragmentation_of(const MachineRest *rest, const TaskMix *mix)
{
	guint64 free_milli = machine_rest_free_milli(rest), sum = 0;

	for (guint i = 0; i < mix->n_types; i++)
		sum += mix->types[i].n_tasks * fragment_milli(rest, &mix->types[i], free_milli);
	return sum;
}

guint64
fragmentation_after(MachineRest *rest, const TaskMix *mix, const TaskType *task, guint gpu)
{
	gsize size = rest->n_gpus * sizeof(guint32);
	guint64 cpus_milli = rest->cpus_milli, after;

	memcpy(rest->kept_milli, rest->free_milli, size);
	machine_rest_take(rest, task, gpu);
	after = fragmentation_of(rest, mix);
	memcpy(rest->free_milli, rest->kept_milli, size);
	rest->cpus_milli = cpus_milli;
	return after;
}
