/* SPDX-License-Identifier: MIT */
#include "policies/registry.h"

extern const PolicyClass fifo_policy, fifo_skip_policy, sjf_policy, srtf_policy, srsf_policy;
extern const PolicyClass las_policy, las_2d_policy, priority_policy, easy_policy;
extern const PolicyClass tiresias_policy, gandiva_policy, themis_policy, themis_strawman_policy;
extern const PolicyClass gandiva_greedy_policy, tiresias_app_policy, optimus_policy, slaq_policy;
extern const PolicyClass drf_policy, srtf_app_policy, srsf_app_policy, afs_policy;
extern const PolicyClass max_min_policy, ftf_greedy_policy, ftf_lp_policy, quota_policy;
extern const PolicyClass gandiva_fair_policy, fgd_policy;
extern const PolicyClass null_policy, reject_all_policy;

const PolicyClass *const policy_classes[] = {
	&fifo_policy,
	&fifo_skip_policy,
	&sjf_policy,
	&srtf_policy,
	&srsf_policy,
	&las_policy,
	&las_2d_policy,
	&priority_policy,
	&easy_policy,
	&tiresias_policy,
	&gandiva_policy,
	&themis_policy,
	&themis_strawman_policy,
	&gandiva_greedy_policy,
	&tiresias_app_policy,
	&optimus_policy,
	&slaq_policy,
	&srtf_app_policy,
	&srsf_app_policy,
	&drf_policy,
	&afs_policy,
	&max_min_policy,
	&ftf_greedy_policy,
	&ftf_lp_policy,
	&quota_policy,
	&gandiva_fair_policy,
	&fgd_policy,
	&null_policy,
	&reject_all_policy,
	NULL,
};

const PolicyClass *
policy_find(const char *name)
{
	for (guint i = 0; policy_classes[i] != NULL; i++)
		if (g_str_equal(policy_classes[i]->name, name))
			return policy_classes[i];
	return NULL;
}
