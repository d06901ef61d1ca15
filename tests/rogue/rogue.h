/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A rogue is a policy as a shared object that makes one wrong move; tests/cli/rogue.sh says which
 * verdict it must be refused with. Each gives a decide(); the rest of its table is here.
 */

#include "sim/policy.h"

#define ROGUE(rogue_name, rogue_caps)                                         \
	extern const PolicyClass policy_class;                                \
	const PolicyClass policy_class = { .abi = POLICY_ABI,                 \
		                           .name = rogue_name,                \
		                           .version = "1",                    \
		                           .summary = "makes one wrong move", \
		                           .source = "tests/rogue",           \
		                           .caps = rogue_caps,                \
		                           .state_size = sizeof(guint64),     \
		                           .decide = decide }

/* Job 0 on the GPUs from @first on, as many as its gang has. */
static inline PlanVerdict
rogue_place(const View *view, Plan *plan, JobId job, guint32 first)
{
	Alloc where = { 0 };
	PlanVerdict verdict;

	alloc_add_range(&where, first, view_job(view, job)->num_gpus);
	verdict = plan_place(plan, job, &where);
	alloc_clear(&where);
	return verdict;
}

static inline gboolean
rogue_waits(const View *view, JobId job)
{
	return job < view_n_jobs(view) && view_state(view, job) == JOB_QUEUED;
}
