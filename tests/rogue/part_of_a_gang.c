/* SPDX-License-Identifier: MIT */

#include "tests/rogue/rogue.h"

/* One GPU for a job whose gang is two. */
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	Alloc where = { 0 };

	alloc_add(&where, 0);
	plan_place(plan, 0, &where);
	alloc_clear(&where);
}

ROGUE("rogue-part-of-a-gang", POLICY_RESIZES | POLICY_PREEMPTS);
