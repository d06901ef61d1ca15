/* SPDX-License-Identifier: MIT */
#include "traces/trace.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/base/text.h"
#include "traces/clock.h"
#include "traces/csv.h"
#include "traces/native.h"
#include "traces/philly.h"

const TraceFormat *const trace_formats[] = {
	&native_format,
	&philly_csv_format,
	NULL,
};

static const TraceFormat *
format_find(const char *name)
{
	for (guint i = 0; trace_formats[i]; i++)
		if (g_str_equal(trace_formats[i]->name, name))
			return trace_formats[i];
	return NULL;
}

/* "auto" and all names, as a list that ends in NULL. */
static GPtrArray *
format_names(void)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

	g_ptr_array_add(names, g_strdup("auto"));
	for (guint i = 0; trace_formats[i]; i++)
		g_ptr_array_add(names, g_strdup(trace_formats[i]->name));
	g_ptr_array_add(names, NULL);
	return names;
}

static gboolean
refuse_format(const char *name, GError **error)
{
	g_autoptr(GPtrArray) names = format_names();
	g_autofree char *all = g_strjoinv(", ", (char **)names->pdata);
	const char *nearest = text_nearest(name, (const char *const *)names->pdata);

	if (nearest)
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
		            "found the unknown trace format \"%s\", wanted perhaps \"%s\"", name,
		            nearest);
	else
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
		            "found the unknown trace format \"%s\", wanted one of: %s", name, all);
	return FALSE;
}

/* What the user asked for must hold before the file is looked at: the status differs. */
static gboolean
check_options(const TraceOptions *options, GError **error)
{
	g_autoptr(Clock) clock = clock_new(options->time_zone, error);

	if (!clock)
		return FALSE;
	return g_str_equal(options->format, "auto") || format_find(options->format) ||
	       refuse_format(options->format, error);
}

static char *
header_shown(const CsvReader *reader)
{
	const char *const *names = csv_names(reader);
	g_autoptr(GString) joined = g_string_new(names[0]);
	CsvCell cell = { 0 };

	for (guint i = 1; names[i]; i++)
		g_string_append_printf(joined, ",%s", names[i]);
	cell.text = joined->str;
	cell.length = joined->len;
	return csv_cell_shown(&cell);
}

static const TraceFormat *
refuse_header(const CsvReader *reader, const char *path, GError **error)
{
	g_autofree char *header = header_shown(reader);
	const char *hint = "a header such as job_id,submit_time,num_gpus,duration "
	                   "(themis-sim trace --formats lists all)";

	if (csv_n_columns(reader) == 1 && strpbrk(header, ";\t|"))
		hint = "names separated by commas";
	g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT,
	            "%s:%" G_GUINT64_FORMAT
	            ":1: found \"%s\", the header of no known format, wanted %s",
	            path, csv_row_line(reader), header, hint);
	return NULL;
}

/* A header that no format takes, but which names what every native one has, is a native one with
 * something missing: its reader can say what. */
static const TraceFormat *
recognise(const CsvReader *reader, const char *path, GError **error)
{
	const char *const *names = csv_names(reader);

	for (guint i = 0; trace_formats[i]; i++)
		if (trace_formats[i]->recognises(names, csv_n_columns(reader)))
			return trace_formats[i];
	for (guint i = 0; names[i]; i++)
		if (g_strv_contains(native_column_names(), names[i]))
			return &native_format;
	return refuse_header(reader, path, error);
}

static const TraceFormat *
choose_format(const CsvReader *reader, const TraceOptions *options, const char *path,
              GError **error)
{
	if (!g_str_equal(options->format, "auto"))
		return format_find(options->format);
	return recognise(reader, path, error);
}

/* Rows that csv.c left out count as read too. */
static Workload *
finish(WorkloadBuilder *builder, CsvReader *reader, const TraceFormat *format)
{
	Workload *workload = workload_builder_finish(builder);

	workload->n_rows_read = csv_n_rows(reader);
	workload->sha256 = g_strdup(csv_sha256(reader));
	workload->format = g_strdup(format->name);
	return workload;
}

Workload *
trace_read(const char *path, const TraceOptions *options, GError **error)
{
	g_autoptr(Problems) problems = problems_new(path);
	g_autoptr(CsvReader) reader = NULL;
	const TraceFormat *format;
	WorkloadBuilder *builder;

	if (!check_options(options, error))
		return NULL;
	reader = csv_open(path, problems, error);
	if (!reader)
		return NULL;
	format = choose_format(reader, options, path, error);
	if (!format || !csv_refuse_duplicates(reader, error))
		return NULL;
	builder = workload_builder_new(path, problems);
	if (format->read(reader, options, builder, problems, error)) {
		if (problems->n_bad == 0 || options->skip_bad_rows) {
			g_steal_pointer(&problems);
			return finish(builder, reader, format);
		}
		problems_to_error(problems, error);
	}
	workload_builder_free(builder);
	return NULL;
}
