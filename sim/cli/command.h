/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What the sub-commands share: reading a command line, and saying what went wrong. GOption stores
 * the values and writes the help; what it would merely reject is checked before, so that a
 * mistyped option is answered with the nearest known one.
 */

#include <glib.h>

typedef struct CommandSyntax {
	const char *name;       /* "run" */
	const char *parameters; /* "[RUN.yaml]" */
	const char *summary;
	const char *notes; /* below the options in the help; may be NULL */
	/* Texts are G_OPTION_ARG_FILENAME, so that no byte of a path is touched. Where
	 * arg_description begins with '[' the value may be left out, and is "" then. -h, --help is
	 * added. */
	const GOptionEntry *entries;
} CommandSyntax;

typedef enum CommandVerdict {
	COMMAND_GO,
	COMMAND_HELPED, /* the help was asked for and has been printed */
	COMMAND_BAD,    /* @error is set */
} CommandVerdict;

/* Reads @argv, whose first entry is the sub-command's name, into what the entries point at, and
 * hands over what is left: the arguments that are no options. */
CommandVerdict command_parse(const CommandSyntax *syntax, char **argv, GStrv *ret_arguments,
                             GError **error);

/* Prints @error to stderr and returns the exit status that it stands for. Complaints about a file
 * begin with its name, as a compiler's do; others with the program's. */
int command_fail(const GError *error);

/* A line to stderr, with the program's name in front. */
void command_note(const char *format, ...) G_GNUC_PRINTF(1, 2);
