/* SPDX-License-Identifier: MIT */

/*
 * Optimus: GPUs go where they shorten what is left most. Everybody is given something first, then
 * a GPU more goes to the largest gain (policies.md 5.6), or all that a party can use (1.13).
 */

#include "sim/policy.h"

#define HOLDS_SOMETHING ((GreedyKey)1 << 80)

typedef enum OptimusScore {
	SCORE_GAIN,
	SCORE_RATIO,
} OptimusScore;

typedef struct OptimusOptions {
	GreedyOptions greedy;
	gint score; /* OptimusScore */
} OptimusOptions;

typedef struct Optimus {
	Greedy *greedy; /* first: for greedy_policy_*() */
	OptimusOptions options;
	GreedyRules rules;
} Optimus;

/* Who holds nothing goes first, the shortest of them: its gain has no bounds. */
static GreedyKey
optimus_key(const void *self, const View *view, const GreedyBid *bid)
{
	const Optimus *own = self;
	gint64 now_ppb = greedy_holding(own->greedy, bid->party)->rate_ppb;
	gint64 then_ppb = now_ppb + bid->rate_then_ppb - bid->rate_now_ppb;
	double then_ns = greedy_time_left_ns(own->greedy, view, bid->party, then_ppb);
	double now_ns;

	if (now_ppb == 0)
		return -greedy_key_of(then_ns);
	if (then_ppb <= now_ppb)
		return GREEDY_KEY_NONE;
	if (own->options.score == SCORE_RATIO)
		return HOLDS_SOMETHING + greedy_key_of((double)then_ppb / (double)now_ppb);
	now_ns = greedy_time_left_ns(own->greedy, view, bid->party, now_ppb);
	return HOLDS_SOMETHING + greedy_key_of(now_ns - then_ns);
}

static gboolean
optimus_init(void *self, const void *options, const View *view, GError **error)
{
	Optimus *own = self;

	own->options = *(const OptimusOptions *)options;
	if (own->options.greedy.preset == GREEDY_PRESET_AUTHORS)
		own->options.score = SCORE_RATIO;
	own->rules = (GreedyRules){ .key = optimus_key, .needs_rates = TRUE, .needs_work = TRUE };
	own->greedy = greedy_new(view, &own->rules, &own->options.greedy, own, error);
	return own->greedy != NULL;
}

static const char *const score_names[] = { "gain", "ratio", NULL };

static const Option optimus_options[] = {
	GREEDY_ROW_LEASE(OptimusOptions, "600"),
	GREEDY_ROW_GRAIN(OptimusOptions, "app"),
	GREEDY_ROW_UNIT(OptimusOptions, "app"),
	GREEDY_ROW_PLACEMENT(OptimusOptions, "consolidate"),
	GREEDY_ROW_MAX_LEVEL(OptimusOptions),
	{ .name = "score",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(OptimusOptions, score),
	  .standard = "gain",
	  .choices = score_names,
	  .help = "what is largest: the time left now less that with the GPUs, or the one over "
	          "the other" },
	GREEDY_ROW_PRESET(OptimusOptions, ", score=ratio"),
	{ .name = NULL },
};

const PolicyClass optimus_policy = {
	.abi = POLICY_ABI,
	.name = "optimus",
	.version = "1",
	.summary = "free GPUs go where they shorten the time left most, by leases",
	.source =
	    "Peng et al., Optimus, EuroSys 2018; Mahajan et al., Themis, NSDI 2020, as a baseline",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_RESIZES | POLICY_ORACLE,
	.options = optimus_options,
	.options_size = sizeof(OptimusOptions),
	.state_size = sizeof(Optimus),
	.init = optimus_init,
	.arrived = greedy_policy_arrived,
	.completed = greedy_policy_completed,
	.timer = greedy_policy_timer,
	.decide = greedy_policy_decide,
	.finish = greedy_policy_finish,
	.max_level = greedy_policy_max_level,
	.idea = "Whenever GPUs are idle or leases end, apps that hold none come first, the one "
	        "that would be done soonest before the others; then the app whose remaining "
	        "work over its speed falls most by the next grant. Knows how much work is left, "
	        "and how speed grows with GPUs. grain=gang with unit=job is Optimus's own way, "
	        "one worker at a time.",
};
