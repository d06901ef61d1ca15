/* SPDX-License-Identifier: MIT */

#include "sim/engine/events.h"

#define FANOUT     4
#define NOT_QUEUED G_MAXUINT32

typedef struct HeapNode {
	SimTime at_ns;
	guint64 order;
	guint32 entry;
} HeapNode;

struct EventQueue {
	HeapNode *heap;
	guint32 *places; /* by entry: its place in the heap, or NOT_QUEUED */
	guint n;
	guint size;
	guint n_places;
};

EventQueue *
event_queue_new(void)
{
	return g_new0(EventQueue, 1);
}

void
event_queue_free(EventQueue *queue)
{
	if (queue == NULL)
		return;
	g_free(queue->heap);
	g_free(queue->places);
	g_free(queue);
}

static inline gboolean
is_before(const HeapNode *one, const HeapNode *other)
{
	if (one->at_ns != other->at_ns)
		return one->at_ns < other->at_ns;
	return one->order < other->order;
}

static inline void
put(EventQueue *queue, guint place, HeapNode node)
{
	queue->heap[place] = node;
	queue->places[node.entry] = place;
}

static void
sift_up(EventQueue *queue, guint place, HeapNode node)
{
	while (place > 0) {
		guint parent = (place - 1) / FANOUT;

		if (!is_before(&node, &queue->heap[parent]))
			break;
		put(queue, place, queue->heap[parent]);
		place = parent;
	}
	put(queue, place, node);
}

static void
sift_down(EventQueue *queue, guint place, HeapNode node)
{
	for (;;) {
		guint child = place * FANOUT + 1;
		guint end = MIN(child + FANOUT, queue->n);
		guint best = child;

		if (child >= queue->n)
			break;
		for (guint i = child + 1; i < end; i++)
			if (is_before(&queue->heap[i], &queue->heap[best]))
				best = i;
		if (!is_before(&queue->heap[best], &node))
			break;
		put(queue, place, queue->heap[best]);
		place = best;
	}
	put(queue, place, node);
}

/* Puts @node where the hole at @place is, and mends the order in whichever direction it is off. */
static void
settle(EventQueue *queue, guint place, HeapNode node)
{
	if (place > 0 && is_before(&node, &queue->heap[(place - 1) / FANOUT]))
		sift_up(queue, place, node);
	else
		sift_down(queue, place, node);
}

static void
make_place_for(EventQueue *queue, guint32 entry)
{
	guint n_places = queue->n_places;

	if (entry < n_places)
		return;
	n_places = MAX(MAX(64, n_places * 2), entry + 1);
	queue->places = g_renew(guint32, queue->places, n_places);
	for (guint i = queue->n_places; i < n_places; i++)
		queue->places[i] = NOT_QUEUED;
	queue->n_places = n_places;
}

void
event_queue_set(EventQueue *queue, guint32 entry, SimTime at_ns, guint64 order)
{
	HeapNode node = { .at_ns = at_ns, .order = order, .entry = entry };

	make_place_for(queue, entry);
	if (queue->places[entry] != NOT_QUEUED) {
		settle(queue, queue->places[entry], node);
		return;
	}
	if (queue->n == queue->size) {
		queue->size = MAX(64, queue->size * 2);
		queue->heap = g_renew(HeapNode, queue->heap, queue->size);
	}
	sift_up(queue, queue->n++, node);
}

void
event_queue_remove(EventQueue *queue, guint32 entry)
{
	guint place;

	if (entry >= queue->n_places || queue->places[entry] == NOT_QUEUED)
		return;
	place = queue->places[entry];
	queue->places[entry] = NOT_QUEUED;
	queue->n--;
	if (place < queue->n)
		settle(queue, place, queue->heap[queue->n]);
}

guint
event_queue_n(const EventQueue *queue)
{
	return queue->n;
}

SimTime
event_queue_next_ns(const EventQueue *queue)
{
	return queue->n > 0 ? queue->heap[0].at_ns : TIME_NEVER;
}

guint64
event_queue_next_order(const EventQueue *queue)
{
	return queue->heap[0].order;
}

guint32
event_queue_pop(EventQueue *queue)
{
	guint32 entry = queue->heap[0].entry;

	event_queue_remove(queue, entry);
	return entry;
}
