/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "sim/model/scenario.h"
#include "tests/trace_text.h"

#define IDS(group, job) "\"job_group_id\":\"" group "\",\"job_id\":\"" job "\","
#define RUN(start, iterations, minutes, gpus)                                         \
	"\"start_time\":\"" start "\",\"total_iterations\":\"" iterations             \
	"\",\"time_per_iteration\":\"" minutes "\",\"max_parallelism\":\"" gpus "\"," \
	"\"loss_function_type\":\"sublinear\",\"random_seed\":\"7\","
#define SPEEDS(slot, machine, rack)                                                  \
	"\"cross_slot_slowdown\":\"" slot "\",\"cross_machine_slowdown\":\"" machine \
	"\",\"cross_rack_slowdown\":\"" rack "\""
#define VGG16 SPEEDS("1", "0.72", "0.52")
/* A job of so many iterations of a minute each, and its row. */
#define MINUTES(group, job, iterations) \
	"{" IDS(group, job) RUN("0", iterations, "1", "1") VGG16 "},\n"
#define SECONDS(group, job, seconds) \
	job ",0,1," seconds "," group ",vgg16,1/1/1.388888888/1.923076923,60,sublinear\n"
#define HEAD                                                                                      \
	"job_id,submit_time,num_gpus,duration,app_id,model,slowdown,iteration,min_gpus,max_gpus," \
	"kind\n"

static const struct {
	const char *what;
	gboolean skip_bad_rows;
	const char *text;
	const char *expected;
} cases[] = {
	{ "the four known models and the five that share theirs", FALSE,
	  "[{" IDS("g", "a") RUN("1.5", "10", "2", "4") VGG16
	  "},\n"
	  "{" IDS("g", "b") RUN("2", "10", "2", "4") SPEEDS(
	      "1", "0.70",
	      "0.50") "},\n"
	              "{" IDS("g", "c") RUN("2", "10", "2", "4") SPEEDS(
	                  "1.0", "0.75",
	                  "0.56") "},\n"
	                          "{" IDS("h", "d") RUN("2", "10", "2", "4") SPEEDS(
	                              "1", "0.8", "0.64") "},\n"
	                                                  "{" IDS("h", "e") RUN("2", "10", "2", "4")
	                                                      SPEEDS("1", "0.98", "0.96") "}]\n",
	  HEAD "a,90,4,300,g,vgg16,1/1/1.388888888/1.923076923,30,1,4,sublinear\n"
	       "b,120,4,300,g,vgg19,1/1/1.428571428/2,30,1,4,sublinear\n"
	       "c,120,4,300,g,vgg11,1/1/1.333333333/1.785714285,30,1,4,sublinear\n"
	       "d,120,4,300,h,alexnet,1/1/1.25/1.5625,30,1,4,sublinear\n"
	       "e,120,4,300,h,resnet50,1/1/1.020408163/1.041666666,30,1,4,sublinear\n" },
	{ "other speeds are a model called by them", FALSE,
	  "[{" IDS("g", "a") RUN("0", "1", "1", "2")
	      SPEEDS("0.90", "0.7", "0.4") "},"
	                                   "{" IDS("g", "b") RUN("0", "1", "1", "2")
	                                       SPEEDS("0.9", "0.7", "0.4") "}]",
	  HEAD "a,0,2,30,g,0.9/0.7/0.4,1/1.111111111/1.428571428/2.5,30,1,2,sublinear\n"
	       "b,0,2,30,g,0.9/0.7/0.4,1/1.111111111/1.428571428/2.5,30,1,2,sublinear\n" },
	/* 7 x 0.00833333333333 min / 4 = 874999999.99965 ns; one is 124999999.99995 ns;
	 * 1 x 10^-10 min / 4 = 1.5 ns and 5 x 10^-11 / 1 = 3 ns; 10^-11 min is 0.6 ns */
	{ "rounded once, half to even", FALSE,
	  "[{" IDS("g", "a") RUN("0", "7", "0.00833333333333", "4") VGG16
	  "},"
	  "{" IDS("g", "b") RUN("0.00000000001", "1", "0.0000000001", "4") VGG16
	  "},"
	  "{" IDS("g", "c") RUN("0.00000000001", "3", "0.0000000001", "4") VGG16 "}]",
	  HEAD "a,0,4,0.875,g,vgg16,1/1/1.388888888/1.923076923,0.125,1,4,sublinear\n"
	       "b,0.000000001,4,0.000000002,g,vgg16,1/1/1.388888888/1.923076923,0.000000002,1,4,"
	       "sublinear\n"
	       "c,0.000000001,4,0.000000004,g,vgg16,1/1/1.388888888/1.923076923,0.000000002,1,4,"
	       "sublinear\n" },
	{ "numbers instead of texts, keys in any order, no optional ones, no iterations", FALSE,
	  "[{\"max_parallelism\": 1, " SPEEDS("1", "1",
	                                      "1") ", \"time_per_iteration\": 0.5,\n"
	                                           "\"total_iterations\": 0, \"start_time\": 1e1, "
	                                           "\"job_id\": 1, \"job_group_id\": 2}]",
	  "job_id,submit_time,num_gpus,duration,app_id,model,slowdown,iteration\n"
	  "1,600,1,0,2,1/1/1,1/1/1/1,30\n" },
	{ "groups that number their jobs alike", FALSE,
	  "[{" IDS("1", "4") RUN("0", "1", "1", "1") VGG16 "},\n"
	                                                   "{" IDS("2", "4") RUN("0", "1", "1", "1")
	                                                       VGG16 "}]",
	  "job_id,submit_time,num_gpus,duration,app_id,model,slowdown,iteration,kind\n"
	  "4,0,1,60,1,vgg16,1/1/1.388888888/1.923076923,60,sublinear\n"
	  "2/4,0,1,60,2,vgg16,1/1/1.388888888/1.923076923,60,sublinear\n"
	  "notice: t.csv:2:30: found the job_id \"4\" of group \"1\" again in group \"2\": the job "
	  "is "
	  "called \"2/4\"\n" },
	{ "a group that has an id twice", FALSE,
	  "[{" IDS("1", "4") RUN("0", "1", "1", "1") VGG16 "},\n"
	                                                   "{" IDS("1", "4") RUN("0", "1", "1", "1")
	                                                       VGG16 "}]",
	  "error 3: t.csv:2:30: found the job_id \"4\" of line 1 again, wanted an id of its "
	  "own\n" },
	{ "all that is wrong in a job", FALSE,
	  "[{" IDS("", "1") RUN("-1", "1.5", "x", "0") SPEEDS("1.2", "0.7", "0.5") "}]",
	  "error 3: t.csv:1:18: found nothing for job_group_id, wanted a text\n"
	  "t.csv:1:47: found \"-1\" for start_time, wanted a number from 0 to 92233720\n"
	  "t.csv:1:71: found \"1.5\" for total_iterations, wanted a whole number from 0 to "
	  "1000000000000000\n"
	  "t.csv:1:98: found \"x\" for time_per_iteration, wanted a number from 0 to 9223\n"
	  "t.csv:1:120: found \"0\" for max_parallelism, wanted a whole number from 1 to 16777216\n"
	  "t.csv:1:197: found \"1.2\" for cross_slot_slowdown, wanted a number from 0.001 to 1\n" },
	{ "values of other kinds", FALSE,
	  "[{\"job_group_id\": [1], \"job_id\": {},\n \"start_time\": null,\n"
	  " \"total_iterations\": true, \"time_per_iteration\": [],\n \"max_parallelism\": {},\n"
	  " " SPEEDS("0.5", "0.7", "0.5") "}]",
	  "error 3: t.csv:1:19: found a list for job_group_id, wanted a text\n"
	  "t.csv:1:34: found a mapping for job_id, wanted a text\n"
	  "t.csv:2:16: found nothing for start_time, wanted a number from 0 to 92233720\n"
	  "t.csv:3:22: found \"true\" for total_iterations, wanted a whole number from 0 to "
	  "1000000000000000\n"
	  "t.csv:3:50: found a list for time_per_iteration, wanted a number from 0 to 9223\n"
	  "t.csv:4:21: found a mapping for max_parallelism, wanted a whole number from 1 to "
	  "16777216\n"
	  "t.csv:5:55: found a cross_machine_slowdown above the one of a smaller part of the "
	  "cluster, wanted at most that\n" },
	{ "keys missing, mistyped, twice", FALSE,
	  "[{" IDS("1", "1") "\"start_tme\":\"1\",\n\"job_id\":\"2\"," VGG16 "}]",
	  "error 3: t.csv:2:1: found the key \"job_id\" again, wanted it once (its value is on "
	  "line "
	  "1)\n"
	  "t.csv:1:2: found a job without start_time, wanted it (perhaps \"start_tme\" is meant)\n"
	  "t.csv:1:2: found a job without total_iterations, wanted it\n"
	  "t.csv:1:2: found a job without time_per_iteration, wanted it\n"
	  "t.csv:1:2: found a job without max_parallelism, wanted it\n" },
	{ "beyond the clock", FALSE,
	  "[{" IDS("1", "1") RUN("0", "153722868", "1", "1") VGG16
	  "},\n"
	  "{" IDS("1", "2") RUN("1010101010", "1", "1", "1") VGG16
	  "},\n"
	  "{" IDS("1", "3") RUN("92233720", "92233720", "1", "1") VGG16 "}]",
	  "error 3: t.csv:1:71: found 153722868 for total_iterations, with time_per_iteration a "
	  "time "
	  "overflow, wanted less than 2^63 nanoseconds (about 292 years)\n"
	  "t.csv:2:47: found \"1010101010\" for start_time, wanted a number from 0 to 92233720\n"
	  "t.csv:3:77: found a submit plus duration beyond the clock, a time overflow, wanted at "
	  "most 9223372036.854775807 s\n" },
	{ "rows left out", TRUE,
	  "[{" IDS("1", "1") RUN("x", "1", "1", "1") VGG16 "}, 5,\n"
	                                                   "{" IDS("1", "2") RUN("0", "1", "1", "1")
	                                                       VGG16 ",\"colour\":\"red\"}]",
	  "job_id,submit_time,num_gpus,duration,app_id,model,slowdown,iteration,kind\n"
	  "2,0,1,60,1,vgg16,1/1/1.388888888/1.923076923,60,sublinear\n"
	  "notice: t.csv:2:259: found the key \"colour\", which is not read\n"
	  "bad: t.csv:1:48: found \"x\" for start_time, wanted a number from 0 to 92233720\n"
	  "bad: t.csv:1:262: found no object, wanted one with the keys of a job\n" },
	{ "no array", FALSE, "{\"racks_in_cluster\": \"2\"}",
	  "error 3: t.csv:1:1: found no array, wanted one of jobs\n" },
	{ "no jobs", FALSE, " \n []", "job_id,submit_time,num_gpus,duration\n" },
	{ "a file that is cut", FALSE, "[{" IDS("1", "1") "\"start_time\":",
	  "error 3: t.csv:2:1: did not find expected node content while parsing a flow node, "
	  "wanted YAML\n" },
	/* Five jobs have two rungs, of which one counts, at floor(11 / 2) = 5: the two with the
	 * fewest iterations leave there, the first of equal ones. Eleven have three, 4 apart: five
	 * leave at 4, one of them by its own count, and three of six at 8. Three have none that
	 * counts. */
	{ "groups are halved as they are read", FALSE,
	  "[" MINUTES("g", "a", "7") MINUTES("g", "b", "11") MINUTES("g", "c", "8")
	      MINUTES("g", "d", "7") MINUTES("h", "e", "9") MINUTES("g", "f", "7")
	          MINUTES("h", "g", "90") MINUTES("h", "h", "900") MINUTES("i", "1", "12")
	              MINUTES("i", "2", "10") MINUTES("i", "3", "9") MINUTES("i", "4", "9")
	                  MINUTES("i", "5", "9") MINUTES("i", "6", "8") MINUTES("i", "7", "7")
	                      MINUTES("i", "8", "6") MINUTES("i", "9", "5") MINUTES("i", "10", "5")
	                          MINUTES("i", "11", "3") "]",
	  "job_id,submit_time,num_gpus,duration,app_id,model,slowdown,iteration,kind\n" SECONDS(
	      "g", "a", "300") SECONDS("g", "b", "660") SECONDS("g", "c", "480")
	      SECONDS("g", "d", "300") SECONDS("h", "e", "540") SECONDS("g", "f", "420")
	          SECONDS("h", "g", "5400") SECONDS("h", "h", "54000") SECONDS("i", "1", "720")
	              SECONDS("i", "2", "600") SECONDS("i", "3", "480") SECONDS("i", "4", "480")
	                  SECONDS("i", "5", "540") SECONDS("i", "6", "480") SECONDS("i", "7", "240")
	                      SECONDS("i", "8", "240") SECONDS("i", "9", "240")
	                          SECONDS("i", "10", "240") SECONDS("i", "11", "180") },
	{ "a comma missing", FALSE, "[{\"job_id\":\"1\"\n\"start_time\":\"1\"}]",
	  "error 3: t.csv:2:1: did not find expected ',' or '}' while parsing a flow mapping, "
	  "wanted "
	  "YAML\n" },
	{ "nesting without end", FALSE,
	  "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
	  "error 3: t.csv:1:65: found more than 64 levels of nesting, wanted fewer\n" },
};

START_TEST(reads)
{
	g_autofree char *found = trace_to_text(cases[_i].text, NULL, cases[_i].skip_bad_rows);

	ck_assert_msg(strcmp(found, cases[_i].expected) == 0, "%s: wanted\n%sfound\n%s",
	              cases[_i].what, cases[_i].expected, found);
}
END_TEST

/* The native trace that comes of it is the same trace, models and all. */
START_TEST(survives_conversion)
{
	const TraceOptions options = { "auto", NULL, FALSE };
	g_autofree char *native = NULL, *again = NULL;

	put_gzip("t.json", cases[1].text);
	native = read_to_text("t.json", &options);
	ck_assert_str_eq(native, cases[1].expected);
	again = trace_to_text(native, NULL, FALSE);
	ck_assert_str_eq(again, native);
}
END_TEST

static gint64
placement_ppb(const ModelTable *models, const char *text, PlacementLevel level)
{
	const TraceOptions options = { "themis", NULL, FALSE };
	g_autoptr(ModelTable) all = model_table_new_empty();
	g_autoptr(ClusterSpec) cluster = cluster_spec_load("1x1", NULL);
	g_autoptr(Workload) workload = NULL;

	put_text("t.json", text);
	workload = trace_read("t.json", &options, NULL);
	ck_assert(workload && cluster);
	model_table_add_missing(all, models);
	model_table_add_missing(all, workload->models);
	scenario_resolve(workload, cluster, all);
	return speed_placement_ppb(all, workload->jobs[0].model, level);
}

/* Without a file of models a job has the trace's speeds, to the billionth; with one, that one's. */
START_TEST(brings_its_speeds)
{
	const gint64 slowdown_ppb[N_LEVELS] = { SPEED_ONE_PPB, SPEED_ONE_PPB, 2 * SPEED_ONE_PPB,
		                                4 * SPEED_ONE_PPB };
	g_autoptr(ModelTable) none = model_table_new_empty();
	g_autoptr(ModelTable) given = model_table_new_empty();

	model_table_add(given, "VGG-16", slowdown_ppb);
	for (guint i = 0; i < 2; i++) {
		const gint64 speeds_ppb[2][N_LEVELS] = {
			{ 1000000000, 1000000000, 720000000, 520000000 },
			{ 1000000000, 900000000, 700000000, 400000000 },
		};

		for (PlacementLevel level = LEVEL_SLOT; level < N_LEVELS; level++)
			ck_assert_int_eq(placement_ppb(none, cases[i].text, level),
			                 speeds_ppb[i][level]);
	}
	ck_assert_int_eq(placement_ppb(given, cases[0].text, LEVEL_RACK), 500000000);
	ck_assert_int_eq(placement_ppb(given, cases[1].text, LEVEL_RACK), 700000000);
}
END_TEST

/* The authors' own files */

#define AUTHORS "../shared/data/themis-nsdi20/workloads"

/* In the second, jobs that were to be left out start after 1922 years. */
static void
check_file(const char *folder, const char *name)
{
	const TraceOptions options = { "auto", NULL, FALSE };
	g_autofree char *path = g_build_filename(folder, name, NULL);
	g_autofree char *text = read_to_text(path, &options);
	gboolean is_refused = g_str_has_suffix(name, "_contention_2x.json.gz");
	g_autofree char *notices = NULL, *again = NULL;
	char *notice = strstr(text, "notice: ");

	ck_assert_msg(g_str_has_prefix(text, "error 3") == is_refused, "%s: %s", name, text);
	if (is_refused) {
		ck_assert_ptr_nonnull(
		    strstr(text, ":1125:19: found \"1010101010\" for start_time"));
		return;
	}
	if (notice)
		*notice = '\0';
	again = trace_to_text(text, NULL, FALSE);
	notice = strstr(again, "notice: ");
	if (notice)
		*notice = '\0';
	ck_assert_msg(strcmp(again, text) == 0, "%s changes when converted", name);
}

START_TEST(reads_all_of_the_authors)
{
	g_autofree char *path = project_file(AUTHORS);
	g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
	const char *name;

	if (!folder) {
		puts("SKIP: " AUTHORS " is not there");
		return;
	}
	while ((name = g_dir_read_name(folder)))
		check_file(path, name);
}
END_TEST

/* Sums of an independent reading, with fractions and halved, of the workload behind the paper's. */
START_TEST(reads_the_papers_workload)
{
	const TraceOptions options = { "auto", NULL, FALSE };
	g_autofree char *path = project_file(AUTHORS "/nsdi_philly_hyperdrive.json.gz");
	g_autoptr(Workload) workload = NULL;
	__int128 work_ns = 0, submit_ns = 0;

	if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
		puts("SKIP: " AUTHORS " is not there");
		return;
	}
	workload = trace_read(path, &options, NULL);
	ck_assert_ptr_nonnull(workload);
	ck_assert_str_eq(workload->format, "themis");
	ck_assert_uint_eq(workload->n_rows_read, 4697);
	ck_assert_uint_eq(workload->n_jobs, 4697);
	ck_assert_uint_eq(workload->n_apps, 84);
	ck_assert_uint_eq(workload->models->n, 5);
	for (guint i = 0; i < workload->n_jobs; i++) {
		work_ns += (__int128)workload->jobs[i].num_gpus * workload->duration_ns[i];
		submit_ns += workload->jobs[i].submit_ns;
	}
	ck_assert(work_ns == (__int128)3140825935 * NS_PER_S + 999934752);
	ck_assert(submit_ns == (__int128)1212954000 * NS_PER_S + 0);
}
END_TEST

static Suite *
themis_suite(void)
{
	Suite *suite = suite_create("themis_trace");
	TCase *tests = tcase_create("themis_trace");

	tcase_add_checked_fixture(tests, enter_test_folder, leave_test_folder);
	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, reads, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tests, survives_conversion);
	tcase_add_test(tests, brings_its_speeds);
	tcase_add_test(tests, reads_all_of_the_authors);
	tcase_add_test(tests, reads_the_papers_workload);
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(themis_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
