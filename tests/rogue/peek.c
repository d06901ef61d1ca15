/* SPDX-License-Identifier: MIT */

#include "tests/rogue/rogue.h"

/* Asks for the remaining work without being an oracle. */
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	SimWork left_ns;

	g_assert(!view_remaining_ns(view, 0, &left_ns));
}

ROGUE("rogue-peek", 0);
