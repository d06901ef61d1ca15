/* SPDX-License-Identifier: MIT */

/*
 * SLAQ: GPUs go where they lower the loss most within a lease (policies.md 1.13, 5.7), as a part of
 * all that a job's loss can fall. That of a job without a curve is halved after HALF_PART of its
 * work: 1 / (1 + w / half).
 * Their program draws its curves from seeds, by a rule that is not known; what its results show is
 * that the job with the fewest iterations done goes first, whatever GPU is on offer: as with one
 * convex curve of iterations for all, looked at for the next of them (score=iteration).
 */

#include "sim/policy.h"

/* The part of its work after which a job's loss is halved. */
#define HALF_PART 0.2

typedef enum SlaqScore {
	SCORE_ADDED,
	SCORE_WHOLE,
	SCORE_ITERATION,
} SlaqScore;

typedef struct SlaqOptions {
	GreedyOptions greedy;
	gint score; /* SlaqScore */
} SlaqOptions;

typedef struct Slaq {
	Greedy *greedy; /* first: for greedy_policy_*() */
	SlaqOptions options;
	GreedyRules rules;
} Slaq;

/* The curve of the trace; of a job without one, that of HALF_PART of its work. */
static gboolean
find_curve(const View *view, const Job *job, LossCurve *ret_curve)
{
	SimWork all_ns = 0;

	if (job->loss != NULL) {
		*ret_curve = *job->loss;
		return job->loss->start > job->loss->end;
	}
	if (!view_duration_ns(view, job->id, &all_ns))
		return FALSE;
	*ret_curve = (LossCurve){ 1, 0, (SimWork)(HALF_PART * (double)all_ns) };
	return ret_curve->half_ns > 0;
}

/* The part of all it can fall that the loss falls within a lease at @rate_ppb. */
static double
drop_of_loss(const Slaq *slaq, const View *view, const Job *job, gint64 rate_ppb)
{
	double gpus = (double)job_held_milli(job, job->num_gpus) / GPU_MILLI;
	double speed = (double)rate_ppb / (double)SPEED_ONE_PPB / gpus;
	SimWork done_ns = view_work_done_ns(view, job->id), left_ns = 0, more_ns;
	LossCurve curve;

	if (!find_curve(view, job, &curve) || !view_remaining_ns(view, job->id, &left_ns))
		return 0;
	more_ns = (SimWork)MIN((double)left_ns, (double)slaq->options.greedy.lease_ns * speed);
	return (loss_at(&curve, done_ns) - loss_at(&curve, done_ns + more_ns)) /
	       (curve.start - curve.end);
}

/* Of a job whose iterations are not known, one takes a second. */
static GreedyKey
iterations_done(const Slaq *slaq, const View *view, const Job *job)
{
	SimTime iteration_ns = job->iteration_ns > 0 ? job->iteration_ns : NS_PER_S;
	GpuTime iteration = (GpuTime)iteration_ns * job_held_milli(job, job->num_gpus);

	return (greedy_work_done(slaq->greedy, view, job) + iteration / 2) / iteration;
}

static GreedyKey
slaq_key(const void *self, const View *view, const GreedyBid *bid)
{
	const Slaq *slaq = self;
	double drop;

	if (slaq->options.score == SCORE_ITERATION)
		return iterations_done(slaq, view, bid->job);
	drop = drop_of_loss(slaq, view, bid->job, bid->rate_then_ppb);
	if (slaq->options.score == SCORE_ADDED)
		drop -= drop_of_loss(slaq, view, bid->job, bid->rate_now_ppb);
	return greedy_key_of(MAX(drop, 0));
}

static gboolean
slaq_init(void *self, const void *options, const View *view, GError **error)
{
	Slaq *own = self;

	own->options = *(const SlaqOptions *)options;
	greedy_follow_authors(&own->options.greedy, &own->options.score, SCORE_ITERATION);
	greedy_follow_authors(&own->options.greedy, &own->options.greedy.count,
	                      GREEDY_IN_ITERATIONS);
	own->rules = (GreedyRules){ .key = slaq_key, .needs_rates = TRUE };
	own->greedy = greedy_new(view, &own->rules, &own->options.greedy, own, error);
	return own->greedy != NULL;
}

static const char *const score_names[] = { "added", "whole", "iteration", NULL };

static const Option slaq_options[] = {
	{ .name = "lease_s",
	  .kind = OPTION_SECONDS,
	  .offset = GREEDY_OFFSET(SlaqOptions, lease_ns),
	  .standard = "600",
	  .min = 1e-9,
	  .max = 1e9,
	  .help = "how long a GPU is given for, and how far the loss is looked at" },
	GREEDY_ROWS_OFFER(SlaqOptions, "consolidate"),
	{ .name = "score",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(SlaqOptions, score),
	  .standard = "added",
	  .choices = score_names,
	  .help = "the fall of the loss that the grant adds; or all of it with what the job "
	          "holds already; or that of the next iteration, which is the larger the fewer "
	          "the job has done" },
	GREEDY_ROW_COUNT(SlaqOptions),
	GREEDY_ROWS_AUTHORS(SlaqOptions, ", count=iteration, score=iteration"),
	{ .name = NULL },
};

const PolicyClass slaq_policy = {
	.abi = POLICY_ABI,
	.name = "slaq",
	.version = "1",
	.summary = "free GPUs go where they lower the loss most, by leases",
	.source = "Zhang et al., SLAQ, SoCC 2017; Mahajan et al., Themis, NSDI 2020, as a baseline",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_RESIZES | POLICY_ORACLE,
	.options = slaq_options,
	.options_size = sizeof(SlaqOptions),
	.state_size = sizeof(Slaq),
	.init = slaq_init,
	GREEDY_POLICY_FUNCTIONS,
	.idea = "Whenever GPUs are idle or leases end, the app goes first whose next job's loss "
	        "falls most within a lease on what it would be given. Losses fall fast at "
	        "first, so that newcomers are served and those who are nearly done wait.",
};
