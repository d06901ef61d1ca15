/* SPDX-License-Identifier: MIT */

#include "tests/rogue/rogue.h"

/* Whole jobs packed on one GPU beyond its memory. */
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	for (JobId job = 0; job < 2; job++)
		if (rogue_waits(view, job))
			rogue_place(view, plan, job, 0);
}

ROGUE("rogue-too-much-memory", POLICY_SHARES);
