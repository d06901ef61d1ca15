/* SPDX-License-Identifier: MIT */
#include "sim/report/json.h"

#include <math.h>

#include "sim/base/text.h"

static void
new_line(JsonWriter *json)
{
	g_string_append_c(json->out, '\n');
	for (guint i = 0; i < json->depth; i++)
		g_string_append(json->out, "  ");
}

static void
begin_item(JsonWriter *json, const char *key)
{
	if (json->has_item)
		g_string_append_c(json->out, ',');
	if (json->depth > 0)
		new_line(json);
	json->has_item = TRUE;
	if (!key)
		return;
	json_append(json->out, key);
	g_string_append(json->out, ": ");
}

void
json_open(JsonWriter *json, const char *key, char bracket)
{
	begin_item(json, key);
	g_string_append_c(json->out, bracket);
	json->depth++;
	json->has_item = FALSE;
}

void
json_close(JsonWriter *json, char bracket)
{
	json->depth--;
	if (json->has_item)
		new_line(json);
	g_string_append_c(json->out, bracket);
	json->has_item = TRUE;
}

void
json_text(JsonWriter *json, const char *key, const char *text)
{
	begin_item(json, key);
	json_append(json->out, text);
}

void
json_count(JsonWriter *json, const char *key, guint64 count)
{
	begin_item(json, key);
	decimal_append(json->out, count, 0);
}

void
json_bool(JsonWriter *json, const char *key, gboolean value)
{
	begin_item(json, key);
	g_string_append(json->out, value ? "true" : "false");
}

void
json_number(JsonWriter *json, const char *key, double value)
{
	begin_item(json, key);
	if (isfinite(value))
		decimal_append_double(json->out, value);
	else
		g_string_append(json->out, "null");
}
