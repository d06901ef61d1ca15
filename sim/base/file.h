/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Files written whole or not at all: a file is written under a temporary name in its own folder
 * and renamed at the end.
 */

#include <glib.h>

typedef struct OutputFile OutputFile;

OutputFile *output_file_open(const char *path, GError **error);

/* The text to come. Append to it, and call output_file_flush() after each row or so: it writes to
 * disk what has gathered once that is worth a system call, else it does nothing. */
GString *output_file_text(OutputFile *file);
gboolean output_file_flush(OutputFile *file, GError **error);

/* Rename to the final name. The file is freed either way. */
gboolean output_file_commit(OutputFile *file, GError **error);

/* Throws away what was not committed; takes NULL. */
void output_file_free(OutputFile *file);

/* The parent folders of @path and itself; SIM_ERROR_INTERNAL if it cannot be made. */
gboolean folder_make(const char *path, GError **error);

/* The whole of a file, plain or gzip (several members); SIM_ERROR_INPUT. */
gboolean file_read(const char *path, char **ret_text, gsize *ret_length, GError **error);

/* SHA-256 of the file's bytes as they are on disk, in hex. */
char *file_sha256(const char *path, GError **error);

/* @path as seen from the file @from: absolute ones stay, relative ones are joined to its folder. */
char *path_beside(const char *from, const char *path);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(OutputFile, output_file_free)
