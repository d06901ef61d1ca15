/* SPDX-License-Identifier: MIT */
#pragma once

/* Traces from texts, for the tests of what reads them. */

#include "traces/trace.h"

/* Fixtures: each test has an empty folder of its own as its working directory. */
void enter_test_folder(void);
void leave_test_folder(void);

void put_bytes(const char *name, const void *bytes, gsize length);
void put_text(const char *name, const char *text);
void put_gzip(const char *name, const char *text);

/* One gzip member. */
GByteArray *gzip_bytes(const char *text);

/* All there is to say of a reading: the trace as native CSV, a line "notice: ..." each, a line
 * "bad: ..." for each row left out; or a line "error STATUS: ...". Free with g_free(). */
char *read_to_text(const char *path, const TraceOptions *options);

/* Likewise, of @text as the file t.csv. */
char *trace_to_text(const char *text, const char *time_zone, gboolean skip_bad_rows);

/* A file of the project; free with g_free(). */
char *project_file(const char *path);
