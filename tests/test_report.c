/* SPDX-License-Identifier: MIT */

/*
 * What a run's record becomes in the files. Records are made by hand, so that no engine's opinion
 * is tested here (but where a streamed run is compared with another); the right values come from
 * the cases of the specification (S03, S19, E07, ...).
 */

#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <glib/gstdio.h>

#include "sim/base/error.h"
#include "sim/base/file.h"
#include "sim/base/rng.h"
#include "sim/report/exact.h"
#include "sim/report/report.h"
#include "tests/fixture.h"

#define S NS_PER_S

/* A job of the trace and what became of it, in seconds. */
typedef struct Case {
	const char *name, *app;
	double submit_s;
	guint num_gpus;
	double duration_s;
	JobState state;
	double start_s, finish_s; /* on the trace's clock; NOT = never */
} Case;

#define NOT (-1.0)

typedef struct Run {
	Scenario scenario;
	Workload *workload;
	ClusterSpec *cluster;
	ModelTable *models;
	RunRecord *record;
	char *folder; /* for files */
} Run;

static SimTime
ns(double seconds)
{
	return (SimTime)(seconds * 1e9 + 0.5);
}

static Workload *
workload_of(const Case *cases, guint n)
{
	WorkloadBuilder *builder = workload_builder_new("trace.csv", problems_new("trace.csv"));

	for (guint i = 0; i < n; i++) {
		JobDraft draft;

		job_draft_init(&draft);
		draft.name = cases[i].name;
		draft.app = cases[i].app ? cases[i].app : "";
		draft.submit_ns = ns(cases[i].submit_s);
		draft.num_gpus = cases[i].num_gpus;
		draft.duration_ns = ns(cases[i].duration_s);
		ck_assert(workload_builder_add(builder, &draft));
	}
	return workload_builder_finish(builder);
}

/* A job that ran in one piece, if it ran. */
static void
record_job(Run *run, const Case *from, JobId id)
{
	const Job *job = &run->workload->jobs[id];
	JobRecord *done = &run->record->jobs[id];
	gint64 origin_ns = run->workload->origin_ns;
	SimTime end_ns;

	done->state = from->state;
	done->reject_reason = from->state == JOB_REJECTED ? "needs 16, cluster has 8" : "";
	done->has_started = from->start_s >= 0;
	if (!done->has_started)
		return;
	done->first_start_ns = ns(from->start_s) - origin_ns;
	end_ns = from->finish_s >= 0 ? ns(from->finish_s) - origin_ns : run->record->end_ns;
	done->finish_ns = from->finish_s >= 0 ? end_ns : 0;
	done->run_ns = end_ns - done->first_start_ns;
	done->kept_work_ns = done->run_ns;
	done->service = (GpuTime)job_held_milli(job, job->num_gpus) * done->run_ns;
	done->placement_atto_ns = (__int128)done->run_ns * SPEED_ONE_PPB * SPEED_ONE_PPB;
	done->segments = 1;
	run->record->allocated += done->service;
}

static void
record_app(Run *run, const App *app)
{
	AppRecord *done = &run->record->apps[app->id];

	*done = (AppRecord){
		.has_life = TRUE,
		.state = JOB_FINISHED,
		.n_avg = 1,
		.contention = 1,
		.n_jobs_avg = 1,
		.n_at_work = 1,
	};
	for (guint32 i = 0; i < app->n_jobs; i++) {
		const JobRecord *job = &run->record->jobs[app->jobs[i]];

		done->service += job->service;
		done->finish_ns = MAX(done->finish_ns, job->finish_ns);
		if (job->state == JOB_FINISHED)
			continue;
		done->state = job->state;
		done->has_life = FALSE;
	}
}

static void
record_span(Run *run)
{
	RunRecord *record = run->record;

	for (JobId i = run->workload->n_jobs; i-- > 0;) {
		if (record->jobs[i].state != JOB_REJECTED) {
			record->has_first_submit = TRUE;
			record->first_submit_ns = run->workload->jobs[i].submit_ns;
		}
		record->has_last_finish |= record->jobs[i].finish_ns > 0;
		record->last_finish_ns = MAX(record->last_finish_ns, record->jobs[i].finish_ns);
	}
	record->has_span = record->has_first_submit && record->has_last_finish;
	if (record->has_span)
		record->capacity = (record->last_finish_ns - record->first_submit_ns) *
		                   (GpuTime)GPU_MILLI * run->cluster->n_gpus;
	if (record->end_ns == 0)
		record->end_ns = record->last_finish_ns;
}

static Run
run_new(const char *cluster, const Case *cases, guint n, double stop_s)
{
	Run run = { .workload = workload_of(cases, n) };

	run.cluster = cluster_spec_parse_shorthand(cluster, NULL);
	run.models = model_table_new_empty();
	run.scenario = (Scenario){
		.workload = run.workload,
		.cluster = run.cluster,
		.models = run.models,
		.seed = 1,
		.window_to_ns = TIME_NEVER,
		.stop_ns = stop_s >= 0 ? ns(stop_s) : TIME_NEVER,
	};
	scenario_resolve(run.workload, run.cluster, run.models);
	run.record = g_new0(RunRecord, 1);
	run.record->jobs = g_new0(JobRecord, n);
	run.record->apps = g_new0(AppRecord, run.workload->n_apps);
	run.record->end_ns = stop_s >= 0 ? ns(stop_s) : 0;
	for (guint i = 0; i < n; i++)
		record_job(&run, &cases[i], run.workload->by_row[i]);
	for (AppId i = 0; i < run.workload->n_apps; i++)
		record_app(&run, &run.workload->apps[i]);
	record_span(&run);
	run.folder = g_dir_make_tmp("themis-report-XXXXXX", NULL);
	return run;
}

static void
remove_all(const char *path)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *inside = g_build_filename(path, name, NULL);

		remove_all(inside);
	}
	if (dir)
		g_dir_close(dir);
	g_remove(path);
}

static void
run_clear(Run *run)
{
	run_record_free(run->record);
	model_table_free(run->models);
	cluster_spec_free(run->cluster);
	workload_free(run->workload);
	remove_all(run->folder);
	g_free(run->folder);
}

/* Reading what was written */

static char *
text_of(const Run *run, const char *name)
{
	g_autofree char *path = g_build_filename(run->folder, "fifo", name, NULL);
	char *text = NULL;

	ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "%s is missing", path);
	return text;
}

static RunFolder *
folder_of(const Run *run, RunFolderSettings settings)
{
	g_autofree char *path = g_build_filename(run->folder, "fifo", NULL);
	RunFolder *folder;
	GError *error = NULL;

	settings.path = path;
	folder = run_folder_open(&run->scenario, &settings, &error);
	g_assert_no_error(error);
	return folder;
}

static void
commit(RunFolder *folder, const Run *run)
{
	GError *error = NULL;

	run_folder_commit(folder, run->record, &error);
	g_assert_no_error(error);
	run_folder_free(folder);
}

static void
write_run(const Run *run)
{
	commit(folder_of(run, (RunFolderSettings){ 0 }), run);
}

static void
expect_file(const Run *run, const char *name, const char *text)
{
	g_autofree char *got = text_of(run, name);

	ck_assert_str_eq(got, text);
}

/* The cell of @column in the row whose first cell is @key; texts with commas are not for this. */
static char *
cell_of(const char *text, const char *key, const char *column)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_auto(GStrv) titles = g_strsplit(lines[0], ",", -1);

	for (guint i = 1; lines[i] && lines[i][0]; i++) {
		g_auto(GStrv) cells = g_strsplit(lines[i], ",", -1);

		if (!g_str_equal(cells[0], key))
			continue;
		ck_assert_uint_eq(g_strv_length(cells), g_strv_length(titles));
		for (guint k = 0; titles[k]; k++) {
			if (g_str_equal(titles[k], column))
				return g_strdup(cells[k]);
		}
	}
	return g_strdup("no such cell");
}

static void
expect_cell(const Run *run, const char *file, const char *key, const char *column, const char *want)
{
	g_autofree char *text = text_of(run, file);
	g_autofree char *got = cell_of(text, key, column);

	ck_assert_msg(g_str_equal(got, want), "%s, %s, %s: got \"%s\", wanted \"%s\"", file, key,
	              column, got, want);
}

typedef struct Pair {
	const char *column, *want;
} Pair;

static void
expect_summary(const Run *run, const Pair *pairs)
{
	SummaryRow *row = summary_row_new(&run->scenario, run->record, "fifo", "");

	for (; pairs->column; pairs++) {
		const char *got = summary_row_get(row, pairs->column);

		ck_assert_msg(g_str_equal(got, pairs->want), "%s: got \"%s\", wanted \"%s\"",
		              pairs->column, got, pairs->want);
	}
	summary_row_free(row);
}

static void
expect_row(const Run *run, const char *file, const char *key, const Pair *pairs)
{
	for (; pairs->column; pairs++)
		expect_cell(run, file, key, pairs->column, pairs->want);
}

/* S19: two gangs of the whole cluster behind each other */

static Run
s19_new(void)
{
	static const Case cases[] = {
		{ "J1", NULL, 0, 4, 100, JOB_FINISHED, 0, 100 },
		{ "J2", NULL, 0, 4, 100, JOB_FINISHED, 100, 200 },
	};
	Run run = run_new("1x4", cases, 2, NOT);

	/* n is 2 until J1 ends, then 1; demand 8 GPUs of 4, then 4. */
	run.record->apps[0].n_avg = 2;
	run.record->apps[0].contention = 2;
	run.record->apps[1].n_avg = 1.5;
	run.record->apps[1].contention = 1.5;
	run.record->apps[0].n_jobs_avg = run.record->apps[0].n_at_work = 2;
	run.record->apps[1].n_jobs_avg = 1.5;
	run.record->events = 4;
	run.record->decisions = 3;
	return run;
}

START_TEST(writes_jobs_and_apps_of_s19)
{
	Run run = s19_new();

	write_run(&run);
	expect_file(&run, "jobs.csv",
	            "job_id,app_id,user,tenant,group,model,gpu_type,num_gpus,submit_s,"
	            "first_start_s,finish_s,state,trace_state,reject_reason,duration_s,jct_s,"
	            "wait_s,pending_s,run_s,overhead_s,service_gpu_s,slowdown,segments,"
	            "preemptions,migrations,placement_score\n"
	            "J1,J1,,,,,,4,0,0,100,FINISHED,,,100,100,0,0,100,0,400,1,1,0,0,1\n"
	            "J2,J2,,,,,,4,0,100,200,FINISHED,,,100,200,100,100,100,0,400,2,1,0,0,1\n");
	expect_file(&run, "apps.csv",
	            "app_id,user,tenant,group,jobs,submit_s,finish_s,state,jct_s,service_gpu_s,"
	            "n_avg,t_shared_s,t_independent_s,rho,rho_capped,contention,rho_contention,"
	            "n_jobs_avg,n_at_work,rho_gavel,rho_sia,rho_shockwave_static,"
	            "rho_shockwave_themis,received_ratio\n"
	            "J1,,,,1,0,100,FINISHED,100,400,2,100,200,0.5,0.5,2,0.5,2,2,0.5,0.5,"
	            "1,1,2\n"
	            "J2,,,,1,0,200,FINISHED,200,400,1.5,200,150,1.333333333,1.333333333,1.5,"
	            "1.333333333,1.5,1,2,1.333333333,2,2,0.75\n");
	run_clear(&run);
}
END_TEST

/* rho: 1/2 and 4/3. Sum 11/6, sum of squares 73/36, so Jain = (121/36) / (2 x 73/36) = 121/146. */
static const Pair s19_summary[] = {
	{ "policy", "fifo" },
	{ "trace", "trace.csv" },
	{ "cluster", "1x4" },
	{ "seed", "1" },
	{ "jobs", "2" },
	{ "apps", "2" },
	{ "finished", "2" },
	{ "rejected", "0" },
	{ "measured", "2" },
	{ "first_submit_s", "0" },
	{ "last_finish_s", "200" },
	{ "makespan_s", "200" },
	{ "jct_mean_s", "150" },
	{ "jct_p50_s", "150" },
	{ "jct_p90_s", "190" },
	{ "jct_p95_s", "195" },
	{ "jct_p99_s", "199" },
	{ "jct_max_s", "200" },
	{ "wait_mean_s", "50" },
	{ "wait_p50_s", "50" },
	{ "wait_p99_s", "99" },
	{ "slowdown_mean", "1.5" },
	{ "rho_mean", "0.916666667" },
	{ "rho_p50", "0.916666667" },
	{ "rho_p90", "1.25" },
	{ "rho_p99", "1.325" },
	{ "rho_max", "1.333333333" },
	{ "rho_over_1_frac", "0.5" },
	{ "rho_capped_max", "1.333333333" },
	{ "jain_rho", "0.828767123" },
	{ "alloc_gpu_s", "800" },
	{ "useful_gpu_s", "800" },
	{ "util_frac", "1" },
	{ "placement_score_mean", "1" },
	{ "preemptions", "0" },
	{ "migrations", "0" },
	{ "events", "4" },
	{ "decisions", "3" },
	{ "refused", "0" },
	{ "wait_max_s", "100" },
	{ "wait_max_job", "J2" },
	{ "rho_apps", "2" },
	{ "rho_contention_mean", "0.916666667" },
	{ "rho_contention_max", "1.333333333" },
	{ "rho_excess_mean", "0.166666667" }, /* (1/3) / 2 */
	{ "gini_rho", "0.227272727" },        /* (4/3 - 1/2) / (2 x 11/6) */
	{ "stopped", "0" },
	{ "stopped_gpu_s", "0" },
	{ "goodput_frac", "1" },
	{ NULL, NULL },
};

START_TEST(sums_up_s19)
{
	Run run = s19_new();

	expect_summary(&run, s19_summary);
	run_clear(&run);
}
END_TEST

START_TEST(writes_the_summary_in_column_order)
{
	Run run = s19_new();
	g_autofree char *path = g_build_filename(run.folder, "summary.csv", NULL);
	SummaryRow *row = summary_row_new(&run.scenario, run.record, "tiresias@3",
	                                  "thresholds_gpu_s=[1,2],gittins=off");
	g_autofree char *text = NULL;

	ck_assert(summary_write(path, (const SummaryRow *const[]){ row }, 1, NULL));
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert_str_eq(
	    text,
	    "policy,policy_options,trace,cluster,seed,jobs,apps,finished,rejected,timeout,failed,"
	    "unfinished,measured,first_submit_s,last_finish_s,makespan_s,jct_mean_s,jct_p50_s,"
	    "jct_p90_s,jct_p95_s,jct_p99_s,jct_max_s,wait_mean_s,wait_p50_s,wait_p99_s,"
	    "slowdown_mean,rho_mean,rho_p50,rho_p90,rho_p99,rho_max,rho_over_1_frac,"
	    "rho_capped_max,jain_rho,alloc_gpu_s,useful_gpu_s,util_frac,placement_score_mean,"
	    "preemptions,migrations,events,decisions,refused,wait_max_s,wait_max_job,rho_apps,"
	    "rho_contention_mean,rho_contention_max,rho_excess_mean,gini_rho,stopped,"
	    "stopped_gpu_s,goodput_frac\n"
	    "tiresias@3,\"thresholds_gpu_s=[1,2],gittins=off\",trace.csv,1x4,1,2,2,2,0,0,0,0,2,"
	    "0,200,200,150,150,190,195,199,200,50,50,99,1.5,0.916666667,0.916666667,1.25,1.325,"
	    "1.333333333,0.5,1.333333333,0.828767123,800,800,1,1,0,0,4,3,0,100,J2,2,0.916666667,"
	    "1.333333333,0.166666667,0.227272727,0,0,1\n");
	summary_row_free(row);
	run_clear(&run);
}
END_TEST

START_TEST(prints_an_aligned_table)
{
	Run run = s19_new();
	SummaryRow *rows[] = { summary_row_new(&run.scenario, run.record, "fifo", ""),
		               summary_row_new(&run.scenario, run.record, "tiresias@x", "") };
	g_autofree char *table = summary_table((const SummaryRow *const *)rows, 2);

	ck_assert_str_eq(table,
	                 "policy      measured  jct_mean_s  jct_p50_s  jct_p99_s  rho_max  rho_mean"
	                 "  rho_cont_max  jain_rho  util_%  makespan_s  preemptions\n"
	                 "fifo               2      150.00     150.00     199.00    1.333     0.917"
	                 "         1.333     0.829   100.0      200.00            0\n"
	                 "tiresias@x         2      150.00     150.00     199.00    1.333     0.917"
	                 "         1.333     0.829   100.0      200.00            0\n");
	summary_row_free(rows[0]);
	summary_row_free(rows[1]);
	run_clear(&run);
}
END_TEST

/* Fairness */

static const struct {
	const char *name;
	double n_avg, contention;
	Pair want[6];
} fairness_cases[] = {
	/* E6: the paper's rho lets a small job own a part of a speed-up it cannot use. */
	{ "E6",
	  4,
	  1.5,
	  {
	      { "t_shared_s", "180" },
	      { "t_independent_s", "400" },
	      { "rho", "0.45" },
	      { "rho_capped", "1.8" },
	      { "rho_contention", "1.2" },
	  } },
	/* With so many apps a part is less than the app could use: 8 / 16 of a GPU. */
	{ "crowded",
	  16,
	  8,
	  {
	      { "t_shared_s", "180" },
	      { "t_independent_s", "1600" },
	      { "rho", "0.1125" },
	      { "rho_capped", "0.45" },
	      { "rho_contention", "0.225" },
	  } },
	{ "alone",
	  1,
	  1,
	  {
	      { "t_shared_s", "180" },
	      { "t_independent_s", "100" },
	      { "rho", "1.8" },
	      { "rho_capped", "1.8" },
	      { "rho_contention", "1.8" },
	  } },
};

START_TEST(knows_the_variants_of_rho)
{
	static const Case job = { "A", NULL, 0, 2, 100, JOB_FINISHED, 80, 180 };
	Run run = run_new("1x8", &job, 1, NOT);

	run.record->apps[0].n_avg = fairness_cases[_i].n_avg;
	run.record->apps[0].contention = fairness_cases[_i].contention;
	write_run(&run);
	expect_row(&run, "apps.csv", "A", fairness_cases[_i].want);
	run_clear(&run);
}
END_TEST

/* Two jobs of one app: W = 300 GPU-s, d = 3, life 0 to 150. */
START_TEST(sums_work_and_demand_over_an_app)
{
	static const Case cases[] = {
		{ "a1", "A", 0, 1, 100, JOB_FINISHED, 0, 100 },
		{ "a2", "A", 20, 2, 100, JOB_FINISHED, 50, 150 },
	};
	static const Pair want[] = {
		{ "jobs", "2" },
		{ "submit_s", "0" },
		{ "finish_s", "150" },
		{ "jct_s", "150" },
		{ "service_gpu_s", "300" },
		{ "t_shared_s", "150" },
		{ "t_independent_s", "100" },
		{ "rho", "1.5" },
		{ NULL, NULL },
	};
	Run run = run_new("1x8", cases, 2, NOT);

	write_run(&run);
	expect_row(&run, "apps.csv", "A", want);
	expect_summary(&run,
	               (const Pair[]){ { "apps", "1" }, { "rho_apps", "1" }, { NULL, NULL } });
	run_clear(&run);
}
END_TEST

/* Undefined is empty */

START_TEST(has_only_headers_without_jobs)
{
	static const Pair want[] = {
		{ "jobs", "0" },
		{ "apps", "0" },
		{ "finished", "0" },
		{ "measured", "0" },
		{ "first_submit_s", "" },
		{ "last_finish_s", "" },
		{ "makespan_s", "" },
		{ "jct_mean_s", "" },
		{ "jct_p50_s", "" },
		{ "jct_max_s", "" },
		{ "wait_mean_s", "" },
		{ "slowdown_mean", "" },
		{ "rho_mean", "" },
		{ "rho_max", "" },
		{ "rho_over_1_frac", "" },
		{ "jain_rho", "" },
		{ "alloc_gpu_s", "0" },
		{ "useful_gpu_s", "0" },
		{ "util_frac", "" },
		{ "wait_max_s", "" },
		{ "wait_max_job", "" },
		{ "rho_apps", "0" },
		{ "preemptions", "0" },
		{ "placement_score_mean", "" },
		{ "rho_capped_max", "" },
		{ "rho_contention_mean", "" },
		{ "rho_contention_max", "" },
		{ "rho_excess_mean", "" },
		{ "gini_rho", "" },
		{ "stopped", "0" },
		{ "goodput_frac", "" },
		{ NULL, NULL },
	};
	Run run = run_new("1x4", NULL, 0, NOT);
	RunFolder *folder =
	    folder_of(&run, (RunFolderSettings){ .wants_segments = TRUE, .wants_timeline = TRUE });
	g_autofree char *jobs = NULL;

	commit(folder, &run);
	jobs = text_of(&run, "jobs.csv");
	ck_assert_ptr_eq(strchr(jobs, '\n'), jobs + strlen(jobs) - 1);
	expect_file(&run, "segments.csv",
	            "job_id,segment,start_s,end_s,gpus,machines,level,speed,overhead_s,"
	            "end_reason\n");
	expect_file(&run, "timeline.csv",
	            "time_s,allocated_gpus,capacity_gpus,running_jobs,queued_jobs,queued_gpus\n");
	expect_summary(&run, want);
	run_clear(&run);
}
END_TEST

/* S03: no work at all is a jct of 0 and no ratio. */
START_TEST(leaves_ratios_of_no_duration_empty)
{
	static const Case cases[] = {
		{ "A", NULL, 0, 1, 0, JOB_FINISHED, 0, 0 },
		{ "B", NULL, 0, 1, 5, JOB_FINISHED, 0, 5 },
	};
	Run run = run_new("1x1", cases, 2, NOT);

	write_run(&run);
	expect_row(
	    &run, "jobs.csv", "A",
	    (const Pair[]){
	        { "jct_s", "0" }, { "slowdown", "" }, { "placement_score", "1" }, { NULL, NULL } });
	expect_row(&run, "apps.csv", "A",
	           (const Pair[]){ { "t_independent_s", "0" },
	                           { "rho", "" },
	                           { "rho_capped", "" },
	                           { "rho_contention", "" },
	                           { NULL, NULL } });
	expect_summary(&run, (const Pair[]){ { "jct_mean_s", "2.5" },
	                                     { "slowdown_mean", "1" },
	                                     { "rho_apps", "1" },
	                                     { "rho_mean", "1" },
	                                     { NULL, NULL } });
	run_clear(&run);
}
END_TEST

/* S02, A04, B15: a job without GPUs has times and no GPU figure. */
START_TEST(leaves_gpu_figures_of_no_gpus_empty)
{
	static const Case cases[] = {
		{ "A", NULL, 0, 0, 50, JOB_FINISHED, 0, 50 },
		{ "B", NULL, 0, 8, 10, JOB_FINISHED, 0, 10 },
	};
	Run run = run_new("1x8", cases, 2, NOT);

	write_run(&run);
	expect_row(&run, "jobs.csv", "A",
	           (const Pair[]){ { "jct_s", "50" },
	                           { "service_gpu_s", "0" },
	                           { "slowdown", "1" },
	                           { "placement_score", "" },
	                           { NULL, NULL } });
	expect_row(&run, "apps.csv", "A",
	           (const Pair[]){ { "jct_s", "50" },
	                           { "t_shared_s", "50" },
	                           { "t_independent_s", "" },
	                           { "rho", "" },
	                           { "rho_capped", "" },
	                           { "rho_contention", "" },
	                           { NULL, NULL } });
	expect_summary(&run, (const Pair[]){ { "measured", "2" },
	                                     { "makespan_s", "50" },
	                                     { "util_frac", "0.2" },
	                                     { "placement_score_mean", "1" },
	                                     { "rho_apps", "1" },
	                                     { NULL, NULL } });
	run_clear(&run);
}
END_TEST

/* S18 and A32, stopped at 100: A ended, B runs, C waits, D was never submitted; R was refused, T
 * hit its limit. */
static Run
stopped_new(void)
{
	static const Case cases[] = {
		{ "A", NULL, 0, 1, 10, JOB_FINISHED, 0, 10 },
		{ "B", NULL, 0, 1, 1000, JOB_UNFINISHED, 10, NOT },
		{ "C", NULL, 40, 1, 5, JOB_UNFINISHED, NOT, NOT },
		{ "D", NULL, 150, 1, 5, JOB_UNFINISHED, NOT, NOT },
		{ "R", NULL, 20, 16, 7, JOB_REJECTED, NOT, NOT },
		{ "T", NULL, 0, 1, 30, JOB_TIMEOUT, 2, 17 },
	};

	return run_new("1x8", cases, 6, 100);
}

static const struct {
	const char *job;
	Pair want[16];
} stopped_cases[] = {
	{ "A", { { "state", "FINISHED" }, { "jct_s", "10" } } },
	{ "B",
	  {
	      { "state", "UNFINISHED" },
	      { "first_start_s", "10" },
	      { "finish_s", "" },
	      { "jct_s", "" },
	      { "wait_s", "10" },
	      { "pending_s", "10" },
	      { "run_s", "90" },
	      { "service_gpu_s", "90" },
	      { "slowdown", "" },
	      { "segments", "1" },
	      { "placement_score", "1" },
	      { "reject_reason", "" },
	  } },
	{ "C",
	  {
	      { "state", "UNFINISHED" },
	      { "first_start_s", "" },
	      { "wait_s", "" },
	      { "pending_s", "60" },
	      { "run_s", "0" },
	      { "overhead_s", "0" },
	      { "service_gpu_s", "0" },
	      { "segments", "0" },
	      { "preemptions", "0" },
	      { "placement_score", "" },
	  } },
	{ "D",
	  {
	      { "state", "UNFINISHED" },
	      { "submit_s", "150" },
	      { "pending_s", "0" },
	      { "run_s", "0" },
	  } },
	{ "T",
	  {
	      { "state", "TIMEOUT" },
	      { "finish_s", "17" },
	      { "jct_s", "17" },
	      { "wait_s", "2" },
	      { "pending_s", "2" },
	      { "run_s", "15" },
	      { "slowdown", "0.566666667" },
	  } },
};

START_TEST(leaves_what_did_not_happen_empty)
{
	Run run = stopped_new();

	write_run(&run);
	expect_row(&run, "jobs.csv", stopped_cases[_i].job, stopped_cases[_i].want);
	run_clear(&run);
}
END_TEST

START_TEST(says_why_a_job_was_rejected)
{
	static const Case job = { "A", NULL, 5, 16, 100, JOB_REJECTED, NOT, NOT };
	Run run = run_new("2x4", &job, 1, NOT);
	g_autofree char *text = NULL;

	write_run(&run);
	text = text_of(&run, "jobs.csv");
	ck_assert_ptr_nonnull(strstr(text, "\nA,A,,,,,,16,5,,,REJECTED,,"
	                                   "\"needs 16, cluster has 8\",100,,,,0,0,0,,0,0,0,\n"));
	expect_file(&run, "apps.csv",
	            "app_id,user,tenant,group,jobs,submit_s,finish_s,state,jct_s,service_gpu_s,"
	            "n_avg,t_shared_s,t_independent_s,rho,rho_capped,contention,rho_contention,"
	            "n_jobs_avg,n_at_work,rho_gavel,rho_sia,rho_shockwave_static,"
	            "rho_shockwave_themis,received_ratio\n"
	            "A,,,,1,5,,REJECTED,,0,,,,,,,,,,,,,,\n");
	expect_summary(&run, (const Pair[]){ { "rejected", "1" },
	                                     { "first_submit_s", "" },
	                                     { "makespan_s", "" },
	                                     { "util_frac", "" },
	                                     { NULL, NULL } });
	run_clear(&run);
}
END_TEST

START_TEST(counts_states_and_measures_the_finished)
{
	Run run = stopped_new();
	SummaryRow *row = summary_row_new(&run.scenario, run.record, "fifo", "");

	ck_assert_uint_eq(summary_row_n_rejected(row), 1);
	ck_assert_uint_eq(summary_row_n_unfinished(row), 3);
	summary_row_free(row);
	expect_summary(&run, (const Pair[]){ { "jobs", "6" },
	                                     { "finished", "1" },
	                                     { "rejected", "1" },
	                                     { "timeout", "1" },
	                                     { "failed", "0" },
	                                     { "unfinished", "3" },
	                                     { "measured", "1" },
	                                     { "jct_mean_s", "10" },
	                                     { "jct_p99_s", "10" },
	                                     { "rho_apps", "1" },
	                                     { "alloc_gpu_s", "115" },
	                                     { NULL, NULL } });
	run_clear(&run);
}
END_TEST

/* Means and quantiles */

/* JCT 10, 20, 30, 40 and waits 0, 0, 10, 20: a wait of 0 is a wait (E16, A28). */
START_TEST(counts_waits_of_zero)
{
	static const Case cases[] = {
		{ "A", NULL, 0, 1, 10, JOB_FINISHED, 0, 10 },
		{ "B", NULL, 0, 1, 20, JOB_FINISHED, 0, 20 },
		{ "C", NULL, 0, 1, 20, JOB_FINISHED, 10, 30 },
		{ "D", NULL, 0, 1, 20, JOB_FINISHED, 20, 40 },
	};
	Run run = run_new("1x4", cases, 4, NOT);

	expect_summary(&run, (const Pair[]){ { "jct_mean_s", "25" },
	                                     { "jct_p50_s", "25" },
	                                     { "jct_p90_s", "37" },
	                                     { "jct_p99_s", "39.7" },
	                                     { "wait_mean_s", "7.5" },
	                                     { "wait_p50_s", "5" },
	                                     { "wait_p99_s", "19.7" },
	                                     { "wait_max_s", "20" },
	                                     { NULL, NULL } });
	run_clear(&run);
}
END_TEST

START_TEST(interpolates_as_numpy)
{
	gint64 times[100];
	double numbers[100];

	for (guint i = 0; i < 100; i++) {
		times[i] = (100 - (gint64)i) * S;
		numbers[i] = 100.0 - i;
	}
	times_sort(times, 100);
	numbers_sort(numbers, 100);
	ck_assert_int_eq(quantile_of_times(times, 100, 99), 99 * S + S / 100);
	ck_assert_int_eq(quantile_of_times(times, 100, 50), 50 * S + S / 2);
	ck_assert_int_eq(quantile_of_times(times, 100, 100), 100 * S);
	ck_assert_int_eq(quantile_of_times(times, 1, 99), 1 * S);
	ck_assert_double_eq_tol(quantile_of_numbers(numbers, 100, 99), 99.01, 1e-12);
	ck_assert_double_eq(quantile_of_numbers(numbers, 100, 100), 100);
	ck_assert_double_eq(quantile_of_numbers(numbers, 1, 50), 1);
}
END_TEST

/* Values of a nanosecond apart show the rule of halves (A31). */
START_TEST(rounds_halves_to_even)
{
	static const gint64 up[] = { 1, 2 }, down[] = { 2, 3 };

	ck_assert_int_eq(quantile_of_times(up, 2, 50), 2);
	ck_assert_int_eq(quantile_of_times(down, 2, 50), 2);
	ck_assert_int_eq((gint64)divide_half_even(7, 2), 4);
	ck_assert_int_eq((gint64)divide_half_even(5, 2), 2);
	ck_assert_int_eq((gint64)ratio_to_nano(1, 3), 333333333);
	ck_assert_int_eq((gint64)ratio_to_nano(2, 3), 666666667);
}
END_TEST

START_TEST(divides_numbers_of_any_size)
{
	__int128 large = (__int128)1 << 110;

	ck_assert_int_eq((gint64)ratio_to_nano(large, large * 3), 333333333);
	ck_assert_int_eq((gint64)ratio_to_nano(large * 2, large * 3), 666666667);
	ck_assert_int_eq((gint64)ratio_to_nano(large * 7, large * 4), 1750000000);
	ck_assert_int_eq((gint64)ratio_to_nano(large, large), 1000000000);
}
END_TEST

/* 1/3 + 1/3 + 1/3 is 1: thirds that were rounded before they are summed are not. */
START_TEST(means_of_ratios_are_exact)
{
	RatioMean thirds = { 0 }, mixed = { 0 };

	for (guint i = 0; i < 3; i++)
		ratio_mean_add(&thirds, 4, 3);
	ck_assert_int_eq((gint64)ratio_mean_scaled(&thirds, NANO_PER_ONE), 1333333333);
	ratio_mean_add(&mixed, 4, 3);
	ratio_mean_add(&mixed, 5, 3);
	ck_assert_int_eq((gint64)ratio_mean_scaled(&mixed, NANO_PER_ONE), 1500000000);
	ck_assert_int_eq((gint64)ratio_mean_scaled(&mixed, 1), 2);
}
END_TEST

START_TEST(sums_lose_nothing)
{
	NumberSum sum = { 0 };

	number_sum_add(&sum, 1e16);
	for (guint i = 0; i < 10; i++)
		number_sum_add(&sum, 1);
	number_sum_add(&sum, -1e16);
	ck_assert_double_eq(number_sum_total(&sum), 10);
}
END_TEST

START_TEST(measures_the_window)
{
	static const Case cases[] = {
		{ "A", NULL, 0, 1, 10, JOB_FINISHED, 0, 10 },
		{ "B", NULL, 20, 1, 30, JOB_FINISHED, 20, 50 },
		{ "C", NULL, 40, 1, 70, JOB_FINISHED, 40, 110 },
	};
	Run run = run_new("1x4", cases, 3, NOT);

	/* [20, 40): B alone. */
	run.scenario.window_from_ns = 20 * S;
	run.scenario.window_to_ns = 40 * S;
	expect_summary(&run, (const Pair[]){ { "jobs", "3" },
	                                     { "finished", "3" },
	                                     { "measured", "1" },
	                                     { "jct_mean_s", "30" },
	                                     { "rho_apps", "1" },
	                                     { "alloc_gpu_s", "110" },
	                                     { "makespan_s", "110" },
	                                     { NULL, NULL } });
	run_clear(&run);
}
END_TEST

/* B06: of equal waits the first by (submit, trace order), whatever the row. */
START_TEST(names_the_first_of_the_longest_waits)
{
	static const Case cases[] = {
		{ "late", NULL, 10, 1, 5, JOB_FINISHED, 20, 25 },
		{ "early", NULL, 0, 1, 5, JOB_FINISHED, 10, 15 },
		{ "twin", NULL, 0, 1, 5, JOB_FINISHED, 10, 15 },
	};
	Run run = run_new("1x4", cases, 3, NOT);

	expect_summary(
	    &run,
	    (const Pair[]){ { "wait_max_s", "10" }, { "wait_max_job", "early" }, { NULL, NULL } });
	run_clear(&run);
}
END_TEST

START_TEST(weighs_placement_by_time)
{
	static const Case cases[] = {
		{ "A", NULL, 0, 1, 10, JOB_FINISHED, 0, 40 },
		{ "B", NULL, 0, 1, 10, JOB_FINISHED, 0, 10 },
	};
	Run run = run_new("1x4", cases, 2, NOT);

	/* A: 10 s at 1, 30 s at 1 / 1.6. */
	run.record->jobs[0].placement_atto_ns =
	    ((__int128)10 * S * SPEED_ONE_PPB + (__int128)30 * S * 625000000) * SPEED_ONE_PPB;
	write_run(&run);
	expect_cell(&run, "jobs.csv", "A", "placement_score", "0.71875");
	expect_summary(&run,
	               (const Pair[]){ { "placement_score_mean", "0.859375" }, { NULL, NULL } });
	run_clear(&run);
}
END_TEST

/* Clocks and decimals */

/* E07: a makespan is a length; times are the trace's own (A01). */
START_TEST(keeps_the_clock_of_the_trace)
{
	static const Case job = { "A", NULL, 1000, 1, 10, JOB_FINISHED, 1000, 1010 };
	Run run = run_new("1x1", &job, 1, NOT);

	write_run(&run);
	expect_row(&run, "jobs.csv", "A",
	           (const Pair[]){ { "submit_s", "1000" },
	                           { "first_start_s", "1000" },
	                           { "finish_s", "1010" },
	                           { "jct_s", "10" },
	                           { NULL, NULL } });
	expect_row(
	    &run, "apps.csv", "A",
	    (const Pair[]){ { "submit_s", "1000" }, { "finish_s", "1010" }, { NULL, NULL } });
	expect_summary(&run, (const Pair[]){ { "first_submit_s", "1000" },
	                                     { "last_finish_s", "1010" },
	                                     { "makespan_s", "10" },
	                                     { NULL, NULL } });
	run_clear(&run);
}
END_TEST

/* S12 and A31. */
START_TEST(cuts_trailing_zeros)
{
	static const Case cases[] = {
		{ "A", NULL, 0.5, 1, 10.25, JOB_FINISHED, 0.5, 10.75 },
		{ "B", NULL, 0.5, 1, 0.25, JOB_FINISHED, 10.75, 11 },
		{ "C", NULL, 0.5, 1, 3, JOB_FINISHED, 11, 14 },
	};
	Run run = run_new("1x1", cases, 3, NOT);

	write_run(&run);
	expect_row(&run, "jobs.csv", "B",
	           (const Pair[]){ { "submit_s", "0.5" },
	                           { "finish_s", "11" },
	                           { "jct_s", "10.5" },
	                           { "slowdown", "42" },
	                           { NULL, NULL } });
	expect_row(&run, "jobs.csv", "C",
	           (const Pair[]){ { "jct_s", "13.5" }, { "slowdown", "4.5" }, { NULL, NULL } });
	/* (10.25 + 10.5 + 13.5) / 3 */
	expect_summary(&run, (const Pair[]){ { "jct_mean_s", "11.416666667" }, { NULL, NULL } });
	run_clear(&run);
}
END_TEST

/* Orders */

/* The rows of the file: b at 5, a at 0, c at 0; a starts after c's end. */
static Run
unsorted_new(void)
{
	static const Case cases[] = {
		{ "b", "X", 5, 1, 10, JOB_FINISHED, 5, 15 },
		{ "a", "Y", 0, 1, 5, JOB_FINISHED, 10, 15 },
		{ "r", "Y", 12, 99, 5, JOB_REJECTED, NOT, NOT },
		{ "c", "Y", 0, 1, 10, JOB_FINISHED, 0, 10 },
		{ "u", "X", 99, 1, 10, JOB_UNFINISHED, NOT, NOT },
	};

	return run_new("1x4", cases, 5, 15);
}

/* The first cells, one after the other. */
static char *
first_cells(const Run *run, const char *file)
{
	g_autofree char *text = text_of(run, file);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	GString *keys = g_string_new(NULL);

	for (guint i = 1; lines[i] && lines[i][0]; i++)
		g_string_append_len(keys, lines[i], (gssize)strcspn(lines[i], ","));
	return g_string_free(keys, FALSE);
}

START_TEST(keeps_the_order_of_the_trace)
{
	Run run = unsorted_new();
	g_autofree char *jobs = NULL, *apps = NULL;

	write_run(&run);
	jobs = first_cells(&run, "jobs.csv");
	apps = first_cells(&run, "apps.csv");
	ck_assert_str_eq(jobs, "barcu");
	ck_assert_str_eq(apps, "XY");
	run_clear(&run);
}
END_TEST

/* The jobs that end in one instant, by the names' letters; "" is an instant in which none does. */
static void
put_done(RunFolder *folder, const Run *run, const char *names)
{
	const Recorder *recorder = run_folder_recorder(folder);

	for (; names[0] != '\0'; names++) {
		JobId id = 0;

		while (run->workload->jobs[id].name[0] != names[0])
			id++;
		recorder->done(recorder->self, id, &run->record->jobs[id]);
	}
}

static void
put_instant(RunFolder *folder, double at_s)
{
	const Recorder *recorder = run_folder_recorder(folder);
	const Instant instant = { .at_ns = ns(at_s) };

	recorder->instant(recorder->self, &instant);
}

/* c ends at 10; r is refused at 12; a and b end at 15, which is where u is given up (A30, B16). */
START_TEST(streams_in_the_order_of_ends)
{
	Run run = unsorted_new();
	RunFolder *folder = folder_of(&run, (RunFolderSettings){ .wants_stream = TRUE });
	g_autofree char *jobs = NULL;

	put_instant(folder, 0);
	put_done(folder, &run, "c");
	put_instant(folder, 10);
	put_done(folder, &run, "r");
	put_instant(folder, 12);
	put_done(folder, &run, "abu");
	put_instant(folder, 15);
	commit(folder, &run);
	jobs = first_cells(&run, "jobs.csv");
	ck_assert_str_eq(jobs, "crbau");
	expect_row(&run, "jobs.csv", "a",
	           (const Pair[]){ { "finish_s", "15" }, { "pending_s", "10" }, { NULL, NULL } });
	run_clear(&run);
}
END_TEST

/* Without a stop_s what is left UNFINISHED is of the last instant, whether or not jobs ended then:
 * u waits from 0 to the end. */
static const struct {
	double a_finish_s, end_s;
	const char *order, *pending;
} last_instants[] = {
	{ 20, 20, "bua", "20" },
	{ 15, 20, "bau", "20" },
	{ 10, 30, "abu", "30" },
};

START_TEST(streams_the_unfinished_at_the_end)
{
	double a_finish_s = last_instants[_i].a_finish_s;
	const Case cases[] = {
		{ "u", NULL, 0, 9, 10, JOB_UNFINISHED, NOT, NOT },
		{ "a", NULL, 0, 1, 10, JOB_FINISHED, 0, a_finish_s },
		{ "b", NULL, 0, 1, 10, JOB_FINISHED, 0, 10 },
	};
	Run run = run_new("1x4", cases, 3, NOT);
	RunFolder *folder = folder_of(&run, (RunFolderSettings){ .wants_stream = TRUE });
	g_autofree char *jobs = NULL;

	run.record->end_ns = ns(last_instants[_i].end_s);
	put_done(folder, &run, a_finish_s <= 10 ? "ba" : "b");
	put_instant(folder, 10);
	put_done(folder, &run, a_finish_s <= 10 ? "" : "a");
	put_instant(folder, a_finish_s <= 10 ? 11 : a_finish_s);
	if (last_instants[_i].end_s > a_finish_s)
		put_instant(folder, last_instants[_i].end_s);
	put_done(folder, &run, "u");
	put_instant(folder, last_instants[_i].end_s);
	commit(folder, &run);
	jobs = first_cells(&run, "jobs.csv");
	ck_assert_str_eq(jobs, last_instants[_i].order);
	expect_cell(&run, "jobs.csv", "u", "pending_s", last_instants[_i].pending);
	run_clear(&run);
}
END_TEST

/* Whole runs of the engine, streamed and not */

/* @n jobs, some of no GPUs, some too wide, many alike in submit and end; the rows out of order. */
static char *
random_jobs(guint seed, guint n)
{
	RngStream stream = rng_stream(seed, "jobs");
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < n; i++)
		g_string_append_printf(text, "%sj%u,%u,%u,%u", i > 0 ? ";" : "", i,
		                       (guint)rng_below(stream, i, 0, 100) * 10,
		                       (guint)rng_below(stream, i, 1, 10),
		                       (guint)rng_below(stream, i, 2, 20) * 10);
	return g_string_free(text, FALSE);
}

/* jobs.csv of a run, cut into lines without the header. */
static char **
job_lines(Fixture *fixture, const char *policy, gboolean wants_stream)
{
	g_autofree char *path = g_dir_make_tmp("themis-report-XXXXXX", NULL);
	g_autofree char *file = g_build_filename(path, "run", "jobs.csv", NULL);
	g_autofree char *run = g_path_get_dirname(file);
	const RunFolderSettings settings = { .path = run, .wants_stream = wants_stream };
	Scenario scenario = fixture->scenario;
	RunFolder *folder;
	char *text = NULL;
	char **lines;

	scenario.workload = fixture->workload;
	scenario.cluster = fixture->cluster;
	scenario.models = fixture->models;
	folder = run_folder_open(&scenario, &settings, NULL);
	fixture->recorder = run_folder_recorder(folder);
	fixture_run(fixture, policy);
	ck_assert(run_folder_commit(folder, fixture->record, NULL));
	run_folder_free(folder);
	ck_assert(g_file_get_contents(file, &text, NULL, NULL));
	lines = g_strsplit(g_strchomp(strchr(text, '\n') + 1), "\n", -1);
	g_free(text);
	remove_all(path);
	return lines;
}

/* When the row is due: cells submit_s, finish_s, state. */
static double
due_s(const char *line, double stop_s)
{
	g_auto(GStrv) cells = g_strsplit(line, ",", -1);

	if (cells[10][0] != '\0')
		return g_ascii_strtod(cells[10], NULL);
	return g_str_equal(cells[11], "REJECTED") ? g_ascii_strtod(cells[8], NULL) : stop_s;
}

/* Insertion, as it keeps the order of equal ones. */
static void
sort_lines(char **lines, double stop_s)
{
	for (guint i = 1; lines[i]; i++) {
		char *line = lines[i];
		guint place = i;

		for (; place > 0 && due_s(lines[place - 1], stop_s) > due_s(line, stop_s); place--)
			lines[place] = lines[place - 1];
		lines[place] = line;
	}
}

static const struct {
	const char *policy;
	double stop_s;
} streamed_runs[] = {
	{ "fifo", NOT }, { "fifo", 500 },       { "fifo", 0 },      { "srtf", NOT },
	{ "srtf", 310 }, { "reject-all", NOT }, { "null", 1000 },   { "gandiva", 700 },
	{ "las", 905 },  { "themis", NOT },     { "easy", 600.25 },
};

START_TEST(streams_what_it_would_have_sorted)
{
	g_autofree char *jobs = random_jobs((guint)_i, 200);
	g_autoptr(Fixture) fixture = fixture_new(jobs, "2x4");
	double stop_s = streamed_runs[_i].stop_s;
	g_auto(GStrv) sorted = NULL;
	g_auto(GStrv) streamed = NULL;

	if (stop_s >= 0)
		fixture->scenario.stop_ns = ns(stop_s);
	sorted = job_lines(fixture, streamed_runs[_i].policy, FALSE);
	streamed = job_lines(fixture, streamed_runs[_i].policy, TRUE);
	sort_lines(sorted, stop_s + (double)fixture->workload->origin_ns / 1e9);
	ck_assert_uint_eq(g_strv_length(streamed), 200);
	for (guint i = 0; i < 200; i++)
		ck_assert_str_eq(streamed[i], sorted[i]);
}
END_TEST

static gsize
bytes_below(const char *path)
{
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *name;
	GStatBuf status;
	gsize n = 0;

	if (!dir)
		return g_stat(path, &status) == 0 ? (gsize)status.st_size : 0;
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *inside = g_build_filename(path, name, NULL);

		n += bytes_below(inside);
	}
	return n;
}

/* Rows are on disk while the run goes on, but for what one buffer holds. */
START_TEST(streams_while_it_runs)
{
	enum { N = 4000 };
	Case *cases = g_new0(Case, N);
	g_autoptr(GStringChunk) names = g_string_chunk_new(1024);
	g_autofree char *jobs = NULL;
	RunFolder *folder;
	const Recorder *recorder;
	gsize n_bytes;
	Run run;

	for (guint i = 0; i < N; i++) {
		g_autofree char *name = g_strdup_printf("job-%u", i);

		cases[i] = (Case){
			g_string_chunk_insert(names, name), NULL, i, 1, 1, JOB_FINISHED, i, i + 1
		};
	}
	run = run_new("1x4", cases, N, NOT);
	folder = folder_of(&run, (RunFolderSettings){ .wants_stream = TRUE });
	recorder = run_folder_recorder(folder);
	for (JobId id = 0; id < N; id++) {
		recorder->done(recorder->self, id, &run.record->jobs[id]);
		put_instant(folder, id + 1);
	}
	n_bytes = bytes_below(run.folder);
	commit(folder, &run);
	jobs = text_of(&run, "jobs.csv");
	ck_assert_uint_gt(strlen(jobs), 200000);
	ck_assert_uint_gt(n_bytes + 100000, strlen(jobs));
	run_clear(&run);
	g_free(cases);
}
END_TEST

/* A35: labels of the app's first job in the file, which is not its first to be submitted. */
START_TEST(takes_labels_of_the_first_row)
{
	static const char *const users[] = { "ann", "bob" };
	WorkloadBuilder *builder = workload_builder_new("t.csv", problems_new("t.csv"));
	Run run = run_new("1x4", NULL, 0, NOT);
	JobDraft draft;

	job_draft_init(&draft);
	draft.app = "A, the first";
	draft.num_gpus = 1;
	for (guint i = 0; i < 2; i++) {
		draft.name = users[i];
		draft.user = users[i];
		draft.submit_ns = (gint64)(1 - i) * S;
		ck_assert(workload_builder_add(builder, &draft));
	}
	workload_free(run.workload);
	run.workload = workload_builder_finish(builder);
	run.scenario.workload = run.workload;
	run.record->jobs = g_renew(JobRecord, run.record->jobs, 2);
	run.record->apps = g_renew(AppRecord, run.record->apps, 1);
	memset(run.record->jobs, 0, 2 * sizeof(JobRecord));
	run.record->jobs[0].state = run.record->jobs[1].state = JOB_UNFINISHED;
	run.record->apps[0] = (AppRecord){ .state = JOB_UNFINISHED };
	write_run(&run);
	expect_file(&run, "apps.csv",
	            "app_id,user,tenant,group,jobs,submit_s,finish_s,state,jct_s,service_gpu_s,"
	            "n_avg,t_shared_s,t_independent_s,rho,rho_capped,contention,rho_contention,"
	            "n_jobs_avg,n_at_work,rho_gavel,rho_sia,rho_shockwave_static,"
	            "rho_shockwave_themis,received_ratio\n"
	            "\"A, the first\",ann,,,2,0,,UNFINISHED,,0,,,,,,,,,,,,,,\n");
	run_clear(&run);
}
END_TEST

/* Segments */

static void
put_segment(RunFolder *folder, JobId job, guint32 index, double start_s, double end_s,
            const char *gpus, SegmentEnd end)
{
	const Recorder *recorder = run_folder_recorder(folder);
	g_auto(GStrv) numbers = g_strsplit(gpus, " ", -1);
	Segment segment = {
		.job = job,
		.index = index,
		.start_ns = ns(start_s),
		.end_ns = ns(end_s),
		.speed_ppb = 909090909,
		.overhead_ns = S / 2,
		.level = LEVEL_RACK,
		.end = end,
	};
	Alloc alloc;

	alloc_init(&alloc);
	for (guint i = 0; numbers[i]; i++)
		alloc_add(&alloc, (guint32)atoi(numbers[i]));
	segment.alloc = &alloc;
	recorder->segment(recorder->self, &segment);
	alloc_clear(&alloc);
}

START_TEST(writes_segments_by_job)
{
	static const Case cases[] = {
		{ "B", NULL, 1, 6, 5, JOB_FINISHED, 1, 5 },
		{ "A", NULL, 0, 1, 9, JOB_FINISHED, 0, 9 },
		{ "Z", NULL, 2, 0, 3, JOB_FINISHED, 2, 5 },
	};
	Run run = run_new("4x4", cases, 3, NOT);
	RunFolder *folder = folder_of(&run, (RunFolderSettings){ .wants_segments = TRUE });

	/* A is job 0, B job 1: as they end. */
	put_segment(folder, 0, 0, 0, 1, "7", SEGMENT_PREEMPTED);
	put_segment(folder, 1, 0, 1, 5, "0 1 2 3 8 15", SEGMENT_FINISHED);
	put_segment(folder, 2, 0, 2, 5, "", SEGMENT_FINISHED);
	put_segment(folder, 0, 1, 3, 4, "3 4 5", SEGMENT_MOVED);
	put_segment(folder, 0, 2, 4, 9.5, "0 5 6 11 12", SEGMENT_STOPPED);
	commit(folder, &run);
	expect_file(&run, "segments.csv",
	            "job_id,segment,start_s,end_s,gpus,machines,level,speed,overhead_s,"
	            "end_reason\n"
	            "B,0,1,5,0-3 8 15,0 2-3,rack,0.909090909,0.5,finished\n"
	            "A,0,0,1,7,1,rack,0.909090909,0.5,preempted\n"
	            "A,1,3,4,3-5,0-1,rack,0.909090909,0.5,moved\n"
	            "A,2,4,9.5,0 5-6 11-12,0-3,rack,0.909090909,0.5,stopped\n"
	            "Z,0,2,5,,,,0.909090909,0.5,finished\n");
	run_clear(&run);
}
END_TEST

/* Timeline */

static const Instant instants[] = {
	{ 0, 4000, 4000, 1, 1, 4000 },
	{ 10 * S, 0, 4000, 0, 1, 4000 },    /* an instant that the engine went through twice: */
	{ 10 * S, 4000, 4000, 1, 0, 0 },    /* only its end is a state */
	{ 12 * S, 2500, 3000, 2, 3, 1250 }, /* a machine is down, shares are held */
	{ 21 * S, 0, 4000, 0, 0, 0 },
};

static void
put_instants(RunFolder *folder)
{
	const Recorder *recorder = run_folder_recorder(folder);

	for (guint i = 0; i < G_N_ELEMENTS(instants); i++)
		recorder->instant(recorder->self, &instants[i]);
}

#define TIMELINE_HEADER "time_s,allocated_gpus,capacity_gpus,running_jobs,queued_jobs,queued_gpus\n"

static const struct {
	const char *name;
	SimTime every_ns;
	const char *want;
} timeline_cases[] = {
	{ "a row an instant", 0,
	  TIMELINE_HEADER "1000,4,4,1,1,4\n"
	                  "1010,4,4,1,0,0\n"
	                  "1012,2.5,3,2,3,1.25\n"
	                  "1021,0,4,0,0,0\n" },
	{ "sampled", 5 * S,
	  TIMELINE_HEADER "1000,4,4,1,1,4\n"
	                  "1005,4,4,1,1,4\n"
	                  "1010,4,4,1,0,0\n"
	                  "1015,2.5,3,2,3,1.25\n"
	                  "1020,2.5,3,2,3,1.25\n" },
	{ "a sample at the end", 7 * S,
	  TIMELINE_HEADER "1000,4,4,1,1,4\n"
	                  "1007,4,4,1,1,4\n"
	                  "1014,2.5,3,2,3,1.25\n"
	                  "1021,0,4,0,0,0\n" },
	{ "longer than the run", 100 * S, TIMELINE_HEADER "1000,4,4,1,1,4\n" },
};

START_TEST(writes_the_timeline)
{
	static const Case job = { "A", NULL, 1000, 4, 21, JOB_FINISHED, 1000, 1021 };
	Run run = run_new("1x4", &job, 1, NOT);
	RunFolder *folder = folder_of(
	    &run, (RunFolderSettings){ .wants_timeline = TRUE,
	                               .timeline_every_ns = timeline_cases[_i].every_ns });

	put_instants(folder);
	commit(folder, &run);
	expect_file(&run, "timeline.csv", timeline_cases[_i].want);
	run_clear(&run);
}
END_TEST

/* One instant of the engine's may be billions of samples. */
START_TEST(cancels_samples)
{
	static const Case job = { "A", NULL, 1000, 4, 21, JOB_FINISHED, 1000, 1021 };
	gint is_cancelled = 1;
	Run run = run_new("1x4", &job, 1, NOT);
	g_autoptr(RunFolder) folder =
	    folder_of(&run, (RunFolderSettings){ .wants_timeline = TRUE,
	                                         .timeline_every_ns = 1,
	                                         .is_cancelled = &is_cancelled });
	g_autoptr(GError) error = NULL;

	put_instants(folder);
	ck_assert(!run_folder_commit(folder, run.record, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_CANCELLED));
	g_clear_pointer(&folder, run_folder_free);
	run_clear(&run);
}
END_TEST

/* Folders */

static guint
n_entries(const char *path)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	guint n = 0;

	while (g_dir_read_name(dir))
		n++;
	g_dir_close(dir);
	return n;
}

START_TEST(asks_for_nothing_without_files)
{
	Run run = s19_new();
	const RunFolderSettings settings = {
		.wants_segments = TRUE,
		.wants_timeline = TRUE,
		.wants_stream = TRUE,
	};
	RunFolder *folder = run_folder_open(&run.scenario, &settings, NULL);

	ck_assert(!run_folder_recorder(folder)->segment);
	ck_assert(!run_folder_recorder(folder)->instant);
	ck_assert(!run_folder_recorder(folder)->done);
	commit(folder, &run);
	ck_assert_uint_eq(n_entries(run.folder), 0);
	run_clear(&run);
}
END_TEST

START_TEST(leaves_nothing_without_a_commit)
{
	Run run = s19_new();
	RunFolder *folder = folder_of(&run, (RunFolderSettings){ .wants_segments = TRUE,
	                                                         .wants_timeline = TRUE,
	                                                         .wants_stream = TRUE });

	put_instants(folder);
	put_segment(folder, 0, 0, 0, 1, "1", SEGMENT_FINISHED);
	put_done(folder, &run, "J");
	run_folder_free(folder);
	ck_assert_uint_eq(n_entries(run.folder), 0);
	run_clear(&run);
}
END_TEST

START_TEST(replaces_an_older_folder)
{
	Run run = s19_new();
	g_autofree char *mine = g_build_filename(run.folder, "fifo", "notes.txt", NULL);
	g_autofree char *plots = g_build_filename(run.folder, "fifo", "plots", NULL);
	g_autofree char *old = g_build_filename(run.folder, "fifo", "timeline.csv", NULL);
	RunFolder *folder = folder_of(&run, (RunFolderSettings){ .wants_timeline = TRUE });

	commit(folder, &run);
	ck_assert(g_file_test(old, G_FILE_TEST_EXISTS));
	ck_assert(g_file_set_contents(mine, "mine", -1, NULL));
	ck_assert_int_eq(g_mkdir(plots, 0777), 0);
	write_run(&run);
	ck_assert_msg(!g_file_test(old, G_FILE_TEST_EXISTS), "a file of the older run is left");
	ck_assert_msg(g_file_test(mine, G_FILE_TEST_EXISTS), "a user's file is gone");
	ck_assert_msg(g_file_test(plots, G_FILE_TEST_IS_DIR), "a user's folder is gone");
	ck_assert_uint_eq(n_entries(run.folder), 1);
	run_clear(&run);
}
END_TEST

START_TEST(says_where_it_cannot_write)
{
	Run run = s19_new();
	g_autofree char *file = g_build_filename(run.folder, "file", NULL);
	g_autofree char *inside = g_build_filename(file, "fifo", NULL);
	const RunFolderSettings settings = { .path = inside };
	const RunFolderSettings over = { .path = file };
	RunFolder *folder;
	GError *error = NULL;

	ck_assert(g_file_set_contents(file, "a file, no folder", -1, NULL));
	ck_assert(!run_folder_open(&run.scenario, &settings, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_INTERNAL));
	g_clear_error(&error);
	folder = run_folder_open(&run.scenario, &over, NULL);
	ck_assert(!run_folder_commit(folder, run.record, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_INTERNAL));
	g_clear_error(&error);
	run_folder_free(folder);
	ck_assert_uint_eq(n_entries(run.folder), 1);
	run_clear(&run);
}
END_TEST

/* run.json, perf.json */

START_TEST(writes_the_manifest)
{
	static const Case job = { "A", NULL, 0, 1, 10, JOB_FINISHED, 0, 10 };
	static const ManifestInput inputs[] = { { "trace", "a \"b\".csv", "00ff" } };
	static const char *const keys[] = { "cluster", "policies" };
	static const char *const values[] = { "1x4", "[fifo]" };
	Run run = run_new("1x4", &job, 1, NOT);
	g_autofree char *path = g_build_filename(run.folder, "run.json", NULL);
	g_autofree char *text = NULL;
	Manifest manifest = {
		.version = "0.1.0",
		.commit = "abc",
		.seed = G_MAXUINT64,
		.inputs = inputs,
		.n_inputs = 1,
		.option_keys = keys,
		.option_values = values,
		.n_options = 2,
		.workload = run.workload,
	};

	problems_add(run.workload->problems, 3, 1, "negative number", "found -1");
	problems_add(run.workload->problems, 3, 2, "not a number", "found x");
	problems_notice(run.workload->problems, 2, 1, "rounded", "found more than nine decimals");
	run.workload->n_rows_read = 2;
	ck_assert(manifest_write(path, &manifest, NULL));
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert_str_eq(text, "{\n"
	                       "  \"schema_version\": 1,\n"
	                       "  \"version\": \"0.1.0\",\n"
	                       "  \"commit\": \"abc\",\n"
	                       "  \"seed\": 18446744073709551615,\n"
	                       "  \"options\": {\n"
	                       "    \"cluster\": \"1x4\",\n"
	                       "    \"policies\": \"[fifo]\"\n"
	                       "  },\n"
	                       "  \"inputs\": [\n"
	                       "    {\n"
	                       "      \"role\": \"trace\",\n"
	                       "      \"path\": \"a \\\"b\\\".csv\",\n"
	                       "      \"sha256\": \"00ff\"\n"
	                       "    }\n"
	                       "  ],\n"
	                       "  \"rows\": {\n"
	                       "    \"read\": 2,\n"
	                       "    \"accepted\": 1,\n"
	                       "    \"rejected\": 1,\n"
	                       "    \"rejected_by_reason\": {\n"
	                       "      \"negative number\": 1,\n"
	                       "      \"not a number\": 1\n"
	                       "    },\n"
	                       "    \"noticed\": 1,\n"
	                       "    \"noticed_by_reason\": {\n"
	                       "      \"rounded\": 1\n"
	                       "    }\n"
	                       "  }\n"
	                       "}\n");
	run_clear(&run);
}
END_TEST

START_TEST(says_that_it_was_interrupted)
{
	Run run = run_new("1x4", NULL, 0, NOT);
	g_autofree char *path = g_build_filename(run.folder, "run.json", NULL);
	g_autofree char *text = NULL;
	Manifest manifest = { .version = "0", .commit = "c", .workload = run.workload };

	manifest.is_interrupted = TRUE;
	ck_assert(manifest_write(path, &manifest, NULL));
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert_ptr_nonnull(strstr(text, "  \"options\": {},\n  \"inputs\": [],\n"));
	ck_assert(g_str_has_suffix(text, "  },\n  \"interrupted\": true\n}\n"));
	run_clear(&run);
}
END_TEST

START_TEST(writes_the_performance)
{
	static const Performance runs[] = {
		{ .label = "fifo", .wall_s = 0.5, .cpu_s = 0.25, .events = 1000 },
		{ .label = "las", .events = 7, .counters = { { "rounds", 3 } }, .n_counters = 1 },
	};
	Run run = run_new("1x4", NULL, 0, NOT);
	g_autofree char *path = g_build_filename(run.folder, "perf.json", NULL);
	g_autofree char *text = NULL;

	ck_assert(performance_write(path, runs, 2, 1.5, NULL));
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert_ptr_nonnull(strstr(text, "\"total_wall_s\": 1.5,"));
	ck_assert_ptr_nonnull(strstr(text, "      \"policy\": \"fifo\",\n"
	                                   "      \"wall_s\": 0.5,\n"
	                                   "      \"cpu_s\": 0.25,\n"
	                                   "      \"events\": 1000,\n"
	                                   "      \"events_per_s\": 2000,\n"));
	ck_assert_ptr_nonnull(strstr(text, "\"events_per_s\": null,\n"
	                                   "      \"counters\": {\n"
	                                   "        \"rounds\": 3\n"));
	run_clear(&run);
}
END_TEST

static void
add_file_tests(TCase *tests)
{
	tcase_add_test(tests, writes_jobs_and_apps_of_s19);
	tcase_add_test(tests, has_only_headers_without_jobs);
	tcase_add_test(tests, leaves_ratios_of_no_duration_empty);
	tcase_add_test(tests, leaves_gpu_figures_of_no_gpus_empty);
	tcase_add_loop_test(tests, leaves_what_did_not_happen_empty, 0,
	                    G_N_ELEMENTS(stopped_cases));
	tcase_add_test(tests, says_why_a_job_was_rejected);
	tcase_add_test(tests, keeps_the_clock_of_the_trace);
	tcase_add_test(tests, cuts_trailing_zeros);
	tcase_add_test(tests, keeps_the_order_of_the_trace);
	tcase_add_test(tests, streams_in_the_order_of_ends);
	tcase_add_loop_test(tests, streams_the_unfinished_at_the_end, 0,
	                    G_N_ELEMENTS(last_instants));
	tcase_add_loop_test(tests, streams_what_it_would_have_sorted, 0,
	                    G_N_ELEMENTS(streamed_runs));
	tcase_add_test(tests, streams_while_it_runs);
	tcase_add_test(tests, takes_labels_of_the_first_row);
	tcase_add_test(tests, writes_segments_by_job);
	tcase_add_loop_test(tests, writes_the_timeline, 0, G_N_ELEMENTS(timeline_cases));
	tcase_add_test(tests, cancels_samples);
	tcase_add_test(tests, writes_the_manifest);
	tcase_add_test(tests, says_that_it_was_interrupted);
	tcase_add_test(tests, writes_the_performance);
}

static void
add_figure_tests(TCase *tests)
{
	tcase_add_test(tests, sums_up_s19);
	tcase_add_test(tests, writes_the_summary_in_column_order);
	tcase_add_test(tests, prints_an_aligned_table);
	tcase_add_loop_test(tests, knows_the_variants_of_rho, 0, G_N_ELEMENTS(fairness_cases));
	tcase_add_test(tests, sums_work_and_demand_over_an_app);
	tcase_add_test(tests, counts_states_and_measures_the_finished);
	tcase_add_test(tests, counts_waits_of_zero);
	tcase_add_test(tests, interpolates_as_numpy);
	tcase_add_test(tests, rounds_halves_to_even);
	tcase_add_test(tests, divides_numbers_of_any_size);
	tcase_add_test(tests, means_of_ratios_are_exact);
	tcase_add_test(tests, sums_lose_nothing);
	tcase_add_test(tests, measures_the_window);
	tcase_add_test(tests, names_the_first_of_the_longest_waits);
	tcase_add_test(tests, weighs_placement_by_time);
}

static void
add_folder_tests(TCase *tests)
{
	tcase_add_test(tests, asks_for_nothing_without_files);
	tcase_add_test(tests, leaves_nothing_without_a_commit);
	tcase_add_test(tests, replaces_an_older_folder);
	tcase_add_test(tests, says_where_it_cannot_write);
}

static Suite *
report_suite(void)
{
	Suite *suite = suite_create("report");
	TCase *files = tcase_create("files");
	TCase *figures = tcase_create("figures");
	TCase *folders = tcase_create("folders");

	add_file_tests(files);
	add_figure_tests(figures);
	add_folder_tests(folders);
	suite_add_tcase(suite, files);
	suite_add_tcase(suite, figures);
	suite_add_tcase(suite, folders);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(report_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
