/* SPDX-License-Identifier: MIT */
#include "sim/base/yaml.h"

#include <string.h>

#include <yaml.h>

#include "sim/base/error.h"
#include "sim/base/file.h"
#include "sim/base/text.h"

#define DEPTH_MAX 64u

struct YamlNode {
	const YamlDocument *document;
	YamlKind kind;
	gboolean is_null;
	guint64 line;
	guint column;
	char *text;        /* of YAML_TEXT */
	GPtrArray *keys;   /* of YamlNode, of YAML_MAP */
	GPtrArray *items;  /* of YamlNode, of YAML_LIST and YAML_MAP */
	GHashTable *index; /* key text -> YamlNode of the value, of YAML_MAP */
};

struct YamlDocument {
	Problems *problems; /* not owned */
	YamlNode *root;
	GPtrArray *nodes; /* of YamlNode; owns them all */
};

/* Nodes */

static void
node_free(gpointer data)
{
	YamlNode *node = data;

	g_clear_pointer(&node->keys, g_ptr_array_unref);
	g_clear_pointer(&node->items, g_ptr_array_unref);
	g_clear_pointer(&node->index, g_hash_table_unref);
	g_free(node->text);
	g_free(node);
}

static YamlNode *
node_new(YamlDocument *document, YamlKind kind, yaml_mark_t mark)
{
	YamlNode *node = g_new0(YamlNode, 1);

	node->document = document;
	node->kind = kind;
	node->line = mark.line + 1;
	node->column = (guint)mark.column + 1;
	if (kind != YAML_TEXT)
		node->items = g_ptr_array_new();
	if (kind == YAML_MAP) {
		node->keys = g_ptr_array_new();
		node->index = g_hash_table_new(g_str_hash, g_str_equal);
	}
	g_ptr_array_add(document->nodes, node);
	return node;
}

static YamlNode *
null_new(YamlDocument *document, yaml_mark_t mark)
{
	YamlNode *node = node_new(document, YAML_TEXT, mark);

	node->text = g_strdup("");
	node->is_null = TRUE;
	return node;
}

static gboolean
is_null_word(const char *text)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL", NULL };

	return g_strv_contains(words, text);
}

/* A quoted null is a text like any other. A byte 0 would end the text early, so it is refused. */
static YamlNode *
scalar_new(YamlDocument *document, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	YamlNode *node = node_new(document, YAML_TEXT, event->start_mark);

	node->is_null = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && is_null_word(text);
	node->text = g_strdup(node->is_null ? "" : text);
	if (strlen(text) != event->data.scalar.length)
		yaml_complain(node, "NUL in a text", "found a NUL character, wanted text");
	return node;
}

/* Building the tree from libyaml's events, with a stack of the open lists and mappings */

typedef struct Builder {
	yaml_parser_t parser;
	YamlDocument *document;
	const char *path;
	const char *input;
	YamlNode *open[DEPTH_MAX];
	YamlNode *key[DEPTH_MAX]; /* of an open mapping: the key that waits for its value */
	guint depth;
	guint n_documents;
} Builder;

static gboolean
refuse(const Builder *builder, yaml_mark_t mark, const char *what, GError **error)
{
	g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT,
	            "%s:%" G_GSIZE_FORMAT ":%" G_GSIZE_FORMAT ": %s", builder->path, mark.line + 1,
	            mark.column + 1, what);
	return FALSE;
}

static gboolean
push_key(Builder *builder, YamlNode *key, yaml_mark_t mark, GError **error)
{
	if (key->kind != YAML_TEXT)
		return refuse(builder, mark, "found a list or mapping as a key, wanted a text",
		              error);
	builder->key[builder->depth - 1] = key;
	return TRUE;
}

/* The first of two equal keys stands; the second one's value is read but hangs nowhere. */
static void
map_add(YamlNode *map, YamlNode *key, YamlNode *value)
{
	const YamlNode *first = g_hash_table_lookup(map->index, key->text);

	if (first) {
		yaml_complain(key, "duplicate key",
		              "found the key \"%s\" again, wanted it once (its value is on line "
		              "%" G_GUINT64_FORMAT ")",
		              key->text, first->line);
		return;
	}
	g_ptr_array_add(map->keys, key);
	g_ptr_array_add(map->items, value);
	g_hash_table_insert(map->index, key->text, value);
}

static gboolean
add_node(Builder *builder, YamlNode *node, yaml_mark_t mark, GError **error)
{
	YamlNode *parent = builder->depth > 0 ? builder->open[builder->depth - 1] : NULL;

	if (!parent) {
		builder->document->root = node;
	} else if (parent->kind == YAML_LIST) {
		g_ptr_array_add(parent->items, node);
	} else if (!builder->key[builder->depth - 1]) {
		return push_key(builder, node, mark, error);
	} else {
		map_add(parent, builder->key[builder->depth - 1], node);
		builder->key[builder->depth - 1] = NULL;
	}
	return TRUE;
}

static gboolean
open_node(Builder *builder, YamlKind kind, yaml_mark_t mark, GError **error)
{
	YamlNode *node = node_new(builder->document, kind, mark);

	if (!add_node(builder, node, mark, error))
		return FALSE;
	if (builder->depth == DEPTH_MAX)
		return refuse(builder, mark, "found more than 64 levels of nesting, wanted fewer",
		              error);
	builder->open[builder->depth] = node;
	builder->key[builder->depth++] = NULL;
	return TRUE;
}

static void
refuse_anchor(const Builder *builder, const yaml_char_t *anchor, yaml_mark_t mark)
{
	if (anchor)
		problems_add(builder->document->problems, mark.line + 1, (guint)mark.column + 1,
		             "anchor or alias", "found the anchor \"&%s\", wanted plain values",
		             (const char *)anchor);
}

static void
refuse_tag(const Builder *builder, const yaml_char_t *tag, yaml_mark_t mark)
{
	if (tag)
		problems_add(builder->document->problems, mark.line + 1, (guint)mark.column + 1,
		             "tag", "found the tag \"%s\", wanted plain values", (const char *)tag);
}

static gboolean
start_document(Builder *builder, yaml_mark_t mark, GError **error)
{
	if (builder->n_documents++ == 0)
		return TRUE;
	return refuse(builder, mark, "found a second document, wanted one in a file", error);
}

/* An alias stands for nothing: expanding it is how a small file becomes a huge one. */
static gboolean
add_alias(Builder *builder, const yaml_event_t *event, GError **error)
{
	YamlNode *node = null_new(builder->document, event->start_mark);

	yaml_complain(node, "anchor or alias", "found the alias \"*%s\", wanted the value itself",
	              (const char *)event->data.alias.anchor);
	return add_node(builder, node, event->start_mark, error);
}

static gboolean
take_event(Builder *builder, const yaml_event_t *event, GError **error)
{
	yaml_mark_t mark = event->start_mark;

	switch (event->type) {
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		return TRUE;
	case YAML_DOCUMENT_START_EVENT:
		return start_document(builder, mark, error);
	case YAML_ALIAS_EVENT:
		return add_alias(builder, event, error);
	case YAML_SCALAR_EVENT:
		refuse_anchor(builder, event->data.scalar.anchor, mark);
		refuse_tag(builder, event->data.scalar.tag, mark);
		return add_node(builder, scalar_new(builder->document, event), mark, error);
	case YAML_SEQUENCE_START_EVENT:
		refuse_anchor(builder, event->data.sequence_start.anchor, mark);
		refuse_tag(builder, event->data.sequence_start.tag, mark);
		return open_node(builder, YAML_LIST, mark, error);
	case YAML_MAPPING_START_EVENT:
		refuse_anchor(builder, event->data.mapping_start.anchor, mark);
		refuse_tag(builder, event->data.mapping_start.tag, mark);
		return open_node(builder, YAML_MAP, mark, error);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		builder->depth--;
		return TRUE;
	}
	g_assert_not_reached();
}

/* The reader's errors have an offset instead of a mark. */
static yaml_mark_t
mark_of_offset(const char *input, gsize offset)
{
	yaml_mark_t mark = { .index = offset };

	for (gsize i = 0; i < offset; i++) {
		mark.column++;
		if (input[i] == '\n') {
			mark.line++;
			mark.column = 0;
		}
	}
	return mark;
}

static gboolean
syntax_error(const Builder *builder, GError **error)
{
	const yaml_parser_t *parser = &builder->parser;
	g_autofree char *what = g_strdup_printf(
	    "%s%s%s, wanted YAML", parser->problem ? parser->problem : "found no YAML",
	    parser->context ? " " : "", parser->context ? parser->context : "");

	if (parser->error == YAML_READER_ERROR)
		return refuse(builder, mark_of_offset(builder->input, parser->problem_offset), what,
		              error);
	return refuse(builder, parser->problem_mark, what, error);
}

static gboolean
build(Builder *builder, GError **error)
{
	gboolean ok = TRUE, at_end = FALSE;

	while (ok && !at_end) {
		yaml_event_t event;

		if (!yaml_parser_parse(&builder->parser, &event))
			return syntax_error(builder, error);
		at_end = event.type == YAML_STREAM_END_EVENT;
		ok = take_event(builder, &event, error);
		yaml_event_delete(&event);
	}
	return ok;
}

static YamlDocument *
document_new(Problems *problems)
{
	YamlDocument *document = g_new0(YamlDocument, 1);

	document->problems = problems;
	document->nodes = g_ptr_array_new_with_free_func(node_free);
	return document;
}

YamlDocument *
yaml_parse(const char *text, gsize length, Problems *problems, GError **error)
{
	g_autoptr(YamlDocument) document = document_new(problems);
	Builder builder = { .document = document, .path = problems->path, .input = text };
	yaml_mark_t start = { 0 };
	gboolean ok;
	int started = yaml_parser_initialize(&builder.parser);

	g_assert(started);
	yaml_parser_set_input_string(&builder.parser, (const guchar *)text, length);
	ok = build(&builder, error);
	yaml_parser_delete(&builder.parser);
	if (!ok)
		return NULL;
	if (!document->root || document->root->is_null)
		document->root = node_new(document, YAML_MAP, start);
	return g_steal_pointer(&document);
}

YamlDocument *
yaml_read(const char *path, Problems *problems, GError **error)
{
	g_autofree char *text = NULL;
	gsize length;

	if (!file_read(path, &text, &length, error))
		return NULL;
	return yaml_parse(text, length, problems, error);
}

void
yaml_document_free(YamlDocument *document)
{
	if (!document)
		return;
	g_ptr_array_unref(document->nodes);
	g_free(document);
}

/* Reading the tree */

const YamlNode *
yaml_root(const YamlDocument *document)
{
	return document->root;
}

YamlKind
yaml_kind(const YamlNode *node)
{
	return node->kind;
}

guint64
yaml_line(const YamlNode *node)
{
	return node->line;
}

guint
yaml_column(const YamlNode *node)
{
	return node->column;
}

const char *
yaml_text(const YamlNode *node)
{
	return node->text;
}

gboolean
yaml_is_null(const YamlNode *node)
{
	return node->is_null;
}

guint
yaml_n(const YamlNode *node)
{
	return node->items ? node->items->len : 0;
}

const YamlNode *
yaml_item(const YamlNode *node, guint index)
{
	g_assert(index < yaml_n(node));
	return g_ptr_array_index(node->items, index);
}

const YamlNode *
yaml_key_node(const YamlNode *node, guint index)
{
	g_assert(node->kind == YAML_MAP && index < node->keys->len);
	return g_ptr_array_index(node->keys, index);
}

const char *
yaml_key(const YamlNode *node, guint index)
{
	return yaml_key_node(node, index)->text;
}

const YamlNode *
yaml_find(const YamlNode *node, const char *key)
{
	return node->index ? g_hash_table_lookup(node->index, key) : NULL;
}

gboolean
yaml_replace(YamlDocument *document, const char *path, const char *text)
{
	g_auto(GStrv) keys = g_strsplit(path, ".", -1);
	YamlNode *node = document->root;

	for (guint i = 0; keys[i] && node; i++)
		node = node->index ? g_hash_table_lookup(node->index, keys[i]) : NULL;
	if (!node || node->kind != YAML_TEXT)
		return FALSE;
	node->is_null = is_null_word(text);
	g_free(node->text);
	node->text = g_strdup(node->is_null ? "" : text);
	return TRUE;
}

void
yaml_complain(const YamlNode *node, const char *reason, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	problems_add(node->document->problems, node->line, node->column, reason, "%s", text);
}

/* What stands at @node, for "found ..."; free with g_free(). */
static char *
describe(const YamlNode *node)
{
	switch (node->kind) {
	case YAML_TEXT:
		return node->is_null ? g_strdup("nothing") : g_strdup_printf("\"%s\"", node->text);
	case YAML_LIST:
		return g_strdup("a list");
	case YAML_MAP:
		return g_strdup("a mapping");
	}
	g_assert_not_reached();
}

/* The complaint about the value of @key; always FALSE. */
static gboolean
bad_value(const YamlNode *node, const char *key, const char *wanted)
{
	g_autofree char *found = describe(node);
	g_autofree char *reason = g_strdup_printf("bad %s", key);

	yaml_complain(node, reason, "found %s for %s, wanted %s", found, key, wanted);
	return FALSE;
}

static void
complain_key(const YamlNode *key, const char *const *known)
{
	const char *nearest = text_nearest(key->text, known);
	g_autoptr(GString) all = g_string_new(NULL);

	if (nearest) {
		yaml_complain(key, "unknown key",
		              "found the unknown key \"%s\", wanted perhaps \"%s\"", key->text,
		              nearest);
		return;
	}
	for (guint i = 0; known[i]; i++)
		g_string_append_printf(all, "%s%s", i > 0 ? ", " : "", known[i]);
	yaml_complain(key, "unknown key", "found the unknown key \"%s\", wanted one of: %s",
	              key->text, all->str);
}

/* A mapping that was left empty, as in "themis:", reads as nothing. */
gboolean
yaml_expect_keys(const YamlNode *node, const char *const *known)
{
	gboolean ok = TRUE;

	if (node->is_null)
		return TRUE;
	if (node->kind != YAML_MAP) {
		g_autofree char *found = describe(node);

		yaml_complain(node, "no mapping", "found %s, wanted a mapping of keys to values",
		              found);
		return FALSE;
	}
	for (guint i = 0; i < node->keys->len; i++) {
		const YamlNode *key = g_ptr_array_index(node->keys, i);

		if (g_strv_contains(known, key->text))
			continue;
		complain_key(key, known);
		ok = FALSE;
	}
	return ok;
}

gboolean
yaml_get_text(const YamlNode *map, const char *key, const char **ret_value)
{
	const YamlNode *node = yaml_find(map, key);

	if (!node)
		return TRUE;
	if (node->kind != YAML_TEXT || node->is_null)
		return bad_value(node, key, "a text");
	*ret_value = node->text;
	return TRUE;
}

gboolean
yaml_get_bool(const YamlNode *map, const char *key, gboolean *ret_value)
{
	static const char *const yes[] = { "true", "yes", "on", NULL };
	static const char *const no[] = { "false", "no", "off", NULL };
	const YamlNode *node = yaml_find(map, key);
	g_autofree char *lower = NULL;

	if (!node)
		return TRUE;
	lower = g_ascii_strdown(node->text ? node->text : "", -1);
	if (!g_strv_contains(yes, lower) && !g_strv_contains(no, lower))
		return bad_value(node, key, "true or false");
	*ret_value = g_strv_contains(yes, lower);
	return TRUE;
}

/* A decimal with an optional minus, times 10^@scale. What is too large is so with either sign. */
static DecimalVerdict
parse_signed(const char *text, guint scale, gint64 *ret_value)
{
	DecimalVerdict verdict = decimal_parse(text, strlen(text), scale, ret_value);

	if (verdict != DECIMAL_NEGATIVE)
		return verdict;
	text = strchr(text, '-') + 1;
	verdict = decimal_parse(text, strlen(text), scale, ret_value);
	if (verdict == DECIMAL_OK || verdict == DECIMAL_ROUNDED)
		*ret_value = -*ret_value;
	return verdict;
}

static void
append_signed(GString *out, gint64 value, guint scale)
{
	if (value < 0)
		g_string_append_c(out, '-');
	decimal_append(out, value < 0 ? -(__int128)value : value, scale);
}

/* "a number", "a number of at least 0" or "a number from 0 to 1.5"; free with g_free(). The clock's
 * own end is no bound worth a word. */
static char *
describe_range(const char *what, guint scale, gint64 min, gint64 max)
{
	gboolean has_min = min > G_MININT64, has_max = max < TIME_NEVER - 1;
	g_autoptr(GString) text = g_string_new(what);

	if (has_min) {
		g_string_append(text, has_max ? " from " : " of at least ");
		append_signed(text, min, scale);
	}
	if (has_max) {
		g_string_append(text, has_min ? " to " : " of at most ");
		append_signed(text, max, scale);
	}
	return g_strdup(text->str);
}

typedef enum ScaledRounding {
	SCALED_NOTICED, /* more digits than the scale holds are rounded, with a notice */
	SCALED_REFUSED,
} ScaledRounding;

static gboolean
get_scaled(const YamlNode *node, const char *key, const char *what, guint scale,
           ScaledRounding rounding, gint64 min, gint64 max, gint64 *ret_value)
{
	gint64 value = 0;
	DecimalVerdict verdict = node->text ? parse_signed(node->text, scale, &value) : DECIMAL_BAD;
	gboolean is_number =
	    verdict == DECIMAL_OK || (verdict == DECIMAL_ROUNDED && rounding == SCALED_NOTICED);

	if (!is_number || value < min || value > max) {
		g_autofree char *wanted = describe_range(what, scale, min, max);

		return bad_value(node, key, wanted);
	}
	if (verdict == DECIMAL_ROUNDED)
		problems_notice(node->document->problems, node->line, node->column, "rounded",
		                "found \"%s\" for %s, rounded to %u decimals", node->text, key,
		                scale);
	*ret_value = value;
	return TRUE;
}

gboolean
yaml_get_int(const YamlNode *map, const char *key, gint64 min, gint64 max, gint64 *ret_value)
{
	const YamlNode *node = yaml_find(map, key);

	return !node ||
	       get_scaled(node, key, "a whole number", 0, SCALED_REFUSED, min, max, ret_value);
}

gboolean
yaml_get_seconds(const YamlNode *map, const char *key, SimTime *ret_ns)
{
	const YamlNode *node = yaml_find(map, key);

	return !node || get_scaled(node, key, "a number of seconds", 9, SCALED_NOTICED, 0,
	                           TIME_NEVER - 1, ret_ns);
}

gboolean
yaml_get_scaled(const YamlNode *map, const char *key, guint scale, gint64 min, gint64 max,
                gint64 *ret_value)
{
	const YamlNode *node = yaml_find(map, key);

	return !node ||
	       get_scaled(node, key, "a number", scale, SCALED_NOTICED, min, max, ret_value);
}

gboolean
yaml_get_number(const YamlNode *map, const char *key, double min, double max, double *ret_value)
{
	const YamlNode *node = yaml_find(map, key);
	double value;

	if (!node)
		return TRUE;
	if (!node->text || !decimal_parse_double(node->text, &value) || value < min ||
	    value > max) {
		g_autoptr(GString) wanted = g_string_new("a number from ");

		decimal_append_double(wanted, min);
		g_string_append(wanted, " to ");
		decimal_append_double(wanted, max);
		return bad_value(node, key, wanted->str);
	}
	*ret_value = value;
	return TRUE;
}
