/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include <check.h>

#include "sim/model/workload.h"

#define S NS_PER_S

/* A trace of drafts under construction, its lines counted from 2 as below a header. */
typedef struct Trace {
	WorkloadBuilder *builder;
	Problems *problems;
	guint64 line;
} Trace;

static Trace
trace_begin(void)
{
	Problems *problems = problems_new("t.csv");

	return (Trace){ workload_builder_new("t.csv", problems), problems, 2 };
}

static gboolean
trace_add(Trace *trace, JobDraft draft)
{
	draft.line = trace->line++;
	return workload_builder_add(trace->builder, &draft);
}

static JobDraft
draft_of(const char *name, gint64 submit_ns, guint32 num_gpus, SimWork duration_ns)
{
	JobDraft draft;

	job_draft_init(&draft);
	draft.name = name;
	draft.submit_ns = submit_ns;
	draft.num_gpus = num_gpus;
	draft.duration_ns = duration_ns;
	return draft;
}

static JobDraft
draft_in_app(const char *name, const char *app, gint64 submit_ns, guint32 num_gpus,
             SimWork duration_ns)
{
	JobDraft draft = draft_of(name, submit_ns, num_gpus, duration_ns);

	draft.app = app;
	return draft;
}

static guint64
count_of(const GArray *counts, const char *reason)
{
	for (guint i = 0; i < counts->len; i++)
		if (g_str_equal(g_array_index(counts, ReasonCount, i).reason, reason))
			return g_array_index(counts, ReasonCount, i).n;
	return 0;
}

START_TEST(empty_trace)
{
	Trace trace = trace_begin();
	g_autoptr(Workload) workload = workload_builder_finish(trace.builder);

	ck_assert_uint_eq(workload->n_jobs, 0);
	ck_assert_uint_eq(workload->n_apps, 0);
	ck_assert_uint_eq(workload->n_rows_read, 0);
	ck_assert_int_eq(workload->origin_ns, 0);
	ck_assert_uint_eq(workload->gpu_type_sets->len, 0);
	ck_assert_str_eq(workload->path, "t.csv");
}
END_TEST

START_TEST(keeps_what_a_row_says)
{
	Trace trace = trace_begin();
	JobDraft draft = draft_of("007", 1000 * S, 4, 60 * S);
	g_autoptr(Workload) workload = NULL;
	const Job *job;

	draft.user = "u";
	draft.tenant = "t";
	draft.group = "g";
	draft.model = "vgg16";
	draft.gpu_type = "v100|p100";
	draft.state = "KILLED";
	draft.time_limit_ns = 30 * S;
	draft.deadline_ns = 900 * S;
	draft.priority = -3;
	draft.weight = 2.5;
	draft.gpu_mem_mib = 100;
	draft.cpus_milli = 1500;
	draft.mem_mib = 5000;
	draft.workers = 2;
	draft.gpus_per_worker = 2;
	ck_assert(trace_add(&trace, draft));
	workload = workload_builder_finish(trace.builder);
	job = &workload->jobs[0];
	ck_assert_str_eq(job->name, "007");
	ck_assert_str_eq(job->user, "u");
	ck_assert_str_eq(job->tenant, "t");
	ck_assert_str_eq(job->group, "g");
	ck_assert_str_eq(job->model_name, "vgg16");
	ck_assert_str_eq(job->gpu_type_name, "v100|p100");
	ck_assert_str_eq(job->trace_state, "KILLED");
	ck_assert_str_eq(job->kind, "");
	ck_assert_int_eq(workload->origin_ns, 1000 * S);
	ck_assert_int_eq(job->submit_ns, 0);
	ck_assert_int_eq(job->deadline_ns, -100 * S);
	ck_assert_int_eq(job->time_limit_ns, 30 * S);
	ck_assert_int_eq(job->priority, -3);
	ck_assert_double_eq(job->weight, 2.5);
	ck_assert_uint_eq(job->gpu_mem_mib, 100);
	ck_assert_uint_eq(job->cpus_milli, 1500);
	ck_assert_uint_eq(job->mem_mib, 5000);
	ck_assert_uint_eq(job->workers, 2);
	ck_assert_uint_eq(job->gpus_per_worker, 2);
	ck_assert(job_is_rigid(job) && job_is_picky(job));
	ck_assert(job->gpu_types == GPU_TYPE_ANY && job->model == MODEL_NONE);
	ck_assert_int_eq(workload->duration_ns[0], 60 * S);
	ck_assert_str_eq(g_ptr_array_index(workload->gpu_type_sets, 0), "v100|p100");
}
END_TEST

START_TEST(defaults_are_no_demand)
{
	Trace trace = trace_begin();
	g_autoptr(Workload) workload = NULL;

	trace_add(&trace, draft_of("a", 5, 2, 1));
	workload = workload_builder_finish(trace.builder);
	ck_assert(!job_is_picky(&workload->jobs[0]) && job_is_rigid(&workload->jobs[0]));
	ck_assert_str_eq(workload->jobs[0].user, "");
	ck_assert_int_eq(workload->jobs[0].deadline_ns, TIME_NEVER);
	ck_assert_double_eq(workload->jobs[0].weight, 1);
	ck_assert_uint_eq(workload->problems->n_noticed, 0);
}
END_TEST

/* Rows C D at 50, A at 100, B at 0, E at 50 again: ids by (submit, row) are B C D E A. */
START_TEST(sorts_stably)
{
	static const JobId by_row[] = { 1, 2, 4, 0, 3 };
	static const AppId apps_by_row[] = { 1, 2, 0 };
	static const SimWork durations_ns[] = { 2, 3, 4, 5, 1 };
	Trace trace = trace_begin();
	g_autoptr(Workload) workload = NULL;

	trace_add(&trace, draft_in_app("C", "x", 50, 1, 3));
	trace_add(&trace, draft_of("D", 50, 1, 4));
	trace_add(&trace, draft_in_app("A", "y", 100, 1, 1));
	trace_add(&trace, draft_in_app("B", "y", 0, 1, 2));
	trace_add(&trace, draft_in_app("E", "x", 50, 1, 5));
	workload = workload_builder_finish(trace.builder);
	ck_assert_mem_eq(workload->by_row, by_row, sizeof(by_row));
	ck_assert_mem_eq(workload->apps_by_row, apps_by_row, sizeof(apps_by_row));
	for (guint i = 0; i < 5; i++) {
		ck_assert_uint_eq(workload->jobs[i].id, i);
		ck_assert_uint_eq(workload->by_row[workload->jobs[i].row], i);
		ck_assert_int_eq(workload->duration_ns[i], durations_ns[i]);
	}
	ck_assert_str_eq(workload->jobs[3].name, "E");
	ck_assert_int_eq(workload->jobs[4].submit_ns, 100);
	ck_assert_uint_eq(workload->problems->n_bad, 0);
	ck_assert_uint_eq(workload->problems->n_noticed, 1);
	ck_assert_uint_eq(count_of(workload->problems->noticed, "not sorted by submit time"), 1);
	ck_assert_str_eq(g_ptr_array_index(workload->problems->notices, 0),
	                 "t.csv:5: found a submit time before that of the row above, jobs are "
	                 "taken in the order of (submit time, row)");
}
END_TEST

START_TEST(groups_apps)
{
	Trace trace = trace_begin();
	JobDraft wide = draft_in_app("wide", "x", 10 * S, 4, 10 * S);
	JobDraft part = draft_of("part", 20 * S, 1, 8 * S);
	g_autoptr(Workload) workload = NULL;
	const App *app;

	wide.max_gpus = 8;
	part.share_milli = 250;
	trace_add(&trace, draft_in_app("none", "x", 0, 0, 1000 * S));
	trace_add(&trace, wide);
	trace_add(&trace, part);
	trace_add(&trace, draft_in_app("one", "x", 30 * S, 1, 5 * S));
	workload = workload_builder_finish(trace.builder);
	ck_assert_uint_eq(workload->n_apps, 2);
	app = &workload->apps[0];
	ck_assert_str_eq(app->name, "x");
	ck_assert_uint_eq(app->n_jobs, 3);
	ck_assert_uint_eq(app->n_gpu_jobs, 2);
	ck_assert_int_eq(app->submit_ns, 0);
	ck_assert_uint_eq(app->jobs[0], 0);
	ck_assert_uint_eq(app->jobs[1], 1);
	ck_assert_uint_eq(app->jobs[2], 3);
	ck_assert_uint_eq(app->demand_milli, 9000);
	ck_assert(app->work == 45 * GPU_TIME_PER_GPU_S);
	app = &workload->apps[1];
	ck_assert_str_eq(app->name, "part");
	ck_assert_ptr_eq(app->name, workload->jobs[2].name);
	ck_assert_uint_eq(app->id, 1);
	ck_assert_int_eq(app->submit_ns, 20 * S);
	ck_assert_uint_eq(app->demand_milli, 250);
	ck_assert(app->work == 2 * GPU_TIME_PER_GPU_S);
	ck_assert_uint_eq(workload->jobs[1].min_gpus, 1);
	ck_assert_uint_eq(workload->jobs[1].max_gpus, 8);
}
END_TEST

/* One bad row under two good ones: "a" without app_id, and "b" of the app "x". */
static const struct {
	const char *name, *app;
	gint64 submit_ns;
	SimWork duration_ns;
	guint32 num_gpus, min_gpus, max_gpus, share_milli, workers, gpus_per_worker;
	const char *reason, *message;
} bad_rows[] = {
	{ "", NULL, 0, 1, 1, 0, 0, 1000, 0, 0, "empty job_id",
	  "t.csv:4:1: found an empty job_id, wanted one" },
	{ "a", NULL, 0, 1, 1, 0, 0, 1000, 0, 0, "duplicate job_id",
	  "t.csv:4:1: found the job_id \"a\" of line 2 again, wanted an id of its own" },
	{ "b", "y", 0, 1, 1, 0, 0, 1000, 0, 0, "duplicate job_id",
	  "t.csv:4:1: found the job_id \"b\" of line 3 again, wanted an id of its own" },
	{ "c", "a", 0, 1, 1, 0, 0, 1000, 0, 0, "app_id equals a job_id",
	  "t.csv:4:2: found the app_id \"a\", the job_id of line 2 that has no app_id, wanted "
	  "another one" },
	{ "x", NULL, 0, 1, 1, 0, 0, 1000, 0, 0, "app_id equals a job_id",
	  "t.csv:4:1: found the job_id \"x\", without app_id, that is an app_id of rows above, "
	  "wanted another one" },
	{ "c", NULL, 0, 1, 4, 5, 0, 1000, 0, 0, "min_gpus above num_gpus",
	  "t.csv:4:5: found min_gpus 5 above num_gpus 4, wanted at most that many" },
	{ "c", NULL, 0, 1, 4, 0, 3, 1000, 0, 0, "max_gpus below num_gpus",
	  "t.csv:4:6: found max_gpus 3 below num_gpus 4, wanted at least that many" },
	{ "c", NULL, 0, 1, 0, 0, 3, 1000, 0, 0, "min_gpus above num_gpus",
	  "t.csv:4:6: found max_gpus 3 for num_gpus 0, wanted none" },
	{ "c", NULL, 0, 1, 2, 0, 0, 500, 0, 0, "gpu_share without num_gpus 1",
	  "t.csv:4:7: found a gpu_share with num_gpus 2 and max_gpus 2, wanted 1" },
	{ "c", NULL, 0, 1, 1, 1, 4, 500, 0, 0, "gpu_share without num_gpus 1",
	  "t.csv:4:7: found a gpu_share with num_gpus 1 and max_gpus 4, wanted 1" },
	{ "c", NULL, 0, 1, 1, 0, 0, 0, 0, 0, "bad gpu_share",
	  "t.csv:4:7: found a gpu_share of 0 thousandths, wanted 1 to 1000" },
	{ "c", NULL, 0, 1, 1, 0, 0, 1001, 0, 0, "bad gpu_share",
	  "t.csv:4:7: found a gpu_share of 1001 thousandths, wanted 1 to 1000" },
	{ "c", NULL, 0, 1, 7, 0, 0, 1000, 2, 4, "workers do not match num_gpus",
	  "t.csv:4:8: found 2 workers of 4 GPUs for num_gpus 7, wanted a product equal to it" },
	{ "c", NULL, 0, 1, 4, 0, 0, 1000, 2, 0, "workers without gpus_per_worker",
	  "t.csv:4:8: found workers 2 without gpus_per_worker, wanted both or none" },
	{ "c", NULL, 0, 1, NUM_GPUS_ABSENT, 0, 0, 1000, 0, 2, "workers without gpus_per_worker",
	  "t.csv:4:9: found gpus_per_worker 2 without workers, wanted both or none" },
	{ "c", NULL, 0, 1, NUM_GPUS_ABSENT, 0, 0, 1000, 65536, 65536,
	  "workers do not match num_gpus",
	  "t.csv:4:8: found 65536 workers of 65536 GPUs, wanted fewer GPUs" },
	{ "c", NULL, 0, 1, NUM_GPUS_ABSENT, 0, 0, 1000, 0, 0, "no num_gpus",
	  "t.csv:4:8: found neither num_gpus nor workers and gpus_per_worker, wanted one of "
	  "them" },
	{ "c", NULL, 0, -1, 1, 0, 0, 1000, 0, 0, "negative duration",
	  "t.csv:4:4: found a negative duration, wanted 0 or more" },
	{ "c", NULL, 1, G_MAXINT64, 1, 0, 0, 1000, 0, 0, "time overflow",
	  "t.csv:4:4: found a submit plus duration beyond the clock, a time overflow, wanted at "
	  "most 9223372036.854775807 s" },
	{ "c", NULL, G_MININT64, 1, 1, 0, 0, 1000, 0, 0, "time overflow",
	  "t.csv:4:4: found a submit plus duration beyond the clock, a time overflow, wanted at "
	  "most 9223372036.854775807 s" },
};

/* A reader whose cells stand behind each other, one character each. */
static gboolean
find_cell(const void *reader, DraftField field, guint64 *ret_line, guint *ret_column)
{
	const Trace *trace = reader;

	*ret_line = trace->line - 1;
	*ret_column = field + 1;
	return TRUE;
}

START_TEST(refuses_row)
{
	Trace trace = trace_begin();
	JobDraft draft = draft_in_app(bad_rows[_i].name, bad_rows[_i].app, bad_rows[_i].submit_ns,
	                              bad_rows[_i].num_gpus, bad_rows[_i].duration_ns);
	g_autoptr(Workload) workload = NULL;

	draft.min_gpus = bad_rows[_i].min_gpus;
	draft.max_gpus = bad_rows[_i].max_gpus;
	draft.share_milli = bad_rows[_i].share_milli;
	draft.workers = bad_rows[_i].workers;
	draft.gpus_per_worker = bad_rows[_i].gpus_per_worker;
	workload_builder_set_finder(trace.builder, find_cell, &trace);
	ck_assert(trace_add(&trace, draft_of("a", 0, 1, 1)));
	ck_assert(trace_add(&trace, draft_in_app("b", "x", 0, 1, 1)));
	ck_assert(!trace_add(&trace, draft));
	ck_assert_uint_eq(trace.problems->n_bad, 1);
	ck_assert_uint_eq(count_of(trace.problems->bad, bad_rows[_i].reason), 1);
	ck_assert_str_eq(g_ptr_array_index(trace.problems->texts, 0), bad_rows[_i].message);
	/* A bad row leaves nothing behind. */
	ck_assert(trace_add(&trace, draft_in_app("d", "x", 0, 1, 1)));
	workload = workload_builder_finish(trace.builder);
	ck_assert_uint_eq(workload->n_rows_read, 4);
	ck_assert_uint_eq(workload->n_jobs, 3);
	ck_assert_uint_eq(workload->n_apps, 2);
	ck_assert_uint_eq(workload->apps[1].n_jobs, 2);
	ck_assert_int_eq(workload->jobs[2].submit_ns, 0);
}
END_TEST

/* Without a reader that knows columns, or with one that has no such cell, there is the line. */
static gboolean
find_nothing(const void *reader, DraftField field, guint64 *ret_line, guint *ret_column)
{
	return FALSE;
}

START_TEST(names_the_line_without_columns)
{
	Trace trace = trace_begin();
	g_autoptr(Workload) workload = NULL;

	ck_assert(trace_add(&trace, draft_of("a", 0, 1, 1)));
	ck_assert(!trace_add(&trace, draft_of("a", 0, 1, 1)));
	workload_builder_set_finder(trace.builder, find_nothing, NULL);
	ck_assert(!trace_add(&trace, draft_of("b", 0, 1, -1)));
	ck_assert_str_eq(
	    g_ptr_array_index(trace.problems->texts, 0),
	    "t.csv:3: found the job_id \"a\" of line 2 again, wanted an id of its own");
	ck_assert_str_eq(g_ptr_array_index(trace.problems->texts, 1),
	                 "t.csv:4: found a negative duration, wanted 0 or more");
	workload = workload_builder_finish(trace.builder);
}
END_TEST

/* Rows that look odd and are right. */
static const struct {
	const char *name, *app;
	gint64 submit_ns;
	SimWork duration_ns;
	guint32 num_gpus, min_gpus, max_gpus, workers, gpus_per_worker;
	guint32 min_wanted, num_wanted, max_wanted, workers_wanted;
} good_rows[] = {
	{ "x2", "x2", 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0 }, /* in the app of its own name */
	{ "c", "b", 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 0 },   /* "b" is a job, but has an app_id */
	{ "c", NULL, 0, G_MAXINT64, 1, 0, 0, 0, 0, 1, 1, 1, 0 },
	{ "c", NULL, -5, 5, 1, 0, 0, 0, 0, 1, 1, 1, 0 },
	{ "c", NULL, 0, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0 },
	{ "c", NULL, 0, 1, 4, 2, 0, 0, 0, 2, 4, 4, 0 },
	{ "c", NULL, 0, 1, 4, 0, 8, 0, 0, 1, 4, 8, 0 },
	{ "c", NULL, 0, 1, 4, 0, 4, 0, 0, 1, 4, 4, 0 },
	{ "c", NULL, 0, 1, 4, 4, 4, 0, 0, 4, 4, 4, 0 },
	{ "c", NULL, 0, 1, NUM_GPUS_ABSENT, 0, 0, 3, 2, 6, 6, 6, 3 },
	{ "c", NULL, 0, 1, 6, 0, 0, 3, 2, 6, 6, 6, 3 },
	{ "c", NULL, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0 }, /* workers without GPUs are none here */
};

START_TEST(takes_row)
{
	Trace trace = trace_begin();
	JobDraft draft =
	    draft_in_app(good_rows[_i].name, good_rows[_i].app, good_rows[_i].submit_ns,
	                 good_rows[_i].num_gpus, good_rows[_i].duration_ns);
	g_autoptr(Workload) workload = NULL;
	const Job *job;

	draft.min_gpus = good_rows[_i].min_gpus;
	draft.max_gpus = good_rows[_i].max_gpus;
	draft.workers = good_rows[_i].workers;
	draft.gpus_per_worker = good_rows[_i].gpus_per_worker;
	trace_add(&trace, draft_of("a", 0, 1, 1));
	trace_add(&trace, draft_in_app("b", "x", 0, 1, 1));
	ck_assert(trace_add(&trace, draft));
	workload = workload_builder_finish(trace.builder);
	job = &workload->jobs[workload->by_row[2]];
	ck_assert_uint_eq(job->min_gpus, good_rows[_i].min_wanted);
	ck_assert_uint_eq(job->num_gpus, good_rows[_i].num_wanted);
	ck_assert_uint_eq(job->max_gpus, good_rows[_i].max_wanted);
	ck_assert_uint_eq(job->workers, good_rows[_i].workers_wanted);
	ck_assert_int_eq(workload->jobs[0].submit_ns, 0);
}
END_TEST

/* Times before 1970 may make the span too long though each of them is on the clock. */
START_TEST(time_span_fits_the_clock)
{
	Trace trace = trace_begin();
	JobDraft late = draft_of("late", 0, 1, 1);
	g_autoptr(Workload) workload = NULL;

	late.deadline_ns = G_MAXINT64 - 2;
	ck_assert(trace_add(&trace, draft_of("a", -1, 1, 1)));
	ck_assert(trace_add(&trace, late));
	ck_assert(!trace_add(&trace, draft_of("b", -3, 1, 1)));
	ck_assert(!trace_add(&trace, draft_of("c", 0, 1, G_MAXINT64)));
	ck_assert(trace_add(&trace, draft_of("d", 0, 1, G_MAXINT64 - 1)));
	ck_assert_uint_eq(count_of(trace.problems->bad, "time overflow"), 2);
	workload = workload_builder_finish(trace.builder);
	ck_assert_int_eq(workload->jobs[1].submit_ns, 1);
	ck_assert_int_eq(workload->jobs[1].deadline_ns, G_MAXINT64 - 1);
}
END_TEST

/* Labels are kept once each, so that a text's address is its identity. */
START_TEST(interns_labels)
{
	static const char *const types[] = { "v100", "p100", "", "v100", "p100|v100", "p100" };
	Trace trace = trace_begin();
	g_autoptr(Workload) workload = NULL;

	for (guint i = 0; i < G_N_ELEMENTS(types); i++) {
		g_autofree char *name = g_strdup_printf("%u", i);
		g_autofree char *type = g_strdup(types[i]);
		JobDraft draft = draft_of(name, 0, 1, 1);

		draft.gpu_type = type;
		trace_add(&trace, draft);
	}
	workload = workload_builder_finish(trace.builder);
	ck_assert_ptr_eq(workload->jobs[0].gpu_type_name, workload->jobs[3].gpu_type_name);
	ck_assert_ptr_eq(workload->jobs[1].gpu_type_name, workload->jobs[5].gpu_type_name);
	ck_assert_uint_eq(workload->gpu_type_sets->len, 3);
	ck_assert_str_eq(g_ptr_array_index(workload->gpu_type_sets, 2), "p100|v100");
	ck_assert_str_eq(workload->jobs[5].name, "5");
}
END_TEST

/* Many rows in falling order, in apps of seven. */
START_TEST(many_rows)
{
	enum { N = 20000 };
	Trace trace = trace_begin();
	g_autoptr(Workload) workload = NULL;
	guint n_in_apps = 0;

	for (guint i = 0; i < N; i++) {
		g_autofree char *name = g_strdup_printf("job-%u", i);
		g_autofree char *app = g_strdup_printf("app-%u", i / 7);

		ck_assert(trace_add(&trace, draft_in_app(name, app, N - i / 2, 1 + i % 3, i)));
	}
	workload = workload_builder_finish(trace.builder);
	ck_assert_uint_eq(workload->n_jobs, N);
	ck_assert_uint_eq(workload->n_apps, (N + 6) / 7);
	for (guint i = 1; i < N; i++) {
		const Job *job = &workload->jobs[i], *before = job - 1;

		ck_assert(before->submit_ns < job->submit_ns ||
		          (before->submit_ns == job->submit_ns && before->row < job->row));
		ck_assert_int_eq(workload->duration_ns[i], job->row);
	}
	for (guint i = 0; i < workload->n_apps; i++) {
		const App *app = &workload->apps[i];

		n_in_apps += app->n_jobs;
		for (guint j = 0; j < app->n_jobs; j++) {
			ck_assert_uint_eq(workload->jobs[app->jobs[j]].app, i);
			ck_assert(j == 0 || app->jobs[j - 1] < app->jobs[j]);
		}
		ck_assert(i == 0 || app[-1].jobs[0] < app->jobs[0]);
	}
	ck_assert_uint_eq(n_in_apps, N);
}
END_TEST

static Suite *
workload_suite(void)
{
	Suite *suite = suite_create("workload");
	TCase *tests = tcase_create("workload");

	tcase_add_test(tests, empty_trace);
	tcase_add_test(tests, keeps_what_a_row_says);
	tcase_add_test(tests, defaults_are_no_demand);
	tcase_add_test(tests, sorts_stably);
	tcase_add_test(tests, groups_apps);
	tcase_add_loop_test(tests, refuses_row, 0, G_N_ELEMENTS(bad_rows));
	tcase_add_test(tests, names_the_line_without_columns);
	tcase_add_loop_test(tests, takes_row, 0, G_N_ELEMENTS(good_rows));
	tcase_add_test(tests, time_span_fits_the_clock);
	tcase_add_test(tests, interns_labels);
	tcase_add_test(tests, many_rows);
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(workload_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
