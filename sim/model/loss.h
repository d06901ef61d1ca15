/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * How the loss of a training run falls as it works:
 *
 *	loss(w) = end + (start - end) / (1 + w / half)
 *
 * w is the job's own work at speed 1. First-order methods converge like 1/k on convex losses; the
 * schedulers that predict losses fit this family: SLAQ (Zhang et al., SoCC'17, section 3) and
 * Optimus (Peng et al., EuroSys'18, section 3.1: 1 / (b0 k + b1) + b2).
 */

#include "sim/base/units.h"

/* A double holds billionths up to here, so that curves are the same when written and read. */
#define LOSS_MAX 1e6

typedef struct LossCurve {
	double start, end; /* whole billionths from 0 to LOSS_MAX */
	SimWork half_ns;   /* > 0: work after which half of the way is gone */
} LossCurve;

/* `START:END:HALF_S`, decimals; HALF_S above 0, losses up to LOSS_MAX. FALSE: it is none. */
gboolean loss_curve_parse(const char *text, LossCurve *ret_curve);

/* What loss_curve_parse() reads. */
void loss_curve_append(GString *out, const LossCurve *curve);

/* The loss once @work_ns are done. */
double loss_at(const LossCurve *curve, SimWork work_ns);
