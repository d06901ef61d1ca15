/* SPDX-License-Identifier: MIT */
#include "sim/base/text.h"

#include <math.h>
#include <string.h>

#define PLACES_MAX    9u /* decimals that are ever written */
#define SCALE_MAX     38u
#define EXPONENT_MAX  G_GINT64_CONSTANT(1000000000000)
#define NEAREST_BYTES 64u /* longer names are nobody's typing mistake */

/* Reading decimals */

static gboolean
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The parts of a decimal: its digits are text[0 .. n_whole - 1] and the n_places behind the point.
 */
typedef struct DecimalParts {
	const char *whole, *places;
	gsize n_whole, n_places;
	gint64 exponent;
} DecimalParts;

static gsize
n_digits(const char *text, const char *end)
{
	const char *p = text;

	while (p < end && g_ascii_isdigit(*p))
		p++;
	return (gsize)(p - text);
}

/* @text behind the 'e'. The exponent stops growing where no number of digits can make up for it. */
static gboolean
parse_exponent(const char *text, const char *end, gint64 *ret_exponent)
{
	gboolean negative = text < end && *text == '-';
	gint64 exponent = 0;

	if (text < end && (*text == '-' || *text == '+'))
		text++;
	if (text == end || n_digits(text, end) != (gsize)(end - text))
		return FALSE;
	for (; text < end; text++)
		exponent = MIN(exponent * 10 + (*text - '0'), EXPONENT_MAX);
	*ret_exponent = negative ? -exponent : exponent;
	return TRUE;
}

static gboolean
split_decimal(const char *text, const char *end, DecimalParts *ret_parts)
{
	DecimalParts parts = { .whole = text, .n_whole = n_digits(text, end) };

	text += parts.n_whole;
	if (parts.n_whole == 0)
		return FALSE;
	if (text < end && *text == '.') {
		parts.places = ++text;
		parts.n_places = n_digits(text, end);
		text += parts.n_places;
		if (parts.n_places == 0)
			return FALSE;
	}
	if (text < end && (*text == 'e' || *text == 'E')) {
		if (!parse_exponent(text + 1, end, &parts.exponent))
			return FALSE;
		text = end;
	}
	*ret_parts = parts;
	return text == end;
}

/* The integer built so far, and what was cut off behind it: its first digit, and whether any other
 * digit behind that was not 0. */
typedef struct DecimalSum {
	guint64 value;
	gboolean too_large;
	guint first_cut;
	gboolean more_cut;
} DecimalSum;

static void
sum_push(DecimalSum *sum, guint digit)
{
	if (sum->value > ((guint64)G_MAXINT64 - digit) / 10)
		sum->too_large = TRUE;
	else
		sum->value = sum->value * 10 + digit;
}

/* Digits @text[0 .. n - 1]; those from the position @keep on are cut. */
static void
sum_digits(DecimalSum *sum, const char *text, gsize n, gint64 keep)
{
	for (gint64 i = 0; i < (gint64)n; i++) {
		guint digit = (guint)(text[i] - '0');

		if (i < keep)
			sum_push(sum, digit);
		else if (i == keep)
			sum->first_cut = digit;
		else
			sum->more_cut |= digit != 0;
	}
}

static DecimalVerdict
sum_finish(const DecimalSum *sum, gint64 *ret_value)
{
	gboolean half = sum->first_cut == 5 && !sum->more_cut;
	gboolean up = half ? sum->value % 2 == 1 : sum->first_cut >= 5;

	if (sum->too_large || sum->value + up > G_MAXINT64)
		return DECIMAL_TOO_LARGE;
	*ret_value = (gint64)(sum->value + up);
	return sum->first_cut != 0 || sum->more_cut ? DECIMAL_ROUNDED : DECIMAL_OK;
}

static DecimalVerdict
parts_to_int(const DecimalParts *parts, guint scale, gint64 *ret_value)
{
	DecimalSum sum = { 0 };
	gint64 n = (gint64)(parts->n_whole + parts->n_places);
	gint64 keep = (gint64)parts->n_whole + parts->exponent + scale;

	sum_digits(&sum, parts->whole, parts->n_whole, keep);
	sum_digits(&sum, parts->places, parts->n_places, keep - (gint64)parts->n_whole);
	for (; n < keep && sum.value != 0 && !sum.too_large; n++)
		sum_push(&sum, 0);
	return sum_finish(&sum, ret_value);
}

DecimalVerdict
decimal_parse(const char *text, gsize length, guint scale, gint64 *ret_value)
{
	const char *end = text + length;
	DecimalParts parts;
	gboolean negative;

	while (text < end && is_blank(*text))
		text++;
	while (text < end && is_blank(end[-1]))
		end--;
	negative = text < end && *text == '-';
	if (!split_decimal(text + negative, end, &parts))
		return DECIMAL_BAD;
	return negative ? DECIMAL_NEGATIVE : parts_to_int(&parts, scale, ret_value);
}

gboolean
decimal_parse_double(const char *text, double *ret_value)
{
	gint64 unused;
	DecimalVerdict verdict = decimal_parse(text, strlen(text), 0, &unused);
	double value;

	if (verdict == DECIMAL_BAD)
		return FALSE;
	value = g_ascii_strtod(text, NULL);
	if (!isfinite(value))
		return FALSE;
	*ret_value = value;
	return TRUE;
}

/* Writing decimals */

/* GString's own append is a call that re-measures; a row has 25 cells and a table a million rows.
 */
static inline void
append_bytes(GString *out, const char *bytes, gsize n)
{
	if (out->len + n >= out->allocated_len) {
		g_string_append_len(out, bytes, (gssize)n);
		return;
	}
	memcpy(out->str + out->len, bytes, n);
	out->len += n;
	out->str[out->len] = '\0';
}

static const char digit_pairs[] = "00010203040506070809"
                                  "10111213141516171819"
                                  "20212223242526272829"
                                  "30313233343536373839"
                                  "40414243444546474849"
                                  "50515253545556575859"
                                  "60616263646566676869"
                                  "70717273747576777879"
                                  "80818283848586878889"
                                  "90919293949596979899";

/* Writes @value so that it ends before @end; returns where it begins. */
static inline char *
put_digits(char *end, guint64 value)
{
	while (value >= 100) {
		end -= 2;
		memcpy(end, &digit_pairs[value % 100 * 2], 2);
		value /= 100;
	}
	if (value < 10) {
		*--end = (char)('0' + value);
		return end;
	}
	end -= 2;
	memcpy(end, &digit_pairs[value * 2], 2);
	return end;
}

/* The whole part and its billionths, if there are any. */
static void
append_whole_and_nano(GString *out, guint64 whole, guint32 nano)
{
	char buffer[40];
	char *const point = buffer + 24;
	char *end = point;
	char *begin = put_digits(point, whole);

	if (nano > 0) {
		end = point + 1 + PLACES_MAX;
		/* The 1 in front keeps the zeros behind the point; the point then takes its place.
		 */
		put_digits(end, G_GUINT64_CONSTANT(1000000000) + nano);
		*point = '.';
		while (end[-1] == '0')
			end--;
	}
	append_bytes(out, begin, (gsize)(end - begin));
}

static const guint64 powers_of_ten[] = {
	1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u,
};

static unsigned __int128
power_of_ten(guint n)
{
	unsigned __int128 power = 1;

	for (; n > PLACES_MAX; n -= PLACES_MAX)
		power *= powers_of_ten[PLACES_MAX];
	return power * powers_of_ten[n];
}

static unsigned __int128
divide_half_even(unsigned __int128 value, unsigned __int128 divisor)
{
	unsigned __int128 quotient = value / divisor;
	unsigned __int128 rest = value - quotient * divisor;

	if (rest > divisor - rest || (rest == divisor - rest && quotient % 2 == 1))
		quotient++;
	return quotient;
}

/* GPU-seconds of a whole run may have a whole part of more than 64 bits. */
static void
append_large(GString *out, unsigned __int128 whole, guint32 nano)
{
	const guint64 chunk = G_GUINT64_CONSTANT(1000000000000000000);
	char buffer[20];

	if (whole <= G_MAXUINT64) {
		append_whole_and_nano(out, (guint64)whole, nano);
		return;
	}
	append_large(out, whole / chunk, 0);
	/* Eighteen places, then nine; the 1 in front keeps their zeros and is left out. */
	put_digits(buffer + 19, chunk + (guint64)(whole % chunk));
	append_bytes(out, buffer + 1, 18);
	if (nano == 0)
		return;
	put_digits(buffer + 10, powers_of_ten[PLACES_MAX] + nano);
	buffer[0] = '.';
	append_bytes(out, buffer, 10);
	while (out->str[out->len - 1] == '0')
		g_string_truncate(out, out->len - 1);
}

void
decimal_append(GString *out, __int128 value, guint scale)
{
	guint64 unit = powers_of_ten[MIN(scale, PLACES_MAX)];
	guint32 nano_per_unit = (guint32)(powers_of_ten[PLACES_MAX] / unit);
	unsigned __int128 rest = (unsigned __int128)value;

	g_assert(value >= 0 && scale <= SCALE_MAX);
	if (scale > PLACES_MAX)
		rest = divide_half_even(rest, power_of_ten(scale - PLACES_MAX));
	if (rest <= G_MAXUINT64)
		append_whole_and_nano(out, (guint64)rest / unit,
		                      (guint32)((guint64)rest % unit) * nano_per_unit);
	else
		append_large(out, rest / unit, (guint32)(rest % unit) * nano_per_unit);
}

/*
 * Billionths of 0 <= @fraction < 1, half to even. A double is mantissa x 2^exponent with 53 bits,
 * so its product with 10^9 is exact in 128 bits.
 */
static guint32
fraction_to_nano(double fraction)
{
	unsigned __int128 product, half, rest;
	guint64 bits, mantissa;
	guint shift;
	guint32 nano;

	memcpy(&bits, &fraction, sizeof bits);
	shift = 1075 - (guint)(bits >> 52);
	if (shift > 100) /* 0 and the denormal ones, too */
		return 0;
	mantissa = (bits & ((G_GUINT64_CONSTANT(1) << 52) - 1)) | (G_GUINT64_CONSTANT(1) << 52);
	product = (unsigned __int128)mantissa * powers_of_ten[PLACES_MAX];
	half = (unsigned __int128)1 << (shift - 1);
	nano = (guint32)(product >> shift);
	rest = product - ((unsigned __int128)nano << shift);
	return nano + (rest > half || (rest == half && nano % 2 == 1));
}

/* Beyond 64 bits every double is a whole number, which printf writes in full. */
static void
append_large_double(GString *out, double value)
{
	char buffer[G_ASCII_DTOSTR_BUF_SIZE + 320];

	g_string_append(out, g_ascii_formatd(buffer, sizeof buffer, "%.0f", value));
}

void
decimal_append_double(GString *out, double value)
{
	double size = fabs(value);
	guint64 whole;
	guint32 nano;

	if (!isfinite(value))
		return;
	if (size >= 0x1p63) {
		append_large_double(out, value);
		return;
	}
	whole = (guint64)size;
	nano = fraction_to_nano(size - (double)whole);
	if (nano == powers_of_ten[PLACES_MAX]) {
		whole++;
		nano = 0;
	}
	if (value < 0 && (whole > 0 || nano > 0))
		append_bytes(out, "-", 1);
	append_whole_and_nano(out, whole, nano);
}

void
seconds_append(GString *out, SimTime ns)
{
	g_assert(ns >= 0);
	append_whole_and_nano(out, (guint64)ns / NS_PER_S, (guint32)((guint64)ns % NS_PER_S));
}

char *
seconds_to_string(SimTime ns)
{
	GString *text = g_string_sized_new(24);

	seconds_append(text, ns);
	return g_string_free(text, FALSE);
}

void
gpu_seconds_append(GString *out, GpuTime time)
{
	decimal_append(out, time, 12);
}

/* Cells and strings */

/* A cell that begins with # would make its line a comment where it is the first (SEMANTICS A48). */
static gboolean
csv_needs_quotes(const char *cell)
{
	return cell[0] == '#' || strpbrk(cell, ",\"\r\n");
}

void
csv_append(GString *out, const char *cell)
{
	if (!cell)
		return;
	if (!csv_needs_quotes(cell)) {
		append_bytes(out, cell, strlen(cell));
		return;
	}
	g_string_append_c(out, '"');
	for (; *cell; cell++) {
		if (*cell == '"')
			g_string_append_c(out, '"');
		g_string_append_c(out, *cell);
	}
	g_string_append_c(out, '"');
}

static void
json_append_ascii(GString *out, char c)
{
	static const char short_names[] = "\"\"\\\\\bb\ff\nn\rr\tt";

	for (const char *p = short_names; *p; p += 2) {
		if (*p != c)
			continue;
		g_string_append_c(out, '\\');
		g_string_append_c(out, p[1]);
		return;
	}
	if ((guchar)c < 0x20)
		g_string_append_printf(out, "\\u%04x", (guint)c);
	else
		g_string_append_c(out, c);
}

void
json_append(GString *out, const char *text)
{
	if (!text) {
		append_bytes(out, "null", 4);
		return;
	}
	g_string_append_c(out, '"');
	while (*text) {
		gunichar c = g_utf8_get_char_validated(text, -1);

		if ((guchar)*text < 0x80)
			json_append_ascii(out, *text);
		else
			g_string_append_unichar(out, (gint)c < 0 ? 0xFFFD : c);
		text += (gint)c < 0 ? 1 : g_utf8_skip[(guchar)*text];
	}
	g_string_append_c(out, '"');
}

/* Mistyped names */

/* Case and the kind of dash are no mistakes. */
static char
plain(char c)
{
	return c == '-' ? '_' : g_ascii_tolower(c);
}

static gboolean
is_swapped(const char *a, const char *b, gsize i, gsize j)
{
	return i > 1 && j > 1 && plain(a[i - 1]) == plain(b[j - 2]) &&
	       plain(a[i - 2]) == plain(b[j - 1]);
}

/* How many letters were left out, added, replaced, or swapped with their neighbour. */
static guint
edit_distance(const char *a, gsize a_length, const char *b, gsize b_length)
{
	guint8 rows[3][NEAREST_BYTES + 1] = { 0 };

	for (gsize j = 0; j <= b_length; j++)
		rows[0][j] = (guint8)j;
	for (gsize i = 1; i <= a_length; i++) {
		const guint8 *before = rows[(i + 1) % 3]; /* i - 2 */
		const guint8 *last = rows[(i + 2) % 3];   /* i - 1 */
		guint8 *row = rows[i % 3];

		row[0] = (guint8)i;
		for (gsize j = 1; j <= b_length; j++) {
			guint cost = last[j - 1] + (plain(a[i - 1]) != plain(b[j - 1]));

			cost = MIN(cost, MIN(last[j], row[j - 1]) + 1u);
			if (is_swapped(a, b, i, j))
				cost = MIN(cost, before[j - 2] + 1u);
			row[j] = (guint8)cost;
		}
	}
	return rows[a_length % 3][b_length];
}

const char *
text_nearest(const char *name, const char *const *names)
{
	gsize length = strlen(name);
	const char *best = NULL;
	guint best_distance = G_MAXUINT;

	for (; *names && length <= NEAREST_BYTES; names++) {
		gsize other = strlen(*names);
		guint distance;

		if (other > NEAREST_BYTES)
			continue;
		distance = edit_distance(name, length, *names, other);
		/* A forgotten unit or ending is one mistake, however long: thresholds_gpu_s. */
		if (length >= 3 && other > length && !g_ascii_strncasecmp(name, *names, length))
			distance = 1;
		if (distance < best_distance && distance <= MAX(MAX(length, other) / 3, 1)) {
			best = *names;
			best_distance = distance;
		}
	}
	return best;
}
