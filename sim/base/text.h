/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Numbers and names as people write them. Nothing here follows the locale.
 *
 * A decimal is digits with an optional part behind a point and an optional exponent; no sign, no
 * hex, no words; blanks around it do not count (SEMANTICS A42).
 */

#include "sim/base/units.h"

typedef enum DecimalVerdict {
	DECIMAL_OK,
	DECIMAL_ROUNDED,  /* more digits than the scale holds: rounded half to even */
	DECIMAL_BAD,      /* not a decimal */
	DECIMAL_NEGATIVE, /* a decimal with a minus sign */
	DECIMAL_TOO_LARGE,
} DecimalVerdict;

/* @text of @length bytes times 10^@scale as an integer >= 0; the result is written for OK and
 * ROUNDED only. Reading seconds into nanoseconds is scale 9. */
DecimalVerdict decimal_parse(const char *text, gsize length, guint scale, gint64 *ret_value);

/* As a double, exactly rounded; FALSE unless the whole of @text is a decimal (a leading minus is
 * allowed here). */
gboolean decimal_parse_double(const char *text, double *ret_value);

/* @value / 10^@scale without trailing zeros, exponent or sign: 10250000000, 9 -> "10.25". At most
 * nine places are written; a longer tail is rounded half to even. @value >= 0. */
void decimal_append(GString *out, __int128 value, guint scale);

/* At most nine places, half to even, no trailing zeros; nothing at all if @value is not finite.
 * Negative values keep their sign; a zero never has one. */
void decimal_append_double(GString *out, double value);

/* @ns as seconds. */
void seconds_append(GString *out, SimTime ns);
char *seconds_to_string(SimTime ns);

/* GPU-seconds, exactly, rounded half to even at nine places. */
void gpu_seconds_append(GString *out, GpuTime time);

/* RFC 4180: quoted only where it must be. NULL is an empty cell. */
void csv_append(GString *out, const char *cell);

/* JSON string with its quotes; invalid UTF-8 becomes U+FFFD. NULL is null. */
void json_append(GString *out, const char *text);

/* The nearest of @names (NULL-terminated) to a mistyped @name, or NULL if none is near. */
const char *text_nearest(const char *name, const char *const *names);
