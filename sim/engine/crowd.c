/* SPDX-License-Identifier: MIT */

#include "sim/engine/crowd.h"

void
crowd_init(Crowd *crowd, guint64 capacity_milli, guint64 least_milli, guint n_apps)
{
	guint64 beyond = least_milli > 0 ? capacity_milli / least_milli : 0;

	*crowd = (Crowd){ .capacity_milli = capacity_milli, .size = (guint)MIN(beyond, n_apps) };
	crowd->tree = g_new0(CrowdTime, crowd->size + 1);
}

void
crowd_clear(Crowd *crowd)
{
	g_clear_pointer(&crowd->tree, g_free);
}

/* The time at the n that was goes into the tree. */
static void
settle(Crowd *crowd)
{
	__int128 apps_ns = (__int128)crowd->now_ns * crowd->now_n;

	for (guint i = crowd->now_n; i > 0 && i <= crowd->size; i += i & -i) {
		crowd->tree[i].time_ns += crowd->now_ns;
		crowd->tree[i].apps_ns += apps_ns;
	}
	crowd->now_ns = 0;
}

void
crowd_add(Crowd *crowd, guint n, SimTime length_ns)
{
	if (n == 0 || length_ns == 0)
		return;
	if (n != crowd->now_n) {
		settle(crowd);
		crowd->now_n = n;
	}
	crowd->now_ns += length_ns;
	crowd->apps_ns += (__int128)length_ns * n;
}

/* With at most @most there. */
static CrowdTime
time_up_to(const Crowd *crowd, guint most)
{
	CrowdTime sum = { 0 };

	for (guint i = MIN(most, crowd->size); i > 0; i -= i & -i) {
		sum.time_ns += crowd->tree[i].time_ns;
		sum.apps_ns += crowd->tree[i].apps_ns;
	}
	if (crowd->now_n <= most) {
		sum.time_ns += crowd->now_ns;
		sum.apps_ns += (__int128)crowd->now_ns * crowd->now_n;
	}
	return sum;
}

__int128
crowd_load(const Crowd *crowd, guint64 demand_milli)
{
	guint64 most = crowd->capacity_milli / demand_milli;
	CrowdTime few = time_up_to(crowd, (guint)MIN(most, G_MAXUINT));

	return (__int128)few.time_ns * crowd->capacity_milli +
	       (crowd->apps_ns - few.apps_ns) * demand_milli;
}
