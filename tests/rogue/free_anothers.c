/* SPDX-License-Identifier: MIT */

#include "tests/rogue/rogue.h"

/* Stops a job that does not run, to have its GPUs. */
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	plan_preempt(plan, 1);
}

ROGUE("rogue-free-anothers", POLICY_PREEMPTS);
