/* SPDX-License-Identifier: MIT */

/* Tickets, turns, loads and trades, worked out by hand. */

#include <check.h>
#include <string.h>

#include "sim/base/error.h"
#include "tests/fixture.h"

typedef struct Case {
	const char *name, *jobs, *cluster, *policy, *expected;
} Case;

#define Q10     "gandiva-fair:quantum_s=10"
#define BALANCE "A,0,2,40; B,0,1,25; C,0,1,30; D,0,1,100"

static const Case cases[] = {
	{ "GPUs that fall idle are given out at once", "A,0,1,30,user=a; B,0,1,100,user=b", "1x1",
	  "gandiva-fair", "A 0-30; B 30-130" },
	/* A quantum costs A 1/2 and B 1: A, B, A, A, B, A. */
	{ "tickets by weight", "A,0,1,240,user=a,weight=2; B,0,1,120,user=b", "1x1", "gandiva-fair",
	  "A 0-360 P2; B 60-300 P1" },
	/* A, B, B, A, B, B. */
	{ "tickets as given", "A,0,1,120,user=a; B,0,1,240,user=b", "1x1",
	  "gandiva-fair:tickets=[b=2]", "A 0-240 P1; B 60-360 P1" },
	/* A quantum costs a's jobs 2, b's 1: a1, a2, b, b, a1, which ends; a2, then, with all of
	 * a's tickets, ends, and b. */
	{ "a user's tickets are split", "a1,0,1,120,user=a; a2,0,1,120,user=a; b,0,1,240,user=b",
	  "1x1", "gandiva-fair", "a1 0-300 P1; a2 60-360 P1; b 120-480 P1" },
	/* Each tenant, or app, the same as the user above. */
	{ "of tenants", "a1,0,1,120,tenant=a; a2,0,1,120,tenant=a; b,0,1,240,tenant=b", "1x1",
	  "gandiva-fair:by=tenant", "a1 0-300 P1; a2 60-360 P1; b 120-480 P1" },
	{ "of apps", "a1,0,1,120,app=a; a2,0,1,120,app=a; b,0,1,240,app=b", "1x1",
	  "gandiva-fair:by=app", "a1 0-300 P1; a2 60-360 P1; b 120-480 P1" },
	/* B does not make up for the time before it came: A at 300, B, A. */
	{ "who is new comes level", "A,0,1,420,user=a; B,300,1,120,user=b", "1x1", "gandiva-fair",
	  "A 0-480 P1; B 360-540 P1" },
	/* W: 4 GPUs / 1 ticket; a server: 2 GPUs / (2 x 1/4) tickets. They alternate. */
	{ "a gang of several servers",
	  "W,0,4,120,user=w; s1,0,1,120,user=s; s2,0,1,120,user=s; s3,0,1,120,user=s; "
	  "s4,0,1,120,user=s",
	  "2x2", "gandiva-fair",
	  "W 0-180 P1; s1 60-240 P1; s2 60-240 P1; s3 60-240 P1; s4 60-240 P1" },
	/* A and C are on the first server, B and D on the second; A, then C, for two quanta. At 25
	 * A can claim 4/3 of 4 GPUs, C and D one each: loads 7/6 and 1/2. With C on the second
	 * they are 2/3 and 1; it runs, and so moves at 30. */
	{ "a job moves to the emptier server", BALANCE, "2x2", Q10,
	  "A 0-60 P1; B 0-25; C 10-40 M1; D 0-100" },
	/* C, at 30, has had 2 x 4 - 1/2 + 1/6 x 3 for its tickets, less than A with 8. */
	{ "or not", BALANCE, "2x2", "gandiva-fair:quantum_s=10,balance_gap=off",
	  "A 0-70 P1; B 0-25; C 10-40; D 0-100" },
	{ "nor within the threshold", BALANCE, "2x2", "gandiva-fair:quantum_s=10,balance_gap=0.7",
	  "A 0-70 P1; B 0-25; C 10-40; D 0-100" },
	/* A and C take turns on the first GPU; A waits when B ends. */
	{ "who waits moves at once", "A,0,1,20; B,0,1,15; C,0,1,20", "2x1", Q10,
	  "A 0-25 P1; B 0-15; C 10-30" },
	/* a and b are paused at 10 and come back at 20, as who they were. */
	{ "trials come back",
	  "a,0,1,40,app=x,loss=1:0.1:10,tuner=successive-halving; b,0,1,40,app=x,loss=1:0.2:10;"
	  "c,0,1,40,app=x,loss=1:0.3:10; d,0,1,40,app=x,loss=1:0.4:10",
	  "1x2", Q10, "a 0-50; b 0-30 STOPPED; c 10-20 STOPPED; d 10-20 STOPPED" },
};

START_TEST(test_case)
{
	const Case *row = &cases[_i];

	fixture_expect(row->jobs, row->cluster, row->policy, row->expected);
}
END_TEST

/* GPU-quanta of 60 s of all jobs whose names start with @prefix. */
static double
quanta_of(const Fixture *fixture, char prefix)
{
	GpuTime service = 0;

	for (JobId job = 0; job < fixture->workload->n_jobs; job++)
		if (fixture->workload->jobs[job].name[0] == prefix)
			service += fixture->record->jobs[job].service;
	return (double)service / (double)GPU_TIME_PER_GPU_S / 60;
}

static void
run_quanta(Fixture *fixture, const char *policy, guint n_quanta)
{
	fixture->scenario.stop_ns = n_quanta * 60 * NS_PER_S;
	fixture_run(fixture, policy);
}

/* 8 GPUs, three equal users: C's share is 2.66, but it has one job of 2. A and B share the other
 * six. In the first quantum C and six jobs run, in the second eight that have not, from then on C
 * and six. After 5 quanta all 16 have run twice (6 + 8 + 3 x 6), after 13 five times. */
START_TEST(test_unused_share)
{
	static const char users[] = "CAB";
	static const double wanted[] = { 8 * 2, 8 * 3, 8 * 3 };
	g_autoptr(GString) jobs = g_string_new("C,0,2,10000,user=c");
	g_autoptr(Fixture) fixture = NULL;
	double before[3];

	for (guint i = 0; i < 16; i++)
		g_string_append_printf(jobs, ";%c%u,0,1,10000,user=%c", "AB"[i % 2], i,
		                       "ab"[i % 2]);
	fixture = fixture_new(jobs->str, "1x8");
	run_quanta(fixture, "gandiva-fair", 5);
	for (guint i = 0; i < 3; i++)
		before[i] = quanta_of(fixture, users[i]);
	run_quanta(fixture, "gandiva-fair", 13);
	for (guint i = 0; i < 3; i++)
		ck_assert_double_eq(quanta_of(fixture, users[i]) - before[i], wanted[i]);
}
END_TEST

typedef struct Stride {
	const char *policy;
	guint n_quanta; /* ten turns of the gang, and so many as it takes to be even again */
	double big, small;
	double utilisation;
} Stride;

/* One job of 4 GPUs and two of 1, of equal tickets, on 4 GPUs. */
static const Stride strides[] = {
	/* The gang pays 4 for a quantum, the others 1: one quantum, then four. */
	{ "gandiva-fair:stride=gang", 50, 0.8, 0.8, 0.60 },
	/* Each pays 1: in turns. */
	{ "gandiva-fair:stride=plain", 20, 2, 0.5, 0.75 },
};

START_TEST(test_stride)
{
	const Stride *row = &strides[_i];
	g_autoptr(Fixture) fixture =
	    fixture_new("b,0,4,9999,user=b; s,0,1,9999,user=s; t,0,1,9999,user=t", "1x4");
	double big, small, other;

	run_quanta(fixture, row->policy, row->n_quanta);
	big = quanta_of(fixture, 'b') / row->n_quanta;
	small = quanta_of(fixture, 's') / row->n_quanta;
	other = quanta_of(fixture, 't') / row->n_quanta;
	ck_assert_double_eq_tol(big, row->big, 1e-9);
	ck_assert_double_eq_tol(small, row->small, 1e-9);
	ck_assert_double_eq_tol(other, row->small, 1e-9);
	ck_assert_double_eq_tol((big + small + other) / 4, row->utilisation, 1e-9);
}
END_TEST

/* c's job of 1 GPU could have 2 and always runs: 20 quanta on it has paid 20 where each of a's four
 * has paid 60. D, which comes level with it, must not have all for the 13 quanta until it has paid
 * as much: it and a have 3 GPUs in turns, of 12 quanta about six each. */
START_TEST(test_nobody_is_owed_for_ever)
{
	g_autoptr(Fixture) fixture =
	    fixture_new("C,0,1,9999,user=c; a1,0,1,9999,user=a; a2,0,1,9999,user=a;"
	                "a3,0,1,9999,user=a; a4,0,1,9999,user=a; D,1200,3,9999,user=d",
	                "1x4");

	run_quanta(fixture, "gandiva-fair", 32);
	ck_assert_double_eq(quanta_of(fixture, 'C'), 32);
	ck_assert_double_ge(quanta_of(fixture, 'D'), 3 * 4);
	ck_assert_double_le(quanta_of(fixture, 'D'), 3 * 8);
	ck_assert_double_eq(quanta_of(fixture, 'D') + quanta_of(fixture, 'a'), 32 * 3);
}
END_TEST

static const char models_yaml[] = "models:\n"
                                  "  quick: {throughput: {new: 3, old: 1}}\n"
                                  "  plain: {throughput: {new: 1, old: 1}}\n";

/* @more of B1 and B2. */
#define FEW(more)                                                                 \
	"A1,0,1,300,user=a,model=quick; A2,0,1,300,user=a,model=quick;"           \
	"A3,0,1,300,user=a,model=quick; B1,0,1,300,user=b,model=plain" more       \
	"; B2,0,1,300,user=b,model=plain" more "; B3,0,1,300,user=b,model=plain;" \
	"B4,0,1,300,user=b,model=plain; B5,0,1,300,user=b,model=plain"

/* Of new each has 2 GPUs, of old A has one and B three, which is all they can use. For B both are
 * the same: A buys one of its new ones for an old one, and runs three times as fast on three. */
START_TEST(test_trade)
{
	g_autoptr(Fixture) fixture = fixture_new(FEW(""), "1x4:new,1x4:old");
	g_autofree char *text = NULL;

	fixture_set_models(fixture, models_yaml);
	fixture_run(fixture, "gandiva-fair");
	text = fixture_to_string(fixture);
	ck_assert_str_eq(text, "A1 0-100; A2 0-100; A3 0-100; B1 0-300; B2 0-300; B3 0-300; "
	                       "B4 0-300; B5 0-300");
}
END_TEST

typedef struct Untraded {
	const char *jobs, *policy;
} Untraded;

static const Untraded untraded[] = {
	{ FEW(""), "gandiva-fair:trading=false" },
	/* B's other three jobs have an old GPU each, and no use for more. */
	{ FEW(",type=new"), "gandiva-fair" },
};

/* A3 is on old until, at the end of a quantum, it moves: 300 = 120 + 60 x 3. */
START_TEST(test_no_trade)
{
	g_autoptr(Fixture) fixture = fixture_new(untraded[_i].jobs, "1x4:new,1x4:old");
	g_autofree char *text = NULL;

	fixture_set_models(fixture, models_yaml);
	fixture_run(fixture, untraded[_i].policy);
	text = fixture_to_string(fixture);
	ck_assert_str_eq(text, "A1 0-100; A2 0-100; A3 0-180 M1; B1 0-300; B2 0-300; B3 0-300; "
	                       "B4 0-300; B5 0-300");
}
END_TEST

static double
last_finish_s(const Fixture *fixture, char prefix)
{
	SimTime last_ns = 0;

	for (JobId job = 0; job < fixture->workload->n_jobs; job++)
		if (fixture->workload->jobs[job].name[0] == prefix)
			last_ns = MAX(last_ns, fixture->record->jobs[job].finish_ns);
	return (double)last_ns / (double)NS_PER_S;
}

/* Four jobs of A, 900 s on old, and eight of B, 400 s, with two GPUs of either type each. Halfway
 * between 1 and 3 a new GPU costs two old ones: A has three new ones, worth 9 rather than 2 x 3 +
 * 2, and B one new and four old, worth 5 rather than 4.
 * A, with trading: 4 x 900 / 9 = 400 s. Without, two of its jobs are done at 300, when the others
 * have done 300 s and move to new: 300 + 600 / 3 = 500 s.
 * B, with: 5 x 400 s, and the remaining 1200 s on all eight, 550 s. Without: 4 x 300 s, then
 * 6 x 200 s, and the remaining 800 s on eight, 600 s. Turns of 10 s make it a few turns more. */
START_TEST(test_both_gain)
{
	g_autoptr(GString) jobs = g_string_new(NULL);
	g_autoptr(Fixture) fixture = NULL;
	double a_s, b_s;

	for (guint i = 0; i < 12; i++)
		g_string_append_printf(jobs, "%s%c%u,0,1,%d,user=%c,model=%s", i > 0 ? ";" : "",
		                       i < 4 ? 'A' : 'B', i, i < 4 ? 900 : 400, i < 4 ? 'a' : 'b',
		                       i < 4 ? "quick" : "plain");
	fixture = fixture_new(jobs->str, "1x4:new,1x4:old");
	fixture_set_models(fixture, models_yaml);
	fixture_run(fixture, Q10 ",price=middle");
	a_s = last_finish_s(fixture, 'A');
	b_s = last_finish_s(fixture, 'B');
	fixture_run(fixture, Q10 ",trading=false");
	ck_assert_double_ge(a_s, 400);
	ck_assert_double_le(a_s, 430);
	ck_assert_double_ge(last_finish_s(fixture, 'A'), 500);
	ck_assert_double_le(b_s, 580);
	ck_assert_double_ge(last_finish_s(fixture, 'B'), 600);
}
END_TEST

/* A job that is stopped keeps its GPU for 2 s, which count as had: at 20 A has paid 1.2 quanta and
 * B 0.8, so that B goes on. At 30 it is B that is stopped; A works from 35. At 40 both have paid 2,
 * and A, which came first, ends at 45. */
START_TEST(test_overheads)
{
	g_autoptr(Fixture) fixture = fixture_new("A,0,1,20,user=a; B,0,1,20,user=b", "1x1");
	g_autofree char *text = NULL;

	fixture->scenario.overheads.suspend_ns = 2 * NS_PER_S;
	fixture->scenario.overheads.resume_ns = 3 * NS_PER_S;
	fixture_run(fixture, Q10);
	text = fixture_to_string(fixture);
	ck_assert_str_eq(text, "A 0-45 P1; B 12-50 P1");
}
END_TEST

/* Trials that are paused, stopped and resumed by their tuners, beside others, while jobs are being
 * suspended. */
static const char *const tuners[] = { "successive-halving", "asha:eta=2", "hyperband" };

START_TEST(test_tuners)
{
	g_autoptr(GString) jobs = g_string_new("x,0,2,300,user=x; y,0,4,200,user=y");
	g_autoptr(Fixture) fixture = NULL;

	for (guint i = 0; i < 9; i++)
		g_string_append_printf(jobs, ";t%u,%u,%u,400,user=t,app=t,loss=1:0.%u:10%s%s", i,
		                       i % 3, 1 + i % 2, 1 + (i * 4) % 9, i == 0 ? ",tuner=" : "",
		                       i == 0 ? tuners[_i] : "");
	fixture = fixture_new(jobs->str, "2x2");
	fixture->scenario.overheads.suspend_ns = NS_PER_S;
	fixture_run(fixture, Q10);
	for (JobId job = 0; job < fixture->workload->n_jobs; job++) {
		JobState state = fixture->record->jobs[job].state;

		ck_assert(state == JOB_FINISHED || (state == JOB_STOPPED && job >= 2));
	}
}
END_TEST

typedef struct Wrong {
	const char *policy, *text;
} Wrong;

static const Wrong wrongs[] = {
	{ "gandiva-fair:quantum_s=7",
	  "quantum_s: found 7, wanted more than resume_s + suspend_s of 8" },
	{ "gandiva-fair:tickets=[a]", "found \"a\", wanted NAME=NUMBER" },
	{ "gandiva-fair:tickets=[a=0]", "found \"0\", wanted NAME=NUMBER" },
	{ "gandiva-fair:tickets=[a=1,a=2]", "found \"a\" twice" },
	{ "gandiva-fair:stride=lottery", "stride" },
};

START_TEST(test_wrong)
{
	g_autoptr(Fixture) fixture = fixture_new("A,0,1,20", "1x1");
	g_autoptr(GError) error = NULL;

	fixture->scenario.overheads.suspend_ns = 2 * NS_PER_S;
	fixture->scenario.overheads.resume_ns = 6 * NS_PER_S;
	ck_assert(!fixture_try(fixture, wrongs[_i].policy, &error));
	ck_assert_int_eq(error->code, SIM_ERROR_USAGE);
	ck_assert_msg(strstr(error->message, wrongs[_i].text) != NULL, "%s", error->message);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("gandiva-fair");
	TCase *tests = tcase_create("runs");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, test_case, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tests, test_unused_share);
	tcase_add_loop_test(tests, test_stride, 0, G_N_ELEMENTS(strides));
	tcase_add_test(tests, test_nobody_is_owed_for_ever);
	tcase_add_test(tests, test_trade);
	tcase_add_loop_test(tests, test_no_trade, 0, G_N_ELEMENTS(untraded));
	tcase_add_test(tests, test_both_gain);
	tcase_add_test(tests, test_overheads);
	tcase_add_loop_test(tests, test_tuners, 0, G_N_ELEMENTS(tuners));
	tcase_add_loop_test(tests, test_wrong, 0, G_N_ELEMENTS(wrongs));
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed > 0;
}
