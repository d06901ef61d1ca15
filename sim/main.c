/* SPDX-License-Identifier: MIT */

/* From argv to an exit status: which sub-command, and nothing else. */

#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/text.h"
#include "sim/cli/command.h"
#include "sim/cli/policies.h"
#include "sim/cli/run.h"
#include "sim/cli/trace.h"
#include "sim/cli/version.h"

typedef struct SubCommand {
	const char *name;
	int (*call)(int argc, char **argv); /* NULL = not yet */
	const char *summary;
} SubCommand;

static const SubCommand commands[] = {
	{ "run", command_run, "replay a trace under some policies" },
	{ "trace", command_trace, "look at, check, convert and make traces" },
	{ "policies", command_policies, "list the policies, or explain one" },
	{ "sweep", NULL, "many runs at once (not part of this version yet)" },
	{ "compare", NULL, "compare two runs' tables (not part of this version yet)" },
};

static void
print_usage(FILE *file)
{
	fputs("Usage: themis-sim COMMAND [OPTION...] [ARGUMENT...]\n\n", file);
	for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
		fprintf(file, "  %-9s %s\n", commands[i].name, commands[i].summary);
	fputs("\n  --version  print the version and exit\n"
	      "  --help     print this and exit; `themis-sim COMMAND --help` tells more\n",
	      file);
}

static const SubCommand *
find_command(const char *name)
{
	for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
		if (g_str_equal(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int
unknown_command(const char *name)
{
	const char *names[G_N_ELEMENTS(commands) + 3] = { "--version", "--help" };
	const char *nearest;

	for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
		names[i + 2] = commands[i].name;
	nearest = text_nearest(name, names);
	if (nearest)
		command_note("found the unknown command \"%s\", wanted perhaps \"%s\"", name,
		             nearest);
	else
		command_note("found the unknown command \"%s\", wanted what --help lists", name);
	return SIM_ERROR_USAGE;
}

static int
call_command(int argc, char **argv)
{
	const SubCommand *command = find_command(argv[0]);

	if (!command)
		return unknown_command(argv[0]);
	if (command->call)
		return command->call(argc, argv);
	command_note("%s is not part of this version yet", command->name);
	return SIM_ERROR_USAGE;
}

static int
dispatch(int argc, char **argv)
{
	if (argc < 2) {
		print_usage(stderr);
		return SIM_ERROR_USAGE;
	}
	if (g_str_equal(argv[1], "--help") || g_str_equal(argv[1], "-h")) {
		print_usage(stdout);
		return 0;
	}
	if (g_str_equal(argv[1], "--version")) {
		printf("themis-sim %s (%s)\n", sim_version(), sim_commit());
		return 0;
	}
	return call_command(argc - 1, argv + 1);
}

/* A table that did not reach its file is a failure, however well the rest went. */
int
main(int argc, char **argv)
{
	int status = dispatch(argc, argv);

	if (fflush(stdout) != 0 || ferror(stdout)) {
		command_note("stdout: cannot be written");
		return status == 0 ? SIM_ERROR_INTERNAL : status;
	}
	return status;
}
