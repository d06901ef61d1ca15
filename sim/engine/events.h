/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The one queue of what is due: segment ends and timers, each a numbered entry that is in the
 * queue at most once, with a time and an order among equal times. Entries can be moved and
 * removed for real, so nothing stale is ever popped. An indexed 4-ary heap: O(log n) each.
 */

#include "sim/base/units.h"

typedef struct EventQueue EventQueue;

EventQueue *event_queue_new(void);
void event_queue_free(EventQueue *queue);

/* Puts @entry at (@at_ns, @order), wherever it was before. */
void event_queue_set(EventQueue *queue, guint32 entry, SimTime at_ns, guint64 order);

/* Takes @entry out; one that is not in the queue is left alone. */
void event_queue_remove(EventQueue *queue, guint32 entry);

guint event_queue_n(const EventQueue *queue);

/* When the first is due; TIME_NEVER if empty. */
SimTime event_queue_next_ns(const EventQueue *queue);

/* Order of the first; the queue must not be empty. */
guint64 event_queue_next_order(const EventQueue *queue);

/* Takes the first out and returns its entry. */
guint32 event_queue_pop(EventQueue *queue);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(EventQueue, event_queue_free)
