/* SPDX-License-Identifier: MIT */

/* Who waits and who runs, each in order. */

#include "policies/walk/state.h"

#include <string.h>

/* demands */

static WalkDemand
demand_of(const Walk *walk, const Job *job)
{
	if (walk->rules->is_strict)
		return (WalkDemand){ 0 };
	return (WalkDemand){
		.gpu_types = job->gpu_types,
		.mem_mib = job->mem_mib,
		.num_gpus = job->num_gpus,
		.share_milli = job->share_milli,
		.gpu_mem_mib = job->gpu_mem_mib,
		.cpus_milli = job->cpus_milli,
		.workers = job->workers,
		.gpus_per_worker = job->gpus_per_worker,
		/* What else decides where a job may go is its model (Tiresias' skew). */
		.model = walk->rules->placement != NULL ? job->model : 0,
	};
}

static guint
demand_hash(gconstpointer demand)
{
	const guint8 *bytes = demand;
	guint64 hash = G_GUINT64_CONSTANT(0xcbf29ce484222325); /* FNV-1a */

	for (gsize i = 0; i < sizeof(WalkDemand); i++)
		hash = (hash ^ bytes[i]) * G_GUINT64_CONSTANT(0x100000001b3);
	return (guint)(hash ^ hash >> 32);
}

static gboolean
demand_equal(gconstpointer one, gconstpointer other)
{
	return memcmp(one, other, sizeof(WalkDemand)) == 0;
}

static guint
class_index_of(Walk *walk, const Job *job)
{
	WalkDemand demand = demand_of(walk, job);
	guint index = GPOINTER_TO_UINT(g_hash_table_lookup(walk->class_by_demand, &demand));
	WalkClass class = { .demand = demand };

	if (index > 0)
		return index - 1;
	g_array_append_val(walk->classes, class);
	g_hash_table_insert(walk->class_by_demand, g_memdup2(&demand, sizeof(demand)),
	                    GUINT_TO_POINTER(walk->classes->len));
	return walk->classes->len - 1;
}

/* the heap of a class */

static void
heap_put(Walk *walk, WalkClass *class, guint slot, WalkPlace place)
{
	class->heap[slot] = place;
	walk->slot_of[place.job] = slot;
}

static void
heap_up(Walk *walk, WalkClass *class, guint slot, WalkPlace place)
{
	while (slot > 0 && walk_place_before(place, class->heap[(slot - 1) / 2])) {
		heap_put(walk, class, slot, class->heap[(slot - 1) / 2]);
		slot = (slot - 1) / 2;
	}
	heap_put(walk, class, slot, place);
}

static void
heap_down(Walk *walk, WalkClass *class, guint slot, WalkPlace place)
{
	for (guint child = 2 * slot + 1; child < class->n; child = 2 * slot + 1) {
		if (child + 1 < class->n &&
		    walk_place_before(class->heap[child + 1], class->heap[child]))
			child++;
		if (!walk_place_before(class->heap[child], place))
			break;
		heap_put(walk, class, slot, class->heap[child]);
		slot = child;
	}
	heap_put(walk, class, slot, place);
}

void
walk_wait(Walk *walk, const Job *job, WalkKey key)
{
	guint index = class_index_of(walk, job);
	WalkClass *class = walk_class(walk, index);

	if (class->n == class->size) {
		class->size = MAX(16, class->size * 2);
		class->heap = g_renew(WalkPlace, class->heap, class->size);
	}
	walk->status[job->id] = WALK_WAITING;
	walk->class_of[job->id] = index;
	heap_up(walk, class, class->n++, (WalkPlace){ key, job->id });
	walk->n_waiting++;
}

void
walk_unwait(Walk *walk, JobId job)
{
	WalkClass *class = walk_class(walk, walk->class_of[job]);
	guint slot = walk->slot_of[job];
	WalkPlace last = class->heap[--class->n];

	walk->status[job] = WALK_ABSENT;
	walk->n_waiting--;
	if (slot == class->n)
		return;
	if (slot > 0 && walk_place_before(last, class->heap[(slot - 1) / 2]))
		heap_up(walk, class, slot, last);
	else
		heap_down(walk, class, slot, last);
}

/* heads */

static gint
compare_heads(gconstpointer one, gconstpointer other)
{
	const WalkHead *a = one, *b = other;

	return walk_place_before(a->place, b->place) ? -1 : 1; /* no two are equal */
}

static gboolean
could_do(const WalkDemand *demand, guint64 n_gpus)
{
	/* A share may find a GPU that is partly used. */
	return demand->num_gpus <= n_gpus || demand->share_milli < GPU_MILLI;
}

void
walk_heads_gather(Walk *walk, guint64 n_gpus)
{
	g_array_set_size(walk->heads, 0);
	for (guint i = 0; i < walk->classes->len; i++) {
		const WalkClass *class = walk_class(walk, i);

		if (class->n > 0 && could_do(&class->demand, n_gpus)) {
			WalkHead head = { class->heap[0], i };

			g_array_append_val(walk->heads, head);
		}
	}
	if (walk->heads->len > 1)
		qsort(walk->heads->data, walk->heads->len, sizeof(WalkHead), compare_heads);
}

void
walk_heads_pop(Walk *walk, guint index)
{
	WalkHead *heads = (WalkHead *)(gpointer)walk->heads->data;
	WalkHead head = heads[index];
	const WalkClass *class = walk_class(walk, head.class);

	walk_unwait(walk, head.place.job);
	if (class->n == 0) {
		g_array_remove_index(walk->heads, index);
		return;
	}
	head.place = class->heap[0];
	for (; index + 1 < walk->heads->len; index++) {
		if (walk_place_before(head.place, heads[index + 1].place))
			break;
		heads[index] = heads[index + 1];
	}
	heads[index] = head;
}

/* lanes */

static WalkLane *
lane_of(Walk *walk, const Job *job)
{
	gboolean is_per_width = walk->rules->running_order == WALK_ORDER_STATIC_PER_WIDTH;
	WalkLane lane = { .held_milli = is_per_width ? job_held_milli(job, job->num_gpus) : 0 };
	guint i = 0;

	while (i < walk->lanes->len &&
	       g_array_index(walk->lanes, WalkLane, i).held_milli != lane.held_milli)
		i++;
	if (i == walk->lanes->len)
		g_array_append_val(walk->lanes, lane);
	return &g_array_index(walk->lanes, WalkLane, i);
}

/* Where in a lane that is in order now a place would be. */
static guint
lane_rank(const Walk *walk, const View *view, const WalkLane *lane, WalkPlace place)
{
	guint low = 0, high = lane->n;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		JobId job = lane->jobs[middle];

		if (walk_place_before((WalkPlace){ walk_key(walk, view, job), job }, place))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void
walk_lane_add(Walk *walk, const View *view, const Job *job)
{
	WalkLane *lane = lane_of(walk, job);
	guint rank = lane->n;

	if (lane->n == lane->size) {
		lane->size = MAX(16, lane->size * 2);
		lane->jobs = g_renew(JobId, lane->jobs, lane->size);
	}
	/* Else the lane is in no order: what is needed of it is sorted when it is needed. */
	if (walk->rules->running_order != WALK_ORDER_CHANGES)
		rank = lane_rank(walk, view, lane,
		                 (WalkPlace){ walk_key(walk, view, job->id), job->id });
	memmove(lane->jobs + rank + 1, lane->jobs + rank, (lane->n - rank) * sizeof(JobId));
	lane->jobs[rank] = job->id;
	lane->n++;
	walk->running_gpus += job->num_gpus;
	walk->status[job->id] = WALK_RUNNING;
}

void
walk_lane_remove(Walk *walk, const Job *job)
{
	WalkLane *lane = lane_of(walk, job);
	guint rank = 0, other = lane->n - 1;

	/* By number: what the key of a job that has ended would be is anybody's guess. Jobs that
	 * end are mostly near the beginning, those that are stopped near the end. */
	while (lane->jobs[rank] != job->id && lane->jobs[other] != job->id) {
		g_assert(rank < other);
		rank++;
		other--;
	}
	if (lane->jobs[rank] != job->id)
		rank = other;
	lane->n--;
	memmove(lane->jobs + rank, lane->jobs + rank + 1, (lane->n - rank) * sizeof(JobId));
	walk->running_gpus -= job->num_gpus;
	walk->status[job->id] = WALK_ABSENT;
}

/* pinned jobs */

void
walk_pinned_add(Walk *walk, JobId job)
{
	walk->status[job] = WALK_PINNED;
	walk->slot_of[job] = walk->pinned->len;
	g_array_append_val(walk->pinned, job);
}

void
walk_pinned_remove(Walk *walk, JobId job)
{
	guint slot = walk->slot_of[job];

	walk->status[job] = WALK_ABSENT;
	g_array_remove_index_fast(walk->pinned, slot);
	if (slot < walk->pinned->len)
		walk->slot_of[g_array_index(walk->pinned, JobId, slot)] = slot;
}

/* life */

void
walk_queue_init(Walk *walk, const View *view)
{
	guint n_jobs = view_n_jobs(view);

	walk->status = g_new0(guint8, n_jobs);
	walk->class_of = g_new0(guint32, n_jobs);
	walk->slot_of = g_new0(guint32, n_jobs);
	walk->classes = g_array_new(FALSE, FALSE, sizeof(WalkClass));
	walk->class_by_demand = g_hash_table_new_full(demand_hash, demand_equal, g_free, NULL);
	walk->lanes = g_array_new(FALSE, FALSE, sizeof(WalkLane));
	walk->pinned = g_array_new(FALSE, FALSE, sizeof(JobId));
	walk->releases = g_array_new(FALSE, FALSE, sizeof(WalkRelease));
	walk->heads = g_array_new(FALSE, FALSE, sizeof(WalkHead));
}

void
walk_queue_clear(Walk *walk)
{
	for (guint i = 0; i < walk->classes->len; i++)
		g_free(walk_class(walk, i)->heap);
	for (guint i = 0; i < walk->lanes->len; i++)
		g_free(g_array_index(walk->lanes, WalkLane, i).jobs);
	g_free(walk->status);
	g_free(walk->class_of);
	g_free(walk->slot_of);
	g_array_unref(walk->classes);
	g_hash_table_destroy(walk->class_by_demand);
	g_array_unref(walk->lanes);
	g_array_unref(walk->pinned);
	g_array_unref(walk->releases);
	g_array_unref(walk->heads);
}
