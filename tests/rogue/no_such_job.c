/* SPDX-License-Identifier: MIT */

#include "tests/rogue/rogue.h"

/* A job beyond the trace. */
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	Alloc where = { 0 };

	alloc_add(&where, 0);
	plan_place(plan, 1000000, &where);
	alloc_clear(&where);
}

ROGUE("rogue-no-such-job", 0);
