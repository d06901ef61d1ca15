/* SPDX-License-Identifier: MIT */

#include "tests/rogue/rogue.h"

/* A GPU beyond the cluster. */
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	rogue_place(view, plan, 0, 1000000);
}

ROGUE("rogue-no-such-gpu", 0);
