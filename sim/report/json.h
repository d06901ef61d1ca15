/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A JSON document written from front to back, indented by two blanks a level; members in the order
 * of the calls. A @key of NULL is an item of a list.
 */

#include <glib.h>

typedef struct JsonWriter {
	GString *out;
	guint depth;
	gboolean has_item; /* in the object or list that is open */
} JsonWriter;

void json_open(JsonWriter *json, const char *key, char bracket);
void json_close(JsonWriter *json, char bracket);
void json_text(JsonWriter *json, const char *key, const char *text); /* NULL is null */
void json_count(JsonWriter *json, const char *key, guint64 count);
void json_bool(JsonWriter *json, const char *key, gboolean value);
/* null where it is not finite. */
void json_number(JsonWriter *json, const char *key, double value);
