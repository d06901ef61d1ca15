/* SPDX-License-Identifier: MIT */
#include "policies/gandiva/shapes.h"

#include <string.h>

static guint
key_hash(gconstpointer key)
{
	const guint8 *bytes = key;
	guint hash = 2166136261u;

	for (gsize i = 0; i < sizeof(ShapeKey); i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	return hash;
}

static gboolean
key_equal(gconstpointer one, gconstpointer other)
{
	return memcmp(one, other, sizeof(ShapeKey)) == 0;
}

static ShapeKey
key_of(const Job *job)
{
	ShapeKey key;

	/* Keys are compared byte by byte, so whatever lies between the members must not differ. */
	memset(&key, 0, sizeof(key));
	key.gpu_types = job->gpu_types;
	key.mem_mib = job->mem_mib;
	key.num_gpus = job->num_gpus;
	key.min_gpus = job->min_gpus;
	key.share_milli = job->share_milli;
	key.gpu_mem_mib = job->gpu_mem_mib;
	key.cpus_milli = job->cpus_milli;
	key.workers = job->workers;
	key.gpus_per_worker = job->gpus_per_worker;
	key.model = job->model;
	return key;
}

void
gandiva_shapes_init(Shapes *shapes, const View *view, PlacementLevel max_level)
{
	shapes->spec = view_cluster_spec(view);
	shapes->max_level = max_level;
	shapes->empty = cluster_new(shapes->spec);
	shapes->guests = g_new0(Guest, view_n_jobs(view));
	shapes->all = g_array_new(FALSE, FALSE, sizeof(Shape));
	shapes->queued = g_array_new(FALSE, FALSE, sizeof(guint32));
	shapes->by_key = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
}

void
gandiva_shapes_clear(Shapes *shapes)
{
	if (shapes->spec == NULL)
		return;
	cluster_free(shapes->empty);
	g_free(shapes->guests);
	g_array_unref(shapes->all);
	g_array_unref(shapes->queued);
	g_hash_table_destroy(shapes->by_key);
}

/* The most GPUs for @job in any part of the empty cluster of one @level, of one type (B08). */
static guint64
largest_room(const Shapes *shapes, const Job *job, guint type, PlacementLevel level)
{
	const ClusterSpec *spec = shapes->spec;
	guint64 largest = 0, sum = 0;

	for (guint i = 0; i < spec->n_machines; i++) {
		const Machine *machine = &spec->machines[i];
		guint room;

		if (level < LEVEL_RACK ||
		    (level == LEVEL_RACK && i == spec->racks[machine->rack].first_machine))
			sum = 0;
		if (machine->type != type)
			continue;
		room = cluster_machine_room(shapes->empty, i, job);
		if (level == LEVEL_SLOT)
			room = MIN(room, machine->slot_gpus);
		if (job->workers > 0)
			room -= room % job->gpus_per_worker;
		sum += room;
		largest = MAX(largest, sum);
	}
	return largest;
}

static guint64
largest_room_of_types(const Shapes *shapes, const Job *job, PlacementLevel level)
{
	guint64 largest = 0;

	for (guint type = 0; type < shapes->spec->n_types; type++)
		if ((job->gpu_types >> type) & 1)
			largest = MAX(largest, largest_room(shapes, job, type, level));
	return largest;
}

/* A job may be admitted that fits at min_gpus only (A07): it runs as wide as anything holds it. */
static void
shape_measure(const Shapes *shapes, Shape *shape, const Job *job)
{
	PlacementLevel within = MIN(shapes->max_level, LEVEL_MACHINE);

	shape->width =
	    (guint)MIN(job->num_gpus, largest_room_of_types(shapes, job, shapes->max_level));
	shape->is_wide = shape->width > largest_room_of_types(shapes, job, within);
	shape->best_level = LEVEL_SLOT;
	while (shape->best_level < LEVEL_CLUSTER &&
	       largest_room_of_types(shapes, job, shape->best_level) < shape->width)
		shape->best_level++;
}

static guint32
shape_new(Shapes *shapes, const Job *job, const ShapeKey *key)
{
	Shape shape = { .key = *key, .first = JOB_NONE, .last = JOB_NONE };
	ShapeKey *own_key = g_new(ShapeKey, 1);

	for (guint i = 0; i < N_POOLS; i++)
		shape.pools[i] = JOB_NONE;
	shape_measure(shapes, &shape, job);
	memcpy(own_key, key, sizeof(*key));
	g_array_append_val(shapes->all, shape);
	g_hash_table_insert(shapes->by_key, own_key, GUINT_TO_POINTER(shapes->all->len));
	return shapes->all->len - 1;
}

gboolean
gandiva_shapes_meet(Shapes *shapes, const Job *job, guint32 *ret_shape)
{
	ShapeKey key = key_of(job);
	guint32 place = GPOINTER_TO_UINT(g_hash_table_lookup(shapes->by_key, &key));
	gboolean is_new = place == 0;

	*ret_shape = is_new ? shape_new(shapes, job, &key) : place - 1;
	shapes->guests[job->id] = (Guest){
		.shape = *ret_shape,
		.row = GUEST_NOWHERE,
		.shared_gpu = GUEST_NOWHERE,
		.partner = JOB_NONE,
	};
	return is_new;
}

/* Of @one's GPUs and @other's, whether one of @one's comes with no more of what there is @whole
 * of for the gang. */
static gboolean
part_is_humbler(const Shape *one, guint64 whole_of_one, const Shape *other, guint64 whole_of_other)
{
	return (unsigned __int128)whole_of_one * other->key.num_gpus <=
	       (unsigned __int128)whole_of_other * one->key.num_gpus;
}

gboolean
gandiva_shape_is_humbler(const Shape *one, const Shape *other)
{
	const ShapeKey *its = &one->key, *others = &other->key;

	return one->width <= other->width && one->is_wide >= other->is_wide &&
	       (others->gpu_types & ~its->gpu_types) == 0 &&
	       its->share_milli <= others->share_milli && its->gpu_mem_mib <= others->gpu_mem_mib &&
	       part_is_humbler(one, its->cpus_milli, other, others->cpus_milli) &&
	       part_is_humbler(one, its->mem_mib, other, others->mem_mib) &&
	       (its->workers == 0 || (its->gpus_per_worker == others->gpus_per_worker));
}

/* How many shapes of the queue have a first job before @job. */
static guint
queued_rank(const Shapes *shapes, JobId job)
{
	guint low = 0, high = shapes->queued->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		guint32 shape = g_array_index(shapes->queued, guint32, middle);

		if (gandiva_shape(shapes, shape)->first < job)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* @job is to be the first of its shape's queue, or JOB_NONE: the queue is empty then. */
static void
set_first(Shapes *shapes, guint32 id, JobId job)
{
	Shape *shape = gandiva_shape(shapes, id);

	if (shape->first != JOB_NONE)
		g_array_remove_index(shapes->queued, queued_rank(shapes, shape->first));
	if (job != JOB_NONE) {
		guint rank = queued_rank(shapes, job);

		g_array_insert_val(shapes->queued, rank, id);
	}
	shape->first = job;
}

/* Nearly everybody comes last; only a job that lost its row has later ones before it. */
void
gandiva_shapes_queue(Shapes *shapes, JobId job)
{
	Guest *guests = shapes->guests;
	Shape *shape = gandiva_shape_of(shapes, job);
	JobId before = shape->last, after;

	while (before != JOB_NONE && before > job)
		before = guests[before].previous;
	after = before != JOB_NONE ? guests[before].next : shape->first;
	guests[job].is_queued = TRUE;
	guests[job].previous = before;
	guests[job].next = after;
	*(after != JOB_NONE ? &guests[after].previous : &shape->last) = job;
	if (before != JOB_NONE)
		guests[before].next = job;
	else
		set_first(shapes, guests[job].shape, job);
}

void
gandiva_shapes_unqueue(Shapes *shapes, JobId job)
{
	Guest *guests = shapes->guests;
	Shape *shape = gandiva_shape_of(shapes, job);
	JobId before = guests[job].previous, after = guests[job].next;

	g_assert(guests[job].is_queued);
	guests[job].is_queued = FALSE;
	*(after != JOB_NONE ? &guests[after].previous : &shape->last) = before;
	if (before != JOB_NONE)
		guests[before].next = after;
	else
		set_first(shapes, guests[job].shape, after);
}
