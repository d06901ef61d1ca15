/* SPDX-License-Identifier: MIT */
#include "traces/field.h"

#include <string.h>

#include "sim/base/text.h"

typedef struct TimeUnit {
	const char *suffix;
	const char *number; /* what a message asks for */
	TimeScale scale;
} TimeUnit;

static const TimeUnit time_units[] = {
	{ "_s", "a number of seconds", 9 },
	{ "_ms", "a number of milliseconds", 6 },
	{ "_us", "a number of microseconds", 3 },
	{ "_ns", "a number of nanoseconds", 0 },
};

static const TimeUnit *
unit_of(TimeScale scale)
{
	for (guint i = 0; i < G_N_ELEMENTS(time_units); i++)
		if (time_units[i].scale == scale)
			return &time_units[i];
	g_assert_not_reached();
}

gboolean
time_scale_of(const char *column_name, const char *name, TimeScale *ret_scale)
{
	gsize length = strlen(name);

	if (strncmp(column_name, name, length) != 0)
		return FALSE;
	if (column_name[length] == '\0') {
		*ret_scale = SCALE_S;
		return TRUE;
	}
	for (guint i = 0; i < G_N_ELEMENTS(time_units); i++) {
		if (g_str_equal(column_name + length, time_units[i].suffix)) {
			*ret_scale = time_units[i].scale;
			return TRUE;
		}
	}
	return FALSE;
}

gboolean
field_is_empty(const CsvReader *reader, guint column)
{
	const CsvCell *cell = &csv_cells(reader)[column];

	for (gsize i = 0; i < cell->length; i++)
		if (cell->text[i] != ' ' && cell->text[i] != '\t')
			return FALSE;
	return TRUE;
}

/* @wanted may say more of what is wrong. */
static gboolean
refuse(CsvReader *reader, guint column, const char *reason, const char *wanted)
{
	g_autofree char *shown = csv_cell_shown(&csv_cells(reader)[column]);

	csv_complain(reader, column, reason, "found \"%s\" for %s, wanted %s", shown,
	             csv_names(reader)[column], wanted);
	return FALSE;
}

/* Named as such, so that nobody looks for a slip in the digits (A19). */
static gboolean
refuse_overflow(CsvReader *reader, guint column, const char *wanted)
{
	g_autofree char *shown = csv_cell_shown(&csv_cells(reader)[column]);

	csv_complain(reader, column, "time overflow",
	             "found \"%s\" for %s, a time overflow, wanted %s", shown,
	             csv_names(reader)[column], wanted);
	return FALSE;
}

/* Digits, one comma, digits. */
static gboolean
is_decimal_comma(const CsvCell *cell)
{
	const char *comma = memchr(cell->text, ',', cell->length);
	g_autofree char *pointed = NULL;
	gint64 value;

	if (!comma)
		return FALSE;
	pointed = g_strndup(cell->text, cell->length);
	pointed[comma - cell->text] = '.';
	return decimal_parse(pointed, cell->length, 0, &value) != DECIMAL_BAD;
}

/* Digits and then a unit, which belongs into the column's name. */
static gboolean
is_with_unit(const CsvCell *cell)
{
	gsize n = cell->length;

	while (n > 0 && g_ascii_isalpha(cell->text[n - 1]))
		n--;
	return n > 0 && n < cell->length && cell->length - n <= 3 &&
	       (g_ascii_isdigit(cell->text[n - 1]) || cell->text[n - 1] == ' ') &&
	       g_ascii_isdigit(cell->text[0]);
}

/* The two mistakes that are made most get a hint of their own. */
static gboolean
refuse_text(CsvReader *reader, guint column, const char *wanted)
{
	const CsvCell *cell = &csv_cells(reader)[column];
	g_autofree char *hint = NULL;

	if (is_decimal_comma(cell)) {
		hint = g_strconcat(wanted, " with a decimal point, not a comma", NULL);
		return refuse(reader, column, "decimal comma", hint);
	}
	if (is_with_unit(cell)) {
		hint =
		    g_strconcat(wanted, " without a unit (it goes into the column's name)", NULL);
		return refuse(reader, column, "unit in a cell", hint);
	}
	return refuse(reader, column, "not a number", wanted);
}

static gboolean
refuse_decimal(CsvReader *reader, guint column, DecimalVerdict verdict, const char *wanted)
{
	switch (verdict) {
	case DECIMAL_NEGATIVE:
		return refuse(reader, column, "negative number", wanted);
	case DECIMAL_TOO_LARGE:
		return refuse(reader, column, "number out of range", wanted);
	case DECIMAL_ROUNDED:
		return refuse(reader, column, "too many decimals", wanted);
	case DECIMAL_BAD:
	case DECIMAL_OK:
		break;
	}
	return refuse_text(reader, column, wanted);
}

/* What a message asks for. */
static char *
range_to_string(guint scale, gint64 min, gint64 max)
{
	GString *text = g_string_new(scale == 0 ? "a whole number from " : "a number from ");

	decimal_append(text, min, scale);
	g_string_append(text, " to ");
	decimal_append(text, max, scale);
	if (scale > 0)
		g_string_append_printf(text, " with at most %u decimals", scale);
	return g_string_free(text, FALSE);
}

gboolean
field_scaled(CsvReader *reader, guint column, guint scale, gint64 min, gint64 max,
             gint64 *ret_value)
{
	const CsvCell *cell = &csv_cells(reader)[column];
	gint64 value;
	DecimalVerdict verdict = decimal_parse(cell->text, cell->length, scale, &value);
	g_autofree char *wanted = NULL;

	if (verdict == DECIMAL_OK && value >= min && value <= max) {
		*ret_value = value;
		return TRUE;
	}
	wanted = range_to_string(scale, min, max);
	return refuse_decimal(reader, column, verdict == DECIMAL_OK ? DECIMAL_TOO_LARGE : verdict,
	                      wanted);
}

gboolean
field_whole(CsvReader *reader, guint column, gint64 min, gint64 max, gint64 *ret_value)
{
	return field_scaled(reader, column, 0, min, max, ret_value);
}

/* Reading the digits behind the sign apart leaves out -2^63, which nobody misses. */
gboolean
field_signed(CsvReader *reader, guint column, gint64 *ret_value)
{
	const CsvCell *cell = &csv_cells(reader)[column];
	gsize n_blanks = strspn(cell->text, " \t");
	gboolean is_negative = cell->text[n_blanks] == '-';
	gsize skip = n_blanks + (is_negative || cell->text[n_blanks] == '+');
	gint64 value;
	DecimalVerdict verdict = decimal_parse(cell->text + skip, cell->length - skip, 0, &value);

	if (verdict == DECIMAL_OK && !g_ascii_isspace(cell->text[skip])) {
		*ret_value = is_negative ? -value : value;
		return TRUE;
	}
	return refuse_decimal(reader, column, verdict == DECIMAL_OK ? DECIMAL_BAD : verdict,
	                      "a whole number of either sign");
}

/* A nanosecond is the grain of the clock (A42). */
static void
notice_rounded(CsvReader *reader, guint column)
{
	g_autofree char *shown = csv_cell_shown(&csv_cells(reader)[column]);

	csv_notice(reader, column, "more than nine decimals",
	           "found \"%s\" for %s, rounded half to even to a whole nanosecond", shown,
	           csv_names(reader)[column]);
}

/* @wanted is what the column holds, as "a number of seconds". */
static gboolean
read_span(CsvReader *reader, guint column, TimeScale scale, const char *wanted, gint64 *ret_ns)
{
	const CsvCell *cell = &csv_cells(reader)[column];
	gint64 value_ns;
	DecimalVerdict verdict = decimal_parse(cell->text, cell->length, scale, &value_ns);

	if (verdict == DECIMAL_ROUNDED)
		notice_rounded(reader, column);
	if (verdict == DECIMAL_OK || verdict == DECIMAL_ROUNDED) {
		*ret_ns = value_ns;
		return TRUE;
	}
	if (verdict == DECIMAL_TOO_LARGE)
		return refuse_overflow(reader, column,
		                       "less than 2^63 nanoseconds (about 292 years)");
	if (verdict == DECIMAL_NEGATIVE)
		return refuse(reader, column, "negative number", "0 or more");
	return refuse_decimal(reader, column, verdict, wanted);
}

gboolean
field_span(CsvReader *reader, guint column, TimeScale scale, gint64 *ret_ns)
{
	return read_span(reader, column, scale, unit_of(scale)->number, ret_ns);
}

static gboolean
refuse_date(CsvReader *reader, guint column, InstantVerdict verdict)
{
	switch (verdict) {
	case INSTANT_TOO_SOON:
		return refuse(reader, column, "time before 1970", "1970 or later");
	case INSTANT_TOO_LATE:
		return refuse_overflow(reader, column,
		                       "less than 2^63 nanoseconds since 1970 (April 2262)");
	case INSTANT_NO_DATE:
		return refuse(reader, column, "no such date", "a day and a time of day that exist");
	case INSTANT_NONE:
	case INSTANT_OK:
		break;
	}
	return refuse(reader, column, "not a date-time",
	              "a date-time such as 2017-10-09 07:01:55 or 2017-10-09T07:01:55+08:00");
}

static gboolean
refuse_mixture(CsvReader *reader, guint column, InstantForm form, InstantForm found)
{
	if (form == FORM_NUMBER)
		return refuse(reader, column, "numbers and date-times mixed",
		              "a number as in the rows before");
	if (found == FORM_NUMBER)
		return refuse(reader, column, "numbers and date-times mixed",
		              "a date-time as in the rows before");
	return refuse(reader, column, "date-times with and without offset mixed",
	              form == FORM_LOCAL ? "no offset as in the rows before (or --tz)"
	                                 : "an offset as in the rows before (or --tz)");
}

/* The first cell of a column decides for all; --tz makes both kinds of date-times one (A42). */
static gboolean
is_of_form(CsvReader *reader, guint column, const Clock *clock, InstantForm *form,
           InstantForm found)
{
	gboolean is_same_date =
	    clock_has_zone(clock) && *form != FORM_NUMBER && found != FORM_NUMBER;

	if (*form == FORM_OPEN)
		*form = found;
	return *form == found || is_same_date || refuse_mixture(reader, column, *form, found);
}

/* Both are read somehow, as a few hours a year are no reason to refuse a trace (A40). */
static void
notice_local(CsvReader *reader, guint column, LocalTime local)
{
	g_autofree char *shown = csv_cell_shown(&csv_cells(reader)[column]);

	switch (local) {
	case LOCAL_PLAIN:
		break;
	case LOCAL_TWICE:
		csv_notice(
		    reader, column, "ambiguous local time",
		    "found \"%s\" for %s, which occurs twice in this time zone: the first is "
		    "taken",
		    shown, csv_names(reader)[column]);
		break;
	case LOCAL_NEVER:
		csv_notice(
		    reader, column, "local time that never was",
		    "found \"%s\" for %s, which the clocks of this time zone skipped: read by "
		    "the offset before",
		    shown, csv_names(reader)[column]);
		break;
	}
}

static gboolean
field_date(CsvReader *reader, guint column, Clock *clock, InstantForm *form, gint64 *ret_ns)
{
	const CsvCell *cell = &csv_cells(reader)[column];
	Instant instant;
	InstantVerdict verdict = clock_read(clock, cell->text, cell->length, &instant);

	if (verdict != INSTANT_OK)
		return refuse_date(reader, column, verdict);
	if (!is_of_form(reader, column, clock, form, instant.has_offset ? FORM_OFFSET : FORM_LOCAL))
		return FALSE;
	if (instant.is_rounded)
		notice_rounded(reader, column);
	if (instant.local != LOCAL_PLAIN)
		notice_local(reader, column, instant.local);
	*ret_ns = instant.unix_ns;
	return TRUE;
}

gboolean
field_instant(CsvReader *reader, guint column, TimeScale scale, gboolean has_unit, Clock *clock,
              InstantForm *form, gint64 *ret_ns)
{
	const CsvCell *cell = &csv_cells(reader)[column];
	gsize n_blanks = strspn(cell->text, " ");
	gboolean is_date = clock_is_date(cell->text + n_blanks, cell->length - n_blanks);
	const char *number = unit_of(scale)->number;
	gint64 value_ns;

	if (is_date && has_unit)
		return refuse(reader, column, "unit contradicts the header", number);
	if (is_date)
		return field_date(reader, column, clock, form, ret_ns);
	if (!has_unit)
		number = "a number of seconds or a date-time such as 2017-10-09 07:01:55";
	if (!read_span(reader, column, scale, number, &value_ns) ||
	    !is_of_form(reader, column, clock, form, FORM_NUMBER))
		return FALSE;
	*ret_ns = value_ns;
	return TRUE;
}
