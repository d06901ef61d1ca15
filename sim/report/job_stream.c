/* SPDX-License-Identifier: MIT */
#include "sim/report/job_stream.h"

#include "sim/base/file.h"
#include "sim/report/jobs_csv.h"

typedef struct JobRow {
	JobId job;
	guint32 row; /* of the trace */
	JobRecord record;
} JobRow;

struct JobStream {
	OutputFile *file;
	const Scenario *scenario;
	GArray *rows;             /* of JobRow: of one instant, not written yet */
	gboolean instant_is_over; /* what comes is of a later one */
	JobId *order;             /* of the rows in the file, or NULL */
	guint n_ordered;
	GError *error; /* the first write that failed */
};

JobStream *
job_stream_open(const char *path, const Scenario *scenario, gboolean keeps_order, GError **error)
{
	OutputFile *file = output_file_open(path, error);
	JobStream *stream;

	if (!file)
		return NULL;
	stream = g_new0(JobStream, 1);
	stream->file = file;
	stream->scenario = scenario;
	stream->rows = g_array_new(FALSE, FALSE, sizeof(JobRow));
	if (keeps_order)
		stream->order = g_new(JobId, scenario->workload->n_jobs);
	jobs_csv_append_header(output_file_text(file));
	return stream;
}

static int
job_row_compare(const void *one, const void *other)
{
	const JobRow *a = one;
	const JobRow *b = other;

	return (a->row > b->row) - (a->row < b->row);
}

static void
write_row(JobStream *stream, const JobRow *row, SimTime end_ns)
{
	if (stream->order)
		stream->order[stream->n_ordered++] = row->job;
	if (stream->error)
		return;
	jobs_csv_append_row(output_file_text(stream->file), stream->scenario, row->job,
	                    &row->record, end_ns);
	output_file_flush(stream->file, &stream->error);
}

/* @end_ns of the run matters to UNFINISHED jobs alone, which are the last rows. */
static void
write_rows(JobStream *stream, SimTime end_ns)
{
	g_array_sort(stream->rows, job_row_compare);
	for (guint i = 0; i < stream->rows->len; i++)
		write_row(stream, &g_array_index(stream->rows, JobRow, i), end_ns);
	g_array_set_size(stream->rows, 0);
}

/* A run without a stop_s ends at its last instant: what it leaves UNFINISHED belongs to that. */
static gboolean
is_of_last_instant(const JobStream *stream, const JobRecord *record)
{
	return record->state == JOB_UNFINISHED && stream->scenario->stop_ns == TIME_NEVER;
}

void
job_stream_add(JobStream *stream, JobId job, const JobRecord *record)
{
	JobRow row = { job, stream->scenario->workload->jobs[job].row, *record };

	if (stream->instant_is_over && !is_of_last_instant(stream, record))
		write_rows(stream, 0);
	stream->instant_is_over = FALSE;
	g_array_append_val(stream->rows, row);
}

void
job_stream_end_instant(JobStream *stream)
{
	if (stream->instant_is_over)
		write_rows(stream, 0);
	stream->instant_is_over = TRUE;
}

gboolean
job_stream_commit(JobStream *stream, SimTime end_ns, GError **error)
{
	write_rows(stream, end_ns);
	if (stream->error) {
		g_propagate_error(error, g_steal_pointer(&stream->error));
		return FALSE;
	}
	return output_file_commit(g_steal_pointer(&stream->file), error);
}

const JobId *
job_stream_order(const JobStream *stream)
{
	return stream->order;
}

void
job_stream_free(JobStream *stream)
{
	if (!stream)
		return;
	output_file_free(stream->file);
	g_array_unref(stream->rows);
	g_free(stream->order);
	g_clear_error(&stream->error);
	g_free(stream);
}
