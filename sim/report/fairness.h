/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Finish-time fairness of an app: the time it took against the time it would have taken with its
 * part of the cluster to itself. Three meanings of "its part", each under its own name (SEMANTICS
 * A20 to A24, C04; docs/metrics.md has a worked example).
 */

#include "sim/engine/record.h"
#include "sim/model/scenario.h"

typedef struct AppFairness {
	gboolean has_isolated; /* the app asks for GPUs, so that t_independent_s is defined */
	gboolean has_rho;      /* t_independent_s is above 0 as well (A21) */
	SimTime shared_ns;
	double independent_s;
	double rho, rho_capped, rho_contention;
} AppFairness;

/* Of an app that has a life. */
AppFairness app_fairness(const Scenario *scenario, const App *app, const AppRecord *done);

/* Over the FINISHED apps submitted in the window that have a rho (A25); all 0 if there is none. */
typedef struct FairnessFigures {
	guint n;
	guint n_over_1; /* A24 */
	double mean, max, capped_max, contention_mean, contention_max;
	double jain;    /* of the rho (policies.md 6.3) */
	double *sorted; /* the rho, ascending */
} FairnessFigures;

void fairness_figures_init(FairnessFigures *figures, const Scenario *scenario,
                           const RunRecord *record);
void fairness_figures_clear(FairnessFigures *figures);
