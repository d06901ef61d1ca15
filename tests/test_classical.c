/* SPDX-License-Identifier: MIT */

/*
 * The classical policies and Tiresias, run to the end on small traces. Right values are those of
 * the worked examples of the papers and of the list of problem files, or are worked out in a
 * comment.
 */

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "policies/backlog.h"
#include "policies/tiresias/gittins.h"
#include "sim/base/error.h"
#include "sim/base/rng.h"
#include "tests/fixture.h"

typedef struct Case {
	const char *name, *jobs, *cluster, *policy, *expected;
} Case;

/* Two GPUs, unit intervals: Tiresias' Figure 7. */
#define FIGURE_7 "J1,0,2,2; J2,0,1,8; J3,0,2,6"

static const Case cases[] = {
	{ "S01 too large for the cluster", "A,0,16,100; B,0,1,10", "2x4", "fifo",
	  "A REJECTED; B 0-10" },
	{ "S03 no duration", "A,0,1,0; B,0,1,5", "1x1", "fifo", "A 0-0; B 0-5" },
	{ "S04 one submit time", "c,0,2,10; a,0,1,10; b,0,1,10", "1x2", "fifo",
	  "c 0-10; a 10-20; b 10-20" },
	{ "S05 unsorted", "A,100,1,10; B,0,1,10; C,50,1,10", "1x1", "fifo",
	  "A 100-110; B 0-10; C 50-60" },
	{ "S16 back to back", "A,0,1,10; B,0,1,5", "1x1", "fifo", "A 0-10; B 10-15" },
	{ "S17 ends inside a quantum", "A,0,1,10", "1x1", "las:quantum_s=300", "A 0-10" },
	{ "S20 two gangs", "A,0,4,10; B,0,4,10", "2x2", "fifo", "A 0-10; B 10-20" },
	{ "S20 four gangs", "A,0,3,10; B,0,3,10; C,0,3,10; D,0,3,10", "2x4", "fifo",
	  "A 0-10; B 0-10; C 10-20; D 10-20" },
	{ "E02 strict", "A,0,3,10; B,1,4,10; C,2,1,5", "1x4", "fifo", "A 0-10; B 10-20; C 20-25" },
	{ "E02 skip", "A,0,3,10; B,1,4,10; C,2,1,5", "1x4", "fifo-skip", "A 0-10; B 10-20; C 2-7" },
	{ "E04 time limit", "A,0,1,10,limit=10; B,0,1,10,limit=9", "1x2", "fifo",
	  "A 0-10; B 0-9 TIMEOUT" },
	{ "E08 alone, no restart", "A,0,1,100", "1x1", "srtf", "A 0-100" },
	{ "E10 stale end", "A,0,1,10; B,5,1,3,priority=1", "1x1", "priority:preempt=true",
	  "A 0-13 P1; B 5-8" },
	{ "E13 runs on with an empty queue", "A,0,1,1000", "1x1", "las:quantum_s=60", "A 0-1000" },
	{ "E14 alone, fifo", "A,0,1,10", "1x1", "fifo", "A 0-10" },
	{ "E14 alone, las", "A,0,1,10", "1x1", "las:quantum_s=1", "A 0-10" },
	{ "E14 two, fifo", "A,0,1,10; B,0,1,20", "1x1", "fifo", "A 0-10; B 10-30" },
	{ "E14 two, srtf", "A,0,1,10; B,0,1,20", "1x1", "srtf", "A 0-10; B 10-30" },
	{ "E17 no part of a gang", "R,0,1,100; G,1,4,10; S,2,1,5", "1x4", "fifo-skip",
	  "R 0-100; G 100-110; S 2-7" },

	/* worked examples */
	{ "E8 demotion", "J1,0,4,2000; J2,100,2,1000", "1x4", "tiresias",
	  "J1 0-3000 P1; J2 812.5-1812.5" },
	{ "E8 promotion", "J1,0,4,2000; J2,100,2,1000", "1x4", "tiresias:promote_knob=1",
	  "J1 0-3000 P1; J2 812.5-1812.5" },
	{ "E10 sjf", "J1,0,4,100; J2,10,2,20; J3,15,4,50", "1x4", "sjf",
	  "J1 0-100; J2 100-120; J3 120-170" },
	{ "E11 fifo", "A,0,2,100; B,1,4,50; C,2,2,80; D,3,2,120", "1x4", "fifo",
	  "A 0-100; B 100-150; C 150-230; D 150-270" },
	{ "E11 easy", "A,0,2,100; B,1,4,50; C,2,2,80; D,3,2,120", "1x4", "easy",
	  "A 0-100; B 100-150; C 2-82; D 150-270" },
	{ "Figure 7 srsf", FIGURE_7, "1x2", "srsf", "J1 0-2; J2 2-10; J3 10-16" },
	{ "Figure 7 las", FIGURE_7, "1x2", "2d-las:quantum_s=1",
	  "J1 0-5 P1; J2 1-14 P5; J3 2-16 P4" },
	/* J2 2-6 to 4 GPU-s, J3 6-8 to 4 GPU-s, then by first start */
	{ "Figure 7 queues", FIGURE_7, "1x2", "tiresias:thresholds_gpu_s=[4,8]",
	  "J1 0-2; J2 2-12 P1; J3 6-16 P1" },

	/* orders and ties */
	{ "sjf by duration", "A,0,1,10; B,1,1,30; C,2,1,20", "1x1", "sjf",
	  "A 0-10; B 30-60; C 10-30" },
	{ "sjf is strict", "A,0,1,50; B,1,2,5; C,2,1,9", "1x2", "sjf", "A 0-50; B 50-55; C 55-64" },
	{ "srtf: equal keys stay", "A,0,1,10; B,5,1,5", "1x1", "srtf", "A 0-10; B 10-15" },
	/* At 4 B has 3 left, A 6. */
	{ "srtf stops the longer", "A,0,1,10; B,4,1,3", "1x1", "srtf", "A 0-13 P1; B 4-7" },
	/* B may not stop A before 6, when A has 4 left and B 3. */
	{ "srtf: min_run_s", "A,0,1,10; B,4,1,3", "1x1", "srtf:min_run_s=6", "A 0-13 P1; B 6-9" },
	/* At 8 A has 2 left. */
	{ "srtf: min_run_s too long", "A,0,1,10; B,4,1,3", "1x1", "srtf:min_run_s=8",
	  "A 0-10; B 10-13" },
	/* B does not fit beside A; C, behind it, does, and at 10 B fits beside C. */
	{ "srtf passes over", "A,0,2,10; B,1,2,30; C,2,1,40", "1x3", "srtf",
	  "A 0-10; B 10-40; C 2-42" },
	/* A, 90 x 1, goes before B, 50 x 2: it stays, and B does not fit beside it. */
	{ "srsf weighs width", "A,0,1,100; B,10,2,50", "1x2", "srsf", "A 0-100; B 100-150" },
	{ "srtf does not", "A,0,1,100; B,10,2,50", "1x2", "srtf", "A 0-150 P1; B 10-60" },
	/* Quanta of 10: A 0-10, B 10-20 (B arrived at 5), A (tie, first) 20-30, B 30-40 ... */
	{ "las takes turns", "A,0,1,20; B,5,1,20", "1x1", "las:quantum_s=10",
	  "A 0-30 P1; B 10-40 P1" },
	/* B's arrival does not end A's quantum; what is free is used at once. */
	{ "las uses what is free", "A,0,1,20; B,5,1,20", "1x2", "las:quantum_s=10",
	  "A 0-20; B 5-25" },
	/* A has had 10 s x 2 at its quantum's end, C 10 s x 1 at its own: C goes on. */
	{ "2d-las weighs width", "A,0,2,20; B,0,1,20; C,0,2,10", "1x3", "2d-las:quantum_s=10",
	  "A 0-30 P1; B 0-20; C 10-20" },
	{ "priority is strict", "A,0,1,10; B,1,2,10,priority=2; C,2,1,10,priority=1", "1x2",
	  "priority", "A 0-10; B 10-20; C 20-30" },
	{ "priority: submit breaks ties", "A,0,1,10,priority=-1; B,1,1,10; C,1,1,10", "1x1",
	  "priority", "A 0-10; B 10-20; C 20-30" },
	{ "priority stops the least urgent", "A,0,1,10; B,0,1,10,priority=1; C,2,1,3,priority=2",
	  "1x2", "priority:preempt=true", "A 0-13 P1; B 0-10; C 2-5" },

	/* B03: H needs two. A does not fit beside it and stops: B behind it keeps its GPU, and C
	 * does not start on the idle one. At 11 A has 9 left. */
	{ "B03 strict with stops",
	  "A,0,3,10,priority=2; B,0,1,30,priority=1; H,1,2,10,priority=3; C,2,1,10", "1x4",
	  "priority:preempt=true", "A 0-20 P1; B 0-30; H 1-11; C 20-30" },

	/* Left at 10: D 5, B 30, C 40, A 80. Beside D and B there is one GPU: not for C, but for A.
	 */
	{ "a running job may lose to a smaller one", "A,0,1,90; B,0,1,40; C,0,2,50; D,10,2,5",
	  "1x4", "srtf", "A 0-90; B 0-40; C 0-55 P1; D 10-15" },
	{ "a smaller one behind stays", "B,0,2,40; C,0,1,90; D,10,3,5", "1x4", "srtf",
	  "B 0-45 P1; C 0-90; D 10-15" },

	/* C01 over several machines: left at 10 are D 5, A 40, B 50, C 50. D takes the GPUs of A,
	 * one loser instead of two; A, whose turn is next, moves to those of B and C. On one
	 * machine nobody need move. */
	{ "C01 the fewest lose", "A,0,4,50; B,0,2,60; C,0,2,60; D,10,4,5", "2x4", "srtf",
	  "A 0-50 M1; B 0-65 P1; C 0-65 P1; D 10-15" },
	{ "the same on one machine", "A,0,4,50; B,0,2,60; C,0,2,60; D,10,4,5", "1x8", "srtf",
	  "A 0-50; B 0-65 P1; C 0-65 P1; D 10-15" },
	/* One loser suffices; of A and B, B is the later. */
	{ "C01 ties", "A,0,2,50; B,0,2,60; D,10,2,5", "2x2", "srtf", "A 0-50; B 0-65 P1; D 10-15" },

	/* easy */
	/* Shadow of B 100, extra 1: C (1 GPU, long) starts beside; D (1 GPU, long) does not. */
	{ "easy: extra is used up", "A,0,2,100; B,1,3,50; C,2,1,500; D,3,1,500", "1x4", "easy",
	  "A 0-100; B 100-150; C 2-502; D 150-650" },
	{ "easy: short ones use no extra", "A,0,2,100; B,1,3,50; C,2,1,98; D,3,1,500", "1x4",
	  "easy", "A 0-100; B 100-150; C 2-100; D 3-503" },
	/* The promise to B is kept: D would end at 103. */
	{ "easy: one second late", "A,0,2,100; B,1,4,50; C,3,1,98; D,3,1,97", "1x4", "easy",
	  "A 0-100; B 100-150; C 150-248; D 3-100" },

	/* T1 pauses at 5 and comes back at 10: then it is before X and Y, who came meanwhile. */
	{ "easy: a trial comes back",
	  "T1,0,1,10,app=t,tuner=successive-halving:phases=2,loss=2:0.4:5; "
	  "T2,0,1,10,app=t,loss=2:0.7:5; X,1,1,20; Y,2,1,5",
	  "1x1", "easy", "T1 0-15; T2 5-10 STOPPED; X 15-35; Y 35-40" },
	/* B's promise is the first machine at 10, when three GPUs will be free. C would be on it:
	 * it waits, though one of the three is over, and starts beside A2 when B has. */
	{ "easy: GPUs over in the wrong place", "A,0,1,10; A2,0,1,30; B,1,2,10; C,2,1,100; D,3,1,5",
	  "2x2", "easy:max_level=machine,placement=spread",
	  "A 0-10; A2 0-30; B 10-20; C 10-110; D 3-8" },
	/* A has the first machine until 10: C, on the second, is in nobody's way. */
	{ "easy: GPUs over in the right place", "A,0,2,10; A2,0,1,30; B,1,2,10; C,2,1,20; D,3,1,5",
	  "2x2", "easy:max_level=machine", "A 0-10; A2 0-30; B 10-20; C 2-22; D 20-25" },

	/* Shadow of X 50, on the p100s; then six GPUs are free, and two are over: those of the
	 * other type, D's. C would break the promise, E ends just in time. */
	{ "easy: a promise of one type or another",
	  "A,0,2,100,type=v100; B,0,2,50,type=p100; X,1,4,30,type=v100|p100; "
	  "C,2,1,500,type=p100; D,3,1,500,type=v100; E,4,1,46,type=p100",
	  "1x4:v100,1x4:p100", "easy", "A 0-100; B 0-50; X 50-80; C 80-580; D 3-503; E 4-50" },

	/* tests' own policies */
	{ "reject-all", "A,0,1,10; B,1,0,10", "1x1", "reject-all", "A REJECTED; B 1-11" },

	/* places */
	/* A and C sit on a machine each; B needs one for itself. */
	{ "max_level", "A,0,1,20; C,0,1,10; B,5,2,10", "2x2",
	  "fifo:placement=spread,max_level=machine", "A 0-20; C 0-10; B 10-20" },
	{ "gang on one type", "A,0,3,10; B,0,4,10", "1x2:v100,1x4:p100", "fifo-skip",
	  "A 0-10; B 10-20" },
	{ "type asked for", "A,0,2,10,type=v100; B,0,2,10,type=v100; C,0,2,10", "1x2:v100,1x2:p100",
	  "fifo-skip", "A 0-10; B 10-20; C 0-10" },
	{ "unknown type", "A,0,1,10,type=h100; B,0,1,10,type=h100|V100", "1x2:v100", "fifo",
	  "A REJECTED; B 0-10" },
	{ "shares sit together", "A,0,1,10,share=0.5; B,0,1,20,share=0.5; C,0,1,10,share=0.5",
	  "1x1", "fifo", "A 0-10; B 0-20; C 10-20" },
	{ "srtf stops a share", "A,0,1,30,share=0.5; B,0,1,20,share=0.5; C,1,1,10,share=0.4", "1x1",
	  "srtf", "A 0-40 P1; B 0-20; C 1-11" },
	/* C01: A and B sit on a machine each, and D needs one. B has more left and loses its place;
	 * when its turn comes it moves to the GPU that is free beside A. */
	{ "C01 a victim moves", "A,0,1,50; B,0,1,60; D,20,2,5", "2x2",
	  "srtf:placement=spread,max_level=machine", "A 0-50; B 0-60 M1; D 20-25" },
};

START_TEST(test_case)
{
	const Case *row = &cases[_i];

	fixture_expect(row->jobs, row->cluster, row->policy, row->expected);
}
END_TEST

START_TEST(test_starvation)
{
	g_autoptr(GString) jobs = g_string_new("BIG,1,4,10");
	const struct {
		const char *policy;
		double start_s;
	} rows[] = { { "fifo", 4 }, { "fifo-skip", 103 } };

	for (guint i = 0; i < 100; i++)
		g_string_append_printf(jobs, "; s%u,%u,1,4", i, i);
	for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(Fixture) fixture = fixture_new(jobs->str, "1x4");

		fixture_run(fixture, rows[i].policy);
		ck_assert_double_eq(fixture_start_s(fixture, "BIG"), rows[i].start_s);
		ck_assert_double_eq(fixture_finish_s(fixture, "BIG"), rows[i].start_s + 10);
	}
}
END_TEST

/* E12: ten thousand jobs of 0.1 s end at exactly 1000 s. */
START_TEST(test_no_drift)
{
	g_autoptr(GString) jobs = g_string_new(NULL);
	g_autoptr(Fixture) fixture = NULL;

	for (guint i = 0; i < 10000; i++)
		g_string_append_printf(jobs, "j%u,0,1,0.1;", i);
	fixture = fixture_new(jobs->str, "1x1");
	fixture_run(fixture, "fifo");
	ck_assert_int_eq(fixture->record->last_finish_ns, 1000 * NS_PER_S);
}
END_TEST

/* overheads */

START_TEST(test_restart_costs)
{
	g_autoptr(Fixture) srtf = fixture_new("J1,0,4,100; J2,10,2,20; J3,15,4,50", "1x4");
	g_autoptr(Fixture) tiresias = fixture_new("J1,0,4,2000; J2,100,2,1000", "1x4");

	srtf->scenario.overheads.resume_ns = 5 * NS_PER_S;
	fixture_run(srtf, "srtf");
	ck_assert_double_eq(fixture_finish_s(srtf, "J1"), 175);
	ck_assert_double_eq(fixture_finish_s(srtf, "J2"), 30);
	ck_assert_double_eq(fixture_finish_s(srtf, "J3"), 80);

	fixture_run(tiresias, "tiresias:preset=paper");
	ck_assert_double_eq(fixture_finish_s(tiresias, "J1"), 3062);
	ck_assert_double_eq(fixture_finish_s(tiresias, "J2"), 1812.5);
}
END_TEST

/* A10: A is stopped at 10 and holds its GPUs to 15. B waits for them, and C, which is behind B in
 * the order and comes when none is free, takes nothing of B's. */
START_TEST(test_suspension)
{
	g_autoptr(Fixture) fixture = fixture_new("A,0,4,100; B,10,4,20; C,12,1,30", "1x4");

	fixture->scenario.overheads.suspend_ns = 5 * NS_PER_S;
	fixture_run(fixture, "srtf");
	ck_assert_double_eq(fixture_start_s(fixture, "B"), 15);
	ck_assert_double_eq(fixture_finish_s(fixture, "B"), 35);
	ck_assert_double_eq(fixture_start_s(fixture, "C"), 35);
	ck_assert_double_eq(fixture_finish_s(fixture, "A"), 155);
}
END_TEST

/* What is free now and not needed by who waits is given: two GPUs stay free while B waits for A's.
 */
START_TEST(test_suspension_leaves_the_rest)
{
	g_autoptr(Fixture) fixture = fixture_new("A,0,2,100; B,10,3,20; C,11,1,30", "1x4");

	/* At 10 B takes A's two and one of the two free ones; C may have the other. */
	fixture->scenario.overheads.suspend_ns = 5 * NS_PER_S;
	fixture_run(fixture, "srtf");
	ck_assert_double_eq(fixture_start_s(fixture, "B"), 15);
	ck_assert_double_eq(fixture_start_s(fixture, "C"), 11);
}
END_TEST

START_TEST(test_quantum_must_exceed_overheads)
{
	g_autoptr(Fixture) fixture = fixture_new("A,0,1,10", "1x1");
	g_autoptr(GError) error = NULL;

	fixture->scenario.overheads.resume_ns = 30 * NS_PER_S;
	fixture->scenario.overheads.suspend_ns = 30 * NS_PER_S;
	ck_assert(!fixture_try(fixture, "las", &error));
	ck_assert_int_eq(error->code, SIM_ERROR_USAGE);
	ck_assert_ptr_nonnull(strstr(error->message, "quantum_s"));
	ck_assert_ptr_nonnull(strstr(error->message, "resume_s"));
	fixture_run(fixture, "las:quantum_s=60.000000001");
}
END_TEST

static const struct {
	const char *policy, *word;
} refused[] = {
	{ "las:quantum_s=0", "quantum_s" },
	{ "tiresias:thresholds_gpu_s=[10,5]", "thresholds_gpu_s" },
	{ "tiresias:gittins=yes", "gittins" },
	{ "srtf:min_run=5", "min_run_s" },
	{ "fifo:placement=best", "placement" },
};

START_TEST(test_refused_options)
{
	g_autoptr(Fixture) fixture = fixture_new("A,0,1,10", "1x1");
	g_autoptr(GError) error = NULL;

	ck_assert(!fixture_try(fixture, refused[_i].policy, &error));
	ck_assert_int_eq(error->code, SIM_ERROR_USAGE);
	ck_assert_ptr_nonnull(strstr(error->message, refused[_i].word));
}
END_TEST

/* Gittins indices: the worked table of services 2, 4 and 12, alike likely. */

static const struct {
	GittinsKind kind;
	gint64 attained;
	double expected;
} indices[] = {
	{ GITTINS_TEXTBOOK, 0, 0.2 },        { GITTINS_TEXTBOOK, 1, 1.0 / 3 },
	{ GITTINS_TEXTBOOK, 2, 0.25 },       { GITTINS_TEXTBOOK, 3, 0.5 },
	{ GITTINS_TEXTBOOK, 4, 0.125 },      { GITTINS_TEXTBOOK, 6, 1.0 / 6 },
	{ GITTINS_TEXTBOOK, 8, 0.25 },       { GITTINS_TEXTBOOK, 11, 1 },
	{ GITTINS_TEXTBOOK, 12, 0 },         { GITTINS_TEXTBOOK, 99, 0 },
	{ GITTINS_FIXED_DELTA, 0, 1.0 / 6 }, { GITTINS_FIXED_DELTA, 2, 0.25 },
	{ GITTINS_FIXED_DELTA, 4, 0 },       { GITTINS_FIXED_DELTA, 12, 0 },
};

START_TEST(test_gittins_table)
{
	const GpuTime samples[] = { 2, 4, 12 };
	Gittins *gittins = gittins_new(indices[_i].kind, samples, G_N_ELEMENTS(samples), 2);
	guint hint = 99;

	ck_assert_double_eq_tol(gittins_index(gittins, indices[_i].attained, &hint),
	                        indices[_i].expected, 1e-15);
	gittins_free(gittins);
}
END_TEST

/* The best of all ends, straight from the definition. */
static double
index_by_definition(const GpuTime *samples, guint n, GpuTime attained)
{
	double best = 0;

	for (guint end = 0; end < n; end++) {
		guint n_ended = 0;
		GpuTime spent = 0;

		if (samples[end] <= attained)
			continue;
		for (guint i = 0; i < n; i++) {
			if (samples[i] <= attained)
				continue;
			n_ended += samples[i] <= samples[end];
			spent += MIN(samples[i], samples[end]) - attained;
		}
		best = MAX(best, (double)n_ended / (double)spent);
	}
	return best;
}

START_TEST(test_gittins_by_definition)
{
	RngStream stream = rng_stream(7, "gittins");

	for (guint round = 0; round < 300; round++) {
		guint n = 1 + (guint)rng_below(stream, round, 0, 40);
		GpuTime samples[40], last = 0;
		Gittins *gittins;
		guint hint = 0;

		for (guint i = 0; i < n; i++)
			samples[i] = last += (GpuTime)(rng_below(stream, round, i + 1, 1000) *
			                               rng_below(stream, round, i + 100, 1000));
		gittins = gittins_new(GITTINS_TEXTBOOK, samples, n, 1);
		for (guint i = 0; i < 50; i++) {
			GpuTime attained =
			    (GpuTime)rng_below(stream, round, i + 200, (guint64)last + 2);

			ck_assert_double_eq_tol(gittins_index(gittins, attained, &hint),
			                        index_by_definition(samples, n, attained), 1e-12);
		}
		gittins_free(gittins);
	}
}
END_TEST

/* Figure 7 with the textbook index: services 4, 8 and 12 give SRSF's order. */
START_TEST(test_gittins_order)
{
	fixture_expect(FIGURE_7, "1x2", "tiresias:thresholds_gpu_s=[],gittins=textbook",
	               "J1 0-2; J2 2-10; J3 10-16");
}
END_TEST

/* A promotion lets a long job back in front. J1 (2 GPUs) falls to the second queue at 10 (20 GPU-s)
 * and stops for J2, J3, ... which never fall; it has run 10 s, so with knob 1 it is promoted when
 * it has waited 10 s, at 20. Promoted at 20 it stands in the first queue behind J3, which started
 * at 15, and before J4, which has not started. */
START_TEST(test_promotion)
{
	const char *jobs = "J1,0,2,20; J2,5,2,5; J3,6,2,7; J4,7,2,5; J5,8,2,5";

	fixture_expect(jobs, "1x2", "tiresias:thresholds_gpu_s=20",
	               "J1 0-42 P1; J2 10-15; J3 15-22; J4 22-27; J5 27-32");
	fixture_expect(jobs, "1x2", "tiresias:thresholds_gpu_s=20,promote_knob=1",
	               "J1 0-32 P1; J2 10-15; J3 15-22; J4 32-37; J5 37-42");
}
END_TEST

/* A job goes on attaining service while it is suspended, and falls as it does (A12, A58). A has 20
 * GPU-s when it is stopped at 10, 22 at 11, and 26 at 13, when its GPUs are free: it stands in the
 * fourth queue. B falls to the second at 21 and to the third at 24, and is still ahead of A. */
START_TEST(test_demotion_under_suspension)
{
	g_autoptr(Fixture) fixture = fixture_new("A,0,2,30; B,10,2,13", "1x2");

	fixture->scenario.overheads.suspend_ns = 3 * NS_PER_S;
	fixture_run(fixture, "tiresias:thresholds_gpu_s=[16,22,26]");
	ck_assert_double_eq(fixture_start_s(fixture, "B"), 13);
	ck_assert_double_eq(fixture_finish_s(fixture, "B"), 26);
	ck_assert_int_eq(fixture_job(fixture, "B")->preemptions, 0);
}
END_TEST

/* Skewed models wait for one machine; the others take what is left anywhere: one GPU is free on
 * each of two machines when V and R arrive. */
START_TEST(test_skew_placement)
{
	const char *models = "models:\n  vgg16: {skew: 0.743}\n  resnet50: {skew: 0.092}\n";
	const char *jobs = "A,0,2,10,model=vgg16; B,0,2,20,model=vgg16; V,1,2,10,model=vgg16; "
	                   "R,2,2,10,model=resnet50";
	g_autoptr(Fixture) fixture = fixture_new(jobs, "2x3");

	fixture_set_models(fixture, models);
	fixture_run(fixture, "tiresias:placement=skew");
	ck_assert_double_eq(fixture_start_s(fixture, "V"), 10);
	ck_assert_double_eq(fixture_start_s(fixture, "R"), 2);
}
END_TEST

/* The backlog of easy beside a plain table, with jobs that come, go and come back. */
#define N_WAITING 300

START_TEST(backlog_is_a_table)
{
	const RngStream stream = rng_stream(3, "backlog");
	SimTime lengths_ns[N_WAITING];
	Backlog *backlog = backlog_new();

	for (guint i = 0; i < N_WAITING; i++)
		lengths_ns[i] = TIME_NEVER;
	for (guint round = 0; round < 20000; round++) {
		/* Ids grow with the rounds, so that some come before others and some after. */
		JobId job = (JobId)rng_below(stream, round, 0, MIN(N_WAITING, 10 + round / 20));
		SimTime most_ns = (SimTime)rng_below(stream, round, 1, 100);
		JobId wanted = (JobId)rng_below(stream, round, 2, N_WAITING);
		JobId found = backlog_find(backlog, wanted, most_ns);

		while (wanted < N_WAITING && lengths_ns[wanted] > most_ns)
			wanted++;
		ck_assert_uint_eq(found, wanted < N_WAITING ? wanted : JOB_NONE);
		if (lengths_ns[job] != TIME_NEVER) {
			backlog_remove(backlog, job);
			lengths_ns[job] = TIME_NEVER;
		} else {
			lengths_ns[job] = (SimTime)rng_below(stream, round, 3, 100);
			backlog_add(backlog, job, lengths_ns[job]);
		}
	}
	backlog_free(backlog);
}
END_TEST

static Suite *
classical_suite(void)
{
	Suite *suite = suite_create("classical");
	TCase *runs = tcase_create("runs");
	TCase *gittins = tcase_create("gittins");

	tcase_set_timeout(runs, 60);
	tcase_add_loop_test(runs, test_case, 0, G_N_ELEMENTS(cases));
	tcase_add_test(runs, backlog_is_a_table);
	tcase_add_test(runs, test_starvation);
	tcase_add_test(runs, test_no_drift);
	tcase_add_test(runs, test_restart_costs);
	tcase_add_test(runs, test_suspension);
	tcase_add_test(runs, test_suspension_leaves_the_rest);
	tcase_add_test(runs, test_quantum_must_exceed_overheads);
	tcase_add_loop_test(runs, test_refused_options, 0, G_N_ELEMENTS(refused));
	tcase_add_test(runs, test_promotion);
	tcase_add_test(runs, test_demotion_under_suspension);
	tcase_add_test(runs, test_skew_placement);
	tcase_add_loop_test(gittins, test_gittins_table, 0, G_N_ELEMENTS(indices));
	tcase_add_test(gittins, test_gittins_by_definition);
	tcase_add_test(gittins, test_gittins_order);
	suite_add_tcase(suite, runs);
	suite_add_tcase(suite, gittins);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(classical_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
