/* SPDX-License-Identifier: MIT */

/*
 * The simulator against queueing theory: mean response times of M/M/1 and M/M/c under fifo and of
 * M/G/1 under srtf lie within the 95 % confidence interval over 20 seeds. Jobs of the first tenth
 * warm the queue up and are not measured.
 */

#include <check.h>
#include <math.h>

#include "policies/registry.h"
#include "sim/base/rng.h"
#include "sim/engine/engine.h"

#define N_SEEDS  20
#define STUDENT  2.093 /* 97.5 % point for 19 degrees of freedom */
#define UTILISED 0.7

typedef enum ServiceLaw {
	SERVICE_EXPONENTIAL, /* mean 1 s */
	SERVICE_UNIFORM,     /* over [0, 2) s */
	SERVICE_BIMODAL,     /* 0.5 s with probability 0.9, 5.5 s else: mean 1 s */
} ServiceLaw;

static guint
n_jobs(void)
{
	return g_getenv("THEMIS_LONG") != NULL ? 200000 : 30000;
}

static double
exponential(double unit)
{
	return -log1p(-unit);
}

static double
service_s(ServiceLaw law, double unit)
{
	switch (law) {
	case SERVICE_EXPONENTIAL:
		return exponential(unit);
	case SERVICE_UNIFORM:
		return 2 * unit;
	case SERVICE_BIMODAL:
		return unit < 0.9 ? 0.5 : 5.5;
	}
	g_assert_not_reached();
}

static Workload *
draw_workload(guint64 seed, guint n_servers, ServiceLaw law)
{
	Problems *problems = problems_new("drawn");
	WorkloadBuilder *builder = workload_builder_new("drawn", problems);
	RngStream arrivals = rng_stream(seed, "arrivals");
	RngStream services = rng_stream(seed, "services");
	double rate = UTILISED * n_servers, at_s = 0;

	for (guint i = 0; i < n_jobs(); i++) {
		g_autofree char *name = g_strdup_printf("%u", i);
		JobDraft draft;

		job_draft_init(&draft);
		at_s += exponential(rng_unit(arrivals, i, 0)) / rate;
		draft.name = name;
		draft.num_gpus = 1;
		draft.submit_ns = (gint64)(at_s * NS_PER_S);
		draft.duration_ns = (SimWork)(service_s(law, rng_unit(services, i, 0)) * NS_PER_S);
		draft.line = i + 1;
		ck_assert(workload_builder_add(builder, &draft));
	}
	return workload_builder_finish(builder);
}

static double
mean_response_s(const Workload *workload, const RunRecord *record)
{
	guint from = workload->n_jobs / 10;
	double sum_s = 0;

	for (JobId job = from; job < workload->n_jobs; job++) {
		ck_assert_int_eq(record->jobs[job].state, JOB_FINISHED);
		sum_s += (double)(record->jobs[job].finish_ns - workload->jobs[job].submit_ns) /
		         NS_PER_S;
	}
	return sum_s / (workload->n_jobs - from);
}

static double
run_seed(guint64 seed, const char *policy_name, guint n_servers, ServiceLaw law)
{
	g_autofree char *shorthand = g_strdup_printf("1x%u", n_servers);
	g_autoptr(ClusterSpec) cluster = cluster_spec_parse_shorthand(shorthand, NULL);
	g_autoptr(ModelTable) models = model_table_new_empty();
	g_autoptr(Workload) workload = draw_workload(seed, n_servers, law);
	const PolicyClass *policy = policy_find(policy_name);
	void *options = options_new(policy->options, policy->options_size);
	Scenario scenario = { .workload = workload,
		              .cluster = cluster,
		              .models = models,
		              .window_to_ns = TIME_NEVER,
		              .stop_ns = TIME_NEVER,
		              .seed = seed };
	EngineSettings settings = { .is_strict = TRUE };
	g_autoptr(Engine) engine = NULL;
	g_autoptr(RunRecord) record = NULL;
	double mean_s;

	scenario_resolve(workload, cluster, models);
	engine = engine_new(&scenario, policy, options, &settings, NULL);
	record = engine_run(engine, NULL);
	ck_assert_ptr_nonnull(record);
	mean_s = mean_response_s(workload, record);
	options_free(policy->options, options);
	return mean_s;
}

/* Probability that an arrival waits in M/M/c (Erlang C) with @offered = lambda / mu. */
static double
erlang_c(guint n_servers, double offered)
{
	double blocking = 1;

	for (guint k = 1; k <= n_servers; k++)
		blocking = offered * blocking / (k + offered * blocking);
	return blocking / (1 - offered / n_servers * (1 - blocking));
}

static double
fifo_response_s(guint n_servers)
{
	double offered = UTILISED * n_servers;

	return 1 + erlang_c(n_servers, offered) / (n_servers - offered);
}

/* Density and distribution of the service laws that have a density. */
static double
density(ServiceLaw law, double x)
{
	return law == SERVICE_EXPONENTIAL ? exp(-x) : x < 2 ? 0.5 : 0;
}

static double
above(ServiceLaw law, double x)
{
	return law == SERVICE_EXPONENTIAL ? exp(-x) : x < 2 ? 1 - x / 2 : 0;
}

/* Schrage and Miller 1966: the mean response of M/G/1 under SRPT, integrated over sizes by the
 * midpoint rule. */
static double
srpt_response_s(ServiceLaw law)
{
	const double step = 1e-5, top = law == SERVICE_EXPONENTIAL ? 40 : 2;
	double load = 0, second_moment = 0, residence = 0, mean = 0;

	for (double x = step / 2; x < top; x += step) {
		double f = density(law, x), wait;

		load += UTILISED * x * f * step;
		second_moment += x * x * f * step;
		residence += step / (1 - load);
		wait = UTILISED * (second_moment + x * x * above(law, x)) /
		       (2 * (1 - load) * (1 - load));
		mean += (wait + residence) * f * step;
	}
	return mean;
}

/* The same for sizes a (probability p) and b: an a-job waits for the work of a-jobs and for what
 * is left of a b-job below a; a b-job as Schrage and Miller say, size by size. */
static double
srpt_bimodal_response_s(void)
{
	const double a = 0.5, b = 5.5, p = 0.9, rate = UTILISED;
	double load_a = rate * p * a;
	double moment_a = rate * (p * a * a + (1 - p) * a * a);
	double moment_b = rate * (p * a * a + (1 - p) * b * b);
	double load_b = load_a + rate * (1 - p) * b;
	/* Ties run in order of arrival, so that an a-job waits for those before it and not for
	 * those after: (1 - 0) (1 - load_a) below; likewise b. */
	double response_a = moment_a / (2 * (1 - load_a)) + a;
	double response_b =
	    moment_b / (2 * (1 - load_a) * (1 - load_b)) + a + (b - a) / (1 - load_a);

	return p * response_a + (1 - p) * response_b;
}

typedef struct Case {
	const char *policy;
	guint n_servers;
	ServiceLaw law;
} Case;

static const Case cases[] = {
	{ "fifo", 1, SERVICE_EXPONENTIAL },  { "fifo", 4, SERVICE_EXPONENTIAL },
	{ "fifo", 16, SERVICE_EXPONENTIAL }, { "srtf", 1, SERVICE_EXPONENTIAL },
	{ "srtf", 1, SERVICE_UNIFORM },      { "srtf", 1, SERVICE_BIMODAL },
};

static double
theory_s(const Case *row)
{
	if (g_strcmp0(row->policy, "fifo") == 0)
		return fifo_response_s(row->n_servers);
	if (row->law == SERVICE_BIMODAL)
		return srpt_bimodal_response_s();
	return srpt_response_s(row->law);
}

START_TEST(test_theory_is_inside_the_interval)
{
	const Case *row = &cases[_i];
	double sum = 0, squares = 0, mean, half_width, expected = theory_s(row);

	for (guint64 seed = 1; seed <= N_SEEDS; seed++) {
		double response_s = run_seed(seed, row->policy, row->n_servers, row->law);

		sum += response_s;
		squares += response_s * response_s;
	}
	mean = sum / N_SEEDS;
	half_width = STUDENT * sqrt((squares / N_SEEDS - mean * mean) / (N_SEEDS - 1));
	g_test_message("%s/%u/%d", row->policy, row->n_servers, row->law);
	ck_assert_msg(fabs(mean - expected) <= half_width,
	              "%s, %u servers, law %d: measured %.4f +- %.4f s, theory %.4f s", row->policy,
	              row->n_servers, row->law, mean, half_width, expected);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("queueing theory");
	TCase *tests = tcase_create("mean response");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	tcase_set_timeout(tests, 600);
	tcase_add_loop_test(tests, test_theory_is_inside_the_interval, 0, G_N_ELEMENTS(cases));
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed > 0;
}
