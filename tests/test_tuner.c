/* SPDX-License-Identifier: MIT */

/*
 * Apps that tune: the rules of each tuner on apps small enough to be worked by hand, what a policy
 * sees of them, and the forecast of the Themis paper's example (policies.md E1).
 */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/report/fairness.h"
#include "tests/fixture.h"

/* Trials of 40 s on one GPU that are the better the earlier they stand; each loses half of what it
 * can in 10 s. Successive halving among them has phases of 10, 10 and 20 s. */
#define TRIAL(name, loss, more) name ",0,1,40,app=x,loss=1:" loss ":10" more "; "
#define FOUR(tuner)                        \
	TRIAL("a", "0.1", ",tuner=" tuner) \
	TRIAL("b", "0.2", "") TRIAL("c", "0.3", "") TRIAL("d", "0.4", "")

typedef struct Case {
	const char *name, *jobs, *cluster, *policy, *expected;
} Case;

static const Case cases[] = {
	{ "none", FOUR("none"), "1x4", "fifo", "a 0-40; b 0-40; c 0-40; d 0-40" },
	{ "halving", FOUR("successive-halving"), "1x4", "fifo",
	  "a 0-40; b 0-20 STOPPED; c 0-10 STOPPED; d 0-10 STOPPED" },
	/* a and b wait for c and d, holding nothing. */
	{ "halving on half the GPUs", FOUR("successive-halving"), "1x2", "fifo",
	  "a 0-50; b 0-30 STOPPED; c 10-20 STOPPED; d 10-20 STOPPED" },
	{ "GPUs of the paused are others'", FOUR("successive-halving") "z,1,2,10", "1x2", "sjf",
	  "a 0-60; b 0-40 STOPPED; c 10-20 STOPPED; d 10-20 STOPPED; z 20-30" },
	{ "equal losses: the first",
	  TRIAL("a", "0.5", "") TRIAL("b", "0.5", ",tuner=successive-halving"), "1x2", "fifo",
	  "a 0-40; b 0-20 STOPPED" },
	{ "three: one goes on",
	  TRIAL("a", "0.3", ",tuner=successive-halving") TRIAL("b", "0.2", "")
	      TRIAL("c", "0.1", ""),
	  "1x3", "fifo", "a 0-20 STOPPED; b 0-20 STOPPED; c 0-40" },
	{ "phases of given work", FOUR("successive-halving:work=[1+1+6]"), "1x4", "fifo",
	  "a 0-40; b 0-10 STOPPED; c 0-5 STOPPED; d 0-5 STOPPED" },
	{ "two phases are enough: two are left", FOUR("successive-halving:phases=2"), "1x4", "fifo",
	  "a 0-40; b 0-40; c 0-20 STOPPED; d 0-20 STOPPED" },
	{ "one in four", FOUR("successive-halving:eta=4"), "1x4", "fifo",
	  "a 0-40; b 0-10 STOPPED; c 0-10 STOPPED; d 0-10 STOPPED" },
	/* The better one at the time, not in the end: d falls slowly, to a better loss. */
	{ "losses of the moment",
	  "c,0,1,40,app=x,loss=1:0.5:1,tuner=successive-halving; d,0,1,40,app=x,loss=1:0.1:1000",
	  "1x2", "fifo", "c 0-40; d 0-20 STOPPED" },
	{ "trials of their own lengths",
	  "a,0,1,40,app=x,loss=1:0.5:1,tuner=successive-halving; b,0,1,80,app=x,loss=1:0.1:1",
	  "1x2", "fifo", "a 0-40 STOPPED; b 0-80" },
	{ "trials that come later",
	  TRIAL("a", "0.2", ",tuner=successive-halving") "b,30,1,40,app=x,loss=1:0.1:10", "1x2",
	  "fifo", "a 0-50 STOPPED; b 30-70" },
	{ "no GPUs at all",
	  "a,0,0,40,app=x,loss=1:0.2:1,tuner=successive-halving; b,0,0,80,app=x,loss=1:0.1:1",
	  "1x1", "fifo", "a 0-40 STOPPED; b 0-80" },
	{ "one that never fits is no trial",
	  TRIAL("a", "0.2", ",tuner=successive-halving") "b,0,2,40,app=x,loss=1:0.1:10", "1x1",
	  "fifo", "a 0-40; b REJECTED" },
	{ "one that times out leaves",
	  TRIAL("a", "0.2", ",tuner=successive-halving") TRIAL("b", "0.1", ",limit=30")
	      TRIAL("c", "0.3", ""),
	  "1x3", "fifo", "a 0-20 STOPPED; b 0-30 TIMEOUT; c 0-20 STOPPED" },
	{ "nobody waits for one that timed out",
	  TRIAL("a", "0.2", ",tuner=successive-halving") TRIAL("b", "0.1", ",limit=5"), "1x2",
	  "fifo", "a 0-40; b 0-5 TIMEOUT" },
	/* Work granted so far is what srtf goes by: 10 s of each trial, then 10 s more. */
	{ "srtf sees the phase", FOUR("successive-halving") "z,5,1,8", "1x1", "srtf",
	  "a 0-88; b 18-68 STOPPED; c 28-48 STOPPED; d 38-48 STOPPED; z 10-18" },

	/* Brackets of 3, 3, 2 and 2 (8 : 6 : 4 : 4 of 22) with first phases of 10, 20, 40, 80 s. */
	{ "hyperband",
	  "a,0,1,80,app=x,loss=1:0.11:1,tuner=hyperband; b,0,1,80,app=x,loss=1:0.12:1;"
	  "c,0,1,80,app=x,loss=1:0.13:1; d,0,1,80,app=x,loss=1:0.14:1;"
	  "e,0,1,80,app=x,loss=1:0.15:1; f,0,1,80,app=x,loss=1:0.16:1;"
	  "g,0,1,80,app=x,loss=1:0.17:1; h,0,1,80,app=x,loss=1:0.18:1;"
	  "i,0,1,80,app=x,loss=1:0.19:1; j,0,1,80,app=x,loss=1:0.2:1",
	  "1x10", "fifo",
	  "a 0-80; b 0-10 STOPPED; c 0-10 STOPPED; d 0-80; e 0-20 STOPPED; f 0-20 STOPPED; "
	  "g 0-80; h 0-40 STOPPED; i 0-80; j 0-80" },
	{ "hyperband of one bracket is halving", FOUR("hyperband:brackets=1"), "1x4", "fifo",
	  "a 0-40; b 0-20 STOPPED; c 0-10 STOPPED; d 0-10 STOPPED" },

	/*
	 * One GPU. a at 10: first of one, pauses. b at 20: best of two, goes on. b at 30: first of
	 * one in the second rung, pauses. c at 40: second of three, pauses. d at 50: last of four,
	 * pauses, but now two may go on: c comes back. c at 60: second of two, pauses; b, the best,
	 * comes back and finishes at 80.
	 */
	{ "asha",
	  TRIAL("a", "0.3", ",tuner=asha:eta=2") TRIAL("b", "0.1", "") TRIAL("c", "0.2", "")
	      TRIAL("d", "0.4", ""),
	  "1x1", "fifo", "a 0-80 STOPPED; b 10-80; c 30-80 STOPPED; d 40-80 STOPPED" },
	/* Four at once: a is first of one and pauses until b is there, and so on. */
	{ "asha side by side", FOUR("asha:eta=2"), "1x4", "fifo",
	  "a 0-40; b 0-40 STOPPED; c 0-40 STOPPED; d 0-40 STOPPED" },
	{ "asha with a rung too many", FOUR("asha:eta=4+phases=3"), "1x4", "fifo",
	  "a 0-40; b 0-40 STOPPED; c 0-40 STOPPED; d 0-40 STOPPED" },

	{ "hyperdrive that knows the future", FOUR("hyperdrive:check_frac=0.25+error=0+keep=0.5"),
	  "1x4", "fifo", "a 0-40; b 0-40; c 0-10 STOPPED; d 0-10 STOPPED" },
	{ "hyperdrive keeps the best", FOUR("hyperdrive:error=0+keep=0"), "1x4", "fifo",
	  "a 0-40; b 0-4 STOPPED; c 0-4 STOPPED; d 0-4 STOPPED" },
};

static void
check_case(const Case *is, gint64 resume_s, gint64 checkpoint_s)
{
	g_autoptr(Fixture) fixture = fixture_new(is->jobs, is->cluster);
	g_autofree char *text = NULL;

	fixture->scenario.overheads.resume_ns = resume_s * NS_PER_S;
	fixture->scenario.overheads.checkpoint_every_ns = checkpoint_s * NS_PER_S;
	fixture_run(fixture, is->policy);
	text = fixture_to_string(fixture);
	ck_assert_msg(g_str_equal(text, is->expected), "%s:\n  right %s\n  found %s", is->name,
	              is->expected, text);
}

START_TEST(test_case)
{
	check_case(&cases[_i], 0, 0);
}
END_TEST

static const struct {
	Case is;
	gint64 resume_s, checkpoint_s;
} costs[] = {
	{ { "a pause costs a resumption", FOUR("successive-halving"), "1x4", "fifo",
	    "a 0-46; b 0-23 STOPPED; c 0-10 STOPPED; d 0-10 STOPPED" },
	  3,
	  0 },
	{ { "one goes on without a pause", TRIAL("a", "0", ",tuner=successive-halving:phases=4"),
	    "1x1", "fifo", "a 0-40" },
	  3,
	  0 },
	/* At 25 a is in its second phase and shorter than z in no case; back to 20 it goes. */
	{ { "the end of a phase is a checkpoint",
	    TRIAL("a", "0", ",tuner=successive-halving:phases=2") "z,25,1,5", "1x1", "srtf",
	    "a 0-50 P1; z 25-30" },
	  0,
	  1000 },
};

START_TEST(test_costs)
{
	check_case(&costs[_i].is, costs[_i].resume_s, costs[_i].checkpoint_s);
}
END_TEST

/* texts */

typedef struct TextCase {
	const char *text;
	const char *canonical; /* NULL = refused */
} TextCase;

static const TextCase texts[] = {
	{ "none", "none" },
	{ "successive-halving", "successive-halving:eta=2,phases=0,work=[],widen=true" },
	{ "hyperband:eta=3,brackets=2", "hyperband:eta=3,phases=0,work=[],widen=true,brackets=2" },
	{ "asha:work=[8,16,36]", "asha:eta=4,phases=0,work=[8,16,36],widen=true" },
	{ "asha:work=[8,16,36],phases=3", "asha:eta=4,phases=3,work=[8,16,36],widen=true" },
	{ "hyperdrive:error=0.25", "hyperdrive:check_frac=0.1,error=0.25,keep=0.1" },
	{ "halving", NULL },
	{ "none:eta=2", NULL },
	{ "asha:eta=1", NULL },
	{ "asha:work=[8,16],phases=3", NULL },
	{ "asha:work=[8,0]", NULL },
	{ "asha:work=[9000000000,9000000000]", NULL },
	{ "asha:eta", NULL },
	{ "asha:", NULL },
	{ "hyperdrive:eta=2", NULL },
	{ "hyperdrive:check_frac=0", NULL },
	{ "", NULL },
};

START_TEST(test_text)
{
	const TextCase *is = &texts[_i];
	g_autoptr(GError) error = NULL;
	g_autoptr(Tuner) tuner = tuner_parse(is->text, &error), again = NULL;

	if (is->canonical == NULL) {
		ck_assert_msg(tuner == NULL, "%s was taken", is->text);
		ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_INPUT));
		return;
	}
	ck_assert_msg(tuner != NULL, "%s: %s", is->text, error != NULL ? error->message : "");
	ck_assert_str_eq(tuner->text, is->canonical);
	again = tuner_parse(tuner->text, &error);
	ck_assert(again != NULL);
	ck_assert_str_eq(again->text, tuner->text);
}
END_TEST

START_TEST(test_loss_curve)
{
	static const char *const bad[] = { "",        "1",     "1:2",    "1:2:0",
		                           "1:2:3:4", "a:1:1", "1:-1:5", "1:1000000.000000001:5" };
	g_autoptr(GString) text = g_string_new(NULL);
	LossCurve curve, exact;

	for (guint i = 0; i < G_N_ELEMENTS(bad); i++)
		ck_assert_msg(!loss_curve_parse(bad[i], &curve), "%s was taken", bad[i]);
	ck_assert(loss_curve_parse("2.3:0.3:600.5", &curve));
	loss_curve_append(text, &curve);
	ck_assert_str_eq(text->str, "2.3:0.3:600.5");
	g_string_truncate(text, 0);
	ck_assert(loss_curve_parse("1000000:999999.999999999:1", &exact));
	loss_curve_append(text, &exact);
	ck_assert_str_eq(text->str, "1000000:999999.999999999:1");
	ck_assert_double_eq(loss_at(&curve, 0), 2.3);
	ck_assert_double_eq_tol(loss_at(&curve, curve.half_ns), 1.3, 1e-12);
	ck_assert_double_eq_tol(loss_at(&curve, 3 * curve.half_ns), 0.8, 1e-12);
}
END_TEST

/* what a policy sees */

/* Places whatever waits as wide as it may go, on the first free GPUs, and writes down what is
 * forecast before it does. */
typedef struct Onlooker {
	GString *seen;
} Onlooker;

static GString *last_seen;

static gboolean
onlooker_init(void *self, const void *options, const View *view, GError **error)
{
	((Onlooker *)self)->seen = last_seen;
	return TRUE;
}

static void
write_forecast(GString *seen, const View *view)
{
	Phase phases[MAX_APP_PHASES];
	guint n = view_app_forecast(view, 0, phases);

	seconds_append(seen, view_now_ns(view));
	for (guint i = 0; i < n; i++)
		g_string_append_printf(seen, " %g/%g", phases[i].work_gpu_ns / NS_PER_S,
		                       phases[i].cap_gpus);
	g_string_append(seen, "; ");
}

static void
place_widely(const View *view, Plan *plan, JobId job)
{
	Alloc where = { 0 };
	guint32 width = view_max_gpus(view, job);

	for (guint32 gpu = 0; gpu < view_cluster_spec(view)->n_gpus && where.n <= width; gpu++)
		if (cluster_gpu_is_free(view_cluster(view), gpu))
			alloc_add(&where, gpu);
	if (where.n > width)
		where.n--;
	ck_assert_uint_eq(where.n, width);
	ck_assert(plan_place(plan, job, &where) == PLAN_OK);
	alloc_clear(&where);
}

static void
onlooker_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	write_forecast(((Onlooker *)self)->seen, view);
	for (JobId job = 0; job < view_n_jobs(view); job++)
		if (view_state(view, job) == JOB_QUEUED)
			place_widely(view, plan, job);
}

static const PolicyClass onlooker = {
	.abi = POLICY_ABI,
	.name = "onlooker",
	.version = "1",
	.caps = POLICY_RESIZES | POLICY_ORACLE,
	.state_size = sizeof(Onlooker),
	.init = onlooker_init,
	.decide = onlooker_decide,
};

static char *
look_on(const char *jobs, const char *cluster, const char *finished)
{
	g_autoptr(Fixture) fixture = fixture_new(jobs, cluster);
	g_autofree char *text = NULL;

	last_seen = g_string_new(NULL);
	fixture_run_class(fixture, &onlooker, NULL);
	text = fixture_to_string(fixture);
	ck_assert_str_eq(text, finished);
	return g_string_free(g_steal_pointer(&last_seen), FALSE);
}

/* Jobs of 80, 100, 100 and 120 s an iteration on one GPU, phases of 8, 16 and 36 iterations, up to
 * 8 GPUs for each: 3200, 3200 and 3600 GPU-s. The best one happens to be the slowest, which needs
 * 36 x 120 = 4320 GPU-s in the end; of the second phase's two (100 and 120 s) the median is 110. */
START_TEST(test_e1_forecast)
{
#define E1_TUNER ",tuner=successive-halving:work=[8+16+36]+widen=false"
	g_autofree char *seen = look_on("a,0,1,4800,app=x,max=8,loss=1:0.4:100" E1_TUNER
	                                "; b,0,1,6000,app=x,max=8,loss=1:0.2:100"
	                                "; c,0,1,6000,app=x,max=8,loss=1:0.3:100"
	                                "; d,0,1,7200,app=x,max=8,loss=1:0.1:100",
	                                "1x32",
	                                "a 0-120 STOPPED; b 0-360 STOPPED; c 0-120 STOPPED; "
	                                "d 0-900");

	/* Phases of 8 x 120 / 8 = 120 s, 16 x 120 / 8 = 240 s and 36 x 120 / 8 = 540 s. At 80 s a
	 * pauses (its loss is known then), at 100 b and c. */
	ck_assert_str_eq(seen, "0 3200/32 3200/16 3600/8; "
	                       "80 640/24 3200/16 3600/8; "
	                       "100 160/8 3200/16 3600/8; "
	                       "120 3520/16 3960/8; "
	                       "320 320/8 3960/8; "
	                       "360 4320/8; "
	                       "900; ");
}
END_TEST

/* Caps of 1, 2 and 4: phases of 10, 10 / 2 and 20 / 4 s. */
START_TEST(test_survivors_widen)
{
#define WIDE(name, loss, more) name ",0,1,40,app=x,max=4,loss=1:" loss ":10" more "; "
	g_autofree char *seen =
	    look_on(WIDE("a", "0.1", ",tuner=successive-halving") WIDE("b", "0.2", "")
	                WIDE("c", "0.3", "") WIDE("d", "0.4", ""),
	            "1x8", "a 0-20; b 0-15 STOPPED; c 0-10 STOPPED; d 0-10 STOPPED");

	ck_assert_str_eq(seen, "0 40/4 20/4 20/4; 10 20/4 20/4; 15 20/4; 20; ");
}
END_TEST

/* Two rungs to come with two trials and one; what has entered one is not forecast again. */
START_TEST(test_asha_forecast)
{
	g_autofree char *seen =
	    look_on("a,0,1,40,app=x,loss=1:0.1:10,tuner=asha:eta=2; b,0,1,40,app=x,loss=1:0.2:10;"
	            "c,5,1,40,app=x,loss=1:0.3:10; d,8,1,40,app=x,loss=1:0.4:10",
	            "1x4", "a 0-48; b 0-48 STOPPED; c 5-48 STOPPED; d 8-48 STOPPED");

	/* At 10 a pauses as first of one and is back when b pauses. At 15 nobody may follow, at 18
	 * d is there and b may. At 20 a is first of one in the second rung, at 28 b is there. */
	ck_assert_str_eq(seen, "0 40/4 20/2 20/1; 5 30/4 20/2 20/1; 8 21/4 20/2 20/1; "
	                       "10 23/3 10/1 20/1; 15 8/2 10/1 20/1; 18 12/2 20/1; 20 8/1 20/1; "
	                       "28 20/1; 48; ");
}
END_TEST

/* 5 x 10^9 s are more than half of the clock. */
START_TEST(test_forecast_of_centuries)
{
	g_autofree char *seen = look_on("a,0,1,5000000000,app=x,loss=1:0.1:10,tuner=asha; "
	                                "b,0,1,5000000000,app=x,loss=1:0.2:10",
	                                "1x2", "a 0-5000000000; b 0-5000000000");

	ck_assert_str_eq(seen, "0 1e+10/2; 5000000000; ");
}
END_TEST

START_TEST(test_forecast_without_tuner)
{
	g_autofree char *seen =
	    look_on("a,0,2,40,app=x,max=4; b,10,1,20,app=x", "1x5", "a 0-20; b 10-30");

	ck_assert_str_eq(seen, "0 100/5; 10 60/5; 20 10/1; 30; ");
}
END_TEST

/* Figures */

static const AppRecord *
run_app(Fixture *fixture, const char *policy)
{
	fixture_run(fixture, policy);
	fixture->scenario.workload = fixture->workload;
	fixture->scenario.cluster = fixture->cluster;
	fixture->scenario.models = fixture->models;
	return &fixture->record->apps[0];
}

START_TEST(test_figures_of_an_app)
{
	g_autoptr(Fixture) fixture = fixture_new(FOUR("successive-halving"), "1x2");
	const AppRecord *app = run_app(fixture, "fifo");
	FairnessBase base;
	AppFairness fairness;

	ck_assert_int_eq(app->state, JOB_FINISHED);
	ck_assert_int_eq(app->finish_ns, 50 * NS_PER_S);
	/* W: what the four did, 40 + 20 + 10 + 10 s; d: four of one GPU. */
	ck_assert(app->tuned_work == 80 * GPU_TIME_PER_GPU_S);
	ck_assert_uint_eq(app->tuned_demand_milli, 4 * GPU_MILLI);
	/* Wanted: 4 GPUs up to 10 s; then 2 while two are paused, up to 30; then 1; of 2. */
	ck_assert_double_eq_tol(app->contention, (10 * 2 + 40) / 50.0, 1e-12);
	ck_assert_double_eq_tol(app->n_avg, 1, 1e-12);
	base = fairness_base(&fixture->scenario);
	fairness = app_fairness(&base, &fixture->workload->apps[0], app);
	ck_assert_double_eq_tol(fairness.independent_s, 40, 1e-12);
	ck_assert_double_eq_tol(fairness.values[RHO_THEMIS], 50.0 / 40, 1e-12);
}
END_TEST

/* A trial that is looked at without a pause is not disturbed: one segment. */
START_TEST(test_looks_end_no_segment)
{
	g_autoptr(Fixture) fixture = fixture_new(FOUR("hyperdrive:error=0+keep=0.5"), "1x4");

	fixture_run(fixture, "fifo");
	ck_assert_uint_eq(fixture_job(fixture, "a")->segments, 1);
	ck_assert_uint_eq(fixture_job(fixture, "d")->segments, 1);
	ck_assert_int_eq(fixture_job(fixture, "d")->kept_work_ns, 4 * NS_PER_S);
	/* Arrival, the stop of c and d, the end of a and b. */
	ck_assert_uint_eq(fixture->record->decisions, 3);
}
END_TEST

/* With a wide error bar bad trials get their chance, and the best part is never stopped. */
START_TEST(test_hyperdrive_keeps_the_best)
{
	g_autoptr(Fixture) fixture = fixture_new(FOUR("hyperdrive:error=1+keep=0.25"), "1x4");
	guint n_late = 0;

	for (guint64 seed = 1; seed <= 50; seed++) {
		fixture->scenario.seed = seed;
		fixture_run(fixture, "fifo");
		ck_assert_int_eq(fixture_job(fixture, "a")->state, JOB_FINISHED);
		ck_assert_int_eq(fixture_job(fixture, "d")->state, JOB_STOPPED);
		n_late += fixture_job(fixture, "d")->finish_ns > 4 * NS_PER_S;
	}
	ck_assert_uint_gt(n_late, 10);
}
END_TEST

START_TEST(test_nothing_ends_at_the_stop)
{
	g_autoptr(Fixture) fixture = fixture_new(FOUR("successive-halving"), "1x4");

	fixture->scenario.stop_ns = 10 * NS_PER_S;
	fixture_run(fixture, "fifo");
	for (JobId job = 0; job < 4; job++) {
		ck_assert_int_eq(fixture->record->jobs[job].state, JOB_UNFINISHED);
		ck_assert_int_eq(fixture->record->jobs[job].kept_work_ns, 10 * NS_PER_S);
	}
	fixture->scenario.stop_ns = 15 * NS_PER_S;
	fixture_run(fixture, "fifo");
	ck_assert_int_eq(fixture_job(fixture, "b")->state, JOB_UNFINISHED);
	ck_assert_int_eq(fixture_job(fixture, "b")->kept_work_ns, 15 * NS_PER_S);
	ck_assert_int_eq(fixture_job(fixture, "c")->state, JOB_STOPPED);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("tuner");
	TCase *tests = tcase_create("tuner");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	tcase_add_loop_test(tests, test_case, 0, G_N_ELEMENTS(cases));
	tcase_add_loop_test(tests, test_costs, 0, G_N_ELEMENTS(costs));
	tcase_add_loop_test(tests, test_text, 0, G_N_ELEMENTS(texts));
	tcase_add_test(tests, test_loss_curve);
	tcase_add_test(tests, test_e1_forecast);
	tcase_add_test(tests, test_survivors_widen);
	tcase_add_test(tests, test_asha_forecast);
	tcase_add_test(tests, test_forecast_of_centuries);
	tcase_add_test(tests, test_forecast_without_tuner);
	tcase_add_test(tests, test_figures_of_an_app);
	tcase_add_test(tests, test_looks_end_no_segment);
	tcase_add_test(tests, test_hyperdrive_keeps_the_best);
	tcase_add_test(tests, test_nothing_ends_at_the_stop);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
