/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a start, a stop, a resumption and a move cost: GPUs are held and no work is done. All 0
 * unless the run, a model or a preset says otherwise (A87).
 */

#include "sim/model/speed.h"

typedef struct Overheads {
	SimTime start_ns;            /* at the first start */
	SimTime suspend_ns;          /* at a stop; the GPUs are free at its end */
	SimTime resume_ns;           /* at each later start */
	SimTime migrate_ns;          /* at a move without a stop */
	SimTime checkpoint_every_ns; /* 0 = nothing is lost at a stop */
} Overheads;

/* The run's overheads, or the model's own where it has some. */
Overheads overheads_of(const Overheads *run, const ModelTable *models, const Job *job);
