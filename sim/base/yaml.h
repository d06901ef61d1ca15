/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A YAML document as a tree that remembers where everything stood, so that every complaint is
 * `file:line:column: what was found, what was wanted`. libyaml does the parsing; this adds
 * checked access: yaml_expect_keys() reports any key that is not a known one with the nearest that
 * is, and the known ones are then asked for by type. Duplicate keys, aliases and anchors are
 * refused. Complaints go to the document's Problems; reading goes on, so that all are listed at
 * once.
 */

#include "sim/base/problems.h"
#include "sim/base/units.h"

typedef struct YamlDocument YamlDocument;
typedef struct YamlNode YamlNode;

/* @path names the text in complaints. SIM_ERROR_INPUT if it is not YAML at all. An empty document
 * has an empty mapping as its root. The document owns its nodes. */
YamlDocument *yaml_read(const char *path, Problems *problems, GError **error);
YamlDocument *yaml_parse(const char *text, gsize length, Problems *problems, GError **error);
/* Not yaml_free(): libyaml exports a function of that name, which ours would take the place of. */
void yaml_document_free(YamlDocument *document);

const YamlNode *yaml_root(const YamlDocument *document);

typedef enum YamlKind {
	YAML_TEXT, /* a scalar */
	YAML_LIST,
	YAML_MAP,
} YamlKind;

YamlKind yaml_kind(const YamlNode *node);
guint64 yaml_line(const YamlNode *node);
guint yaml_column(const YamlNode *node);

/* A scalar's text ("" for null); NULL if it is no scalar. */
const char *yaml_text(const YamlNode *node);
gboolean yaml_is_null(const YamlNode *node);

/* Items of a list, or entries of a mapping in the order of the file. */
guint yaml_n(const YamlNode *node);
const YamlNode *yaml_item(const YamlNode *node, guint index);
const char *yaml_key(const YamlNode *node, guint index);
const YamlNode *yaml_key_node(const YamlNode *node, guint index);

/* The value of @key in a mapping, or NULL. */
const YamlNode *yaml_find(const YamlNode *node, const char *key);

/* Puts @text in the place of the scalar at @path, whose keys are joined by dots; FALSE if there is
 * none. */
gboolean yaml_replace(YamlDocument *document, const char *path, const char *text);

/* A complaint about @node. */
void yaml_complain(const YamlNode *node, const char *reason, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

/* Every key of the mapping @node must be one of @known (NULL-terminated); others are complained
 * about with the nearest known one. FALSE if @node is no mapping or had an unknown key. */
gboolean yaml_expect_keys(const YamlNode *node, const char *const *known);

/* Typed reading of a mapping's entry. An absent key leaves @ret_value as it is and is TRUE; a bad
 * value is complained about and FALSE. Ranges are inclusive. */
gboolean yaml_get_text(const YamlNode *map, const char *key, const char **ret_value);
gboolean yaml_get_bool(const YamlNode *map, const char *key, gboolean *ret_value);
gboolean yaml_get_int(const YamlNode *map, const char *key, gint64 min, gint64 max,
                      gint64 *ret_value);
gboolean yaml_get_seconds(const YamlNode *map, const char *key, SimTime *ret_ns);
gboolean yaml_get_number(const YamlNode *map, const char *key, double min, double max,
                         double *ret_value);
/* A decimal times 10^@scale. */
gboolean yaml_get_scaled(const YamlNode *map, const char *key, guint scale, gint64 min, gint64 max,
                         gint64 *ret_value);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(YamlDocument, yaml_document_free)
