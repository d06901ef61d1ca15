/* SPDX-License-Identifier: MIT */

#include "policies/greedy/state.h"

/* who belongs to whom */

static const char *
owner_of(const Job *job, GreedyUnit unit)
{
	return unit == GREEDY_USERS ? job->user : job->tenant;
}

static guint32
number_of_owner(GHashTable *numbers, const char *name)
{
	gpointer number;

	if (!g_hash_table_lookup_extended(numbers, name, NULL, &number)) {
		number = GUINT_TO_POINTER(g_hash_table_size(numbers));
		g_hash_table_insert(numbers, (gpointer)(guintptr)name, number);
	}
	return GPOINTER_TO_UINT(number);
}

/* Parties are numbered by their first jobs, as jobs and apps are. */
static guint
number_parties(Greedy *greedy, const View *view)
{
	g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);
	GreedyUnit unit = (GreedyUnit)greedy->options.unit;
	guint32 n = 0;

	for (JobId id = 0; id < greedy->n_jobs; id++) {
		const Job *job = view_job(view, id);
		guint32 party = id;

		if (unit == GREEDY_APPS)
			party = job->app;
		else if (unit != GREEDY_JOBS)
			party = number_of_owner(numbers, owner_of(job, unit));
		greedy->jobs[id].party = party;
		n = MAX(n, party + 1);
	}
	return n;
}

void
parties_open(Greedy *greedy, const View *view)
{
	greedy->n_jobs = view_n_jobs(view);
	greedy->jobs = g_new0(GreedyJob, greedy->n_jobs);
	greedy->n_parties = number_parties(greedy, view);
	greedy->parties = g_new0(Party, greedy->n_parties);
	greedy->present = g_array_new(FALSE, FALSE, sizeof(guint32));
	greedy->stopped = g_array_new(FALSE, FALSE, sizeof(JobId));
	for (JobId id = 0; id < greedy->n_jobs; id++)
		greedy->jobs[id].lost_ns = -1;
}

void
parties_close(Greedy *greedy)
{
	for (guint i = 0; i < greedy->n_parties; i++) {
		g_clear_pointer(&greedy->parties[i].waiting, g_array_unref);
		g_clear_pointer(&greedy->parties[i].holding, g_array_unref);
	}
	for (JobId id = 0; id < greedy->n_jobs; id++)
		alloc_clear(&greedy->jobs[id].gpus);
	g_free(greedy->parties);
	g_free(greedy->jobs);
	g_clear_pointer(&greedy->present, g_array_unref);
	g_clear_pointer(&greedy->stopped, g_array_unref);
}

/* lines of jobs */

static guint
place_in_line(const Greedy *greedy, const GArray *line, JobId job)
{
	GpuTime precedence = greedy->jobs[job].precedence;
	guint from = 0, end = line->len;

	while (from < end) {
		guint middle = from + (end - from) / 2;
		JobId other = g_array_index(line, JobId, middle);
		GpuTime others = greedy->jobs[other].precedence;

		if (others > precedence || (others == precedence && other < job))
			from = middle + 1;
		else
			end = middle;
	}
	return from;
}

static void
join_line(const Greedy *greedy, GArray *line, JobId job)
{
	g_array_insert_val(line, place_in_line(greedy, line, job), job);
}

static void
leave_line(const Greedy *greedy, GArray *line, JobId job)
{
	guint at = place_in_line(greedy, line, job);

	g_assert(at < line->len && g_array_index(line, JobId, at) == job);
	g_array_remove_index(line, at);
}

/* work left */

static SimWork
remaining_ns(const Greedy *greedy, const View *view, JobId job)
{
	SimWork ns = 0;
	gboolean is_known = view_remaining_ns(view, job, &ns);

	g_assert(is_known);
	if (greedy->options.count == GREEDY_EXACTLY || view_job(view, job)->iteration_ns == 0)
		return ns;
	return iterations_left_ns(view_job(view, job), ns);
}

static GpuTime
service_of(const Greedy *greedy, const View *view, JobId id)
{
	const Job *job = view_job(view, id);
	GpuTime service = view_attained_service(view, id);
	const GreedyJob *own = &greedy->jobs[id];
	guint n_held = own->is_due ? own->n_kept : view_last_alloc(view, id)->n;
	SimTime now_ns = view_now_ns(view);

	if (greedy->options.count == GREEDY_EXACTLY || job->iteration_ns == 0 ||
	    !iterations_go_on(greedy, view, id))
		return service;
	return service + (GpuTime)(iterations_next_ns(greedy, job, now_ns) - now_ns) *
	                     job_held_milli(job, n_held);
}

static GpuTime
work_of(const Job *job, SimWork ns)
{
	return (GpuTime)job_held_milli(job, job->num_gpus) * ns;
}

static void
count_waiting(Greedy *greedy, const View *view, const Job *job)
{
	Party *party = party_of(greedy, job->id);
	GreedyJob *own = &greedy->jobs[job->id];

	if (!greedy->rules->needs_work && greedy->options.jobs != GREEDY_JOBS_LONGEST)
		return;
	own->waiting_ns = remaining_ns(greedy, view, job->id);
	party->waiting_work += work_of(job, own->waiting_ns);
	if (party->longest_waiting_ns >= 0)
		party->longest_waiting_ns = MAX(party->longest_waiting_ns, own->waiting_ns);
}

static void
discount_waiting(Greedy *greedy, const Job *job)
{
	Party *party = party_of(greedy, job->id);
	GreedyJob *own = &greedy->jobs[job->id];

	party->waiting_work -= work_of(job, own->waiting_ns);
	if (own->waiting_ns == party->longest_waiting_ns)
		party->longest_waiting_ns = party->waiting->len > 0 ? -1 : 0;
	own->waiting_ns = 0;
}

static void
wait_in_line(Greedy *greedy, const View *view, const Job *job)
{
	GreedyJob *own = &greedy->jobs[job->id];

	count_waiting(greedy, view, job);
	/* Those whose leases have ended are among themselves by (submit, trace order) (A80). */
	if (greedy->options.jobs == GREEDY_JOBS_LONGEST && !own->is_due)
		own->precedence = work_of(job, own->waiting_ns);
	join_line(greedy, party_of(greedy, job->id)->waiting, job->id);
	greedy->n_sharers += job->share_milli != GPU_MILLI;
}

static void
wait_no_more(Greedy *greedy, const Job *job)
{
	leave_line(greedy, party_of(greedy, job->id)->waiting, job->id);
	greedy->jobs[job->id].precedence = 0;
	discount_waiting(greedy, job);
	greedy->n_sharers -= job->share_milli != GPU_MILLI;
}

void
parties_requeue(Greedy *greedy, const View *view, const Job *job)
{
	wait_no_more(greedy, job);
	wait_in_line(greedy, view, job);
}

/* what is held */

/* In proportion to the width, rounded up, as the cluster counts it. */
static guint64
scaled(guint64 of_gang, const Job *job, guint n_gpus)
{
	return (of_gang * n_gpus + job->num_gpus - 1) / job->num_gpus;
}

static void
book_holding(Greedy *greedy, const View *view, const Job *job, const Alloc *gpus)
{
	GreedyJob *own = &greedy->jobs[job->id];
	GreedyHolding *holds = &party_of(greedy, job->id)->holds;
	guint n = own->gpus.n;

	holds->gpus_milli += job_held_milli(job, gpus->n) - job_held_milli(job, n);
	holds->cpus_milli +=
	    scaled(job->cpus_milli, job, gpus->n) - scaled(job->cpus_milli, job, n);
	holds->mem_mib += scaled(job->mem_mib, job, gpus->n) - scaled(job->mem_mib, job, n);
	if (!greedy->rules->needs_rates)
		return;
	holds->rate_ppb -= own->rate_ppb;
	own->rate_ppb = gpus->n > 0 ? stock_rate_ppb(view, job, gpus) : 0;
	holds->rate_ppb += own->rate_ppb;
}

/* A job's attained service is its party's past while it holds nothing. */
static void
change_line(Greedy *greedy, const View *view, const Job *job, gboolean will_hold)
{
	Party *party = party_of(greedy, job->id);
	gboolean is_here = greedy->jobs[job->id].footing != FOOTING_NONE;
	GpuTime service = view_attained_service(view, job->id);

	if (will_hold) {
		wait_no_more(greedy, job);
		join_line(greedy, party->holding, job->id);
		party->past_service -= service;
		return;
	}
	leave_line(greedy, party->holding, job->id);
	party->past_service += service;
	if (is_here)
		wait_in_line(greedy, view, job);
}

void
parties_set(Greedy *greedy, const View *view, const Job *job, const Alloc *gpus)
{
	GreedyJob *own = &greedy->jobs[job->id];
	gboolean had = own->gpus.n > 0, has = gpus->n > 0;

	book_holding(greedy, view, job, gpus);
	if (had)
		cluster_give(greedy->open, job, &own->gpus);
	if (has)
		cluster_take(greedy->open, job, gpus);
	alloc_copy(&own->gpus, gpus);
	if (had != has)
		change_line(greedy, view, job, has);
	greedy->version++;
}

void
parties_seat(Greedy *greedy, const View *view, const Job *job, const Alloc *gpus)
{
	book_holding(greedy, view, job, gpus);
	alloc_copy(&greedy->jobs[job->id].gpus, gpus);
}

/* coming and going */

static void
come(Greedy *greedy, guint32 number)
{
	Party *party = &greedy->parties[number];

	if (party->n_here++ > 0)
		return;
	if (party->waiting == NULL) {
		party->waiting = g_array_new(FALSE, FALSE, sizeof(JobId));
		party->holding = g_array_new(FALSE, FALSE, sizeof(JobId));
	}
	g_array_append_val(greedy->present, number);
	party->present_at = greedy->present->len;
}

static void
go(Greedy *greedy, guint32 number)
{
	Party *party = &greedy->parties[number];
	guint32 last;

	if (--party->n_here > 0)
		return;
	last = g_array_index(greedy->present, guint32, greedy->present->len - 1);
	g_array_index(greedy->present, guint32, party->present_at - 1) = last;
	greedy->parties[last].present_at = party->present_at;
	g_array_set_size(greedy->present, greedy->present->len - 1);
	party->present_at = 0;
}

void
parties_arrived(Greedy *greedy, const View *view, const Job *job)
{
	GreedyJob *own = &greedy->jobs[job->id];

	own->footing = FOOTING_HERE;
	come(greedy, own->party);
	wait_in_line(greedy, view, job);
}

void
parties_completed(Greedy *greedy, const View *view, const Job *job)
{
	const Alloc none = { 0 };
	GreedyJob *own = &greedy->jobs[job->id];

	own->footing = FOOTING_NONE;
	if (own->gpus.n > 0)
		parties_set(greedy, view, job, &none);
	else
		wait_no_more(greedy, job);
	go(greedy, own->party);
}

void
parties_settle(Greedy *greedy, const View *view)
{
	const Alloc none = { 0 };
	guint n = 0;

	for (guint i = 0; i < greedy->stopped->len; i++) {
		JobId id = g_array_index(greedy->stopped, JobId, i);
		const Job *job = view_job(view, id);
		GreedyJob *own = &greedy->jobs[id];

		if (own->footing == FOOTING_NONE)
			continue;
		if (view_state(view, id) == JOB_SUSPENDING) {
			g_array_index(greedy->stopped, JobId, n++) = id;
			continue;
		}
		if (own->footing == FOOTING_LEAVING) {
			own->footing = FOOTING_HERE;
			own->lost_ns = view_now_ns(view);
			parties_set(greedy, view, job, &none);
		} else if (own->gpus.n == 0) { /* a stop sets work back to its checkpoint */
			parties_requeue(greedy, view, job);
		}
	}
	g_array_set_size(greedy->stopped, n);
}

/* for the rules */

const GreedyHolding *
greedy_holding(const Greedy *greedy, guint32 party)
{
	return &greedy->parties[party].holds;
}

GpuTime
greedy_service(const Greedy *greedy, const View *view, guint32 number)
{
	const Party *party = &greedy->parties[number];
	GpuTime service = party->past_service;

	for (guint i = 0; i < party->holding->len; i++)
		service += service_of(greedy, view, g_array_index(party->holding, JobId, i));
	return service;
}

GpuTime
greedy_work_left(const Greedy *greedy, const View *view, guint32 number)
{
	const Party *party = &greedy->parties[number];
	GpuTime work = party->waiting_work;

	for (guint i = 0; i < party->holding->len; i++) {
		JobId job = g_array_index(party->holding, JobId, i);

		work += work_of(view_job(view, job), remaining_ns(greedy, view, job));
	}
	return work;
}

GpuTime
greedy_work_done(const Greedy *greedy, const View *view, const Job *job)
{
	SimWork all_ns = 0, left_ns = 0, done_ns;
	gboolean is_known =
	    view_duration_ns(view, job->id, &all_ns) && view_remaining_ns(view, job->id, &left_ns);

	g_assert(is_known);
	done_ns = all_ns - left_ns;
	if (greedy->options.count == GREEDY_IN_ITERATIONS && job->iteration_ns > 0 &&
	    iterations_go_on(greedy, view, job->id))
		done_ns = iterations_begun_ns(job, done_ns);
	return work_of(job, done_ns);
}

static void
find_longest_waiting(const Greedy *greedy, Party *party)
{
	party->longest_waiting_ns = 0;
	for (guint i = 0; i < party->waiting->len; i++) {
		JobId job = g_array_index(party->waiting, JobId, i);

		party->longest_waiting_ns =
		    MAX(party->longest_waiting_ns, greedy->jobs[job].waiting_ns);
	}
}

SimWork
greedy_longest_left_ns(const Greedy *greedy, const View *view, guint32 number)
{
	Party *party = &greedy->parties[number];
	SimWork longest_ns;

	if (party->longest_waiting_ns < 0)
		find_longest_waiting(greedy, party);
	longest_ns = party->longest_waiting_ns;
	for (guint i = 0; i < party->holding->len; i++)
		longest_ns = MAX(longest_ns, remaining_ns(greedy, view,
		                                          g_array_index(party->holding, JobId, i)));
	return longest_ns;
}

double
greedy_time_left_ns(const Greedy *greedy, const View *view, guint32 party, gint64 rate_ppb)
{
	double gpu_ns = (double)greedy_work_left(greedy, view, party) / GPU_MILLI;

	return gpu_ns / ((double)rate_ppb / (double)SPEED_ONE_PPB);
}
