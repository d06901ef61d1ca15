/* SPDX-License-Identifier: MIT */
#include "sim/cli/policies.h"

#include <stdio.h>
#include <string.h>

#include "policies/registry.h"
#include "sim/base/error.h"
#include "sim/cli/command.h"
#include "sim/cli/policy_spec.h"

#define WIDTH 79 /* of a terminal page */

/* Every capability as the question that it answers. */
typedef struct Question {
	PolicyCaps cap;
	const char *text;
} Question;

static const Question questions[] = {
	{ POLICY_PREEMPTS, "Does it stop running jobs?" },
	{ POLICY_MIGRATES, "Does it move running jobs?" },
	{ POLICY_RESIZES, "Does it run jobs on another number of GPUs than they ask for?" },
	{ POLICY_SHARES, "Does it put whole jobs on one GPU together?" },
	{ POLICY_ORACLE, "Does it know how long jobs will run?" },
	{ POLICY_PARTITIONS, "Does it cut GPUs into slices?" },
	{ 0, NULL },
};

static const char *
answer(const PolicyClass *policy, const Question *question)
{
	return policy->caps & question->cap ? "yes" : "no";
}

/* The default as the program prints it, whatever way the policy's table has it. */
static char *
standard_of(const PolicyClass *policy, const Option *option)
{
	void *values = options_new(policy->options, policy->options_size);
	char *text = options_get(option, values);

	options_free(policy->options, values);
	return text;
}

static gboolean
has_options(const PolicyClass *policy)
{
	return policy->options && policy->options[0].name;
}

/* The list */

static int
name_width(void)
{
	gsize width = 0;

	for (guint i = 0; policy_classes[i]; i++)
		width = MAX(width, strlen(policy_classes[i]->name));
	return (int)width;
}

static void
append_list(GString *out)
{
	for (guint i = 0; policy_classes[i]; i++)
		g_string_append_printf(out, "%-*s  %s\n", name_width(), policy_classes[i]->name,
		                       policy_classes[i]->summary);
}

/* One policy on a terminal */

/* Words of @text in lines of WIDTH, each behind @indent blanks. */
static void
append_filled(GString *out, const char *text, gsize indent)
{
	g_auto(GStrv) words = g_strsplit_set(text, " \t\n", -1);
	gsize column = 0;

	for (guint i = 0; words[i]; i++) {
		gsize length = strlen(words[i]);

		if (length == 0)
			continue;
		if (column > 0 && column + 1 + length > WIDTH) {
			g_string_append_c(out, '\n');
			column = 0;
		}
		g_string_append_printf(out, "%*s%s", column > 0 ? 1 : (int)indent, "", words[i]);
		column += (column > 0 ? 1 : indent) + length;
	}
	g_string_append_c(out, '\n');
}

static void
append_option(GString *out, const PolicyClass *policy, const Option *option)
{
	g_autofree char *standard = standard_of(policy, option);
	g_autofree char *wanted = option_wanted(option);
	g_autofree char *line = g_strdup_printf("%s=%s", option->name, standard);

	g_string_append_printf(out, "\n  %s\n", line);
	append_filled(out, option->help ? option->help : "", 6);
	append_filled(out, wanted, 6);
}

static void
append_options(GString *out, const PolicyClass *policy)
{
	if (!has_options(policy)) {
		g_string_append(out, "\nIt has no options.\n");
		return;
	}
	g_string_append(out, "\nOptions, with their defaults:\n");
	for (const Option *option = policy->options; option->name; option++)
		append_option(out, policy, option);
}

static void
append_page(GString *out, const PolicyClass *policy)
{
	g_string_append_printf(out, "%s %s: %s\n", policy->name,
	                       policy->version ? policy->version : "", policy->summary);
	if (policy->idea) {
		g_string_append_c(out, '\n');
		append_filled(out, policy->idea, 0);
	}
	if (policy->source) {
		g_autofree char *source = g_strdup_printf("Source: %s", policy->source);

		g_string_append_c(out, '\n');
		append_filled(out, source, 0);
	}
	g_string_append_c(out, '\n');
	for (const Question *question = questions; question->text; question++)
		g_string_append_printf(out, "%-64s %s\n", question->text, answer(policy, question));
	append_options(out, policy);
}

/* All of them as a page of the documentation */

/* A bar would end the cell of a table. */
static void
append_cell(GString *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|')
			g_string_append_c(out, '\\');
		g_string_append_c(out, *text == '\n' ? ' ' : *text);
	}
}

static void
append_markdown_option(GString *out, const PolicyClass *policy, const Option *option)
{
	g_autofree char *standard = standard_of(policy, option);
	g_autofree char *wanted = option_wanted(option);

	g_string_append_printf(out, "| `%s` | `%s` | ", option->name, standard);
	append_cell(out, wanted);
	g_string_append(out, " | ");
	append_cell(out, option->help ? option->help : "");
	g_string_append(out, " |\n");
}

static void
append_markdown_options(GString *out, const PolicyClass *policy)
{
	if (!has_options(policy)) {
		g_string_append(out, "\nNo options.\n");
		return;
	}
	g_string_append(out, "\n| option | default | value | meaning |\n|---|---|---|---|\n");
	for (const Option *option = policy->options; option->name; option++)
		append_markdown_option(out, policy, option);
}

/* Only what it may do: the rest is no. */
static void
append_markdown_caps(GString *out, const PolicyClass *policy)
{
	for (const Question *question = questions; question->text; question++)
		if (policy->caps & question->cap)
			g_string_append_printf(out, "- %s Yes.\n", question->text);
}

static void
append_markdown_policy(GString *out, const PolicyClass *policy)
{
	g_string_append_printf(out, "\n## %s\n\n%s\n", policy->name, policy->summary);
	if (policy->idea)
		g_string_append_printf(out, "\n%s\n", policy->idea);
	if (policy->source)
		g_string_append_printf(out, "\nSource: %s\n", policy->source);
	if (policy->caps)
		g_string_append_c(out, '\n');
	append_markdown_caps(out, policy);
	append_markdown_options(out, policy);
}

static void
append_markdown(GString *out)
{
	g_string_append(out, "# Policies\n\nMade by `themis-sim policies --markdown`.\n\n"
	                     "| policy | in one line |\n|---|---|\n");
	for (guint i = 0; policy_classes[i]; i++) {
		g_string_append_printf(out, "| [%s](#%s) | ", policy_classes[i]->name,
		                       policy_classes[i]->name);
		append_cell(out, policy_classes[i]->summary);
		g_string_append(out, " |\n");
	}
	for (guint i = 0; policy_classes[i]; i++)
		append_markdown_policy(out, policy_classes[i]);
}

/* The command */

static gboolean
append_named(GString *out, const char *name, GError **error)
{
	g_autoptr(PolicySpec) spec = policy_spec_parse(name, error);

	if (spec)
		append_page(out, spec->policy);
	return spec != NULL;
}

static gboolean
append_names(GString *out, char *const *names, GError **error)
{
	for (guint i = 0; names[i]; i++) {
		if (i > 0)
			g_string_append_c(out, '\n');
		if (!append_named(out, names[i], error))
			return FALSE;
	}
	return TRUE;
}

static CommandVerdict
parse(char **argv, gboolean *ret_markdown, GStrv *ret_names, GError **error)
{
	const GOptionEntry entries[] = {
		{ "markdown", 0, 0, G_OPTION_ARG_NONE, ret_markdown,
		  "Print every policy's page as markdown (docs/policies.md)", NULL },
		G_OPTION_ENTRY_NULL,
	};
	const CommandSyntax syntax = {
		"policies",
		"[NAME...]",
		"Lists the policies, or says what a policy does, what it may know, and its "
		"options.",
		NULL,
		entries,
	};

	return command_parse(&syntax, argv, ret_names, error);
}

int
command_policies(int argc, char **argv)
{
	gboolean wants_markdown = FALSE;
	g_auto(GStrv) names = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) out = g_string_new(NULL);
	CommandVerdict verdict = parse(argv, &wants_markdown, &names, &error);

	if (verdict == COMMAND_HELPED)
		return 0;
	if (verdict == COMMAND_BAD || !append_names(out, names, &error))
		return command_fail(error);
	if (wants_markdown)
		append_markdown(out);
	else if (!names[0])
		append_list(out);
	fputs(out->str, stdout);
	return 0;
}
