/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * How long the cluster was shared by how many: the time spent at each n(t), from which the
 * integral of max(n(t), GPUs / d) can be told at any moment for any d. That is into how many equal
 * parts the cluster was cut, as it looks to an app that can use no more than d GPUs: the 1/n share
 * of Gavel and its successors (policies.md 6.2).
 *
 * A Fenwick tree over n, and a sum for all n, also those beyond every threshold GPUs / d, so that
 * an addition and a question cost the logarithm of a number of GPUs.
 */

#include "sim/base/units.h"

/* Of a range of n. */
typedef struct CrowdTime {
	__int128 apps_ns; /* integral of n(t) */
	SimTime time_ns;
} CrowdTime;

typedef struct Crowd {
	guint64 capacity_milli;
	guint size;       /* of the tree, which begins at 1 */
	CrowdTime *tree;  /* over n = 1 .. size */
	__int128 apps_ns; /* over all n */
	guint now_n;      /* the time at this n is not in the tree yet */
	SimTime now_ns;
} Crowd;

/* @least_milli is the smallest d that will be asked for, in thousandths of a GPU as all here. */
void crowd_init(Crowd *crowd, guint64 capacity_milli, guint64 least_milli, guint n_apps);
void crowd_clear(Crowd *crowd);

/* n(t) was @n for @length_ns more. Time with nobody there is in no sum. */
void crowd_add(Crowd *crowd, guint n, SimTime length_ns);

/* The integral so far of max(n(t) x d, GPUs), in thousandths times nanoseconds. */
__int128 crowd_load(const Crowd *crowd, guint64 demand_milli);
