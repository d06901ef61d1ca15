/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "sim/base/error.h"
#include "sim/base/yaml.h"

/* The document, its problems, and what went wrong altogether, as one text. */
typedef struct Fixture {
	Problems *problems;
	YamlDocument *document;
	GError *error;
} Fixture;

static Fixture
fixture_new(const char *text)
{
	Fixture fixture = { .problems = problems_new("f.yaml") };

	fixture.document = yaml_parse(text, strlen(text), fixture.problems, &fixture.error);
	ck_assert((fixture.document == NULL) == (fixture.error != NULL));
	return fixture;
}

static void
fixture_clear(Fixture *fixture)
{
	yaml_document_free(fixture->document);
	problems_free(fixture->problems);
	g_clear_error(&fixture->error);
}

static const char *
first_problem(const Fixture *fixture)
{
	if (fixture->error)
		return fixture->error->message;
	return fixture->problems->n_bad == 0 ? NULL
	                                     : g_ptr_array_index(fixture->problems->texts, 0);
}

static const char *const keys[] = { "seed", "stop_s", "policies", "seconds", NULL };

static const struct {
	const char *text, *problem;
} parse_cases[] = {
	{ "", NULL },
	{ "# nothing\n", NULL },
	{ "---\n", NULL },
	{ "\xef\xbb\xbfseed: 1\r\n", NULL },
	{ "seed: 1", NULL },
	{ "a: [b, {c: d}]\n", NULL },
	{ "a: 1\nb: 2\na: 3\n",
	  "f.yaml:3:1: found the key \"a\" again, wanted it once (its value is on line 1)" },
	{ "a: &x 1\n", "f.yaml:1:4: found the anchor \"&x\", wanted plain values" },
	{ "a: {b: &x [1]}\n", "f.yaml:1:8: found the anchor \"&x\", wanted plain values" },
	{ "a: &x 1\nb: *x\n", "f.yaml:1:4: found the anchor \"&x\", wanted plain values" },
	{ "b: *x\n", "f.yaml:1:4: found the alias \"*x\", wanted the value itself" },
	{ "a: !!int 1\n", "f.yaml:1:4: found the tag \"tag:yaml.org,2002:int\", wanted plain "
	                  "values" },
	{ "? [a, b]\n: c\n", "f.yaml:1:3: found a list or mapping as a key, wanted a text" },
	{ "a: 1\n---\nb: 2\n", "f.yaml:2:1: found a second document, wanted one in a file" },
	{ "a: \"x\\0y\"\n", "f.yaml:1:4: found a NUL character, wanted text" },
	{ "a: b: c\n", "f.yaml:1:5: mapping values are not allowed in this context, wanted YAML" },
	{ "a: [1, 2\n", "f.yaml:2:1: did not find expected ',' or ']' while parsing a flow "
	                "sequence, wanted YAML" },
	{ "a:\n\tb: 1\n", "f.yaml:2:1: found character that cannot start any token while "
	                  "scanning for the next token, wanted YAML" },
	{ "a: 1\nb: \xff\n", "f.yaml:2:4: invalid leading UTF-8 octet, wanted YAML" },
};

START_TEST(parses)
{
	Fixture fixture = fixture_new(parse_cases[_i].text);

	ck_assert_pstr_eq(first_problem(&fixture), parse_cases[_i].problem);
	if (fixture.error)
		ck_assert(g_error_matches(fixture.error, SIM_ERROR, SIM_ERROR_INPUT));
	fixture_clear(&fixture);
}
END_TEST

static const struct {
	guint depth;
	gboolean ok;
} depth_cases[] = { { 1, TRUE }, { 64, TRUE }, { 65, FALSE }, { 100000, FALSE } };

START_TEST(limits_nesting)
{
	g_autoptr(GString) text = g_string_new(NULL);
	Fixture fixture;

	for (guint i = 0; i < depth_cases[_i].depth; i++)
		g_string_append_c(text, '[');
	for (guint i = 0; i < depth_cases[_i].depth; i++)
		g_string_append_c(text, ']');
	fixture = fixture_new(text->str);
	ck_assert_int_eq(fixture.document != NULL, depth_cases[_i].ok);
	fixture_clear(&fixture);
}
END_TEST

START_TEST(keeps_places_and_order)
{
	Fixture fixture = fixture_new("b: 1\na:\n  - x\n  - 'null'\n  - {k: ~}\n");
	const YamlNode *root = yaml_root(fixture.document);
	const YamlNode *list = yaml_find(root, "a");

	ck_assert_int_eq(yaml_kind(root), YAML_MAP);
	ck_assert_uint_eq(yaml_n(root), 2);
	ck_assert_str_eq(yaml_key(root, 0), "b");
	ck_assert_str_eq(yaml_key(root, 1), "a");
	ck_assert_str_eq(yaml_text(yaml_item(root, 0)), "1");
	ck_assert_uint_eq(yaml_line(yaml_key_node(root, 1)), 2);
	ck_assert_int_eq(yaml_kind(list), YAML_LIST);
	ck_assert_uint_eq(yaml_n(list), 3);
	ck_assert_uint_eq(yaml_line(yaml_item(list, 1)), 4);
	ck_assert_uint_eq(yaml_column(yaml_item(list, 1)), 5);
	ck_assert_str_eq(yaml_text(yaml_item(list, 1)), "null");
	ck_assert(!yaml_is_null(yaml_item(list, 1)));
	ck_assert(yaml_is_null(yaml_find(yaml_item(list, 2), "k")));
	ck_assert_str_eq(yaml_text(yaml_find(yaml_item(list, 2), "k")), "");
	ck_assert_ptr_null(yaml_text(list));
	ck_assert_ptr_null(yaml_find(root, "c"));
	ck_assert_ptr_null(yaml_find(list, "c"));
	fixture_clear(&fixture);
}
END_TEST

static const struct {
	const char *text;
	gboolean ok;
	const char *problem;
} key_cases[] = {
	{ "", TRUE, NULL },
	{ "{seed: 1, stop_s: 2}", TRUE, NULL },
	{ "sed: 1", FALSE, "f.yaml:1:1: found the unknown key \"sed\", wanted perhaps \"seed\"" },
	{ "seed: 1\nelephant: 2", FALSE,
	  "f.yaml:2:1: found the unknown key \"elephant\", wanted one of: seed, stop_s, policies, "
	  "seconds" },
	{ "[seed]", FALSE, "f.yaml:1:1: found a list, wanted a mapping of keys to values" },
	{ "seed", FALSE, "f.yaml:1:1: found \"seed\", wanted a mapping of keys to values" },
};

START_TEST(expects_keys)
{
	Fixture fixture = fixture_new(key_cases[_i].text);

	ck_assert_int_eq(yaml_expect_keys(yaml_root(fixture.document), keys), key_cases[_i].ok);
	ck_assert_pstr_eq(first_problem(&fixture), key_cases[_i].problem);
	fixture_clear(&fixture);
}
END_TEST

typedef enum Getter {
	GET_TEXT,
	GET_BOOL,
	GET_INT,
	GET_SECONDS,
	GET_MILLI,
	GET_NUMBER,
} Getter;

static const struct {
	Getter getter;
	const char *value;
	gboolean ok;
	const char *result; /* as text, or how the complaint goes on behind "wanted " */
} get_cases[] = {
	{ GET_TEXT, "x y", TRUE, "x y" },
	{ GET_TEXT, "''", TRUE, "" },
	{ GET_TEXT, "'~'", TRUE, "~" },
	{ GET_TEXT, "~", FALSE, "a text" },
	{ GET_TEXT, "[x]", FALSE, "a text" },
	{ GET_BOOL, "true", TRUE, "1" },
	{ GET_BOOL, "Off", TRUE, "0" },
	{ GET_BOOL, "1", FALSE, "true or false" },
	{ GET_BOOL, "", FALSE, "true or false" },
	{ GET_INT, "-5", TRUE, "-5" },
	{ GET_INT, "1e1", TRUE, "10" },
	{ GET_INT, "-6", FALSE, "a whole number from -5 to 10" },
	{ GET_INT, "11", FALSE, "a whole number from -5 to 10" },
	{ GET_INT, "1.5", FALSE, "a whole number from -5 to 10" },
	{ GET_INT, "1e400", FALSE, "a whole number from -5 to 10" },
	{ GET_INT, "0x1", FALSE, "a whole number from -5 to 10" },
	{ GET_INT, "--1", FALSE, "a whole number from -5 to 10" },
	{ GET_INT, "-+1", FALSE, "a whole number from -5 to 10" },
	{ GET_INT, "{a: 1}", FALSE, "a whole number from -5 to 10" },
	{ GET_SECONDS, "0.5", TRUE, "500000000" },
	{ GET_SECONDS, "0.0000000015", TRUE, "2" },
	{ GET_SECONDS, "-1", FALSE, "a number of seconds of at least 0" },
	{ GET_SECONDS, "9223372036.854775807", FALSE, "a number of seconds of at least 0" },
	{ GET_SECONDS, "inf", FALSE, "a number of seconds of at least 0" },
	{ GET_MILLI, "0.125", TRUE, "125" },
	{ GET_MILLI, "1.001", FALSE, "a number from 0.001 to 1" },
	{ GET_NUMBER, "-0.5", TRUE, "-0.5" },
	{ GET_NUMBER, "1.01", FALSE, "a number from -1 to 1" },
	{ GET_NUMBER, "nan", FALSE, "a number from -1 to 1" },
};

/* The value as text; NULL if it was refused. */
static char *
get(const YamlNode *map, Getter getter)
{
	const char *text = NULL;
	gboolean is_on;
	gint64 integer;
	double number;

	switch (getter) {
	case GET_TEXT:
		return yaml_get_text(map, "k", &text) ? g_strdup(text) : NULL;
	case GET_BOOL:
		return yaml_get_bool(map, "k", &is_on) ? g_strdup_printf("%d", is_on) : NULL;
	case GET_INT:
		if (!yaml_get_int(map, "k", -5, 10, &integer))
			return NULL;
		break;
	case GET_SECONDS:
		if (!yaml_get_seconds(map, "k", &integer))
			return NULL;
		break;
	case GET_MILLI:
		if (!yaml_get_scaled(map, "k", 3, 1, 1000, &integer))
			return NULL;
		break;
	case GET_NUMBER:
		return yaml_get_number(map, "k", -1, 1, &number) ? g_strdup_printf("%g", number)
		                                                 : NULL;
	}
	return g_strdup_printf("%" G_GINT64_FORMAT, integer);
}

START_TEST(gets_values)
{
	g_autofree char *text = g_strdup_printf("k: %s\n", get_cases[_i].value);
	g_autofree char *wanted = g_strdup_printf("wanted %s", get_cases[_i].result);
	Fixture fixture = fixture_new(text);
	g_autofree char *result = get(yaml_root(fixture.document), get_cases[_i].getter);

	ck_assert_msg((result != NULL) == get_cases[_i].ok, "%s", get_cases[_i].value);
	if (result)
		ck_assert_str_eq(result, get_cases[_i].result);
	else
		ck_assert_msg(g_str_has_suffix(first_problem(&fixture), wanted), "%s",
		              first_problem(&fixture));
	ck_assert_uint_eq(fixture.problems->n_bad, result ? 0 : 1);
	fixture_clear(&fixture);
}
END_TEST

START_TEST(leaves_absent_values)
{
	Fixture fixture = fixture_new("other: 1\n");
	const YamlNode *root = yaml_root(fixture.document);
	const char *text = "kept";
	gint64 integer = 42;
	double number = 0.25;
	gboolean is_on = TRUE;

	ck_assert(yaml_get_text(root, "k", &text));
	ck_assert(yaml_get_bool(root, "k", &is_on));
	ck_assert(yaml_get_int(root, "k", 0, 1, &integer));
	ck_assert(yaml_get_seconds(root, "k", &integer));
	ck_assert(yaml_get_scaled(root, "k", 3, 0, 1, &integer));
	ck_assert(yaml_get_number(root, "k", 0, 1, &number));
	ck_assert_str_eq(text, "kept");
	ck_assert(is_on && integer == 42 && number == 0.25);
	fixture_clear(&fixture);
}
END_TEST

START_TEST(notices_rounding)
{
	Fixture fixture = fixture_new("k: 0.12345678949\n");
	SimTime ns = 0;

	ck_assert(yaml_get_seconds(yaml_root(fixture.document), "k", &ns));
	ck_assert_int_eq(ns, 123456789);
	ck_assert_uint_eq(fixture.problems->n_noticed, 1);
	ck_assert_str_eq(g_ptr_array_index(fixture.problems->notices, 0),
	                 "f.yaml:1:4: found \"0.12345678949\" for k, rounded to 9 decimals");
	fixture_clear(&fixture);
}
END_TEST

START_TEST(lists_all_problems)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	Fixture fixture;

	for (guint i = 0; i < 25; i++)
		g_string_append_printf(text, "elephant%u: &a %u\n", i, i);
	fixture = fixture_new(text->str);
	yaml_expect_keys(yaml_root(fixture.document), keys);
	problems_to_error(fixture.problems, &error);
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_INPUT));
	ck_assert_uint_eq(fixture.problems->texts->len, PROBLEMS_SHOWN);
	ck_assert(g_str_has_prefix(error->message, "f.yaml:1:12: found the anchor \"&a\""));
	ck_assert(g_str_has_suffix(
	    error->message,
	    "\nf.yaml: and 30 more; in all 50: 25 anchor or alias, 25 unknown key"));
	fixture_clear(&fixture);
}
END_TEST

START_TEST(says_what_cannot_be_read)
{
	g_autoptr(Problems) problems = problems_new("/nonexistent.yaml");
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(yaml_read("/nonexistent.yaml", problems, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_INPUT));
}
END_TEST

static Suite *
yaml_suite(void)
{
	Suite *suite = suite_create("yaml");
	TCase *tests = tcase_create("yaml");

	tcase_add_loop_test(tests, parses, 0, G_N_ELEMENTS(parse_cases));
	tcase_add_loop_test(tests, limits_nesting, 0, G_N_ELEMENTS(depth_cases));
	tcase_add_test(tests, keeps_places_and_order);
	tcase_add_loop_test(tests, expects_keys, 0, G_N_ELEMENTS(key_cases));
	tcase_add_loop_test(tests, gets_values, 0, G_N_ELEMENTS(get_cases));
	tcase_add_test(tests, leaves_absent_values);
	tcase_add_test(tests, notices_rounding);
	tcase_add_test(tests, lists_all_problems);
	tcase_add_test(tests, says_what_cannot_be_read);
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(yaml_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
