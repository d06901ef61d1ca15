/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Finish-time fairness of an app: the time it took against the time it would have taken with its
 * part of the cluster to itself. Every meaning of "its part" has its own name (SEMANTICS A20 to
 * A24, C04; policies.md 6.2; docs/metrics.md has them all with worked examples).
 */

#include "sim/engine/record.h"
#include "sim/model/scenario.h"
#include "sim/report/distribution.h"

typedef enum Fairness {
	RHO_THEMIS,           /* 1/N_avg of the speed of the whole cluster */
	RHO_CAPPED,           /* GPUs / N_avg of the GPUs */
	RHO_CONTENTION,       /* the whole cluster as crowded as demand(t) had it */
	RHO_GAVEL,            /* 1/n(t) of every GPU type, n as it was while the app worked */
	RHO_SIA,              /* GPUs / N_avg GPUs of one type, mean over the types */
	RHO_SHOCKWAVE_STATIC, /* 1 of max(1, jobs of the trace / GPUs) equal parts */
	RHO_SHOCKWAVE_THEMIS, /* the same with the mean number of jobs over its life */
	RECEIVED_RATIO,       /* GPU time held / GPU time of min(GPUs / N_avg, d): no rho */
	N_FAIRNESS,
} Fairness;

/* The names of their columns in apps.csv, and in fairness.csv. */
extern const char *const fairness_names[N_FAIRNESS];

/* Whether above 1 is worse than an equal part. */
static inline gboolean
fairness_is_rho(Fairness variant)
{
	return variant != RECEIVED_RATIO;
}

/* What is the same for all apps of a run. */
typedef struct FairnessBase {
	const Scenario *scenario;
	double n_gpus, n_gpu_jobs; /* of the cluster; of the trace */
} FairnessBase;

FairnessBase fairness_base(const Scenario *scenario);

typedef struct AppFairness {
	gboolean has_isolated; /* the app asks for GPUs, so that t_independent_s is defined */
	gboolean has_rho;      /* t_independent_s is above 0 as well (A21) */
	SimTime shared_ns;
	double independent_s;
	double values[N_FAIRNESS]; /* if it has a rho */
} AppFairness;

/* W / min(GPUs, d), of an app that asks for GPUs and has a life. */
double app_alone_s(const Scenario *scenario, const App *app, const AppRecord *done);

/* Of an app that has a life. */
AppFairness app_fairness(const FairnessBase *base, const App *app, const AppRecord *done);

/* The apps that figures over rho are over (A25): FINISHED, submitted in the window, with a rho. */
typedef struct MeasuredApps {
	guint n;
	AppId *apps;
	double *values[N_FAIRNESS]; /* NULL if they were not asked for */
} MeasuredApps;

/* With the values whose bits, 1 << Fairness, are in @wanted. */
void measured_apps_init(MeasuredApps *measured, const Scenario *scenario, const RunRecord *record,
                        guint wanted);
void measured_apps_clear(MeasuredApps *measured);

/* Of one of the values over all of them. */
Distribution measured_distribution(const MeasuredApps *measured, Fairness variant);
