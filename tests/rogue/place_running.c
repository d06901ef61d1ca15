/* SPDX-License-Identifier: MIT */

#include "tests/rogue/rogue.h"

/* A job that runs is placed once more, elsewhere. */
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	if (rogue_waits(view, 0))
		rogue_place(view, plan, 0, 0);
	rogue_place(view, plan, 0, 1);
}

ROGUE("rogue-place-running", 0);
