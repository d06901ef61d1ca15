/* SPDX-License-Identifier: MIT */

/*
 * Least attained service first, by time or by GPU-time, in quanta (A56, B01). The end of a quantum
 * matters only while somebody waits: until then running jobs are left asleep, and begin quantum
 * after quantum without a wake.
 */

#include "sim/policy.h"

typedef struct LasOptions {
	PlacementOptions placement;
	SimTime quantum_ns;
} LasOptions;

typedef struct Las {
	Walk *walk; /* first, for walk_policy_*() */
	gboolean is_by_count;
	SimTime quantum_ns;
	SimTime *pinned_ns; /* by JobId: when it was started, or chosen again */
	GArray *asleep;     /* of JobId: pinned, with no wake set; some may be done */
	GArray *due;        /* of JobId: at the end of a quantum at this instant */
	GArray *ended;      /* of JobId: jobs that need no wake any more */
	guint64 n_waiting_gpus;
} Las;

static const Option las_options[] = {
	{ .name = "quantum_s",
	  .kind = OPTION_SECONDS,
	  .offset = G_STRUCT_OFFSET(LasOptions, quantum_ns),
	  .standard = "60",
	  .min = 1e-9,
	  .help = "a started job keeps its GPUs for so long; longer than any overhead" },
	PLACEMENT_OPTION_ROWS(LasOptions, placement),
	{ 0 },
};

static WalkKey
las_key(const void *self, const View *view, const Job *job)
{
	return view_attained_ns(view, job->id);
}

static WalkKey
las_2d_key(const void *self, const View *view, const Job *job)
{
	return view_attained_service(view, job->id);
}

static void
las_started(void *self, const View *view, const Job *job, Plan *plan)
{
	Las *las = self;

	las->n_waiting_gpus -= job->num_gpus;
	las->pinned_ns[job->id] = view_now_ns(view);
	g_array_append_val(las->asleep, job->id);
}

static void
las_stopped(void *self, const View *view, const Job *job, Plan *plan)
{
	Las *las = self;

	las->n_waiting_gpus += job->num_gpus;
}

static const WalkRules las_rules = {
	.preempts = TRUE,
	.pins_started = TRUE,
	.running_order = WALK_ORDER_STATIC,
	.key = las_key,
	.started = las_started,
	.stopped = las_stopped,
};

static const WalkRules las_2d_rules = {
	.preempts = TRUE,
	.pins_started = TRUE,
	.running_order = WALK_ORDER_STATIC_PER_WIDTH,
	.key = las_2d_key,
	.started = las_started,
	.stopped = las_stopped,
};

static gboolean
init_with(Las *las, const LasOptions *options, const View *view, const WalkRules *rules,
          GError **error)
{
	if (!rounds_check_length(view, "quantum_s", options->quantum_ns, error))
		return FALSE;
	las->is_by_count = placement_is_by_count(view_cluster_spec(view), &options->placement);
	las->quantum_ns = options->quantum_ns;
	las->pinned_ns = g_new0(SimTime, view_n_jobs(view));
	las->asleep = g_array_new(FALSE, FALSE, sizeof(JobId));
	las->walk = walk_new(view, rules, &options->placement, las);
	las->due = g_array_new(FALSE, FALSE, sizeof(JobId));
	las->ended = g_array_new(FALSE, FALSE, sizeof(JobId));
	return TRUE;
}

static gboolean
las_init(void *self, const void *options, const View *view, GError **error)
{
	return init_with(self, options, view, &las_rules, error);
}

static gboolean
las_2d_init(void *self, const void *options, const View *view, GError **error)
{
	return init_with(self, options, view, &las_2d_rules, error);
}

static void
las_arrived(void *self, const View *view, const Job *job)
{
	Las *las = self;

	walk_arrived(las->walk, view, job);
	las->n_waiting_gpus += job->num_gpus;
	las->is_by_count &= placement_job_is_by_count(view_cluster_spec(view), job);
}

/* A job that pauses may be back before the sleepers are looked at. */
static void
forget_sleeper(Las *las, JobId job)
{
	for (guint i = 0; i < las->asleep->len; i++) {
		if (g_array_index(las->asleep, JobId, i) != job)
			continue;
		g_array_remove_index(las->asleep, i);
		return;
	}
}

static void
las_completed(void *self, const View *view, const Job *job)
{
	Las *las = self;

	walk_completed(las->walk, view, job);
	g_array_append_val(las->ended, job->id);
	if (view_state(view, job->id) == JOB_PAUSED)
		forget_sleeper(las, job->id);
}

static void
las_timer(void *self, const View *view, guint64 tag)
{
	Las *las = self;
	JobId job = (JobId)tag;

	if (walk_unpin(las->walk, view, view_job(view, job)))
		g_array_append_val(las->due, job);
}

/* Whether there is room for everybody, so that it does not matter whose quantum ends now. */
static gboolean
has_room_for_all(const Las *las, const View *view)
{
	return !walk_has_queued(las->walk) ||
	       (las->is_by_count && las->n_waiting_gpus <= view_cluster(view)->n_free);
}

/* The quantum of a sleeper may end at this very instant, too. */
static void
find_due_sleepers(Las *las, const View *view)
{
	SimTime now_ns = view_now_ns(view);
	guint n_left = 0;

	for (guint i = 0; i < las->asleep->len; i++) {
		JobId job = g_array_index(las->asleep, JobId, i);
		SimTime pinned_for_ns = now_ns - las->pinned_ns[job];

		if (pinned_for_ns > 0 && pinned_for_ns % las->quantum_ns == 0) {
			if (walk_unpin(las->walk, view, view_job(view, job)))
				g_array_append_val(las->due, job);
		} else if (!job_state_is_done(view_state(view, job))) {
			g_array_index(las->asleep, JobId, n_left++) = job;
		}
	}
	g_array_set_size(las->asleep, n_left);
}

/* A job chosen again at the end of its quantum begins a new one (B01). */
static void
renew(Las *las, const View *view)
{
	for (guint i = 0; i < las->due->len; i++) {
		JobId job = g_array_index(las->due, JobId, i);

		if (!walk_pin(las->walk, view, view_job(view, job)))
			continue;
		las->pinned_ns[job] = view_now_ns(view);
		g_array_append_val(las->asleep, job);
	}
	g_array_set_size(las->due, 0);
}

/* Somebody waits: the ends of quanta matter from now on. */
static void
wake_sleepers(Las *las, const View *view, Plan *plan)
{
	SimTime now_ns = view_now_ns(view);

	for (guint i = 0; i < las->asleep->len; i++) {
		JobId job = g_array_index(las->asleep, JobId, i);
		SimTime into_quantum_ns = (now_ns - las->pinned_ns[job]) % las->quantum_ns;

		if (!job_state_is_done(view_state(view, job)))
			plan_wake(plan, time_add(now_ns, las->quantum_ns - into_quantum_ns), job);
	}
	g_array_set_size(las->asleep, 0);
}

static void
las_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	Las *las = self;

	for (guint i = 0; i < las->ended->len; i++)
		plan_unwake(plan, g_array_index(las->ended, JobId, i));
	g_array_set_size(las->ended, 0);
	if (!has_room_for_all(las, view))
		find_due_sleepers(las, view);
	walk_decide(las->walk, view, plan);
	renew(las, view);
	if (walk_has_queued(las->walk))
		wake_sleepers(las, view, plan);
}

static void
las_finish(void *self)
{
	Las *las = self;

	walk_free(las->walk);
	g_free(las->pinned_ns);
	g_clear_pointer(&las->asleep, g_array_unref);
	g_clear_pointer(&las->due, g_array_unref);
	g_clear_pointer(&las->ended, g_array_unref);
}

static PlacementLevel
las_max_level(const void *options)
{
	return (PlacementLevel)((const LasOptions *)options)->placement.max_level;
}

const PolicyClass las_policy = {
	.abi = POLICY_ABI,
	.name = "las",
	.version = "1",
	.summary = "least attained time on GPUs first, in quanta",
	.source = "Nuyens and Wierman, The foreground-background queue, 2008; with gangs as in Gu "
	          "et al., Tiresias, NSDI'19, section 3",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES,
	.options = las_options,
	.options_size = sizeof(LasOptions),
	.state_size = sizeof(Las),
	.init = las_init,
	.arrived = las_arrived,
	.completed = las_completed,
	.timer = las_timer,
	.decide = las_decide,
	.finish = las_finish,
	.max_level = las_max_level,
	.idea =
	    "Knows nothing of how long jobs are, and favours those that have had the least time "
	    "on GPUs so far: most jobs are short, and a new one may be one of them. A started "
	    "job keeps its GPUs for a quantum; then it stands in line again with what it has "
	    "had.",
};

const PolicyClass las_2d_policy = {
	.abi = POLICY_ABI,
	.name = "2d-las",
	.version = "1",
	.summary = "least attained service (time x GPUs) first, in quanta",
	.source = "Gu et al., Tiresias, NSDI'19, section 3.2",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES,
	.options = las_options,
	.options_size = sizeof(LasOptions),
	.state_size = sizeof(Las),
	.init = las_2d_init,
	.arrived = las_arrived,
	.completed = las_completed,
	.timer = las_timer,
	.decide = las_decide,
	.finish = las_finish,
	.max_level = las_max_level,
	.idea = "Like las, but what a job has had is counted in GPU-time, so that a wide gang uses "
	        "up its claim the faster. Without queues (see tiresias) equal jobs take turns at "
	        "every quantum.",
};
