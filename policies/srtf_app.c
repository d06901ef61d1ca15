/* SPDX-License-Identifier: MIT */

/*
 * Shortest remaining time first as Themis's evaluation has it: among apps, on the GPUs that are
 * free or whose leases end (policies.md 1.13). See srtf for the classical one.
 */

#include "sim/policy.h"

typedef enum SrtfKey {
	KEY_REMAINING,
	KEY_WITH_GPUS,
	KEY_WITH_GPUS_INVERTED,
} SrtfKey;

typedef struct SrtfAppOptions {
	GreedyOptions greedy;
	gint key; /* SrtfKey */
} SrtfAppOptions;

typedef struct SrtfApp {
	Greedy *greedy; /* first: for greedy_policy_*() */
	SrtfAppOptions options;
	GreedyRules rules;
} SrtfApp;

static GreedyKey
srtf_app_key(const void *self, const View *view, const GreedyBid *bid)
{
	const SrtfApp *own = self;
	gint64 rate_ppb = greedy_holding(own->greedy, bid->party)->rate_ppb + bid->rate_then_ppb -
	                  bid->rate_now_ppb;
	double factor = (double)bid->factor_ppb / (double)SPEED_ONE_PPB;

	switch ((SrtfKey)own->options.key) {
	case KEY_REMAINING:
		return greedy_longest_left_ns(own->greedy, view, bid->party);
	case KEY_WITH_GPUS:
		return -greedy_key_of(greedy_time_left_ns(own->greedy, view, bid->party, rate_ppb));
	case KEY_WITH_GPUS_INVERTED:
		return -greedy_key_of(factor * factor *
		                      greedy_time_left_ns(own->greedy, view, bid->party, rate_ppb));
	}
	g_assert_not_reached();
}

static gboolean
srtf_app_init(void *self, const void *options, const View *view, GError **error)
{
	SrtfApp *own = self;

	own->options = *(const SrtfAppOptions *)options;
	greedy_follow_authors(&own->options.greedy, &own->options.key, KEY_WITH_GPUS_INVERTED);
	greedy_follow_authors(&own->options.greedy, &own->options.greedy.count,
	                      GREEDY_IN_ITERATIONS);
	own->rules = (GreedyRules){ .key = srtf_app_key,
		                    .needs_rates = own->options.key != KEY_REMAINING,
		                    .needs_work = TRUE };
	own->greedy = greedy_new(view, &own->rules, &own->options.greedy, own, error);
	return own->greedy != NULL;
}

static const char *const key_names[] = { "remaining", "with-gpus", "with-gpus-inverted", NULL };

static const Option srtf_app_options[] = {
	GREEDY_ROW_LEASE(SrtfAppOptions, "600"),
	GREEDY_ROWS_OFFER(SrtfAppOptions, "consolidate"),
	{ .name = "key",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(SrtfAppOptions, key),
	  .standard = "remaining",
	  .choices = key_names,
	  .help = "what is shortest: the time of the app's longest job at the width asked for; the "
	          "app's work over the speed of all it would hold; the same with the slowdown of "
	          "the grant the wrong way round, so that the better of two places counts as the "
	          "longer" },
	GREEDY_ROW_COUNT(SrtfAppOptions),
	GREEDY_ROWS_AUTHORS(SrtfAppOptions, ", count=iteration, "
	                                    "key=with-gpus-inverted"),
	{ .name = NULL },
};

const PolicyClass srtf_app_policy = {
	.abi = POLICY_ABI,
	.name = "srtf-app",
	.version = "1",
	.summary = "the app with the shortest time left takes the free GPUs, by leases",
	.source = "Mahajan et al., Themis, NSDI 2020, its SRTF baseline",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_RESIZES | POLICY_ORACLE,
	.options = srtf_app_options,
	.options_size = sizeof(SrtfAppOptions),
	.state_size = sizeof(SrtfApp),
	.init = srtf_app_init,
	GREEDY_POLICY_FUNCTIONS,
	.idea = "Whenever GPUs are idle or leases end, the app that would be done soonest takes "
	        "all it can use, then the next: the time left of an app is that of the longest "
	        "of its jobs that are here. Knows how much work is left. Best for mean "
	        "completion times, and starves long apps.",
};
