/* SPDX-License-Identifier: MIT */

/*
 * Optimus: GPUs go where they shorten what is left most. Everybody is given something first, then
 * a GPU more goes to the largest gain (policies.md 5.6), or all that a party can use (1.13).
 */

#include "sim/policy.h"

#define HOLDS_SOMETHING ((GreedyKey)1 << 80)

typedef enum OptimusScore {
	SCORE_GAIN,
	SCORE_JCT_RATIO,
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

/* How many times the job's time from its arrival to its end would be what it would be with the
 * grant. */
static double
jct_ratio(const View *view, const GreedyBid *bid, double now_ns, double then_ns)
{
	double elapsed_ns = (double)(view_now_ns(view) - bid->job->submit_ns);

	return elapsed_ns + then_ns > 0 ? (elapsed_ns + now_ns) / (elapsed_ns + then_ns) : 1;
}

/* Who holds nothing goes first, the shortest of them: its gain has no bounds. */
static GreedyKey
optimus_key(const void *self, const View *view, const GreedyBid *bid)
{
	const Optimus *own = self;
	gboolean is_ratio = own->options.score == SCORE_JCT_RATIO;
	gint64 now_ppb = greedy_holding(own->greedy, bid->party)->rate_ppb;
	gint64 then_ppb = now_ppb + bid->rate_then_ppb - bid->rate_now_ppb;
	double then_ns = greedy_time_left_ns(own->greedy, view, bid->party, then_ppb);
	double now_ns;

	if (now_ppb == 0)
		return is_ratio ? 0 : -greedy_key_of(then_ns);
	if (then_ppb <= now_ppb && !is_ratio)
		return GREEDY_KEY_NONE;
	now_ns = greedy_time_left_ns(own->greedy, view, bid->party, now_ppb);
	return HOLDS_SOMETHING +
	       greedy_key_of(is_ratio ? jct_ratio(view, bid, now_ns, then_ns) : now_ns - then_ns);
}

static gboolean
optimus_init(void *self, const void *options, const View *view, GError **error)
{
	Optimus *own = self;

	own->options = *(const OptimusOptions *)options;
	greedy_follow_authors(&own->options.greedy, &own->options.score, SCORE_JCT_RATIO);
	own->rules = (GreedyRules){ .key = optimus_key, .needs_rates = TRUE, .needs_work = TRUE };
	own->greedy = greedy_new(view, &own->rules, &own->options.greedy, own, error);
	return own->greedy != NULL;
}

static const char *const score_names[] = { "gain", "jct-ratio", NULL };

static const Option optimus_options[] = {
	GREEDY_ROW_LEASE(OptimusOptions, "600"),
	GREEDY_ROWS_OFFER(OptimusOptions, "consolidate"),
	{ .name = "score",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(OptimusOptions, score),
	  .standard = "gain",
	  .choices = score_names,
	  .help = "what is largest: the app's time left now less that with the grant; or the "
	          "job's time from arrival to end as it is over that with the grant, even if that "
	          "is less, and those that hold nothing all tie" },
	GREEDY_ROW_COUNT(OptimusOptions),
	GREEDY_ROWS_AUTHORS(OptimusOptions, ", score=jct-ratio"),
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
	GREEDY_POLICY_FUNCTIONS,
	.idea = "Whenever GPUs are idle or leases end, apps that hold none come first, the one "
	        "that would be done soonest before the others; then the app whose remaining "
	        "work over its speed falls most by the next grant. Knows how much work is left, "
	        "and how speed grows with GPUs. grain=gang with unit=job is Optimus's own way, "
	        "one worker at a time.",
};
