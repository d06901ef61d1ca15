/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Gandiva's servers: a machine has an affinity, the number of GPUs of the jobs it is for, set by
 * its first job and cleared when it is empty (A84), and a load, the GPUs its jobs ask for over
 * those it has. Jobs that wait for their turn count: a load above 1 is an over-subscribed server.
 */

#include "sim/policy.h"

typedef struct Server {
	guint32 affinity; /* 0 = nobody is on it */
	guint32 n_jobs;
	guint64 demand_milli; /* of GPUs, by its jobs */
} Server;

typedef struct Servers {
	const ClusterSpec *spec;
	Server *servers; /* by machine */
	/* Machines of each affinity from 0 to the widest machine, a bit a machine; those of gangs
	 * wider than a machine are in none. */
	guint64 *sets;
	guint n_words;
} Servers;

void gandiva_servers_init(Servers *servers, const ClusterSpec *spec);
void gandiva_servers_clear(Servers *servers);

/* @job runs, or waits for its turn, on @gpus, of which it has asked for @width in all. */
void gandiva_servers_add(Servers *servers, const Job *job, guint width, const Alloc *gpus);
void gandiva_servers_remove(Servers *servers, const Job *job, guint width, const Alloc *gpus);

/* The next machine of that affinity, from @from on; n_machines if there is none. */
guint32 gandiva_servers_next(const Servers *servers, guint affinity, guint32 from);

/* Whether machine @one is less loaded than @other. */
gboolean gandiva_servers_is_less(const Servers *servers, guint32 one, guint32 other);
