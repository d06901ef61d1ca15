/* SPDX-License-Identifier: MIT */

/* The trace's own priorities, strictly (A62). */

#include "sim/policy.h"

typedef struct PriorityOptions {
	PlacementOptions placement;
	gboolean preempts;
} PriorityOptions;

typedef struct Priority {
	Walk *walk; /* first, for walk_policy_*() */
	WalkRules rules;
} Priority;

static const Option priority_options[] = {
	{ .name = "preempt",
	  .kind = OPTION_BOOL,
	  .offset = G_STRUCT_OFFSET(PriorityOptions, preempts),
	  .standard = "false",
	  .help = "whether a more urgent job stops running ones that are less so" },
	PLACEMENT_OPTION_ROWS(PriorityOptions, placement),
	{ 0 },
};

static WalkKey
priority_key(const void *self, const View *view, const Job *job)
{
	return -(WalkKey)job->priority;
}

static gboolean
priority_init(void *self, const void *options, const View *view, GError **error)
{
	const PriorityOptions *given = options;
	Priority *priority = self;

	priority->rules = (WalkRules){
		.preempts = given->preempts,
		.is_strict = TRUE,
		.running_order = WALK_ORDER_STATIC,
		.key = priority_key,
	};
	priority->walk = walk_new(view, &priority->rules, &given->placement, priority);
	return TRUE;
}

static PlacementLevel
priority_max_level(const void *options)
{
	return (PlacementLevel)((const PriorityOptions *)options)->placement.max_level;
}

const PolicyClass priority_policy = {
	.abi = POLICY_ABI,
	.name = "priority",
	.version = "1",
	.summary = "the most urgent job first, by the priority column of the trace",
	.source = "classical",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES,
	.options = priority_options,
	.options_size = sizeof(PriorityOptions),
	.state_size = sizeof(Priority),
	.init = priority_init,
	.arrived = walk_policy_arrived,
	.completed = walk_policy_completed,
	.decide = walk_policy_decide,
	.finish = walk_policy_finish,
	.max_level = priority_max_level,
	.idea = "A larger priority goes first, and among equals who came first. Nobody overtakes a "
	        "more urgent job that does not fit yet. With preempt=true running jobs give way to "
	        "more urgent ones, the least urgent first.",
};
