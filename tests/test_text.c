/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "sim/base/text.h"

typedef struct ParseCase {
	const char *text;
	guint scale;
	DecimalVerdict verdict;
	gint64 value;
} ParseCase;

static const ParseCase parse_cases[] = {
	{ "0", 9, DECIMAL_OK, 0 },
	{ "00012", 0, DECIMAL_OK, 12 },
	{ "0.1", 9, DECIMAL_OK, 100000000 },
	{ " 10.25\t", 9, DECIMAL_OK, 10250000000 },
	{ "1e3", 9, DECIMAL_OK, 1000000000000 },
	{ "1E+3", 0, DECIMAL_OK, 1000 },
	{ "1.5e-3", 9, DECIMAL_OK, 1500000 },
	{ "12.34e1", 0, DECIMAL_ROUNDED, 123 },
	{ "12.34e2", 0, DECIMAL_OK, 1234 },
	{ "0e400", 9, DECIMAL_OK, 0 },
	{ "0.000e99999999999999999999", 9, DECIMAL_OK, 0 },
	{ "1e-400", 9, DECIMAL_ROUNDED, 0 },
	{ "1e-99999999999999999999", 9, DECIMAL_ROUNDED, 0 },
	/* Zeros behind the ninth place are no loss. */
	{ "1.5000000000000", 9, DECIMAL_OK, 1500000000 },
	/* Half to even, from all the digits. */
	{ "0.0000000005", 9, DECIMAL_ROUNDED, 0 },
	{ "0.00000000050", 9, DECIMAL_ROUNDED, 0 },
	{ "0.000000000500001", 9, DECIMAL_ROUNDED, 1 },
	{ "0.0000000015", 9, DECIMAL_ROUNDED, 2 },
	{ "0.0000000025", 9, DECIMAL_ROUNDED, 2 },
	{ "0.00000000249999999999", 9, DECIMAL_ROUNDED, 2 },
	{ "0.9999999999", 9, DECIMAL_ROUNDED, 1000000000 },
	{ "5e-1", 0, DECIMAL_ROUNDED, 0 },
	{ "15e-1", 0, DECIMAL_ROUNDED, 2 },
	{ "5e-2", 0, DECIMAL_ROUNDED, 0 },
	/* The end of the clock. */
	{ "9223372036854775807", 0, DECIMAL_OK, G_MAXINT64 },
	{ "9223372036.854775807", 9, DECIMAL_OK, G_MAXINT64 },
	{ "9223372036.8547758074", 9, DECIMAL_ROUNDED, G_MAXINT64 },
	{ "9223372036.8547758075", 9, DECIMAL_TOO_LARGE, 0 },
	{ "9223372036854775808", 0, DECIMAL_TOO_LARGE, 0 },
	{ "18446744073709551616", 0, DECIMAL_TOO_LARGE, 0 },
	{ "1e19", 0, DECIMAL_TOO_LARGE, 0 },
	{ "1e400", 9, DECIMAL_TOO_LARGE, 0 },
	{ "1e99999999999999999999", 0, DECIMAL_TOO_LARGE, 0 },
	{ "99999999999999999999e-10", 0, DECIMAL_ROUNDED, 10000000000 },
	{ "-1", 9, DECIMAL_NEGATIVE, 0 },
	{ "-0.5e1", 9, DECIMAL_NEGATIVE, 0 },
	{ "-", 9, DECIMAL_BAD, 0 },
	{ "--1", 9, DECIMAL_BAD, 0 },
	{ "- 1", 9, DECIMAL_BAD, 0 },
	{ "+1", 9, DECIMAL_BAD, 0 },
	{ "", 9, DECIMAL_BAD, 0 },
	{ "  ", 9, DECIMAL_BAD, 0 },
	{ "0x10", 9, DECIMAL_BAD, 0 },
	{ "nan", 9, DECIMAL_BAD, 0 },
	{ "-nan", 9, DECIMAL_BAD, 0 },
	{ "inf", 9, DECIMAL_BAD, 0 },
	{ "1,5", 9, DECIMAL_BAD, 0 },
	{ "1_000", 9, DECIMAL_BAD, 0 },
	{ "1 000", 9, DECIMAL_BAD, 0 },
	{ "1.2.3", 9, DECIMAL_BAD, 0 },
	{ ".5", 9, DECIMAL_BAD, 0 },
	{ "5.", 9, DECIMAL_BAD, 0 },
	{ "1e", 9, DECIMAL_BAD, 0 },
	{ "1e+", 9, DECIMAL_BAD, 0 },
	{ "1e5.0", 9, DECIMAL_BAD, 0 },
	{ "1e--5", 9, DECIMAL_BAD, 0 },
	{ "e5", 9, DECIMAL_BAD, 0 },
	{ "10s", 9, DECIMAL_BAD, 0 },
	{ "\xd9\xa1", 9, DECIMAL_BAD, 0 }, /* an Arabic one */
};

START_TEST(parses_decimals)
{
	const ParseCase *c = &parse_cases[_i];
	gint64 value = -77;
	DecimalVerdict verdict = decimal_parse(c->text, strlen(c->text), c->scale, &value);

	ck_assert_msg(verdict == c->verdict, "\"%s\": verdict %d", c->text, verdict);
	if (verdict == DECIMAL_OK || verdict == DECIMAL_ROUNDED)
		ck_assert_msg(value == c->value, "\"%s\": %" G_GINT64_FORMAT, c->text, value);
	else
		ck_assert_msg(value == -77, "\"%s\": a refused value was written", c->text);
}
END_TEST

START_TEST(parses_only_its_length)
{
	gint64 value;

	ck_assert_int_eq(decimal_parse("12,34", 2, 0, &value), DECIMAL_OK);
	ck_assert_int_eq(value, 12);
	ck_assert_int_eq(decimal_parse("1e5", 2, 0, &value), DECIMAL_BAD);
	ck_assert_int_eq(decimal_parse("1.5", 2, 0, &value), DECIMAL_BAD);
}
END_TEST

static const struct {
	const char *text;
	gboolean ok;
	double value;
} double_cases[] = {
	{ "0.1", TRUE, 0.1 },
	{ " -2.5e-3 ", TRUE, -0.0025 },
	{ "9007199254740993", TRUE, 9007199254740992.0 },
	{ "1e308", TRUE, 1e308 },
	{ "1e400", FALSE, 0 },
	{ "1e-400", TRUE, 0 },
	{ "nan", FALSE, 0 },
	{ "inf", FALSE, 0 },
	{ "0x10", FALSE, 0 },
	{ "1,5", FALSE, 0 },
	{ "+1", FALSE, 0 },
	{ "", FALSE, 0 },
	{ "1.5 x", FALSE, 0 },
};

START_TEST(parses_doubles)
{
	double value = -77;
	gboolean ok = decimal_parse_double(double_cases[_i].text, &value);

	ck_assert_msg(ok == double_cases[_i].ok, "\"%s\"", double_cases[_i].text);
	ck_assert(value == (ok ? double_cases[_i].value : -77.0));
}
END_TEST

static const struct {
	guint64 value;
	guint scale;
	const char *text;
} decimal_cases[] = {
	{ 0, 9, "0" },
	{ 0, 0, "0" },
	{ 7, 0, "7" },
	{ 10, 0, "10" },
	{ 12345, 0, "12345" },
	{ 10250000000, 9, "10.25" },
	{ 1, 9, "0.000000001" },
	{ 999999999, 9, "0.999999999" },
	{ 1000000000, 9, "1" },
	{ 100, 3, "0.1" },
	{ 1050, 3, "1.05" },
	{ 999, 3, "0.999" },
	{ 2500000, 6, "2.5" },
	{ G_MAXINT64, 9, "9223372036.854775807" },
	{ G_MAXUINT64, 0, "18446744073709551615" },
	{ G_MAXUINT64, 12, "18446744.073709552" },
	{ 1500, 12, "0.000000002" },
	{ 2500, 12, "0.000000002" },
	{ 2501, 12, "0.000000003" },
	{ 500, 12, "0" },
	{ 999999999999, 12, "1" },
	{ G_MAXUINT64, 38, "0" },
};

START_TEST(writes_decimals)
{
	g_autoptr(GString) out = g_string_new("x");

	decimal_append(out, decimal_cases[_i].value, decimal_cases[_i].scale);
	ck_assert_str_eq(out->str + 1, decimal_cases[_i].text);
}
END_TEST

START_TEST(writes_128_bits)
{
	const __int128 two_64 = (__int128)G_MAXUINT64 + 1;
	const __int128 largest = (two_64 / 2 - 1) * two_64 + G_MAXUINT64;
	g_autoptr(GString) out = g_string_new(NULL);

	decimal_append(out, two_64, 0);
	g_string_append_c(out, ' ');
	decimal_append(out, two_64 * 1000 + 1, 3);
	g_string_append_c(out, ' ');
	decimal_append(out, two_64 / 2 * 3 + 500000000, 9);
	g_string_append_c(out, ' ');
	decimal_append(out, largest, 0);
	g_string_append_c(out, ' ');
	decimal_append(out, largest, 9);
	g_string_append_c(out, ' ');
	gpu_seconds_append(out, (__int128)1000000000000000000 * 1000000000000000000);
	g_string_append_c(out, ' ');
	gpu_seconds_append(out, GPU_TIME_PER_GPU_S * 3 / 2);
	ck_assert_str_eq(out->str, "18446744073709551616 18446744073709551616.001 "
	                           "27670116111.064327424 "
	                           "170141183460469231731687303715884105727 "
	                           "170141183460469231731687303715.884105727 "
	                           "1000000000000000000000000 1.5");
}
END_TEST

static const struct {
	double value;
	const char *text;
} double_text_cases[] = {
	{ 0.0, "0" },
	{ -0.0, "0" },
	{ -1e-10, "0" },
	{ 0.1, "0.1" },
	{ -2.5, "-2.5" },
	{ 1.0 / 3.0, "0.333333333" },
	{ 2.0 / 3.0, "0.666666667" },
	{ 0.9999999999, "1" },
	{ 1234567.9999999999, "1234568" },
	{ 1e-9, "0.000000001" },
	{ 5e-10, "0.000000001" },   /* the double is a little above the half */
	{ 0x1p-10, "0.000976562" }, /* .0009765625 exactly: down to even */
	{ 0x3p-10, "0.002929688" }, /* .0029296875 exactly: up to even */
	{ 4.9e-324, "0" },
	{ 9007199254740993.0, "9007199254740992" },
	{ 0x1.fffffffffffffp62, "9223372036854774784" },
	{ 0x1p63, "9223372036854775808" },
	{ 1e22, "10000000000000000000000" },
	{ -1e22, "-10000000000000000000000" },
	{ NAN, "" },
	{ INFINITY, "" },
	{ -INFINITY, "" },
};

START_TEST(writes_doubles)
{
	g_autoptr(GString) out = g_string_new(NULL);

	decimal_append_double(out, double_text_cases[_i].value);
	ck_assert_str_eq(out->str, double_text_cases[_i].text);
}
END_TEST

/* glibc's printf rounds exactly, half to even: every double must come out as it does there. */
START_TEST(writes_doubles_as_printf_does)
{
	guint64 state = 88172645463325252;

	for (guint i = 0; i < 200000; i++) {
		g_autoptr(GString) out = g_string_new(NULL);
		char expected[400];
		double value;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		/* Whole multiples of 2^-40 .. 2^23, so that exact halves are met. */
		value = ldexp((double)(gint64)(state >> 24), (int)(state % 64) - 40);
		decimal_append_double(out, value);
		g_snprintf(expected, sizeof expected, "%.9f", value);
		while (g_str_has_suffix(expected, "0"))
			expected[strlen(expected) - 1] = '\0';
		if (g_str_has_suffix(expected, "."))
			expected[strlen(expected) - 1] = '\0';
		ck_assert_str_eq(out->str, expected);
	}
}
END_TEST

START_TEST(follows_no_locale)
{
	g_autoptr(GString) out = g_string_new(NULL);
	double value;

	setlocale(LC_ALL, "de_DE.UTF-8");
	decimal_append_double(out, 1.5);
	decimal_append_double(out, 1e19);
	ck_assert_str_eq(out->str, "1.510000000000000000000");
	ck_assert(decimal_parse_double("1.5", &value) && value == 1.5);
	ck_assert(!decimal_parse_double("1,5", &value));
}
END_TEST

START_TEST(writes_seconds)
{
	g_autofree char *text = seconds_to_string(90 * NS_PER_S + 50);
	g_autoptr(GString) out = g_string_new(NULL);

	ck_assert_str_eq(text, "90.00000005");
	seconds_append(out, G_MAXINT64);
	seconds_append(out, 0);
	ck_assert_str_eq(out->str, "9223372036.8547758070");
}
END_TEST

static const struct {
	const char *cell, *csv, *json;
} quote_cases[] = {
	{ NULL, "", "null" },
	{ "", "", "\"\"" },
	{ "plain", "plain", "\"plain\"" },
	{ " a b ", " a b ", "\" a b \"" },
	{ "a,b", "\"a,b\"", "\"a,b\"" },
	{ "say \"hi\"", "\"say \"\"hi\"\"\"", "\"say \\\"hi\\\"\"" },
	{ "two\nlines", "\"two\nlines\"", "\"two\\nlines\"" },
	{ "\r", "\"\r\"", "\"\\r\"" },
	{ "#1", "\"#1\"", "\"#1\"" },
	{ "1#", "1#", "\"1#\"" },
	{ "back\\slash\t\x01", "back\\slash\t\x01", "\"back\\\\slash\\t\\u0001\"" },
	{ "Grüße €", "Grüße €", "\"Grüße €\"" },
	{ "\xff!\xe2\x82", "\xff!\xe2\x82", "\"\xef\xbf\xbd!\xef\xbf\xbd\xef\xbf\xbd\"" },
};

START_TEST(quotes_cells)
{
	g_autoptr(GString) out = g_string_new(NULL);

	csv_append(out, quote_cases[_i].cell);
	ck_assert_str_eq(out->str, quote_cases[_i].csv);
	g_string_truncate(out, 0);
	json_append(out, quote_cases[_i].cell);
	ck_assert_str_eq(out->str, quote_cases[_i].json);
}
END_TEST

static const struct {
	const char *name, *nearest;
} nearest_cases[] = {
	{ "tiresais", "tiresias" },
	{ "Themis", "themis" },
	{ "srft", "srtf" },
	{ "thresholds", "thresholds_gpu_s" },
	{ "lease", "lease_s" },
	{ "2d_las", "2d-las" },
	{ "gandvia", "gandiva" },
	{ "elephant", NULL },
	{ "", NULL },
	{ "themis-with-a-name-so-long-that-nobody-typed-it-by-mistake-at-all", NULL },
};

START_TEST(finds_the_nearest_name)
{
	static const char *const names[] = { "fifo",   "srtf",     "srsf",
		                             "2d-las", "tiresias", "gandiva",
		                             "themis", "lease_s",  "thresholds_gpu_s",
		                             NULL };
	const char *nearest = text_nearest(nearest_cases[_i].name, names);

	ck_assert_pstr_eq(nearest, nearest_cases[_i].nearest);
}
END_TEST

static Suite *
text_suite(void)
{
	Suite *suite = suite_create("text");
	TCase *tests = tcase_create("text");

	tcase_add_loop_test(tests, parses_decimals, 0, G_N_ELEMENTS(parse_cases));
	tcase_add_test(tests, parses_only_its_length);
	tcase_add_loop_test(tests, parses_doubles, 0, G_N_ELEMENTS(double_cases));
	tcase_add_loop_test(tests, writes_decimals, 0, G_N_ELEMENTS(decimal_cases));
	tcase_add_test(tests, writes_128_bits);
	tcase_add_loop_test(tests, writes_doubles, 0, G_N_ELEMENTS(double_text_cases));
	tcase_add_test(tests, writes_doubles_as_printf_does);
	tcase_add_test(tests, follows_no_locale);
	tcase_add_test(tests, writes_seconds);
	tcase_add_loop_test(tests, quotes_cells, 0, G_N_ELEMENTS(quote_cases));
	tcase_add_loop_test(tests, finds_the_nearest_name, 0, G_N_ELEMENTS(nearest_cases));
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(text_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
