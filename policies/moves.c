/* SPDX-License-Identifier: MIT */

#include "sim/policy.h"

Moves *
moves_new(const View *view, const JobId *former, PlacementLevel max_level)
{
	Moves *moves = g_new0(Moves, 1);

	moves->former = former;
	moves->placement.kind = PLACEMENT_CONSOLIDATE;
	moves->placement.max_level = (gint)max_level;
	moves->moves = g_array_new(FALSE, TRUE, sizeof(Move));
	moves->move_of = g_new0(guint32, view_n_jobs(view));
	return moves;
}

void
moves_free(Moves *moves)
{
	if (moves == NULL)
		return;
	for (guint i = 0; i < moves->moves->len; i++)
		alloc_clear(&moves_get(moves, i)->to);
	g_array_unref(moves->moves);
	g_free(moves->move_of);
	alloc_clear(&moves->more);
	g_free(moves);
}

void
moves_open(Moves *moves, const View *view)
{
	for (guint i = 0; i < moves->n; i++)
		moves->move_of[moves_get(moves, i)->job] = 0;
	moves->n = 0;
	moves->view = view;
}

guint
moves_add(Moves *moves, JobId job)
{
	const Alloc *holds = view_alloc(moves->view, job);
	Move *move;

	if (moves->move_of[job] > 0)
		return moves->move_of[job] - 1;
	if (moves->n == moves->moves->len)
		g_array_set_size(moves->moves, moves->n + 1);
	move = moves_get(moves, moves->n++);
	moves->move_of[job] = moves->n;
	move->job = job;
	move->n_wanted = 0;
	move->is_done = FALSE;
	alloc_reset(&move->to);
	for (guint i = 0; i < holds->n; i++)
		if (moves->former[holds->gpus[i]] != job)
			alloc_add(&move->to, holds->gpus[i]);
	return moves->n - 1;
}

void
moves_widen(Moves *moves, guint move, const Alloc *by)
{
	for (guint i = 0; i < by->n; i++)
		alloc_add(&moves_get(moves, move)->to, by->gpus[i]);
}

void
moves_search(Moves *moves, guint move, guint n_gpus)
{
	moves_get(moves, move)->n_wanted = n_gpus;
}

/* applying */

static gboolean
runs(const Moves *moves, JobId job)
{
	return view_alloc(moves->view, job)->n > 0;
}

/* Whether the GPUs that the job does not hold yet are to be had, and CPUs and memory with them:
 * others of this plan may have taken those. */
static gboolean
has_room(Moves *moves, const Move *move)
{
	const Alloc *holds = view_alloc(moves->view, move->job);

	alloc_reset(&moves->more);
	for (guint i = 0; i < move->to.n; i++)
		if (!alloc_has(holds, move->to.gpus[i]))
			alloc_add(&moves->more, move->to.gpus[i]);
	return cluster_has_room(view_cluster(moves->view), view_job(moves->view, move->job),
	                        &moves->more, CROWD_SHARES);
}

/* Losers are stopped; who goes on unchanged is left alone. */
static void
stop_losers(Moves *moves, Plan *plan)
{
	for (guint i = 0; i < moves->n; i++) {
		Move *move = moves_get(moves, i);

		if (alloc_equal(&move->to, view_alloc(moves->view, move->job)))
			move->is_done = TRUE;
		else if (move->to.n == 0)
			plan_preempt(plan, move->job);
		if (move->to.n == 0)
			move->is_done = TRUE;
	}
}

static void
make_move(Moves *moves, Move *move, Plan *plan)
{
	if (runs(moves, move->job))
		plan_move(plan, move->job, &move->to);
	else
		plan_place(plan, move->job, &move->to);
	move->is_done = TRUE;
}

/* Each move makes room for others. */
static void
make_moves(Moves *moves, Plan *plan)
{
	gboolean is_any = TRUE;

	while (is_any) {
		is_any = FALSE;
		for (guint i = 0; i < moves->n; i++) {
			Move *move = moves_get(moves, i);

			if (move->is_done || !has_room(moves, move))
				continue;
			make_move(moves, move, plan);
			is_any = TRUE;
		}
	}
}

/* Running jobs that are in each other's way let go of their GPUs, if that takes no time; taken
 * together with the place that follows this is a move. */
static void
lift_stuck(Moves *moves, Plan *plan)
{
	for (guint i = 0; i < moves->n; i++) {
		const Move *move = moves_get(moves, i);

		if (!move->is_done && runs(moves, move->job) &&
		    view_overheads(moves->view, move->job).suspend_ns == 0)
			plan_preempt(plan, move->job);
	}
}

/* Where some could not be lifted, others may still have nowhere to go but back. */
static void
put_back(Moves *moves, Plan *plan)
{
	for (guint i = 0; i < moves->n; i++) {
		Move *move = moves_get(moves, i);

		if (move->is_done || view_state(moves->view, move->job) != JOB_RUNNING ||
		    runs(moves, move->job))
			continue;
		alloc_copy(&move->to, view_last_alloc(moves->view, move->job));
		if (has_room(moves, move))
			make_move(moves, move, plan);
	}
}

static void
search_places(Moves *moves, Plan *plan)
{
	for (guint i = 0; i < moves->n; i++) {
		Move *move = moves_get(moves, i);

		if (move->n_wanted == 0 || runs(moves, move->job))
			continue;
		if (placement_find(moves->view, view_job(moves->view, move->job), move->n_wanted,
		                   &moves->placement, &move->to))
			make_move(moves, move, plan);
	}
}

void
moves_apply(Moves *moves, Plan *plan)
{
	stop_losers(moves, plan);
	make_moves(moves, plan);
	lift_stuck(moves, plan);
	make_moves(moves, plan);
	put_back(moves, plan);
	search_places(moves, plan);
}
