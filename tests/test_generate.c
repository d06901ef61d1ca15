/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "sim/base/error.h"
#include "tests/trace_text.h"
#include "traces/generate.h"
#include "traces/generate_spec.h"
#include "traces/variate.h"
#include "traces/write_native.h"

static Workload *
generate(const char *spec)
{
	g_autoptr(GError) error = NULL;
	Workload *workload;

	put_text("spec.yaml", spec);
	workload = trace_generate("spec.yaml", NULL, NULL, &error);
	ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
	return workload;
}

static char *
generate_to_text(const char *spec)
{
	g_autoptr(Workload) workload = generate(spec);
	GString *text = g_string_new(NULL);

	trace_append_native(text, workload);
	return g_string_free(text, FALSE);
}

/* Variates */

START_TEST(computes_logarithms_and_powers)
{
	const RngStream stream = rng_stream(1, "test");

	for (guint i = 0; i < 100000; i++) {
		double x = ldexp(rng_unit(stream, i, 0) + 0x1p-53, (int)(i % 200) - 100);
		double y = rng_unit(stream, i, 1) * 1400 - 700;

		ck_assert_double_le(fabs(variate_log(x) - log(x)), 4e-16 * fmax(1, fabs(log(x))));
		ck_assert_double_le(fabs(variate_exp(y) / exp(y) - 1), 1e-15);
	}
	ck_assert(variate_log(1) == 0);
	ck_assert(variate_exp(0) == 1);
	ck_assert(variate_exp(-1000) == 0);
	ck_assert(isinf(variate_exp(1000)));
}
END_TEST

/* Against the C library's error function, and each against the other. */
START_TEST(computes_normal_parts)
{
	const RngStream stream = rng_stream(1, "test");

	for (guint i = 0; i < 20000; i++) {
		double z = rng_unit(stream, i, 0) * 16 - 8, unit = rng_unit(stream, i, 1);

		ck_assert_double_le(fabs(variate_normal_cdf(z) - erfc(-z / sqrt(2)) / 2), 5e-15);
		ck_assert_double_le(fabs(variate_normal_cdf(variate_normal_quantile(unit)) - unit),
		                    1e-14);
	}
	ck_assert(variate_normal_cdf(0) == 0.5);
	ck_assert(variate_normal_cdf(-9) == 0);
	ck_assert(variate_normal_cdf(9) == 1);
	ck_assert(variate_normal_quantile(0.5) == 0);
	ck_assert_double_le(variate_normal_quantile(0), -8);
	ck_assert_double_ge(variate_normal_quantile(1 - 0x1p-53), 7.5);
}
END_TEST

#define N_DRAWS 200000

static VariatePoint test_points[] = { { 1, 0.25 }, { 3, 0.5 }, { 3, 0.75 }, { 11, 1 } };

/* Where quarters of the draws must lie. */
static const struct {
	Variate variate;
	double quartiles[3];
	double tolerance;
} variate_cases[] = {
	{ { .kind = VARIATE_CONSTANT, .first = 7, .most = HUGE_VAL }, { 7, 7, 7 }, 0 },
	{ { .kind = VARIATE_UNIFORM, .first = 10, .second = 20, .most = HUGE_VAL },
	  { 12.5, 15, 17.5 },
	  0.01 },
	{ { .kind = VARIATE_EXPONENTIAL, .first = 100, .most = HUGE_VAL },
	  { 28.768, 69.315, 138.629 },
	  0.02 },
	{ { .kind = VARIATE_LOGNORMAL, .first = 100, .second = 2, .most = HUGE_VAL },
	  { 25.95, 100, 385.3 },
	  0.03 },
	{ { .kind = VARIATE_PARETO, .first = 10, .second = 2, .most = HUGE_VAL },
	  { 11.547, 14.142, 20 },
	  0.02 },
	{ { .kind = VARIATE_UNIFORM, .first = 0, .second = 4, .least = 1.5, .most = 2.5 },
	  { 1.5, 2, 2.5 },
	  0.01 },
	/* Between its points a CDF is straight. */
	{ { .kind = VARIATE_CDF, .most = HUGE_VAL }, { 1, 3, 3 }, 0.01 },
	{ { .kind = VARIATE_CHOICE, .most = HUGE_VAL }, { 1, 3, 3 }, 0 },
};

static int
compare_doubles(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return a < b ? -1 : a > b;
}

START_TEST(draws)
{
	const RngStream stream = rng_stream(7, "draws");
	g_autofree double *values = g_new(double, N_DRAWS);
	Variate variate = variate_cases[_i].variate;

	if (variate.kind == VARIATE_CDF || variate.kind == VARIATE_CHOICE) {
		variate.points = g_array_new(FALSE, FALSE, sizeof(VariatePoint));
		g_array_append_vals(variate.points, test_points, G_N_ELEMENTS(test_points));
	}
	for (guint i = 0; i < N_DRAWS; i++)
		values[i] = variate_draw(&variate, stream, i);
	qsort(values, N_DRAWS, sizeof(double), compare_doubles);
	/* A little to the side of a quarter, where a distribution of points has its steps. */
	for (guint i = 0; i < 3; i++) {
		double wanted = variate_cases[_i].quartiles[i];
		double found = values[(i + 1) * N_DRAWS / 4 - N_DRAWS / 200];
		double slack = variate_cases[_i].tolerance * wanted;

		if (variate.kind != VARIATE_CDF && variate.kind != VARIATE_CHOICE)
			found = values[(i + 1) * N_DRAWS / 4];
		else
			slack += 0.2 * (variate.kind == VARIATE_CDF);
		ck_assert_double_le(fabs(found - wanted), slack);
	}
	variate_clear(&variate);
}
END_TEST

/* Traces */

#define MIXED                                                 \
	"seed: 6\n"                                           \
	"apps: 4\n"                                           \
	"start_s: 1000\n"                                     \
	"arrivals: {interarrival_s: 600}\n"                   \
	"jobs_per_app: {choice: [[1, 1], [3, 1]]}\n"          \
	"job_gap_s: {uniform: {from: 0, to: 5}}\n"            \
	"num_gpus: {choice: [[2, 1], [4, 1]], per: app}\n"    \
	"duration_min: {lognormal: {median: 10, sigma: 1}}\n" \
	"models: {vgg16: 1, lm: 3}\n"

static const struct {
	const char *spec;
	const char *expected;
} text_cases[] = {
	/* The same on every host, to the millisecond. */
	{ MIXED, "job_id,submit_time,num_gpus,duration,app_id,model\n"
	         "app1-1,2390.626,2,719.344,app1,vgg16\n"
	         "app1-2,2391.55,2,285.8,app1,vgg16\n"
	         "app1-3,2391.963,2,1195.054,app1,vgg16\n"
	         "app2-1,2450.103,4,2622.372,app2,lm\n"
	         "app2-2,2452.552,4,522.085,app2,lm\n"
	         "app2-3,2457.073,4,386.607,app2,lm\n"
	         "app3-1,3014.418,4,29884.769,app3,lm\n"
	         "app3-2,3017.024,4,251.742,app3,lm\n"
	         "app3-3,3020.652,4,1188.45,app3,lm\n"
	         "app4-1,3304.05,2,619.151,app4,vgg16\n" },
	{ "jobs: 3\narrivals: {process: fixed, rate_per_h: 60}\nduration_s: 7\n",
	  "job_id,submit_time,num_gpus,duration\njob1,0,1,7\njob2,60,1,7\njob3,120,1,7\n" },
	{ "jobs: 3\narrivals: {process: at-once}\nduration_h: 1\nstart_s: 5.5\nmax_gpus: 2\n",
	  "job_id,submit_time,num_gpus,duration,min_gpus,max_gpus\njob1,5.5,1,3600,1,2\n"
	  "job2,5.5,1,3600,1,2\njob3,5.5,1,3600,1,2\n" },
	{ "jobs: 5\njobs_per_app: 2\narrivals: {process: fixed, interarrival_s: 10}\njob_gap_s: "
	  "15\n"
	  "num_gpus: 4\nwork_gpu_min: 1\nmin_gpus: 1\nusers: 1\n",
	  "job_id,submit_time,num_gpus,duration,app_id,user,min_gpus,max_gpus\n"
	  "app1-1,0,4,15,app1,user1,1,4\napp2-1,10,4,15,app2,user1,1,4\n"
	  "app1-2,15,4,15,app1,user1,1,4\napp3-1,20,4,15,app3,user1,1,4\n"
	  "app2-2,25,4,15,app2,user1,1,4\n" },
	{ "jobs: 3\narrivals: {process: fixed, interarrival_s: 0.7}\nduration_s: 2.5\n"
	  "resolution_s: 1\n",
	  "job_id,submit_time,num_gpus,duration\njob1,0,1,3\njob2,1,1,3\njob3,1,1,3\n" },
	{ "jobs: 2\narrivals: {process: fixed, interarrival_s: 9}\nduration_s: 100\nnum_gpus: 2\n"
	  "load: {target: 0.5, gpus: 8}\n",
	  "job_id,submit_time,num_gpus,duration\njob1,0,2,100\njob2,50,2,100\n" },
	{ "jobs: 2\njobs_per_app: 2\narrivals: {process: at-once}\nduration_s: 50\n"
	  "tuner: successive-halving:phases=2\nloss: {start: 2.3, end: 0.45, half_frac: 0.1}\n",
	  "job_id,submit_time,num_gpus,duration,app_id,tuner,loss_curve\n"
	  "app1-1,0,1,50,app1,\"successive-halving:eta=2,phases=2,work=[],widen=true\","
	  "2.3:0.45:5\n"
	  "app1-2,0,1,50,app1,\"successive-halving:eta=2,phases=2,work=[],widen=true\","
	  "2.3:0.45:5\n" },
	/* Losses of no use to anybody, and half a loss's way in no time is one in the shortest. */
	{ "jobs: 1\narrivals: {process: at-once}\nduration_s: 50\nresolution_s: 0.5\ntuner: none\n"
	  "loss: {start: 1.23456789, end: 2, half_frac: 0}\n",
	  "job_id,submit_time,num_gpus,duration,loss_curve\njob1,0,1,50,1.23456789:2:0.001\n" },
	{ "jobs: 2\narrivals: {process: fixed, interarrival_s: 9}\nduration_s: 100\nnum_gpus: 2\n"
	  "load: {target: 0.5, cluster: 2x4}\n",
	  "job_id,submit_time,num_gpus,duration\njob1,0,2,100\njob2,50,2,100\n" },
};

START_TEST(makes)
{
	g_autofree char *found = generate_to_text(text_cases[_i].spec);

	ck_assert_str_eq(found, text_cases[_i].expected);
}
END_TEST

/* The sample is what the program makes of its spec, on this host as on the one it was made on. */
START_TEST(makes_the_sample)
{
	g_autofree char *spec = project_file("traces/samples/themis-85.yaml");
	g_autofree char *sample = project_file("traces/samples/themis-85.csv");
	g_autoptr(Workload) workload = trace_generate(spec, NULL, NULL, NULL);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *wanted = NULL;

	ck_assert_ptr_nonnull(workload);
	trace_append_native(text, workload);
	ck_assert(g_file_get_contents(sample, &wanted, NULL, NULL));
	ck_assert_msg(g_str_equal(text->str, wanted),
	              "traces/samples/themis-85.csv is not what its spec makes: run themis-sim "
	              "trace generate");
	ck_assert_uint_eq(workload->n_apps, 85);
}
END_TEST

START_TEST(reads_what_it_makes)
{
	const TraceOptions options = { "auto", NULL, FALSE };
	g_autofree char *text = generate_to_text(MIXED);
	g_autofree char *again = NULL;

	put_text("t.csv", text);
	again = read_to_text("t.csv", &options);
	ck_assert_str_eq(again, text);
}
END_TEST

/* Columns @n of the rows of @text, one a line. */
static char *
column_of(const char *text, guint n)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	GString *column = g_string_new(NULL);

	for (guint i = 0; lines[i] && lines[i][0]; i++) {
		g_auto(GStrv) cells = g_strsplit(lines[i], ",", -1);

		g_string_append_printf(column, "%s\n", cells[n]);
	}
	return g_string_free(column, FALSE);
}

#define TUNED                                                               \
	"tuner: {none: 1, asha: 1, hyperdrive: 2}\n"                        \
	"loss: {start: {uniform: {from: 2, to: 3}}, half_frac: 0.2, end: {" \
	"lognormal: {median: 0.5, sigma: 0.3}, alike: 0.5}}\n"

/* What is added to a spec, and the columns that it may not move. */
static const struct {
	const char *added;
	guint columns[4];
} stream_cases[] = {
	{ "users: 7\n", { 0, 1, 2, 3 } },
	{ "tenants: {a: 1, b: 2}\ngroups: 3\ngpu_types: {v100: 1, k80: 1}\n", { 0, 1, 2, 3 } },
	{ "min_gpus: {choice: [[1, 1], [2, 1]]}\n", { 0, 1, 2, 3 } },
	{ TUNED, { 0, 1, 2, 3 } },
};

START_TEST(keeps_streams_apart)
{
	g_autofree char *before = generate_to_text(MIXED);
	g_autofree char *spec = g_strconcat(MIXED, stream_cases[_i].added, NULL);
	g_autofree char *after = generate_to_text(spec);

	ck_assert_str_ne(before, after);
	for (guint i = 0; i < G_N_ELEMENTS(stream_cases[_i].columns); i++) {
		g_autofree char *one = column_of(before, stream_cases[_i].columns[i]);
		g_autofree char *other = column_of(after, stream_cases[_i].columns[i]);

		ck_assert_str_eq(one, other);
	}
}
END_TEST

/* Apps by weight; of a curve, start, end and half are drawn one by one, and so are those of two
 * jobs unless they are alike. */
START_TEST(draws_searches)
{
	g_autoptr(Workload) workload = generate(
	    "apps: 1000\ndraws: even\njobs_per_app: 2\narrivals: {process: at-once}\n"
	    "duration_s: 1000\n"
	    "tuner: {none: 1, hyperdrive: 3, \"successive-halving:eta=4\": 6}\n"
	    "loss: {start: {uniform: {from: 2, to: 3}, per: app},\n"
	    "       end: {uniform: {from: 0, to: 1}}, half_frac: {uniform: {from: 0, to: 1}}}\n");
	guint n_by_kind[5] = { 0 }, n_low[4] = { 0 };

	for (guint i = 0; i < workload->n_apps; i++) {
		const App *app = &workload->apps[i];
		const LossCurve *one = workload->jobs[app->jobs[0]].loss;
		const LossCurve *other = workload->jobs[app->jobs[1]].loss;

		n_by_kind[app->tuner ? app->tuner->kind : TUNER_NONE]++;
		ck_assert(one->start == other->start && one->start >= 2 && one->start <= 3);
		n_low[0] += one->start < 2.5 && one->end < 0.5;
		n_low[1] += one->end < 0.5 && one->half_ns < 500 * NS_PER_S;
		n_low[2] += one->end < 0.5 && other->end < 0.5;
		n_low[3] += one->start < 2.5 && one->half_ns < 500 * NS_PER_S;
	}
	ck_assert_uint_eq(n_by_kind[TUNER_NONE], 100);
	ck_assert_uint_eq(n_by_kind[TUNER_HYPERDRIVE], 300);
	ck_assert_uint_eq(n_by_kind[TUNER_SUCCESSIVE_HALVING], 600);
	/* A quarter of 1000 lies both low if they are independent; three sigma are 41. */
	for (guint i = 0; i < G_N_ELEMENTS(n_low); i++)
		ck_assert_int_le(abs((int)n_low[i] - 250), 41);
}
END_TEST

/* More jobs in one app are no other numbers for the next. */
START_TEST(keeps_apps_apart)
{
	static const char spec[] = "apps: 2\narrivals: {interarrival_s: 600}\n"
	                           "duration_s: {exponential: {mean: 100}}\njobs_per_app: ";
	g_autofree char *one_spec = g_strconcat(spec, "1\n", NULL);
	g_autofree char *two_spec = g_strconcat(spec, "2\n", NULL);
	g_autofree char *one = generate_to_text(one_spec);
	g_autofree char *two = generate_to_text(two_spec);
	g_auto(GStrv) lines = g_strsplit(one, "\n", -1);

	for (guint i = 1; lines[i] && lines[i][0]; i++)
		ck_assert_ptr_nonnull(strstr(two, lines[i]));
}
END_TEST

START_TEST(takes_a_seed)
{
	const guint64 seeds[] = { 6, 7 };
	g_autofree char *wanted = generate_to_text(MIXED);

	for (guint i = 0; i < G_N_ELEMENTS(seeds); i++) {
		g_autoptr(Workload) workload = trace_generate("spec.yaml", &seeds[i], NULL, NULL);
		g_autoptr(GString) text = g_string_new(NULL);

		trace_append_native(text, workload);
		ck_assert_int_eq(g_str_equal(text->str, wanted), seeds[i] == 6);
	}
}
END_TEST

START_TEST(arrives_in_bursts_alone)
{
	g_autoptr(Workload) workload =
	    generate("jobs: 5000\nduration_s: 1\narrivals:\n  process: bursts\n  period_s: 7200\n"
	             "  rates: [{from_s: 0, per_h: 0}, {from_s: 3600, per_h: 300}, {from_s: 3660, "
	             "per_h: 0}, {from_s: 7000, per_h: 100}]\n");
	guint n_first = 0;

	for (guint i = 0; i < workload->n_jobs; i++) {
		gint64 at_ns = workload->origin_ns + workload->jobs[i].submit_ns;
		double at_s = (double)(at_ns % (7200 * NS_PER_S)) / 1e9;

		ck_assert((at_s >= 3600 && at_s <= 3660) || at_s >= 7000 || at_s == 0);
		n_first += at_s >= 3600 && at_s <= 3660;
	}
	/* 60 s x 300/h beside 200 s x 100/h. */
	ck_assert_double_le(fabs(n_first / 5000.0 - 18.0 / 38.0), 0.03);
}
END_TEST

static const struct {
	const char *arrivals;
	double mean_s;
} mean_cases[] = {
	{ "{rate_per_h: 120}", 30 },
	{ "{process: poisson, interarrival_s: 12.5}", 12.5 },
	{ "{process: bursts, rates: [{from_s: 0, per_h: 60}, {from_s: 60, per_h: 7200}]}", 0.5 },
};

START_TEST(arrives_at_the_rate)
{
	g_autofree char *spec = g_strconcat(
	    "jobs: 100000\nduration_s: 1\narrivals: ", mean_cases[_i].arrivals, "\n", NULL);
	g_autoptr(Workload) workload = generate(spec);
	double span_s = (double)workload->jobs[workload->n_jobs - 1].submit_ns / 1e9;
	double mean_s = span_s / (workload->n_jobs - 1);

	ck_assert_double_le(fabs(mean_s / mean_cases[_i].mean_s - 1), 0.02);
}
END_TEST

START_TEST(offers_the_load)
{
	g_autoptr(Workload) workload =
	    generate("jobs: 100000\nduration_s: {exponential: {mean: 5000}}\n"
	             "num_gpus: {choice: [[1, 7], [8, 3]]}\n"
	             "arrivals: {process: bursts, period_s: 3600, rates: [{from_s: 0, per_h: 50}, "
	             "{from_s: 1800, per_h: 1}]}\nload: {target: 0.8, gpus: 100}\n");
	GpuTime work = 0;
	double span_s = (double)workload->jobs[workload->n_jobs - 1].submit_ns / 1e9;

	for (guint i = 0; i < workload->n_apps; i++)
		work += workload->apps[i].work;
	ck_assert_double_le(fabs((double)(work / GPU_TIME_PER_GPU_S) / (span_s * 100) - 0.8), 0.02);
}
END_TEST

/* A scale multiplies all that is drawn, bounds and all: durations in whole ms, so that those of
 * twice as much are up to 1 ms off twice as much. */
static const char *const scale_cases[] = {
	"constant: 3",
	"choice: [[1, 1], [5, 2]]",
	"cdf: [[1, 0.1], [5, 1]]",
	"uniform: {from: 1, to: 9}",
	"exponential: {mean: 60}",
	"lognormal: {median: 60, sigma: 1.5}",
	"pareto: {least: 60, shape: 1.2}",
	"exponential: {mean: 60}, min: 30, max: 70",
};

START_TEST(scales)
{
	static const char spec[] = "jobs: 200\narrivals: {process: at-once}\nduration_s: ";
	const char *sets[] = { "duration_s.scale=2", NULL };
	g_autofree char *text = g_strdup_printf("%s{scale: 1, %s}\n", spec, scale_cases[_i]);
	g_autoptr(Workload) plain = generate(text);
	g_autoptr(Workload) twice = trace_generate("spec.yaml", NULL, sets, NULL);

	for (guint i = 0; i < plain->n_jobs; i++)
		ck_assert_int_le(llabs(twice->duration_ns[i] - 2 * plain->duration_ns[i]),
		                 NS_PER_S / 1000);
}
END_TEST

/* Specs */

#define GOOD "jobs: 1\narrivals: {process: at-once}\nduration_s: 1\n"

static const struct {
	const char *spec;
	const char *error;
} bad_cases[] = {
	{ "", "spec.yaml:1:1: found neither jobs nor apps, or both, wanted one of them\n"
	      "spec.yaml:1:1: found no arrivals, wanted it here\n"
	      "spec.yaml:1:1: found no length of a job, wanted one of duration_s, duration_min, "
	      "duration_h, work_gpu_s, work_gpu_min, work_gpu_h" },
	{ GOOD "aps: 3\n",
	  "spec.yaml:4:1: found the unknown key \"aps\", wanted perhaps \"apps\"" },
	{ GOOD "apps: 3\n",
	  "spec.yaml:1:1: found neither jobs nor apps, or both, wanted one of them" },
	{ GOOD "duration_h: 1\n", "spec.yaml:1:1: found two keys for a job's length, wanted one" },
	{ GOOD "seed: -1\n", "spec.yaml:4:7: found \"-1\" for seed, wanted a whole number of at "
	                     "least 0" },
	{ GOOD "num_gpus: -1\n",
	  "spec.yaml:4:11: found \"-1\" for num_gpus, wanted a number from 0 to 1000000000, or a "
	  "mapping such as {uniform: {from: 1, to: 9}}" },
	{ GOOD "num_gpus: {choice: []}\n",
	  "spec.yaml:4:20: found a list for choice, wanted a list of pairs [value, number]" },
	{ GOOD "num_gpus: {choice: [[1, 0], [2, 0]]}\n",
	  "spec.yaml:4:20: found no weight above 0, wanted one" },
	{ GOOD "num_gpus: {choice: [[1, 2, 3]]}\n",
	  "spec.yaml:4:21: found a list for choice, wanted a pair [value, number] of numbers from "
	  "0 to "
	  "1000000000" },
	{ GOOD "num_gpus: {cdf: [[1, 0.5], [2, 0.9]]}\n",
	  "spec.yaml:4:17: found points in another order, wanted values and parts that never fall, "
	  "and "
	  "1 as the last part" },
	{ GOOD "num_gpus: {cdf: [[2, 0.5], [1, 1]]}\n",
	  "spec.yaml:4:17: found points in another order, wanted values and parts that never fall, "
	  "and "
	  "1 as the last part" },
	{ GOOD "num_gpus: {unifrm: {from: 1, to: 2}}\n",
	  "spec.yaml:4:12: found the unknown key \"unifrm\", wanted perhaps \"uniform\"" },
	{ GOOD "num_gpus: {uniform: {from: 3, to: 2}}\n",
	  "spec.yaml:4:21: found `to` below `from`, wanted the reverse" },
	{ GOOD "num_gpus: {uniform: {from: 3}}\n", "spec.yaml:4:21: found no to, wanted it here" },
	{ GOOD "num_gpus: {exponential: {}}\n", "spec.yaml:4:25: found no mean, wanted it here" },
	{ GOOD "num_gpus: {per: app}\n",
	  "spec.yaml:4:11: found no distribution, or several, wanted one of constant, choice, cdf, "
	  "uniform, exponential, lognormal, pareto" },
	{ GOOD "num_gpus: {constant: 1, per: user}\n",
	  "spec.yaml:4:30: found \"user\" for per, wanted app or job" },
	{ GOOD "users: {a: 0}\n", "spec.yaml:4:8: found no weight above 0, wanted one" },
	{ GOOD "load: {target: 1}\n",
	  "spec.yaml:4:7: found something else, wanted a target, and gpus or a cluster" },
	{ GOOD "load: {target: 1, gpus: 8}\n",
	  "spec.yaml:4:7: found arrivals without a mean rate, wanted a rate, or bursts with a "
	  "period_s" },
	{ "jobs: 1\nduration_s: 1\narrivals: {process: burst}\n",
	  "spec.yaml:3:21: found \"burst\" for process, wanted at-once, fixed, poisson, bursts or "
	  "drawn" },
	{ "jobs: 1\nduration_s: 1\narrivals: {process: fixed}\n",
	  "spec.yaml:3:11: found no rate, or two, wanted one of interarrival_s and rate_per_h" },
	{ "jobs: 1\nduration_s: 1\narrivals: {process: bursts}\n",
	  "spec.yaml:3:11: found no list of rates, wanted one such as [{from_s: 0, per_h: 6}, "
	  "...]" },
	{ "jobs: 1\nduration_s: 1\narrivals: {process: bursts, rates: [{from_s: 1, per_h: 6}]}\n",
	  "spec.yaml:3:37: found from_s out of order, wanted 0 first and then later ones" },
	{ "jobs: 1\nduration_s: 1\narrivals: {process: bursts, rates: [{from_s: 0, per_h: 0}]}\n",
	  "spec.yaml:3:11: found no rate above 0, wanted one" },
	{ "jobs: 1\nduration_s: 1\narrivals: {process: bursts, rates: [{from_s: 0, per_h: 1}, "
	  "{from_s: 5, per_h: 0}]}\n",
	  "spec.yaml:3:11: found 0 as the last rate, wanted more, or a period_s" },
	{ "jobs: 1\nduration_s: 1\narrivals: {process: bursts, period_s: 5, rates: [{from_s: 0, "
	  "per_h: 1}, {from_s: 5, per_h: 0}]}\n",
	  "spec.yaml:3:11: found a period_s that ends before the last rate begins, wanted more" },
	{ "jobs: 1\nduration_s: 1\narrivals: {process: drawn}\n",
	  "spec.yaml:3:11: found no at_h, wanted it here" },
	{ GOOD "draws: evn\n",
	  "spec.yaml:4:8: found \"evn\" for draws, wanted even or independent" },
	{ GOOD "draws: even\n",
	  "spec.yaml:1:1: found even draws without a number of apps, wanted one" },
	{ GOOD "num_gpus: {uniform: {from: 1, to: 2}, with_jobs: 0.5}\n",
	  "spec.yaml:4:11: found with_jobs without alike, wanted both" },
	{ GOOD "num_gpus: {uniform: {from: 1, to: 2}, per: app, alike: 0.5}\n",
	  "spec.yaml:4:11: found alike beside `per: app`, wanted one of them" },
	{ GOOD "num_gpus: {uniform: {from: 1, to: 2}, alike: 1.5}\n",
	  "spec.yaml:4:46: found \"1.5\" for alike, wanted a number from 0 to 1" },
	{ GOOD "num_gpus: {uniform: {from: 1, to: 2}, alike: 0.5, with_jobs: 0.5}\n"
	       "jobs_per_app: {lognormal: {median: 3, sigma: 1}}\n",
	  "spec.yaml:1:1: found with_jobs where jobs_per_app is lognormal, wanted `draws: even`, "
	  "or "
	  "another distribution" },
	{ GOOD "models: {a: {share: 1}}\n", "spec.yaml:4:13: found no of, wanted it here" },
	{ GOOD "models: {a: {share: 1, of: {b: 0}}}\n",
	  "spec.yaml:4:13: found no weight above 0, wanted one" },
	{ GOOD "models: {a: {share: 1, of: 3}}\n",
	  "spec.yaml:4:28: found \"3\" for of, wanted names with weights" },
	{ GOOD "models: {a: {share: 1, of: {b: 1}}, c: 2}\n",
	  "spec.yaml:4:40: found \"2\", wanted a mapping of keys to values" },
	{ GOOD "tuner: [asha]\n",
	  "spec.yaml:4:8: found a list for tuner, wanted a tuner, or tuners with weights" },
	{ GOOD "tuner: hyperdriv\n",
	  "spec.yaml:4:8: found the unknown tuner \"hyperdriv\", wanted perhaps hyperdrive" },
	{ GOOD "tuner: {none: 1, \"asha:eta=1\": 1}\n",
	  "spec.yaml:4:18: found \"1\" for eta, wanted a whole number from 2 to 1000" },
	{ GOOD "tuner: {none: 0}\n", "spec.yaml:4:8: found no weight above 0, wanted one" },
	{ GOOD "tuner: asha\n",
	  "spec.yaml:4:8: found a tuner that compares losses, wanted loss: {start: .., end: .., "
	  "half_frac: ..} beside it" },
	{ GOOD "loss: 3\n", "spec.yaml:4:7: found \"3\", wanted a mapping of keys to values" },
	{ GOOD "loss: {start: 2, half_frac: 1}\n", "spec.yaml:4:7: found no end, wanted it here" },
	{ GOOD "loss: {start: 2, end: x, half_frac: 1}\n",
	  "spec.yaml:4:23: found \"x\" for end, wanted a number from 0 to 1000000000, or a "
	  "mapping such as {uniform: {from: 1, to: 9}}" },
	{ GOOD "num_gpus: {constant: 1, scale: 0}\n",
	  "spec.yaml:4:32: found \"0\" for scale, wanted a number from 0.000001 to 1000000" },
	{ GOOD "min_gpus: 2\n",
	  "spec.yaml: job \"job1\": found min_gpus 2 above num_gpus 1, wanted at most that many" },
	{ "jobs: 100\nduration_s: 1\narrivals: {process: fixed, interarrival_s: 1000000000}\n",
	  "spec.yaml: found arrivals beyond the clock from job 11 on, wanted a higher rate" },
};

START_TEST(refuses)
{
	g_autoptr(GError) error = NULL;

	put_text("spec.yaml", bad_cases[_i].spec);
	ck_assert_ptr_null(trace_generate("spec.yaml", NULL, NULL, &error));
	ck_assert_str_eq(error->message, bad_cases[_i].error);
	ck_assert_int_eq(error->code, SIM_ERROR_INPUT);
}
END_TEST

/* Even draws, and what jobs of an app have in common */

static guint
count_wide(const Workload *workload)
{
	guint n = 0;

	for (guint i = 0; i < workload->n_apps; i++)
		n += workload->jobs[workload->apps[i].jobs[0]].num_gpus == 8;
	return n;
}

/* Of 40 apps exactly a quarter is wide, whatever the seed; not so of independent draws. */
START_TEST(draws_evenly)
{
	static const char spec[] = "apps: 40\narrivals: {process: at-once}\nduration_s: 5\n"
	                           "num_gpus: {choice: [[8, 1], [1, 3]], per: app}\n"
	                           "models: {few: {share: 30, of: {a: 1, b: 2}}, many: {share: 70, "
	                           "of: {c: 5}}}\n";
	g_autofree char *even = g_strconcat(spec, "draws: even\n", NULL);
	guint n_uneven = 0;

	for (guint64 seed = 0; seed < 20; seed++) {
		g_autoptr(Workload) workload = NULL, other = NULL;
		guint n_by_model[3] = { 0 };

		put_text("spec.yaml", even);
		workload = trace_generate("spec.yaml", &seed, NULL, NULL);
		ck_assert_uint_eq(count_wide(workload), 10);
		for (guint i = 0; i < workload->n_jobs; i++)
			n_by_model[workload->jobs[i].model_name[0] - 'a']++;
		ck_assert_uint_eq(n_by_model[0], 4);
		ck_assert_uint_eq(n_by_model[1], 8);
		ck_assert_uint_eq(n_by_model[2], 28);
		put_text("spec.yaml", spec);
		other = trace_generate("spec.yaml", &seed, NULL, NULL);
		n_uneven += count_wide(other) != 10;
	}
	ck_assert_uint_gt(n_uneven, 10);
}
END_TEST

/* Correlation of the logarithms of two jobs of an app, or of one and its app's number of jobs. */
static double
correlation(const Workload *workload, gboolean with_jobs)
{
	double n = workload->n_apps, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

	for (guint i = 0; i < workload->n_apps; i++) {
		const App *app = &workload->apps[i];
		double a = log((double)workload->duration_ns[app->jobs[0]]);
		double b =
		    with_jobs ? log(app->n_jobs) : log((double)workload->duration_ns[app->jobs[1]]);

		x += a;
		y += b;
		xx += a * a;
		yy += b * b;
		xy += a * b;
	}
	return (n * xy - x * y) / sqrt((n * xx - x * x) * (n * yy - y * y));
}

/* Lognormal lengths: the logarithms are the normal scores, up to their unit. A job's is correlated
 * with the number of jobs by sqrt(alike) x with_jobs; 4000 apps tell that to 0.05 at three sigma.
 */
START_TEST(makes_jobs_of_an_app_alike)
{
	static const char spec[] =
	    "apps: 4000\ndraws: even\narrivals: {process: at-once}\n"
	    "jobs_per_app: {lognormal: {median: 5, sigma: 0.5}, min: 2}\n"
	    "duration_h: {lognormal: {median: 100, sigma: 1}, alike: 0.36, with_jobs: 0.5}\n";
	g_autoptr(Workload) workload = generate(spec);

	ck_assert_double_le(fabs(correlation(workload, FALSE) - 0.36), 0.05);
	ck_assert_double_le(fabs(correlation(workload, TRUE) - 0.6 * 0.5), 0.05);
}
END_TEST

/* Four apps divide a time of 4 h evenly, and twice as fast 2 h. */
START_TEST(draws_arrivals)
{
	static const char spec[] =
	    "apps: 4\ndraws: even\nduration_s: 1\n"
	    "arrivals: {process: drawn, speedup: 1, at_h: {uniform: {from: 0, to: 4}}}\n";
	const char *sets[] = { "arrivals.speedup=2", NULL };
	g_autoptr(Workload) slow = generate(spec);
	g_autoptr(Workload) fast = trace_generate("spec.yaml", NULL, sets, NULL);

	for (guint i = 0; i < 4; i++) {
		gint64 slow_ns = slow->origin_ns + slow->jobs[i].submit_ns;
		gint64 fast_ns = fast->origin_ns + fast->jobs[i].submit_ns;

		ck_assert_int_eq(slow_ns / (3600 * NS_PER_S), i);
		ck_assert_int_le(llabs(2 * fast_ns - slow_ns), NS_PER_S / 1000);
		ck_assert_str_eq(slow->jobs[i].name, fast->jobs[i].name);
	}
}
END_TEST

START_TEST(refuses_to_set)
{
	static const char *const bad[] = { "apps", "aps=3", "arrivals=3", "arrivals.rate=3", "=3" };

	put_text("spec.yaml", GOOD);
	for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
		const char *sets[] = { bad[i], NULL };
		g_autoptr(GError) error = NULL;
		g_autofree char *wanted = g_strdup_printf(
		    "found \"%s\" to set, wanted KEY=VALUE with the key of a value in the spec, as "
		    "arrivals.process=poisson",
		    bad[i]);

		ck_assert_ptr_null(trace_generate("spec.yaml", NULL, sets, &error));
		ck_assert_str_eq(error->message, wanted);
		ck_assert_int_eq(error->code, SIM_ERROR_USAGE);
	}
}
END_TEST

static Suite *
generate_suite(void)
{
	Suite *suite = suite_create("generate");
	TCase *tests = tcase_create("generate");

	tcase_add_checked_fixture(tests, enter_test_folder, leave_test_folder);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, computes_logarithms_and_powers);
	tcase_add_loop_test(tests, draws, 0, G_N_ELEMENTS(variate_cases));
	tcase_add_loop_test(tests, makes, 0, G_N_ELEMENTS(text_cases));
	tcase_add_test(tests, makes_the_sample);
	tcase_add_test(tests, reads_what_it_makes);
	tcase_add_loop_test(tests, keeps_streams_apart, 0, G_N_ELEMENTS(stream_cases));
	tcase_add_test(tests, draws_searches);
	tcase_add_loop_test(tests, scales, 0, G_N_ELEMENTS(scale_cases));
	tcase_add_test(tests, keeps_apps_apart);
	tcase_add_test(tests, takes_a_seed);
	tcase_add_test(tests, arrives_in_bursts_alone);
	tcase_add_loop_test(tests, arrives_at_the_rate, 0, G_N_ELEMENTS(mean_cases));
	tcase_add_test(tests, offers_the_load);
	tcase_add_test(tests, computes_normal_parts);
	tcase_add_test(tests, draws_evenly);
	tcase_add_test(tests, makes_jobs_of_an_app_alike);
	tcase_add_test(tests, draws_arrivals);
	tcase_add_test(tests, refuses_to_set);
	tcase_add_loop_test(tests, refuses, 0, G_N_ELEMENTS(bad_cases));
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(generate_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
