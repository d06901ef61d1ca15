/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The work that an app has left, as it foresees it: phases that follow each other, each of which
 * can use no more than so many GPUs (policies.md 1.4). An app without a tuner has one phase, as
 * wide as it likes (a cap of INFINITY). The work of a phase is taken as evenly divided over the
 *GPUs, whole or not:
 *
 *	time = sum over phases of work / min(rate, cap)
 */

#include "sim/policy.h"

#define FORECAST_MAX_PHASES MAX_APP_PHASES

typedef struct Forecast {
	guint n_phases;
	Phase phases[FORECAST_MAX_PHASES];
} Forecast;

static inline Forecast
forecast_of_work(double work_gpu_ns)
{
	return (Forecast){ .n_phases = 1, .phases = { { work_gpu_ns, INFINITY } } };
}

/* At @rate_ppb, in parts per billion of a GPU at full speed, > 0. */
static inline double
forecast_time_ns(const Forecast *forecast, double rate_ppb)
{
	double time_ns = 0;

	for (guint i = 0; i < forecast->n_phases; i++) {
		const Phase *phase = &forecast->phases[i];

		time_ns += phase->work_gpu_ns * 1e9 / MIN(rate_ppb, phase->cap_gpus * 1e9);
	}
	return time_ns;
}
