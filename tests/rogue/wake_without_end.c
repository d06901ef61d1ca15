/* SPDX-License-Identifier: MIT */

#include "tests/rogue/rogue.h"

/* Wakes itself every second and never starts anything. */
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	plan_wake(plan, view_now_ns(view) + NS_PER_S, 0);
}

ROGUE("rogue-wake-without-end", 0);
