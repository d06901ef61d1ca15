/* SPDX-License-Identifier: MIT */

/* A policy's wakes: one pending per tag, entries of the event queue behind the jobs'. */

#include "sim/engine/state.h"

void
timers_init(Timers *timers)
{
	timers->unused = g_array_new(FALSE, FALSE, sizeof(guint32));
	timers->by_tag = g_hash_table_new(g_direct_hash, g_direct_equal);
}

void
timers_clear(Timers *timers)
{
	g_free(timers->timers);
	g_clear_pointer(&timers->unused, g_array_unref);
	g_clear_pointer(&timers->by_tag, g_hash_table_unref);
}

static gpointer
tag_key(guint64 tag)
{
	return GSIZE_TO_POINTER(tag);
}

static guint32
new_place(Timers *timers)
{
	guint32 place;

	if (timers->unused->len > 0) {
		place = g_array_index(timers->unused, guint32, timers->unused->len - 1);
		g_array_set_size(timers->unused, timers->unused->len - 1);
		return place;
	}
	if (timers->n == timers->size) {
		timers->size = MAX(16, timers->size * 2);
		timers->timers = g_renew(Timer, timers->timers, timers->size);
	}
	return timers->n++;
}

/* The place of the pending timer of @tag, plus one; 0 if none is pending. */
static guint32
find(const Timers *timers, guint64 tag)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(timers->by_tag, tag_key(tag)));
}

void
timers_set(Engine *engine, guint64 tag, SimTime at_ns)
{
	Timers *timers = &engine->timers;
	guint32 place = find(timers, tag);

	if (at_ns == TIME_NEVER)
		return;
	if (place-- == 0) {
		place = new_place(timers);
		g_hash_table_insert(timers->by_tag, tag_key(tag), GUINT_TO_POINTER(place + 1));
	} else if (timers->timers[place].at_ns <= at_ns) {
		return;
	}
	timers->timers[place] = (Timer){ .tag = tag, .at_ns = at_ns };
	event_queue_set(engine->events, engine->scenario->workload->n_jobs + place, at_ns,
	                ORDER_TIMER | timers->sequence++);
}

static void
forget(Timers *timers, guint32 place)
{
	g_hash_table_remove(timers->by_tag, tag_key(timers->timers[place].tag));
	g_array_append_val(timers->unused, place);
}

void
timers_unset(Engine *engine, guint64 tag)
{
	guint32 place = find(&engine->timers, tag);

	if (place == 0)
		return;
	event_queue_remove(engine->events, engine->scenario->workload->n_jobs + place - 1);
	forget(&engine->timers, place - 1);
}

guint64
timers_take(Engine *engine, guint32 entry)
{
	guint32 place = entry - engine->scenario->workload->n_jobs;
	guint64 tag = engine->timers.timers[place].tag;

	forget(&engine->timers, place);
	return tag;
}
