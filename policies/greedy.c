/* SPDX-License-Identifier: MIT */

#include "policies/greedy/state.h"

#define TAG_LEASE 0

const char *const greedy_grain_names[] = { "app", "gang", "gpu", NULL };
const char *const greedy_unit_names[] = { "app", "job", NULL };
const char *const greedy_owner_names[] = { "app", "job", "user", "tenant", NULL };
const char *const greedy_job_order_names[] = { "trace", "longest", NULL };
const char *const greedy_preset_names[] = { "none", "authors", NULL };
const char *const greedy_count_names[] = { "exact", "iteration", NULL };
const char *const greedy_lease_end_names[] = { "exact", "iteration", NULL };
const char *const greedy_ties_names[] = { "submit", "held", NULL };
const char *const greedy_arrivals_names[] = { "pooled", "first", NULL };

Greedy *
greedy_new(const View *view, const GreedyRules *rules, const GreedyOptions *options,
           const void *self, GError **error)
{
	Greedy *greedy;

	if (options->lease_ns != TIME_NEVER && !leases_check(options->lease_ns, view, error))
		return NULL;
	greedy = g_new0(Greedy, 1);
	greedy->rules = rules;
	greedy->self = self;
	greedy->options = *options;
	greedy_follow_authors(options, &greedy->options.grain, GREEDY_BY_GPU);
	greedy_follow_authors(options, &greedy->options.unit, GREEDY_JOBS);
	greedy_follow_authors(options, &greedy->options.lease_end, GREEDY_ENDS_WITH_ITERATION);
	greedy_follow_authors(options, &greedy->options.ties, GREEDY_TIES_HELD);
	greedy_follow_authors(options, &greedy->options.arrivals, GREEDY_ARRIVALS_FIRST);
	greedy->spec = view_cluster_spec(view);
	parties_open(greedy, view);
	stock_open(greedy);
	grants_open(greedy);
	seats_open(greedy);
	greedy->due = g_array_new(FALSE, FALSE, sizeof(JobId));
	greedy->moves =
	    moves_new(view, greedy->former, (PlacementLevel)options->placement.max_level);
	if (options->lease_ns != TIME_NEVER)
		greedy->leases = leases_new(greedy->spec->n_gpus);
	greedy->full_end_ns = g_new0(SimTime, greedy->spec->n_gpus);
	greedy->wake_ns = TIME_NEVER;
	return greedy;
}

void
greedy_free(Greedy *greedy)
{
	if (greedy == NULL)
		return;
	moves_free(greedy->moves);
	leases_free(greedy->leases);
	g_free(greedy->full_end_ns);
	g_array_unref(greedy->due);
	seats_close(greedy);
	grants_close(greedy);
	stock_close(greedy);
	parties_close(greedy);
	g_free(greedy);
}

/* leases that end */

static gboolean
is_due(const Greedy *greedy, const View *view, guint32 gpu)
{
	return leases_is_due(greedy->leases, gpu, view_now_ns(view));
}

static guint
n_due_gpus(const Greedy *greedy, const View *view, const Alloc *gpus)
{
	guint n = 0;

	for (guint i = 0; i < gpus->n; i++)
		n += is_due(greedy, view, gpus->gpus[i]);
	return n;
}

/* Hands in what of a job's GPUs is due; all of them if the rest is too little to run on (A75). */
static void
hand_in(Greedy *greedy, const View *view, const Job *job)
{
	GreedyJob *own = &greedy->jobs[job->id];
	gboolean is_all = own->gpus.n - n_due_gpus(greedy, view, &own->gpus) < job->min_gpus;
	Alloc kept = { 0 };

	for (guint i = 0; i < own->gpus.n; i++) {
		guint32 gpu = own->gpus.gpus[i];

		if (!is_all && !is_due(greedy, view, gpu)) {
			alloc_add(&kept, gpu);
			continue;
		}
		greedy->former[gpu] = job->id;
		g_array_append_val(greedy->returned, gpu);
	}
	stock_touch(greedy, job->id);
	own->is_due = TRUE;
	own->n_kept = kept.n;
	party_of(greedy, job->id)->n_due++;
	if (kept.n == 0)
		own->lost_ns = view_now_ns(view);
	parties_set(greedy, view, job, &kept);
	alloc_clear(&kept);
}

static void
hand_in_due(Greedy *greedy, const View *view)
{
	if (greedy->leases == NULL)
		return;
	g_array_set_size(greedy->due, 0);
	leases_find_due(greedy->leases, view_now_ns(view), greedy->due);
	for (guint i = 0; i < greedy->due->len; i++) {
		JobId job = g_array_index(greedy->due, JobId, i);
		const GreedyJob *own = &greedy->jobs[job];

		if (own->footing == FOOTING_HERE && !own->is_due &&
		    n_due_gpus(greedy, view, &own->gpus) > 0)
			hand_in(greedy, view, view_job(view, job));
	}
}

/* what came of it */

static void
make_moves(Greedy *greedy, const View *view, Plan *plan)
{
	moves_open(greedy->moves, view);
	for (guint i = 0; i < greedy->touched->len; i++) {
		JobId job = g_array_index(greedy->touched, JobId, i);
		guint move = moves_add(greedy->moves, job);

		alloc_copy(&moves_get(greedy->moves, move)->to, &greedy->jobs[job].gpus);
	}
	moves_apply(greedy->moves, plan);
}

static void
drop_lost_leases(Greedy *greedy, const View *view)
{
	for (guint i = 0; i < greedy->touched->len; i++) {
		JobId job = g_array_index(greedy->touched, JobId, i);
		const Alloc *had = view_last_alloc(view, job);
		const Alloc *has = view_alloc(view, job);

		if (view_state(view, job) != JOB_RUNNING)
			continue;
		for (guint j = 0; j < had->n; j++)
			if (!alloc_has(has, had->gpus[j]))
				leases_drop(greedy->leases, had->gpus[j]);
	}
}

/* Leases anew what a job has won: all that it holds now but what it kept. */
static void
lease_won(Greedy *greedy, const View *view, const Job *job)
{
	const Alloc *has = view_alloc(view, job->id);
	gboolean ran = view_state(view, job->id) == JOB_RUNNING;
	SimTime end_ns = time_add(view_now_ns(view), greedy->options.lease_ns);
	Alloc won = { 0 };

	for (guint i = 0; i < has->n; i++) {
		if (ran && alloc_has(view_last_alloc(view, job->id), has->gpus[i]) &&
		    greedy->former[has->gpus[i]] != job->id)
			continue;
		alloc_add(&won, has->gpus[i]);
		greedy->full_end_ns[has->gpus[i]] = end_ns;
	}
	if (won.n > 0)
		leases_give(greedy->leases, &won, job->id, end_ns);
	alloc_clear(&won);
}

/* lease_end=iteration: all of a job's leases are cut anew when its GPUs, and so the lengths of its
 * iterations, change. */
static void
cut_leases(Greedy *greedy, const View *view, const Job *job)
{
	const GreedyJob *own = &greedy->jobs[job->id];
	const Alloc *has = view_alloc(view, job->id);
	Alloc one = { 0 };

	for (guint i = 0; i < has->n; i++) {
		SimTime full_ns = greedy->full_end_ns[has->gpus[i]];
		SimTime end_ns =
		    leases_last_iteration_ns(job, own->iterates_ppb, MIN(own->since_ns, full_ns),
		                             full_ns, greedy->options.lease_ns);

		alloc_reset(&one);
		alloc_add(&one, has->gpus[i]);
		leases_give(greedy->leases, &one, job->id, end_ns);
	}
	alloc_clear(&one);
}

static void
book_leases(Greedy *greedy, const View *view)
{
	for (guint i = 0; i < greedy->touched->len; i++)
		iterations_book(greedy, view,
		                view_job(view, g_array_index(greedy->touched, JobId, i)));
	if (greedy->leases == NULL)
		return;
	drop_lost_leases(greedy, view);
	for (guint i = 0; i < greedy->touched->len; i++) {
		const Job *job = view_job(view, g_array_index(greedy->touched, JobId, i));

		if (job->share_milli != GPU_MILLI)
			continue;
		lease_won(greedy, view, job);
		if (greedy->options.lease_end == GREEDY_ENDS_WITH_ITERATION &&
		    job->iteration_ns > 0)
			cut_leases(greedy, view, job);
	}
}

/* What the job holds now, the plan's edits included; a stopped one until its suspend_s is over. */
static const Alloc *
held_now(const View *view, JobId job)
{
	const Alloc *has = view_alloc(view, job);

	if (has->n == 0 && view_state(view, job) == JOB_RUNNING &&
	    view_overheads(view, job).suspend_ns > 0)
		return view_last_alloc(view, job);
	return has;
}

/* Where GPUs that are still being released made grants lapse (B04), the books follow the plan. */
static void
book_holdings(Greedy *greedy, const View *view)
{
	const Alloc none = { 0 };

	for (guint i = 0; i < greedy->touched->len; i++) {
		JobId job = g_array_index(greedy->touched, JobId, i);

		if (!alloc_equal(&greedy->jobs[job].gpus, held_now(view, job)))
			parties_set(greedy, view, view_job(view, job), &none);
	}
	for (guint i = 0; i < greedy->touched->len; i++) {
		JobId job = g_array_index(greedy->touched, JobId, i);
		GreedyJob *own = &greedy->jobs[job];

		if (own->gpus.n == 0 && held_now(view, job)->n > 0)
			parties_set(greedy, view, view_job(view, job), held_now(view, job));
		if (view_state(view, job) != JOB_RUNNING || view_alloc(view, job)->n > 0)
			continue;
		if (own->gpus.n > 0)
			own->footing = FOOTING_LEAVING;
		g_array_append_val(greedy->stopped, job);
	}
}

/* the contract */

static void
set_wake(Greedy *greedy, Plan *plan)
{
	SimTime next_ns = greedy->leases != NULL ? leases_next_end_ns(greedy->leases) : TIME_NEVER;

	if (next_ns == greedy->wake_ns)
		return;
	if (greedy->wake_ns != TIME_NEVER)
		plan_unwake(plan, TAG_LEASE);
	if (next_ns != TIME_NEVER)
		plan_wake(plan, next_ns, TAG_LEASE);
	greedy->wake_ns = next_ns;
}

void
greedy_policy_arrived(void *self, const View *view, const Job *job)
{
	Greedy *greedy = *(Greedy **)self;

	greedy->has_arrivals = TRUE;
	parties_arrived(greedy, view, job);
}

void
greedy_policy_completed(void *self, const View *view, const Job *job)
{
	Greedy *greedy = *(Greedy **)self;
	const Alloc *gpus = &greedy->jobs[job->id].gpus;

	if (greedy->leases != NULL && job->share_milli == GPU_MILLI)
		for (guint i = 0; i < gpus->n; i++)
			leases_drop(greedy->leases, gpus->gpus[i]);
	parties_completed(greedy, view, job);
}

void
greedy_policy_timer(void *self, const View *view, guint64 tag)
{
	Greedy *greedy = *(Greedy **)self;

	greedy->wake_ns = TIME_NEVER;
}

void
greedy_policy_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	Greedy *greedy = *(Greedy **)self;

	parties_settle(greedy, view);
	if (greedy->options.arrivals == GREEDY_ARRIVALS_FIRST && greedy->has_arrivals &&
	    greedy->open->n_free > 0)
		grants_hold(greedy, view);
	greedy->has_arrivals = FALSE;
	hand_in_due(greedy, view);
	if (greedy->open->n_free > 0 || greedy->n_sharers > 0)
		grants_hold(greedy, view);
	if (greedy->touched->len > 0) {
		make_moves(greedy, view, plan);
		book_leases(greedy, view);
		book_holdings(greedy, view);
		stock_empty(greedy, view);
	}
	g_assert(greedy->open->n_free == view_cluster(view)->n_free);
	set_wake(greedy, plan);
}

void
greedy_policy_finish(void *self)
{
	greedy_free(*(Greedy **)self);
}

PlacementLevel
greedy_policy_max_level(const void *options)
{
	return (PlacementLevel)((const GreedyOptions *)options)->placement.max_level;
}
