/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What is wrong with one input file: bad places, each `file:line:column: what was found, what was
 * wanted`, and notices of what was understood in a certain way. Both are counted by reason, a
 * short stable phrase ("duplicate job_id"); the first PROBLEMS_SHOWN texts are kept.
 */

#include <glib.h>

#define PROBLEMS_SHOWN 20

typedef struct ReasonCount {
	char *reason;
	guint64 n;
} ReasonCount;

typedef struct Problems {
	char *path;
	GPtrArray *texts;   /* of char *: whole lines, the first PROBLEMS_SHOWN */
	GArray *bad;        /* of ReasonCount, in order of first appearance */
	GArray *noticed;    /* of ReasonCount, likewise */
	GPtrArray *notices; /* of char *: whole lines, the first of every reason */
	guint64 n_bad;
	guint64 n_noticed;
} Problems;

Problems *problems_new(const char *path);
void problems_free(Problems *problems);

/* A bad place. @line and @column count from 1; 0 leaves them out. */
void problems_add(Problems *problems, guint64 line, guint column, const char *reason,
                  const char *format, ...) G_GNUC_PRINTF(5, 6);

/* Something a reader should know, which stops nothing. */
void problems_notice(Problems *problems, guint64 line, guint column, const char *reason,
                     const char *format, ...) G_GNUC_PRINTF(5, 6);

/* All kept bad places, a line each, and how many more there are; SIM_ERROR_INPUT. */
void problems_to_error(const Problems *problems, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Problems, problems_free)
