/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The options of a policy or a tuner as a table: one row parses, checks and prints itself. The
 * values live in a plain struct of the policy's; a row knows the offset. A table ends with a row
 * without a name.
 */

#include "sim/base/units.h"

typedef enum OptionKind {
	OPTION_BOOL,         /* gboolean: true, false, yes, no, on, off, 1, 0 */
	OPTION_INT,          /* gint64 */
	OPTION_NUMBER,       /* double; "off" is HUGE_VAL where the row allows it */
	OPTION_SECONDS,      /* SimTime; "off" is TIME_NEVER where the row allows it */
	OPTION_CHOICE,       /* gint, an index into .choices */
	OPTION_SECONDS_LIST, /* OptionList, times NS_PER_S, ascending; also for GPU-seconds */
	OPTION_NUMBER_LIST,  /* OptionList, billionths, each above 0, in any order */
	OPTION_TEXT,         /* char *, owned by the options */
} OptionKind;

typedef struct OptionList {
	guint n;
	gint64 *values;
} OptionList;

typedef struct Option {
	const char *name;
	OptionKind kind;
	gsize offset;
	const char *standard; /* the default, as a user would write it */
	/* Inclusive, for INT, NUMBER and SECONDS (in seconds). A max not above min is no bound, so
	 * that a row which says neither takes anything from 0 on. */
	double min, max;
	const char *const *choices; /* NULL-terminated, for CHOICE */
	gboolean may_be_off;        /* NUMBER and SECONDS only */
	/* TEXT only: anything but the standard is a path, relative to the file that gives it, and
	 * an input of the run. */
	gboolean is_path;
	const char *help; /* a sentence; units where they are not in the name */
} Option;

/* A zeroed struct of @size with every default; free with options_free(). @table may be NULL. */
void *options_new(const Option *table, gsize size);
void options_free(const Option *table, void *values);

/* Sets one option from text. FALSE: unknown name (with the nearest known one) or a value out of
 * kind or range; the code of the error is @code, as a command line and a file differ (B10). */
gboolean options_set(const Option *table, void *values, const char *name, const char *text,
                     int code, GError **error);

/* The keys and values of `key=value,...` in turn; commas inside brackets do not separate (A39).
 * Free with g_strfreev(). NULL: an item is no such pair, or a key is there twice; the code of the
 * error is @code. */
char **options_split(const char *text, int code, GError **error);

/* The row called @name, or NULL. */
const Option *options_find(const Option *table, const char *name);

/* What values an option takes, for a page or after "wanted"; free with g_free(). */
char *option_wanted(const Option *option);

/* The effective value as a user would write it. */
char *options_get(const Option *option, const void *values);

/* `key=value` joined by commas, in table order (A37); "" for no options. */
char *options_to_string(const Option *table, const void *values);
