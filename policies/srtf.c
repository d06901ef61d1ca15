/* SPDX-License-Identifier: MIT */

/* Shortest remaining time, and shortest remaining service, first (A57). */

#include "sim/policy.h"

typedef struct SrtfOptions {
	PlacementOptions placement;
	SimTime min_run_ns;
} SrtfOptions;

typedef struct Srtf {
	Walk *walk; /* first, for walk_policy_*() */
	WalkRules rules;
	SimTime min_run_ns;
} Srtf;

static const Option srtf_options[] = {
	{ .name = "min_run_s",
	  .kind = OPTION_SECONDS,
	  .offset = G_STRUCT_OFFSET(SrtfOptions, min_run_ns),
	  .standard = "0",
	  .min = 0,
	  .help = "a job that has been started keeps its GPUs for so long" },
	PLACEMENT_OPTION_ROWS(SrtfOptions, placement),
	{ 0 },
};

static WalkKey
srtf_key(const void *self, const View *view, const Job *job)
{
	SimWork remaining_ns = 0;

	view_remaining_ns(view, job->id, &remaining_ns);
	return remaining_ns;
}

static WalkKey
srsf_key(const void *self, const View *view, const Job *job)
{
	return srtf_key(self, view, job) * (WalkKey)job_held_milli(job, job->num_gpus);
}

static void
srtf_started(void *self, const View *view, const Job *job, Plan *plan)
{
	const Srtf *srtf = self;

	if (srtf->min_run_ns > 0)
		plan_wake(plan, time_add(view_now_ns(view), srtf->min_run_ns), job->id);
}

/* A job's min_run_s is over. A wake of a stretch that has ended since would find the job waiting,
 * or be of no later stretch: a start sets it anew. */
static void
srtf_timer(void *self, const View *view, guint64 tag)
{
	const Srtf *srtf = self;
	const Job *job = view_job(view, (JobId)tag);

	if (view_state(view, job->id) == JOB_RUNNING &&
	    view_now_ns(view) - view_started_ns(view, job->id) >= srtf->min_run_ns)
		walk_unpin(srtf->walk, view, job);
}

/* Whether all running jobs do work at the same speed at all times, and none is granted more. */
static gboolean
runs_evenly(const View *view)
{
	Overheads largest = view_largest_overheads(view);

	for (AppId app = 0; app < view_n_apps(view); app++)
		if (view_app(view, app)->tuner != NULL)
			return FALSE;

	return view_models(view)->n == 0 && largest.start_ns == 0 && largest.resume_ns == 0 &&
	       largest.migrate_ns == 0;
}

static gboolean
init_with(Srtf *srtf, const SrtfOptions *options, const View *view, WalkRules rules)
{
	rules.preempts = TRUE;
	rules.prefers_running = TRUE;
	rules.pins_started = options->min_run_ns > 0;
	rules.started = srtf_started;
	if (!runs_evenly(view))
		rules.running_order = WALK_ORDER_CHANGES;
	srtf->rules = rules;
	srtf->min_run_ns = options->min_run_ns;
	srtf->walk = walk_new(view, &srtf->rules, &options->placement, srtf);
	return TRUE;
}

static gboolean
srtf_init(void *self, const void *options, const View *view, GError **error)
{
	return init_with(self, options, view,
	                 (WalkRules){ .key = srtf_key, .running_order = WALK_ORDER_STATIC });
}

static gboolean
srsf_init(void *self, const void *options, const View *view, GError **error)
{
	return init_with(
	    self, options, view,
	    (WalkRules){ .key = srsf_key, .running_order = WALK_ORDER_STATIC_PER_WIDTH });
}

static PlacementLevel
srtf_max_level(const void *options)
{
	return (PlacementLevel)((const SrtfOptions *)options)->placement.max_level;
}

const PolicyClass srtf_policy = {
	.abi = POLICY_ABI,
	.name = "srtf",
	.version = "1",
	.summary = "shortest remaining time first; stops who is longer",
	.source = "classical; with gangs as in Gu et al., Tiresias, NSDI'19, section 5",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_ORACLE,
	.options = srtf_options,
	.options_size = sizeof(SrtfOptions),
	.state_size = sizeof(Srtf),
	.init = srtf_init,
	.arrived = walk_policy_arrived,
	.completed = walk_policy_completed,
	.timer = srtf_timer,
	.decide = walk_policy_decide,
	.finish = walk_policy_finish,
	.max_level = srtf_max_level,
	.idea =
	    "Knows how much work every job has left. Whenever something changes, all jobs are "
	    "taken by remaining time over the empty cluster, passing over gangs that do not "
	    "fit; running jobs that are not reached stop. A bound for mean completion time that "
	    "no policy without such knowledge can be expected to reach.",
};

const PolicyClass srsf_policy = {
	.abi = POLICY_ABI,
	.name = "srsf",
	.version = "1",
	.summary = "shortest remaining service (time x GPUs) first; stops who has more",
	.source = "Gu et al., Tiresias, NSDI'19, section 5",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_ORACLE,
	.options = srtf_options,
	.options_size = sizeof(SrtfOptions),
	.state_size = sizeof(Srtf),
	.init = srsf_init,
	.arrived = walk_policy_arrived,
	.completed = walk_policy_completed,
	.timer = srtf_timer,
	.decide = walk_policy_decide,
	.finish = walk_policy_finish,
	.max_level = srtf_max_level,
	.idea = "Like srtf, but by remaining time times GPUs: a wide gang has to be that much "
	        "shorter to go first, as it keeps that many more GPUs from others.",
};
