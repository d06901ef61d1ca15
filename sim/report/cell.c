/* SPDX-License-Identifier: MIT */
#include "sim/report/cell.h"

void
cell_text(GString *out, const char *text)
{
	if (text[0] != '\0')
		csv_append(out, text);
	cell_empty(out);
}

void
cell_count(GString *out, guint64 count)
{
	decimal_append(out, count, 0);
	cell_empty(out);
}

void
cell_seconds(GString *out, SimTime length_ns)
{
	seconds_append(out, length_ns);
	cell_empty(out);
}

void
cell_gpu_seconds(GString *out, GpuTime time)
{
	gpu_seconds_append(out, time);
	cell_empty(out);
}

void
cell_nano(GString *out, __int128 billionths)
{
	decimal_append(out, billionths, 9);
	cell_empty(out);
}

void
cell_number(GString *out, double value)
{
	decimal_append_double(out, value);
	cell_empty(out);
}

/* A trace may begin before 1970, and a replay may end beyond what its clock can hold. */
void
clock_append(GString *out, gint64 origin_ns, SimTime at_ns)
{
	__int128 clock_ns = (__int128)origin_ns + at_ns;

	if (clock_ns < 0)
		g_string_append_c(out, '-');
	decimal_append(out, clock_ns < 0 ? -clock_ns : clock_ns, 9);
}

void
cell_clock(GString *out, gint64 origin_ns, SimTime at_ns)
{
	clock_append(out, origin_ns, at_ns);
	cell_empty(out);
}

void
cell_milli(GString *out, guint64 thousandths)
{
	decimal_append(out, thousandths, 3);
	cell_empty(out);
}

void
header_append(GString *out, const char *const *columns)
{
	for (; *columns; columns++)
		cell_text(out, *columns);
	row_end(out);
}

const char *
job_state_to_string(JobState state)
{
	switch (state) {
	case JOB_PENDING:
		return "PENDING";
	case JOB_QUEUED:
		return "QUEUED";
	case JOB_RUNNING:
		return "RUNNING";
	case JOB_SUSPENDING:
		return "SUSPENDING";
	case JOB_PAUSED:
		return "PAUSED";
	case JOB_FINISHED:
		return "FINISHED";
	case JOB_REJECTED:
		return "REJECTED";
	case JOB_TIMEOUT:
		return "TIMEOUT";
	case JOB_FAILED:
		return "FAILED";
	case JOB_UNFINISHED:
		return "UNFINISHED";
	case JOB_STOPPED:
		return "STOPPED";
	}
	g_assert_not_reached();
}
