/* SPDX-License-Identifier: MIT */

/* Fair shares, quotas and the greedy finish-time fairness, run to the end on small traces. */

#include <check.h>
#include <string.h>

#include "sim/base/error.h"
#include "tests/fixture.h"

typedef struct Case {
	const char *name, *jobs, *cluster, *policy, *expected;
} Case;

#define TWO_TENANTS                                                                              \
	"a1,0,1,10,user=u1,tenant=t1; a2,0,1,10,user=u1,tenant=t1; a3,0,1,10,user=u1,tenant=t1;" \
	"a4,0,1,10,user=u1,tenant=t1; b1,0,1,10,user=u2,tenant=t1; c1,0,1,10,user=u3,tenant=t2;" \
	"c2,0,1,10,user=u3,tenant=t2; c3,0,1,10,user=u3,tenant=t2; c4,0,1,10,user=u3,tenant=t2"

static const Case cases[] = {
	/* One GPU each; then shares are 0 again: a, b, and a, as nobody else waits. */
	{ "three users",
	  "A1,0,1,10,user=a; A2,0,1,10,user=a; A3,0,1,10,user=a; B1,0,1,10,user=b; "
	  "B2,0,1,10,user=b; C1,0,1,10,user=c",
	  "1x3", "max-min", "A1 0-10; A2 10-20; A3 10-20; B1 0-10; B2 10-20; C1 0-10" },
	/* b and then a, neither holding anything; A does not fit beside X, and B goes on. */
	{ "a gang that does not fit", "X,0,1,10,user=b; A,0,4,10,user=a; B,0,1,5,user=b", "1x4",
	  "max-min", "X 0-10; A 10-20; B 0-5" },
	{ "nobody is stopped", "A,0,2,30,user=a; B,5,1,10,user=b", "1x2", "max-min",
	  "A 0-30; B 30-40" },
	/* At 10 neither holds anything, and a has had 20 GPU-s. */
	{ "but at the end of a quantum", "A,0,2,30,user=a; B,5,1,10,user=b", "1x2",
	  "max-min:preempt=true,quantum_s=10", "A 0-40 P1; B 10-20" },
	/* They take turns, as each has had less in its turn. */
	{ "turns", "A,0,1,20,user=a; B,0,1,20,user=b", "1x1", "max-min:preempt=true,quantum_s=10",
	  "A 0-30 P1; B 10-40 P1" },
	/* b has twice the weight: after 10 s of a it has 20 s, until it has had twice as much
	 * and, at 30, goes second. */
	{ "turns by weight", "A,0,1,20,user=a; B,0,1,40,user=b,weight=2", "1x1",
	  "max-min:preempt=true,quantum_s=10", "A 0-40 P1; B 10-60 P1" },
	{ "an app's jobs share", "A1,0,1,10,app=x; A2,0,1,10,app=x; B,0,1,10,app=y", "1x2",
	  "max-min:by=app", "A1 0-10; A2 10-20; B 0-10" },
	/* t1 and t2 have two each. u1, who comes first, takes both of t1. */
	{ "tenants", TWO_TENANTS, "1x4", "max-min:by=tenant",
	  "a1 0-10; a2 0-10; a3 10-20; a4 10-20; b1 20-30; c1 0-10; c2 0-10; c3 10-20; c4 10-20" },
	{ "users of tenants", TWO_TENANTS, "1x4", "max-min:by=tenant,within=user",
	  "a1 0-10; a2 10-20; a3 10-20; a4 20-30; b1 0-10; c1 0-10; c2 0-10; c3 10-20; c4 10-20" },
	/* By user alone: at first u1, u2, u3, and u1, who is before u3; then u1 and u3. */
	{ "users", TWO_TENANTS, "1x4", "max-min:by=user",
	  "a1 0-10; a2 0-10; a3 10-20; a4 10-20; b1 0-10; c1 0-10; c2 10-20; c3 10-20; c4 20-30" },

	/* ftf-greedy. T_id of A is 2400 / (4 GPUs / 2) = 1200, of B 600. With all four:
	 * 0: A 600/1200, B 300/600, a tie: A. 100: .5, .667: B. 200: .583, .667: B. 300: .667 and
	 * .667: A. 400: .667, .833: B, which ends at 500. */
	{ "greedy", "A,0,4,600; B,0,4,300", "1x4", "ftf-greedy:lease_s=100",
	  "A 0-900 P2; B 100-500 P1" },
	{ "what is idle is given at once", "A,0,2,100; B,10,2,50", "1x4", "ftf-greedy",
	  "A 0-100; B 10-60" },
	/* At 100 X, of two jobs, has 200 GPU-s left and had 400 in all: T_id 400 / 2 = 200, rho
	 * (100 + 200/4) / 200 = .75. Y came at 50, alone it is 50 s: it would take
	 * (50 + 50) / (50 x 2 / 2) = 2, and goes first. One job of X fits beside it. */
	{ "apps as a whole", "X1,0,2,150,app=x; X2,0,2,50,app=x; Y,50,2,50,app=y", "1x4",
	  "ftf-greedy:lease_s=100", "X1 0-150; X2 0-50; Y 50-100" },

	/* quota. A borrows all; B is within its quota, and takes it back. A has 90 s left. */
	{ "reclaim", "A,0,4,100,tenant=a; B,10,2,20,tenant=b", "1x4", "quota:quotas=[a=2,b=2]",
	  "A 0-120 P1; B 10-30" },
	{ "reclaim after a while", "A,0,4,100,tenant=a; B,10,2,20,tenant=b", "1x4",
	  "quota:quotas=[a=2,b=2],reclaim_grace_s=15", "A 0-120 P1; B 25-45" },
	{ "no need to", "A,0,4,20,tenant=a; B,10,2,20,tenant=b", "1x4",
	  "quota:quotas=[a=2,b=2],reclaim_grace_s=15", "A 0-20; B 20-40" },
	/* While B waits nobody borrows the GPU that is free: C goes after it. */
	{ "nothing is lent meanwhile", "A,0,3,100,tenant=a; B,10,2,20,tenant=b; C,11,1,5,tenant=a",
	  "1x4", "quota:quotas=[a=0,b=4],reclaim_grace_s=5", "A 0-120 P1; B 15-35; C 15-20" },
	/* A2 is on borrowed GPUs until A1 ends. B takes those of C, the only borrower left. */
	{ "a borrower comes under the quota",
	  "A1,0,2,50,tenant=a; A2,0,2,100,tenant=a; C,55,2,100,tenant=c; B,60,2,20,tenant=b", "1x4",
	  "quota:quotas=[a=2,b=2]", "A1 0-50; A2 0-100; C 55-175 P1; B 60-80" },
	/* One GPU: o3 is the youngest. */
	{ "the youngest first",
	  "o1,0,1,100,tenant=a; o2,1,1,100,tenant=a; o3,2,1,100,tenant=a; B,10,1,10,tenant=b",
	  "1x3", "quota:quotas=[b=3]", "o1 0-100; o2 1-101; o3 2-112 P1; B 10-20" },
	/* Two: the youngest, o2, is not enough; with o1 there is no need of o2. */
	{ "none that can be spared", "o1,0,2,100,tenant=a; o2,1,1,100,tenant=a; B,10,2,10,tenant=b",
	  "1x3", "quota:quotas=[b=3]", "o1 0-110 P1; o2 1-101; B 10-20" },
	/* o2 is on the first machine, and o1 has all of the second: one GPU less is lost. */
	{ "the machine where it costs least",
	  "o2,0,1,100,tenant=a; o1,1,2,100,tenant=a; B,10,2,10,tenant=b", "2x2",
	  "quota:quotas=[b=4]", "o2 0-110 P1; o1 1-101; B 10-20" },
	/* A gang wider than a machine: o2, of the second machine, alone will not do. */
	{ "several machines", "o1,0,2,100,tenant=a; o2,1,2,100,tenant=a; B,10,3,10,tenant=b", "2x2",
	  "quota:quotas=[b=4]", "o1 0-110 P1; o2 1-111 P1; B 10-20" },
	{ "a limit to borrowing", "A1,0,1,10,tenant=a; A2,0,1,10,tenant=a; A3,0,1,10,tenant=a",
	  "1x4", "quota:quotas=[a=1,b=3],borrow_limit_gpus=1", "A1 0-10; A2 0-10; A3 10-20" },
	{ "a limit to lending", "A1,0,2,10,tenant=a; A2,0,1,10,tenant=a", "1x4",
	  "quota:quotas=[b=4],lend_limit_frac=0.5", "A1 0-10; A2 10-20" },
	/* Two of the four are nobody's quota; b lends none of its own. */
	{ "GPUs of nobody", "A1,0,2,10,tenant=a; A2,0,1,10,tenant=a", "1x4",
	  "quota:quotas=[b=2],lend_limit_frac=0", "A1 0-10; A2 10-20" },
	{ "too wide for the limits", "A,0,3,10,tenant=a; B,0,2,10,tenant=a; C,0,4,10,tenant=b",
	  "1x4", "quota:quotas=[b=4],lend_limit_frac=0.5", "A REJECTED; B 10-20; C 0-10" },
	{ "quotas of the cluster's file", "A,0,4,100,tenant=a; B,10,2,20,tenant=b",
	  "racks:\n  - machines:\n      - {count: 1, gpus: 4}\n"
	  "tenants: {a: {gpus: 2}, b: {gpus: 2}}\n",
	  "quota", "A 0-120 P1; B 10-30" },
};

START_TEST(test_case)
{
	const Case *row = &cases[_i];

	fixture_expect(row->jobs, row->cluster, row->policy, row->expected);
}
END_TEST

/* Weights 3, 2, 1 on 6 GPUs, 6 jobs of one GPU each: progressive filling gives 3, 2, 1. When a is
 * through with its jobs, b and c have all that they can use. */
START_TEST(test_weights)
{
	static const char *const expected[] = {
		"0 0 0 10 10 10",
		"0 0 10 10 20 20",
		"0 10 20 20 20 20",
	};
	g_autoptr(GString) jobs = g_string_new(NULL);
	g_autoptr(Fixture) fixture = NULL;

	for (guint user = 0; user < 3; user++)
		for (guint i = 0; i < 6; i++)
			g_string_append_printf(jobs, "%c%u,0,1,10,user=%c,weight=%u;", 'a' + user,
			                       i, 'a' + user, 3 - user);
	fixture = fixture_new(jobs->str, "1x6");
	fixture_run(fixture, "max-min");
	for (guint user = 0; user < 3; user++) {
		g_autoptr(GString) starts = g_string_new(NULL);

		for (guint i = 0; i < 6; i++) {
			g_autofree char *job = g_strdup_printf("%c%u", 'a' + user, i);

			g_string_append_printf(starts, "%s%g", i > 0 ? " " : "",
			                       fixture_start_s(fixture, job));
		}
		ck_assert_str_eq(starts->str, expected[user]);
	}
}
END_TEST

/* B's GPUs are free 5 s after A has been stopped, and are kept for it. */
START_TEST(test_reclaim_takes_time)
{
	g_autoptr(Fixture) fixture =
	    fixture_new("A,0,4,100,tenant=a; B,10,2,20,tenant=b; C,12,1,10,tenant=a", "1x4");
	g_autofree char *text = NULL;

	fixture->scenario.overheads.suspend_ns = 5 * NS_PER_S;
	fixture_run(fixture, "quota:quotas=[a=0,b=2]");
	text = fixture_to_string(fixture);
	ck_assert_str_eq(text, "A 0-125 P1; B 15-35; C 15-25");
}
END_TEST

typedef struct Refusal {
	const char *cluster, *policy, *complaint;
} Refusal;

static const Refusal refusals[] = {
	{ "1x4", "quota", "found no tenants" },
	{ "1x4", "quota:quotas=[a=2,b]", "found \"b\"" },
	{ "1x4", "quota:quotas=[a=2,b=x]", "found \"x\"" },
	{ "1x4", "quota:quotas=[a=2,a=1]", "found \"a\" twice" },
	{ "1x4", "max-min:by=user,within=tenant", "within: found" },
	{ "1x4", "max-min:preempt=true,quantum_s=5", "quantum_s: found 5, wanted more than" },
	{ "1x4", "ftf-greedy:lease_s=5", "lease_s: found 5, wanted more than" },
};

START_TEST(test_refusal)
{
	const Refusal *row = &refusals[_i];
	g_autoptr(Fixture) fixture = fixture_new("A,0,1,10", row->cluster);
	g_autoptr(GError) error = NULL;

	fixture->scenario.overheads.resume_ns = 5 * NS_PER_S;
	ck_assert(!fixture_try(fixture, row->policy, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_USAGE));
	ck_assert_msg(strstr(error->message, row->complaint) != NULL, "%s", error->message);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("fair shares");
	TCase *tests = tcase_create("policies");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	tcase_add_loop_test(tests, test_case, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tests, test_weights);
	tcase_add_test(tests, test_reclaim_takes_time);
	tcase_add_loop_test(tests, test_refusal, 0, G_N_ELEMENTS(refusals));
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed > 0;
}
