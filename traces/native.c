/* SPDX-License-Identifier: MIT */
#include "traces/native.h"

#include <stddef.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/text.h"
#include "traces/field.h"

/*
 * The one list of columns: its rows are read by the kind of their column, documented by `trace
 * --formats`, and found again on docs/trace-format.md by a test.
 *   id, name, kind, field of NativeRow, least, largest, unit, meaning
 */
#define NATIVE_COLUMNS(COLUMN)                                                                     \
	COLUMN(JOB_ID, "job_id", TEXT, draft.name, 0, 0, "text",                                   \
	       "required; an id of its own, which comes back verbatim")                            \
	COLUMN(SUBMIT_TIME, "submit_time", INSTANT, draft.submit_ns, 0, 0, "time",                 \
	       "required; when the job joins the queue")                                           \
	COLUMN(NUM_GPUS, "num_gpus", COUNT, draft.num_gpus, 0, MAX_JOB_GPUS, "GPUs",               \
	       "required unless there are workers and gpus_per_worker; the gang, 0 to 16777216")   \
	COLUMN(DURATION, "duration", SPAN, draft.duration_ns, 0, 0, "time span",                   \
	       "required unless there are start_time and end_time; run time alone on num_gpus "    \
	       "GPUs, ideally placed")                                                             \
	COLUMN(START_TIME, "start_time", INSTANT, start_ns, 0, 0, "time",                          \
	       "with end_time instead of duration")                                                \
	COLUMN(END_TIME, "end_time", INSTANT, end_ns, 0, 0, "time",                                \
	       "not before start_time; end_time - start_time is used where duration is given too") \
	COLUMN(APP_ID, "app_id", TEXT, draft.app, 0, 0, "text",                                    \
	       "the app of the job; without one the job is an app of its own")                     \
	COLUMN(USER, "user", TEXT, draft.user, 0, 0, "text", "who asked for it")                   \
	COLUMN(TENANT, "tenant", TEXT, draft.tenant, 0, 0, "text", "the user's virtual cluster")   \
	COLUMN(GROUP, "group", TEXT, draft.group, 0, 0, "text", "another label of the user")       \
	COLUMN(MODEL, "model", TEXT, draft.model, 0, 0, "text",                                    \
	       "a name in the file of models; without one all placements are equal to the job")    \
	COLUMN(SLOWDOWN, "slowdown", SLOWDOWN, draft.slowdown_ppb, 0, 0, "numbers",                \
	       "of that model on a slot/machine/rack/cluster, as 1/1/1.25/1.5; the same in all "   \
	       "rows of a model")                                                                  \
	COLUMN(GPU_TYPE, "gpu_type", TEXT, draft.gpu_type, 0, 0, "text",                           \
	       "types that will do, joined by |; empty or nan is any")                             \
	COLUMN(GPU_SHARE, "gpu_share", MILLI, draft.share_milli, 1, GPU_MILLI, "GPUs",             \
	       "a part of one GPU, 0.001 to 1 in thousandths; needs num_gpus 1")                   \
	COLUMN(GPU_MEM_MIB, "gpu_mem_mib", COUNT, draft.gpu_mem_mib, 0, G_MAXINT32, "MiB",         \
	       "memory on each GPU, 0 to 2147483647")                                              \
	COLUMN(CPUS, "cpus", MILLI, draft.cpus_milli, 0, G_MAXINT32, "CPUs",                       \
	       "of the whole job in thousandths, 0 to 2147483.647")                                \
	COLUMN(MEM_MIB, "mem_mib", LARGE, draft.mem_mib, 0, G_GINT64_CONSTANT(1) << 50, "MiB",     \
	       "host memory of the whole job, 0 to 2^50")                                          \
	COLUMN(PRIORITY, "priority", SIGNED, draft.priority, 0, 0, "number",                       \
	       "a whole number of either sign; a larger one is more urgent")                       \
	COLUMN(WEIGHT, "weight", WEIGHT, draft.weight, 1, NS_PER_S * 1000000, "number",            \
	       "0.000000001 to 1000000; 1 where not given")                                        \
	COLUMN(DEADLINE, "deadline", INSTANT, draft.deadline_ns, 0, 0, "time",                     \
	       "when it should be done")                                                           \
	COLUMN(TIME_LIMIT, "time_limit", LIMIT, draft.time_limit_ns, 0, 0, "time span",            \
	       "run time at which it is stopped; 0, none or empty is no limit")                    \
	COLUMN(ITERATION, "iteration", SPAN, draft.iteration_ns, 0, 0, "time span",                \
	       "one iteration of the training on num_gpus GPUs, ideally placed; 0 is unknown")     \
	COLUMN(MIN_GPUS, "min_gpus", COUNT, draft.min_gpus, 1, MAX_JOB_GPUS, "GPUs",               \
	       "the least it can run on, 1 to num_gpus; 1 where only max_gpus is given")           \
	COLUMN(MAX_GPUS, "max_gpus", COUNT, draft.max_gpus, 1, MAX_JOB_GPUS, "GPUs",               \
	       "the most it can use, num_gpus to 16777216; num_gpus where not given")              \
	COLUMN(WORKERS, "workers", COUNT, draft.workers, 1, MAX_JOB_GPUS, "number",                \
	       "parts of the gang, 1 to 16777216; num_gpus = workers x gpus_per_worker")           \
	COLUMN(GPUS_PER_WORKER, "gpus_per_worker", COUNT, draft.gpus_per_worker, 1, MAX_JOB_GPUS,  \
	       "GPUs", "of one worker, all in one machine, 1 to 16777216")                         \
	COLUMN(STATE, "state", TEXT, draft.state, 0, 0, "text",                                    \
	       "how the job ended where it was recorded; copied to trace_state, changes nothing")  \
	COLUMN(KIND, "kind", TEXT, draft.kind, 0, 0, "text", "a label of the job")                 \
	COLUMN(TUNER, "tuner", TEXT, draft.tuner, 0, 0, "text",                                    \
	       "who stops jobs of the app early; all rows of an app that give one agree")          \
	COLUMN(LOSS_CURVE, "loss_curve", LOSS, draft.loss, 0, 0, "START:END:HALF_S",               \
	       "loss(w) = END + (START - END) / (1 + w / HALF_S) after w seconds of work; needed " \
	       "where the app has a tuner")

typedef enum ColumnKind {
	KIND_TEXT,     /* const char * */
	KIND_COUNT,    /* guint32 */
	KIND_LARGE,    /* guint64 */
	KIND_MILLI,    /* guint32, thousandths */
	KIND_SIGNED,   /* gint64 */
	KIND_WEIGHT,   /* double, read in billionths so that it is the same when written again */
	KIND_INSTANT,  /* gint64 */
	KIND_SPAN,     /* gint64 */
	KIND_SLOWDOWN, /* gint64[N_LEVELS] */
	KIND_LIMIT,    /* as KIND_SPAN, or none */
	KIND_LOSS,     /* LossCurve */
} ColumnKind;

#define COLUMN_ID(id, name, kind, field, least, largest, unit, meaning)   COLUMN_##id,
#define COLUMN_NAME(id, name, kind, field, least, largest, unit, meaning) name,
#define COLUMN_TEXT(id, name, kind, field, least, largest, unit, meaning) \
	name "\t" unit "\t" meaning "\n"
#define COLUMN_ROW(id, name, kind, field, least, largest, unit, meaning) \
	{ name, KIND_##kind, offsetof(NativeRow, field), least, largest },

typedef enum ColumnId {
	NATIVE_COLUMNS(COLUMN_ID) /* */
	N_COLUMNS,
} ColumnId;

typedef struct NativeRow {
	JobDraft draft;
	gint64 start_ns, end_ns;
	guint32 given; /* bit i: the cell of column i is not empty */
} NativeRow;

G_STATIC_ASSERT(N_COLUMNS <= 32);

/* A column as its row in the list says; @offset is of its field in NativeRow. */
typedef struct NativeColumn {
	const char *name;
	ColumnKind kind;
	gsize offset;
	gint64 least, largest;
} NativeColumn;

static const NativeColumn columns[] = { NATIVE_COLUMNS(COLUMN_ROW) };

static const char *const column_names[] = { NATIVE_COLUMNS(COLUMN_NAME) NULL };

/* A column of the file that means something. */
typedef struct UsedColumn {
	ColumnId id;
	guint cell;
	TimeScale scale;
	gboolean has_unit; /* in its name */
	InstantForm form;
} UsedColumn;

typedef struct NativeReader {
	CsvReader *csv;
	WorkloadBuilder *builder;
	Clock *clock;
	guint n_used;
	UsedColumn used[N_COLUMNS];         /* in the file's order */
	const UsedColumn *by_id[N_COLUMNS]; /* NULL if the file has no such column */
} NativeReader;

const char *const *
native_column_names(void)
{
	return column_names;
}

static gboolean
is_time(ColumnKind kind)
{
	return kind == KIND_INSTANT || kind == KIND_SPAN || kind == KIND_LIMIT;
}

/* Only times can have their unit in the name. */
static gboolean
column_is_named(ColumnId id, const char *name, TimeScale *ret_scale)
{
	if (is_time(columns[id].kind))
		return time_scale_of(name, columns[id].name, ret_scale);
	*ret_scale = 0;
	return g_str_equal(name, columns[id].name);
}

static gboolean
has_column(const char *const *names, ColumnId id)
{
	TimeScale unused_scale;

	for (; *names; names++)
		if (column_is_named(id, *names, &unused_scale))
			return TRUE;
	return FALSE;
}

const char *
native_missing_column(const char *const *names)
{
	if (!has_column(names, COLUMN_JOB_ID))
		return columns[COLUMN_JOB_ID].name;
	if (!has_column(names, COLUMN_SUBMIT_TIME))
		return columns[COLUMN_SUBMIT_TIME].name;
	if (!has_column(names, COLUMN_NUM_GPUS) &&
	    !(has_column(names, COLUMN_WORKERS) && has_column(names, COLUMN_GPUS_PER_WORKER)))
		return columns[COLUMN_NUM_GPUS].name;
	if (!has_column(names, COLUMN_DURATION) &&
	    !(has_column(names, COLUMN_START_TIME) && has_column(names, COLUMN_END_TIME)))
		return columns[COLUMN_DURATION].name;
	return NULL;
}

static gboolean
native_recognises(const char *const *cells, guint n_cells)
{
	return !native_missing_column(cells);
}

/* header */

static gboolean
find_column(const char *name, UsedColumn *ret_used)
{
	for (ColumnId id = 0; id < N_COLUMNS; id++) {
		UsedColumn used = { .id = id };

		if (!column_is_named(id, name, &used.scale))
			continue;
		used.has_unit = !g_str_equal(name, columns[id].name);
		*ret_used = used;
		return TRUE;
	}
	return FALSE;
}

/* The column that was perhaps meant: of those that say nothing, the nearest to the missing name. */
static gboolean
find_meant(const NativeReader *reader, const char *missing, guint *ret_cell)
{
	const char *const *names = csv_names(reader->csv);
	g_autoptr(GPtrArray) unknown = g_ptr_array_new(); /* of const char * */
	const char *nearest;
	UsedColumn unused;

	for (guint i = 0; names[i]; i++)
		if (!find_column(names[i], &unused))
			g_ptr_array_add(unknown, (gpointer)(guintptr)names[i]);
	g_ptr_array_add(unknown, NULL);
	nearest = text_nearest(missing, (const char *const *)unknown->pdata);
	return nearest && csv_find(reader->csv, nearest, ret_cell);
}

static gboolean
refuse_missing(const NativeReader *reader, const char *path, const char *missing, GError **error)
{
	g_autofree char *hint = NULL;
	guint cell = 0;

	if (find_meant(reader, missing, &cell))
		hint = g_strdup_printf(" (perhaps \"%s\" is meant)", csv_names(reader->csv)[cell]);
	g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT,
	            "%s:%" G_GUINT64_FORMAT ":%u: found no column \"%s\", wanted it%s", path,
	            csv_row_line(reader->csv), csv_cell_column(reader->csv, cell), missing,
	            hint ? hint : "");
	return FALSE;
}

/* `duration` and `duration_ms`: csv.c sees two names, but it is one column. */
static gboolean
refuse_second(const NativeReader *reader, const char *path, guint cell, const UsedColumn *first,
              GError **error)
{
	const char *const *names = csv_names(reader->csv);

	g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT,
	            "%s:%" G_GUINT64_FORMAT
	            ":%u: found the column \"%s\" beside \"%s\", wanted one of "
	            "them",
	            path, csv_row_line(reader->csv), csv_cell_column(reader->csv, cell),
	            names[cell], names[first->cell]);
	return FALSE;
}

/* A mistyped column would otherwise be left out in silence, as if it had said nothing. */
static void
append_unknown(GString *unknown, const char *name)
{
	const char *nearest = text_nearest(name, column_names);

	g_string_append_printf(unknown, "%s\"%s\"", unknown->len > 0 ? ", " : "", name);
	if (nearest)
		g_string_append_printf(unknown, " (perhaps \"%s\" is meant)", nearest);
}

static gboolean
use_columns(NativeReader *reader, Problems *problems, GError **error)
{
	const char *const *names = csv_names(reader->csv);
	g_autoptr(GString) unknown = g_string_new(NULL);
	guint first_unknown = 0;

	for (guint i = 0; names[i]; i++) {
		UsedColumn *used = &reader->used[reader->n_used];
		UsedColumn found;

		if (!find_column(names[i], &found)) {
			if (unknown->len == 0)
				first_unknown = i;
			append_unknown(unknown, names[i]);
			continue;
		}
		if (reader->by_id[found.id])
			return refuse_second(reader, problems->path, i, reader->by_id[found.id],
			                     error);
		found.cell = i;
		*used = found;
		reader->by_id[found.id] = used;
		reader->n_used++;
	}
	if (unknown->len > 0)
		csv_notice(reader->csv, first_unknown, "unknown column",
		           "found columns that are not read: %s", unknown->str);
	return TRUE;
}

/* cells */

static gboolean
read_text(const CsvReader *csv, guint cell, const char **ret_text)
{
	*ret_text = csv_cells(csv)[cell].text;
	return TRUE;
}

static gboolean
read_number32(CsvReader *csv, guint cell, guint scale, const NativeColumn *column,
              guint32 *ret_number)
{
	gint64 number;

	if (!field_scaled(csv, cell, scale, column->least, column->largest, &number))
		return FALSE;
	*ret_number = (guint32)number;
	return TRUE;
}

static gboolean
read_number64(CsvReader *csv, guint cell, const NativeColumn *column, guint64 *ret_number)
{
	gint64 number;

	if (!field_whole(csv, cell, column->least, column->largest, &number))
		return FALSE;
	*ret_number = (guint64)number;
	return TRUE;
}

static gboolean
read_weight(CsvReader *csv, guint cell, const NativeColumn *column, double *ret_weight)
{
	gint64 billionths;

	if (!field_scaled(csv, cell, 9, column->least, column->largest, &billionths))
		return FALSE;
	*ret_weight = (double)billionths / 1e9;
	return TRUE;
}

/* B11: `none` is no limit, as the 0 that the draft has from the start. */
static gboolean
read_limit(CsvReader *csv, const UsedColumn *used, gint64 *ret_limit_ns)
{
	return g_str_equal(csv_cells(csv)[used->cell].text, "none") ||
	       field_span(csv, used->cell, used->scale, ret_limit_ns);
}

/* One number a level, none below the one before. */
static gboolean
parse_slowdown(const char *text, gint64 ret_ppb[N_LEVELS])
{
	g_auto(GStrv) parts = g_strsplit(text, "/", N_LEVELS + 1);
	gint64 before_ppb = SPEED_ONE_PPB;

	if (g_strv_length(parts) != N_LEVELS)
		return FALSE;
	for (guint i = 0; i < N_LEVELS; i++) {
		DecimalVerdict verdict = decimal_parse(parts[i], strlen(parts[i]), 9, &ret_ppb[i]);

		if (verdict != DECIMAL_OK || ret_ppb[i] < before_ppb ||
		    ret_ppb[i] > SLOWDOWN_MAX_PPB)
			return FALSE;
		before_ppb = ret_ppb[i];
	}
	return TRUE;
}

static gboolean
read_slowdown(CsvReader *csv, guint cell, gint64 ret_ppb[N_LEVELS])
{
	gint64 slowdown_ppb[N_LEVELS];
	g_autofree char *shown = NULL;

	if (parse_slowdown(csv_cells(csv)[cell].text, slowdown_ppb)) {
		memcpy(ret_ppb, slowdown_ppb, sizeof(slowdown_ppb));
		return TRUE;
	}
	shown = csv_cell_shown(&csv_cells(csv)[cell]);
	csv_complain(csv, cell, "bad slowdown",
	             "found \"%s\" for slowdown, wanted four numbers from 1 to 1000000, as "
	             "1/1/1.25/1.5, none below the one before",
	             shown);
	return FALSE;
}

static gboolean
read_loss(CsvReader *csv, guint cell, LossCurve *ret_curve)
{
	g_autofree char *shown = NULL;

	if (loss_curve_parse(csv_cells(csv)[cell].text, ret_curve))
		return TRUE;
	shown = csv_cell_shown(&csv_cells(csv)[cell]);
	csv_complain(csv, cell, "bad loss_curve",
	             "found \"%s\" for loss_curve, wanted START:END:HALF_S, as in 2.3:0.4:600, "
	             "losses from 0 to 1000000",
	             shown);
	return FALSE;
}

static gboolean
read_cell(NativeReader *reader, UsedColumn *used, NativeRow *row)
{
	const NativeColumn *column = &columns[used->id];
	void *field = (char *)row + column->offset;

	switch (column->kind) {
	case KIND_TEXT:
		return read_text(reader->csv, used->cell, field);
	case KIND_COUNT:
		return read_number32(reader->csv, used->cell, 0, column, field);
	case KIND_MILLI:
		return read_number32(reader->csv, used->cell, 3, column, field);
	case KIND_LARGE:
		return read_number64(reader->csv, used->cell, column, field);
	case KIND_SIGNED:
		return field_signed(reader->csv, used->cell, field);
	case KIND_WEIGHT:
		return read_weight(reader->csv, used->cell, column, field);
	case KIND_INSTANT:
		return field_instant(reader->csv, used->cell, used->scale, used->has_unit,
		                     reader->clock, &used->form, field);
	case KIND_SPAN:
		return field_span(reader->csv, used->cell, used->scale, field);
	case KIND_SLOWDOWN:
		return read_slowdown(reader->csv, used->cell, field);
	case KIND_LIMIT:
		return read_limit(reader->csv, used, field);
	case KIND_LOSS:
		return read_loss(reader->csv, used->cell, field);
	}
	g_assert_not_reached();
}

/* One complaint a row, so that reasons add up to the rows that were left out. */
static gboolean
read_cells(NativeReader *reader, NativeRow *row)
{
	for (guint i = 0; i < reader->n_used; i++) {
		UsedColumn *used = &reader->used[i];

		if (field_is_empty(reader->csv, used->cell))
			continue;
		row->given |= 1u << used->id;
		if (!read_cell(reader, used, row))
			return FALSE;
	}
	return TRUE;
}

/* rows */

static gboolean
is_given(const NativeRow *row, ColumnId id)
{
	return (row->given >> id) & 1;
}

static gboolean
require(NativeReader *reader, const NativeRow *row, ColumnId id)
{
	guint cell;

	if (is_given(row, id))
		return TRUE;
	cell = reader->by_id[id]->cell;
	csv_complain(reader->csv, cell, "empty cell", "found nothing for %s, wanted a value",
	             csv_names(reader->csv)[cell]);
	return FALSE;
}

static char *
cell_of(const NativeReader *reader, ColumnId id)
{
	return csv_cell_shown(&csv_cells(reader->csv)[reader->by_id[id]->cell]);
}

static gboolean
refuse_backward(NativeReader *reader)
{
	g_autofree char *start = cell_of(reader, COLUMN_START_TIME);
	g_autofree char *end = cell_of(reader, COLUMN_END_TIME);

	csv_complain(reader->csv, reader->by_id[COLUMN_END_TIME]->cell, "end before start",
	             "found \"%s\" for end_time, wanted start_time (\"%s\") or later", end, start);
	return FALSE;
}

static void
notice_difference(NativeReader *reader, gint64 used_ns)
{
	g_autofree char *duration = cell_of(reader, COLUMN_DURATION);
	g_autofree char *used = seconds_to_string(used_ns);

	csv_notice(reader->csv, reader->by_id[COLUMN_DURATION]->cell,
	           "duration differs from end - start",
	           "found \"%s\" for duration, but end_time - start_time is %s s, which is used",
	           duration, used);
}

/* A43: what was recorded goes before what was computed from it. */
static gboolean
settle_duration(NativeReader *reader, NativeRow *row)
{
	gint64 run_ns = row->end_ns - row->start_ns;

	if (!is_given(row, COLUMN_START_TIME) || !is_given(row, COLUMN_END_TIME)) {
		if (reader->by_id[COLUMN_DURATION])
			return require(reader, row, COLUMN_DURATION);
		return require(reader, row, COLUMN_START_TIME) &&
		       require(reader, row, COLUMN_END_TIME);
	}
	if (run_ns < 0)
		return refuse_backward(reader);
	if (is_given(row, COLUMN_DURATION) && row->draft.duration_ns != run_ns)
		notice_difference(reader, run_ns);
	row->draft.duration_ns = run_ns;
	return TRUE;
}

/* Without num_gpus the builder multiplies workers by gpus_per_worker, and compares if there are
 * both (A46). That a share of 1 needs num_gpus 1 as well (A45) only the cell can tell. */
static gboolean
settle_gpus(NativeReader *reader, const NativeRow *row)
{
	const JobDraft *draft = &row->draft;
	gboolean has_workers =
	    is_given(row, COLUMN_WORKERS) && is_given(row, COLUMN_GPUS_PER_WORKER);

	if (!has_workers && reader->by_id[COLUMN_NUM_GPUS] &&
	    !require(reader, row, COLUMN_NUM_GPUS))
		return FALSE;
	if (is_given(row, COLUMN_GPU_SHARE) && is_given(row, COLUMN_NUM_GPUS) &&
	    draft->num_gpus != 1) {
		csv_complain(reader->csv, reader->by_id[COLUMN_GPU_SHARE]->cell,
		             "gpu_share without num_gpus 1",
		             "found a gpu_share beside num_gpus %u, wanted num_gpus 1",
		             draft->num_gpus);
		return FALSE;
	}
	return TRUE;
}

/* Where the duration of the row comes from (A43). */
static ColumnId
duration_column(const NativeReader *reader)
{
	const UsedColumn *start = reader->by_id[COLUMN_START_TIME];
	const UsedColumn *end = reader->by_id[COLUMN_END_TIME];

	if (!start || !end || field_is_empty(reader->csv, start->cell) ||
	    field_is_empty(reader->csv, end->cell))
		return COLUMN_DURATION;
	return COLUMN_END_TIME;
}

static ColumnId
column_of_field(const NativeReader *reader, DraftField field)
{
	switch (field) {
	case DRAFT_NAME:
		return COLUMN_JOB_ID;
	case DRAFT_APP:
		return COLUMN_APP_ID;
	case DRAFT_SUBMIT:
		return COLUMN_SUBMIT_TIME;
	case DRAFT_DURATION:
		return duration_column(reader);
	case DRAFT_SLOWDOWN:
		return COLUMN_SLOWDOWN;
	case DRAFT_MIN_GPUS:
		return COLUMN_MIN_GPUS;
	case DRAFT_MAX_GPUS:
		return COLUMN_MAX_GPUS;
	case DRAFT_SHARE:
		return COLUMN_GPU_SHARE;
	case DRAFT_WORKERS:
		return COLUMN_WORKERS;
	case DRAFT_GPUS_PER_WORKER:
		return COLUMN_GPUS_PER_WORKER;
	case DRAFT_TUNER:
		return COLUMN_TUNER;
	case DRAFT_LOSS_CURVE:
		return COLUMN_LOSS_CURVE;
	}
	g_assert_not_reached();
}

/* For complaints of the builder about the row at hand. */
static gboolean
find_cell(const void *self, DraftField field, guint64 *ret_line, guint *ret_column)
{
	const NativeReader *reader = self;
	const UsedColumn *used = reader->by_id[column_of_field(reader, field)];

	if (!used)
		return FALSE;
	*ret_line = csv_cell_line(reader->csv, used->cell);
	*ret_column = csv_cell_column(reader->csv, used->cell);
	return TRUE;
}

static void
read_row(NativeReader *reader)
{
	NativeRow row = { 0 };

	job_draft_init(&row.draft);
	row.draft.line = csv_row_line(reader->csv);
	if (read_cells(reader, &row) && require(reader, &row, COLUMN_JOB_ID) &&
	    require(reader, &row, COLUMN_SUBMIT_TIME) && settle_gpus(reader, &row) &&
	    settle_duration(reader, &row))
		workload_builder_add(reader->builder, &row.draft);
}

static gboolean
native_read(CsvReader *csv, const TraceOptions *options, WorkloadBuilder *builder,
            Problems *problems, GError **error)
{
	g_autoptr(Clock) clock = clock_new(options->time_zone, error);
	NativeReader reader = { .csv = csv, .builder = builder, .clock = clock };
	const char *missing = native_missing_column(csv_names(csv));
	CsvVerdict verdict;

	if (!clock)
		return FALSE;
	if (missing)
		return refuse_missing(&reader, problems->path, missing, error);
	if (!use_columns(&reader, problems, error))
		return FALSE;
	workload_builder_set_finder(builder, find_cell, &reader);
	while ((verdict = csv_next(csv, error)) == CSV_ROW)
		read_row(&reader);
	workload_builder_set_finder(builder, NULL, NULL);
	return verdict == CSV_END;
}

const TraceFormat native_format = {
	.name = "native",
	.summary = "the project's own: one row a job",
	.columns = NATIVE_COLUMNS(COLUMN_TEXT),
	.recognises = native_recognises,
	.read = native_read,
};
