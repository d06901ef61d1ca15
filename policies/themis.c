/* SPDX-License-Identifier: MIT */

/*
 * Themis: fair and efficient GPU cluster scheduling by leases and auctions. Whenever GPUs are idle
 * or leases end, the worst-off apps bid for them (round.h); what the round gave is turned into GPUs
 * (seating.h) and here into edits of the plan: only what changes is touched.
 */

#include "sim/policy.h"
#include "policies/themis/round.h"
#include "policies/themis/seating.h"

#define TAG_LEASE        0
#define TAG_AGAIN        1

/* What a run of the paper's prototype would pay (policies.md 1.9): a checkpoint, and a restart. */
#define PAPER_SUSPEND_NS (8 * NS_PER_S)
#define PAPER_RESUME_NS  (45 * NS_PER_S)

typedef struct Themis {
	ThemisOptions options;
	gboolean is_strawman;
	Agents *agents;
	Offer *offer;
	Round *round;
	Seating *seating;
	Leases *leases;
	Moves *moves;
	SimTime *full_end_ns; /* by GPU: of its lease, if that were not cut to iterations */
	SimTime wake_ns;      /* the pending wake; TIME_NEVER */
	GArray *due;          /* of JobId: had GPUs whose leases have ended */
	GArray *sharers;      /* of JobId: jobs that wait for a part of a GPU */
} Themis;

/* leases that end */

static void
lease(Themis *themis, const View *view, const Alloc *gpus, JobId job)
{
	SimTime end_ns = time_add(view_now_ns(view), themis->options.lease_ns);

	leases_give(themis->leases, gpus, job, end_ns);
	for (guint i = 0; i < gpus->n; i++)
		themis->full_end_ns[gpus->gpus[i]] = end_ns;
}

/* lease_end=iteration: a job's leases end with its iterations, which it counts anew when its GPUs
 * change. */
static void
cut_leases(Themis *themis, const View *view, JobId job)
{
	const AgentJob *own = agents_job(themis->agents, job);
	Alloc one = { 0 };

	if (themis->options.lease_end == LEASE_END_EXACT)
		return;
	for (guint i = 0; i < own->gpus.n; i++) {
		guint32 gpu = own->gpus.gpus[i];

		alloc_reset(&one);
		alloc_add(&one, gpu);
		leases_give(themis->leases, &one, job,
		            leases_last_iteration_ns(view_job(view, job), own->rate_ppb,
		                                     own->since_ns, themis->full_end_ns[gpu],
		                                     themis->options.lease_ns));
	}
	alloc_clear(&one);
}

static guint
n_due_gpus(const Themis *themis, const View *view, const Alloc *gpus)
{
	guint n = 0;

	for (guint i = 0; i < gpus->n; i++)
		n += leases_is_due(themis->leases, gpus->gpus[i], view_now_ns(view));
	return n;
}

/* Hands in what of a job's GPUs is due; all of them if the rest is too little to run on (A75). */
static void
hand_in(Themis *themis, const View *view, JobId job)
{
	const AgentJob *own = agents_job(themis->agents, job);
	guint n_due = n_due_gpus(themis, view, &own->gpus);
	gboolean is_all = own->gpus.n - n_due < own->min_gpus;

	for (guint i = 0; i < own->gpus.n; i++)
		if (is_all || leases_is_due(themis->leases, own->gpus.gpus[i], view_now_ns(view)))
			offer_return(themis->offer, own->gpus.gpus[i], job);
	agents_returned(themis->agents, view_job(view, job));
}

/* A GPU that several jobs share is not for sale; whoever is left on it alone has to let go. */
static gboolean
is_shared(const View *view, const Alloc *gpus)
{
	return view_cluster(view)->gpus[gpus->gpus[0]].n_residents > 1;
}

static gboolean
is_handed_in(const Themis *themis, JobId job)
{
	const Alloc *gpus = &agents_job(themis->agents, job)->gpus;

	for (guint i = 0; i < gpus->n; i++)
		if (themis->offer->former[gpus->gpus[i]] == job)
			return TRUE;
	return FALSE;
}

/* Leaves in due the jobs that hold something by a lease that has ended, each once. */
static void
collect_due(Themis *themis, const View *view)
{
	guint n = 0;

	g_array_set_size(themis->due, 0);
	leases_find_due(themis->leases, view_now_ns(view), themis->due);
	for (guint i = 0; i < themis->due->len; i++) {
		JobId job = g_array_index(themis->due, JobId, i);
		const Alloc *gpus = &agents_job(themis->agents, job)->gpus;

		if (n_due_gpus(themis, view, gpus) == 0 || is_handed_in(themis, job))
			continue;
		if (is_shared(view, gpus)) {
			lease(themis, view, gpus, job);
			continue;
		}
		hand_in(themis, view, job);
		g_array_index(themis->due, JobId, n++) = job;
	}
	g_array_set_size(themis->due, n);
}

/* A job loses its GPUs; one that asks for a part of one may join others again. */
static void
lose(Themis *themis, const View *view, const Job *job)
{
	agents_stopped(themis->agents, view, job);
	if (job->share_milli != GPU_MILLI)
		g_array_append_val(themis->sharers, job->id);
}

/* Nothing is due any more. */
static void
close_round(Themis *themis)
{
	g_array_set_size(themis->due, 0);
	offer_empty(themis->offer);
	agents_forget_returned(themis->agents);
}

/* renew_free=false: whoever's lease ends is stopped and pays for it; it bids when its GPUs are
 * free. That is at once where a stop takes no time: then the round is left to a second pass through
 * this instant, lest stop and start come to nothing. TRUE if there is to be one. */
static gboolean
stop_due(Themis *themis, const View *view, Plan *plan)
{
	gboolean is_again = FALSE;

	for (guint i = 0; i < themis->due->len; i++) {
		JobId job = g_array_index(themis->due, JobId, i);
		const Alloc *gpus = &agents_job(themis->agents, job)->gpus;

		plan_preempt(plan, job);
		for (guint j = 0; j < gpus->n; j++)
			leases_drop(themis->leases, gpus->gpus[j]);
		lose(themis, view, view_job(view, job));
		is_again |= view_overheads(view, job).suspend_ns == 0;
	}
	close_round(themis);
	if (is_again)
		plan_wake(plan, view_now_ns(view), TAG_AGAIN);
	return is_again;
}

/* Nobody else could use what is on offer, and those whose leases end can have nothing better than
 * what they had: each bids for that, nobody takes anything from anybody, so that c is 1 for all
 * bidders, and the others get theirs as leftovers. The auction would renew all. */
static gboolean
can_renew_all(const Themis *themis, const View *view)
{
	guint n_gpus = view_cluster(view)->n_free + themis->offer->returned->len;

	for (guint i = 0; i < themis->due->len; i++) {
		const AgentJob *own =
		    agents_job(themis->agents, g_array_index(themis->due, JobId, i));

		if (own->rate_ppb < own->best_ppb)
			return FALSE;
	}
	return !round_is_contested(themis->round, view, n_gpus);
}

/* Leases anew what a job has won: all that it holds now but what it kept. */
static void
lease_job(Themis *themis, const View *view, JobId job, const Alloc *had)
{
	const Alloc *has = view_alloc(view, job);
	Alloc won = { 0 };

	for (guint i = 0; i < has->n; i++)
		if (!alloc_has(had, has->gpus[i]) || themis->offer->former[has->gpus[i]] == job)
			alloc_add(&won, has->gpus[i]);
	if (won.n > 0)
		lease(themis, view, &won, job);
	alloc_clear(&won);
}

static void
renew_all(Themis *themis, const View *view)
{
	for (guint i = 0; i < themis->due->len; i++) {
		JobId job = g_array_index(themis->due, JobId, i);

		lease_job(themis, view, job, view_alloc(view, job));
		cut_leases(themis, view, job);
	}
	round_skip(themis->round);
}

/* rounds */

/* What the plan has come to: jobs that were stopped or moved, and leases. */
static void
book_moves(Themis *themis, const View *view)
{
	for (guint i = 0; i < themis->moves->n; i++) {
		JobId job = moves_get(themis->moves, i)->job;
		const Alloc *had = &agents_job(themis->agents, job)->gpus;
		const Alloc *has = view_alloc(view, job);

		for (guint j = 0; j < had->n; j++)
			if (!alloc_has(has, had->gpus[j]))
				leases_drop(themis->leases, had->gpus[j]);
	}
	for (guint i = 0; i < themis->moves->n; i++) {
		const Job *job = view_job(view, moves_get(themis->moves, i)->job);
		const Alloc *had = &agents_job(themis->agents, job->id)->gpus;
		const Alloc *has = view_alloc(view, job->id);

		lease_job(themis, view, job->id, had);
		if (has->n == 0 && had->n > 0)
			lose(themis, view, job);
		else if (!alloc_equal(has, had))
			agents_placed(themis->agents, view, job, has);
		cut_leases(themis, view, job->id);
	}
}

static void
apply_round(Themis *themis, const View *view, Plan *plan)
{
	moves_open(themis->moves, view);
	for (guint i = 0; i < themis->due->len; i++)
		moves_add(themis->moves, g_array_index(themis->due, JobId, i));
	for (guint i = 0; i < themis->seating->n_seats; i++) {
		const Seat *seat = seating_seat(themis->seating, i);
		const Claim *claim = claims_get(themis->round->claims, seat->claim);
		guint move = moves_add(themis->moves, claim->job);

		if (seat->is_seated)
			moves_widen(themis->moves, move, &seat->gpus);
		else if (claim->n_kept == 0)
			moves_search(themis->moves, move, claim->n_gpus);
	}
	moves_apply(themis->moves, plan);
	book_moves(themis, view);
}

/* FALSE if nobody takes part. */
static gboolean
hold_round(Themis *themis, const View *view, Plan *plan)
{
	offer_fill(themis->offer, view_cluster(view));
	if (round_open(themis->round, view) == 0)
		return FALSE;
	if (themis->is_strawman)
		round_hold_greedily(themis->round);
	else
		round_hold(themis->round);
	seating_run(themis->seating, view);
	apply_round(themis, view, plan);
	return TRUE;
}

/* leftover=auction: what one round leaves is the offer of the next; those that bid for it in vain
 * make room for those behind them. */
static void
hold_rounds(Themis *themis, const View *view, Plan *plan)
{
	gboolean is_repeated = !themis->is_strawman && themis->options.leftover == LEFTOVER_AUCTION;

	while (hold_round(themis, view, plan) && is_repeated) {
		if (view_cluster(view)->n_free >= themis->offer->n_gpus)
			round_pass(themis->round);
		close_round(themis);
	}
}

/* jobs that ask for a part of a GPU */

/* Such a job joins others on a GPU that is partly used, without an auction; only an empty GPU is
 * worth a bid. */
static gboolean
join_others(Themis *themis, const View *view, JobId job, Plan *plan)
{
	const PlacementOptions placement = { PLACEMENT_CONSOLIDATE, LEVEL_CLUSTER, FALSE };
	gboolean is_placed = FALSE;
	Alloc where = { 0 };

	if (agents_job(themis->agents, job)->footing != FOOTING_QUEUED)
		return TRUE;
	if (placement_find(view, view_job(view, job), 1, &placement, &where) &&
	    !cluster_gpu_is_free(view_cluster(view), where.gpus[0]))
		is_placed = plan_place(plan, job, &where) == PLAN_OK;
	if (is_placed) {
		lease(themis, view, &where, job);
		agents_placed(themis->agents, view, view_job(view, job), &where);
	}
	alloc_clear(&where);
	return is_placed;
}

static void
place_sharers(Themis *themis, const View *view, Plan *plan)
{
	guint n = 0;

	for (guint i = 0; i < themis->sharers->len; i++) {
		JobId job = g_array_index(themis->sharers, JobId, i);

		if (agents_job(themis->agents, job)->footing == FOOTING_NONE)
			continue;
		if (!join_others(themis, view, job, plan) ||
		    agents_job(themis->agents, job)->footing != FOOTING_RUNNING)
			g_array_index(themis->sharers, JobId, n++) = job;
	}
	g_array_set_size(themis->sharers, n);
}

/* The lease of a GPU goes to one of those who are left on it. */
static void
pass_on_lease(Themis *themis, const View *view, guint32 gpu)
{
	JobId other = cluster_next_resident(view_cluster(view), gpu, JOB_NONE);
	Alloc one = { 0 };

	if (other == JOB_NONE)
		return;
	alloc_add(&one, gpu);
	lease(themis, view, &one, other);
	alloc_clear(&one);
}

/* the contract */

static void
themis_arrived(void *self, const View *view, const Job *job)
{
	Themis *themis = self;

	agents_arrived(themis->agents, view, job);
	if (job->share_milli != GPU_MILLI)
		g_array_append_val(themis->sharers, job->id);
}

static void
themis_completed(void *self, const View *view, const Job *job)
{
	Themis *themis = self;
	const Alloc *gpus = &agents_job(themis->agents, job->id)->gpus;

	for (guint i = 0; i < gpus->n; i++) {
		leases_drop(themis->leases, gpus->gpus[i]);
		if (job->share_milli != GPU_MILLI)
			pass_on_lease(themis, view, gpus->gpus[i]);
	}
	agents_completed(themis->agents, view, job);
}

static void
themis_timer(void *self, const View *view, guint64 tag)
{
	Themis *themis = self;

	if (tag == TAG_LEASE)
		themis->wake_ns = TIME_NEVER;
}

static void
set_wake(Themis *themis, Plan *plan)
{
	SimTime next_ns = leases_next_end_ns(themis->leases);

	if (next_ns == themis->wake_ns)
		return;
	if (themis->wake_ns != TIME_NEVER)
		plan_unwake(plan, TAG_LEASE);
	if (next_ns != TIME_NEVER)
		plan_wake(plan, next_ns, TAG_LEASE);
	themis->wake_ns = next_ns;
}

/* trigger=periodic: what falls idle between two rounds waits for the next. */
static gboolean
waits_for_round(const Themis *themis, const View *view, Plan *plan)
{
	SimTime lease_ns = themis->options.lease_ns;
	SimTime into_period_ns = view_now_ns(view) % lease_ns;

	if (themis->options.trigger == TRIGGER_FREE || into_period_ns == 0)
		return FALSE;
	plan_wake(plan, time_add(view_now_ns(view), lease_ns - into_period_ns), TAG_AGAIN);
	return TRUE;
}

static void
themis_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	Themis *themis = self;

	agents_settle_leaving(themis->agents, view);
	agents_settle_widths(themis->agents, view);
	if (waits_for_round(themis, view, plan))
		return;
	collect_due(themis, view);
	if (themis->options.renew_free || !stop_due(themis, view, plan)) {
		if (themis->sharers->len > 0)
			place_sharers(themis, view, plan);
		if (!can_renew_all(themis, view))
			hold_rounds(themis, view, plan);
		else if (themis->due->len > 0)
			renew_all(themis, view);
		/* Beside those who have just won a GPU (A45). */
		if (themis->sharers->len > 0)
			place_sharers(themis, view, plan);
	}
	close_round(themis);
	set_wake(themis, plan);
}

static gboolean
check_liar(const ThemisOptions *options, const View *view, GError **error)
{
	if (options->liar == NULL || g_str_equal(options->liar, LIAR_NONE))
		return TRUE;
	for (AppId app = 0; app < view_n_apps(view); app++)
		if (g_str_equal(view_app(view, app)->name, options->liar))
			return TRUE;
	g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE, "liar: there is no app %s in the trace",
	            options->liar);
	return FALSE;
}

#define OFFSET(member) G_STRUCT_OFFSET(ThemisOptions, member)

/* What the program behind the paper's figures does differently. */
static const struct {
	gsize offset; /* of a choice */
	gint standard, theirs;
} authors[] = {
	{ OFFSET(unit), UNIT_APP, UNIT_JOB },
	{ OFFSET(lease_end), LEASE_END_EXACT, LEASE_END_ITERATION },
	{ OFFSET(value), VALUATION_RHO, VALUATION_SPEED },
	{ OFFSET(tid), IDEAL_PAPER, IDEAL_ALONE },
	{ OFFSET(round), ROUNDING_LOTTERY, ROUNDING_NONE },
	{ OFFSET(rank_idle), RANK_OF_IDLE_ELAPSED, RANK_OF_IDLE_LAST_RHO },
	{ OFFSET(ties), TIES_SUBMIT, TIES_RANDOM },
	{ OFFSET(bidders), BIDDERS_PART, BIDDERS_PART_DOWN },
	{ OFFSET(tied_deals), TIED_DEALS_MOST, TIED_DEALS_FEWEST },
	{ OFFSET(places), PLACES_ANY, PLACES_BEST },
	{ OFFSET(leftover), LEFTOVER_RANDOM, LEFTOVER_AUCTION },
};

/* preset=authors: whatever is left at its default. */
static void
follow_authors(ThemisOptions *options)
{
	for (guint i = 0; i < G_N_ELEMENTS(authors); i++) {
		gint *choice = G_STRUCT_MEMBER_P(options, authors[i].offset);

		if (*choice == authors[i].standard)
			*choice = authors[i].theirs;
	}
}

static gboolean
init(Themis *themis, const View *view, GError **error)
{
	const ClusterSpec *spec = view_cluster_spec(view);

	if (themis->options.preset == PRESET_AUTHORS)
		follow_authors(&themis->options);
	if (!check_liar(&themis->options, view, error))
		return FALSE;
	if (!leases_check(themis->options.lease_ns, view, error))
		return FALSE;
	themis->agents = agents_new(view, &themis->options);
	themis->offer =
	    offer_new(spec, view_models(view), (PlacementLevel)themis->options.max_level);
	themis->round = round_new(view, &themis->options, themis->agents, themis->offer);
	themis->seating = seating_new(themis->offer, themis->round->claims);
	themis->moves =
	    moves_new(view, themis->offer->former, (PlacementLevel)themis->options.max_level);
	themis->leases = leases_new(spec->n_gpus);
	themis->full_end_ns = g_new0(SimTime, spec->n_gpus);
	themis->due = g_array_new(FALSE, FALSE, sizeof(JobId));
	themis->sharers = g_array_new(FALSE, FALSE, sizeof(JobId));
	themis->round->claims->is_blind = themis->is_strawman;
	themis->seating->is_blind = themis->is_strawman;
	themis->wake_ns = TIME_NEVER;
	return TRUE;
}

static gboolean
themis_init(void *self, const void *options, const View *view, GError **error)
{
	Themis *themis = self;

	themis->options = *(const ThemisOptions *)options;
	return init(themis, view, error);
}

static gboolean
strawman_init(void *self, const void *options, const View *view, GError **error)
{
	Themis *themis = self;

	themis->options = *(const ThemisOptions *)options;
	themis->is_strawman = TRUE;
	return init(themis, view, error);
}

static void
themis_finish(void *self)
{
	Themis *themis = self;

	seating_free(themis->seating);
	round_free(themis->round);
	offer_free(themis->offer);
	agents_free(themis->agents);
	leases_free(themis->leases);
	g_free(themis->full_end_ns);
	moves_free(themis->moves);
	g_clear_pointer(&themis->due, g_array_unref);
	g_clear_pointer(&themis->sharers, g_array_unref);
}

static void
themis_preset(const void *options, Overheads *overheads)
{
	const ThemisOptions *given = options;

	if (given->preset != PRESET_PAPER)
		return;
	overheads->suspend_ns = PAPER_SUSPEND_NS;
	overheads->resume_ns = PAPER_RESUME_NS;
	overheads->migrate_ns = PAPER_SUSPEND_NS + PAPER_RESUME_NS;
}

static PlacementLevel
themis_max_level(const void *options)
{
	return (PlacementLevel)((const ThemisOptions *)options)->max_level;
}

static const char *const rho0_names[] = { "lease", "cap", NULL };
static const char *const round_names[] = { "lottery", "floor", "nearest", "none", NULL };
static const char *const leftover_names[] = { "random", "worst-rho", "idle", "auction", NULL };
static const char *const tid_names[] = { "paper", "capped", "alone", NULL };
static const char *const bundle_names[] = { "exact", "greedy", NULL };
static const char *const bidders_names[] = { "part", "part-down", "servable", NULL };
static const char *const trigger_names[] = { "free", "periodic", NULL };
static const char *const preset_names[] = { "none", "paper", "authors", NULL };
static const char *const unit_names[] = { "app", "job", NULL };
static const char *const lease_end_names[] = { "exact", "iteration", NULL };
static const char *const value_names[] = { "rho", "speed", NULL };
static const char *const rank_idle_names[] = { "elapsed", "last-rho", NULL };
static const char *const jobs_names[] = { "trace", "longest", NULL };
static const char *const ties_names[] = { "submit", "random", NULL };
static const char *const tied_deals_names[] = { "most", "fewest", NULL };
static const char *const places_names[] = { "any", "best", NULL };

#define ROW_LEASE                                                                                \
	{                                                                                        \
		.name = "lease_s", .kind = OPTION_SECONDS, .offset = OFFSET(lease_ns),           \
		.standard = "600", .min = 1e-9, .max = 1e9, .help = "how long a GPU won is kept" \
	}

#define ROW_TID                                                                                   \
	{                                                                                         \
		.name = "tid", .kind = OPTION_CHOICE, .offset = OFFSET(tid), .standard = "paper", \
		.choices = tid_names,                                                             \
		.help =                                                                           \
		    "an app's time on its share of the cluster: time alone x apps (paper), no "   \
		    "more speed-up than the share's own GPUs give, or time alone (program)"       \
	}

#define ROW_RENEW_FREE                                                                             \
	{                                                                                          \
		.name = "renew_free", .kind = OPTION_BOOL, .offset = OFFSET(renew_free),           \
		.standard = "true",                                                                \
		.help =                                                                            \
		    "a job that wins its GPUs back is not stopped; else it pays for a stop and a " \
		    "start at the end of each lease"                                               \
	}

#define ROW_GANG                                                                             \
	{                                                                                    \
		.name = "gang", .kind = OPTION_INT, .offset = OFFSET(gang), .standard = "1", \
		.min = 1, .max = 1024,                                                       \
		.help = "the width of a moldable job is a multiple of so many GPUs"          \
	}

#define ROW_PRESET                                                                                \
	{                                                                                         \
		.name = "preset", .kind = OPTION_CHOICE, .offset = OFFSET(preset),                \
		.standard = "none", .choices = preset_names,                                      \
		.help =                                                                           \
		    "paper: what stops and starts cost where the run does not say: suspend 8 s, " \
		    "resume 45 s, migrate 53 s; authors: options left at their defaults become "  \
		    "what the authors' program does"                                              \
	}

#define ROW_MAX_LEVEL                                                                    \
	{                                                                                \
		.name = "max_level", .kind = OPTION_CHOICE, .offset = OFFSET(max_level), \
		.standard = "cluster", .choices = placement_level_names,                 \
		.help = "a gang is never spread beyond this level"                       \
	}

#define ROW_UNIT                                                                                  \
	{                                                                                         \
		.name = "unit", .kind = OPTION_CHOICE, .offset = OFFSET(unit), .standard = "app", \
		.choices = unit_names,                                                            \
		.help = "what is ranked and bids: apps (paper) or each job by itself (program)"   \
	}

#define ROW_LEASE_END                                                                             \
	{                                                                                         \
		.name = "lease_end", .kind = OPTION_CHOICE, .offset = OFFSET(lease_end),          \
		.standard = "exact", .choices = lease_end_names,                                  \
		.help = "a GPU is given up when its lease is over, or, by a job whose iteration " \
		        "time is known, after the last iteration that is over by then (program)"  \
	}

#define ROW_JOBS                                                                              \
	{                                                                                     \
		.name = "jobs", .kind = OPTION_CHOICE, .offset = OFFSET(jobs),                \
		.standard = "trace", .choices = jobs_names,                                   \
		.help = "which of its waiting jobs an app serves first: in the order of the " \
		        "trace, or that with most work left"                                  \
	}

#define ROW_RANK_IDLE                                                                            \
	{                                                                                        \
		.name = "rank_idle", .kind = OPTION_CHOICE, .offset = OFFSET(rank_idle),         \
		.standard = "elapsed", .choices = rank_idle_names,                               \
		.help =                                                                          \
		    "how badly off is who holds nothing: worse than all others, by time "        \
		    "elapsed over T_id (paper); or its last rho x (minutes since + 1), without " \
		    "end before its first GPU (program)"                                         \
	}

#define ROW_TIES                                                                                   \
	{                                                                                          \
		.name = "ties", .kind = OPTION_CHOICE, .offset = OFFSET(ties),                     \
		.standard = "submit", .choices = ties_names,                                       \
		.help =                                                                            \
		    "of those equally badly off the earlier comes first, or one drawn (program); " \
		    "of deals worth the same the earlier bidder chooses, or the worst off"         \
	}

static const Option themis_options[] = {
	{ .name = "fairness_knob",
	  .kind = OPTION_NUMBER,
	  .offset = OFFSET(fairness_knob),
	  .standard = "0.8",
	  .min = 0,
	  .max = 1,
	  .help = "f: the part 1 - f of the apps that is worst off bids" },
	ROW_LEASE,
	{ .name = "rho0",
	  .kind = OPTION_CHOICE,
	  .offset = OFFSET(rho0),
	  .standard = "lease",
	  .choices = rho0_names,
	  .help = "what it is worth to hold nothing: a lost lease and then the fair share, yet "
	          "never as much as the smallest bundle; or next to nothing" },
	{ .name = "round",
	  .kind = OPTION_CHOICE,
	  .offset = OFFSET(round),
	  .standard = "lottery",
	  .choices = round_names,
	  .help = "how the part of a bundle that a bidder keeps becomes whole GPUs; none: nobody "
	          "pays" },
	{ .name = "leftover",
	  .kind = OPTION_CHOICE,
	  .offset = OFFSET(leftover),
	  .standard = "random",
	  .choices = leftover_names,
	  .help = "who gets what bidders pay or leave: others at random, the worst off of the "
	          "others, nobody; then the bidders (but for nobody, unless the whole cluster "
	          "would be idle); auction: nobody as such, but auctions are repeated until "
	          "nothing is left or nobody bids (program)" },
	ROW_TID,
	ROW_RENEW_FREE,
	ROW_GANG,
	{ .name = "bundle",
	  .kind = OPTION_CHOICE,
	  .offset = OFFSET(bundle),
	  .standard = "exact",
	  .choices = bundle_names,
	  .help =
	      "exact: branch and bound over bundles; greedy: the best numbers of GPUs, packed" },
	{ .name = "node_cap",
	  .kind = OPTION_INT,
	  .offset = OFFSET(node_cap),
	  .standard = "1000000",
	  .min = 0,
	  .max = 1e12,
	  .help = "nodes of the search of one round, after which the best found so far stands" },
	{ .name = "bid_restart",
	  .kind = OPTION_BOOL,
	  .offset = OFFSET(bid_restart),
	  .standard = "false",
	  .help = "bids count what a restart costs of a lease" },
	{ .name = "bid_error",
	  .kind = OPTION_NUMBER,
	  .offset = OFFSET(bid_error),
	  .standard = "0",
	  .min = 0,
	  .max = 0.99,
	  .help = "each app over- or underestimates its work and its slowdown by up to this part" },
	{ .name = "liar",
	  .kind = OPTION_TEXT,
	  .offset = OFFSET(liar),
	  .standard = LIAR_NONE,
	  .help = "the app_id of an app that lies" },
	{ .name = "lie",
	  .kind = OPTION_NUMBER,
	  .offset = OFFSET(lie),
	  .standard = "0",
	  .min = 0,
	  .max = 1e6,
	  .help = "by what part the liar exaggerates how much slower it is where its GPUs are not "
	          "as close together as can be: 0.34 makes 1.3 into 1.742" },
	ROW_MAX_LEVEL,
	{ .name = "trigger",
	  .kind = OPTION_CHOICE,
	  .offset = OFFSET(trigger),
	  .standard = "free",
	  .choices = trigger_names,
	  .help = "a round whenever GPUs are idle, or at multiples of lease_s since the first "
	          "submit alone" },
	{ .name = "bidders",
	  .kind = OPTION_CHOICE,
	  .offset = OFFSET(bidders),
	  .standard = "part",
	  .choices = bidders_names,
	  .help =
	      "who bids: the part 1 - f that is worst off, their number rounded up, or down "
	      "(program); servable: of them only the worst off whose smallest grants fit the offer "
	      "together" },
	ROW_UNIT,
	ROW_JOBS,
	ROW_LEASE_END,
	{ .name = "value",
	  .kind = OPTION_CHOICE,
	  .offset = OFFSET(value),
	  .standard = "rho",
	  .choices = value_names,
	  .help = "what a bid says: 1 / rho (paper); or the speed, in GPUs, of what a bidder would "
	          "then hold, no bid counting as 1 and a speed of 1 or less as 0.00001 (program)" },
	ROW_RANK_IDLE,
	ROW_TIES,
	{ .name = "tied_deals",
	  .kind = OPTION_CHOICE,
	  .offset = OFFSET(tied_deals),
	  .standard = "most",
	  .choices = tied_deals_names,
	  .help = "of outcomes with equal products that one which gives most GPUs to the first "
	          "bidder, then to the next; or the fewest, but not none (program)" },
	{ .name = "places",
	  .kind = OPTION_CHOICE,
	  .offset = OFFSET(places),
	  .standard = "any",
	  .choices = places_names,
	  .help = "so many GPUs are bid for wherever they are, or only where they would now be "
	          "fastest (program)" },
	ROW_PRESET,
	{ .name = NULL },
};

static const Option strawman_options[] = {
	ROW_LEASE, ROW_TID,       ROW_RENEW_FREE, ROW_GANG, ROW_MAX_LEVEL, ROW_UNIT,
	ROW_JOBS,  ROW_LEASE_END, ROW_RANK_IDLE,  ROW_TIES, ROW_PRESET,    { .name = NULL },
};

static guint
themis_counters(const void *self, PolicyCounter *ret_counters)
{
	const RoundCounts *counts = &((const Themis *)self)->round->counts;

	ret_counters[0] = (PolicyCounter){ "rounds", counts->n_rounds };
	ret_counters[1] = (PolicyCounter){ "auctions", counts->n_auctions };
	ret_counters[2] = (PolicyCounter){ "auction_truncated", counts->n_truncated };
	ret_counters[3] = (PolicyCounter){ "auction_nodes", counts->n_nodes };
	return 4;
}

const PolicyClass themis_policy = {
	.abi = POLICY_ABI,
	.name = "themis",
	.version = "1",
	.summary = "finish-time fairness: the worst-off apps bid for leased GPUs in an auction",
	.source = "Mahajan et al., Themis: Fair and Efficient GPU Cluster Scheduling, NSDI 2020",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_RESIZES | POLICY_ORACLE,
	.options = themis_options,
	.options_size = sizeof(ThemisOptions),
	.state_size = sizeof(Themis),
	.init = themis_init,
	.arrived = themis_arrived,
	.completed = themis_completed,
	.timer = themis_timer,
	.decide = themis_decide,
	.finish = themis_finish,
	.preset = themis_preset,
	.counters = themis_counters,
	.max_level = themis_max_level,
	.idea =
	    "rho of an app is the time it takes in the shared cluster over the time it would take "
	    "on its share of it. GPUs are leased. Whenever some are idle or their leases end, they "
	    "are offered to the part 1 - fairness_knob of the apps with the largest rho; an app "
	    "that holds none comes before those that do. Each says what 1 / rho it would have with "
	    "which of them, and the GPUs go where the product of these is largest. A bidder keeps "
	    "of its bundle the part by which the others are not harmed by its presence, so that it "
	    "gains nothing by a lie; the rest goes to apps that did not bid. Bids know how long "
	    "jobs "
	    "will run. An app bids for its jobs together: those that held GPUs first, then whole "
	    "gangs in the order of the trace, then spare GPUs to the job with most work left; the "
	    "work of the app is taken as evenly divided over them. Of many bidders for few GPUs "
	    "those win whose rho falls most, which is not the worst off among them: with hundreds "
	    "of bidders one can wait long. bidders=servable lets no more bid than the offer could "
	    "serve. An auction of hundreds of GPUs can run into node_cap; it is then as good as "
	    "the best found.",
};

const PolicyClass themis_strawman_policy = {
	.abi = POLICY_ABI,
	.name = "themis-strawman",
	.version = "1",
	.summary = "Themis without auction or placement: the worst-off app takes all it can use",
	.source = "Mahajan et al., Themis, NSDI 2020, the strawman it argues against",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_RESIZES | POLICY_ORACLE,
	.options = strawman_options,
	.options_size = sizeof(ThemisOptions),
	.state_size = sizeof(Themis),
	.init = strawman_init,
	.arrived = themis_arrived,
	.completed = themis_completed,
	.timer = themis_timer,
	.decide = themis_decide,
	.finish = themis_finish,
	.preset = themis_preset,
	.max_level = themis_max_level,
	.idea =
	    "Whenever GPUs are idle or leases end, the app with the largest rho takes all it can "
	    "use, the lowest-numbered GPUs first, then the next app. Neither proof against lies "
	    "nor aware of placement, but for max_level.",
};
