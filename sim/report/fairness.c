/* SPDX-License-Identifier: MIT */
#include "sim/report/fairness.h"

#include "sim/report/exact.h"
#include "sim/report/metrics.h"

const char *const fairness_names[N_FAIRNESS] = {
	[RHO_THEMIS] = "rho",
	[RHO_CAPPED] = "rho_capped",
	[RHO_CONTENTION] = "rho_contention",
	[RHO_GAVEL] = "rho_gavel",
	[RHO_SIA] = "rho_sia",
	[RHO_SHOCKWAVE_STATIC] = "rho_shockwave_static",
	[RHO_SHOCKWAVE_THEMIS] = "rho_shockwave_themis",
	[RECEIVED_RATIO] = "received_ratio",
};

FairnessBase
fairness_base(const Scenario *scenario)
{
	FairnessBase base = { .scenario = scenario, .n_gpus = scenario->cluster->n_gpus };

	for (AppId i = 0; i < scenario->workload->n_apps; i++)
		base.n_gpu_jobs += scenario->workload->apps[i].n_gpu_jobs;
	return base;
}

/* How fast a job goes on the GPUs of the cluster, on the mean over all of them and over those that
 * will do; where it cannot run it goes at 0. */
typedef struct TypeSpeeds {
	double of_all, of_usable;
} TypeSpeeds;

static TypeSpeeds
type_speeds(const Scenario *scenario, const Job *job)
{
	const ClusterSpec *cluster = scenario->cluster;
	double sum = 0, n_usable = 0;

	if (job->model == MODEL_NONE && job->gpu_types == GPU_TYPE_ANY)
		return (TypeSpeeds){ 1, 1 };
	for (guint type = 0; type < cluster->n_types; type++) {
		gint64 ppb = speed_type_ppb(scenario->models, cluster, job, type);

		if (((job->gpu_types >> type) & 1) == 0 || ppb == 0)
			continue;
		sum += cluster->types[type].n_gpus * ((double)ppb / SPEED_ONE_PPB);
		n_usable += cluster->types[type].n_gpus;
	}
	return (TypeSpeeds){ sum / cluster->n_gpus, sum / n_usable };
}

/* The same of an app: the mean over its work of the time that a unit of it takes, inverted. All of
 * the work, also where a tuner cuts some of it off: trials of one app are of one model. */
static TypeSpeeds
app_type_speeds(const Scenario *scenario, const App *app)
{
	double work = 0, all = 0, usable = 0;

	for (guint32 i = 0; i < app->n_jobs; i++) {
		const Job *job = &scenario->workload->jobs[app->jobs[i]];
		SimWork duration_ns = scenario->workload->duration_ns[job->id];
		double own = (double)job_held_milli(job, job->num_gpus) * (double)duration_ns;
		TypeSpeeds speeds;

		if (own == 0)
			continue;
		speeds = type_speeds(scenario, job);
		work += own;
		all += own / speeds.of_all;
		usable += own / speeds.of_usable;
	}
	return (TypeSpeeds){ work / all, work / usable };
}

static void
find_values(AppFairness *fairness, const FairnessBase *base, const App *app, const AppRecord *done)
{
	TypeSpeeds speeds = app_type_speeds(base->scenario, app);
	double *values = fairness->values;
	double shared_ns = (double)fairness->shared_ns;
	double work = (double)app_work(app, done) / GPU_MILLI; /* GPU-ns */
	double demand = (double)app_demand_milli(app, done) / GPU_MILLI;
	double part = MIN(base->n_gpus / done->n_avg, demand);
	double alone_ns = work / MIN(base->n_gpus, demand);

	values[RHO_THEMIS] = shared_ns / (alone_ns * done->n_avg);
	values[RHO_CAPPED] = shared_ns / (work / part);
	values[RHO_CONTENTION] = shared_ns / (alone_ns * done->contention);
	values[RHO_GAVEL] = shared_ns * speeds.of_all / (work / base->n_gpus * done->n_at_work);
	values[RHO_SIA] = shared_ns * speeds.of_usable / (work / part);
	values[RHO_SHOCKWAVE_STATIC] =
	    shared_ns / (alone_ns * MAX(1, base->n_gpu_jobs / base->n_gpus));
	values[RHO_SHOCKWAVE_THEMIS] =
	    shared_ns / (alone_ns * MAX(1, done->n_jobs_avg / base->n_gpus));
	values[RECEIVED_RATIO] = (double)done->service / GPU_MILLI / (shared_ns * part);
}

double
app_alone_s(const Scenario *scenario, const App *app, const AppRecord *done)
{
	guint64 cluster_milli = (guint64)scenario->cluster->n_gpus * GPU_MILLI;
	guint64 usable_milli = MIN(cluster_milli, app_demand_milli(app, done));

	return (double)app_work(app, done) / (double)usable_milli / (double)NS_PER_S;
}

AppFairness
app_fairness(const FairnessBase *base, const App *app, const AppRecord *done)
{
	AppFairness fairness = { .shared_ns = done->finish_ns - app->submit_ns };

	fairness.has_isolated = app_demand_milli(app, done) > 0;
	if (!fairness.has_isolated)
		return fairness;
	fairness.independent_s = app_alone_s(base->scenario, app, done) * done->n_avg;
	fairness.has_rho = fairness.independent_s > 0;
	if (fairness.has_rho)
		find_values(&fairness, base, app, done);
	return fairness;
}

static void
add_measured(MeasuredApps *measured, AppId app, const AppFairness *fairness)
{
	for (Fairness variant = 0; variant < N_FAIRNESS; variant++)
		if (measured->values[variant])
			measured->values[variant][measured->n] = fairness->values[variant];
	measured->apps[measured->n++] = app;
}

void
measured_apps_init(MeasuredApps *measured, const Scenario *scenario, const RunRecord *record,
                   guint wanted)
{
	const Workload *workload = scenario->workload;
	FairnessBase base = fairness_base(scenario);

	*measured = (MeasuredApps){ .apps = g_new(AppId, workload->n_apps) };
	for (Fairness variant = 0; variant < N_FAIRNESS; variant++)
		if (wanted >> variant & 1)
			measured->values[variant] = g_new(double, workload->n_apps);
	for (AppId i = 0; i < workload->n_apps; i++) {
		AppFairness fairness;

		if (!record->apps[i].has_life || !window_has(scenario, workload->apps[i].submit_ns))
			continue;
		fairness = app_fairness(&base, &workload->apps[i], &record->apps[i]);
		if (fairness.has_rho)
			add_measured(measured, i, &fairness);
	}
}

void
measured_apps_clear(MeasuredApps *measured)
{
	g_clear_pointer(&measured->apps, g_free);
	for (Fairness variant = 0; variant < N_FAIRNESS; variant++)
		g_clear_pointer(&measured->values[variant], g_free);
}

Distribution
measured_distribution(const MeasuredApps *measured, Fairness variant)
{
	g_autofree double *sorted =
	    g_memdup2(measured->values[variant], measured->n * sizeof *sorted);

	numbers_sort(sorted, measured->n);
	return distribution_of(sorted, measured->n);
}
