/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "sim/base/error.h"
#include "sim/base/file.h"
#include "tests/trace_text.h"
#include "traces/csv.h"

static void
append_cells(GString *out, const CsvReader *reader)
{
	for (guint i = 0; i < csv_n_columns(reader); i++) {
		const CsvCell *cell = &csv_cells(reader)[i];

		ck_assert_uint_eq(strlen(cell->text), cell->length);
		g_string_append_printf(out, "%s[%s]", i > 0 ? " " : "", cell->text);
	}
	g_string_append_c(out, '\n');
}

/* Names and cells in brackets, then what was wrong. */
static char *
csv_to_text(const char *path)
{
	g_autoptr(Problems) problems = problems_new(path);
	g_autoptr(GError) error = NULL;
	g_autoptr(CsvReader) reader = csv_open(path, problems, &error);
	GString *out = g_string_new(NULL);

	if (reader && csv_refuse_duplicates(reader, &error)) {
		for (guint i = 0; csv_names(reader)[i]; i++)
			g_string_append_printf(out, "%s%s", i > 0 ? "|" : "", csv_names(reader)[i]);
		g_string_append_c(out, '\n');
		while (csv_next(reader, &error) == CSV_ROW)
			append_cells(out, reader);
	}
	for (guint i = 0; i < problems->texts->len && !(error && !reader); i++)
		g_string_append_printf(out, "%s\n",
		                       (const char *)g_ptr_array_index(problems->texts, i));
	if (error)
		g_string_append_printf(out, "error %d: %s\n", error->code, error->message);
	return g_string_free(out, FALSE);
}

#define BYTES(text) text, sizeof(text) - 1

static const struct {
	const char *what;
	const char *bytes;
	gsize length;
	const char *expected;
} cases[] = {
	{ "lines", BYTES("a,b\n1,2\n3,4\n"), "a|b\n[1] [2]\n[3] [4]\n" },
	{ "S07 CRLF, no last newline", BYTES("a,b\r\n1,2\r\n3,4"), "a|b\n[1] [2]\n[3] [4]\n" },
	{ "CRLF at the very end", BYTES("a,b\r\n1,2\r"), "a|b\n[1] [2]\n" },
	{ "S08 byte-order mark",
	  BYTES("\xef\xbb\xbf"
	        "a,b\n1,2\n"),
	  "a|b\n[1] [2]\n" },
	{ "S08 mark and a quoted name", BYTES("\xef\xbb\xbf\"a\",b\n1,2\n"), "a|b\n[1] [2]\n" },
	{ "S08 mark and a comment", BYTES("\xef\xbb\xbf# x\na\n1\n"), "a\n[1]\n" },
	{ "S08 UTF-16 with its mark",
	  BYTES("\xff\xfe"
	        "a\0,\0b\0\n\0"),
	  "error 3: t.csv:1:1: found text in UTF-16, wanted UTF-8\n" },
	{ "S08 UTF-16, the other one", BYTES("\xfe\xff\0a\0,\0b\0\n"),
	  "error 3: t.csv:1:1: found text in UTF-16, wanted UTF-8\n" },
	{ "S08 UTF-16 without a mark", BYTES("a\0,\0b\0\n\0"),
	  "error 3: t.csv:1:1: found text in UTF-16, wanted UTF-8\n" },
	{ "S09 comments and blank lines", BYTES("# x\n\na,b\n1,2\n\n#3,4\n  \t\n5,6\n\n\n"),
	  "a|b\n[1] [2]\n[5] [6]\n" },
	{ "A48 only # begins a comment", BYTES("a,b\n1,2\n; note\n3,4\n"),
	  "a|b\n[1] [2]\n[3] [4]\n"
	  "t.csv:3:7: found 1 cells, wanted 2 as in the header\n" },
	{ "S09 # inside a cell is data", BYTES("a,b\nx#y,#z\n \"#\",1\n\"#q\",2\n"),
	  "a|b\n[x#y] [#z]\n[ \"#\"] [1]\n[#q] [2]\n" },
	{ "a comment with a quote", BYTES("a,b\n# \"\n1,2\n"), "a|b\n[1] [2]\n" },
	{ "quotes", BYTES("a,b\n\"1,5\",\"say \"\"hi\"\"\"\n\"\",\"\"\"\"\n"),
	  "a|b\n[1,5] [say \"hi\"]\n[] [\"]\n" },
	{ "a quoted newline", BYTES("a,b\n\"1\n2\",\"3\r\n4\"\r\n5,6\n"),
	  "a|b\n[1\n2] [3\r\n4]\n[5] [6]\n" },
	{ "a quoted line that looks like a comment", BYTES("a,b\n\"1\n#2\",3\n"),
	  "a|b\n[1\n#2] [3]\n" },
	{ "a quoted last cell, no newline", BYTES("a,b\n1,\"2\""), "a|b\n[1] [2]\n" },
	{ "a quote inside a plain cell", BYTES("a,b\n5\" disk,x\"y\"\n"),
	  "a|b\n[5\" disk] [x\"y\"]\n" },
	{ "text behind a quote", BYTES("a,b\n1,\"2\"x\n3,4\n"),
	  "a|b\n[3] [4]\n"
	  "t.csv:2:6: found text behind a closing quote, wanted a comma or the end of the line\n" },
	{ "an unclosed quote costs one line", BYTES("a,b\n1,2\n\"3,4\n5,6\n"),
	  "a|b\n[1] [2]\n[5] [6]\n"
	  "t.csv:3:1: found a quote that opens a cell and is not closed, wanted its end\n" },
	{ "an unclosed quote in the header", BYTES("a,\"b\n1,2\n"),
	  "error 3: t.csv:1:3: found a quote that opens a cell and is not closed, wanted its "
	  "end\n" },
	{ "E27 short, long and empty rows", BYTES("a,b,c\n1,2\n1,2,3,4\n,,\n7,8,9\n"),
	  "a|b|c\n[] [] []\n[7] [8] [9]\n"
	  "t.csv:2:4: found 2 cells, wanted 3 as in the header\n"
	  "t.csv:3:7: found 4 cells, wanted 3 as in the header (a comma inside a cell needs "
	  "quotes; "
	  "a decimal comma must be a point)\n" },
	{ "places of short and long rows, in characters",
	  BYTES("a,b\n\"\xc3\xa4\"\"\"\n1,\"2\",\"3\",4\n"),
	  "a|b\n"
	  "t.csv:2:6: found 1 cells, wanted 2 as in the header\n"
	  "t.csv:3:7: found 4 cells, wanted 2 as in the header (a comma inside a cell needs "
	  "quotes; "
	  "a decimal comma must be a point)\n" },
	{ "places behind quoted newlines", BYTES("a,b\n\"1\n2\"\n\"1\n2\",3,4\n\"1\n2\",x,\"3\n"),
	  "a|b\n"
	  "t.csv:3:3: found 1 cells, wanted 2 as in the header\n"
	  "t.csv:5:6: found 3 cells, wanted 2 as in the header (a comma inside a cell needs "
	  "quotes; "
	  "a decimal comma must be a point)\n"
	  "t.csv:7:6: found a quote that opens a cell and is not closed, wanted its end\n"
	  "t.csv:7:6: found a quote that opens a cell and is not closed, wanted its end\n" },
	{ "lines are counted through quotes", BYTES("a,b\n\"1\n\n2\",3\n4\n"),
	  "a|b\n[1\n\n2] [3]\n"
	  "t.csv:5:2: found 1 cells, wanted 2 as in the header\n" },
	{ "a NUL", BYTES("a,b\n1,x\0y\n3,4\n"),
	  "a|b\n[3] [4]\n"
	  "t.csv:2:4: found a NUL byte, wanted text\n" },
	{ "a NUL in the header", BYTES("ab,\0\n1,2\n"),
	  "error 3: t.csv:1:4: found a NUL byte, wanted text\n" },
	{ "blanks around names", BYTES(" a , b\t\n 1 ,2\n"), "a|b\n[ 1 ] [2]\n" },
	{ "S15a a header alone", BYTES("a,b\n"), "a|b\n" },
	{ "a header alone, no newline", BYTES("a,b"), "a|b\n" },
	{ "S15b nothing", BYTES(""),
	  "error 3: t.csv:1:1: found no header, wanted a first row that names the columns\n" },
	{ "nothing but a comment", BYTES("# x\n\n"),
	  "error 3: t.csv:3:1: found no header, wanted a first row that names the columns\n" },
	{ "nothing but a mark", BYTES("\xef\xbb\xbf"),
	  "error 3: t.csv:1:1: found no header, wanted a first row that names the columns\n" },
	{ "CR alone", BYTES("a,b\r1,2\r3,4\r"),
	  "error 3: t.csv:1:1: found lines that end in a CR alone, wanted LF or CRLF\n" },
	{ "a column twice", BYTES("a,b,a\n"),
	  "error 3: t.csv:1:5: found a second column \"a\", wanted one\n" },
	{ "columns without a name", BYTES(",a,\n1,2,3\n"), "|a|\n[1] [2] [3]\n" },
};

START_TEST(reads)
{
	g_autofree char *found = NULL;

	put_bytes("t.csv", cases[_i].bytes, cases[_i].length);
	found = csv_to_text("t.csv");
	ck_assert_msg(g_str_equal(found, cases[_i].expected), "%s: found\n%s\nwanted\n%s",
	              cases[_i].what, found, cases[_i].expected);
}
END_TEST

/* Every case again, compressed: the same rows, the same complaints. */
START_TEST(reads_gzip_alike)
{
	g_autofree char *found = NULL;

	if (strlen(cases[_i].bytes) != cases[_i].length)
		return;
	put_gzip("t.csv", cases[_i].bytes);
	found = csv_to_text("t.csv");
	ck_assert_str_eq(found, cases[_i].expected);
}
END_TEST

/* gzip */

#define HEAD "a,b\n1,2\n3,4\n"
#define TAIL "5,6\n"

static const struct {
	const char *what;
	const char *behind; /* the two members HEAD and TAIL */
	gsize n_behind;
	const char *expected;
} gzip_cases[] = {
	{ "S14 two members", BYTES(""), "a|b\n[1] [2]\n[3] [4]\n[5] [6]\n" },
	{ "S14 zero padding", BYTES("\0\0\0\0\0"), "a|b\n[1] [2]\n[3] [4]\n[5] [6]\n" },
	{ "S14 other bytes", BYTES("x"),
	  "a|b\n[1] [2]\n[3] [4]\n[5] [6]\n"
	  "error 3: t.csv: found other bytes behind the gzip data, wanted its end\n" },
	{ "S14 other bytes behind the padding", BYTES("\0\0x"),
	  "a|b\n[1] [2]\n[3] [4]\n[5] [6]\n"
	  "error 3: t.csv: found other bytes behind the gzip data, wanted its end\n" },
	{ "the beginning of a third member", BYTES("\x1f"),
	  "a|b\n[1] [2]\n[3] [4]\n[5] [6]\n"
	  "error 3: t.csv: found gzip data that is cut short, wanted it whole\n" },
	{ "a third member that is none", BYTES("\x1f\x8c\x08\0"),
	  "a|b\n[1] [2]\n[3] [4]\n[5] [6]\n"
	  "error 3: t.csv: found damaged gzip data, wanted it whole\n" },
};

static GByteArray *
two_members(void)
{
	GByteArray *bytes = gzip_bytes(HEAD);
	g_autoptr(GByteArray) second = gzip_bytes(TAIL);

	return g_byte_array_append(bytes, second->data, second->len);
}

START_TEST(reads_gzip_members)
{
	g_autoptr(GByteArray) bytes = two_members();
	g_autofree char *found = NULL;

	g_byte_array_append(bytes, (const guint8 *)gzip_cases[_i].behind,
	                    (guint)gzip_cases[_i].n_behind);
	put_bytes("t.csv", bytes->data, bytes->len);
	found = csv_to_text("t.csv");
	ck_assert_msg(g_str_equal(found, gzip_cases[_i].expected), "%s: found\n%s",
	              gzip_cases[_i].what, found);
}
END_TEST

/* E27: wherever it is cut but between the members, a file is no good. */
START_TEST(refuses_gzip_cut_anywhere)
{
	g_autoptr(GByteArray) first = gzip_bytes(HEAD);
	g_autoptr(GByteArray) both = two_members();

	for (guint length = 2; length < both->len; length++) {
		g_autofree char *found = NULL;

		put_bytes("t.csv", both->data, length);
		found = csv_to_text("t.csv");
		if (length != first->len)
			ck_assert_msg(strstr(found, "error 3: t.csv: found gzip data that is cut "
			                            "short, wanted it whole\n") != NULL,
			              "cut to %u of %u bytes: %s", length, both->len, found);
	}
}
END_TEST

START_TEST(refuses_damaged_gzip)
{
	g_autoptr(GByteArray) bytes = gzip_bytes(HEAD);
	g_autofree char *found = NULL;

	bytes->data[bytes->len - 6] ^= 1; /* in the check sum */
	put_bytes("t.csv", bytes->data, bytes->len);
	found = csv_to_text("t.csv");
	ck_assert_ptr_nonnull(
	    strstr(found, "error 3: t.csv: found damaged gzip data, wanted it whole\n"));
}
END_TEST

/* Large files */

/* Rows whose ends fall on every place of the buffer, and comments longer than it. */
START_TEST(reads_across_buffers)
{
	const guint n_rows = 60000;
	g_autoptr(GString) text = g_string_new("number,text\n");
	g_autoptr(Problems) problems = problems_new("t.csv");
	g_autoptr(CsvReader) reader = NULL;
	guint n = 0;

	for (guint i = 0; i < n_rows; i++) {
		g_string_append_printf(text, "%u,\"x%*s\n%u\"\r\n", i, (int)(i % 23), "", i);
		if (i % 20000 == 0) {
			gsize length = text->len;

			g_string_set_size(text, length + CSV_MAX_ROW_BYTES + 1000);
			memset(text->str + length, '#', text->len - length);
			g_string_append_c(text, '\n');
		}
	}
	put_text("t.csv", text->str);
	reader = csv_open("t.csv", problems, NULL);
	while (csv_next(reader, NULL) == CSV_ROW) {
		g_autofree char *number = g_strdup_printf("%u", n);
		g_autofree char *cell = g_strdup_printf("x%*s\n%u", (int)(n % 23), "", n);

		ck_assert_str_eq(csv_cells(reader)[0].text, number);
		ck_assert_str_eq(csv_cells(reader)[1].text, cell);
		n++;
	}
	ck_assert_uint_eq(n, n_rows);
	ck_assert_uint_eq(csv_n_rows(reader), n_rows);
	ck_assert_uint_eq(problems->n_bad, 0);
}
END_TEST

static void
append_row_of(GString *text, gsize length)
{
	gsize before = text->len;

	g_string_set_size(text, before + length);
	memset(text->str + before, 'x', length);
	g_string_append_c(text, '\n');
}

START_TEST(refuses_endless_lines)
{
	g_autoptr(GString) text = g_string_new("a\n");
	g_autofree char *found = NULL;

	append_row_of(text, CSV_MAX_ROW_BYTES + 1);
	g_string_append(text, "\"");
	append_row_of(text, 3 * CSV_MAX_ROW_BYTES);
	g_string_append(text, "y\n");
	put_text("t.csv", text->str);
	found = csv_to_text("t.csv");
	ck_assert_str_eq(found,
	                 "a\n[y]\n"
	                 "t.csv:2:1: found a line of more than 262144 bytes, wanted a shorter one\n"
	                 "t.csv:3:1: found a quote that opens a cell and is not closed, wanted its "
	                 "end\n");
}
END_TEST

START_TEST(takes_long_lines)
{
	g_autoptr(GString) text = g_string_new("a\n");
	g_autoptr(Problems) problems = problems_new("t.csv");
	g_autoptr(CsvReader) reader = NULL;

	append_row_of(text, CSV_MAX_ROW_BYTES - 1);
	put_text("t.csv", text->str);
	reader = csv_open("t.csv", problems, NULL);
	ck_assert_int_eq(csv_next(reader, NULL), CSV_ROW);
	ck_assert_uint_eq(csv_cells(reader)[0].length, CSV_MAX_ROW_BYTES - 1);
	ck_assert_int_eq(csv_next(reader, NULL), CSV_END);
}
END_TEST

/* Places */

START_TEST(knows_places)
{
	static const struct {
		guint64 line;
		guint column;
	} places[] = { { 2, 1 }, { 2, 5 }, { 3, 5 }, { 4, 5 } };
	g_autoptr(Problems) problems = problems_new("t.csv");
	g_autoptr(CsvReader) reader = NULL;

	/* A letter of two bytes, and cells that end a line later than they begin. */
	put_text("t.csv", "a,b,c,d\nabc,\"\xc3\xa4\n\"\"\",\"\n\"\"\",d\n");
	reader = csv_open("t.csv", problems, NULL);
	ck_assert_uint_eq(csv_cell_column(reader, 3), 7);
	ck_assert_int_eq(csv_next(reader, NULL), CSV_ROW);
	ck_assert_uint_eq(csv_row_line(reader), 2);
	for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
		ck_assert_uint_eq(csv_cell_line(reader, i), places[i].line);
		ck_assert_uint_eq(csv_cell_column(reader, i), places[i].column);
	}
	csv_complain(reader, 3, "reason", "found %s", "it");
	ck_assert_str_eq(g_ptr_array_index(problems->texts, 0), "t.csv:4:5: found it");
}
END_TEST

START_TEST(shows_cells)
{
	static const char long_text[] =
	    "0123456789012345678901234567890123456789012345678901234567890123456789";
	const CsvCell plain = { BYTES("a\xc3\xa4\n\xff"), NULL };
	const CsvCell cut = { BYTES(long_text), NULL };
	g_autofree char *plain_shown = csv_cell_shown(&plain);
	g_autofree char *cut_shown = csv_cell_shown(&cut);

	ck_assert_str_eq(plain_shown, "a\xc3\xa4 \xef\xbf\xbd");
	ck_assert_str_eq(cut_shown,
	                 "012345678901234567890123456789012345678901234567890123456789...");
}
END_TEST

START_TEST(sums_the_bytes_on_disk)
{
	g_autoptr(Problems) problems = problems_new("t.csv");
	g_autoptr(CsvReader) reader = NULL;
	g_autofree char *sha256 = NULL;

	put_gzip("t.csv", HEAD);
	sha256 = file_sha256("t.csv", NULL);
	reader = csv_open("t.csv", problems, NULL);
	while (csv_next(reader, NULL) == CSV_ROW)
		;
	ck_assert_str_eq(csv_sha256(reader), sha256);
}
END_TEST

static const struct {
	const char *path;
	const char *expected;
} unreadable_cases[] = {
	{ "absent.csv", "error 3: absent.csv: cannot be read: No such file or directory\n" },
	{ ".", "error 3: .: cannot be read: Is a directory\n" },
};

START_TEST(says_what_cannot_be_read)
{
	g_autofree char *found = csv_to_text(unreadable_cases[_i].path);

	ck_assert_str_eq(found, unreadable_cases[_i].expected);
}
END_TEST

static Suite *
csv_suite(void)
{
	Suite *suite = suite_create("csv");
	TCase *tests = tcase_create("csv");

	tcase_add_checked_fixture(tests, enter_test_folder, leave_test_folder);
	tcase_add_loop_test(tests, reads, 0, G_N_ELEMENTS(cases));
	tcase_add_loop_test(tests, reads_gzip_alike, 0, G_N_ELEMENTS(cases));
	tcase_add_loop_test(tests, reads_gzip_members, 0, G_N_ELEMENTS(gzip_cases));
	tcase_add_test(tests, refuses_gzip_cut_anywhere);
	tcase_add_test(tests, refuses_damaged_gzip);
	tcase_add_test(tests, reads_across_buffers);
	tcase_add_test(tests, refuses_endless_lines);
	tcase_add_test(tests, takes_long_lines);
	tcase_add_test(tests, knows_places);
	tcase_add_test(tests, shows_cells);
	tcase_add_test(tests, sums_the_bytes_on_disk);
	tcase_add_loop_test(tests, says_what_cannot_be_read, 0, G_N_ELEMENTS(unreadable_cases));
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(csv_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
