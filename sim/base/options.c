/* SPDX-License-Identifier: MIT */
#include "sim/base/options.h"

#include <math.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/text.h"

/* Places in the policy's struct */

static gpointer
place_of(const Option *option, void *values)
{
	return (char *)values + option->offset;
}

static gconstpointer
value_of(const Option *option, const void *values)
{
	return (const char *)values + option->offset;
}

/* Beyond this a bound only says "any". */
#define BOUND_MAX 1e15

/* A row of zeros asks for "at least 0"; see options.h. */
static gboolean
has_max(const Option *option)
{
	return option->max > option->min && option->max < BOUND_MAX;
}

static gboolean
is_in_range(const Option *option, double value)
{
	return value >= option->min && (!has_max(option) || value <= option->max);
}

/* What is wanted, for errors and pages */

static const char *
kind_noun(OptionKind kind)
{
	switch (kind) {
	case OPTION_BOOL:
		return "true or false";
	case OPTION_INT:
		return "a whole number";
	case OPTION_NUMBER:
		return "a number";
	case OPTION_SECONDS:
		return "a number of seconds";
	case OPTION_CHOICE:
		return "one of";
	case OPTION_SECONDS_LIST:
		return "ascending numbers, as 3600 or [3600,36000]";
	case OPTION_NUMBER_LIST:
		return "numbers above 0, as [8,16,36]";
	case OPTION_TEXT:
		return "a text";
	}
	g_assert_not_reached();
}

static void
append_range(GString *out, const Option *option)
{
	if (option->min <= -BOUND_MAX && !has_max(option))
		return;
	g_string_append(out, has_max(option) ? " from " : " of at least ");
	decimal_append_double(out, option->min);
	if (!has_max(option))
		return;
	g_string_append(out, " to ");
	decimal_append_double(out, option->max);
}

static void
append_choices(GString *out, const Option *option)
{
	for (guint i = 0; option->choices[i]; i++)
		g_string_append_printf(out, "%s%s", i > 0 ? ", " : " ", option->choices[i]);
}

char *
option_wanted(const Option *option)
{
	GString *text = g_string_new(kind_noun(option->kind));

	switch (option->kind) {
	case OPTION_INT:
	case OPTION_NUMBER:
	case OPTION_SECONDS:
		append_range(text, option);
		break;
	case OPTION_CHOICE:
		append_choices(text, option);
		break;
	case OPTION_BOOL:
	case OPTION_SECONDS_LIST:
	case OPTION_NUMBER_LIST:
	case OPTION_TEXT:
		break;
	}
	if (option->may_be_off)
		g_string_append(text, ", or off");
	return g_string_free(text, FALSE);
}

/* Reading a value: each is TRUE if @text is of the kind, and writes nothing if not. */

static gboolean
set_bool(const char *text, gboolean *ret_value)
{
	static const char *const yes[] = { "true", "yes", "on", "1", NULL };
	static const char *const no[] = { "false", "no", "off", "0", NULL };
	g_autofree char *lower = g_ascii_strdown(text, -1);

	if (!g_strv_contains(yes, lower) && !g_strv_contains(no, lower))
		return FALSE;
	*ret_value = g_strv_contains(yes, lower);
	return TRUE;
}

static gboolean
set_int(const Option *option, const char *text, gint64 *ret_value)
{
	gboolean is_negative = text[0] == '-';
	gint64 value;

	if (decimal_parse(text + is_negative, strlen(text + is_negative), 0, &value) != DECIMAL_OK)
		return FALSE;
	if (is_negative)
		value = -value;
	if (!is_in_range(option, (double)value))
		return FALSE;
	*ret_value = value;
	return TRUE;
}

static gboolean
set_number(const Option *option, const char *text, double *ret_value)
{
	double value;

	if (option->may_be_off && g_ascii_strcasecmp(text, "off") == 0) {
		*ret_value = HUGE_VAL;
		return TRUE;
	}
	if (!decimal_parse_double(text, &value) || !is_in_range(option, value))
		return FALSE;
	*ret_value = value;
	return TRUE;
}

static gboolean
parse_ns(const char *text, gsize length, gint64 *ret_ns)
{
	DecimalVerdict verdict = decimal_parse(text, length, 9, ret_ns);

	return verdict == DECIMAL_OK || verdict == DECIMAL_ROUNDED;
}

static gboolean
set_seconds(const Option *option, const char *text, SimTime *ret_ns)
{
	SimTime ns;

	if (option->may_be_off && g_ascii_strcasecmp(text, "off") == 0) {
		*ret_ns = TIME_NEVER;
		return TRUE;
	}
	if (!parse_ns(text, strlen(text), &ns) ||
	    !is_in_range(option, (double)ns / (double)NS_PER_S))
		return FALSE;
	*ret_ns = ns;
	return TRUE;
}

static gboolean
set_choice(const Option *option, const char *text, gint *ret_index)
{
	for (gint i = 0; option->choices[i]; i++) {
		if (!g_str_equal(option->choices[i], text))
			continue;
		*ret_index = i;
		return TRUE;
	}
	return FALSE;
}

static gboolean
may_follow(const Option *option, const GArray *values, gint64 value)
{
	if (option->kind == OPTION_NUMBER_LIST)
		return value > 0;
	return values->len == 0 || value > g_array_index(values, gint64, values->len - 1);
}

/* `[a,b]`, `[]` or a bare `a` (A39). */
static gboolean
parse_list(const Option *option, const char *text, GArray *values)
{
	g_autofree char *inside = g_strstrip(g_strdup(text));
	gsize length = strlen(inside);
	g_auto(GStrv) parts = NULL;

	if (inside[0] == '[' && inside[length - 1] == ']') {
		inside[length - 1] = '\0';
		inside[0] = ' ';
		g_strstrip(inside);
		if (inside[0] == '\0')
			return TRUE;
	}
	parts = g_strsplit(inside, ",", -1);
	for (guint i = 0; parts[i]; i++) {
		gint64 value;

		if (!parse_ns(parts[i], strlen(parts[i]), &value) ||
		    !may_follow(option, values, value))
			return FALSE;
		g_array_append_val(values, value);
	}
	return parts[0] != NULL;
}

static gboolean
set_list(const Option *option, const char *text, OptionList *ret_list)
{
	g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(gint64));

	if (!parse_list(option, text, values))
		return FALSE;
	g_free(ret_list->values);
	ret_list->n = values->len;
	ret_list->values = (gint64 *)(gpointer)g_array_free(g_steal_pointer(&values), FALSE);
	return TRUE;
}

static gboolean
set_text(const char *text, char **ret_text)
{
	g_free(*ret_text);
	*ret_text = g_strdup(text);
	return TRUE;
}

static gboolean
set_value(const Option *option, void *values, const char *text)
{
	gpointer place = place_of(option, values);

	switch (option->kind) {
	case OPTION_BOOL:
		return set_bool(text, place);
	case OPTION_INT:
		return set_int(option, text, place);
	case OPTION_NUMBER:
		return set_number(option, text, place);
	case OPTION_SECONDS:
		return set_seconds(option, text, place);
	case OPTION_CHOICE:
		return set_choice(option, text, place);
	case OPTION_SECONDS_LIST:
	case OPTION_NUMBER_LIST:
		return set_list(option, text, place);
	case OPTION_TEXT:
		return set_text(text, place);
	}
	g_assert_not_reached();
}

/* The table */

/* A text that nobody gave is "", so that no reader has to ask for NULL. */
static void
set_standard(const Option *option, void *values)
{
	const char *standard = option->standard;

	if (!standard && option->kind == OPTION_TEXT)
		standard = "";
	if (standard) {
		gboolean is_good = set_value(option, values, standard);

		g_assert(is_good);
	}
}

void *
options_new(const Option *table, gsize size)
{
	void *values = g_malloc0(MAX(size, 1));

	for (const Option *option = table; option && option->name; option++)
		set_standard(option, values);
	return values;
}

static void
free_value(const Option *option, void *values)
{
	gpointer place = place_of(option, values);

	if (option->kind == OPTION_SECONDS_LIST || option->kind == OPTION_NUMBER_LIST)
		g_free(((OptionList *)place)->values);
	if (option->kind == OPTION_TEXT)
		g_free(*(char **)place);
}

void
options_free(const Option *table, void *values)
{
	if (!values)
		return;
	for (const Option *option = table; option && option->name; option++)
		free_value(option, values);
	g_free(values);
}

/* The item at *@text, which moves on behind it and its comma, or to NULL at the end. */
static char *
next_item(const char **text)
{
	const char *start = *text, *end = start;

	for (guint depth = 0; *end && (*end != ',' || depth > 0); end++) {
		if (*end == '[')
			depth++;
		else if (*end == ']' && depth > 0)
			depth--;
	}
	*text = *end == '\0' ? NULL : end + 1;
	return g_strndup(start, (gsize)(end - start));
}

const Option *
options_find(const Option *table, const char *name)
{
	for (const Option *option = table; option && option->name; option++)
		if (g_str_equal(option->name, name))
			return option;
	return NULL;
}

static void
unknown_option(const Option *table, const char *name, int code, GError **error)
{
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	g_auto(GStrv) names = NULL;
	g_autofree char *all = NULL;
	const char *nearest;

	for (const Option *option = table; option && option->name; option++)
		g_strv_builder_add(builder, option->name);
	names = g_strv_builder_end(builder);
	if (!names[0]) {
		g_set_error(error, SIM_ERROR, code,
		            "found the option \"%s\", wanted none: it has no options", name);
		return;
	}
	nearest = text_nearest(name, (const char *const *)names);
	all = g_strjoinv(", ", names);
	g_set_error(error, SIM_ERROR, code, "found the unknown option \"%s\", wanted %s%s", name,
	            nearest ? "perhaps " : "one of: ", nearest ? nearest : all);
}

static void
bad_value(const Option *option, const char *text, int code, GError **error)
{
	g_autofree char *wanted = option_wanted(option);
	const char *nearest =
	    option->kind == OPTION_CHOICE ? text_nearest(text, option->choices) : NULL;

	g_set_error(error, SIM_ERROR, code, "found \"%s\" for %s, wanted %s%s%s%s", text,
	            option->name, wanted, nearest ? " (perhaps " : "", nearest ? nearest : "",
	            nearest ? ")" : "");
}

gboolean
options_set(const Option *table, void *values, const char *name, const char *text, int code,
            GError **error)
{
	const Option *option = options_find(table, name);

	if (!option) {
		unknown_option(table, name, code, error);
		return FALSE;
	}
	if (!set_value(option, values, text)) {
		bad_value(option, text, code, error);
		return FALSE;
	}
	return TRUE;
}

/* Writing a value */

/* The fewest digits that are read back as the same. */
static void
append_exactly(GString *out, double value)
{
	char buffer[G_ASCII_DTOSTR_BUF_SIZE];

	for (guint n_digits = 1; n_digits <= 17; n_digits++) {
		char format[8];

		g_snprintf(format, sizeof format, "%%.%ug", n_digits);
		g_ascii_formatd(buffer, sizeof buffer, format, value);
		if (g_ascii_strtod(buffer, NULL) == value)
			break;
	}
	g_string_append(out, buffer);
}

/* As in every table, unless nine places are too few for it. */
static void
append_number(GString *out, double value)
{
	gsize start = out->len;
	double back;

	if (isinf(value)) {
		g_string_append(out, "off");
		return;
	}
	decimal_append_double(out, value);
	if (decimal_parse_double(out->str + start, &back) && back == value)
		return;
	g_string_truncate(out, start);
	append_exactly(out, value);
}

/* A list of one is written as the number alone, which reads back as the same list. */
static void
append_list(GString *out, const OptionList *list)
{
	if (list->n != 1)
		g_string_append_c(out, '[');
	for (guint i = 0; i < list->n; i++) {
		if (i > 0)
			g_string_append_c(out, ',');
		seconds_append(out, list->values[i]);
	}
	if (list->n != 1)
		g_string_append_c(out, ']');
}

static void
append_value(GString *out, const Option *option, const void *values)
{
	gconstpointer value = value_of(option, values);

	switch (option->kind) {
	case OPTION_BOOL:
		g_string_append(out, *(const gboolean *)value ? "true" : "false");
		break;
	case OPTION_INT:
		g_string_append_printf(out, "%" G_GINT64_FORMAT, *(const gint64 *)value);
		break;
	case OPTION_NUMBER:
		append_number(out, *(const double *)value);
		break;
	case OPTION_SECONDS:
		if (option->may_be_off && *(const SimTime *)value == TIME_NEVER)
			g_string_append(out, "off");
		else
			seconds_append(out, *(const SimTime *)value);
		break;
	case OPTION_CHOICE:
		g_string_append(out, option->choices[*(const gint *)value]);
		break;
	case OPTION_SECONDS_LIST:
	case OPTION_NUMBER_LIST:
		append_list(out, value);
		break;
	case OPTION_TEXT:
		g_string_append(out, *(char *const *)value);
		break;
	}
}

char *
options_get(const Option *option, const void *values)
{
	GString *text = g_string_new(NULL);

	append_value(text, option, values);
	return g_string_free(text, FALSE);
}

char *
options_to_string(const Option *table, const void *values)
{
	GString *text = g_string_new(NULL);

	for (const Option *option = table; option && option->name; option++) {
		g_string_append_printf(text, "%s%s=", option == table ? "" : ",", option->name);
		append_value(text, option, values);
	}
	return g_string_free(text, FALSE);
}

/* Adds what @item says to @pairs. */
static gboolean
split_item(GPtrArray *pairs, const char *item, int code, GError **error)
{
	const char *equals = strchr(item, '=');
	g_autofree char *key = NULL;

	if (!equals) {
		g_set_error(error, SIM_ERROR, code, "found \"%s\", wanted key=value", item);
		return FALSE;
	}
	key = g_strstrip(g_strndup(item, (gsize)(equals - item)));
	for (guint i = 0; i < pairs->len; i += 2)
		if (g_str_equal(pairs->pdata[i], key)) {
			g_set_error(error, SIM_ERROR, code, "found %s again, wanted it once", key);
			return FALSE;
		}
	g_ptr_array_add(pairs, g_steal_pointer(&key));
	g_ptr_array_add(pairs, g_strdup(equals + 1));
	return TRUE;
}

char **
options_split(const char *text, int code, GError **error)
{
	g_autoptr(GPtrArray) pairs = g_ptr_array_new_with_free_func(g_free);

	while (text) {
		g_autofree char *item = next_item(&text);

		if (!split_item(pairs, item, code, error))
			return NULL;
	}
	g_ptr_array_add(pairs, NULL);
	return (char **)g_ptr_array_steal(pairs, NULL);
}
