/* SPDX-License-Identifier: MIT */
#include "sim/cli/config.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/base/file.h"
#include "sim/base/text.h"
#include "sim/model/cluster.h"

#define THREADS_MAX 1024

/* Where a value stands. */
typedef struct Source {
	const char *file; /* NULL = the command line */
	int code;
} Source;

static const Source command_line = { NULL, SIM_ERROR_USAGE };

/* The keys whose values are plain, by kind; what reads them also describes them. */

typedef struct PlainKey {
	const char *name;
	gsize offset;
} PlainKey;

#define KEY(name, member)                                \
	{                                                \
		name, G_STRUCT_OFFSET(RunConfig, member) \
	}

static const PlainKey path_keys[] = {
	KEY("models", models),
	KEY("out", out),
	{ NULL, 0 },
};

static const PlainKey flag_keys[] = {
	KEY("segments", wants_segments),
	KEY("stream", wants_stream),
	KEY("skip_bad_rows", skips_bad_rows),
	KEY("allow_rejected", allows_rejected),
	KEY("allow_unfinished", allows_unfinished),
	KEY("strict", is_strict),
	KEY("paranoid", is_paranoid),
	KEY("perfetto", wants_perfetto),
	KEY("batsim", wants_batsim),
	KEY("quiet", is_quiet),
	{ NULL, 0 },
};

static const PlainKey overhead_keys[] = {
	KEY("start_s", overheads.start_ns),
	KEY("suspend_s", overheads.suspend_ns),
	KEY("resume_s", overheads.resume_ns),
	KEY("migrate_s", overheads.migrate_ns),
	KEY("checkpoint_every_s", overheads.checkpoint_every_ns),
	{ NULL, 0 },
};

static const PlainKey window_keys[] = {
	KEY("from_s", window_from_ns),
	KEY("to_s", window_to_ns),
	{ NULL, 0 },
};

static gpointer
place_of(RunConfig *config, const PlainKey *key)
{
	return (char *)config + key->offset;
}

static gconstpointer
value_of(const RunConfig *config, const PlainKey *key)
{
	return (const char *)config + key->offset;
}

/* Life */

RunConfig *
run_config_new(void)
{
	RunConfig *config = g_new0(RunConfig, 1);

	config->policies = g_ptr_array_new_with_free_func((GDestroyNotify)policy_spec_free);
	config->notices = g_ptr_array_new_with_free_func(g_free);
	config->seed = 1;
	config->window_to_ns = TIME_NEVER;
	config->stop_ns = TIME_NEVER;
	for (const PlainKey *key = overhead_keys; key->name; key++)
		*(SimTime *)place_of(config, key) = TIME_NEVER;
	return config;
}

static void
setting_clear(Setting *setting)
{
	g_clear_pointer(&setting->given, g_free);
	g_clear_pointer(&setting->path, g_free);
}

void
run_config_free(RunConfig *config)
{
	if (!config)
		return;
	setting_clear(&config->run_file);
	setting_clear(&config->cluster);
	setting_clear(&config->trace);
	setting_clear(&config->format);
	setting_clear(&config->models);
	setting_clear(&config->time_zone);
	setting_clear(&config->out);
	g_ptr_array_unref(config->policies);
	g_ptr_array_unref(config->notices);
	g_free(config);
}

/* Texts */

static void
setting_set_from(Setting *setting, const char *given, const Source *source)
{
	setting_clear(setting);
	setting->given = g_strdup(given);
	setting->path = source->file ? path_beside(source->file, given) : g_strdup(given);
	setting->code = source->code;
}

void
setting_set(Setting *setting, const char *given)
{
	setting_set_from(setting, given, &command_line);
}

static void
read_setting(Setting *setting, const YamlNode *map, const char *key, const Source *source)
{
	const char *text = NULL;

	if (yaml_get_text(map, key, &text) && text)
		setting_set_from(setting, text, source);
}

/* A shorthand such as 12x4:v100 is no path, wherever it stands. */
static void
read_cluster(RunConfig *config, const YamlNode *root, const Source *source)
{
	Setting *cluster = &config->cluster;
	g_autoptr(ClusterSpec) shorthand = NULL;

	if (!yaml_find(root, "cluster"))
		return;
	read_setting(cluster, root, "cluster", source);
	if (!cluster->given || g_file_test(cluster->path, G_FILE_TEST_EXISTS))
		return;
	shorthand = cluster_spec_parse_shorthand(cluster->given, NULL);
	if (shorthand) {
		g_free(cluster->path);
		cluster->path = g_strdup(cluster->given);
	}
}

/* `trace: PATH` says the path alone. */
static void
read_trace(RunConfig *config, const YamlNode *root, const Source *source)
{
	static const char *const known[] = { "path", "format", NULL };
	const YamlNode *node = yaml_find(root, "trace");

	if (!node)
		return;
	if (yaml_kind(node) == YAML_TEXT) {
		read_setting(&config->trace, root, "trace", source);
	} else if (yaml_expect_keys(node, known)) {
		read_setting(&config->trace, node, "path", source);
		read_setting(&config->format, node, "format", source);
	}
}

/* Policies */

static void
add_policy(GPtrArray *policies, const YamlNode *item, const Source *source)
{
	PolicySpec *spec = policy_spec_read(item, source->file);

	if (!spec)
		return;
	if (policy_spec_find_label(policies, spec->label)) {
		yaml_complain(item, "label used twice",
		              "found a second policy labelled \"%s\", wanted a label of its own, "
		              "as in \"- {%s: {}, label: another}\"",
		              spec->label, spec->policy->name);
		policy_spec_free(spec);
		return;
	}
	g_ptr_array_add(policies, spec);
}

static void
read_policies(RunConfig *config, const YamlNode *root, const Source *source)
{
	const YamlNode *node = yaml_find(root, "policies");

	if (!node)
		return;
	g_ptr_array_set_size(config->policies, 0);
	if (yaml_kind(node) == YAML_MAP || yaml_is_null(node)) {
		yaml_complain(node, "bad policies",
		              "found no list for policies, wanted one, as in [fifo, srtf]");
		return;
	}
	if (yaml_kind(node) == YAML_TEXT)
		add_policy(config->policies, node, source);
	for (guint i = 0; i < yaml_n(node); i++)
		add_policy(config->policies, yaml_item(node, i), source);
}

static gboolean
add_given_policy(GPtrArray *policies, const char *text, GError **error)
{
	g_autoptr(PolicySpec) spec = policy_spec_parse(text, error);

	if (!spec)
		return FALSE;
	if (policy_spec_find_label(policies, spec->label)) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
		            "found a second policy labelled \"%s\", wanted a label of its own, as "
		            "in %s@another",
		            spec->label, spec->policy->name);
		return FALSE;
	}
	g_ptr_array_add(policies, g_steal_pointer(&spec));
	return TRUE;
}

gboolean
run_config_set_policies(RunConfig *config, const char *const *texts, GError **error)
{
	g_ptr_array_set_size(config->policies, 0);
	for (guint i = 0; texts[i]; i++) {
		if (!add_given_policy(config->policies, texts[i], error)) {
			g_prefix_error(error, "--policy %s: ", texts[i]);
			return FALSE;
		}
	}
	return TRUE;
}

/* Numbers and flags */

static void
read_seconds(RunConfig *config, const YamlNode *map, const PlainKey *keys)
{
	for (; keys->name; keys++)
		yaml_get_seconds(map, keys->name, place_of(config, keys));
}

/* A mapping of nothing but seconds. */
static void
read_seconds_map(RunConfig *config, const YamlNode *root, const char *name, const PlainKey *keys)
{
	const YamlNode *node = yaml_find(root, name);
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	g_auto(GStrv) known = NULL;

	for (const PlainKey *key = keys; key->name; key++)
		g_strv_builder_add(builder, key->name);
	known = g_strv_builder_end(builder);
	if (node && yaml_expect_keys(node, (const char *const *)known))
		read_seconds(config, node, keys);
}

static void
read_flags(RunConfig *config, const YamlNode *root)
{
	for (const PlainKey *key = flag_keys; key->name; key++)
		yaml_get_bool(root, key->name, place_of(config, key));
}

/* true and false, or seconds between rows. */
static void
read_timeline(RunConfig *config, const YamlNode *root)
{
	const YamlNode *node = yaml_find(root, "timeline");
	const char *text = node ? yaml_text(node) : NULL;

	if (!text || g_ascii_isalpha(text[0])) {
		yaml_get_bool(root, "timeline", &config->wants_timeline);
		return;
	}
	config->wants_timeline = yaml_get_seconds(root, "timeline", &config->timeline_every_ns);
}

static void
read_seed(RunConfig *config, const YamlNode *root)
{
	gint64 seed = (gint64)config->seed;

	yaml_get_int(root, "seed", 0, G_MAXINT64, &seed);
	config->seed = (guint64)seed;
}

/* A window that measures nothing is a mistake. */
static gboolean
has_empty_window(const RunConfig *config)
{
	return config->window_to_ns <= config->window_from_ns;
}

static const char empty_window[] = "found a window whose to_s is not above its from_s, wanted one "
                                   "that is not empty";

/* A whole document */

static const char *const root_keys[] = {
	"cluster",
	"trace",
	"models",
	"policies",
	"seed",
	"overheads",
	"window",
	"stop_s",
	"out",
	"tz",
	"segments",
	"timeline",
	"stream",
	"skip_bad_rows",
	"allow_rejected",
	"allow_unfinished",
	"strict",
	"paranoid",
	"perfetto",
	"batsim",
	"quiet",
	"threads",
	NULL,
};

static void
read_root(RunConfig *config, const YamlNode *root, const Source *source)
{
	if (!yaml_expect_keys(root, root_keys) && yaml_kind(root) != YAML_MAP)
		return;
	read_cluster(config, root, source);
	read_trace(config, root, source);
	for (const PlainKey *key = path_keys; key->name; key++)
		read_setting(place_of(config, key), root, key->name, source);
	read_setting(&config->time_zone, root, "tz", source);
	read_policies(config, root, source);
	read_seed(config, root);
	read_seconds_map(config, root, "overheads", overhead_keys);
	read_seconds_map(config, root, "window", window_keys);
	yaml_get_seconds(root, "stop_s", &config->stop_ns);
	read_flags(config, root);
	read_timeline(config, root);
	yaml_get_int(root, "threads", 1, THREADS_MAX, &config->n_threads);
	/* The file's window is complete here; what the command line makes of it is judged at the
	 * end. */
	if (source->file && yaml_find(root, "window") && has_empty_window(config))
		yaml_complain(yaml_find(root, "window"), "empty window", "%s", empty_window);
}

static void
keep_notices(RunConfig *config, const Problems *problems)
{
	for (guint i = 0; i < problems->notices->len; i++)
		g_ptr_array_add(config->notices, g_strdup(g_ptr_array_index(problems->notices, i)));
}

gboolean
run_config_read(RunConfig *config, const char *path, GError **error)
{
	const Source source = { path, SIM_ERROR_INPUT };
	g_autoptr(Problems) problems = problems_new(path);
	g_autoptr(YamlDocument) document = yaml_read(path, problems, error);

	if (!document)
		return FALSE;
	setting_set_from(&config->run_file, path, &command_line);
	read_root(config, yaml_root(document), &source);
	keep_notices(config, problems);
	if (problems->n_bad == 0)
		return TRUE;
	problems_to_error(problems, error);
	return FALSE;
}

/* --set */

static gboolean
is_key_part(const char *part)
{
	for (const char *p = part; *p; p++)
		if (!g_ascii_isalnum(*p) && !strchr("_-", *p))
			return FALSE;
	return part[0] != '\0';
}

static gboolean
check_key(const char *assignment, const char *const *parts)
{
	if (!strchr(assignment, '=') || !parts[0])
		return FALSE;
	for (guint i = 0; parts[i]; i++)
		if (!is_key_part(parts[i]))
			return FALSE;
	return !strpbrk(assignment, "\r\n");
}

/* `a.b=VALUE` as the document "a:\n b:\n  c: VALUE"; NULL if it is no KEY=VALUE. */
static char *
assignment_to_yaml(const char *assignment)
{
	gsize length = strcspn(assignment, "=");
	g_autofree char *key = g_strndup(assignment, length);
	g_auto(GStrv) parts = g_strsplit(key, ".", -1);
	GString *text;

	if (!check_key(assignment, (const char *const *)parts))
		return NULL;
	text = g_string_new(NULL);
	for (guint i = 0; parts[i]; i++)
		g_string_append_printf(text, "%s%*s%s:", i > 0 ? "\n" : "", (int)i, "", parts[i]);
	g_string_append_printf(text, " %s\n", assignment + length + 1);
	return g_string_free(text, FALSE);
}

/* The line and column of a value that stood in one argument say nothing to anybody. */
static const char *
without_place(const char *text, const char *where)
{
	const char *rest = g_str_has_prefix(text, where) ? text + strlen(where) : text;

	return rest + strspn(rest, ":0123456789 ");
}

static gboolean
refuse_set(const char *where, const char *what, GError **error)
{
	g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE, "%s: %s", where, what);
	return FALSE;
}

static gboolean
set_yaml(RunConfig *config, const char *where, const char *yaml, GError **error)
{
	g_autoptr(Problems) problems = problems_new(where);
	g_autoptr(GError) problem = NULL;
	g_autoptr(YamlDocument) document = yaml_parse(yaml, strlen(yaml), problems, &problem);

	if (!document)
		return refuse_set(where, without_place(problem->message, where), error);
	read_root(config, yaml_root(document), &command_line);
	keep_notices(config, problems);
	if (problems->n_bad == 0)
		return TRUE;
	return refuse_set(where, without_place(g_ptr_array_index(problems->texts, 0), where),
	                  error);
}

gboolean
run_config_set(RunConfig *config, const char *assignment, GError **error)
{
	g_autofree char *where = g_strdup_printf("--set %s", assignment);
	g_autofree char *yaml = assignment_to_yaml(assignment);

	if (!yaml)
		return refuse_set(where, "wanted KEY=VALUE, as overheads.resume_s=5", error);
	return set_yaml(config, where, yaml, error);
}

gboolean
run_config_set_number(RunConfig *config, const char *option, const char *key, const char *text,
                      GError **error)
{
	g_autofree char *where = g_strdup_printf("%s %s", option, text);
	g_autofree char *assignment = g_strdup_printf("%s=%s", key, text);
	g_autofree char *yaml = assignment_to_yaml(assignment);

	if (!yaml)
		return refuse_set(where, "wanted one line", error);
	return set_yaml(config, where, yaml, error);
}

void
run_config_raise_flags(RunConfig *config, const RunConfig *raised)
{
	for (const PlainKey *key = flag_keys; key->name; key++) {
		gboolean *flag = place_of(config, key);
		const gboolean *is_raised = value_of(raised, key);

		*flag |= *is_raised;
	}
}

/* The whole */

static gboolean
lacks(const char *what, const char *option, GError **error)
{
	g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
	            "run: found no %s, wanted one: give %s, or the key in RUN.yaml", what, option);
	return FALSE;
}

/* B10 */
static gboolean
has_out_name(const RunConfig *config, GError **error)
{
	if (!config->out.given || config->out.given[0] != '\0')
		return TRUE;
	g_set_error_literal(error, SIM_ERROR, config->out.code,
	                    "found no name for out, wanted that of a folder");
	return FALSE;
}

static gboolean
is_not_yet(const char *option, GError **error)
{
	g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE, "%s is not part of this version yet",
	            option);
	return FALSE;
}

gboolean
run_config_check(const RunConfig *config, GError **error)
{
	if (config->wants_perfetto)
		return is_not_yet("--perfetto", error);
	if (config->wants_batsim)
		return is_not_yet("--batsim", error);
	if (!config->trace.given)
		return lacks("trace", "--trace FILE", error);
	if (!config->cluster.given)
		return lacks("cluster", "--cluster FILE or a shorthand such as 4x8", error);
	if (config->policies->len == 0)
		return lacks("policy", "--policy NAME", error);
	if (has_empty_window(config)) {
		g_set_error_literal(error, SIM_ERROR, SIM_ERROR_USAGE, empty_window);
		return FALSE;
	}
	return has_out_name(config, error);
}

static void
override(SimTime *overhead, SimTime given)
{
	if (given != TIME_NEVER)
		*overhead = given;
}

Overheads
run_config_overheads(const RunConfig *config, const PolicySpec *spec)
{
	const Overheads *given = &config->overheads;
	Overheads overheads = { 0 };

	if (spec && spec->policy->preset)
		spec->policy->preset(spec->options, &overheads);
	override(&overheads.start_ns, given->start_ns);
	override(&overheads.suspend_ns, given->suspend_ns);
	override(&overheads.resume_ns, given->resume_ns);
	override(&overheads.migrate_ns, given->migrate_ns);
	override(&overheads.checkpoint_every_ns, given->checkpoint_every_ns);
	return overheads;
}

/* Description */

typedef struct Description {
	GPtrArray *keys, *values; /* of char * */
} Description;

/* Takes @value. */
static void
say(Description *description, const char *key, char *value)
{
	g_ptr_array_add(description->keys, g_strdup(key));
	g_ptr_array_add(description->values, value);
}

/* Whether YAML reads @text as itself without quotes. */
static gboolean
is_plain(const char *text)
{
	for (const char *p = text; *p; p++)
		if (!g_ascii_isalnum(*p) && !strchr("_./+@-", *p))
			return FALSE;
	return (g_ascii_isalnum(text[0]) || text[0] == '.' || text[0] == '/') &&
	       !g_str_equal(text, "null");
}

/* A JSON string is a YAML string. */
static void
append_text(GString *out, const char *text)
{
	if (text && is_plain(text))
		g_string_append(out, text);
	else
		json_append(out, text);
}

static char *
text_to_yaml(const char *text)
{
	GString *out = g_string_new(NULL);

	append_text(out, text);
	return g_string_free(out, FALSE);
}

static char *
seconds_or_null(SimTime ns)
{
	return ns == TIME_NEVER ? g_strdup("null") : seconds_to_string(ns);
}

static void
append_overhead(GString *out, const char *name, SimTime ns)
{
	g_string_append_printf(out, "%s%s: ", out->len > 1 ? ", " : "", name);
	seconds_append(out, ns);
}

static char *
overheads_to_yaml(const Overheads *overheads)
{
	GString *out = g_string_new("{");

	append_overhead(out, "start_s", overheads->start_ns);
	append_overhead(out, "suspend_s", overheads->suspend_ns);
	append_overhead(out, "resume_s", overheads->resume_ns);
	append_overhead(out, "migrate_s", overheads->migrate_ns);
	append_overhead(out, "checkpoint_every_s", overheads->checkpoint_every_ns);
	g_string_append_c(out, '}');
	return g_string_free(out, FALSE);
}

static void
append_option(GString *out, const Option *option, const void *values)
{
	g_autofree char *value = options_get(option, values);

	g_string_append_printf(out, "%s: ", option->name);
	if (option->kind == OPTION_TEXT)
		append_text(out, value);
	else
		g_string_append(out, value);
}

/* `{NAME: {key: value, ...}, overheads: {...}}` */
static char *
policy_to_yaml(const RunConfig *config, const PolicySpec *spec)
{
	const Overheads overheads = run_config_overheads(config, spec);
	g_autofree char *overheads_yaml = overheads_to_yaml(&overheads);
	const Option *table = spec->policy->options;
	GString *out = g_string_new("{");

	append_text(out, spec->given ? spec->given : spec->policy->name);
	g_string_append(out, ": {");
	for (const Option *option = table; option && option->name; option++) {
		g_string_append(out, option == table ? "" : ", ");
		append_option(out, option, spec->options);
	}
	g_string_append_printf(out, "}, overheads: %s}", overheads_yaml);
	return g_string_free(out, FALSE);
}

static void
say_policies(Description *description, const RunConfig *config)
{
	for (guint i = 0; i < config->policies->len; i++) {
		const PolicySpec *spec = g_ptr_array_index(config->policies, i);
		g_autofree char *key = g_strdup_printf("policies.%s", spec->label);

		say(description, key, policy_to_yaml(config, spec));
	}
}

/* How the run's progress is shown changes no result (A53), and what is not part of this version
 * is off. */
static gboolean
is_described(const PlainKey *flag)
{
	return flag->offset != G_STRUCT_OFFSET(RunConfig, is_quiet) &&
	       flag->offset != G_STRUCT_OFFSET(RunConfig, wants_perfetto) &&
	       flag->offset != G_STRUCT_OFFSET(RunConfig, wants_batsim);
}

static void
say_flags(Description *description, const RunConfig *config)
{
	for (const PlainKey *key = flag_keys; key->name; key++) {
		const gboolean *flag = value_of(config, key);

		if (is_described(key))
			say(description, key->name, g_strdup(*flag ? "true" : "false"));
	}
}

static char *
timeline_to_yaml(const RunConfig *config)
{
	if (config->timeline_every_ns > 0 && config->wants_timeline)
		return seconds_to_string(config->timeline_every_ns);
	return g_strdup(config->wants_timeline ? "true" : "false");
}

void
run_config_describe(const RunConfig *config, const char *format, GPtrArray *keys, GPtrArray *values)
{
	Description description = { keys, values };
	const Overheads overheads = run_config_overheads(config, NULL);

	say(&description, "cluster", text_to_yaml(config->cluster.given));
	say(&description, "trace.path", text_to_yaml(config->trace.given));
	say(&description, "trace.format", text_to_yaml(format));
	say(&description, "models", text_to_yaml(config->models.given));
	say_policies(&description, config);
	say(&description, "seed", g_strdup_printf("%" G_GUINT64_FORMAT, config->seed));
	say(&description, "overheads", overheads_to_yaml(&overheads));
	say(&description, "window.from_s", seconds_to_string(config->window_from_ns));
	say(&description, "window.to_s", seconds_or_null(config->window_to_ns));
	say(&description, "stop_s", seconds_or_null(config->stop_ns));
	say(&description, "tz", text_to_yaml(config->time_zone.given));
	say_flags(&description, config);
	say(&description, "timeline", timeline_to_yaml(config));
}
