/* SPDX-License-Identifier: MIT */
#include "traces/clock.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/base/text.h"

#define DAY_S  86400
#define HOUR_S 3600

struct Clock {
	GTimeZone *zone;
	gboolean has_zone;
	/* The offset all through the day that was asked for last, if there is one: days of a trace
	 * come in runs, and GTimeZone searches its table from the start. */
	gint64 cached_day;
	gint64 cached_offset_s;
	gboolean has_cached_day;
};

/* What is still to be read. */
typedef struct Text {
	const char *at;
	const char *end;
} Text;

/* A date and a time of day, as written. */
typedef struct CivilTime {
	guint year, month, day, hour, minute;
	gint64 second_ns;
	gboolean is_rounded;
} CivilTime;

/* A name such as `/etc/passwd` or `../zone.tab` would be read as a file of zone rules. */
static gboolean
is_zone_name(const char *time_zone)
{
	return time_zone[0] != '\0' && time_zone[0] != '/' && !strchr(time_zone, '.');
}

Clock *
clock_new(const char *time_zone, GError **error)
{
	const char *name = time_zone ? time_zone : "UTC";
	GTimeZone *zone = is_zone_name(name) ? g_time_zone_new_identifier(name) : NULL;
	Clock *clock;

	if (!zone) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
		            "found the unknown time zone \"%s\", wanted a name such as "
		            "America/Los_Angeles, or an offset such as +08:00",
		            time_zone);
		return NULL;
	}
	clock = g_new0(Clock, 1);
	clock->zone = zone;
	clock->has_zone = time_zone != NULL;
	return clock;
}

void
clock_free(Clock *clock)
{
	if (!clock)
		return;
	g_time_zone_unref(clock->zone);
	g_free(clock);
}

gboolean
clock_has_zone(const Clock *clock)
{
	return clock->has_zone;
}

static gboolean
take_character(Text *text, char character)
{
	if (text->at == text->end || *text->at != character)
		return FALSE;
	text->at++;
	return TRUE;
}

static gboolean
take_digits(Text *text, guint n, guint *ret_value)
{
	guint value = 0;

	if (text->end - text->at < (gssize)n)
		return FALSE;
	for (guint i = 0; i < n; i++) {
		if (!g_ascii_isdigit(text->at[i]))
			return FALSE;
		value = value * 10 + (guint)(text->at[i] - '0');
	}
	text->at += n;
	*ret_value = value;
	return TRUE;
}

gboolean
clock_is_date(const char *text, gsize length)
{
	return length >= 8 && text[4] == '-' && g_ascii_isdigit(text[0]) &&
	       g_ascii_isdigit(text[5]);
}

/* Two digits and perhaps a fraction, which the common reader of decimals rounds. */
static gboolean
take_seconds(Text *text, CivilTime *civil)
{
	const char *start = text->at;
	guint whole;
	DecimalVerdict verdict;

	if (!take_digits(text, 2, &whole))
		return FALSE;
	if (text->at < text->end && *text->at == '.')
		do
			text->at++;
		while (text->at < text->end && g_ascii_isdigit(*text->at));
	verdict = decimal_parse(start, (gsize)(text->at - start), 9, &civil->second_ns);
	civil->is_rounded = verdict == DECIMAL_ROUNDED;
	return verdict == DECIMAL_OK || verdict == DECIMAL_ROUNDED;
}

static gboolean
take_date(Text *text, CivilTime *civil)
{
	return take_digits(text, 4, &civil->year) && take_character(text, '-') &&
	       take_digits(text, 2, &civil->month) && take_character(text, '-') &&
	       take_digits(text, 2, &civil->day);
}

static gboolean
take_time_of_day(Text *text, CivilTime *civil)
{
	if (text->at == text->end)
		return TRUE;
	if (!take_character(text, 'T') && !take_character(text, 't') && !take_character(text, ' '))
		return FALSE;
	return take_digits(text, 2, &civil->hour) && take_character(text, ':') &&
	       take_digits(text, 2, &civil->minute) &&
	       (!take_character(text, ':') || take_seconds(text, civil));
}

static gboolean
take_word(Text *text, const char *word)
{
	gsize length = strlen(word);

	if ((gsize)(text->end - text->at) != length ||
	    g_ascii_strncasecmp(text->at, word, length) != 0)
		return FALSE;
	text->at = text->end;
	return TRUE;
}

/* Z, UTC, +08, +0800 or +08:00; nothing is fine too. */
static gboolean
take_offset(Text *text, gboolean *ret_has_offset, gint64 *ret_offset_s)
{
	guint hours, minutes = 0;
	gboolean is_west;

	*ret_has_offset = text->at < text->end;
	*ret_offset_s = 0;
	if (!*ret_has_offset)
		return TRUE;
	take_character(text, ' ');
	if (take_word(text, "Z") || take_word(text, "UTC"))
		return TRUE;
	is_west = take_character(text, '-');
	if ((!is_west && !take_character(text, '+')) || !take_digits(text, 2, &hours))
		return FALSE;
	take_character(text, ':');
	if (text->at < text->end && !take_digits(text, 2, &minutes))
		return FALSE;
	*ret_offset_s = (gint64)hours * HOUR_S + minutes * 60;
	if (is_west)
		*ret_offset_s = -*ret_offset_s;
	return text->at == text->end && hours < 24 && minutes < 60;
}

static guint
days_of_month(guint year, guint month)
{
	static const guint8 days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	gboolean is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && is_leap);
}

static gboolean
civil_exists(const CivilTime *civil)
{
	return civil->month >= 1 && civil->month <= 12 && civil->day >= 1 &&
	       civil->day <= days_of_month(civil->year, civil->month) && civil->hour < 24 &&
	       civil->minute < 60 && civil->second_ns < 60 * NS_PER_S;
}

/* Days since 1970-01-01, by years that begin in March, so that the leap day is a year's last. */
static gint64
civil_day(const CivilTime *civil)
{
	gint64 year = (gint64)civil->year - (civil->month <= 2);
	gint64 month = (civil->month + 9) % 12;
	gint64 day_of_year = (153 * month + 2) / 5 + civil->day - 1;

	return year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - 719468;
}

/* How far the zone's clocks are ahead of UTC. */
static gint64
offset_at(const Clock *clock, gint64 unix_s)
{
	gint interval = g_time_zone_find_interval(clock->zone, G_TIME_TYPE_UNIVERSAL, unix_s);

	return g_time_zone_get_offset(clock->zone, interval);
}

/*
 * A local time stands for each instant at which the zone's offset maps to it: one, two where the
 * clock was set back, none where it was set forward. A day on either side is far enough to see
 * both offsets, as zones do not change theirs twice in two days.
 */
static LocalTime
resolve_local(const Clock *clock, gint64 local_s, gint64 *ret_unix_s)
{
	gint64 before_s = local_s - offset_at(clock, local_s - DAY_S);
	gint64 after_s = local_s - offset_at(clock, local_s + DAY_S);
	gboolean has_before = before_s + offset_at(clock, before_s) == local_s;
	gboolean has_after = after_s + offset_at(clock, after_s) == local_s;

	*ret_unix_s = has_after && !has_before ? after_s : before_s;
	if (!has_before && !has_after)
		return LOCAL_NEVER;
	return has_before && has_after && before_s != after_s ? LOCAL_TWICE : LOCAL_PLAIN;
}

static gboolean
is_in_cached_day(Clock *clock, gint64 day)
{
	gint64 from_s = day * DAY_S;

	if (clock->has_cached_day && clock->cached_day == day)
		return TRUE;
	/* Offsets are below a day, so this covers all instants the day's times can stand for. */
	clock->cached_day = day;
	clock->cached_offset_s = offset_at(clock, from_s - DAY_S);
	clock->has_cached_day = offset_at(clock, from_s + 2 * DAY_S) == clock->cached_offset_s;
	return clock->has_cached_day;
}

static LocalTime
local_to_unix(Clock *clock, gint64 day, gint64 second_of_day, gint64 *ret_unix_s)
{
	if (!is_in_cached_day(clock, day))
		return resolve_local(clock, day * DAY_S + second_of_day, ret_unix_s);
	*ret_unix_s = day * DAY_S + second_of_day - clock->cached_offset_s;
	return LOCAL_PLAIN;
}

/* Years have four digits, so only the nanoseconds can be too many for 64 bits. */
static InstantVerdict
settle(Clock *clock, const CivilTime *civil, gint64 offset_s, Instant *instant)
{
	gint64 day = civil_day(civil);
	gint64 second_of_day = (gint64)civil->hour * HOUR_S + civil->minute * 60;
	gint64 unix_s = day * DAY_S + second_of_day - offset_s;
	__int128 unix_ns;

	if (!instant->has_offset)
		instant->local = local_to_unix(clock, day, second_of_day, &unix_s);
	unix_ns = (__int128)unix_s * NS_PER_S + civil->second_ns;
	if (unix_ns < 0)
		return INSTANT_TOO_SOON;
	if (unix_ns >= G_MAXINT64)
		return INSTANT_TOO_LATE;
	instant->unix_ns = (gint64)unix_ns;
	return INSTANT_OK;
}

static Text
trimmed(const char *text, gsize length)
{
	Text trimmed_text = { text, text + length };

	while (trimmed_text.at < trimmed_text.end && *trimmed_text.at == ' ')
		trimmed_text.at++;
	while (trimmed_text.at < trimmed_text.end && trimmed_text.end[-1] == ' ')
		trimmed_text.end--;
	return trimmed_text;
}

/* A sign behind a date alone would be its offset, which has no time of day to belong to. */
static gboolean
take_all(Text *text, CivilTime *civil, gboolean *ret_has_offset, gint64 *ret_offset_s)
{
	return take_date(text, civil) && take_time_of_day(text, civil) &&
	       take_offset(text, ret_has_offset, ret_offset_s);
}

InstantVerdict
clock_read(Clock *clock, const char *text, gsize length, Instant *ret_instant)
{
	Text rest = trimmed(text, length);
	CivilTime civil = { 0 };
	Instant instant = { 0 };
	gint64 offset_s;
	InstantVerdict verdict;

	if (!take_all(&rest, &civil, &instant.has_offset, &offset_s))
		return INSTANT_NONE;
	if (!civil_exists(&civil))
		return INSTANT_NO_DATE;
	instant.is_rounded = civil.is_rounded;
	verdict = settle(clock, &civil, offset_s, &instant);
	if (verdict == INSTANT_OK)
		*ret_instant = instant;
	return verdict;
}
