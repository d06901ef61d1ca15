/* SPDX-License-Identifier: MIT */
#include "sim/cli/command.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/text.h"

/* Saying what went wrong */

int
command_fail(const GError *error)
{
	gboolean names_a_file = g_error_matches(error, SIM_ERROR, SIM_ERROR_INPUT);

	fprintf(stderr, "%s%s\n", names_a_file ? "" : "themis-sim: ", error->message);
	return sim_error_exit_status(error);
}

void
command_note(const char *format, ...)
{
	va_list args;

	fputs("themis-sim: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

/* A command line on its way to GOption: every option known, every value in its own argument or
 * behind '='. */
typedef struct Scan {
	const CommandSyntax *syntax;
	char **next;           /* what is still to be read */
	GStrvBuilder *checked; /* what GOption will see */
	gboolean wants_help;
} Scan;

static gboolean
takes_value(const GOptionEntry *entry)
{
	return entry->arg != G_OPTION_ARG_NONE;
}

static gboolean
may_lack_value(const GOptionEntry *entry)
{
	return entry->arg_description && entry->arg_description[0] == '[';
}

static const GOptionEntry *
find_long(const GOptionEntry *entries, const char *name)
{
	for (; entries->long_name; entries++)
		if (g_str_equal(entries->long_name, name))
			return entries;
	return NULL;
}

static const GOptionEntry *
find_short(const GOptionEntry *entries, char letter)
{
	for (; entries->long_name; entries++)
		if (entries->short_name == letter)
			return entries;
	return NULL;
}

/* The option that was perhaps meant; NULL if none is near. Free with g_free(). */
static char *
nearest_option(const GOptionEntry *entries, const char *name)
{
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	g_auto(GStrv) names = NULL;
	const char *nearest;

	for (; entries->long_name; entries++)
		g_strv_builder_add(builder, entries->long_name);
	g_strv_builder_add(builder, "help");
	names = g_strv_builder_end(builder);
	nearest = text_nearest(name, (const char *const *)names);
	return nearest ? g_strdup_printf("--%s", nearest) : NULL;
}

static gboolean
unknown_option(const Scan *scan, const char *argument, GError **error)
{
	const char *name = argument + strspn(argument, "-");
	g_autofree char *plain = g_strndup(name, strcspn(name, "="));
	g_autofree char *nearest = nearest_option(scan->syntax->entries, plain);
	g_autofree char *help = g_strdup_printf("what %s --help lists", scan->syntax->name);

	g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
	            "%s: found the unknown option \"%.*s\", wanted %s%s", scan->syntax->name,
	            (int)strcspn(argument, "="), argument, nearest ? "perhaps " : "",
	            nearest ? nearest : help);
	return FALSE;
}

static gboolean
refuse_option(const Scan *scan, const char *option, const char *what, GError **error)
{
	g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE, "%s: found %s %s", scan->syntax->name,
	            option, what);
	return FALSE;
}

/* The value of @option is the next argument, whatever that looks like. */
static gboolean
take_value(Scan *scan, const char *option, GError **error)
{
	if (!*scan->next)
		return refuse_option(scan, option, "without a value, wanted one", error);
	g_strv_builder_add(scan->checked, *scan->next++);
	return TRUE;
}

static gboolean
take_long(Scan *scan, const char *argument, GError **error)
{
	gsize length = strcspn(argument, "=");
	g_autofree char *option = g_strndup(argument, length);
	const GOptionEntry *entry = find_long(scan->syntax->entries, option + 2);
	g_autofree char *empty = NULL;

	if (!entry)
		return unknown_option(scan, argument, error);
	if (argument[length] == '=' && !takes_value(entry))
		return refuse_option(scan, option, "with a value, wanted none", error);
	if (argument[length] == '=' || !takes_value(entry)) {
		g_strv_builder_add(scan->checked, argument);
		return TRUE;
	}
	/* GOption would take the next argument for a value that may be left out. */
	empty = g_strconcat(option, "=", NULL);
	g_strv_builder_add(scan->checked, may_lack_value(entry) ? empty : option);
	return may_lack_value(entry) || take_value(scan, option, error);
}

/* `-q`, `-j 4`, `-j4`, `-qj4`: each letter becomes an argument of its own. */
static gboolean
take_short(Scan *scan, const char *argument, GError **error)
{
	for (const char *letter = argument + 1; *letter; letter++) {
		const GOptionEntry *entry = find_short(scan->syntax->entries, *letter);
		const char option[] = { '-', *letter, '\0' };

		if (!entry)
			return unknown_option(scan, argument, error);
		g_strv_builder_add(scan->checked, option);
		if (!takes_value(entry))
			continue;
		if (letter[1] == '\0')
			return take_value(scan, option, error);
		g_strv_builder_add(scan->checked, letter + 1);
		return TRUE;
	}
	return TRUE;
}

static gboolean
take_rest(Scan *scan)
{
	g_strv_builder_add(scan->checked, "--");
	while (*scan->next)
		g_strv_builder_add(scan->checked, *scan->next++);
	return TRUE;
}

static gboolean
take_argument(Scan *scan, const char *argument, GError **error)
{
	if (g_str_equal(argument, "--help") || g_str_equal(argument, "-h")) {
		scan->wants_help = TRUE;
		return TRUE;
	}
	if (g_str_equal(argument, "--"))
		return take_rest(scan);
	if (g_str_has_prefix(argument, "--"))
		return take_long(scan, argument, error);
	if (argument[0] == '-' && argument[1] != '\0')
		return take_short(scan, argument, error);
	g_strv_builder_add(scan->checked, argument);
	return TRUE;
}

static GStrv
scan_arguments(Scan *scan, char **argv, GError **error)
{
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

	scan->checked = builder;
	scan->next = argv + 1;
	g_strv_builder_add(builder, argv[0]);
	while (*scan->next && !scan->wants_help) {
		const char *argument = *scan->next++;

		if (!take_argument(scan, argument, error))
			return NULL;
	}
	return g_strv_builder_end(builder);
}

/* GOption */

static GOptionContext *
context_new(const CommandSyntax *syntax)
{
	GOptionContext *context = g_option_context_new(syntax->parameters);

	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_set_summary(context, syntax->summary);
	g_option_context_set_description(context, syntax->notes);
	g_option_context_add_main_entries(context, syntax->entries, NULL);
	return context;
}

static void
print_help(const CommandSyntax *syntax)
{
	/* GOption's own help stands before the table; as ours is not in it, it is added here. */
	static const GOptionEntry help[] = { { "help", 'h', 0, G_OPTION_ARG_NONE, NULL,
		                               "Print this and exit", NULL },
		                             G_OPTION_ENTRY_NULL };
	g_autoptr(GOptionContext) context = context_new(syntax);
	g_autofree char *program = g_strconcat("themis-sim ", syntax->name, NULL);
	g_autofree char *text = NULL;

	g_option_context_add_main_entries(context, help, NULL);
	g_set_prgname(program);
	text = g_option_context_get_help(context, TRUE, NULL);
	fputs(text, stdout);
}

CommandVerdict
command_parse(const CommandSyntax *syntax, char **argv, GStrv *ret_arguments, GError **error)
{
	Scan scan = { .syntax = syntax };
	g_auto(GStrv) checked = scan_arguments(&scan, argv, error);
	g_autoptr(GOptionContext) context = NULL;

	if (!checked)
		return COMMAND_BAD;
	if (scan.wants_help) {
		print_help(syntax);
		return COMMAND_HELPED;
	}
	context = context_new(syntax);
	if (!g_option_context_parse_strv(context, &checked, error))
		return COMMAND_BAD;
	*ret_arguments = g_strdupv(checked + 1);
	return COMMAND_GO;
}
