/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Dates and times of day as traces write them: `2017-10-09 07:01:55`, with a T or a blank between
 * the two, seconds and their fraction optional, or a date alone (its midnight); behind it Z, UTC
 * or an offset such as +08:00, or nothing, which means local time in the zone of the clock.
 */

#include "sim/base/units.h"

typedef struct Clock Clock;

/* @time_zone is a name of the IANA database or an offset; NULL is UTC. SIM_ERROR_USAGE if there is
 * no such zone. */
Clock *clock_new(const char *time_zone, GError **error);
void clock_free(Clock *clock);

/* Whether a zone was asked for: then date-times with and without offset may be mixed (A42). */
gboolean clock_has_zone(const Clock *clock);

typedef enum LocalTime {
	LOCAL_PLAIN,
	LOCAL_TWICE, /* the clock was set back: the first of two instants was taken */
	LOCAL_NEVER, /* the clock was set forward over it: read by the offset before that */
} LocalTime;

typedef struct Instant {
	gint64 unix_ns;
	gboolean has_offset;
	gboolean is_rounded; /* more than nine decimals */
	LocalTime local;
} Instant;

typedef enum InstantVerdict {
	INSTANT_OK,
	INSTANT_NONE,     /* not a date-time at all */
	INSTANT_NO_DATE,  /* looks like one, but there is no such day or time of day */
	INSTANT_TOO_SOON, /* before 1970 */
	INSTANT_TOO_LATE, /* beyond 2^63 - 1 ns */
} InstantVerdict;

/* *ret_instant is written if INSTANT_OK. */
InstantVerdict clock_read(Clock *clock, const char *text, gsize length, Instant *ret_instant);

/* Whether @text begins as a date does, so that it cannot be meant as a number. */
gboolean clock_is_date(const char *text, gsize length);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Clock, clock_free)
