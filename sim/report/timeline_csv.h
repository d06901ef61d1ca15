/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * timeline.csv: the state of cluster and queue after each instant, or sampled (SEMANTICS A52,
 * B19). Written while the engine runs; an instant that comes twice counts as it was last.
 */

#include "sim/base/file.h"
#include "sim/engine/record.h"

typedef struct Timeline Timeline;

/* @every_ns: 0 = a row an instant, else a row at each multiple of it, counted from the first
 * submit at @origin_ns of the trace's clock. @is_cancelled may be NULL. */
Timeline *timeline_open(const char *path, gint64 origin_ns, SimTime every_ns, gint *is_cancelled,
                        GError **error);

/* Instants come in the order of time. A failed write is reported by timeline_commit(). */
void timeline_add(Timeline *timeline, const Instant *instant);

/* Fills up to the end of the run. */
gboolean timeline_commit(Timeline *timeline, SimTime end_ns, GError **error);
void timeline_free(Timeline *timeline);
