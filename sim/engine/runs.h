/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Segments: the stretches of a job on one allocation at one speed. Work is integrated when a
 * segment is cut, rounded down, and the one end event of the job is posted anew, rounded up (A05),
 * so that no work is lost or made by cutting.
 */

#include "sim/engine/state.h"

/* A queued job starts on @where, which the ledger has taken for it. */
void run_start(Engine *engine, JobId job, const Alloc *where, gboolean is_migration);

/* A running job goes on on @where instead. */
void run_move(Engine *engine, JobId job, const Alloc *where);

/* A running job stops: at once, or, with suspend_s, holding its GPUs until its release. */
void run_stop(Engine *engine, JobId job);

/* @job joins the queue, for the first time or back from a pause, and the policy is told. */
void run_queue(Engine *engine, JobId job);

/* A running job whose work up to its goal is done goes on to @goal_ns of work, where it is. */
void run_extend(Engine *engine, JobId job, SimWork goal_ns);

/* The same job gives its GPUs up and waits for its tuner. */
void run_pause(Engine *engine, JobId job);

/* A paused job goes on to @goal_ns of work; it joins the queue, or runs if it needs no GPU. */
void run_resume(Engine *engine, JobId job, SimWork goal_ns);

/* The job, at its goal or paused, is STOPPED. */
void run_end_early(Engine *engine, JobId job);

/* The end event of @job is due: it is finished, timed out, at a goal of its tuner, or its
 * suspension is over. */
void run_due(Engine *engine, JobId job);

/* The run ends here: what holds GPUs is cut and not done. */
void run_cut(Engine *engine, JobId job);

/* Work left at this instant, cut or not. */
SimWork run_work_left_ns(const Engine *engine, JobId job);

/* Time on GPUs up to this instant. */
SimTime run_attained_ns(const Engine *engine, JobId job);

/* Those on the GPUs of @alloc may go at another speed from now on. */
void run_mark_off_beat(Engine *engine, const Alloc *alloc);

/* Re-rates those marked. */
void run_settle_speeds(Engine *engine);
