/* SPDX-License-Identifier: MIT */

/* First come, first served: strictly, or passing over who does not fit. */

#include "sim/policy.h"

typedef struct FifoOptions {
	PlacementOptions placement;
} FifoOptions;

typedef struct Fifo {
	Walk *walk; /* first, for walk_policy_*() */
} Fifo;

static const Option fifo_options[] = {
	PLACEMENT_OPTION_ROWS(FifoOptions, placement),
	{ 0 },
};

/* Job ids are in the order of submission, and they break all ties. */
static WalkKey
fifo_key(const void *self, const View *view, const Job *job)
{
	return 0;
}

static const WalkRules fifo_rules = {
	.is_strict = TRUE,
	.key = fifo_key,
};

static const WalkRules fifo_skip_rules = {
	.key = fifo_key,
};

static gboolean
init_with(Fifo *fifo, const FifoOptions *options, const View *view, const WalkRules *rules)
{
	fifo->walk = walk_new(view, rules, &options->placement, fifo);
	return TRUE;
}

static gboolean
fifo_init(void *self, const void *options, const View *view, GError **error)
{
	return init_with(self, options, view, &fifo_rules);
}

static gboolean
fifo_skip_init(void *self, const void *options, const View *view, GError **error)
{
	return init_with(self, options, view, &fifo_skip_rules);
}

static PlacementLevel
fifo_max_level(const void *options)
{
	return (PlacementLevel)((const FifoOptions *)options)->placement.max_level;
}

const PolicyClass fifo_policy = {
	.abi = POLICY_ABI,
	.name = "fifo",
	.version = "1",
	.summary = "first come, first served; the first that does not fit holds up all behind it",
	.source = "the usual queue of a cluster (YARN's capacity scheduler; Hu et al., Helios, "
	          "SC'21, section 4)",
	.options = fifo_options,
	.options_size = sizeof(FifoOptions),
	.state_size = sizeof(Fifo),
	.init = fifo_init,
	.arrived = walk_policy_arrived,
	.completed = walk_policy_completed,
	.decide = walk_policy_decide,
	.finish = walk_policy_finish,
	.max_level = fifo_max_level,
	.idea =
	    "Jobs start in the order of their submission and run to their end. A gang that does "
	    "not fit into what is free waits, and so does everybody behind it: nobody is ever "
	    "overtaken, at the price of GPUs that stand idle in front of a wide job.",
};

const PolicyClass fifo_skip_policy = {
	.abi = POLICY_ABI,
	.name = "fifo-skip",
	.version = "1",
	.summary = "first come, first served among those that fit now",
	.source = "\"first job that fits\" of the Tiresias simulator (Gu et al., NSDI'19)",
	.options = fifo_options,
	.options_size = sizeof(FifoOptions),
	.state_size = sizeof(Fifo),
	.init = fifo_skip_init,
	.arrived = walk_policy_arrived,
	.completed = walk_policy_completed,
	.decide = walk_policy_decide,
	.finish = walk_policy_finish,
	.max_level = fifo_max_level,
	.idea =
	    "Like fifo, but a gang that does not fit is passed over, and the next one is tried. "
	    "GPUs stay busy; a wide job may wait for ever while narrow ones keep coming, as "
	    "nothing is kept free for it.",
};
