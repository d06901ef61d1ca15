/* SPDX-License-Identifier: MIT */

/*
 * The corridor by itself: a policy that follows a script shows what starts, stops, moves, costs
 * and ends come to, segment by segment.
 */

#include <check.h>
#include <stdlib.h>

#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/engine/engine.h"

typedef enum Act {
	PLACE,
	PREEMPT,
	MOVE,
	REJECT,
} Act;

/* At @at_s do @act to @job, on @n GPUs from @gpu on; the gate answers @verdict. */
typedef struct Step {
	gint64 at_s;
	Act act;
	JobId job;
	guint32 gpu, n;
	PlanVerdict verdict;
} Step;

typedef struct Script {
	const Step *steps;
	guint n;
} Script;

typedef struct Follower {
	const Script *script;
	guint n_done; /* steps, in their order */
} Follower;

static gboolean
follower_init(void *self, const void *options, const View *view, GError **error)
{
	((Follower *)self)->script = options;
	return TRUE;
}

static PlanVerdict
act(const Step *step, Plan *plan)
{
	PlanVerdict verdict = PLAN_OK;
	Alloc where = { 0 };

	alloc_add_range(&where, step->gpu, step->n);
	switch (step->act) {
	case PLACE:
		verdict = plan_place(plan, step->job, &where);
		break;
	case PREEMPT:
		verdict = plan_preempt(plan, step->job);
		break;
	case MOVE:
		verdict = plan_move(plan, step->job, &where);
		break;
	case REJECT:
		verdict = plan_reject(plan, step->job, "not today");
		break;
	}
	alloc_clear(&where);
	return verdict;
}

static void
follower_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	Follower *follower = self;

	for (; follower->n_done < follower->script->n; follower->n_done++) {
		const Step *step = &follower->script->steps[follower->n_done];

		if (step->at_s * NS_PER_S > view_now_ns(view)) {
			plan_wake(plan, step->at_s * NS_PER_S, 0);
			return;
		}
		ck_assert_msg(act(step, plan) == step->verdict, "step %u", follower->n_done);
	}
}

#define FOLLOWER(follower_name, follower_caps)                                                   \
	{                                                                                        \
		.abi = POLICY_ABI, .name = follower_name, .version = "1",                        \
		.summary = "follows a script", .source = "tests", .caps = follower_caps,         \
		.state_size = sizeof(Follower), .init = follower_init, .decide = follower_decide \
	}

static const PolicyClass alone =
    FOLLOWER("alone", POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_RESIZES);
static const PolicyClass together = FOLLOWER("together", POLICY_SHARES);

/* `name,submit,gpus,duration[,limit[,min,max]]` in seconds, separated by blanks. */
static Workload *
make_workload(const char *text)
{
	g_auto(GStrv) rows = g_strsplit(text, " ", 0);
	WorkloadBuilder *builder = workload_builder_new("text", problems_new("text"));

	for (guint i = 0; rows[i] != NULL; i++) {
		g_auto(GStrv) cells = g_strsplit(rows[i], ",", 0);
		guint n = g_strv_length(cells);
		JobDraft draft;

		job_draft_init(&draft);
		draft.name = cells[0];
		draft.submit_ns = g_ascii_strtoll(cells[1], NULL, 10) * NS_PER_S;
		draft.num_gpus = g_ascii_strtoll(cells[2], NULL, 10);
		draft.duration_ns = (SimWork)(g_ascii_strtod(cells[3], NULL) * NS_PER_S);
		draft.time_limit_ns = n > 4 ? g_ascii_strtoll(cells[4], NULL, 10) * NS_PER_S : 0;
		draft.min_gpus = n > 5 ? g_ascii_strtoll(cells[5], NULL, 10) : 0;
		draft.max_gpus = n > 6 ? g_ascii_strtoll(cells[6], NULL, 10) : 0;
		draft.line = i + 1;
		ck_assert(workload_builder_add(builder, &draft));
	}
	return workload_builder_finish(builder);
}

typedef struct Story {
	const Workload *workload;
	GString *segments[8]; /* by JobId: "start-end[(overhead)] why; ..." */
} Story;

static void
tell(void *self, const Segment *segment)
{
	GString *text = ((Story *)self)->segments[segment->job];

	if (text->len > 0)
		g_string_append_c(text, ' ');
	seconds_append(text, segment->start_ns);
	g_string_append_c(text, '-');
	seconds_append(text, segment->end_ns);
	if (segment->overhead_ns > 0) {
		g_string_append_c(text, '(');
		seconds_append(text, segment->overhead_ns);
		g_string_append_c(text, ')');
	}
	g_string_append_printf(text, " %s", segment_end_to_string(segment->end));
}

typedef struct Case {
	const char *name;
	const char *jobs;
	Overheads overheads; /* in whole seconds, see run_case() */
	Step steps[8];
	gint64 stop_s; /* 0 = none */
	gboolean sits_together;
	const char *segments[4];
	JobState states[4];
} Case;

static const Case cases[] = {
	{ .name = "back on the same GPUs in one plan: never stopped",
	  .jobs = "A,0,2,10",
	  .overheads = { .resume_ns = 5, .suspend_ns = 5 },
	  .steps = { { 0, PLACE, 0, 0, 2, PLAN_OK },
	             { 4, PREEMPT, 0, 0, 0, PLAN_OK },
	             { 4, PLACE, 0, 0, 2, PLAN_OK } },
	  .segments = { "0-10 finished" },
	  .states = { JOB_FINISHED } },
	{ .name = "back on other GPUs in one plan: a move, not a stop (A13)",
	  .jobs = "A,0,2,10",
	  .overheads = { .resume_ns = 5, .suspend_ns = 5, .migrate_ns = 2 },
	  .steps = { { 0, PLACE, 0, 0, 2, PLAN_OK },
	             { 4, PREEMPT, 0, 0, 0, PLAN_OK },
	             { 4, PLACE, 0, 2, 2, PLAN_OK } },
	  .segments = { "0-4 moved 4-12(2) finished" },
	  .states = { JOB_FINISHED } },
	{ .name = "a stop and a resumption (A09)",
	  .jobs = "A,0,4,10",
	  .overheads = { .start_ns = 1, .resume_ns = 5 },
	  .steps = { { 0, PLACE, 0, 0, 4, PLAN_OK },
	             { 5, PREEMPT, 0, 0, 0, PLAN_OK },
	             { 20, PLACE, 0, 0, 4, PLAN_OK } },
	  .segments = { "0-5(1) preempted 20-31(5) finished" },
	  .states = { JOB_FINISHED } },
	{ .name = "a stopped job keeps its GPUs for suspend_s (A10)",
	  .jobs = "A,0,4,10 B,0,4,3",
	  .overheads = { .suspend_ns = 2 },
	  .steps = { { 0, PLACE, 0, 0, 4, PLAN_OK },
	             { 5, PREEMPT, 0, 0, 0, PLAN_OK },
	             { 5, PLACE, 1, 0, 4, PLAN_NO_ROOM },
	             { 7, PLACE, 1, 0, 4, PLAN_OK },
	             { 10, PLACE, 0, 0, 4, PLAN_OK } },
	  .segments = { "0-7(2) preempted 10-15 finished", "7-10 finished" },
	  .states = { JOB_FINISHED, JOB_FINISHED } },
	{ .name = "while it is suspended it can neither be placed nor stopped (A10)",
	  .jobs = "A,0,4,10",
	  .overheads = { .suspend_ns = 4 },
	  .steps = { { 0, PLACE, 0, 0, 4, PLAN_OK },
	             { 5, PREEMPT, 0, 0, 0, PLAN_OK },
	             { 6, PLACE, 0, 0, 4, PLAN_WRONG_STATE },
	             { 7, PREEMPT, 0, 0, 0, PLAN_WRONG_STATE },
	             { 9, PLACE, 0, 0, 4, PLAN_OK } },
	  .segments = { "0-9(4) preempted 9-14 finished" },
	  .states = { JOB_FINISHED } },
	{ .name = "an interrupted overhead is paid again in full (A11)",
	  .jobs = "A,0,1,10",
	  .overheads = { .start_ns = 8, .resume_ns = 3 },
	  .steps = { { 0, PLACE, 0, 0, 1, PLAN_OK },
	             { 5, PREEMPT, 0, 0, 0, PLAN_OK },
	             { 6, PLACE, 0, 0, 1, PLAN_OK } },
	  .segments = { "0-5(5) preempted 6-19(3) finished" },
	  .states = { JOB_FINISHED } },
	{ .name = "work since the last checkpoint is lost (A16)",
	  .jobs = "A,0,1,10",
	  .overheads = { .checkpoint_every_ns = 3 },
	  .steps = { { 0, PLACE, 0, 0, 1, PLAN_OK },
	             { 5, PREEMPT, 0, 0, 0, PLAN_OK },
	             { 6, PLACE, 0, 0, 1, PLAN_OK } },
	  .segments = { "0-5 preempted 6-13 finished" },
	  .states = { JOB_FINISHED } },
	{ .name = "another width is another speed, and a move (A13)",
	  .jobs = "A,0,2,12,0,1,4",
	  .steps = { { 0, PLACE, 0, 0, 2, PLAN_OK },
	             { 4, MOVE, 0, 0, 4, PLAN_OK },
	             { 6, MOVE, 0, 0, 1, PLAN_OK } },
	  .segments = { "0-4 moved 4-6 moved 6-14 finished" },
	  .states = { JOB_FINISHED } },
	{ .name = "the work is done before the limit is reached, at the same instant (A17, E04)",
	  .jobs = "A,0,1,10,10 B,0,1,10,9",
	  .steps = { { 0, PLACE, 0, 0, 1, PLAN_OK }, { 0, PLACE, 1, 1, 1, PLAN_OK } },
	  .segments = { "0-10 finished", "0-9 timeout" },
	  .states = { JOB_FINISHED, JOB_TIMEOUT } },
	{ .name = "a time limit runs on through overhead and pauses in the queue",
	  .jobs = "A,0,1,10,7",
	  .overheads = { .resume_ns = 3 },
	  .steps = { { 0, PLACE, 0, 0, 1, PLAN_OK },
	             { 2, PREEMPT, 0, 0, 0, PLAN_OK },
	             { 50, PLACE, 0, 0, 1, PLAN_OK } },
	  .segments = { "0-2 preempted 50-55(3) timeout" },
	  .states = { JOB_TIMEOUT } },
	{ .name = "a limit inside the start overhead, whatever the work (A17)",
	  .jobs = "A,0,1,0,2",
	  .overheads = { .start_ns = 3 },
	  .steps = { { 0, PLACE, 0, 0, 1, PLAN_OK } },
	  .segments = { "0-2(2) timeout" },
	  .states = { JOB_TIMEOUT } },
	{ .name = "at stop_s what is done is finished, the rest is not (A18)",
	  .jobs = "A,0,1,10 B,0,1,11 C,10,1,0",
	  .steps = { { 0, PLACE, 0, 0, 1, PLAN_OK }, { 0, PLACE, 1, 1, 1, PLAN_OK } },
	  .stop_s = 10,
	  .segments = { "0-10 finished", "0-10 stopped", "" },
	  .states = { JOB_FINISHED, JOB_UNFINISHED, JOB_UNFINISHED } },
	{ .name = "no work ends at its own instant (A03)",
	  .jobs = "A,5,4,0 B,5,4,5",
	  .steps = { { 0, PLACE, 0, 0, 4, PLAN_OK } },
	  .segments = { "0-0 finished" },
	  .states = { JOB_FINISHED, JOB_UNFINISHED } },
	{ .name = "a job of no GPUs is nobody's concern (A04)",
	  .jobs = "A,0,0,50 B,0,4,10",
	  .overheads = { .start_ns = 3 },
	  .steps = { { 0, PLACE, 0, 0, 4, PLAN_WRONG_STATE }, { 0, PLACE, 1, 0, 4, PLAN_OK } },
	  .segments = { "0-50 finished", "0-13(3) finished" },
	  .states = { JOB_FINISHED, JOB_FINISHED } },
	{ .name = "more than the cluster is rejected at once (A07, S01)",
	  .jobs = "A,0,16,100 B,0,1,10",
	  .steps = { { 0, PLACE, 0, 0, 4, PLAN_WRONG_STATE }, { 0, PLACE, 1, 0, 1, PLAN_OK } },
	  .segments = { "", "0-10 finished" },
	  .states = { JOB_REJECTED, JOB_FINISHED } },
	{ .name = "a policy may reject what has not run",
	  .jobs = "A,0,1,10 B,0,1,10",
	  .steps = { { 0, REJECT, 0, 0, 0, PLAN_OK },
	             { 0, PLACE, 1, 0, 1, PLAN_OK },
	             { 5, REJECT, 1, 0, 0, PLAN_WRONG_STATE } },
	  .segments = { "", "0-10 finished" },
	  .states = { JOB_REJECTED, JOB_FINISHED } },
	{ .name = "jobs that sit together without a model for it do not slow each other",
	  .jobs = "A,0,1,10 B,0,1,10",
	  .sits_together = TRUE,
	  .steps = { { 0, PLACE, 0, 0, 1, PLAN_OK }, { 3, PLACE, 1, 0, 1, PLAN_OK } },
	  .segments = { "0-10 finished", "3-13 finished" },
	  .states = { JOB_FINISHED, JOB_FINISHED } },
	{ .name = "a waiting job moves in elsewhere for migrate_s (A82)",
	  .jobs = "A,0,1,10",
	  .overheads = { .resume_ns = 7, .migrate_ns = 2 },
	  .steps = { { 0, MOVE, 0, 0, 1, PLAN_WRONG_STATE },
	             { 0, PLACE, 0, 0, 1, PLAN_OK },
	             { 4, PREEMPT, 0, 0, 0, PLAN_OK },
	             { 6, MOVE, 0, 3, 1, PLAN_OK } },
	  .segments = { "0-4 preempted 6-14(2) finished" },
	  .states = { JOB_FINISHED } },
	{ .name = "a start taken back in the same plan never was",
	  .jobs = "A,0,2,10 B,0,4,5",
	  .steps = { { 0, PLACE, 0, 0, 2, PLAN_OK },
	             { 0, PREEMPT, 0, 0, 0, PLAN_OK },
	             { 0, PLACE, 1, 0, 4, PLAN_OK },
	             { 5, PLACE, 0, 0, 2, PLAN_OK } },
	  .segments = { "5-15 finished", "0-5 finished" },
	  .states = { JOB_FINISHED, JOB_FINISHED } },
};

static SimTime
seconds(SimTime n)
{
	return n * NS_PER_S;
}

static guint
n_steps(const Case *row)
{
	guint n = G_N_ELEMENTS(row->steps);

	/* What was not written is all zero: a PLACE of job 0 on no GPU. */
	while (n > 0 && row->steps[n - 1].n == 0 && row->steps[n - 1].act == PLACE)
		n--;
	return n;
}

static RunRecord *
run_case(const Case *row, Workload *workload, const Recorder *recorder)
{
	g_autoptr(ClusterSpec) cluster = cluster_spec_parse_shorthand("1x4", NULL);
	g_autoptr(ModelTable) models = model_table_new_empty();
	Scenario scenario = {
		.workload = workload,
		.cluster = cluster,
		.models = models,
		.overheads = { .start_ns = seconds(row->overheads.start_ns),
		               .suspend_ns = seconds(row->overheads.suspend_ns),
		               .resume_ns = seconds(row->overheads.resume_ns),
		               .migrate_ns = seconds(row->overheads.migrate_ns),
		               .checkpoint_every_ns = seconds(row->overheads.checkpoint_every_ns) },
		.window_to_ns = TIME_NEVER,
		.stop_ns = row->stop_s > 0 ? seconds(row->stop_s) : TIME_NEVER,
	};
	Script script = { .steps = row->steps, .n = n_steps(row) };
	EngineSettings settings = { .is_paranoid = TRUE, .recorder = recorder };
	g_autoptr(GError) error = NULL;
	g_autoptr(Engine) engine = NULL;
	RunRecord *record;

	scenario_resolve(workload, cluster, models);
	engine = engine_new(&scenario, row->sits_together ? &together : &alone, &script, &settings,
	                    &error);
	record = engine_run(engine, &error);
	ck_assert_msg(record != NULL, "%s: %s", row->name, error != NULL ? error->message : "");
	return record;
}

START_TEST(test_story)
{
	const Case *row = &cases[_i];
	g_autoptr(Workload) workload = make_workload(row->jobs);
	Story story = { .workload = workload };
	Recorder recorder = { .self = &story, .segment = tell };
	g_autoptr(RunRecord) record = NULL;

	for (guint i = 0; i < G_N_ELEMENTS(story.segments); i++)
		story.segments[i] = g_string_new(NULL);
	record = run_case(row, workload, &recorder);
	for (JobId job = 0; job < workload->n_jobs; job++) {
		const char *wanted = row->segments[job] != NULL ? row->segments[job] : "";

		ck_assert_msg(record->jobs[job].state == row->states[job], "%s: job %u in state %d",
		              row->name, job, record->jobs[job].state);
		ck_assert_msg(g_strcmp0(story.segments[job]->str, wanted) == 0,
		              "%s: job %u: '%s', wanted '%s'", row->name, job,
		              story.segments[job]->str, wanted);
	}
	for (guint i = 0; i < G_N_ELEMENTS(story.segments); i++)
		g_string_free(story.segments[i], TRUE);
}
END_TEST

/* S19: N(t) is 2 on [0, 100) and 1 on [100, 200). */
START_TEST(test_lives)
{
	static const Case row = { .name = "S19",
		                  .steps = { { 0, PLACE, 0, 0, 4, PLAN_OK },
		                             { 100, PLACE, 1, 0, 4, PLAN_OK } } };
	g_autoptr(Workload) workload = make_workload("J1,0,4,100 J2,0,4,100");
	g_autoptr(RunRecord) record = run_case(&row, workload, NULL);

	ck_assert_double_eq(record->apps[0].n_avg, 2);
	ck_assert_double_eq(record->apps[1].n_avg, 1.5);
	/* Demand is 8 GPUs of 4, then 4 of 4. */
	ck_assert_double_eq(record->apps[0].contention, 2);
	ck_assert_double_eq(record->apps[1].contention, 1.5);
	ck_assert_double_eq(record->apps[0].n_jobs_avg, 2);
	ck_assert_double_eq(record->apps[1].n_jobs_avg, 1.5);
	/* One worked while there were two, the other once it was alone. */
	ck_assert_double_eq(record->apps[0].n_at_work, 2);
	ck_assert_double_eq(record->apps[1].n_at_work, 1);
	ck_assert(record->allocated == (GpuTime)200 * 4 * GPU_TIME_PER_GPU_S);
	ck_assert(record->capacity == record->allocated);
}
END_TEST

START_TEST(test_work_and_service_add_up)
{
	static const Case row = { .name = "sums",
		                  .overheads = { .resume_ns = 5, .checkpoint_every_ns = 4 },
		                  .steps = { { 0, PLACE, 0, 0, 2, PLAN_OK },
		                             { 6, PREEMPT, 0, 0, 0, PLAN_OK },
		                             { 10, PLACE, 0, 0, 2, PLAN_OK } } };
	g_autoptr(Workload) workload = make_workload("A,0,2,10");
	g_autoptr(RunRecord) record = run_case(&row, workload, NULL);
	const JobRecord *job = &record->jobs[0];

	/* 6 s, of which 4 are kept; then 5 s of overhead and 6 of work. */
	ck_assert_int_eq(job->run_ns, 17 * NS_PER_S);
	ck_assert_int_eq(job->overhead_ns, 5 * NS_PER_S);
	ck_assert_int_eq(job->finish_ns, 21 * NS_PER_S);
	ck_assert_int_eq(job->kept_work_ns, 10 * NS_PER_S);
	ck_assert(job->service == 34 * GPU_TIME_PER_GPU_S);
	ck_assert_uint_eq(job->preemptions, 1);
	ck_assert_uint_eq(job->segments, 2);
}
END_TEST

START_TEST(test_end_of_time)
{
	static const Case row = { .name = "overflow", .steps = { { 0, PLACE, 0, 0, 1, PLAN_OK } } };
	g_autoptr(Workload) workload = make_workload("A,0,1,5");
	g_autoptr(ClusterSpec) cluster = cluster_spec_parse_shorthand("1x4", NULL);
	g_autoptr(ModelTable) models = model_table_new_empty();
	Scenario scenario = { .workload = workload,
		              .cluster = cluster,
		              .models = models,
		              .overheads = { .start_ns = TIME_NEVER - 10 },
		              .window_to_ns = TIME_NEVER,
		              .stop_ns = TIME_NEVER };
	Script script = { .steps = row.steps, .n = 1 };
	EngineSettings settings = { .is_paranoid = TRUE };
	g_autoptr(GError) error = NULL;
	g_autoptr(Engine) engine = engine_new(&scenario, &alone, &script, &settings, &error);

	ck_assert_ptr_null(engine_run(engine, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_INPUT));
	ck_assert_ptr_nonnull(g_strstr_len(error->message, -1, "time overflow: job A"));
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("engine");
	TCase *tests = tcase_create("instants");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	tcase_add_loop_test(tests, test_story, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tests, test_lives);
	tcase_add_test(tests, test_work_and_service_add_up);
	tcase_add_test(tests, test_end_of_time);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed > 0;
}
