/* SPDX-License-Identifier: MIT */

/*
 * Dominant resource fairness by progressive filling (policies.md 4.3): the next job is started for
 * whoever has the least of the resource of which he has most.
 */

#include "sim/policy.h"

typedef struct DrfOptions {
	GreedyOptions greedy;
} DrfOptions;

typedef struct Drf {
	Greedy *greedy; /* first: for greedy_policy_*() */
	DrfOptions options;
	GreedyRules rules;
	double gpus_milli, cpus_milli, mem_mib; /* of the cluster; 0 = not given */
} Drf;

static double
share_of(double held, double total)
{
	return total > 0 ? held / total : 0;
}

static GreedyKey
drf_key(const void *self, const View *view, const GreedyBid *bid)
{
	const Drf *drf = self;
	const GreedyHolding *holds = greedy_holding(drf->greedy, bid->party);
	double share = share_of((double)holds->gpus_milli, drf->gpus_milli);

	share = MAX(share, share_of((double)holds->cpus_milli, drf->cpus_milli));
	share = MAX(share, share_of((double)holds->mem_mib, drf->mem_mib));
	return -greedy_key_of(share / bid->job->weight);
}

static gboolean
drf_init(void *self, const void *options, const View *view, GError **error)
{
	Drf *drf = self;
	const ClusterSpec *spec = view_cluster_spec(view);

	drf->options = *(const DrfOptions *)options;
	drf->rules = (GreedyRules){ .key = drf_key };
	drf->gpus_milli = (double)spec->n_gpus * GPU_MILLI;
	for (guint i = 0; i < spec->n_machines; i++) {
		drf->cpus_milli += spec->machines[i].cpus_milli;
		drf->mem_mib += (double)spec->machines[i].mem_mib;
	}
	drf->greedy = greedy_new(view, &drf->rules, &drf->options.greedy, drf, error);
	return drf->greedy != NULL;
}

static const Option drf_options[] = {
	{ .name = "by",
	  .kind = OPTION_CHOICE,
	  .offset = GREEDY_OFFSET(DrfOptions, unit),
	  .standard = "app",
	  .choices = greedy_owner_names,
	  .help = "whose shares are compared" },
	GREEDY_ROW_LEASE(DrfOptions, "off"),
	GREEDY_ROW_GRAIN(DrfOptions, "gang"),
	GREEDY_ROW_JOBS(DrfOptions),
	GREEDY_ROW_PLACEMENT(DrfOptions, "consolidate"),
	GREEDY_ROW_MAX_LEVEL(DrfOptions),
	{ .name = NULL },
};

const PolicyClass drf_policy = {
	.abi = POLICY_ABI,
	.name = "drf",
	.version = "1",
	.summary = "the next job is started for whoever has the least dominant share",
	.source = "Ghodsi et al., Dominant Resource Fairness, NSDI 2011",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_RESIZES | POLICY_ORACLE,
	.options = drf_options,
	.options_size = sizeof(DrfOptions),
	.state_size = sizeof(Drf),
	.init = drf_init,
	GREEDY_POLICY_FUNCTIONS,
	.idea = "The dominant share of an app, user or tenant is the largest part that its "
	        "running jobs have of all GPUs, CPUs or host memory, divided by the weight of "
	        "the job that would be next. As long as something fits, the one with the least "
	        "takes one job more. What runs is not stopped, so that shares are equal only as "
	        "fast as jobs end; lease_s makes them return what they have. What neither the "
	        "trace nor the cluster gives counts for nothing.",
};
