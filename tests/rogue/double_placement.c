/* SPDX-License-Identifier: MIT */

#include "tests/rogue/rogue.h"

/* Two jobs on the same GPUs. */
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	for (JobId job = 0; job < 2; job++)
		if (rogue_waits(view, job))
			rogue_place(view, plan, job, 0);
}

ROGUE("rogue-double-placement", 0);
