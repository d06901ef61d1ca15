/* SPDX-License-Identifier: MIT */
#include "traces/trace.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/base/yaml.h"
#include "traces/clock.h"
#include "traces/csv.h"
#include "traces/native.h"
#include "traces/philly.h"
#include "traces/source.h"
#include "traces/themis.h"

const TraceFormat *const trace_formats[] = {
	&native_format,
	&philly_csv_format,
	&themis_format,
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
		if (trace_formats[i]->recognises &&
		    trace_formats[i]->recognises(names, csv_n_columns(reader)))
			return trace_formats[i];
	for (guint i = 0; names[i]; i++)
		if (g_strv_contains(native_column_names(), names[i]))
			return &native_format;
	return refuse_header(reader, path, error);
}

/* The first byte that is no blank says what a file is: a CSV header begins with a name. */
static gboolean
looks_like_json(ByteSource *source, gboolean *ret_is_json, GError **error)
{
	char head[64];
	gsize n = 0, n_read = 1;

	while (n < sizeof(head) && n_read > 0) {
		if (!byte_source_read(source, head + n, sizeof(head) - n, &n_read, error))
			return FALSE;
		n += n_read;
	}
	byte_source_unread(source, head, n);
	*ret_is_json = FALSE;
	for (gsize i = 0; i < n; i++) {
		if (g_ascii_isspace(head[i]))
			continue;
		*ret_is_json = head[i] == '[' || head[i] == '{';
		break;
	}
	return TRUE;
}

static const TraceFormat *
json_format(void)
{
	for (guint i = 0; trace_formats[i]; i++)
		if (trace_formats[i]->read_json)
			return trace_formats[i];
	g_assert_not_reached();
}

/* The format that was asked for, the only JSON one, or NULL: what a CSV is, its header says. */
static gboolean
choose_format(ByteSource *source, const TraceOptions *options, const TraceFormat **ret_format,
              GError **error)
{
	gboolean is_json;

	*ret_format = format_find(options->format);
	if (*ret_format)
		return TRUE;
	if (!looks_like_json(source, &is_json, error))
		return FALSE;
	if (is_json)
		*ret_format = json_format();
	return TRUE;
}

/* Takes @builder and the Problems in it, unless the file is refused: then it frees the one. */
static Workload *
finish(WorkloadBuilder *builder, Problems **problems, const TraceOptions *options, GError **error)
{
	if ((*problems)->n_bad == 0 || options->skip_bad_rows) {
		g_steal_pointer(problems);
		return workload_builder_finish(builder);
	}
	problems_to_error(*problems, error);
	workload_builder_free(builder);
	return NULL;
}

/* Rows that csv.c left out count as read too. */
static Workload *
read_csv(ByteSource *source, const TraceFormat *format, const TraceOptions *options,
         Problems **problems, GError **error)
{
	const char *path = (*problems)->path;
	g_autoptr(CsvReader) reader = csv_open_source(source, path, *problems, error);
	WorkloadBuilder *builder;
	Workload *workload;

	if (!reader)
		return NULL;
	if (!format)
		format = recognise(reader, path, error);
	if (!format || !csv_refuse_duplicates(reader, error))
		return NULL;
	builder = workload_builder_new(path, *problems);
	if (!format->read(reader, options, builder, *problems, error)) {
		workload_builder_free(builder);
		return NULL;
	}
	workload = finish(builder, problems, options, error);
	if (!workload)
		return NULL;
	workload->n_rows_read = csv_n_rows(reader);
	workload->sha256 = g_strdup(csv_sha256(reader));
	workload->format = g_strdup(format->name);
	return workload;
}

static gboolean
read_text(ByteSource *source, GString *text, GError **error)
{
	char buffer[4096];
	gsize n = 1;

	while (n > 0) {
		if (!byte_source_read(source, buffer, sizeof(buffer), &n, error))
			return FALSE;
		g_string_append_len(text, buffer, (gssize)n);
	}
	return TRUE;
}

/* Takes @given, as read_csv() does. */
static Workload *
read_json(ByteSource *given, const TraceFormat *format, const TraceOptions *options,
          Problems **problems, GError **error)
{
	g_autoptr(ByteSource) source = given;
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(YamlDocument) document = NULL;
	const YamlNode *root;
	WorkloadBuilder *builder;
	Workload *workload;

	if (!read_text(source, text, error))
		return NULL;
	document = yaml_parse(text->str, text->len, *problems, error);
	if (!document)
		return NULL;
	builder = workload_builder_new((*problems)->path, *problems);
	root = yaml_root(document);
	format->read_json(root, builder, *problems);
	workload = finish(builder, problems, options, error);
	if (!workload)
		return NULL;
	workload->n_rows_read = yaml_kind(root) == YAML_LIST ? yaml_n(root) : 0;
	workload->sha256 = g_strdup(byte_source_sha256(source));
	workload->format = g_strdup(format->name);
	return workload;
}

Workload *
trace_read(const char *path, const TraceOptions *options, GError **error)
{
	g_autoptr(Problems) problems = problems_new(path);
	g_autoptr(ByteSource) source = NULL;
	const TraceFormat *format;

	if (!check_options(options, error))
		return NULL;
	source = byte_source_open(path, error);
	if (!source || !choose_format(source, options, &format, error))
		return NULL;
	if (format && format->read_json)
		return read_json(g_steal_pointer(&source), format, options, &problems, error);
	return read_csv(g_steal_pointer(&source), format, options, &problems, error);
}
