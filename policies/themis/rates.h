/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * How much work a job would do: GPUs x speed of each, in parts per billion of a GPU at full
 * speed, so that the rates of an app's jobs add up.
 */

#include "sim/policy.h"

/* Of @n_gpus of @type that span @level; 0 if the job cannot run on that type. */
gint64 rate_at_ppb(const View *view, const Job *job, guint n_gpus, guint type,
                   PlacementLevel level);

/* Of @where. */
gint64 rate_on_ppb(const View *view, const Job *job, const Alloc *where);

/* Of @n_gpus at the best place of the best type. */
gint64 rate_best_ppb(const View *view, const Job *job, guint n_gpus);
