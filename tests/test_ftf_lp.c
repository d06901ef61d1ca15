/* SPDX-License-Identifier: MIT */

/* The finish-time-fairness program, against values worked out by hand and other ways to them, and
 * the rounds of ftf-lp. */

#include <check.h>
#include <math.h>

#include "policies/ftf_lp/program.h"
#include "sim/base/rng.h"
#include "tests/fixture.h"

/* E7 of the worked examples: J1 has just come, J2 ran alone for 100 s. On one GPU, which takes no
 * linear program, and on two halves of one, which does. */
START_TEST(test_e7)
{
	static const double gpus[] = { 1 }, halves[] = { 0.5, 0.5 };
	static const double speeds[] = { 1, 1 };
	FtfProgram *program = _i == 0 ? ftf_program_new(1, gpus) : ftf_program_new(2, halves);
	double shares[2] = { 0 };

	ftf_program_add_party(program, 0, 0);
	ftf_program_add_member(program, 1, 100, speeds);
	ftf_program_add_party(program, 100, 100);
	ftf_program_add_member(program, 1, 300, speeds);
	ck_assert(ftf_program_solve(program));
	for (guint member = 0; member < 2; member++)
		for (guint type = 0; type < 1 + (guint)_i; type++)
			shares[member] += ftf_program_share(program, member, type);
	ck_assert_double_eq(shares[0], 0.5);
	ck_assert_double_eq(shares[1], 0.5);
	ck_assert_double_eq(ftf_program_rho(program, 0), 1);
	ck_assert_double_eq(ftf_program_rho(program, 1), 1);
	ck_assert_double_eq(ftf_program_isolated_rate(program, 0), 0.5);
	ck_assert((ftf_program_n_solved(program) > 0) == (_i == 1));
	ftf_program_free(program);
}
END_TEST

/* A, 1 GPU, could have been alone on both for 100 s: rho = (900 + 100) / 100 = 10 at best, with
 * all of the time. What is left goes to B and C, new and equal: half of the other GPU each, 200 s
 * of 150 s (2 GPUs / 3 jobs). */
START_TEST(test_nobody_better_off_waits_for_the_worst)
{
	static const double gpus[] = { 2 };
	static const double speeds[] = { 1 };
	FtfProgram *program = ftf_program_new(1, gpus);

	ftf_program_add_party(program, 900, 0);
	ftf_program_add_member(program, 1, 100 * 2 / 3.0, speeds);
	for (guint i = 0; i < 2; i++) {
		ftf_program_add_party(program, 0, 0);
		ftf_program_add_member(program, 1, 100, speeds);
	}
	ck_assert(ftf_program_solve(program));
	ck_assert_double_eq(ftf_program_share(program, 0, 0), 1);
	ck_assert_double_eq(ftf_program_share(program, 1, 0), 0.5);
	ck_assert_double_eq(ftf_program_share(program, 2, 0), 0.5);
	ck_assert_double_eq_tol(ftf_program_rho(program, 1), 200 / 150.0, 1e-9);
	ftf_program_free(program);
}
END_TEST

/* One fast and one slow GPU. A runs four times as fast on the fast one, B as fast on both. In
 * isolation A has (4 + 1) / 2, B 1. A on the fast one and B on the slow one: rho of A is
 * 2.5 / 4, of B 1 (its best, whatever A does), both of one GPU all the time. */
START_TEST(test_types_go_to_whom_they_help)
{
	static const double gpus[] = { 1, 1 };
	static const double a[] = { 4, 1 }, b[] = { 1, 1 };
	FtfProgram *program = ftf_program_new(2, gpus);

	ftf_program_add_party(program, 0, 0);
	ftf_program_add_member(program, 1, 100, a);
	ftf_program_add_party(program, 0, 0);
	ftf_program_add_member(program, 1, 100, b);
	ck_assert(ftf_program_solve(program));
	ck_assert_double_eq_tol(ftf_program_share(program, 0, 0), 1, 1e-8);
	ck_assert_double_eq_tol(ftf_program_share(program, 1, 1), 1, 1e-8);
	ck_assert_double_eq_tol(ftf_program_rho(program, 0), 0.625, 1e-8);
	ck_assert_double_eq_tol(ftf_program_rho(program, 1), 1, 1e-8);
	ftf_program_free(program);
}
END_TEST

/* Water rises: A may run on the first type alone, which it shares with B; C and D have the second
 * to themselves, of which there is more. The worst are A and B; C and D are better off, and as well
 * off as they can be: three quarters of the time each, on 3 GPUs by gangs of 2. */
START_TEST(test_water_rises)
{
	static const double gpus[] = { 1, 3 };
	static const double first[] = { 1, 0 }, second[] = { 0, 1 };
	FtfProgram *program = ftf_program_new(2, gpus);

	for (guint i = 0; i < 4; i++) {
		ftf_program_add_party(program, 0, 0);
		ftf_program_add_member(program, i < 2 ? 1 : 2, 100, i < 2 ? first : second);
	}
	ck_assert(ftf_program_solve(program));
	ck_assert_double_eq_tol(ftf_program_share(program, 0, 0), 0.5, 1e-8);
	ck_assert_double_eq_tol(ftf_program_share(program, 1, 0), 0.5, 1e-8);
	ck_assert_double_eq_tol(ftf_program_share(program, 2, 1), 0.75, 1e-8);
	ck_assert_double_eq_tol(ftf_program_share(program, 3, 1), 0.75, 1e-8);
	ftf_program_free(program);
}
END_TEST

/* X of three jobs, Y of one, two GPUs: by app one GPU each, by job half of the time. */
START_TEST(test_an_app_is_one_party)
{
	static const double gpus[] = { 2 };
	static const double speeds[] = { 1 };

	for (guint by_app = 0; by_app < 2; by_app++) {
		FtfProgram *program = ftf_program_new(1, gpus);

		for (guint i = 0; i < 4; i++) {
			if (!by_app || i == 0 || i == 3)
				ftf_program_add_party(program, 0, 0);
			ftf_program_add_member(program, 1, 100, speeds);
		}
		ck_assert(ftf_program_solve(program));
		ck_assert_double_eq_tol(ftf_program_share(program, 0, 0), by_app ? 1.0 / 3 : 0.5,
		                        1e-9);
		ck_assert_double_eq(ftf_program_share(program, 3, 0), by_app ? 1 : 0.5);
		ck_assert_double_eq_tol(ftf_program_rho(program, 0), 1, 1e-9);
		ftf_program_free(program);
	}
}
END_TEST

typedef struct Case {
	const char *name, *jobs, *cluster, *policy, *expected;
} Case;

static const Case cases[] = {
	/* E7 from 100 on, in rounds of 50 s: X is half for both. J2 goes first; then f is 75/100
	 * and 25/100, and J1 goes; then they are equal, J2, J1, which ends at 300. */
	{ "E7", "J2,0,1,400; J1,100,1,100", "1x1", "ftf-lp:round_s=50",
	  "J2 0-500 P2; J1 150-300 P1" },
	{ "idle GPUs wait for a round", "A,0,1,100; B,10,1,50", "1x2", "ftf-lp",
	  "A 0-100; B 100-150" },
	{ "or do not", "A,0,1,100; B,10,1,50", "1x2", "ftf-lp:trigger=free", "A 0-100; B 10-60" },
	/* The round of 360 goes on when A ends early, until all have ended. */
	{ "a round ends with its last job", "A,0,1,100; B,0,1,200; C,1,2,50", "1x2", "ftf-lp",
	  "A 0-100; B 0-200; C 200-250" },
	/* Any order of the small ones would leave no machine for the gang. */
	{ "big gangs are placed first", "A,0,1,50; B,0,1,50; C,0,2,50", "2x2",
	  "ftf-lp:max_level=machine,placement=spread", "A 0-50; B 0-50; C 0-50" },
	/* p100s do for C alone: A has the v100. */
	{ "types", "A,0,1,50,type=v100; C,0,1,50", "1x1:v100,1x1:p100", "ftf-lp",
	  "A 0-50; C 0-50" },
	{ "a gang wider than a type", "A,0,3,50; B,0,1,50", "1x2:v100,1x4:p100", "ftf-lp",
	  "A 0-50; B 0-50" },
};

START_TEST(test_case)
{
	const Case *row = &cases[_i];

	fixture_expect(row->jobs, row->cluster, row->policy, row->expected);
}
END_TEST

/* L can run on the v100 alone; M is four times as fast there. In isolation L has a rate of 1/2, M
 * of 1/2 + 1/8, so that at rho = 1 both are even: half of the v100 each, and M half of its time on
 * the p100. Claims are equal, and L has the v100 first. At 60 L has had 3/4 of it, M 1/4: M moves
 * there, and L waits. At 120 they are even again: L is back until its end at 160. M has done 15 +
 * 60, and 15 more on the p100 by 180, when the next round moves it. */
static const char models_yaml[] = "models:\n"
                                  "  m: {throughput: {v100: 1, p100: 0.25}}\n"
                                  "  n: {throughput: {v100: 1, p100: 1}}\n";

START_TEST(test_moves_to_the_better_type)
{
	g_autoptr(Fixture) fixture =
	    fixture_new("L,0,1,100,model=n,type=v100; M,0,1,100,model=m", "1x1:v100,1x1:p100");
	g_autofree char *text = NULL;

	fixture_set_models(fixture, models_yaml);
	fixture_run(fixture, "ftf-lp:round_s=60");
	text = fixture_to_string(fixture);
	ck_assert_str_eq(text, "L 0-160 P1; M 0-190 M3");
}
END_TEST

typedef struct Draws {
	RngStream stream;
	guint64 n;
} Draws;

static guint
draw(Draws *draws, guint n)
{
	return rng_below(draws->stream, draws->n++, 0, n);
}

/* Any GPUs of two types on which all run alike are as good as those of one type: the linear program
 * comes to the rho that the sum comes to. */
START_TEST(test_two_equal_types_are_one)
{
	Draws draws = { .stream = rng_stream((guint64)_i, "ftf") };
	static const double speeds[] = { 1, 1 };
	guint first = 1 + draw(&draws, 8), second = 1 + draw(&draws, 8);
	const double one_type[] = { first + second }, two_types[] = { first, second };
	FtfProgram *one = ftf_program_new(1, one_type), *two = ftf_program_new(2, two_types);
	guint n = 1 + draw(&draws, 30);

	for (guint i = 0; i < n; i++) {
		double elapsed = draw(&draws, 1000), isolated = elapsed * draw(&draws, 100) / 99;
		double left = 1 + draw(&draws, 1000);
		guint n_members = 1 + draw(&draws, 3);

		ftf_program_add_party(one, elapsed, isolated);
		ftf_program_add_party(two, elapsed, isolated);
		for (guint j = 0; j < n_members; j++) {
			double width = 1 + draw(&draws, MIN(first, second));

			ftf_program_add_member(one, width, left, speeds);
			ftf_program_add_member(two, width, left, speeds);
		}
	}
	ck_assert(ftf_program_solve(one));
	ck_assert(ftf_program_solve(two));
	for (guint i = 0; i < n; i++) {
		double rho = ftf_program_rho(one, i);

		ck_assert_double_eq_tol(ftf_program_rho(two, i), rho, 1e-7 * rho);
	}
	ftf_program_free(one);
	ftf_program_free(two);
}
END_TEST

/* X keeps to the GPUs, and no other X of a grid has a smaller largest rho. */
START_TEST(test_no_better_on_a_grid)
{
	enum { N = 20 };
	Draws draws = { .stream = rng_stream((guint64)_i, "grid") };
	const double gpus[] = { 1 + draw(&draws, 3), 1 + draw(&draws, 3) };
	FtfProgram *program = ftf_program_new(2, gpus);
	double speeds[2][2], elapsed[2], isolated[2], left[2], alone[2], widths[2], worst = 0;
	double least = HUGE_VAL;

	for (guint i = 0; i < 2; i++) {
		elapsed[i] = draw(&draws, 200);
		isolated[i] = draw(&draws, 100);
		left[i] = 1 + draw(&draws, 300);
		widths[i] = 1 + draw(&draws, 2);
		for (guint type = 0; type < 2; type++)
			speeds[i][type] = (1 + draw(&draws, 8)) / 4.0;
		ftf_program_add_party(program, elapsed[i], isolated[i]);
		ftf_program_add_member(program, widths[i], left[i], speeds[i]);
	}
	ck_assert(ftf_program_solve(program));
	for (guint i = 0; i < 2; i++) {
		worst = MAX(worst, ftf_program_rho(program, i));
		alone[i] = ftf_program_isolated_rate(program, i) / widths[i];
	}
	for (guint type = 0; type < 2; type++)
		ck_assert_double_le(widths[0] * ftf_program_share(program, 0, type) +
		                        widths[1] * ftf_program_share(program, 1, type),
		                    gpus[type] * (1 + 1e-8));
	for (guint at = 0; at < (N + 1) * (N + 1) * (N + 1) * (N + 1); at++) {
		guint rest = at;
		double x[2][2], rho = 0;
		gboolean is_possible = TRUE;

		for (guint i = 0; i < 4; i++, rest /= N + 1)
			x[i / 2][i % 2] = (double)(rest % (N + 1)) / N;
		for (guint i = 0; i < 2; i++) {
			double rate = speeds[i][0] * x[i][0] + speeds[i][1] * x[i][1];

			is_possible &= x[i][0] + x[i][1] <= 1 &&
			               widths[0] * x[0][i] + widths[1] * x[1][i] <= gpus[i];
			rho = MAX(rho, (elapsed[i] + left[i] / rate) /
			                   (isolated[i] + left[i] / alone[i]));
		}
		if (is_possible)
			least = MIN(least, rho);
	}
	ck_assert_double_ge(least, worst * (1 - 1e-7));
	ftf_program_free(program);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("ftf-lp");
	TCase *tests = tcase_create("program");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	tcase_add_loop_test(tests, test_e7, 0, 2);
	tcase_add_test(tests, test_nobody_better_off_waits_for_the_worst);
	tcase_add_test(tests, test_types_go_to_whom_they_help);
	tcase_add_test(tests, test_water_rises);
	tcase_add_test(tests, test_an_app_is_one_party);
	tcase_add_loop_test(tests, test_case, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tests, test_moves_to_the_better_type);
	tcase_add_loop_test(tests, test_two_equal_types_are_one, 1, 60);
	tcase_add_loop_test(tests, test_no_better_on_a_grid, 1, 20);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed > 0;
}
