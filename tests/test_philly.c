/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "tests/trace_text.h"

#define HEAD   "timestamp,duration,num_gpus,gpu_time,cluster\n"
#define NATIVE "job_id,submit_time,num_gpus,duration,tenant\n"

static const struct {
	const char *what;
	const char *time_zone;
	gboolean skip_bad_rows;
	const char *text;
	const char *expected;
} cases[] = {
	{ "a row", NULL, FALSE, HEAD "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n",
	  NATIVE "1,1507532515,1,66,11cb48\n" },
	{ "unsorted, alike rows, a blank line at the end", NULL, FALSE,
	  HEAD
	  "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n2017-09-29 07:58:32,860662.0,2,1721324.0,6c7\n"
	  "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n\n",
	  NATIVE
	  "1,1507532515,1,66,11cb48\n2,1506671912,2,860662,6c7\n3,1507532515,1,66,11cb48\n"
	  "notice: t.csv:3:1: found a submit time before that of the row above, jobs are taken "
	  "in the order of (submit time, row)\n" },
	{ "columns in another order", NULL, FALSE,
	  "cluster,gpu_time,num_gpus,duration,timestamp\nvc,8,4,2,2017-10-09 07:01:55\n",
	  NATIVE "1,1507532515,4,2,vc\n" },
	{ "local time", "America/Los_Angeles", FALSE,
	  HEAD "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n", NATIVE "1,1507557715,1,66,11cb48\n" },
	{ "a local time that occurs twice", "America/Los_Angeles", FALSE,
	  HEAD "2017-11-05 01:58:00,1,1,1,vc\n2017-11-05 01:03:00,1,1,1,vc\n",
	  NATIVE
	  "1,1509872280,1,1,vc\n2,1509868980,1,1,vc\n"
	  "notice: t.csv:2:1: found \"2017-11-05 01:58:00\" for timestamp, which occurs twice "
	  "in this time zone: the first is taken\n"
	  "notice: t.csv:3:1: found a submit time before that of the row above, jobs are taken "
	  "in the order of (submit time, row)\n" },
	{ "GPU time that is something else", NULL, FALSE,
	  HEAD "2017-10-09 07:01:55,60.0,2,60.0,vc\n2017-10-09 07:01:55,60.0,2,,vc\n",
	  NATIVE
	  "1,1507532515,2,60,vc\n2,1507532515,2,60,vc\n"
	  "notice: t.csv:2:28: found \"60.0\" for gpu_time, which is not duration x num_gpus; "
	  "it is not used\n" },
	{ "bad cells", NULL, FALSE,
	  HEAD ",1,1,1,vc\n2017-10-09 07:01:55,,1,1,vc\n2017-10-09 07:01:55,1,,1,vc\n"
	       "2017-10-09 07:01:55,-1,1,1,vc\n2017-10-09 07:01:55,1,1.5,1,vc\n"
	       "2017-10-32 07:01:55,1,1,1,vc\n2017-10-09 07:01:55,1,1,x,vc\n",
	  "error 3: t.csv:2:1: found nothing for timestamp, wanted a value\n"
	  "t.csv:3:21: found nothing for duration, wanted a value\n"
	  "t.csv:4:23: found nothing for num_gpus, wanted a value\n"
	  "t.csv:5:21: found \"-1\" for duration, wanted 0 or more\n"
	  "t.csv:6:23: found \"1.5\" for num_gpus, wanted a whole number from 0 to 16777216\n"
	  "t.csv:7:1: found \"2017-10-32 07:01:55\" for timestamp, wanted a day and a time of day "
	  "that "
	  "exist\n"
	  "t.csv:8:25: found \"x\" for gpu_time, wanted a number of seconds\n" },
	{ "beyond the clock", NULL, FALSE,
	  HEAD "2017-10-09 07:01:55,9e9,1,9e9,vc\n2017-10-09 07:01:55,1e10,1,1e10,vc\n"
	       "2262-04-12 00:00:00,1,1,1,vc\n",
	  "error 3: t.csv:2:21: found a submit plus duration beyond the clock, a time overflow, "
	  "wanted at most 9223372036.854775807 s\n"
	  "t.csv:3:21: found \"1e10\" for duration, a time overflow, wanted less than 2^63 "
	  "nanoseconds (about 292 years)\n"
	  "t.csv:4:1: found \"2262-04-12 00:00:00\" for timestamp, a time overflow, wanted less "
	  "than 2^63 nanoseconds since 1970 (April 2262)\n" },
	{ "names stay when rows are left out", NULL, TRUE,
	  HEAD "2017-10-09 07:01:55,1,1,1,vc\nx,1,1,1,vc\n1,2,3\n2017-10-09 07:01:56,2,1,2,vc\n",
	  NATIVE
	  "1,1507532515,1,1,vc\n4,1507532516,1,2,vc\n"
	  "bad: t.csv:3:1: found \"x\" for timestamp, wanted a number of seconds or a date-time "
	  "such as 2017-10-09 07:01:55\n"
	  "bad: t.csv:4:6: found 3 cells, wanted 5 as in the header\n" },
	{ "another column makes it another format", NULL, FALSE,
	  "timestamp,duration,num_gpus,gpu_time,cluster,x\n",
	  "error 3: t.csv:1:1: found no column \"job_id\", wanted it\n" },
};

START_TEST(reads)
{
	g_autofree char *found =
	    trace_to_text(cases[_i].text, cases[_i].time_zone, cases[_i].skip_bad_rows);

	ck_assert_msg(g_str_equal(found, cases[_i].expected), "%s: found\n%s\nwanted\n%s",
	              cases[_i].what, found, cases[_i].expected);
}
END_TEST

/* The figures that the trace is known by. */
static void
check_real_trace(const Workload *workload)
{
	static const struct {
		guint32 num_gpus;
		guint n_jobs;
	} sizes[] = { { 1, 76627 }, { 2, 1818 }, { 4, 1870 }, { 8, 1643 }, { 12, 7 },
		      { 16, 199 },  { 24, 7 },   { 32, 67 },  { 64, 6 },   { 128, 3 } };
	g_autoptr(GHashTable) tenants = g_hash_table_new(g_str_hash, g_str_equal);
	guint n_jobs[129] = { 0 };
	SimWork longest_ns = 0, shortest_ns = G_MAXINT64;

	ck_assert_uint_eq(workload->n_jobs, 82247);
	ck_assert_uint_eq(workload->n_rows_read, 82247);
	for (guint i = 0; i < workload->n_jobs; i++) {
		n_jobs[workload->jobs[i].num_gpus]++;
		longest_ns = MAX(longest_ns, workload->duration_ns[i]);
		shortest_ns = MIN(shortest_ns, workload->duration_ns[i]);
		g_hash_table_add(tenants, (gpointer)(guintptr)workload->jobs[i].tenant);
	}
	for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
		ck_assert_uint_eq(n_jobs[sizes[i].num_gpus], sizes[i].n_jobs);
	ck_assert_int_eq(shortest_ns, NS_PER_S);
	ck_assert_int_eq(longest_ns, 4628226 * NS_PER_S);
	ck_assert_uint_eq(g_hash_table_size(tenants), 15);
}

START_TEST(reads_the_real_trace)
{
	const TraceOptions options = { "auto", NULL, FALSE };
	g_autofree char *path = project_file("../shared/data/philly.csv");
	g_autoptr(Workload) workload = NULL;

	if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
		puts("SKIP: ../shared/data/philly.csv is not there");
		return;
	}
	workload = trace_read(path, &options, NULL);
	ck_assert_ptr_nonnull(workload);
	ck_assert_str_eq(workload->format, "philly-csv");
	check_real_trace(workload);
}
END_TEST

static Suite *
philly_suite(void)
{
	Suite *suite = suite_create("philly");
	TCase *tests = tcase_create("philly");

	tcase_add_checked_fixture(tests, enter_test_folder, leave_test_folder);
	tcase_add_loop_test(tests, reads, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tests, reads_the_real_trace);
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(philly_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
