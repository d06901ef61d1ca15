/* SPDX-License-Identifier: MIT */

/*
 * Tiresias as Themis's evaluation models it: who has had the least GPU-time so far takes what is
 * free, wherever that is (policies.md 1.13). See tiresias for its queues.
 */

#include "sim/policy.h"

typedef struct TiresiasAppOptions {
	GreedyOptions greedy;
} TiresiasAppOptions;

typedef struct TiresiasApp {
	Greedy *greedy; /* first: for greedy_policy_*() */
	TiresiasAppOptions options;
	GreedyRules rules;
} TiresiasApp;

static GreedyKey
tiresias_app_key(const void *self, const View *view, const GreedyBid *bid)
{
	return greedy_service(((const TiresiasApp *)self)->greedy, view, bid->party);
}

static gboolean
tiresias_app_init(void *self, const void *options, const View *view, GError **error)
{
	TiresiasApp *own = self;

	own->options = *(const TiresiasAppOptions *)options;
	greedy_follow_authors(&own->options.greedy, &own->options.greedy.count,
	                      GREEDY_IN_ITERATIONS);
	own->rules = (GreedyRules){ .key = tiresias_app_key };
	own->greedy = greedy_new(view, &own->rules, &own->options.greedy, own, error);
	return own->greedy != NULL;
}

static const Option tiresias_app_options[] = {
	GREEDY_ROW_LEASE(TiresiasAppOptions, "600"),
	GREEDY_ROWS_OFFER(TiresiasAppOptions, "first-fit"),
	GREEDY_ROW_COUNT(TiresiasAppOptions),
	GREEDY_ROWS_AUTHORS(TiresiasAppOptions, ", count=iteration"),
	{ .name = NULL },
};

const PolicyClass tiresias_app_policy = {
	.abi = POLICY_ABI,
	.name = "tiresias-app",
	.version = "1",
	.summary = "the app with the least attained GPU-time takes the free GPUs, by leases",
	.source = "Mahajan et al., Themis, NSDI 2020, its Tiresias baseline; Gu et al., NSDI 2019",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_RESIZES | POLICY_ORACLE,
	.options = tiresias_app_options,
	.options_size = sizeof(TiresiasAppOptions),
	.state_size = sizeof(TiresiasApp),
	.init = tiresias_app_init,
	GREEDY_POLICY_FUNCTIONS,
	.idea = "Whenever GPUs are idle or leases end, the app whose jobs have held the least "
	        "GPU-time so far, those that are done included, takes all it can use, then the "
	        "next. Knows nothing of work left, unless jobs=longest asks for it, and takes no "
	        "notice of places, but that a job which wins its own GPUs back keeps them.",
};
