/* SPDX-License-Identifier: MIT */
#include "sim/report/fairness.h"

#include "sim/report/exact.h"
#include "sim/report/metrics.h"

#define OVER_1 (1 + 1e-9) /* A24 */

AppFairness
app_fairness(const Scenario *scenario, const App *app, const AppRecord *done)
{
	guint64 cluster_milli = (guint64)scenario->cluster->n_gpus * GPU_MILLI;
	guint64 usable_milli = MIN(cluster_milli, app_demand_milli(app, done));
	double work = (double)app_work(app, done);
	AppFairness fairness = { .shared_ns = done->finish_ns - app->submit_ns };
	double shared_ns = (double)fairness.shared_ns;
	double isolated_ns, part_milli;

	fairness.has_isolated = usable_milli > 0;
	if (!fairness.has_isolated)
		return fairness;
	isolated_ns = work / (double)usable_milli;
	fairness.independent_s = isolated_ns * done->n_avg / (double)NS_PER_S;
	fairness.has_rho = fairness.independent_s > 0;
	if (!fairness.has_rho)
		return fairness;
	part_milli = MIN((double)cluster_milli / done->n_avg, (double)app_demand_milli(app, done));
	fairness.rho = shared_ns / (isolated_ns * done->n_avg);
	fairness.rho_capped = shared_ns / (work / part_milli);
	fairness.rho_contention = shared_ns / (isolated_ns * done->contention);
	return fairness;
}

/* Sums over the apps on the way to their means. */
typedef struct FairnessSums {
	NumberSum rho, square, contention;
} FairnessSums;

static void
add_app(FairnessFigures *figures, FairnessSums *sums, const AppFairness *fairness)
{
	figures->sorted[figures->n++] = fairness->rho;
	figures->n_over_1 += fairness->rho > OVER_1;
	figures->max = MAX(figures->max, fairness->rho);
	figures->capped_max = MAX(figures->capped_max, fairness->rho_capped);
	figures->contention_max = MAX(figures->contention_max, fairness->rho_contention);
	number_sum_add(&sums->rho, fairness->rho);
	number_sum_add(&sums->square, fairness->rho * fairness->rho);
	number_sum_add(&sums->contention, fairness->rho_contention);
}

static void
finish_means(FairnessFigures *figures, const FairnessSums *sums)
{
	double total = number_sum_total(&sums->rho);

	if (figures->n == 0)
		return;
	figures->mean = total / figures->n;
	figures->contention_mean = number_sum_total(&sums->contention) / figures->n;
	figures->jain = total * total / (figures->n * number_sum_total(&sums->square));
}

void
fairness_figures_init(FairnessFigures *figures, const Scenario *scenario, const RunRecord *record)
{
	const Workload *workload = scenario->workload;
	FairnessSums sums = { 0 };

	*figures = (FairnessFigures){ .sorted = g_new(double, workload->n_apps) };
	for (AppId i = 0; i < workload->n_apps; i++) {
		const App *app = &workload->apps[i];
		AppFairness fairness;

		if (!record->apps[i].has_life || !window_has(scenario, app->submit_ns))
			continue;
		fairness = app_fairness(scenario, app, &record->apps[i]);
		if (fairness.has_rho)
			add_app(figures, &sums, &fairness);
	}
	numbers_sort(figures->sorted, figures->n);
	finish_means(figures, &sums);
}

void
fairness_figures_clear(FairnessFigures *figures)
{
	g_clear_pointer(&figures->sorted, g_free);
}
