/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The bytes of a file in order, plain or gzip (several members, zero padding behind the last),
 * read once: the SHA-256 of what is on disk is taken on the way, so a pipe will do as well.
 */

#include <glib.h>

typedef struct ByteSource ByteSource;

/* SIM_ERROR_INPUT if @path cannot be read. */
ByteSource *byte_source_open(const char *path, GError **error);
void byte_source_close(ByteSource *source);

/* Up to @size > 0 bytes into @buffer; *ret_n is 0 at the end alone. A gzip file that is cut or
 * damaged, or has other bytes behind it, is SIM_ERROR_INPUT. */
gboolean byte_source_read(ByteSource *source, char *buffer, gsize size, gsize *ret_n,
                          GError **error);

/* Puts @n bytes back in front of what is still to be read: for a look ahead. */
void byte_source_unread(ByteSource *source, const char *bytes, gsize n);

/* In hex; to be asked for when all has been read. */
const char *byte_source_sha256(ByteSource *source);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ByteSource, byte_source_close)
