/* SPDX-License-Identifier: MIT */

#include "tests/rogue/rogue.h"

/* Starts a job that is not submitted yet. */
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	rogue_place(view, plan, view_n_jobs(view) - 1, 0);
}

ROGUE("rogue-not-arrived", 0);
