/* SPDX-License-Identifier: MIT */

/* The policy that does nothing: the least a policy can be, and what the engine costs by itself. */

#include "sim/policy.h"

static void
null_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
}

const PolicyClass null_policy = {
	.abi = POLICY_ABI,
	.name = "null",
	.version = "1",
	.summary = "never starts a job",
	.source = "none",
	.decide = null_decide,
	.idea = "For tests and for measuring the engine: jobs arrive and wait until the run is "
	        "stopped.",
};
