/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A CSV file, row by row, plain or gzip, in memory that does not grow with the file. RFC 4180
 * quoting, LF or CRLF, a byte-order mark and a missing last newline are fine. Blank lines, and
 * lines whose first character is `#`, are passed over (SEMANTICS A48).
 *
 * A row that cannot be read, or has not as many cells as the header, is told to the Problems,
 * counted, and passed over. What damages the whole file is a GError.
 */

#include "sim/base/problems.h"

/* The longest row, in bytes: what keeps the memory bounded. */
#define CSV_MAX_ROW_BYTES (256 * 1024)

typedef struct ByteSource ByteSource; /* traces/source.h */
typedef struct CsvReader CsvReader;

/* Valid until the next row is read. */
typedef struct CsvCell {
	const char *text; /* NUL-terminated, without its quotes */
	gsize length;
	const char *start; /* where it stood, quotes included */
} CsvCell;

typedef enum CsvVerdict {
	CSV_ROW,    /* csv_cells() has as many cells as the header */
	CSV_END,    /* of the file */
	CSV_FAILED, /* the error is set */
} CsvVerdict;

/* Opens @path and reads its header. SIM_ERROR_INPUT if it cannot be read, has no header, or is
 * no text in UTF-8. @problems is not owned. */
CsvReader *csv_open(const char *path, Problems *problems, GError **error);
/* Likewise, of bytes that are open already; takes @source. */
CsvReader *csv_open_source(ByteSource *source, const char *path, Problems *problems,
                           GError **error);
void csv_close(CsvReader *reader);

/* The names in the header, without blanks around them; NULL-terminated. */
const char *const *csv_names(const CsvReader *reader);
guint csv_n_columns(const CsvReader *reader);
gboolean csv_find(const CsvReader *reader, const char *name, guint *ret_column);

/* Two columns of one name: SIM_ERROR_INPUT. To be asked before the first row is read. */
gboolean csv_refuse_duplicates(const CsvReader *reader, GError **error);

CsvVerdict csv_next(CsvReader *reader, GError **error);
const CsvCell *csv_cells(const CsvReader *reader);

/* Where the row (or, before the first, the header) and its cells begin; columns are counted in
 * characters from 1. */
guint64 csv_row_line(const CsvReader *reader);
guint64 csv_cell_line(const CsvReader *reader, guint column);
guint csv_cell_column(const CsvReader *reader, guint column);

/* Data rows up to now, bad ones included. */
guint64 csv_n_rows(const CsvReader *reader);

/* Of the bytes on disk; to be asked for at CSV_END. */
const char *csv_sha256(CsvReader *reader);

/* About a cell of the row that was read last. */
void csv_complain(CsvReader *reader, guint column, const char *reason, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
void csv_notice(CsvReader *reader, guint column, const char *reason, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

/* A cell's text fit for a message: on one line, not too long, valid UTF-8. */
char *csv_cell_shown(const CsvCell *cell);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(CsvReader, csv_close)
