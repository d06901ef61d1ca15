/* SPDX-License-Identifier: MIT */

/*
 * Shortest remaining service first as Themis's evaluation has it: among apps, on the GPUs that are
 * free or whose leases end (policies.md 1.13). See srsf for the classical one.
 */

#include "sim/policy.h"

typedef enum SrsfKey {
	KEY_REMAINING,
	KEY_DONE,
} SrsfKey;

typedef struct SrsfAppOptions {
	GreedyOptions greedy;
	gint key; /* SrsfKey */
} SrsfAppOptions;

typedef struct SrsfApp {
	Greedy *greedy; /* first: for greedy_policy_*() */
	SrsfAppOptions options;
	GreedyRules rules;
} SrsfApp;

static GreedyKey
srsf_app_key(const void *self, const View *view, const GreedyBid *bid)
{
	const SrsfApp *own = self;

	return own->options.key == KEY_DONE ? greedy_work_done(own->greedy, view, bid->job)
	                                    : greedy_work_left(own->greedy, view, bid->party);
}

static gboolean
srsf_app_init(void *self, const void *options, const View *view, GError **error)
{
	SrsfApp *own = self;

	own->options = *(const SrsfAppOptions *)options;
	greedy_follow_authors(&own->options.greedy, &own->options.key, KEY_DONE);
	greedy_follow_authors(&own->options.greedy, &own->options.greedy.count,
	                      GREEDY_IN_ITERATIONS);
	own->rules = (GreedyRules){ .key = srsf_app_key, .needs_work = TRUE };
	own->greedy = greedy_new(view, &own->rules, &own->options.greedy, own, error);
	return own->greedy != NULL;
}

static const char *const key_names[] = { "remaining", "done", NULL };

static const Option srsf_app_options[] = {
	GREEDY_ROW_LEASE(SrsfAppOptions, "600"),
	GREEDY_ROWS_OFFER(SrsfAppOptions, "consolidate"),
	{ .name = "key",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(SrsfAppOptions, key),
	  .standard = "remaining",
	  .choices = key_names,
	  .help =
	      "what is least: the work that the app has left, or what the asking job has done" },
	GREEDY_ROW_COUNT(SrsfAppOptions),
	GREEDY_ROWS_AUTHORS(SrsfAppOptions, ", count=iteration, key=done"),
	{ .name = NULL },
};

const PolicyClass srsf_app_policy = {
	.abi = POLICY_ABI,
	.name = "srsf-app",
	.version = "1",
	.summary = "the app with the least GPU-time left takes the free GPUs, by leases",
	.source = "Mahajan et al., Themis, NSDI 2020, its SRSF baseline",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_RESIZES | POLICY_ORACLE,
	.options = srsf_app_options,
	.options_size = sizeof(SrsfAppOptions),
	.state_size = sizeof(SrsfApp),
	.init = srsf_app_init,
	GREEDY_POLICY_FUNCTIONS,
	.idea = "Whenever GPUs are idle or leases end, the app with the least work left (GPU- "
	        "time at full speed, summed over its jobs that are here) takes all it can use, "
	        "then the next. Knows how much work is left.",
};
