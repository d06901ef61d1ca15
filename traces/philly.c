/* SPDX-License-Identifier: MIT */
#include "traces/philly.h"

#include "sim/base/error.h"
#include "sim/base/text.h"
#include "traces/field.h"

#define PHILLY_COLUMNS(COLUMN)                                                    \
	COLUMN(TIMESTAMP, "timestamp", "date-time", "when the job was submitted") \
	COLUMN(DURATION, "duration", "s", "run time")                             \
	COLUMN(NUM_GPUS, "num_gpus", "GPUs", "the gang")                          \
	COLUMN(GPU_TIME, "gpu_time", "GPU-s",                                     \
	       "duration x num_gpus; a row that differs is noticed")              \
	COLUMN(CLUSTER, "cluster", "text", "the virtual cluster; becomes the tenant")

#define COLUMN_ID(id, name, unit, meaning)   COLUMN_##id,
#define COLUMN_NAME(id, name, unit, meaning) name,
#define COLUMN_TEXT(id, name, unit, meaning) name "\t" unit "\t" meaning "\n"

typedef enum ColumnId {
	PHILLY_COLUMNS(COLUMN_ID) /* */
	N_COLUMNS,
} ColumnId;

static const char *const column_names[] = { PHILLY_COLUMNS(COLUMN_NAME) NULL };

typedef struct PhillyReader {
	CsvReader *csv;
	WorkloadBuilder *builder;
	Clock *clock;
	InstantForm form;
	guint cells[N_COLUMNS];
	GString *name; /* of the row's job */
} PhillyReader;

static gboolean
philly_recognises(const char *const *cells, guint n_cells)
{
	if (n_cells != N_COLUMNS)
		return FALSE;
	for (ColumnId id = 0; id < N_COLUMNS; id++)
		if (!g_strv_contains(cells, column_names[id]))
			return FALSE;
	return TRUE;
}

static gboolean
find_columns(PhillyReader *reader, const char *path, GError **error)
{
	for (ColumnId id = 0; id < N_COLUMNS; id++) {
		if (csv_find(reader->csv, column_names[id], &reader->cells[id]))
			continue;
		g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT,
		            "%s:%" G_GUINT64_FORMAT ":1: found no column \"%s\", wanted it", path,
		            csv_row_line(reader->csv), column_names[id]);
		return FALSE;
	}
	return TRUE;
}

static gboolean
require_cells(PhillyReader *reader)
{
	for (ColumnId id = 0; id < COLUMN_GPU_TIME; id++) {
		if (!field_is_empty(reader->csv, reader->cells[id]))
			continue;
		csv_complain(reader->csv, reader->cells[id], "empty cell",
		             "found nothing for %s, wanted a value", column_names[id]);
		return FALSE;
	}
	return TRUE;
}

/* The column is what was computed from two others, so it can only tell that one of them is off. */
static gboolean
check_gpu_time(PhillyReader *reader, const JobDraft *draft)
{
	guint cell = reader->cells[COLUMN_GPU_TIME];
	GpuTime expected = (GpuTime)draft->duration_ns * draft->num_gpus;
	gint64 gpu_time_ns;
	g_autofree char *shown = NULL;

	if (field_is_empty(reader->csv, cell))
		return TRUE;
	if (!field_span(reader->csv, cell, SCALE_S, &gpu_time_ns))
		return FALSE;
	if (gpu_time_ns == expected)
		return TRUE;
	shown = csv_cell_shown(&csv_cells(reader->csv)[cell]);
	csv_notice(reader->csv, cell, "gpu_time differs from duration x num_gpus",
	           "found \"%s\" for gpu_time, which is not duration x num_gpus; it is not used",
	           shown);
	return TRUE;
}

static gboolean
read_cells(PhillyReader *reader, JobDraft *draft)
{
	CsvReader *csv = reader->csv;
	gint64 num_gpus;

	if (!require_cells(reader) ||
	    !field_instant(csv, reader->cells[COLUMN_TIMESTAMP], SCALE_S, FALSE, reader->clock,
	                   &reader->form, &draft->submit_ns) ||
	    !field_span(csv, reader->cells[COLUMN_DURATION], SCALE_S, &draft->duration_ns) ||
	    !field_whole(csv, reader->cells[COLUMN_NUM_GPUS], 0, MAX_JOB_GPUS, &num_gpus))
		return FALSE;
	draft->num_gpus = (guint32)num_gpus;
	return check_gpu_time(reader, draft);
}

/* The builder can complain of times alone. */
static gboolean
find_cell(const void *self, DraftField field, guint64 *ret_line, guint *ret_column)
{
	const PhillyReader *reader = self;
	gboolean is_known = field == DRAFT_SUBMIT || field == DRAFT_DURATION;
	guint cell = reader->cells[field == DRAFT_SUBMIT ? COLUMN_TIMESTAMP : COLUMN_DURATION];

	if (!is_known)
		return FALSE;
	*ret_line = csv_cell_line(reader->csv, cell);
	*ret_column = csv_cell_column(reader->csv, cell);
	return TRUE;
}

/* Jobs have no ids: each is called by the number of its row, bad ones counted, so that a name
 * stays what it is when rows are left out. */
static void
read_row(PhillyReader *reader)
{
	JobDraft draft;

	job_draft_init(&draft);
	draft.line = csv_row_line(reader->csv);
	g_string_printf(reader->name, "%" G_GUINT64_FORMAT, csv_n_rows(reader->csv));
	draft.name = reader->name->str;
	draft.tenant = csv_cells(reader->csv)[reader->cells[COLUMN_CLUSTER]].text;
	if (read_cells(reader, &draft))
		workload_builder_add(reader->builder, &draft);
}

static gboolean
philly_read(CsvReader *csv, const TraceOptions *options, WorkloadBuilder *builder,
            Problems *problems, GError **error)
{
	g_autoptr(Clock) clock = clock_new(options->time_zone, error);
	g_autoptr(GString) name = g_string_new(NULL);
	PhillyReader reader = { .csv = csv, .builder = builder, .clock = clock, .name = name };
	CsvVerdict verdict;

	if (!clock || !find_columns(&reader, problems->path, error))
		return FALSE;
	workload_builder_set_finder(builder, find_cell, &reader);
	while ((verdict = csv_next(csv, error)) == CSV_ROW)
		read_row(&reader);
	workload_builder_set_finder(builder, NULL, NULL);
	return verdict == CSV_END;
}

const TraceFormat philly_csv_format = {
	.name = "philly-csv",
	.summary = "Microsoft Philly as the artifact of Sia has it, without ids",
	.columns = PHILLY_COLUMNS(COLUMN_TEXT),
	.recognises = philly_recognises,
	.read = philly_read,
};
