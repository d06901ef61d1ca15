/* SPDX-License-Identifier: MIT */
#include "sim/cli/policy_spec.h"

#include <string.h>

#include "policies/registry.h"
#include "sim/base/error.h"
#include "sim/base/file.h"
#include "sim/base/text.h"

/* Where a specification stands: relative paths and the exit status depend on it (B10). */
typedef struct Place {
	const char *file; /* NULL = the command line */
	int code;
} Place;

static const Place command_line = { NULL, SIM_ERROR_USAGE };

/* Labels */

/* A label becomes the name of a folder beside summary.csv, run.json and perf.json: it must not
 * lead out of there, hide, take one of their names, or be so long that there is no room for what
 * makes it a temporary one. */
#define MAX_LABEL 200

static gboolean
is_label(const char *label)
{
	static const char *const taken[] = { "summary.csv", "run.json", "perf.json", NULL };

	for (const char *p = label; *p; p++)
		if (!g_ascii_isalnum(*p) && !strchr("._-+", *p))
			return FALSE;
	return label[0] != '\0' && label[0] != '.' && strlen(label) <= MAX_LABEL &&
	       !g_strv_contains(taken, label);
}

static gboolean
check_label(const char *label, int code, GError **error)
{
	if (is_label(label))
		return TRUE;
	g_set_error(error, SIM_ERROR, code,
	            "found the label \"%s\", wanted letters, digits and . _ - + with no dot in "
	            "front, at most %d of them, and not the name of an output file",
	            label, MAX_LABEL);
	return FALSE;
}

const PolicySpec *
policy_spec_find_label(const GPtrArray *specs, const char *label)
{
	for (guint i = 0; i < specs->len; i++) {
		const PolicySpec *spec = g_ptr_array_index(specs, i);

		if (g_str_equal(spec->label, label))
			return spec;
	}
	return NULL;
}

/* The program's own policies */

static void
unknown_policy(const char *name, int code, GError **error)
{
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	g_auto(GStrv) names = NULL;
	g_autofree char *all = NULL;
	const char *nearest;

	for (guint i = 0; policy_classes[i]; i++)
		g_strv_builder_add(builder, policy_classes[i]->name);
	names = g_strv_builder_end(builder);
	nearest = text_nearest(name, (const char *const *)names);
	all = g_strjoinv(", ", names);
	g_set_error(error, SIM_ERROR, code, "found the unknown policy \"%s\", wanted %s%s", name,
	            nearest ? "perhaps " : "one of: ", nearest ? nearest : all);
}

/* Shared objects */

static gboolean
refuse_object(const char *path, const char *what, GError **error)
{
	g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT, "%s: %s", path, what);
	return FALSE;
}

/* A table that was built for another contract must not be read beyond its abi. */
static gboolean
check_object(const char *path, const PolicyClass *policy, GError **error)
{
	g_autofree char *abi = NULL;

	if (policy->abi != POLICY_ABI) {
		abi = g_strdup_printf("found a policy of abi %u, wanted %u: it was built against "
		                      "another version of sim/policy.h",
		                      policy->abi, POLICY_ABI);
		return refuse_object(path, abi, error);
	}
	if (!policy->name || policy->name[0] == '\0')
		return refuse_object(path, "found a policy without a name, wanted one", error);
	if (!policy->decide)
		return refuse_object(path, "found a policy without decide(), wanted that function",
		                     error);
	return TRUE;
}

/* By its absolute path: a bare name would be looked for among the system's libraries. */
static gboolean
open_object(PolicySpec *spec, GError **error)
{
	g_autofree char *absolute = g_canonicalize_filename(spec->path, NULL);
	g_autofree char *what = NULL;
	gpointer symbol = NULL;

	if (!g_file_test(absolute, G_FILE_TEST_IS_REGULAR))
		return refuse_object(spec->path, "cannot be read: there is no such file", error);
	spec->module = g_module_open(absolute, G_MODULE_BIND_LOCAL);
	if (!spec->module) {
		what = g_strdup_printf("cannot be loaded: %s", g_module_error());
		return refuse_object(spec->path, what, error);
	}
	if (!g_module_symbol(spec->module, POLICY_SYMBOL, &symbol) || !symbol)
		return refuse_object(spec->path,
		                     "found no symbol \"" POLICY_SYMBOL
		                     "\", wanted const PolicyClass " POLICY_SYMBOL,
		                     error);
	spec->policy = symbol;
	return check_object(spec->path, spec->policy, error);
}

static gboolean
is_object(const char *name)
{
	return strchr(name, '/') || g_str_has_suffix(name, ".so");
}

/* One policy with its standard options */

static gboolean
find_policy(PolicySpec *spec, const char *name, const Place *place, GError **error)
{
	if (is_object(name)) {
		spec->given = g_strdup(name);
		spec->path = place->file ? path_beside(place->file, name) : g_strdup(name);
		return open_object(spec, error);
	}
	spec->policy = policy_find(name);
	if (!spec->policy)
		unknown_policy(name, place->code, error);
	return spec->policy != NULL;
}

/* @label may be NULL. */
static PolicySpec *
policy_spec_new(const char *name, const char *label, const Place *place, GError **error)
{
	g_autoptr(PolicySpec) spec = g_new0(PolicySpec, 1);

	if (!find_policy(spec, name, place, error))
		return NULL;
	spec->label = g_strdup(label ? label : spec->policy->name);
	if (!check_label(spec->label, place->code, error))
		return NULL;
	spec->options = options_new(spec->policy->options, spec->policy->options_size);
	return g_steal_pointer(&spec);
}

void
policy_spec_free(PolicySpec *spec)
{
	if (!spec)
		return;
	if (spec->options)
		options_free(spec->policy->options, spec->options);
	if (spec->module)
		g_module_close(spec->module);
	g_free(spec->label);
	g_free(spec->given);
	g_free(spec->path);
	g_free(spec);
}

/* A path is kept as it is seen from the working directory. */
static gboolean
set_option(PolicySpec *spec, const char *name, const char *text, const Place *place, GError **error)
{
	const Option *table = spec->policy->options;
	const Option *option = options_find(table, name);
	g_autofree char *path = NULL;

	if (place->file && option && option->is_path && g_strcmp0(text, option->standard) != 0)
		path = path_beside(place->file, text);
	return options_set(table, spec->options, name, path ? path : text, place->code, error);
}

/* As one text */

/* Where the name ends: at the first '@' or ':', unless that stands inside the path of a shared
 * object, which goes on up to its ".so". */
static gsize
name_length(const char *text)
{
	gsize length = strcspn(text, "@:");
	g_autofree char *name = g_strndup(text, length);

	if (!strchr(name, '/') || g_str_has_suffix(name, ".so"))
		return length;
	for (const char *p = text; (p = strstr(p, ".so")); p++)
		if (strchr("@:", p[3])) /* the end of the text included */
			return (gsize)(p + 3 - text);
	return length;
}

static gboolean
set_items(PolicySpec *spec, const char *text, const Place *place, GError **error)
{
	g_auto(GStrv) pairs = options_split(text, place->code, error);

	if (!pairs)
		return FALSE;
	for (char **pair = pairs; *pair; pair += 2)
		if (!set_option(spec, pair[0], pair[1], place, error))
			return FALSE;
	return TRUE;
}

static PolicySpec *
parse(const char *text, const Place *place, GError **error)
{
	gsize length = name_length(text);
	const char *rest = text + length;
	gsize label_length = rest[0] == '@' ? strcspn(rest, ":") : 0;
	g_autofree char *name = g_strndup(text, length);
	g_autofree char *label = label_length > 0 ? g_strndup(rest + 1, label_length - 1) : NULL;
	g_autoptr(PolicySpec) spec = policy_spec_new(name, label, place, error);

	if (!spec)
		return NULL;
	rest += label_length;
	if (rest[0] == ':' && !set_items(spec, rest + 1, place, error))
		return NULL;
	return g_steal_pointer(&spec);
}

PolicySpec *
policy_spec_parse(const char *text, GError **error)
{
	return parse(text, &command_line, error);
}

/* As YAML */

static gboolean
append_list_item(GString *out, const YamlNode *item)
{
	if (yaml_kind(item) != YAML_TEXT)
		return FALSE;
	if (out->len > 1)
		g_string_append_c(out, ',');
	g_string_append(out, yaml_text(item));
	return TRUE;
}

/* The value of an option as the command line would write it; NULL if it cannot be one. */
static char *
value_text(const YamlNode *value)
{
	g_autoptr(GString) text = g_string_new("[");

	if (yaml_kind(value) == YAML_TEXT)
		return g_strdup(yaml_text(value));
	if (yaml_kind(value) == YAML_MAP)
		return NULL;
	for (guint i = 0; i < yaml_n(value); i++)
		if (!append_list_item(text, yaml_item(value, i)))
			return NULL;
	g_string_append_c(text, ']');
	return g_strdup(text->str);
}

static gboolean
read_option(PolicySpec *spec, const YamlNode *map, guint index, const Place *place)
{
	const YamlNode *value = yaml_item(map, index);
	g_autofree char *text = value_text(value);
	g_autoptr(GError) error = NULL;

	if (!text) {
		yaml_complain(value, "bad option", "found no plain value for %s, wanted one",
		              yaml_key(map, index));
		return FALSE;
	}
	if (set_option(spec, yaml_key(map, index), text, place, &error))
		return TRUE;
	yaml_complain(yaml_key_node(map, index), "bad option", "%s: %s", spec->policy->name,
	              error->message);
	return FALSE;
}

static gboolean
read_options(PolicySpec *spec, const YamlNode *map, const Place *place)
{
	gboolean is_good = TRUE;

	if (yaml_is_null(map))
		return TRUE;
	if (yaml_kind(map) != YAML_MAP) {
		yaml_complain(map, "bad policy", "found no mapping of options for %s, wanted one",
		              spec->policy->name);
		return FALSE;
	}
	for (guint i = 0; i < yaml_n(map); i++)
		is_good &= read_option(spec, map, i, place);
	return is_good;
}

/* The entry of @item that names the policy: the only one beside `label`. */
static gboolean
find_name(const YamlNode *item, guint *ret_index)
{
	guint n_names = 0;

	for (guint i = 0; i < yaml_n(item); i++) {
		if (g_str_equal(yaml_key(item, i), "label"))
			continue;
		*ret_index = i;
		n_names++;
	}
	if (n_names == 1)
		return TRUE;
	yaml_complain(item, "bad policy",
	              "found %u policies in one item of the list, wanted one, as in \"- {tiresias: "
	              "{...}, label: three-queues}\"",
	              n_names);
	return FALSE;
}

static PolicySpec *
complain(const YamlNode *node, const GError *error)
{
	yaml_complain(node, "bad policy", "%s", error->message);
	return NULL;
}

static PolicySpec *
read_map(const YamlNode *item, const Place *place)
{
	const char *label = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(PolicySpec) spec = NULL;
	guint index = 0;

	if (!find_name(item, &index) || !yaml_get_text(item, "label", &label))
		return NULL;
	spec = policy_spec_new(yaml_key(item, index), label, place, &error);
	if (!spec)
		return complain(yaml_key_node(item, index), error);
	if (!read_options(spec, yaml_item(item, index), place))
		return NULL;
	return g_steal_pointer(&spec);
}

PolicySpec *
policy_spec_read(const YamlNode *item, const char *file)
{
	const Place place = { file, SIM_ERROR_INPUT };
	g_autoptr(GError) error = NULL;
	PolicySpec *spec;

	if (yaml_kind(item) == YAML_MAP)
		return read_map(item, &place);
	if (yaml_kind(item) == YAML_LIST || yaml_is_null(item)) {
		yaml_complain(item, "bad policy",
		              "found no policy, wanted a name or \"NAME: {key: value}\"");
		return NULL;
	}
	spec = parse(yaml_text(item), &place, &error);
	return spec ? spec : complain(item, error);
}
