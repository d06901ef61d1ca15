/* SPDX-License-Identifier: MIT */
#include "sim/cli/run_arguments.h"

#include "sim/base/error.h"

static const char summary[] =
    "Replays a trace under each policy and prints a row for each. RUN.yaml holds the same things "
    "as\n"
    "the options; --set wins over it, and an option of its own wins over --set.";

static const char notes[] = "Policies: NAME[@LABEL][:key=value[,key=value]], as "
                            "tiresias@two:thresholds_gpu_s=[3600,36000],\n"
                            "or a shared object, as ./mine.so. `themis-sim policies` lists them.\n"
                            "Exit status: 0 ok, 1 internal error, 2 usage, 3 bad input, 5 rejected "
                            "or unfinished jobs that\n"
                            "were not allowed, 130 interrupted, 143 terminated.";

/* What the command line says, before anything is made of it. */
typedef struct RunArguments {
	char *trace, *format, *cluster, *models, *time_zone, *out;
	char *seed, *timeline, *threads;
	char **policies, **sets;
	RunConfig flags; /* its flags alone */
} RunArguments;

static void
run_arguments_clear(RunArguments *arguments)
{
	g_free(arguments->trace);
	g_free(arguments->format);
	g_free(arguments->cluster);
	g_free(arguments->models);
	g_free(arguments->time_zone);
	g_free(arguments->out);
	g_free(arguments->seed);
	g_free(arguments->timeline);
	g_free(arguments->threads);
	g_strfreev(arguments->policies);
	g_strfreev(arguments->sets);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RunArguments, run_arguments_clear)

#define TEXT(letter, name, member, what, help)                                         \
	{                                                                              \
		name, letter, 0, G_OPTION_ARG_FILENAME, &arguments->member, help, what \
	}
#define TEXTS(name, member, what, help)                                                 \
	{                                                                               \
		name, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &arguments->member, help, what \
	}
#define FLAG(letter, name, member, help)                                                 \
	{                                                                                \
		name, letter, 0, G_OPTION_ARG_NONE, &arguments->flags.member, help, NULL \
	}

static CommandVerdict
parse(RunArguments *arguments, char **argv, GStrv *ret_rest, GError **error)
{
	const GOptionEntry entries[] = {
		TEXT(0, "trace", trace, "FILE", "The jobs: CSV, plain or gzip"),
		TEXT(0, "format", format, "NAME", "Format of the trace (default: auto)"),
		TEXT(0, "cluster", cluster, "SPEC", "YAML file, or NxG[:type][,...] as 12x4:v100"),
		TEXTS("policy", policies, "SPEC", "A policy; repeat it for more"),
		TEXT(0, "models", models, "FILE",
		     "What is known of the jobs' models (default: nothing)"),
		TEXT(0, "tz", time_zone, "ZONE",
		     "Zone of date-times without an offset (default: UTC)"),
		TEXT(0, "seed", seed, "N", "Seed of every random draw (default: 1)"),
		TEXT(0, "out", out, "DIR", "Where the tables go (default: nothing is written)"),
		TEXTS("set", sets, "KEY=VALUE", "Set any key of RUN.yaml, as overheads.resume_s=5"),
		FLAG(0, "segments", wants_segments, "Write segments.csv"),
		TEXT(0, "timeline", timeline, "[INTERVAL_S]", "Write timeline.csv, or sample it"),
		FLAG(0, "stream", wants_stream, "Write jobs.csv as jobs end"),
		FLAG(0, "perfetto", wants_perfetto, "Not part of this version yet"),
		FLAG(0, "batsim", wants_batsim, "Not part of this version yet"),
		FLAG(0, "skip-bad-rows", skips_bad_rows,
		     "Leave bad rows of the trace out, counted"),
		FLAG(0, "allow-rejected", allows_rejected,
		     "Rejected jobs do not change the exit status"),
		FLAG(0, "allow-unfinished", allows_unfinished,
		     "Unfinished jobs do not change the exit status"),
		FLAG(0, "strict", is_strict, "A refused edit of a policy ends its run"),
		FLAG(0, "paranoid", is_paranoid, "Check every invariant after every instant"),
		FLAG('q', "quiet", is_quiet, "Print no table and no progress"),
		TEXT('j', "threads", threads, "N",
		     "Policies that run at once (default: the cores)"),
		G_OPTION_ENTRY_NULL,
	};
	const CommandSyntax syntax = { "run", "[RUN.yaml]", summary, notes, entries };

	return command_parse(&syntax, argv, ret_rest, error);
}

/* Options of their own win over --set, which wins over the file (A38). */

static void
apply_text(Setting *setting, const char *given)
{
	if (given)
		setting_set(setting, given);
}

static gboolean
apply_number(RunConfig *config, const char *option, const char *key, const char *text,
             GError **error)
{
	return !text || run_config_set_number(config, option, key, text, error);
}

/* Without an interval there is a row an instant. */
static gboolean
apply_timeline(RunConfig *config, const char *interval, GError **error)
{
	if (!interval || interval[0] != '\0')
		return apply_number(config, "--timeline", "timeline", interval, error);
	config->wants_timeline = TRUE;
	config->timeline_every_ns = 0;
	return TRUE;
}

static gboolean
apply_options(RunConfig *config, const RunArguments *arguments, GError **error)
{
	const char *const *policies = (const char *const *)arguments->policies;

	apply_text(&config->trace, arguments->trace);
	apply_text(&config->format, arguments->format);
	apply_text(&config->cluster, arguments->cluster);
	apply_text(&config->models, arguments->models);
	apply_text(&config->time_zone, arguments->time_zone);
	apply_text(&config->out, arguments->out);
	run_config_raise_flags(config, &arguments->flags);
	return apply_number(config, "--seed", "seed", arguments->seed, error) &&
	       apply_number(config, "-j", "threads", arguments->threads, error) &&
	       apply_timeline(config, arguments->timeline, error) &&
	       (!policies || run_config_set_policies(config, policies, error));
}

static gboolean
apply_sets(RunConfig *config, char *const *sets, GError **error)
{
	for (; sets && *sets; sets++)
		if (!run_config_set(config, *sets, error))
			return FALSE;
	return TRUE;
}

static gboolean
read_file(RunConfig *config, char *const *files, GError **error)
{
	if (files[0] && files[1]) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
		            "run: found \"%s\" after \"%s\", wanted one RUN.yaml at most", files[1],
		            files[0]);
		return FALSE;
	}
	return !files[0] || run_config_read(config, files[0], error);
}

CommandVerdict
run_arguments_read(char **argv, RunConfig **ret_config, GError **error)
{
	g_auto(RunArguments) arguments = { 0 };
	g_autoptr(RunConfig) config = run_config_new();
	g_auto(GStrv) files = NULL;
	CommandVerdict verdict = parse(&arguments, argv, &files, error);

	if (verdict != COMMAND_GO)
		return verdict;
	if (!read_file(config, files, error) || !apply_sets(config, arguments.sets, error) ||
	    !apply_options(config, &arguments, error) || !run_config_check(config, error))
		return COMMAND_BAD;
	*ret_config = g_steal_pointer(&config);
	return COMMAND_GO;
}
