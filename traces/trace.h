/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Public trace formats, one a file, read into a Workload. A format is a static table; registry.c
 * lists them by hand. Reading lists every problem of the file (file:line:column: found, wanted).
 */

#include "sim/model/workload.h"

typedef struct TraceOptions {
	const char *format; /* "auto" or a format's name */
	const char
	    *time_zone; /* IANA name for date-times without an offset; NULL = not given (UTC) */
	gboolean
	    skip_bad_rows; /* leave bad rows out and count them, instead of refusing the file */
} TraceOptions;

typedef struct CsvReader CsvReader; /* traces/csv.h */
typedef struct YamlNode YamlNode;   /* sim/base/yaml.h */

typedef struct TraceFormat {
	const char *name;
	const char *summary;
	const char *columns; /* documentation, a line each: column, unit, meaning */
	/* Of a CSV format: whether a header of these cells is its own. */
	gboolean (*recognises)(const char *const *cells, guint n_cells);
	/* Likewise: reads every row into @builder; FALSE only where going on is senseless. */
	gboolean (*read)(CsvReader *reader, const TraceOptions *options, WorkloadBuilder *builder,
	                 Problems *problems, GError **error);
	/* Of a JSON format, which has neither of the two above: reads every job of the document. */
	void (*read_json)(const YamlNode *root, WorkloadBuilder *builder, Problems *problems);
} TraceFormat;

/* NULL-terminated, the native format first. */
extern const TraceFormat *const trace_formats[];

/* SIM_ERROR_INPUT: the file cannot be read, has no header, is of no known format, or has bad rows
 * and skip_bad_rows is not set. SIM_ERROR_USAGE: unknown format (with the nearest known one) or
 * time zone. */
Workload *trace_read(const char *path, const TraceOptions *options, GError **error);

/* The native CSV of a workload; exactly what trace_read() needs to build an equal one. */
gboolean trace_write_native(const Workload *workload, const char *path, GError **error);
