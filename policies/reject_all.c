/* SPDX-License-Identifier: MIT */

/* The policy that turns everybody away: for tests of what becomes of rejected jobs. */

#include "sim/policy.h"

typedef struct RejectAll {
	GArray *jobs; /* of JobId: arrived at this instant */
} RejectAll;

static gboolean
reject_all_init(void *self, const void *options, const View *view, GError **error)
{
	((RejectAll *)self)->jobs = g_array_new(FALSE, FALSE, sizeof(JobId));
	return TRUE;
}

static void
reject_all_arrived(void *self, const View *view, const Job *job)
{
	g_array_append_val(((RejectAll *)self)->jobs, job->id);
}

static void
reject_all_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	GArray *jobs = ((RejectAll *)self)->jobs;

	for (guint i = 0; i < jobs->len; i++)
		plan_reject(plan, g_array_index(jobs, JobId, i), "the policy rejects every job");
	g_array_set_size(jobs, 0);
}

static void
reject_all_finish(void *self)
{
	g_clear_pointer(&((RejectAll *)self)->jobs, g_array_unref);
}

const PolicyClass reject_all_policy = {
	.abi = POLICY_ABI,
	.name = "reject-all",
	.version = "1",
	.summary = "rejects every job at its submission",
	.source = "none; the idea is Batsim's rejecter",
	.state_size = sizeof(RejectAll),
	.init = reject_all_init,
	.arrived = reject_all_arrived,
	.decide = reject_all_decide,
	.finish = reject_all_finish,
	.idea = "For tests: every job that needs GPUs ends REJECTED at the instant it arrives.",
};
