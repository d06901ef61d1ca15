/* SPDX-License-Identifier: MIT */

#include "policies/greedy/state.h"

typedef struct Seat {
	JobId job;
	guint n_gpus;
	gboolean is_seated;
	Alloc where;
} Seat;

void
seats_open(Greedy *greedy)
{
	greedy->seats = g_array_new(FALSE, TRUE, sizeof(Seat));
}

static Seat *
seat_of(const Greedy *greedy, guint i)
{
	return &g_array_index(greedy->seats, Seat, i);
}

void
seats_close(Greedy *greedy)
{
	if (greedy->seats == NULL)
		return;
	for (guint i = 0; i < greedy->seats->len; i++)
		alloc_clear(&seat_of(greedy, i)->where);
	g_array_unref(greedy->seats);
}

/* TRUE if another seat could be better than the place found for the bid. */
static gboolean
collect(Greedy *greedy, const View *view)
{
	gboolean is_worth_it = FALSE;

	greedy->n_seats = 0;
	for (guint i = 0; i < greedy->touched->len; i++) {
		JobId id = g_array_index(greedy->touched, JobId, i);
		const Job *job = view_job(view, id);
		const GreedyJob *own = &greedy->jobs[id];
		Seat *seat;

		if (!own->is_won || own->n_kept > 0 || job->share_milli != GPU_MILLI)
			continue;
		if (greedy->n_seats == greedy->seats->len)
			g_array_set_size(greedy->seats, greedy->n_seats + 1);
		seat = seat_of(greedy, greedy->n_seats++);
		seat->job = id;
		seat->n_gpus = own->gpus.n;
		seat->is_seated = FALSE;
		is_worth_it |= own->gpus.n > job->min_gpus || view_last_alloc(view, id)->n > 0;
	}
	return is_worth_it;
}

static gint
by_width(gconstpointer a, gconstpointer b)
{
	const Seat *one = a, *other = b;

	if (one->n_gpus != other->n_gpus)
		return one->n_gpus > other->n_gpus ? -1 : 1;
	return one->job < other->job ? -1 : one->job > other->job;
}

static void
sort_seats(Greedy *greedy)
{
	qsort(greedy->seats->data, greedy->n_seats, sizeof(Seat), by_width);
}

/* As many of the GPUs that it has just handed in as it has won. */
static gboolean
find_own(Greedy *greedy, const View *view, Seat *seat)
{
	const Alloc *last = view_last_alloc(view, seat->job);

	alloc_reset(&seat->where);
	for (guint i = 0; i < last->n && seat->where.n < seat->n_gpus; i++)
		if (greedy->former[last->gpus[i]] == seat->job &&
		    cluster_gpu_is_free(greedy->open, last->gpus[i]))
			alloc_add(&seat->where, last->gpus[i]);
	return seat->where.n == seat->n_gpus;
}

static gboolean
is_as_good_as_any(Greedy *greedy, const View *view, const Seat *seat)
{
	const Job *job = view_job(view, seat->job);
	PlacementLevel level = cluster_spec_level(greedy->spec, &seat->where);

	if (greedy->options.placement.kind != PLACEMENT_CONSOLIDATE)
		return (gint)level <= greedy->options.placement.max_level;
	alloc_reset(&greedy->where);
	return !placement_find_on(greedy->open, view, job, seat->n_gpus, &greedy->options.placement,
	                          &greedy->where) ||
	       level <= cluster_spec_level(greedy->spec, &greedy->where);
}

static void
take(Greedy *greedy, const View *view, Seat *seat)
{
	cluster_take(greedy->open, view_job(view, seat->job), &seat->where);
	seat->is_seated = TRUE;
}

static void
seat_on_own(Greedy *greedy, const View *view)
{
	for (guint i = 0; i < greedy->n_seats; i++) {
		Seat *seat = seat_of(greedy, i);
		const Job *job = view_job(view, seat->job);

		if (greedy->jobs[seat->job].is_due && find_own(greedy, view, seat) &&
		    cluster_alloc_is_sane(greedy->spec, job, &seat->where) &&
		    cluster_has_room(greedy->open, job, &seat->where, CROWD_SHARES) &&
		    is_as_good_as_any(greedy, view, seat))
			take(greedy, view, seat);
	}
}

static gboolean
seat_others(Greedy *greedy, const View *view)
{
	for (guint i = 0; i < greedy->n_seats; i++) {
		Seat *seat = seat_of(greedy, i);

		if (seat->is_seated)
			continue;
		alloc_reset(&seat->where);
		if (!placement_find_on(greedy->open, view, view_job(view, seat->job), seat->n_gpus,
		                       &greedy->options.placement, &seat->where))
			return FALSE;
		take(greedy, view, seat);
	}
	return TRUE;
}

/* What each asks for besides GPUs can make a good seat of one the end of another's: then all stay
 * where their bids were. */
static void
undo(Greedy *greedy, const View *view)
{
	for (guint i = 0; i < greedy->n_seats; i++) {
		const Seat *seat = seat_of(greedy, i);

		if (seat->is_seated)
			cluster_give(greedy->open, view_job(view, seat->job), &seat->where);
	}
	for (guint i = 0; i < greedy->n_seats; i++) {
		JobId job = seat_of(greedy, i)->job;

		cluster_take(greedy->open, view_job(view, job), &greedy->jobs[job].gpus);
	}
}

void
seats_run(Greedy *greedy, const View *view)
{
	if (!collect(greedy, view))
		return;
	sort_seats(greedy);
	for (guint i = 0; i < greedy->n_seats; i++) {
		JobId job = seat_of(greedy, i)->job;

		cluster_give(greedy->open, view_job(view, job), &greedy->jobs[job].gpus);
	}
	greedy->version++;
	seat_on_own(greedy, view);
	if (!seat_others(greedy, view)) {
		undo(greedy, view);
		return;
	}
	for (guint i = 0; i < greedy->n_seats; i++) {
		const Seat *seat = seat_of(greedy, i);

		parties_seat(greedy, view, view_job(view, seat->job), &seat->where);
	}
}
