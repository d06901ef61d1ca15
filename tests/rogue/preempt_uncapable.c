/* SPDX-License-Identifier: MIT */

#include "tests/rogue/rogue.h"

/* Stops a job without having said that it would. */
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	if (rogue_waits(view, 0))
		rogue_place(view, plan, 0, 0);
	plan_preempt(plan, 0);
}

ROGUE("rogue-preempt-uncapable", 0);
