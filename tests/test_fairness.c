/* SPDX-License-Identifier: MIT */

/*
 * Every definition of a fair share against numbers worked by hand: the indices (policies.md 6.3),
 * the variants of rho (6.2, E6), the integral of n(t) as an app sees it, and the tables by group,
 * by placement and over time. Runs go through the engine, under a policy of the tree.
 */

#include <math.h>
#include <string.h>

#include <check.h>
#include <glib/gstdio.h>

#include "sim/base/rng.h"
#include "sim/engine/crowd.h"
#include "sim/engine/engine.h"
#include "sim/report/distribution.h"
#include "sim/report/exact.h"
#include "sim/report/fairness.h"
#include "sim/report/report.h"
#include "tests/fixture.h"

#define NEAR 1e-12

/* Indices */

START_TEST(knows_jain_and_gini)
{
	/* 6.3: of (1, 0.5, 2). */
	static const double three[] = { 0.5, 1, 2 };
	static const double equal[] = { 5, 5, 5, 5 };
	Distribution found = distribution_of(three, 3);

	/* 3.5^2 / (3 x 5.25); (-2 x 0.5 + 2 x 2) / (3 x 3.5). */
	ck_assert_double_eq_tol(found.jain, 12.25 / 15.75, NEAR);
	ck_assert_double_eq_tol(found.gini, 3 / 10.5, NEAR);
	/* The inverses are the same three. */
	ck_assert_double_eq_tol(found.jain_inverse, 12.25 / 15.75, NEAR);
	ck_assert_double_eq_tol(found.gini_inverse, 3 / 10.5, NEAR);
	ck_assert_double_eq_tol(found.mean, 3.5 / 3, NEAR);
	ck_assert_double_eq_tol(found.p50, 1, NEAR);
	ck_assert_double_eq_tol(found.p90, 1.8, NEAR);
	ck_assert_double_eq_tol(found.p95 - found.p5, 1.9 - 0.55, NEAR);
	ck_assert_double_eq_tol(found.excess_mean, 1.0 / 3, NEAR);
	ck_assert_uint_eq(found.over_1, 1);
	/* All equally bad is as equal as all equally good. */
	found = distribution_of(equal, 4);
	ck_assert_double_eq_tol(found.jain, 1, NEAR);
	ck_assert_double_eq_tol(found.gini, 0, NEAR);
	ck_assert_double_eq_tol(found.excess_mean, 4, NEAR);
	ck_assert_uint_eq(distribution_of(NULL, 0).n, 0);
}
END_TEST

/* A24: over is by more than 1e-9. */
START_TEST(counts_what_is_over)
{
	static const double values[] = { 1, 1 + 1e-10, 1 + 1e-8, 1.1, 1.1 + 1e-8 };
	Distribution found = distribution_of(values, 5);

	ck_assert_uint_eq(found.over_1, 3);
	ck_assert_uint_eq(found.over_1_1, 1);
}
END_TEST

/* Many values, in blocks: against sums in the plainest way, of the definition itself. */
START_TEST(sums_many)
{
	guint n = 1000;
	g_autofree double *values = g_new(double, n);
	RngStream stream = rng_stream(1, "numbers");
	double differences = 0, total = 0;
	Distribution found;

	for (guint i = 0; i < n; i++)
		values[i] = 0.01 + rng_unit(stream, i, 0) * 4;
	numbers_sort(values, n);
	for (guint i = 0; i < n; i++) {
		total += values[i];
		ck_assert(i == 0 || values[i - 1] <= values[i]);
		for (guint k = 0; k < n; k++)
			differences += fabs(values[i] - values[k]);
	}
	found = distribution_of(values, n);
	/* Half the mean difference over the mean. */
	ck_assert_double_eq_tol(found.gini, differences / (2.0 * n * total), 1e-10);
	ck_assert_double_eq_tol(found.mean, total / n, 1e-10);
	ck_assert_double_eq(found.min, values[0]);
	ck_assert_double_eq(found.max, values[n - 1]);
}
END_TEST

START_TEST(orders_numbers)
{
	static const double values[] = { 2, 1e-300, 1e300, 0.5, 2, 0, 1 };
	static const guint32 want[] = { 5, 1, 3, 6, 0, 4, 2 };
	g_autoptr(Sorter) sorter = sorter_new(7);
	guint32 order[7];

	/* What was sorted before leaves nothing behind. */
	sorter_order(sorter, values + 2, 5, order);
	sorter_order(sorter, values, 7, order);
	for (guint i = 0; i < 7; i++)
		ck_assert_uint_eq(order[i], want[i]);
}
END_TEST

/* n(t) */

/* 2 apps for 100 s, then 4 for 200 s: 3.333 on the mean (E6); 8 GPUs. */
START_TEST(integrates_the_crowd)
{
	static const struct {
		guint demand;
		gint64 want; /* integral of max(n d, 8) */
	} cases[] = {
		{ 1, 8 * 300 },             /* never more than 8 apps */
		{ 2, 8 * 300 },             /* 2 x 2 and 4 x 2 */
		{ 3, 8 * 100 + 12 * 200 },  /* 6 and 12 */
		{ 8, 16 * 100 + 32 * 200 }, /* 8 x (2 x 100 + 4 x 200) = 8 x 300 x 3.333 */
		{ 100, 200 * 100 + 400 * 200 },
	};
	Crowd crowd;

	crowd_init(&crowd, 8 * GPU_MILLI, GPU_MILLI, 50);
	crowd_add(&crowd, 2, 60);
	crowd_add(&crowd, 4, 120);
	crowd_add(&crowd, 0, 1000); /* nobody's time */
	crowd_add(&crowd, 4, 80);
	crowd_add(&crowd, 2, 40);
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
		ck_assert(crowd_load(&crowd, (guint64)cases[i].demand * GPU_MILLI) ==
		          (__int128)cases[i].want * GPU_MILLI);
	crowd_clear(&crowd);
}
END_TEST

/* Against the sum it stands for, for every d, n beyond the tree included. */
START_TEST(integrates_any_crowd)
{
	RngStream stream = rng_stream((guint64)_i, "crowd");
	guint n_gpus = 1 + (guint)rng_below(stream, 0, 0, 20);
	__int128 want[41] = { 0 };
	Crowd crowd;

	crowd_init(&crowd, (guint64)n_gpus * GPU_MILLI, GPU_MILLI, 30);
	for (guint step = 1; step <= 200; step++) {
		guint n = (guint)rng_below(stream, step, 0, 31);
		gint64 length = (gint64)rng_below(stream, step, 1, 1000);

		crowd_add(&crowd, n, length);
		for (guint d = 1; d <= 40 && n > 0; d++)
			want[d] += (__int128)MAX(n * d, n_gpus) * length * GPU_MILLI;
		for (guint d = 1; d <= 40; d++)
			ck_assert(crowd_load(&crowd, (guint64)d * GPU_MILLI) == want[d]);
	}
	crowd_clear(&crowd);
}
END_TEST

/* Variants of rho */

static AppFairness
fairness_of(const Fixture *fixture, const char *app)
{
	FairnessBase base = fairness_base(&fixture->scenario);

	for (AppId i = 0; i < fixture->workload->n_apps; i++) {
		if (g_str_equal(fixture->workload->apps[i].name, app))
			return app_fairness(&base, &fixture->workload->apps[i],
			                    &fixture->record->apps[i]);
	}
	g_assert_not_reached();
}

static void
expect_values(AppFairness fairness, const double *want)
{
	for (Fairness variant = 0; variant < N_FAIRNESS; variant++)
		ck_assert_msg(fabs(fairness.values[variant] - want[variant]) < NEAR,
		              "%s: got %.12g, wanted %.12g", fairness_names[variant],
		              fairness.values[variant], want[variant]);
}

/* E6: W = 200 GPU-s, d = 2, 8 GPUs, 4 apps, 180 s: 0.45 by the paper, 1.8 by those who came later.
 * It waits 80 s for GPUs that the others hold, each app one of the others' size. */
START_TEST(knows_the_variants_of_e6)
{
	static const double want[N_FAIRNESS] = {
		[RHO_THEMIS] = 180 / (100 * 4.0),
		[RHO_CAPPED] = 1.8,
		/* Demand: 2 + 3 x 8 GPUs of 8. */
		[RHO_CONTENTION] = 180 / (100 * 3.25),
		/* 8 / 4 GPUs at any time, and no more than 2 are of use. */
		[RHO_GAVEL] = 1.8,
		[RHO_SIA] = 1.8,
		/* 4 jobs on 8 GPUs are no crowd. */
		[RHO_SHOCKWAVE_STATIC] = 1.8,
		[RHO_SHOCKWAVE_THEMIS] = 1.8,
		/* 200 GPU-s of 180 s x 2 GPUs. */
		[RECEIVED_RATIO] = 200 / 360.0,
	};
	static const char *const jobs = "B,0,8,80; A,0,2,100; C,0,8,500; D,0,8,500";
	g_autoptr(Fixture) fixture = fixture_new(jobs, "1x8");

	fixture_run(fixture, "fifo");
	ck_assert_double_eq(fixture_jct_s(fixture, "A"), 180);
	/* B has gone when A begins: here N_avg is (80 x 4 + 100 x 3) / 180. */
	ck_assert_double_eq_tol(fixture->record->apps[1].n_avg, 620.0 / 180, NEAR);
	/* While A works there are 3, of whom each has 8 / 3 GPUs: A, with 2, sees 8 / 2 parts. */
	ck_assert_double_eq_tol(fixture->record->apps[1].n_at_work, 4, NEAR);
	fixture->record->apps[1].n_avg = 4;
	fixture->record->apps[1].contention = 3.25;
	expect_values(fairness_of(fixture, "A"), want);
}
END_TEST

/* 1 GPU; A works alone in [0, 100), beside B, which waits, in [100, 200): by Gavel 100 s of its own
 * were worth 100, the next 100 worth 200. N_avg is 1.5 and gives the same. B waits in [100, 200)
 * and works in [200, 300) alone: by Gavel it had a right to be done in 100 s, by N_avg in 150. */
START_TEST(follows_n_while_it_works)
{
	static const double want_a[N_FAIRNESS] = {
		[RHO_THEMIS] = 200 / 300.0,
		[RHO_CAPPED] = 200 / 300.0,
		[RHO_CONTENTION] = 200 / 300.0,
		[RHO_GAVEL] = 200 / 300.0,
		[RHO_SIA] = 200 / 300.0,
		[RHO_SHOCKWAVE_STATIC] = 200 / 400.0,
		[RHO_SHOCKWAVE_THEMIS] = 200 / 300.0,
		[RECEIVED_RATIO] = 1.5,
	};
	static const double want_b[N_FAIRNESS] = {
		[RHO_THEMIS] = 200 / 150.0,
		[RHO_CAPPED] = 200 / 150.0,
		[RHO_CONTENTION] = 200 / 150.0,
		[RHO_GAVEL] = 2,
		[RHO_SIA] = 200 / 150.0,
		[RHO_SHOCKWAVE_STATIC] = 200 / 200.0,
		[RHO_SHOCKWAVE_THEMIS] = 200 / 150.0,
		[RECEIVED_RATIO] = 100 / (200 / 1.5),
	};
	g_autoptr(Fixture) fixture = fixture_new("A,0,1,200; B,100,1,100", "1x1");

	fixture_run(fixture, "fifo");
	expect_values(fairness_of(fixture, "A"), want_a);
	expect_values(fairness_of(fixture, "B"), want_b);
}
END_TEST

/* Two jobs in the one app, one in the other, 1 GPU: a crowd of 3 jobs, but of 2 apps. */
START_TEST(tells_jobs_from_apps)
{
	g_autoptr(Fixture) fixture =
	    fixture_new("a1,0,1,100,app=A; a2,0,1,100,app=A; b,0,1,100,app=B", "1x1");
	AppFairness fairness;

	fixture_run(fixture, "fifo");
	/* a1, a2, b: 3 jobs, then 2, then 1; 2 apps until 200, then 1. */
	ck_assert_double_eq_tol(fixture->record->apps[1].n_jobs_avg, 2, NEAR);
	ck_assert_double_eq_tol(fixture->record->apps[1].n_avg, 5 / 3.0, NEAR);
	fairness = fairness_of(fixture, "B");
	ck_assert_double_eq_tol(fairness.values[RHO_SHOCKWAVE_STATIC], 300 / 300.0, NEAR);
	ck_assert_double_eq_tol(fairness.values[RHO_SHOCKWAVE_THEMIS], 300 / 200.0, NEAR);
	ck_assert_double_eq_tol(fairness.values[RHO_THEMIS], 300 / (100 * 5 / 3.0), NEAR);
	/* A, with d = 2 on 1 GPU, works all its 200 s beside B. */
	ck_assert_double_eq_tol(fairness_of(fixture, "A").values[RHO_GAVEL], 200 / 400.0, NEAR);
}
END_TEST

/* 2 fast GPUs and 6 that run the model at a quarter: 3.5 of 8 on the mean. */
START_TEST(weighs_gpu_types)
{
	static const char *const models = "models:\n"
	                                  "  slow:\n"
	                                  "    throughput: {v100: 1, k80: 0.25}\n";
	static const char *const jobs = "A,0,2,100,model=slow,type=v100|k80; "
	                                "B,0,2,100,model=slow,type=v100; C,0,2,100";
	g_autoptr(Fixture) fixture = fixture_new(jobs, "1x2:v100,1x6:k80");
	AppFairness a, b, c;

	fixture_set_models(fixture, models);
	fixture_run(fixture, "fifo");
	for (AppId i = 0; i < 3; i++) {
		fixture->record->apps[i].n_avg = fixture->record->apps[i].n_at_work = 4;
		fixture->record->apps[i].finish_ns = 180 * NS_PER_S;
	}
	a = fairness_of(fixture, "A");
	b = fairness_of(fixture, "B");
	c = fairness_of(fixture, "C");
	ck_assert_double_eq_tol(a.values[RHO_CAPPED], 1.8, NEAR);
	ck_assert_double_eq_tol(a.values[RHO_GAVEL], 1.8 * 3.5 / 8, NEAR);
	ck_assert_double_eq_tol(a.values[RHO_SIA], 1.8 * 3.5 / 8, NEAR);
	/* A quarter of the 2 GPUs that will do; the others are no share of it. */
	ck_assert_double_eq_tol(b.values[RHO_GAVEL], 1.8 * 2 / 8, NEAR);
	ck_assert_double_eq_tol(b.values[RHO_SIA], 1.8, NEAR);
	ck_assert_double_eq_tol(c.values[RHO_GAVEL], 1.8, NEAR);
	ck_assert_double_eq_tol(c.values[RHO_SIA], 1.8, NEAR);
}
END_TEST

/* Work that is lost at a stop is done twice, and had a right to one share only. */
START_TEST(forgets_lost_work)
{
	g_autoptr(Fixture) fixture =
	    fixture_new("A,0,1,100,priority=1; B,50,1,10,priority=2", "1x1");

	fixture->scenario.overheads.checkpoint_every_ns = 40 * NS_PER_S;
	fixture_run(fixture, "priority:preempt=true");
	/* A works 50 s, loses 10, waits 10, works 60. Alone all the time that it works. */
	ck_assert_double_eq(fixture_finish_s(fixture, "A"), 120);
	ck_assert_double_eq_tol(fairness_of(fixture, "A").values[RHO_GAVEL], 1.2, NEAR);
}
END_TEST

/* Tables */

/* What a file of the run holds; free with g_free(). */
static char *
written_by(Fixture *fixture, const char *policy, const char *name, double every_s)
{
	g_autofree char *parent = g_dir_make_tmp("themis-fairness-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(parent, "run", NULL);
	g_autofree char *file = g_build_filename(path, name, NULL);
	RunFolderSettings settings = { .path = path, .wants_timeline = every_s > 0 };
	g_autoptr(GDir) files = NULL;
	RunFolder *folder;
	char *text = NULL;

	settings.timeline_every_ns = (SimTime)(every_s * NS_PER_S);
	folder = run_folder_open(&fixture->scenario, &settings, NULL);
	fixture->recorder = run_folder_recorder(folder);
	fixture_run(fixture, policy);
	ck_assert(run_folder_commit(folder, fixture->record, NULL));
	run_folder_free(folder);
	ck_assert(g_file_get_contents(file, &text, NULL, NULL));
	files = g_dir_open(path, 0, NULL);
	while ((name = g_dir_read_name(files)) != NULL) {
		g_autofree char *each = g_build_filename(path, name, NULL);

		g_remove(each);
	}
	g_rmdir(path);
	g_rmdir(parent);
	return text;
}

static void
expect_line(const char *text, const char *line)
{
	g_autofree char *whole = g_strdup_printf("\n%s\n", line);

	ck_assert_msg(strstr(text, whole) != NULL, "no line \"%s\" in\n%s", line, text);
}

/* S19: rho 1/2 and 4/3. */
START_TEST(tells_by_group)
{
	g_autoptr(Fixture) fixture =
	    fixture_new("J1,0,4,100,user=zoe,tenant=lab; J2,0,4,100,user=ann,tenant=lab", "1x4");
	g_autofree char *text = written_by(fixture, "fifo", "fairness.csv", 0);

	ck_assert(g_str_has_prefix(
	    text, "scope,group,variant,apps,mean,min,p5,p50,p90,p95,p99,max,spread,over_1,"
	          "over_1_frac,over_1_1_frac,excess_mean,jain,gini,jain_inverse,gini_inverse\n"));
	/* Inverses 2 and 3/4: (11/4)^2 / (2 x 73/16) and (5/4) / (2 x 11/4). */
	expect_line(text, "all,,rho,2,0.916666667,0.5,0.541666667,0.916666667,1.25,1.291666667,"
	                  "1.325,1.333333333,0.75,1,0.5,0.5,0.166666667,0.828767123,0.227272727,"
	                  "0.828767123,0.227272727");
	/* GPU time: 2 and 3/4 of an equal part; more is luck. */
	expect_line(text, "all,,received_ratio,2,1.375,0.75,0.8125,1.375,1.875,1.9375,1.9875,2,"
	                  "1.125,,,,,0.828767123,0.227272727,0.828767123,0.227272727");
	expect_line(text, "user,ann,rho,1,1.333333333,1.333333333,1.333333333,1.333333333,"
	                  "1.333333333,1.333333333,1.333333333,1.333333333,0,1,1,1,0.333333333,"
	                  "1,0,1,0");
	ck_assert_ptr_nonnull(strstr(text, "\ntenant,lab,rho,2,"));
	ck_assert_ptr_nonnull(strstr(text, "\nsize,2-4,rho,2,"));
	ck_assert_ptr_nonnull(strstr(text, "\nduration,<=10min,rho,2,"));
	/* Nobody named a group or a model. */
	ck_assert_ptr_null(strstr(text, "\ngroup,"));
	ck_assert_ptr_null(strstr(text, "\nmodel,"));
	/* By name. */
	ck_assert(strstr(text, "\nuser,ann,") < strstr(text, "\nuser,zoe,"));
}
END_TEST

START_TEST(classes_ascend)
{
	g_autoptr(Fixture) fixture = fixture_new("A,0,9,1; B,1,8,600; C,2,4,601; D,3,1,90000; "
	                                         "E,4,2,4000; F,5,5,50000; G,6,1,0",
	                                         "4x4");
	g_autofree char *text = written_by(fixture, "fifo", "fairness.csv", 0);
	static const char *const ascending[] = {
		"\nsize,1,rho,1,",           "\nsize,2-4,rho,2,",
		"\nsize,5-8,rho,2,",         "\nsize,>8,rho,1,",
		"\nduration,<=10min,rho,2,", "\nduration,10min-1h,rho,1,",
		"\nduration,1h-6h,rho,1,",   "\nduration,6h-24h,rho,1,",
		"\nduration,>24h,rho,1,",
	};
	const char *last = text;

	for (guint i = 0; i < G_N_ELEMENTS(ascending); i++) {
		const char *here = strstr(last, ascending[i]);

		ck_assert_msg(here != NULL, "no %s in its place in\n%s", ascending[i], text);
		last = here;
	}
}
END_TEST

START_TEST(has_no_rows_of_nobody)
{
	g_autoptr(Fixture) fixture = fixture_new("A,0,9,1; B,0,0,5; C,0,1,0", "1x4");
	g_autofree char *text = written_by(fixture, "fifo", "fairness.csv", 0);

	ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
}
END_TEST

/* A on one machine, at 1; V over two, at 1/2, so that it holds its 4 GPUs for 20 s. */
START_TEST(weighs_placement)
{
	static const char *const models = "models:\n"
	                                  "  vgg: {slowdown: {rack: 2}}\n";
	g_autoptr(Fixture) fixture = fixture_new("A,0,2,40,model=vgg; V,0,4,10,model=vgg", "3x2");
	g_autofree char *text = NULL;

	fixture_set_models(fixture, models);
	text = written_by(fixture, "fifo", "placement.csv", 0);
	ck_assert_str_eq(text, "model,level,score,allocations,alloc_gpu_s,cdf\n"
	                       "vgg,cluster,0.5,1,80,0.5\n"
	                       "vgg,slot,1,1,80,1\n");
}
END_TEST

/* S19 in windows of 50 s: in [0, 100) each has a right to 2 of the 4 GPUs, J1 has all of them. */
START_TEST(tells_over_time)
{
	g_autoptr(Fixture) fixture = fixture_new("J1,0,4,100; J2,0,4,100", "1x4");
	g_autofree char *text = written_by(fixture, "fifo", "fairness_over_time.csv", 50);

	ck_assert_str_eq(text, "time_s,scope,parties,ratio_min,ratio_p50,ratio_mean,jain_ratio,"
	                       "received_gpu_s,entitled_gpu_s,deficit_gpu_s\n"
	                       "0,app,2,0,1,1,0.5,200,200,100\n"
	                       "50,app,2,0,1,1,0.5,200,200,100\n"
	                       "100,app,1,1,1,1,1,200,200,0\n"
	                       "150,app,1,1,1,1,1,200,200,0\n");
}
END_TEST

/*
 * One user of two apps and one of one, 4 GPUs, window 100 s, then nobody for 800 s:
 *   a1 (3 GPUs, 60 s) and b (1 GPU, 100 s) run from 0; a2 (2 GPUs, 20 s) waits until 60.
 *   n(t) is 3 in [0, 60), then 2 to 80, then 1. Entitled: a1 4/3 x 60 = 80; a2 80 + 2 x 20 = 120;
 *   b 1 x 100, as it can use no more. Received 180, 40, 100: ratios 9/4, 1/3, 1; deficit 80.
 *   Users: 2 until 80. ann 2 x 80 = 160 (demand 5, then 2), received 220; bob 100.
 */
START_TEST(caps_by_demand)
{
	g_autoptr(Fixture) fixture = fixture_new("a1,0,3,60,user=ann; b,0,1,100,user=bob; "
	                                         "a2,0,2,20,user=ann; c,900,1,10,user=ann",
	                                         "1x4");
	g_autofree char *text = written_by(fixture, "fifo", "fairness_over_time.csv", 100);

	/* Jain: (43/12)^2 / (3 x (81/16 + 1/9 + 1)). */
	expect_line(text, "0,app,3,0.333333333,1,1.194444444,0.693288339,320,300,80");
	expect_line(text, "0,user,2,1,1.1875,1.1875,0.975675676,320,260,0");
	expect_line(text, "900,app,1,1,1,1,1,10,10,0");
	ck_assert_ptr_null(strstr(text, "\n100,"));
	ck_assert_ptr_null(strstr(text, "\n800,"));
}
END_TEST

/* What is cut at stop_s has a last, shorter window; what was not submitted by then was never there,
 * and neither was what is rejected. */
START_TEST(ends_at_the_stop)
{
	g_autoptr(Fixture) fixture =
	    fixture_new("A,0,2,1000; R,0,9,5; B,10,2,1000; C,90,2,10", "1x2");
	g_autofree char *text = NULL;

	fixture->scenario.stop_ns = 70 * NS_PER_S;
	text = written_by(fixture, "fifo", "fairness_over_time.csv", 50);
	/* A alone for 10 s, then half for 40: entitled 20 + 40; B 40 of 80. */
	expect_line(text, "0,app,2,0,0.833333333,0.833333333,0.5,100,100,40");
	expect_line(text, "50,app,2,0,1,1,0.5,40,40,20");
	ck_assert_ptr_null(strstr(text, "\n100,"));
}
END_TEST

/* Four trials on 3 GPUs, halved after 10 s of each: while d is at it the others, paused, want
 * nothing. */
START_TEST(entitles_the_paused_to_nothing)
{
	g_autoptr(Fixture) fixture = fixture_new(
	    "a,0,1,40,app=x,loss=1:0.1:10,tuner=successive-halving; b,0,1,40,app=x,loss=1:0.2:10; "
	    "c,0,1,40,app=x,loss=1:0.3:10; d,0,1,40,app=x,loss=1:0.4:10",
	    "1x3");
	g_autofree char *text = written_by(fixture, "fifo", "fairness_over_time.csv", 10);

	expect_line(text, "0,app,1,1,1,1,1,30,30,0");
	expect_line(text, "10,app,1,1,1,1,1,10,10,0");
	expect_line(text, "20,app,1,1,1,1,1,20,20,0");
	expect_line(text, "30,app,1,1,1,1,1,10,10,0");
	/* 4, then d alone, then a and b, then a: (40 + 10 + 20 + 20) / 50. */
	ck_assert_double_eq_tol(fixture->record->apps[0].n_jobs_avg, 1.8, NEAR);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("fairness");
	TCase *numbers = tcase_create("numbers");
	TCase *runs = tcase_create("runs");
	SRunner *runner;
	int n_failed;

	tcase_add_test(numbers, knows_jain_and_gini);
	tcase_add_test(numbers, counts_what_is_over);
	tcase_add_test(numbers, sums_many);
	tcase_add_test(numbers, orders_numbers);
	tcase_add_test(numbers, integrates_the_crowd);
	tcase_add_loop_test(numbers, integrates_any_crowd, 0, 20);
	tcase_add_test(runs, knows_the_variants_of_e6);
	tcase_add_test(runs, follows_n_while_it_works);
	tcase_add_test(runs, tells_jobs_from_apps);
	tcase_add_test(runs, weighs_gpu_types);
	tcase_add_test(runs, forgets_lost_work);
	tcase_add_test(runs, tells_by_group);
	tcase_add_test(runs, classes_ascend);
	tcase_add_test(runs, has_no_rows_of_nobody);
	tcase_add_test(runs, weighs_placement);
	tcase_add_test(runs, tells_over_time);
	tcase_add_test(runs, caps_by_demand);
	tcase_add_test(runs, ends_at_the_stop);
	tcase_add_test(runs, entitles_the_paused_to_nothing);
	suite_add_tcase(suite, numbers);
	suite_add_tcase(suite, runs);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed > 0;
}
