/* SPDX-License-Identifier: MIT */

/*
 * Gandiva as Themis's evaluation models it: whoever would sit best on the free GPUs takes them
 * (policies.md 1.13). No time slices, no packing: see gandiva for those.
 */

#include "sim/policy.h"

typedef enum GandivaScore {
	SCORE_PLACEMENT,
	SCORE_SPEED,
} GandivaScore;

typedef struct GandivaGreedyOptions {
	GreedyOptions greedy;
	gint score; /* GandivaScore */
} GandivaGreedyOptions;

typedef struct GandivaGreedy {
	Greedy *greedy; /* first: for greedy_policy_*() */
	GandivaGreedyOptions options;
	GreedyRules rules;
} GandivaGreedy;

static GreedyKey
gandiva_greedy_key(const void *self, const View *view, const GreedyBid *bid)
{
	const GandivaGreedy *own = self;

	return own->options.score == SCORE_SPEED ? -(GreedyKey)bid->rate_then_ppb
	                                         : -(GreedyKey)bid->factor_ppb;
}

static gboolean
gandiva_greedy_init(void *self, const void *options, const View *view, GError **error)
{
	GandivaGreedy *own = self;

	own->options = *(const GandivaGreedyOptions *)options;
	greedy_follow_authors(&own->options.greedy, &own->options.score, SCORE_SPEED);
	own->rules = (GreedyRules){ .key = gandiva_greedy_key, .needs_rates = TRUE };
	own->greedy = greedy_new(view, &own->rules, &own->options.greedy, own, error);
	return own->greedy != NULL;
}

static const char *const score_names[] = { "placement", "speed", NULL };

static const Option gandiva_greedy_options[] = {
	GREEDY_ROW_LEASE(GandivaGreedyOptions, "600"),
	GREEDY_ROWS_OFFER(GandivaGreedyOptions, "consolidate"),
	{ .name = "score",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(GandivaGreedyOptions, score),
	  .standard = "placement",
	  .choices = score_names,
	  .help = "what is best: 1/S of what the job would hold, or GPUs x 1/S, its speed" },
	GREEDY_ROWS_AUTHORS(GandivaGreedyOptions, ", score=speed"),
	{ .name = NULL },
};

const PolicyClass gandiva_greedy_policy = {
	.abi = POLICY_ABI,
	.name = "gandiva-greedy",
	.version = "1",
	.summary = "whoever would be placed best on the free GPUs takes them, by leases",
	.source = "Mahajan et al., Themis, NSDI 2020, its Gandiva baseline; Xiao et al., OSDI 2018",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_RESIZES | POLICY_ORACLE,
	.options = gandiva_greedy_options,
	.options_size = sizeof(GandivaGreedyOptions),
	.state_size = sizeof(GandivaGreedy),
	.init = gandiva_greedy_init,
	GREEDY_POLICY_FUNCTIONS,
	.idea = "Whenever GPUs are idle or leases end, each app says how well the job that it "
	        "would serve next would be placed on them (1/S: 1 within a machine, less the "
	        "further apart), and the best takes all it can use, then the next. It keeps "
	        "work local, and does not care who waits. Jobs neither take turns on GPUs nor "
	        "share them.",
};
