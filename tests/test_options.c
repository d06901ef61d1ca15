/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "sim/base/error.h"
#include "sim/base/options.h"

typedef struct Sample {
	gboolean preempt;
	gint64 depth;
	double knob, promote;
	SimTime lease_ns;
	gint level;
	OptionList thresholds;
	char *distribution;
} Sample;

static const char *const levels[] = { "slot", "machine", "rack", NULL };

static const Option table[] = {
	{ .name = "preempt",
	  .kind = OPTION_BOOL,
	  .offset = G_STRUCT_OFFSET(Sample, preempt),
	  .standard = "false",
	  .help = "whether running jobs are stopped" },
	{ .name = "depth",
	  .kind = OPTION_INT,
	  .offset = G_STRUCT_OFFSET(Sample, depth),
	  .standard = "3",
	  .min = -2,
	  .max = 10,
	  .help = "how far" },
	{ .name = "knob",
	  .kind = OPTION_NUMBER,
	  .offset = G_STRUCT_OFFSET(Sample, knob),
	  .standard = "0.8",
	  .max = 1,
	  .help = "how fair" },
	{ .name = "promote",
	  .kind = OPTION_NUMBER,
	  .offset = G_STRUCT_OFFSET(Sample, promote),
	  .standard = "off",
	  .may_be_off = TRUE,
	  .help = "when" },
	{ .name = "lease_s",
	  .kind = OPTION_SECONDS,
	  .offset = G_STRUCT_OFFSET(Sample, lease_ns),
	  .standard = "600",
	  .min = 0.5,
	  .may_be_off = TRUE,
	  .help = "how long" },
	{ .name = "max_level",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(Sample, level),
	  .standard = "rack",
	  .choices = levels,
	  .help = "how wide" },
	{ .name = "thresholds_gpu_s",
	  .kind = OPTION_SECONDS_LIST,
	  .offset = G_STRUCT_OFFSET(Sample, thresholds),
	  .standard = "3250",
	  .help = "where queues end" },
	{ .name = "distribution",
	  .kind = OPTION_TEXT,
	  .offset = G_STRUCT_OFFSET(Sample, distribution),
	  .help = "of what" },
	{ .name = NULL },
};

typedef struct ValueCase {
	const char *name, *text;
	const char *written; /* NULL = refused */
} ValueCase;

static const ValueCase value_cases[] = {
	{ "preempt", "true", "true" },
	{ "preempt", "yes", "true" },
	{ "preempt", "on", "true" },
	{ "preempt", "1", "true" },
	{ "preempt", "TRUE", "true" },
	{ "preempt", "no", "false" },
	{ "preempt", "off", "false" },
	{ "preempt", "0", "false" },
	{ "preempt", "maybe", NULL },
	{ "preempt", "", NULL },
	{ "depth", "10", "10" },
	{ "depth", "-2", "-2" },
	{ "depth", "11", NULL },
	{ "depth", "-3", NULL },
	{ "depth", "1.5", NULL },
	{ "depth", "--1", NULL },
	{ "depth", "0x5", NULL },
	{ "depth", "9223372036854775808", NULL },
	{ "knob", "0", "0" },
	{ "knob", "1", "1" },
	{ "knob", "0.25", "0.25" },
	/* Too small for nine places, and yet not 0. */
	{ "knob", "1e-12", "1e-12" },
	{ "knob", "1.01", NULL },
	{ "knob", "-0.1", NULL },
	{ "knob", "off", NULL },
	{ "knob", "nan", NULL },
	{ "knob", "0,5", NULL },
	{ "promote", "off", "off" },
	{ "promote", "OFF", "off" },
	{ "promote", "8", "8" },
	{ "promote", "inf", NULL },
	{ "lease_s", "0.5", "0.5" },
	{ "lease_s", "1.000000001", "1.000000001" },
	{ "lease_s", "1e3", "1000" },
	{ "lease_s", "off", "off" },
	{ "lease_s", "0.499999999", NULL },
	{ "lease_s", "-600", NULL },
	{ "lease_s", "10 min", NULL },
	{ "lease_s", "99999999999", NULL }, /* beyond the clock */
	{ "max_level", "slot", "slot" },
	{ "max_level", "Slot", NULL },
	{ "max_level", "", NULL },
	{ "thresholds_gpu_s", "[3600,36000]", "[3600,36000]" },
	{ "thresholds_gpu_s", " [ 3600 , 36000.5 ] ", "[3600,36000.5]" },
	{ "thresholds_gpu_s", "3600", "3600" },
	{ "thresholds_gpu_s", "[3600]", "3600" },
	{ "thresholds_gpu_s", "[]", "[]" },
	{ "thresholds_gpu_s", "[2,1]", NULL },
	{ "thresholds_gpu_s", "[1,1]", NULL },
	{ "thresholds_gpu_s", "[1,]", NULL },
	{ "thresholds_gpu_s", "[1", NULL },
	{ "thresholds_gpu_s", "[-1]", NULL },
	{ "thresholds_gpu_s", "", NULL },
	{ "thresholds_gpu_s", "[", NULL },
	{ "distribution", "", "" },
	{ "distribution", "samples, all.txt", "samples, all.txt" },
};

static const Option *
row_of(const char *name)
{
	for (const Option *option = table; option->name; option++)
		if (g_str_equal(option->name, name))
			return option;
	g_assert_not_reached();
}

START_TEST(takes_values)
{
	const ValueCase *value = &value_cases[_i];
	const Option *option = row_of(value->name);
	Sample *sample = options_new(table, sizeof *sample);
	g_autofree char *before = options_get(option, sample);
	g_autofree char *after = NULL;
	g_autoptr(GError) error = NULL;
	gboolean is_taken =
	    options_set(table, sample, value->name, value->text, SIM_ERROR_INPUT, &error);

	after = options_get(option, sample);
	ck_assert_int_eq(is_taken, value->written != NULL);
	ck_assert_str_eq(after, value->written ? value->written : before);
	if (!is_taken)
		ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_INPUT));
	options_free(table, sample);
}
END_TEST

START_TEST(has_standards)
{
	Sample *sample = options_new(table, sizeof *sample);
	g_autofree char *text = options_to_string(table, sample);

	ck_assert_int_eq(sample->lease_ns, 600 * NS_PER_S);
	ck_assert_int_eq(sample->level, 2);
	ck_assert_int_eq(sample->depth, 3);
	ck_assert(isinf(sample->promote));
	ck_assert_uint_eq(sample->thresholds.n, 1);
	ck_assert_int_eq(sample->thresholds.values[0], 3250 * NS_PER_S);
	ck_assert_str_eq(sample->distribution, "");
	ck_assert_str_eq(text, "preempt=false,depth=3,knob=0.8,promote=off,lease_s=600,"
	                       "max_level=rack,thresholds_gpu_s=3250,distribution=");
	options_free(table, sample);
}
END_TEST

typedef struct MessageCase {
	const char *name, *text;
	const char *part; /* of the message */
} MessageCase;

static const MessageCase message_cases[] = {
	{ "lease", "5", "\"lease\", wanted perhaps lease_s" },
	{ "max-level", "slot", "wanted perhaps max_level" },
	{ "zzzzzz", "1", "wanted one of: preempt, depth, knob" },
	{ "knob", "2", "found \"2\" for knob, wanted a number from 0 to 1" },
	{ "depth", "x", "wanted a whole number from -2 to 10" },
	{ "lease_s", "0", "wanted a number of seconds of at least 0.5" },
	{ "promote", "x", "wanted a number of at least 0, or off" },
	{ "max_level", "rck", "wanted one of slot, machine, rack (perhaps rack)" },
	{ "preempt", "x", "wanted true or false" },
	{ "thresholds_gpu_s", "[2,1]", "wanted ascending numbers, as 3600 or [3600,36000]" },
};

START_TEST(says_what_was_wanted)
{
	const MessageCase *message = &message_cases[_i];
	Sample *sample = options_new(table, sizeof *sample);
	g_autoptr(GError) error = NULL;

	ck_assert(
	    !options_set(table, sample, message->name, message->text, SIM_ERROR_USAGE, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_USAGE));
	ck_assert_msg(strstr(error->message, message->part) != NULL, "\"%s\" is not in \"%s\"",
	              message->part, error->message);
	options_free(table, sample);
}
END_TEST

START_TEST(may_have_no_table)
{
	void *values = options_new(NULL, 0);
	g_autofree char *text = options_to_string(NULL, values);
	g_autoptr(GError) error = NULL;

	ck_assert_str_eq(text, "");
	ck_assert(!options_set(NULL, values, "knob", "1", SIM_ERROR_USAGE, &error));
	ck_assert(strstr(error->message, "no options") != NULL);
	options_free(NULL, values);
	options_free(table, NULL);
}
END_TEST

static Suite *
options_suite(void)
{
	Suite *suite = suite_create("options");
	TCase *tests = tcase_create("options");

	tcase_add_loop_test(tests, takes_values, 0, G_N_ELEMENTS(value_cases));
	tcase_add_test(tests, has_standards);
	tcase_add_loop_test(tests, says_what_was_wanted, 0, G_N_ELEMENTS(message_cases));
	tcase_add_test(tests, may_have_no_table);
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(options_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
