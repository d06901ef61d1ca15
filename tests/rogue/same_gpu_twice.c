/* SPDX-License-Identifier: MIT */

#include "tests/rogue/rogue.h"

/* A gang of two on one GPU named twice. */
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	Alloc where = { 0 };

	alloc_add(&where, 0);
	alloc_add(&where, 0);
	plan_place(plan, 0, &where);
	alloc_clear(&where);
}

ROGUE("rogue-same-gpu-twice", 0);
