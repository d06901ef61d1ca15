/* SPDX-License-Identifier: MIT */

#include "tests/rogue/rogue.h"

/* Two jobs take turns of a nanosecond more than each pays to resume. */
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	guint64 *turn = self;
	JobId stopped = *turn % 2, started = (*turn + 1) % 2;

	if (view_n_jobs(view) > 2 && view_state(view, 2) == JOB_PENDING)
		return;
	if (view_state(view, stopped) == JOB_RUNNING)
		plan_preempt(plan, stopped);
	rogue_place(view, plan, started, 0);
	(*turn)++;
	plan_wake(plan, view_now_ns(view) + 2 * NS_PER_S + 1, 0);
}

ROGUE("rogue-swap-slowly", POLICY_PREEMPTS);
