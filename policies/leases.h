/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Every GPU won is leased for the same time from the instant of its round (A76), so that leases
 * end in the order in which they were given: those of one instant are a batch, the batches a
 * queue, and no event costs more than the GPUs it is about. Leases that are cut short, to the end
 * of an iteration, may be given in any order, for the price of a search from the last.
 */

#include "sim/engine/view.h"

typedef struct Leases Leases;

Leases *leases_new(guint n_gpus);
void leases_free(Leases *leases);

/* Leases @gpus to @job until @end_ns. What they were leased for before is over. */
void leases_give(Leases *leases, const Alloc *gpus, JobId job, SimTime end_ns);

/* When a job that works at @rate_ppb (GPUs x speed of each, in parts per billion) since @since_ns
 * ends its last iteration that is over by @end_ns; @since_ns if there is none. @end_ns where the
 * job's iterations are not known, or are longer than @lease_ns. */
SimTime leases_last_iteration_ns(const Job *job, gint64 rate_ppb, SimTime since_ns, SimTime end_ns,
                                 SimTime lease_ns);

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
