/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Every GPU won is leased for the same time from the instant of its round (A76), so that leases
 * end in the order in which they were given: those of one instant are a batch, the batches a
 * queue, and no event costs more than the GPUs it is about.
 */

#include "sim/engine/view.h"

typedef struct Leases Leases;

Leases *leases_new(guint n_gpus);
void leases_free(Leases *leases);

/* Leases @gpus to @job until @end_ns, which is not before any given so far. What they were leased
 * for before is over. */
void leases_give(Leases *leases, const Alloc *gpus, JobId job, SimTime end_ns);

/* The lease of @gpu, if any, is over. */
void leases_drop(Leases *leases, guint32 gpu);

/* TIME_NEVER if nothing is leased. */
SimTime leases_next_end_ns(Leases *leases);
gboolean leases_is_due(const Leases *leases, guint32 gpu, SimTime now_ns);

/* Appends to @jobs (of JobId) the jobs that hold GPUs whose leases have ended by @now_ns, in the
 * order they were leased, each once a batch. The leases stay until dropped or given anew. */
void leases_find_due(Leases *leases, SimTime now_ns, GArray *jobs);

/* B05: a lease must leave time to work. A usage error that names what does not. */
gboolean leases_check(SimTime lease_ns, const View *view, GError **error);
