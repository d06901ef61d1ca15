/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <check.h>
#include <glib/gstdio.h>
#define ZLIB_CONST
#include <zlib.h>

#include "sim/base/error.h"
#include "sim/base/file.h"

/* Every test has a folder of its own, since Check runs each in a process of its own. */
static char *
folder_new(void)
{
	GError *error = NULL;
	char *folder = g_dir_make_tmp("themis-file-XXXXXX", &error);

	g_assert_no_error(error);
	return folder;
}

static void
folder_remove(const char *folder)
{
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, name, NULL);

		g_remove(path);
	}
	g_dir_close(dir);
	g_rmdir(folder);
}

static guint
n_files(const char *folder)
{
	GDir *dir = g_dir_open(folder, 0, NULL);
	guint n = 0;

	while (g_dir_read_name(dir))
		n++;
	g_dir_close(dir);
	return n;
}

static void
put(const char *path, const char *bytes, gsize length)
{
	ck_assert(g_file_set_contents(path, bytes, (gssize)length, NULL));
}

/* Appends one gzip member that holds @text. */
static void
gzip_append(GString *packed, const char *text, gsize length)
{
	z_stream stream = { 0 };
	gsize room = length + 100;
	g_autofree char *bytes = g_malloc(room);
	int started = deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);

	ck_assert_int_eq(started, Z_OK);
	stream.next_in = (const Bytef *)text;
	stream.avail_in = (uInt)length;
	stream.next_out = (Bytef *)bytes;
	stream.avail_out = (uInt)room;
	ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
	g_string_append_len(packed, bytes, (gssize)stream.total_out);
	deflateEnd(&stream);
}

static const struct {
	const char *what;
	guint n_members;
	gsize cut;        /* bytes taken off the end */
	const char *tail; /* bytes put behind it */
	gsize tail_length;
	const char *error; /* NULL if it must be read */
} gzip_cases[] = {
	{ "one member", 1, 0, "", 0, NULL },
	{ "three members", 3, 0, "", 0, NULL },
	{ "zero padding", 2, 0, "\0\0\0\0\0\0\0", 7, NULL },
	{ "truncated trailer", 1, 3, "", 0, "truncated" },
	{ "truncated data", 2, 20, "", 0, "truncated" },
	{ "only a header", 0, 0, "\x1f\x8b", 2, "truncated" },
	{ "next header cut", 1, 0, "\x1f\x8b\x08", 3, "truncated" },
	{ "garbage behind", 1, 0, "id,submit\n", 10, "not gzip" },
	{ "garbage behind padding", 1, 0, "\0\0x", 3, "not gzip" },
	{ "wrong checksum", 1, 8, "\1\2\3\4\5\6\7\x8", 8, "damaged" },
	{ "no such method", 0, 0, "\x1f\x8b\xff\xff\xff\xff\xff\xff\xff\xff", 10, "damaged" },
};

START_TEST(reads_gzip)
{
	static const char member[] = "job_id,submit_time\na,0\nb,0.25\n";
	g_autofree char *folder = folder_new();
	g_autofree char *path = g_build_filename(folder, "t.gz", NULL);
	g_autofree char *text = NULL;
	g_autoptr(GString) packed = g_string_new(NULL), wanted = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	gsize length = 0;
	gboolean ok;

	for (guint i = 0; i < gzip_cases[_i].n_members; i++) {
		gzip_append(packed, member, strlen(member));
		g_string_append(wanted, member);
	}
	g_string_truncate(packed, packed->len - gzip_cases[_i].cut);
	g_string_append_len(packed, gzip_cases[_i].tail, (gssize)gzip_cases[_i].tail_length);
	put(path, packed->str, packed->len);

	ok = file_read(path, &text, &length, &error);
	if (gzip_cases[_i].error) {
		ck_assert_msg(!ok, "%s was read", gzip_cases[_i].what);
		ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_INPUT));
		ck_assert_msg(strstr(error->message, gzip_cases[_i].error) != NULL, "%s: %s",
		              gzip_cases[_i].what, error->message);
		ck_assert(g_str_has_prefix(error->message, path));
	} else {
		ck_assert_msg(ok, "%s: %s", gzip_cases[_i].what, error ? error->message : "");
		ck_assert_uint_eq(length, wanted->len);
		ck_assert_str_eq(text, wanted->str);
	}
	folder_remove(folder);
}
END_TEST

START_TEST(reads_large_gzip)
{
	g_autofree char *folder = folder_new();
	g_autofree char *path = g_build_filename(folder, "t.gz", NULL);
	g_autofree char *zeros = g_malloc0(5000001), *text = NULL;
	g_autoptr(GString) packed = g_string_new(NULL);
	gsize length = 0;

	memset(zeros, '0', 5000000);
	gzip_append(packed, zeros, 5000000);
	gzip_append(packed, "", 0);
	gzip_append(packed, "end", 3);
	put(path, packed->str, packed->len);
	ck_assert(file_read(path, &text, &length, NULL));
	ck_assert_uint_eq(length, 5000003);
	ck_assert_str_eq(text + 4999999, "0end");
	folder_remove(folder);
}
END_TEST

static const struct {
	const char *bytes;
	gsize length;
} plain_cases[] = {
	{ "", 0 }, { "a", 1 }, { "\x1f", 1 }, { "one\ntwo", 7 }, { "nul\0inside", 10 },
};

START_TEST(reads_plain)
{
	g_autofree char *folder = folder_new();
	g_autofree char *path = g_build_filename(folder, "t.csv", NULL);
	g_autofree char *text = NULL;
	gsize length = 77;

	put(path, plain_cases[_i].bytes, plain_cases[_i].length);
	ck_assert(file_read(path, &text, &length, NULL));
	ck_assert_uint_eq(length, plain_cases[_i].length);
	ck_assert(memcmp(text, plain_cases[_i].bytes, length + 1) == 0);
	folder_remove(folder);
}
END_TEST

START_TEST(reads_a_pipe)
{
	g_autofree char *path = NULL, *text = NULL;
	gsize length = 0;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], "piped", 5), 5);
	close(ends[1]);
	path = g_strdup_printf("/dev/fd/%d", ends[0]);
	ck_assert(file_read(path, &text, &length, NULL));
	ck_assert_str_eq(text, "piped");
	close(ends[0]);
}
END_TEST

START_TEST(says_what_cannot_be_read)
{
	g_autoptr(GError) missing = NULL, folder = NULL, unsummed = NULL;
	char *text = NULL;
	gsize length;

	ck_assert(!file_read("/nonexistent/t.csv", &text, &length, &missing));
	ck_assert(g_error_matches(missing, SIM_ERROR, SIM_ERROR_INPUT));
	ck_assert_str_eq(missing->message,
	                 "/nonexistent/t.csv: cannot be read: No such file or directory");
	ck_assert(!file_read("/", &text, &length, &folder));
	ck_assert_str_eq(folder->message, "/: cannot be read: Is a directory");
	ck_assert(!file_sha256("/nonexistent/t.csv", &unsummed));
	ck_assert(g_error_matches(unsummed, SIM_ERROR, SIM_ERROR_INPUT));
	ck_assert_int_eq(sim_error_exit_status(unsummed), 3);
}
END_TEST

START_TEST(sums_the_bytes_on_disk)
{
	g_autofree char *folder = folder_new();
	g_autofree char *path = g_build_filename(folder, "abc", NULL);
	g_autofree char *sum = NULL;

	put(path, "abc", 3);
	sum = file_sha256(path, NULL);
	ck_assert_str_eq(sum, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	folder_remove(folder);
}
END_TEST

START_TEST(writes_whole_or_not_at_all)
{
	g_autofree char *folder = folder_new();
	g_autofree char *path = g_build_filename(folder, "jobs.csv", NULL);
	g_autofree char *text = NULL;
	g_autoptr(GError) error = NULL;
	OutputFile *file = output_file_open(path, &error);

	g_assert_no_error(error);
	for (guint i = 0; i < 40000; i++) {
		g_string_append_printf(output_file_text(file), "%05u\n", i);
		ck_assert(output_file_flush(file, &error));
		ck_assert_uint_lt(output_file_text(file)->len, 65536);
	}
	ck_assert(!g_file_test(path, G_FILE_TEST_EXISTS));
	ck_assert(output_file_commit(file, &error));
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert_uint_eq(strlen(text), 240000);
	ck_assert_str_eq(text + 239994, "39999\n");
	ck_assert_uint_eq(n_files(folder), 1);
	folder_remove(folder);
}
END_TEST

START_TEST(leaves_nothing_of_what_is_dropped)
{
	g_autofree char *folder = folder_new();
	g_autofree char *path = g_build_filename(folder, "jobs.csv", NULL);
	g_autofree char *text = NULL;
	OutputFile *file;

	put(path, "old", 3);
	file = output_file_open(path, NULL);
	g_string_append(output_file_text(file), "new");
	output_file_free(file);
	output_file_free(NULL);
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert_str_eq(text, "old");
	ck_assert_uint_eq(n_files(folder), 1);
	folder_remove(folder);
}
END_TEST

/* A limit on the file size stands for a full disk: both make write() fail or fall short. */
START_TEST(notices_a_full_disk)
{
	const struct rlimit limit = { 100000, 100000 };
	g_autofree char *folder = folder_new();
	g_autofree char *path = g_build_filename(folder, "jobs.csv", NULL);
	g_autoptr(GError) error = NULL;
	OutputFile *file = output_file_open(path, NULL);

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	g_string_set_size(output_file_text(file), 200000);
	memset(output_file_text(file)->str, 'x', 200000);
	ck_assert(!output_file_commit(file, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_INTERNAL));
	ck_assert(g_str_has_prefix(error->message, path));
	ck_assert_uint_eq(n_files(folder), 0);
	folder_remove(folder);
}
END_TEST

START_TEST(writes_devices_in_place)
{
	g_autoptr(GError) error = NULL;
	struct stat status;
	OutputFile *file = output_file_open("/dev/null", &error);

	g_assert_no_error(error);
	g_string_append(output_file_text(file), "gone");
	ck_assert(output_file_commit(file, &error));
	ck_assert_int_eq(stat("/dev/null", &status), 0);
	ck_assert(S_ISCHR(status.st_mode));

	file = output_file_open("/dev/full", &error);
	g_assert_no_error(error);
	g_string_append(output_file_text(file), "too much");
	ck_assert(!output_file_commit(file, &error));
	ck_assert_str_eq(error->message, "/dev/full: cannot be written: No space left on device");
}
END_TEST

START_TEST(follows_symbolic_links)
{
	g_autofree char *folder = folder_new();
	g_autofree char *path = g_build_filename(folder, "real", NULL);
	g_autofree char *link = g_build_filename(folder, "link", NULL);
	g_autofree char *text = NULL;
	OutputFile *file;

	put(path, "old", 3);
	ck_assert_int_eq(symlink(path, link), 0);
	file = output_file_open(link, NULL);
	g_string_append(output_file_text(file), "new");
	ck_assert(output_file_commit(file, NULL));
	ck_assert(g_file_test(link, G_FILE_TEST_IS_SYMLINK));
	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	ck_assert_str_eq(text, "new");
	folder_remove(folder);
}
END_TEST

START_TEST(says_what_cannot_be_written)
{
	g_autofree char *folder = folder_new();
	g_autofree char *path = g_build_filename(folder, "file", NULL);
	g_autofree char *below = g_build_filename(path, "below", NULL);
	g_autoptr(GError) missing = NULL, no_folder = NULL, is_folder = NULL;

	ck_assert(!output_file_open("/nonexistent/x", &missing));
	ck_assert(g_error_matches(missing, SIM_ERROR, SIM_ERROR_INTERNAL));
	put(path, "", 0);
	ck_assert(!folder_make(below, &no_folder));
	ck_assert(g_error_matches(no_folder, SIM_ERROR, SIM_ERROR_INTERNAL));
	ck_assert(!output_file_commit(output_file_open("/tmp", NULL), &is_folder));
	ck_assert(g_error_matches(is_folder, SIM_ERROR, SIM_ERROR_INTERNAL));
	folder_remove(folder);
}
END_TEST

START_TEST(makes_folders)
{
	g_autofree char *folder = folder_new();
	g_autofree char *a = g_build_filename(folder, "a", NULL);
	g_autofree char *b = g_build_filename(a, "b", NULL);

	ck_assert(folder_make(b, NULL));
	ck_assert(folder_make(b, NULL));
	ck_assert(g_file_test(b, G_FILE_TEST_IS_DIR));
	g_rmdir(b);
	folder_remove(folder);
}
END_TEST

static const struct {
	const char *from, *path, *result;
} beside_cases[] = {
	{ "run.yaml", "trace.csv", "trace.csv" },
	{ "a/run.yaml", "trace.csv", "a/trace.csv" },
	{ "a/run.yaml", "../trace.csv", "a/../trace.csv" },
	{ "/a/b/run.yaml", "c/trace.csv", "/a/b/c/trace.csv" },
	{ "a/run.yaml", "/b/trace.csv", "/b/trace.csv" },
	{ "/run.yaml", "trace.csv", "/trace.csv" },
};

START_TEST(joins_paths)
{
	g_autofree char *result = path_beside(beside_cases[_i].from, beside_cases[_i].path);

	ck_assert_str_eq(result, beside_cases[_i].result);
}
END_TEST

static Suite *
file_suite(void)
{
	Suite *suite = suite_create("file");
	TCase *tests = tcase_create("file");

	tcase_add_loop_test(tests, reads_gzip, 0, G_N_ELEMENTS(gzip_cases));
	tcase_add_test(tests, reads_large_gzip);
	tcase_add_loop_test(tests, reads_plain, 0, G_N_ELEMENTS(plain_cases));
	tcase_add_test(tests, reads_a_pipe);
	tcase_add_test(tests, says_what_cannot_be_read);
	tcase_add_test(tests, sums_the_bytes_on_disk);
	tcase_add_test(tests, writes_whole_or_not_at_all);
	tcase_add_test(tests, leaves_nothing_of_what_is_dropped);
	tcase_add_test(tests, notices_a_full_disk);
	tcase_add_test(tests, writes_devices_in_place);
	tcase_add_test(tests, follows_symbolic_links);
	tcase_add_test(tests, says_what_cannot_be_written);
	tcase_add_test(tests, makes_folders);
	tcase_add_loop_test(tests, joins_paths, 0, G_N_ELEMENTS(beside_cases));
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(file_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
