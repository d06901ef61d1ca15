/* SPDX-License-Identifier: MIT */

/* Shortest job first, without stops (A64). */

#include "sim/policy.h"

typedef struct SjfOptions {
	PlacementOptions placement;
} SjfOptions;

typedef struct Sjf {
	Walk *walk; /* first, for walk_policy_*() */
} Sjf;

static const Option sjf_options[] = {
	PLACEMENT_OPTION_ROWS(SjfOptions, placement),
	{ 0 },
};

static WalkKey
sjf_key(const void *self, const View *view, const Job *job)
{
	SimWork duration_ns = 0;

	view_duration_ns(view, job->id, &duration_ns);
	return duration_ns;
}

static const WalkRules sjf_rules = {
	.is_strict = TRUE,
	.key = sjf_key,
};

static gboolean
sjf_init(void *self, const void *options, const View *view, GError **error)
{
	Sjf *sjf = self;

	sjf->walk = walk_new(view, &sjf_rules, &((const SjfOptions *)options)->placement, sjf);
	return TRUE;
}

static PlacementLevel
sjf_max_level(const void *options)
{
	return (PlacementLevel)((const SjfOptions *)options)->placement.max_level;
}

const PolicyClass sjf_policy = {
	.abi = POLICY_ABI,
	.name = "sjf",
	.version = "1",
	.summary = "the shortest job of the queue is next, and none overtakes it",
	.source = "classical; with gangs as in Hu et al., Helios, SC'21, section 4",
	.caps = POLICY_ORACLE,
	.options = sjf_options,
	.options_size = sizeof(SjfOptions),
	.state_size = sizeof(Sjf),
	.init = sjf_init,
	.arrived = walk_policy_arrived,
	.completed = walk_policy_completed,
	.decide = walk_policy_decide,
	.finish = walk_policy_finish,
	.max_level = sjf_max_level,
	.idea =
	    "Knows how long every job is. Whenever something changes, the waiting jobs are taken "
	    "by duration; the first that does not fit ends the round. Running jobs run to their "
	    "end.",
};
