/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Cells of a CSV row, each followed by its comma; row_end() turns the last comma into the end of
 * the line. Undefined is an empty cell (DESIGN 2).
 */

#include "sim/base/text.h"
#include "sim/engine/record.h"

static inline void
cell_empty(GString *out)
{
	g_string_append_c(out, ',');
}

static inline void
row_end(GString *out)
{
	out->str[out->len - 1] = '\n';
}

void cell_text(GString *out, const char *text);
void cell_count(GString *out, guint64 count);
void cell_seconds(GString *out, SimTime length_ns);
void cell_gpu_seconds(GString *out, GpuTime time);
void cell_nano(GString *out, __int128 billionths);
void cell_number(GString *out, double value);

/* A time on the trace's own clock (SEMANTICS A01). */
void clock_append(GString *out, gint64 origin_ns, SimTime at_ns);
void cell_clock(GString *out, gint64 origin_ns, SimTime at_ns);

/* Thousandths, as a decimal where shares are held (B19). */
void cell_milli(GString *out, guint64 thousandths);

/* @columns is NULL-terminated. */
void header_append(GString *out, const char *const *columns);

/* As in the files: FINISHED, REJECTED, ... */
const char *job_state_to_string(JobState state);
