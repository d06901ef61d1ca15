/* SPDX-License-Identifier: MIT */

#include "tests/rogue/rogue.h"

/* Wants to be woken again at once, and does nothing. */
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	plan_wake(plan, view_now_ns(view), 0);
}

ROGUE("rogue-wake-for-ever", 0);
