/* SPDX-License-Identifier: MIT */
#include "tests/trace_text.h"

#include <string.h>

#include <check.h>
#include <glib/gstdio.h>
#include <zlib.h>

#include "traces/write_native.h"

void
enter_test_folder(void)
{
	g_autofree char *folder = g_dir_make_tmp("themis-sim-test-XXXXXX", NULL);

	ck_assert_ptr_nonnull(folder);
	ck_assert_int_eq(g_chdir(folder), 0);
}

void
leave_test_folder(void)
{
	g_autofree char *folder = g_get_current_dir();
	g_autoptr(GDir) files = g_dir_open(folder, 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(files)))
		ck_assert_int_eq(g_remove(name), 0);
	ck_assert_int_eq(g_chdir("/"), 0);
	ck_assert_int_eq(g_rmdir(folder), 0);
}

void
put_bytes(const char *name, const void *bytes, gsize length)
{
	ck_assert(g_file_set_contents(name, bytes, (gssize)length, NULL));
}

void
put_text(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

GByteArray *
gzip_bytes(const char *text)
{
	gsize length = strlen(text);
	GByteArray *bytes = g_byte_array_new();
	z_stream stream = { 0 };

	/* 16 asks for gzip framing. */
	ck_assert_int_eq(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
	                 Z_OK);
	g_byte_array_set_size(bytes, (guint)deflateBound(&stream, length));
	stream.next_in = (Bytef *)(guintptr)text;
	stream.avail_in = (uInt)length;
	stream.next_out = bytes->data;
	stream.avail_out = bytes->len;
	ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
	g_byte_array_set_size(bytes, (guint)stream.total_out);
	deflateEnd(&stream);
	return bytes;
}

void
put_gzip(const char *name, const char *text)
{
	g_autoptr(GByteArray) bytes = gzip_bytes(text);

	put_bytes(name, bytes->data, bytes->len);
}

static void
append_lines(GString *out, const char *prefix, const GPtrArray *lines)
{
	for (guint i = 0; i < lines->len; i++)
		g_string_append_printf(out, "%s: %s\n", prefix,
		                       (const char *)g_ptr_array_index(lines, i));
}

char *
read_to_text(const char *path, const TraceOptions *options)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(Workload) workload = trace_read(path, options, &error);
	GString *out = g_string_new(NULL);

	ck_assert((workload == NULL) == (error != NULL));
	if (workload) {
		trace_append_native(out, workload);
		append_lines(out, "notice", workload->problems->notices);
		append_lines(out, "bad", workload->problems->texts);
	} else {
		g_string_append_printf(out, "error %d: %s\n", error->code, error->message);
	}
	return g_string_free(out, FALSE);
}

char *
trace_to_text(const char *text, const char *time_zone, gboolean skip_bad_rows)
{
	const TraceOptions options = { "auto", time_zone, skip_bad_rows };

	put_text("t.csv", text);
	return read_to_text("t.csv", &options);
}

char *
project_file(const char *path)
{
	const char *root = g_getenv("THEMIS_ROOT");

	ck_assert_msg(root != NULL, "THEMIS_ROOT is not set: run the tests by make check");
	return g_build_filename(root, path, NULL);
}
