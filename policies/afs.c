/* SPDX-License-Identifier: MIT */

/*
 * AFS: elastic sharing that weighs the short job's gain against the long one's (policies.md 5.5).
 * Everybody is given something first, the shortest before the others; then each further GPU goes to
 * the winner of a scan in which the shorter job of a pair, l, wins against the longer, h, if
 *
 *	rate_l(n) / rate_l(n + 1) + rate_h(n + 1) / rate_h(n) < 2
 *
 * that is, if the part of its new speed that l would gain is above the part of its old speed that h
 * would gain.
 */

#include "sim/policy.h"

typedef struct AfsOptions {
	GreedyOptions greedy;
} AfsOptions;

typedef struct Afs {
	Greedy *greedy; /* first: for greedy_policy_*() */
	AfsOptions options;
	GreedyRules rules;
} Afs;

static gint64
rate_now_ppb(const Afs *afs, const GreedyBid *bid)
{
	return greedy_holding(afs->greedy, bid->party)->rate_ppb;
}

static gint64
rate_then_ppb(const Afs *afs, const GreedyBid *bid)
{
	return rate_now_ppb(afs, bid) + bid->rate_then_ppb - bid->rate_now_ppb;
}

/* Time left on what it holds, or would hold if that is nothing; as a rank. */
static GreedyKey
length_of(const Afs *afs, const View *view, const GreedyBid *bid)
{
	gint64 now_ppb = rate_now_ppb(afs, bid);

	return -greedy_key_of(greedy_time_left_ns(afs->greedy, view, bid->party,
	                                          now_ppb > 0 ? now_ppb : rate_then_ppb(afs, bid)));
}

static GreedyKey
afs_key(const void *self, const View *view, const GreedyBid *bid)
{
	const Afs *afs = self;

	return rate_then_ppb(afs, bid) > rate_now_ppb(afs, bid) ? length_of(afs, view, bid)
	                                                        : GREEDY_KEY_NONE;
}

static gboolean
shorter_wins(const Afs *afs, const GreedyBid *shorter, const GreedyBid *longer)
{
	double sum = (double)rate_now_ppb(afs, shorter) / (double)rate_then_ppb(afs, shorter) +
	             (double)rate_then_ppb(afs, longer) / (double)rate_now_ppb(afs, longer);

	return score_rank_of(sum) < score_rank_of(2);
}

static gboolean
afs_beats(const void *self, const View *view, const GreedyBid *one, const GreedyBid *other)
{
	const Afs *afs = self;
	gboolean one_has = rate_now_ppb(afs, one) > 0, other_has = rate_now_ppb(afs, other) > 0;
	gboolean is_shorter = length_of(afs, view, one) < length_of(afs, view, other);

	if (!one_has || !other_has)
		return one_has == other_has ? is_shorter : !one_has;
	return is_shorter ? shorter_wins(afs, one, other) : !shorter_wins(afs, other, one);
}

static gboolean
afs_init(void *self, const void *options, const View *view, GError **error)
{
	Afs *own = self;

	own->options = *(const AfsOptions *)options;
	own->rules = (GreedyRules){
		.key = afs_key, .beats = afs_beats, .needs_rates = TRUE, .needs_work = TRUE
	};
	own->greedy = greedy_new(view, &own->rules, &own->options.greedy, own, error);
	return own->greedy != NULL;
}

static const Option afs_options[] = {
	GREEDY_ROW_LEASE(AfsOptions, "600"),
	GREEDY_ROW_GRAIN(AfsOptions, "gang"),
	GREEDY_ROW_UNIT(AfsOptions, "job"),
	GREEDY_ROW_PLACEMENT(AfsOptions, "consolidate"),
	GREEDY_ROW_JOBS(AfsOptions),
	GREEDY_ROW_MAX_LEVEL(AfsOptions),
	{ .name = NULL },
};

const PolicyClass afs_policy = {
	.abi = POLICY_ABI,
	.name = "afs",
	.version = "1",
	.summary = "elastic sharing: a short job's gain is weighed against a long one's",
	.source = "Hwang et al., Elastic Resource Sharing for Distributed Deep Learning, NSDI 2021",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_RESIZES | POLICY_ORACLE,
	.options = afs_options,
	.options_size = sizeof(AfsOptions),
	.state_size = sizeof(Afs),
	.init = afs_init,
	GREEDY_POLICY_FUNCTIONS,
	.idea = "Whenever GPUs are idle or leases end, jobs that hold none come first, the "
	        "shortest before the others; then each further GPU goes to the winner of a scan "
	        "over all jobs that can use it, in which the shorter of two wins if the part of "
	        "its new speed that it gains is above the part of its old speed that the longer "
	        "one would gain. For moldable jobs: rigid ones go shortest first.",
};
