/* SPDX-License-Identifier: MIT */

/*
 * Greedy finish-time fairness (policies.md 1.12): of the apps, the one that would end worst off
 * even with all that is left is given what it can use of it, then the next. No auction, no
 * payments, no place has a say.
 */

#include "sim/policy.h"

typedef struct FtfGreedyOptions {
	PlacementOptions placement;
	SimTime lease_ns;
} FtfGreedyOptions;

/* An app that is here. */
typedef struct Claimant {
	AppId app;
	guint first_job, n_jobs; /* in jobs: those that wait for GPUs, the widest first */
	guint64 demand_milli;    /* of all its jobs here */
	guint64 held_milli;      /* of these, what it has already */
	double work;             /* that is left, in GPU-ns */
	double elapsed_ns, independent_ns;
	gint64 rank; /* of the rho with all that is left */
	gboolean is_served;
} Claimant;

typedef struct FtfGreedy {
	FtfGreedyOptions options;
	RoundsRules rules;
	Rounds *rounds;
	GArray *claimants; /* of Claimant; scratch */
	GArray *jobs;      /* of JobId; scratch */
} FtfGreedy;

static int
compare_jobs(gconstpointer one, gconstpointer other, gpointer view)
{
	const Job *a = view_job(view, *(const JobId *)one);
	const Job *b = view_job(view, *(const JobId *)other);
	gboolean a_runs = view_state(view, a->id) == JOB_RUNNING;
	gboolean b_runs = view_state(view, b->id) == JOB_RUNNING;

	if (a->app != b->app)
		return a->app < b->app ? -1 : 1;
	if (a_runs != b_runs)
		return a_runs ? -1 : 1;
	if (a->num_gpus != b->num_gpus)
		return a->num_gpus > b->num_gpus ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* T_id with no more than the app's part of the cluster, capped (6.2): W / min(GPUs / N_avg, d). */
static double
independent_ns(const View *view, const App *app)
{
	double fair_milli =
	    (double)view_cluster_spec(view)->n_gpus * GPU_MILLI / view_app_n_avg(view, app->id);
	GpuTime work = 0;

	view_app_work(view, app->id, &work);
	return (double)work / MIN(fair_milli, (double)app->demand_milli);
}

static Claimant *
add_claimant(FtfGreedy *greedy, const View *view, AppId id)
{
	const App *app = view_app(view, id);
	Claimant claimant = {
		.app = id,
		.first_job = greedy->jobs->len,
		.elapsed_ns = (double)(view_now_ns(view) - app->submit_ns),
		.independent_ns = independent_ns(view, app),
	};

	g_array_append_val(greedy->claimants, claimant);
	return &g_array_index(greedy->claimants, Claimant, greedy->claimants->len - 1);
}

static void
count_job(FtfGreedy *greedy, const View *view, Claimant *claimant, const Job *job)
{
	guint64 held_milli = job_held_milli(job, job->num_gpus);
	SimWork remaining_ns = 0;

	view_remaining_ns(view, job->id, &remaining_ns);
	claimant->demand_milli += held_milli;
	claimant->work += (double)remaining_ns * (double)held_milli / GPU_MILLI;
	if (rounds_held(greedy->rounds, view, job->id) > 0) {
		claimant->held_milli += held_milli;
		return;
	}
	g_array_append_val(greedy->jobs, job->id);
	claimant->n_jobs++;
}

/* Groups the jobs here by app. */
static void
gather(FtfGreedy *greedy, const View *view)
{
	const GArray *active = rounds_active(greedy->rounds);
	g_autoptr(GArray) sorted = g_array_sized_new(FALSE, FALSE, sizeof(JobId), active->len);
	Claimant *claimant = NULL;

	g_array_set_size(greedy->claimants, 0);
	g_array_set_size(greedy->jobs, 0);
	g_array_append_vals(sorted, active->data, active->len);
	g_array_sort_with_data(sorted, compare_jobs, (gpointer)(gsize)view);
	for (guint i = 0; i < sorted->len; i++) {
		const Job *job = view_job(view, g_array_index(sorted, JobId, i));

		if (claimant == NULL || claimant->app != job->app)
			claimant = add_claimant(greedy, view, job->app);
		count_job(greedy, view, claimant, job);
	}
}

/* rho(min(residual, demand)), the residual together with what the app has. An app whose work takes
 * no time is as badly off as can be (A89). */
static gint64
rho_rank(const Claimant *claimant, guint64 left_milli)
{
	guint64 most_milli = MIN(left_milli + claimant->held_milli, claimant->demand_milli);
	double n_gpus = (double)most_milli / GPU_MILLI;

	if (claimant->independent_ns <= 0)
		return G_MAXINT64;
	return score_rank_of((claimant->elapsed_ns + claimant->work / n_gpus) /
	                     claimant->independent_ns);
}

/* The worst-off of those not yet served; NULL if all are. */
static Claimant *
next_claimant(const FtfGreedy *greedy, guint64 left_milli)
{
	Claimant *worst = NULL;

	for (guint i = 0; i < greedy->claimants->len; i++) {
		Claimant *claimant = &g_array_index(greedy->claimants, Claimant, i);

		if (claimant->is_served || claimant->n_jobs == 0)
			continue;
		claimant->rank = rho_rank(claimant, left_milli);
		if (worst == NULL || claimant->rank > worst->rank)
			worst = claimant;
	}
	return worst;
}

static void
ftf_greedy_serve(void *self, const View *view, Plan *plan)
{
	FtfGreedy *greedy = self;
	guint64 left_milli;
	Claimant *worst;

	gather(greedy, view);
	while ((left_milli = rounds_left_milli(greedy->rounds, view)) > 0 &&
	       (worst = next_claimant(greedy, left_milli)) != NULL) {
		for (guint i = 0; i < worst->n_jobs; i++) {
			JobId job = g_array_index(greedy->jobs, JobId, worst->first_job + i);

			rounds_take(greedy->rounds, view, plan, view_job(view, job),
			            ROUNDS_ANY_TYPE);
		}
		worst->is_served = TRUE;
	}
}

/* the contract */

static gboolean
ftf_greedy_init(void *self, const void *options, const View *view, GError **error)
{
	FtfGreedy *greedy = self;

	greedy->options = *(const FtfGreedyOptions *)options;
	if (!rounds_check_length(view, "lease_s", greedy->options.lease_ns, error))
		return FALSE;
	greedy->rules = (RoundsRules){
		.length_ns = greedy->options.lease_ns,
		.serve = ftf_greedy_serve,
	};
	greedy->rounds = rounds_new(view, &greedy->rules, &greedy->options.placement, greedy);
	greedy->claimants = g_array_new(FALSE, FALSE, sizeof(Claimant));
	greedy->jobs = g_array_new(FALSE, FALSE, sizeof(JobId));
	return TRUE;
}

static void
ftf_greedy_arrived(void *self, const View *view, const Job *job)
{
	rounds_arrived(((FtfGreedy *)self)->rounds, job);
}

static void
ftf_greedy_completed(void *self, const View *view, const Job *job)
{
	rounds_completed(((FtfGreedy *)self)->rounds, job);
}

static void
ftf_greedy_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	rounds_decide(((FtfGreedy *)self)->rounds, view, plan);
}

static void
ftf_greedy_finish(void *self)
{
	FtfGreedy *greedy = self;

	rounds_free(greedy->rounds);
	g_clear_pointer(&greedy->claimants, g_array_unref);
	g_clear_pointer(&greedy->jobs, g_array_unref);
}

static PlacementLevel
ftf_greedy_max_level(const void *options)
{
	return (PlacementLevel)((const FtfGreedyOptions *)options)->placement.max_level;
}

static const Option ftf_greedy_options[] = {
	{ .name = "lease_s",
	  .kind = OPTION_SECONDS,
	  .offset = G_STRUCT_OFFSET(FtfGreedyOptions, lease_ns),
	  .standard = "600",
	  .min = 1e-9,
	  .help = "all GPUs are handed out anew so often; longer than any overhead" },
	PLACEMENT_OPTION_ROWS(FtfGreedyOptions, placement),
	{ 0 },
};

const PolicyClass ftf_greedy_policy = {
	.abi = POLICY_ABI,
	.name = "ftf-greedy",
	.version = "1",
	.summary =
	    "all it can use to the app whose finish-time fairness is worst, then to the next",
	.source = "the ThemisScheduler in the simulator of Bin Faisal et al., PCS, OSDI'24",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_ORACLE,
	.options = ftf_greedy_options,
	.options_size = sizeof(FtfGreedyOptions),
	.state_size = sizeof(FtfGreedy),
	.init = ftf_greedy_init,
	.arrived = ftf_greedy_arrived,
	.completed = ftf_greedy_completed,
	.decide = ftf_greedy_decide,
	.finish = ftf_greedy_finish,
	.max_level = ftf_greedy_max_level,
	.idea =
	    "What others have made of Themis without its auction. Every lease_s all GPUs are "
	    "handed "
	    "out anew: each app says what its rho would be with all that is left of them (as far "
	    "as "
	    "it can use it), the worst takes that, and so on until nothing is left. rho is by "
	    "the capped definition: an app's ideal is no faster than its part of the cluster. GPUs "
	    "that fall free in between are handed out in the same way. Jobs run at num_gpus.",
};
