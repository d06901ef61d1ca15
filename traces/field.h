/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reading a cell as what its column says. A cell that is something else is complained about at
 * its place, and the answer is FALSE; the value is written on success only. An empty cell is the
 * caller's to see first (field_is_empty()).
 */

#include "traces/clock.h"
#include "traces/csv.h"

/* The largest gang; more is a slip of the pen. */
#define MAX_JOB_GPUS (1 << 24)

/* Blank from end to end. */
gboolean field_is_empty(const CsvReader *reader, guint column);

/* The unit of a column of times: 9 for seconds, 6 for milliseconds, 3, 0: the power of ten that
 * leads to nanoseconds. */
typedef guint TimeScale;

#define SCALE_S ((TimeScale)9)

/* `submit_time_ms` is the column of `submit_time` in milliseconds; without a suffix, seconds.
 * FALSE if @column_name is not @name with or without one. */
gboolean time_scale_of(const char *column_name, const char *name, TimeScale *ret_scale);

/* A whole number from @min to @max; "4.0" is one. */
gboolean field_whole(CsvReader *reader, guint column, gint64 min, gint64 max, gint64 *ret_value);

/* As field_whole(), of either sign. */
gboolean field_signed(CsvReader *reader, guint column, gint64 *ret_value);

/* A decimal in units of 10^-@scale, from @min to @max units, with no more places than that. */
gboolean field_scaled(CsvReader *reader, guint column, guint scale, gint64 min, gint64 max,
                      gint64 *ret_value);

/* A length of time; what lies beyond a nanosecond is rounded with a notice. */
gboolean field_span(CsvReader *reader, guint column, TimeScale scale, gint64 *ret_ns);

/* How the cells of one column write instants: set by the first, and the others must agree. */
typedef enum InstantForm {
	FORM_OPEN,
	FORM_NUMBER,
	FORM_LOCAL,  /* date-times without an offset */
	FORM_OFFSET, /* date-times with one */
} InstantForm;

/* A number of @scale, or a date-time where the column's name has no unit (@has_unit). */
gboolean field_instant(CsvReader *reader, guint column, TimeScale scale, gboolean has_unit,
                       Clock *clock, InstantForm *form, gint64 *ret_ns);
