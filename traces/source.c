/* SPDX-License-Identifier: MIT */
#include "traces/source.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "sim/base/error.h"

#define CHUNK_BYTES      (64 * 1024)

/* For inflateInit2(): the largest window, and gzip framing alone. */
#define GZIP_WINDOW_BITS (15 + 16)

typedef enum SourceState {
	SOURCE_PLAIN,
	SOURCE_MEMBER,  /* inside a gzip member */
	SOURCE_BETWEEN, /* behind one: another, padding or the end may follow */
	SOURCE_PADDING, /* only zeros may follow */
} SourceState;

struct ByteSource {
	char *path;
	FILE *file;
	GChecksum *checksum;
	SourceState state;
	z_stream stream;     /* of a gzip file */
	unsigned char *next; /* the part of the chunk that is not yet used */
	gsize n_left;
	GByteArray *unread; /* bytes that were put back */
	unsigned char chunk[CHUNK_BYTES];
};

static gboolean
fill_chunk(ByteSource *source, GError **error)
{
	source->next = source->chunk;
	source->n_left = fread(source->chunk, 1, CHUNK_BYTES, source->file);
	if (ferror(source->file)) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT, "%s: cannot be read: %s",
		            source->path, g_strerror(errno));
		return FALSE;
	}
	g_checksum_update(source->checksum, source->chunk, (gssize)source->n_left);
	return TRUE;
}

/* By its first bytes, not by its name: `trace.csv` may be compressed, `trace.gz` may not be. */
static gboolean
sniff_gzip(ByteSource *source)
{
	if (source->n_left < 2 || source->chunk[0] != 0x1f || source->chunk[1] != 0x8b)
		return FALSE;
	g_assert(inflateInit2(&source->stream, GZIP_WINDOW_BITS) == Z_OK);
	return TRUE;
}

ByteSource *
byte_source_open(const char *path, GError **error)
{
	FILE *file = g_fopen(path, "rb");
	g_autoptr(ByteSource) source = NULL;

	if (!file) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT, "%s: cannot be read: %s", path,
		            g_strerror(errno));
		return NULL;
	}
	source = g_new0(ByteSource, 1);
	source->path = g_strdup(path);
	source->file = file;
	source->checksum = g_checksum_new(G_CHECKSUM_SHA256);
	source->unread = g_byte_array_new();
	/* Chunks are read whole: another buffer in between would only copy. */
	setvbuf(file, NULL, _IONBF, 0);
	if (!fill_chunk(source, error))
		return NULL;
	source->state = sniff_gzip(source) ? SOURCE_MEMBER : SOURCE_PLAIN;
	return g_steal_pointer(&source);
}

void
byte_source_close(ByteSource *source)
{
	if (!source)
		return;
	if (source->state != SOURCE_PLAIN)
		inflateEnd(&source->stream);
	g_checksum_free(source->checksum);
	g_byte_array_unref(source->unread);
	fclose(source->file);
	g_free(source->path);
	g_free(source);
}

static gsize
copy_plain(ByteSource *source, char *buffer, gsize size)
{
	gsize n = MIN(size, source->n_left);

	memcpy(buffer, source->next, n);
	source->next += n;
	source->n_left -= n;
	return n;
}

static gboolean
refuse(const ByteSource *source, const char *what, GError **error)
{
	g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT, "%s: %s", source->path, what);
	return FALSE;
}

/* Z_BUF_ERROR only says that there was nothing to do. */
static gboolean
inflate_member(ByteSource *source, char *buffer, gsize size, gsize *ret_n, GError **error)
{
	z_stream *stream = &source->stream;
	int verdict;

	stream->next_in = source->next;
	stream->avail_in = (uInt)source->n_left;
	stream->next_out = (Bytef *)buffer;
	stream->avail_out = (uInt)MIN(size, G_MAXINT32);
	verdict = inflate(stream, Z_NO_FLUSH);
	source->next = stream->next_in;
	source->n_left = stream->avail_in;
	if (verdict == Z_STREAM_END)
		source->state = SOURCE_BETWEEN;
	else if (verdict != Z_OK && verdict != Z_BUF_ERROR)
		return refuse(source, "found damaged gzip data, wanted it whole", error);
	*ret_n = (gsize)((char *)stream->next_out - buffer);
	return TRUE;
}

/* zlib's own gzread() takes anything behind a member for its end, and says nothing. */
static gboolean
begin_member(ByteSource *source, GError **error)
{
	if (source->next[0] == 0) {
		source->state = SOURCE_PADDING;
		return TRUE;
	}
	if (source->next[0] != 0x1f)
		return refuse(source, "found other bytes behind the gzip data, wanted its end",
		              error);
	inflateReset(&source->stream);
	source->state = SOURCE_MEMBER;
	return TRUE;
}

static gboolean
skip_padding(ByteSource *source, GError **error)
{
	while (source->n_left > 0 && source->next[0] == 0) {
		source->next++;
		source->n_left--;
	}
	return source->n_left == 0 ||
	       refuse(source, "found other bytes behind the gzip data, wanted its end", error);
}

/* One step on through the chunk; may produce nothing. */
static gboolean
advance(ByteSource *source, char *buffer, gsize size, gsize *ret_n, GError **error)
{
	switch (source->state) {
	case SOURCE_PLAIN:
		*ret_n = copy_plain(source, buffer, size);
		return TRUE;
	case SOURCE_MEMBER:
		return inflate_member(source, buffer, size, ret_n, error);
	case SOURCE_BETWEEN:
		return begin_member(source, error);
	case SOURCE_PADDING:
		return skip_padding(source, error);
	}
	g_assert_not_reached();
}

void
byte_source_unread(ByteSource *source, const char *bytes, gsize n)
{
	g_byte_array_prepend(source->unread, (const guint8 *)bytes, (guint)n);
}

static gsize
copy_unread(ByteSource *source, char *buffer, gsize size)
{
	gsize n = MIN(size, source->unread->len);

	memcpy(buffer, source->unread->data, n);
	g_byte_array_remove_range(source->unread, 0, (guint)n);
	return n;
}

gboolean
byte_source_read(ByteSource *source, char *buffer, gsize size, gsize *ret_n, GError **error)
{
	gsize n = 0;

	if (source->unread->len > 0) {
		*ret_n = copy_unread(source, buffer, size);
		return TRUE;
	}
	/* zlib may still hold output when its input is used up: it is asked before the file is. */
	while (n == 0) {
		if (source->n_left == 0 && !fill_chunk(source, error))
			return FALSE;
		if (source->n_left == 0)
			break;
		if (!advance(source, buffer, size, &n, error))
			return FALSE;
	}
	if (n == 0 && source->state == SOURCE_MEMBER)
		return refuse(source, "found gzip data that is cut short, wanted it whole", error);
	*ret_n = n;
	return TRUE;
}

const char *
byte_source_sha256(ByteSource *source)
{
	return g_checksum_get_string(source->checksum);
}
