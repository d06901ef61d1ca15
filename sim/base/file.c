/* SPDX-License-Identifier: MIT */
#include "sim/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ZLIB_CONST
#include <glib/gstdio.h>
#include <zlib.h>

#include "sim/base/error.h"

#define OUTPUT_CHUNK 65536u
#define INPUT_CHUNK  65536u
#define ZLIB_CHUNK   (1u << 30) /* zlib counts in unsigned int */

struct OutputFile {
	char *path;      /* the final name, symbolic links followed */
	char *temporary; /* NULL for pipes and devices, which are written directly */
	int fd;
	GString *text;
};

/* Writing */

static gboolean
output_error(const char *path, const char *what, int code, GError **error)
{
	g_set_error(error, SIM_ERROR, SIM_ERROR_INTERNAL, "%s: %s: %s", path, what,
	            g_strerror(code));
	return FALSE;
}

/* Renaming over /dev/null or a pipe would destroy it. */
static gboolean
is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static char *
temporary_name(const char *path)
{
	g_autofree char *folder = g_path_get_dirname(path);
	g_autofree char *base = g_path_get_basename(path);
	g_autofree char *name = g_strdup_printf(".%s.tmp-XXXXXX", base);

	return g_build_filename(folder, name, NULL);
}

OutputFile *
output_file_open(const char *path, GError **error)
{
	g_autofree char *real = realpath(path, NULL);
	g_autoptr(OutputFile) file = g_new0(OutputFile, 1);

	file->path = g_strdup(real ? real : path);
	file->text = g_string_sized_new(OUTPUT_CHUNK + OUTPUT_CHUNK / 4);
	if (is_special(file->path)) {
		file->fd = g_open(file->path, O_WRONLY | O_CLOEXEC, 0);
	} else {
		file->temporary = temporary_name(file->path);
		file->fd = g_mkstemp_full(file->temporary, O_WRONLY | O_CLOEXEC, 0666);
	}
	if (file->fd < 0) {
		output_error(path, "cannot be written", errno, error);
		g_clear_pointer(&file->temporary, g_free);
		return NULL;
	}
	return g_steal_pointer(&file);
}

GString *
output_file_text(OutputFile *file)
{
	return file->text;
}

static gboolean
output_write_all(OutputFile *file, GError **error)
{
	gsize done = 0;

	while (done < file->text->len) {
		gssize n = write(file->fd, file->text->str + done, file->text->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return output_error(file->path, "cannot be written", errno, error);
		done += (gsize)n;
	}
	g_string_truncate(file->text, 0);
	return TRUE;
}

gboolean
output_file_flush(OutputFile *file, GError **error)
{
	return file->text->len < OUTPUT_CHUNK || output_write_all(file, error);
}

static gboolean
output_put_in_place(OutputFile *file, GError **error)
{
	int fd = file->fd;

	/* Network file systems report a full disk as late as this. */
	file->fd = -1;
	if (close(fd) != 0 && errno != EINTR)
		return output_error(file->path, "cannot be written", errno, error);
	if (file->temporary && g_rename(file->temporary, file->path) != 0)
		return output_error(file->path, "cannot be put in place", errno, error);
	g_clear_pointer(&file->temporary, g_free);
	return TRUE;
}

gboolean
output_file_commit(OutputFile *file, GError **error)
{
	g_autoptr(OutputFile) owned = file;

	return output_write_all(owned, error) && output_put_in_place(owned, error);
}

void
output_file_free(OutputFile *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	if (file->temporary)
		g_unlink(file->temporary);
	if (file->text)
		g_string_free(file->text, TRUE);
	g_free(file->temporary);
	g_free(file->path);
	g_free(file);
}

gboolean
folder_make(const char *path, GError **error)
{
	if (g_mkdir_with_parents(path, 0777) != 0)
		return output_error(path, "the folder cannot be made", errno, error);
	return TRUE;
}

/* Reading */

static gboolean
input_error(const char *path, int code, GError **error)
{
	g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT, "%s: cannot be read: %s", path,
	            g_strerror(code));
	return FALSE;
}

static int
input_open(const char *path, GError **error)
{
	int fd = g_open(path, O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		input_error(path, errno, error);
	return fd;
}

/* The bytes read, 0 at the end, -1 with @error set. */
static gssize
input_read(int fd, const char *path, void *ret_bytes, gsize size, GError **error)
{
	gssize n;

	do {
		n = read(fd, ret_bytes, size);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		input_error(path, errno, error);
	return n;
}

/* At least one more byte than the file has, so that the read that finds the end fits as well. */
static gsize
input_size_guess(int fd)
{
	struct stat status;

	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		return INPUT_CHUNK;
	return (gsize)status.st_size + 1;
}

/* A pipe has no size, and a regular file may grow under the reader; both are read to the end. */
static gboolean
read_bytes(const char *path, char **ret_bytes, gsize *ret_length, GError **error)
{
	int fd = input_open(path, error);
	g_autofree char *bytes = NULL;
	gsize size, length = 0;
	gssize n = -1;

	if (fd < 0)
		return FALSE;
	size = input_size_guess(fd);
	bytes = g_malloc(size + 1);
	while ((n = input_read(fd, path, bytes + length, size - length, error)) > 0) {
		length += (gsize)n;
		if (length == size) {
			size *= 2;
			bytes = g_realloc(bytes, size + 1);
		}
	}
	close(fd);
	if (n < 0)
		return FALSE;
	bytes[length] = '\0';
	*ret_bytes = g_steal_pointer(&bytes);
	*ret_length = length;
	return TRUE;
}

/* Gzip */

typedef struct Inflater {
	z_stream stream;
	const char *path;
	const char *end; /* of the packed bytes */
	char *text;
	gsize length, size;
} Inflater;

static gboolean
gzip_error(const Inflater *inflater, const char *what, GError **error)
{
	g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT, "%s: %s", inflater->path, what);
	return FALSE;
}

static gsize
packed_left(const Inflater *inflater)
{
	return (gsize)(inflater->end - (const char *)inflater->stream.next_in);
}

/* One call of inflate() with as much room as there is, which is doubled once it is used up. */
static int
inflate_step(Inflater *inflater)
{
	gsize room = inflater->size - inflater->length;
	uInt room_now = (uInt)MIN(room, ZLIB_CHUNK);
	int verdict;

	inflater->stream.next_out = (Bytef *)inflater->text + inflater->length;
	inflater->stream.avail_out = room_now;
	inflater->stream.avail_in = (uInt)MIN(packed_left(inflater), ZLIB_CHUNK);
	verdict = inflate(&inflater->stream, Z_NO_FLUSH);
	inflater->length += room_now - inflater->stream.avail_out;
	if (inflater->length == inflater->size) {
		inflater->size *= 2;
		inflater->text = g_realloc(inflater->text, inflater->size + 1);
	}
	return verdict;
}

static gboolean
inflate_member(Inflater *inflater, GError **error)
{
	for (;;) {
		gsize length = inflater->length;
		gsize left = packed_left(inflater);
		int verdict = inflate_step(inflater);

		if (verdict == Z_STREAM_END)
			return TRUE;
		if (verdict != Z_OK && verdict != Z_BUF_ERROR)
			return gzip_error(inflater, "the gzip data are damaged", error);
		if (length == inflater->length && left == packed_left(inflater))
			return gzip_error(
			    inflater, "the gzip data end too early, the file is truncated", error);
	}
}

/* Tape and block devices pad with zeros, and so do some uploaders; gzip itself accepts that. */
static gboolean
rest_is_padding(const Inflater *inflater)
{
	for (const char *p = (const char *)inflater->stream.next_in; p < inflater->end; p++)
		if (*p != '\0')
			return FALSE;
	return TRUE;
}

static gboolean
inflate_all(Inflater *inflater, GError **error)
{
	do {
		if (!inflate_member(inflater, error))
			return FALSE;
		if (rest_is_padding(inflater))
			return TRUE;
		inflateReset(&inflater->stream);
	} while (*inflater->stream.next_in == 0x1f);
	return gzip_error(inflater, "bytes that are not gzip follow the gzip data", error);
}

static gboolean
is_gzip(const char *bytes, gsize length)
{
	return length >= 2 && bytes[0] == '\x1f' && bytes[1] == '\x8b';
}

static gboolean
gunzip(const char *path, const char *packed, gsize packed_length, char **ret_text,
       gsize *ret_length, GError **error)
{
	Inflater inflater = { .path = path, .end = packed + packed_length };
	gboolean ok;
	int started;

	inflater.size = MAX(packed_length * 4, INPUT_CHUNK);
	inflater.text = g_malloc(inflater.size + 1);
	inflater.stream.next_in = (const Bytef *)packed;
	started = inflateInit2(&inflater.stream, 16 + MAX_WBITS);
	g_assert(started == Z_OK);
	ok = inflate_all(&inflater, error);
	inflateEnd(&inflater.stream);
	if (!ok) {
		g_free(inflater.text);
		return FALSE;
	}
	inflater.text[inflater.length] = '\0';
	*ret_text = inflater.text;
	*ret_length = inflater.length;
	return TRUE;
}

gboolean
file_read(const char *path, char **ret_text, gsize *ret_length, GError **error)
{
	g_autofree char *bytes = NULL;
	gsize length;

	if (!read_bytes(path, &bytes, &length, error))
		return FALSE;
	if (is_gzip(bytes, length))
		return gunzip(path, bytes, length, ret_text, ret_length, error);
	*ret_text = g_steal_pointer(&bytes);
	*ret_length = length;
	return TRUE;
}

char *
file_sha256(const char *path, GError **error)
{
	g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autofree guchar *bytes = g_malloc(INPUT_CHUNK);
	int fd = input_open(path, error);
	gssize n;

	if (fd < 0)
		return NULL;
	while ((n = input_read(fd, path, bytes, INPUT_CHUNK, error)) > 0)
		g_checksum_update(checksum, bytes, n);
	close(fd);
	return n < 0 ? NULL : g_strdup(g_checksum_get_string(checksum));
}

char *
path_beside(const char *from, const char *path)
{
	g_autofree char *folder = g_path_get_dirname(from);

	if (g_path_is_absolute(path) || g_str_equal(folder, "."))
		return g_strdup(path);
	return g_build_filename(folder, path, NULL);
}
