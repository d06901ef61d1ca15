/* SPDX-License-Identifier: MIT */
#include "sim/cli/trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/cli/command.h"
#include "sim/cli/trace_stats.h"
#include "traces/generate.h"
#include "traces/trace.h"
#include "traces/write_native.h"

/* What the four commands can be given; each offers a part of it. */
typedef struct TraceArguments {
	char *format, *time_zone, *cluster, *output, *seed;
	gboolean skips_bad_rows;
	GStrv sets; /* KEY=VALUE each, or NULL */
	GStrv rest;
} TraceArguments;

static void
trace_arguments_clear(TraceArguments *arguments)
{
	g_free(arguments->format);
	g_free(arguments->time_zone);
	g_free(arguments->cluster);
	g_free(arguments->output);
	g_free(arguments->seed);
	g_strfreev(arguments->sets);
	g_strfreev(arguments->rest);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TraceArguments, trace_arguments_clear)

/* Options, each described once */

static GOptionEntry
text_entry(const char *name, char letter, char **ret_text, const char *what, const char *help)
{
	return (GOptionEntry){ name, letter, 0, G_OPTION_ARG_FILENAME, ret_text, help, what };
}

static GOptionEntry
format_entry(TraceArguments *arguments)
{
	return text_entry("format", 0, &arguments->format, "NAME",
	                  "Format of the trace (default: auto)");
}

static GOptionEntry
zone_entry(TraceArguments *arguments)
{
	return text_entry("tz", 0, &arguments->time_zone, "ZONE",
	                  "Zone of date-times without an offset (default: UTC)");
}

static GOptionEntry
skip_entry(TraceArguments *arguments)
{
	return (GOptionEntry){ "skip-bad-rows",
		               0,
		               0,
		               G_OPTION_ARG_NONE,
		               &arguments->skips_bad_rows,
		               "Leave bad rows of the trace out",
		               NULL };
}

static GOptionEntry
output_entry(TraceArguments *arguments)
{
	return text_entry("output", 'o', &arguments->output, "FILE",
	                  "Where the trace goes (default: to standard output)");
}

/* Reads @argv; there must be one argument that is no option. */
static CommandVerdict
parse(const CommandSyntax *syntax, char **argv, TraceArguments *arguments, GError **error)
{
	CommandVerdict verdict = command_parse(syntax, argv, &arguments->rest, error);

	if (verdict != COMMAND_GO || g_strv_length(arguments->rest) == 1)
		return verdict;
	g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE, "%s: found %u files, wanted one: %s",
	            syntax->name, g_strv_length(arguments->rest), syntax->parameters);
	return COMMAND_BAD;
}

static TraceOptions
trace_options(const TraceArguments *arguments)
{
	return (TraceOptions){
		.format = arguments->format ? arguments->format : "auto",
		.time_zone = arguments->time_zone,
		.skip_bad_rows = arguments->skips_bad_rows,
	};
}

/* Problems and notices name their file and place themselves. */
static void
print_lines(FILE *to, const GPtrArray *lines)
{
	for (guint i = 0; i < lines->len; i++)
		fprintf(to, "%s\n", (const char *)g_ptr_array_index(lines, i));
}

/* The trace, with its notices on stderr. */
static Workload *
read_trace(const TraceArguments *arguments, GError **error)
{
	TraceOptions options = trace_options(arguments);
	Workload *workload = trace_read(arguments->rest[0], &options, error);

	if (workload) {
		print_lines(stderr, workload->problems->texts);
		print_lines(stderr, workload->problems->notices);
	}
	return workload;
}

/* stats */

static CommandVerdict
parse_stats(char **argv, TraceArguments *arguments, GError **error)
{
	const GOptionEntry entries[] = {
		format_entry(arguments),
		zone_entry(arguments),
		skip_entry(arguments),
		text_entry("cluster", 0, &arguments->cluster, "SPEC",
		           "What the trace asks of this cluster: YAML file, or NxG[:type][,...]"),
		G_OPTION_ENTRY_NULL,
	};
	const CommandSyntax syntax = {
		"trace stats", "FILE", "Prints what a trace holds, in figures.",
		"app_gap_s is the time between the first submits of apps; "
		"peak_gpus and mean_gpus are the\n"
		"demand if no job ever waited; offered_load is the work over "
		"what the cluster could do from\n"
		"the first submit to the last.",
		entries
	};

	return parse(&syntax, argv, arguments, error);
}

static gboolean
print_stats(const TraceArguments *arguments, GError **error)
{
	g_autoptr(ClusterSpec) cluster = NULL;
	g_autoptr(Workload) workload = NULL;
	g_autofree char *table = NULL;

	if (arguments->cluster) {
		cluster = cluster_spec_load(arguments->cluster, error);
		if (!cluster)
			return FALSE;
	}
	workload = read_trace(arguments, error);
	if (!workload)
		return FALSE;
	table = trace_stats_table(workload, cluster);
	fputs(table, stdout);
	return TRUE;
}

/* validate */

static CommandVerdict
parse_validate(char **argv, TraceArguments *arguments, GError **error)
{
	const GOptionEntry entries[] = {
		format_entry(arguments),
		zone_entry(arguments),
		G_OPTION_ENTRY_NULL,
	};
	const CommandSyntax syntax = { "trace validate", "FILE",
		                       "Prints what is wrong with a trace, and what was understood "
		                       "in a certain way.",
		                       "Exit status: 0 if nothing is wrong, 3 if something is.",
		                       entries };

	return parse(&syntax, argv, arguments, error);
}

static void
print_counts(const char *what, const GArray *counts)
{
	for (guint i = 0; i < counts->len; i++) {
		const ReasonCount *count = &g_array_index(counts, ReasonCount, i);

		printf("%s: %" G_GUINT64_FORMAT " %s\n", what, count->n, count->reason);
	}
}

/* Bad rows are read over, so that notices are found too; that there were some is the error. */
static gboolean
print_problems(const TraceArguments *arguments, GError **error)
{
	TraceOptions options = trace_options(arguments);
	g_autoptr(Workload) workload = NULL;
	const Problems *problems;

	options.skip_bad_rows = TRUE;
	workload = trace_read(arguments->rest[0], &options, error);
	if (!workload)
		return FALSE;
	problems = workload->problems;
	print_lines(stdout, problems->notices);
	print_counts("noticed", problems->noticed);
	print_counts("bad", problems->bad);
	printf("%s: %" G_GUINT64_FORMAT " rows, %u jobs, %u apps, %s\n", workload->format,
	       workload->n_rows_read, workload->n_jobs, workload->n_apps,
	       problems->n_bad == 0 ? "nothing wrong" : "not valid");
	if (problems->n_bad == 0)
		return TRUE;
	problems_to_error(problems, error);
	return FALSE;
}

/* convert */

static CommandVerdict
parse_convert(char **argv, TraceArguments *arguments, GError **error)
{
	const GOptionEntry entries[] = {
		format_entry(arguments), zone_entry(arguments), skip_entry(arguments),
		output_entry(arguments), G_OPTION_ENTRY_NULL,
	};
	const CommandSyntax syntax = { "trace convert", "FILE",
		                       "Rewrites a trace of any format as a native one, in plain "
		                       "CSV.",
		                       NULL, entries };

	return parse(&syntax, argv, arguments, error);
}

/* A pipe has no name that could be put in place at the end. */
static gboolean
print_native(const Workload *workload, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);

	trace_append_native(text, workload);
	if (fwrite(text->str, 1, text->len, stdout) == text->len && fflush(stdout) == 0)
		return TRUE;
	g_set_error(error, SIM_ERROR, SIM_ERROR_INTERNAL, "standard output cannot be written: %s",
	            g_strerror(errno));
	return FALSE;
}

static gboolean
write_native(const Workload *workload, const char *output, GError **error)
{
	if (!output || g_str_equal(output, "-"))
		return print_native(workload, error);
	return trace_write_native(workload, output, error);
}

static gboolean
convert(const TraceArguments *arguments, GError **error)
{
	g_autoptr(Workload) workload = read_trace(arguments, error);

	return workload && write_native(workload, arguments->output, error);
}

/* generate */

static CommandVerdict
parse_generate(char **argv, TraceArguments *arguments, GError **error)
{
	const GOptionEntry entries[] = {
		output_entry(arguments),
		text_entry("seed", 0, &arguments->seed, "N", "Instead of the spec's own seed"),
		{ "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arguments->sets,
		  "Instead of a value in the spec, as arrivals.speedup=2", "KEY=VALUE" },
		G_OPTION_ENTRY_NULL,
	};
	const CommandSyntax syntax = { "trace generate", "SPEC.yaml",
		                       "Makes a synthetic trace; docs/trace-format.md says what a "
		                       "spec holds.",
		                       NULL, entries };

	return parse(&syntax, argv, arguments, error);
}

static gboolean
parse_seed(const char *text, guint64 *ret_seed, GError **error)
{
	gint64 seed;

	if (decimal_parse(text, strlen(text), 0, &seed) != DECIMAL_OK) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
		            "trace generate: found \"%s\" for --seed, wanted a whole number from 0 "
		            "to 9223372036854775807",
		            text);
		return FALSE;
	}
	*ret_seed = (guint64)seed;
	return TRUE;
}

static gboolean
generate(const TraceArguments *arguments, GError **error)
{
	guint64 seed = 0;
	g_autoptr(Workload) workload = NULL;

	if (arguments->seed && !parse_seed(arguments->seed, &seed, error))
		return FALSE;
	workload = trace_generate(arguments->rest[0], arguments->seed ? &seed : NULL,
	                          (const char *const *)arguments->sets, error);
	return workload && write_native(workload, arguments->output, error);
}

/* --formats */

/* A line of TraceFormat.columns: name, unit and meaning, with tabs between them. */
static void
print_column(const char *line)
{
	g_auto(GStrv) parts = g_strsplit(line, "\t", 3);

	if (g_strv_length(parts) == 3)
		printf("  %-22s %-10s %s\n", parts[0], parts[1], parts[2]);
}

static void
print_format(const TraceFormat *format)
{
	g_auto(GStrv) lines = g_strsplit(format->columns, "\n", -1);

	printf("%s: %s\n", format->name, format->summary);
	for (guint i = 0; lines[i]; i++)
		print_column(lines[i]);
}

static int
print_formats(void)
{
	for (guint i = 0; trace_formats[i]; i++) {
		if (i > 0)
			putchar('\n');
		print_format(trace_formats[i]);
	}
	return 0;
}

/* The command */

typedef struct TraceCommand {
	const char *name;
	CommandVerdict (*parse)(char **argv, TraceArguments *arguments, GError **error);
	gboolean (*run)(const TraceArguments *arguments, GError **error);
} TraceCommand;

static const TraceCommand commands[] = {
	{ "stats", parse_stats, print_stats },
	{ "validate", parse_validate, print_problems },
	{ "convert", parse_convert, convert },
	{ "generate", parse_generate, generate },
};

static int
run_command(const TraceCommand *command, char **argv)
{
	g_auto(TraceArguments) arguments = { 0 };
	g_autoptr(GError) error = NULL;
	CommandVerdict verdict = command->parse(argv, &arguments, &error);

	if (verdict == COMMAND_HELPED)
		return 0;
	if (verdict == COMMAND_BAD || !command->run(&arguments, &error))
		return command_fail(error);
	return 0;
}

/* --formats stands where a command would. */
static int
refuse_command(const char *name)
{
	static const char *const names[] = { "stats",    "validate",  "convert",
		                             "generate", "--formats", NULL };
	const char *nearest = text_nearest(name, names);
	g_autoptr(GError) error = NULL;

	if (nearest)
		g_set_error(&error, SIM_ERROR, SIM_ERROR_USAGE,
		            "trace: found the unknown command \"%s\", wanted perhaps \"%s\"", name,
		            nearest);
	else
		g_set_error(&error, SIM_ERROR, SIM_ERROR_USAGE,
		            "trace: found the unknown command \"%s\", wanted stats, validate, "
		            "convert, generate or --formats",
		            name);
	return command_fail(error);
}

static int
print_usage(FILE *to, int status)
{
	fputs("Usage:\n"
	      "  themis-sim trace stats FILE          what a trace holds, in figures\n"
	      "  themis-sim trace validate FILE       what is wrong with it\n"
	      "  themis-sim trace convert FILE        rewrites it as a native trace\n"
	      "  themis-sim trace generate SPEC.yaml  makes a synthetic one\n"
	      "  themis-sim trace --formats           the formats that can be read\n"
	      "\n"
	      "`themis-sim trace COMMAND --help` lists the options of a command.\n",
	      to);
	return status;
}

int
command_trace(int argc, char **argv)
{
	if (argc < 2)
		return print_usage(stderr, SIM_ERROR_USAGE);
	if (g_str_equal(argv[1], "--help") || g_str_equal(argv[1], "-h"))
		return print_usage(stdout, 0);
	if (g_str_equal(argv[1], "--formats"))
		return print_formats();
	for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
		if (g_str_equal(argv[1], commands[i].name))
			return run_command(&commands[i], argv + 1);
	return refuse_command(argv[1]);
}
