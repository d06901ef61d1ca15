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

/* The end event of @job is due: it is finished, timed out, or its suspension is over. */
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
