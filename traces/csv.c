/* SPDX-License-Identifier: MIT */
#include "traces/csv.h"

#include <string.h>

#include "sim/base/error.h"
#include "traces/source.h"

/*
 * One buffer holds the row that is being looked at and what was read ahead of it:
 *
 *     buffer    row          next                    end
 *     |  used   |  this row  |  not yet in a row     |  room
 *
 * A row is first measured, which may read more and move it to the front, and only then cut into
 * cells where it stands. So no byte is copied but at a refill, and nothing is allocated a row.
 */

#define SHOWN_BYTES 60

struct CsvReader {
	char *path;
	Problems *problems; /* not owned */
	ByteSource *source;
	gboolean source_ended;
	gboolean has_nul; /* somewhere up to here */
	char *buffer;     /* CSV_MAX_ROW_BYTES, and one more for the last cell's end */
	char *next;       /* the first byte that is in no row yet */
	char *end;        /* behind the last byte that was read */
	char *row;
	guint64 row_line;
	guint64 next_line;
	guint64 n_rows;
	guint max_cells;
	CsvCell *cells;
	const char *surplus; /* where the first cell beyond max_cells begins, if there are any */
	GPtrArray *names;    /* of char *, NULL-terminated */
};

/* Outcomes of looking at one row. */
typedef enum RowVerdict {
	ROW_GOOD,
	ROW_BAD, /* complained about, or nothing that counts: look at the next */
	ROW_NONE,
	ROW_FAILED,
} RowVerdict;

typedef enum QuoteState {
	AT_CELL_START,
	IN_PLAIN_CELL,
	IN_QUOTES,
	BEHIND_QUOTE, /* that closed a cell, or is the first of a doubled one */
} QuoteState;

static gboolean
buffer_is_full(const CsvReader *reader)
{
	return reader->end - reader->next == CSV_MAX_ROW_BYTES;
}

/* Reads on behind the unused bytes, which move to the front. */
static gboolean
refill(CsvReader *reader, GError **error)
{
	gsize n_left = (gsize)(reader->end - reader->next);
	gsize n_read;

	memmove(reader->buffer, reader->next, n_left);
	reader->next = reader->buffer;
	reader->end = reader->buffer + n_left;
	if (!byte_source_read(reader->source, reader->end, CSV_MAX_ROW_BYTES - n_left, &n_read,
	                      error))
		return FALSE;
	reader->source_ended = n_read == 0;
	if (memchr(reader->end, '\0', n_read))
		reader->has_nul = TRUE;
	reader->end += n_read;
	return TRUE;
}

/* Extends *@length, counted from reader->next, to the next newline, or to the end of what there
 * is if the file or the buffer ends first. */
static gboolean
find_line_end(CsvReader *reader, gsize *length, GError **error)
{
	for (;;) {
		gsize n_bytes = (gsize)(reader->end - reader->next);
		char *newline = memchr(reader->next + *length, '\n', n_bytes - *length);

		*length = newline ? (gsize)(newline - reader->next) : n_bytes;
		if (newline || reader->source_ended || buffer_is_full(reader))
			return TRUE;
		if (!refill(reader, error))
			return FALSE;
	}
}

/* As RFC 4180 has it: quotes mean something at the start of a cell alone, and a doubled one inside
 * is a letter. */
static QuoteState
next_quote_state(QuoteState state, char byte)
{
	if (state == IN_QUOTES)
		return byte == '"' ? BEHIND_QUOTE : IN_QUOTES;
	if (byte == ',')
		return AT_CELL_START;
	if (byte == '"' && state != IN_PLAIN_CELL)
		return IN_QUOTES;
	return IN_PLAIN_CELL;
}

/* The state behind the line; most lines have no quote, and memchr() sees that at once. */
static QuoteState
scan_quotes(const char *text, gsize length, QuoteState state)
{
	if (state == AT_CELL_START && !memchr(text, '"', length))
		return IN_PLAIN_CELL;
	for (gsize i = 0; i < length; i++)
		state = next_quote_state(state, text[i]);
	return state;
}

/* The row's length without its newline; *ret_is_open if a quote is not closed in it. */
static gboolean
measure_row(CsvReader *reader, gsize *ret_length, gboolean *ret_is_open, GError **error)
{
	QuoteState state = AT_CELL_START;
	gsize length = 0;

	for (;;) {
		gsize line_start = length;

		if (!find_line_end(reader, &length, error))
			return FALSE;
		state = scan_quotes(reader->next + line_start, length - line_start, state);
		if (state != IN_QUOTES || reader->next + length == reader->end)
			break;
		length++;
	}
	*ret_length = length;
	*ret_is_open = state == IN_QUOTES;
	return TRUE;
}

/* Passes over a line whatever its length, as comments may be longer than the buffer. */
static gboolean
skip_line(CsvReader *reader, GError **error)
{
	char *newline;

	reader->next_line++;
	for (;;) {
		newline = memchr(reader->next, '\n', (gsize)(reader->end - reader->next));
		reader->next = newline ? newline + 1 : reader->end;
		if (newline || reader->source_ended)
			return TRUE;
		if (!refill(reader, error))
			return FALSE;
	}
}

static guint64
count_newlines(const char *from, const char *to)
{
	guint64 n = 0;

	while ((from = memchr(from, '\n', (gsize)(to - from)))) {
		n++;
		from++;
	}
	return n;
}

/* Characters of UTF-8: continuation bytes do not count. */
static guint
count_characters(const char *from, const char *to)
{
	guint n = 0;

	for (; from < to; from++)
		n += ((unsigned char)*from & 0xc0) != 0x80;
	return n;
}

/* A quoted cell may have ended lines within the row. */
static const char *
line_start_before(const CsvReader *reader, const char *at)
{
	while (at > reader->row && at[-1] != '\n')
		at--;
	return at;
}

static guint
column_of(const CsvReader *reader, const char *at)
{
	return count_characters(line_start_before(reader, at), at) + 1;
}

G_GNUC_PRINTF(4, 5)
static void
complain_at(CsvReader *reader, const char *at, const char *reason, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	text = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	problems_add(reader->problems, reader->row_line + count_newlines(reader->row, at),
	             column_of(reader, at), reason, "%s", text);
}

/* Cells are cut where they stand: their commas become NUL. Cells beyond max_cells are only
 * counted. @end may be overwritten. */
static guint
split_plain(CsvReader *reader, char *end)
{
	char *start = reader->row;
	guint n = 0;

	/* A comma behind the row spares the loop a second test for every byte. */
	*end = ',';
	for (;;) {
		char *at = start;

		while (*at != ',')
			at++;
		*at = '\0';
		if (n < reader->max_cells)
			reader->cells[n] = (CsvCell){ start, (gsize)(at - start), start };
		else if (n == reader->max_cells)
			reader->surplus = start;
		n++;
		if (at == end)
			return n;
		start = at + 1;
	}
}

/* Takes the quotes off the cell at @start. What is left over in its place becomes NULs, of which
 * there are as many as characters vanished, so that columns can still be counted. Returns where
 * the cell ends. */
static char *
unquote(char *start, char *end, CsvCell *ret_cell)
{
	char *from = start + 1;
	char *to = start + 1;

	while (from < end && (*from != '"' || (from + 1 < end && from[1] == '"'))) {
		from += *from == '"';
		*to++ = *from++;
	}
	*ret_cell = (CsvCell){ start + 1, (gsize)(to - start - 1), start };
	from += from < end;
	memset(to, '\0', (gsize)(from - to));
	return from;
}

static char *
plain_cell(char *start, char *end, CsvCell *ret_cell)
{
	char *comma = memchr(start, ',', (gsize)(end - start));
	char *at = comma ? comma : end;

	*ret_cell = (CsvCell){ start, (gsize)(at - start), start };
	return at;
}

/* As split_plain(), where there are quotes; 0 if something follows a closing quote. */
static guint
split_quoted(CsvReader *reader, char *end)
{
	char *start = reader->row;
	guint n = 0;

	for (;;) {
		CsvCell cell;
		char *at = *start == '"' && start < end ? unquote(start, end, &cell)
		                                        : plain_cell(start, end, &cell);

		if (at < end && *at != ',') {
			complain_at(
			    reader, at, "text behind a closing quote",
			    "found text behind a closing quote, wanted a comma or the end of "
			    "the line");
			return 0;
		}
		if (n < reader->max_cells)
			reader->cells[n] = cell;
		else if (n == reader->max_cells)
			reader->surplus = start;
		n++;
		if (at == end) {
			*end = '\0';
			return n;
		}
		*at = '\0';
		start = at + 1;
	}
}

static gboolean
is_blank(const char *text, gsize length)
{
	for (gsize i = 0; i < length; i++)
		if (text[i] != ' ' && text[i] != '\t')
			return FALSE;
	return TRUE;
}

/* A row with another number of cells is not half a row: none of its cells can be trusted. The
 * place is where a cell is missing, at the @end of the row, or where the first surplus one is. */
static RowVerdict
check_row_length(CsvReader *reader, guint n_cells, const char *end)
{
	if (n_cells == 0)
		return ROW_BAD;
	if (n_cells == reader->max_cells)
		return ROW_GOOD;
	if (n_cells < reader->max_cells)
		complain_at(reader, end, "row too short",
		            "found %u cells, wanted %u as in the header", n_cells,
		            reader->max_cells);
	else
		complain_at(reader, reader->surplus, "row too long",
		            "found %u cells, wanted %u as in the header (a comma inside a "
		            "cell needs quotes; a decimal comma must be a point)",
		            n_cells, reader->max_cells);
	return ROW_BAD;
}

/* The last quote that opens a cell in a row that ends inside one. */
static const char *
find_open_quote(const char *text, const char *end)
{
	const char *opening = text;
	QuoteState state = AT_CELL_START;

	for (; text < end; text++) {
		if (state == AT_CELL_START && *text == '"')
			opening = text;
		state = next_quote_state(state, *text);
	}
	return opening;
}

/* A row that has no end: only its first line is left out, so that the next may be good again. */
static RowVerdict
refuse_endless(CsvReader *reader, gboolean is_open, GError **error)
{
	reader->n_rows++;
	reader->row = reader->next;
	if (is_open)
		complain_at(reader, find_open_quote(reader->row, reader->end), "unclosed quote",
		            "found a quote that opens a cell and is not closed, wanted its end");
	else
		complain_at(reader, reader->row, "line too long",
		            "found a line of more than %d bytes, wanted a shorter one",
		            CSV_MAX_ROW_BYTES);
	return skip_line(reader, error) ? ROW_BAD : ROW_FAILED;
}

/* Takes the row of @length bytes off the buffer, without CR and newline. */
static char *
take_row(CsvReader *reader, gsize length)
{
	char *end = reader->next + length;

	reader->row = reader->next;
	reader->next = MIN(end + 1, reader->end);
	reader->next_line += 1 + count_newlines(reader->row, end);
	return end > reader->row && end[-1] == '\r' ? end - 1 : end;
}

/* The next line that is neither blank nor a comment; *ret_end is its end. */
static RowVerdict
next_row(CsvReader *reader, char **ret_end, GError **error)
{
	gsize length;
	gboolean is_open;

	if (reader->next == reader->end && !reader->source_ended && !refill(reader, error))
		return ROW_FAILED;
	if (reader->next == reader->end)
		return ROW_NONE;
	reader->row_line = reader->next_line;
	if (*reader->next == '#')
		return skip_line(reader, error) ? ROW_BAD : ROW_FAILED;
	if (!measure_row(reader, &length, &is_open, error))
		return ROW_FAILED;
	if (is_open || (reader->next + length == reader->end && !reader->source_ended))
		return refuse_endless(reader, is_open, error);
	*ret_end = take_row(reader, length);
	return is_blank(reader->row, (gsize)(*ret_end - reader->row)) ? ROW_BAD : ROW_GOOD;
}

/* NULs are looked for only in files that have one: texts end at them, so a row that holds one
 * would be read in part. */
static guint
split(CsvReader *reader, char *end)
{
	gsize length = (gsize)(end - reader->row);

	if (reader->has_nul && memchr(reader->row, '\0', length)) {
		complain_at(reader, memchr(reader->row, '\0', length), "NUL byte",
		            "found a NUL byte, wanted text");
		return 0;
	}
	return memchr(reader->row, '"', length) ? split_quoted(reader, end)
	                                        : split_plain(reader, end);
}

CsvVerdict
csv_next(CsvReader *reader, GError **error)
{
	RowVerdict verdict;

	do {
		char *end;

		verdict = next_row(reader, &end, error);
		if (verdict == ROW_GOOD) {
			reader->n_rows++;
			verdict = check_row_length(reader, split(reader, end), end);
		}
	} while (verdict == ROW_BAD);
	if (verdict == ROW_GOOD)
		return CSV_ROW;
	return verdict == ROW_NONE ? CSV_END : CSV_FAILED;
}

/* About the file as a whole, which shows at @line. */
static gboolean
refuse_file(const CsvReader *reader, guint64 line, const char *what, GError **error)
{
	g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT, "%s:%" G_GUINT64_FORMAT ":1: %s",
	            reader->path, line, what);
	return FALSE;
}

static gboolean
starts_with(const CsvReader *reader, const char *bytes, gsize n)
{
	return (gsize)(reader->end - reader->next) >= n && memcmp(reader->next, bytes, n) == 0;
}

/* UTF-16 shows by its mark, or by the NUL beside its first (ASCII) character. */
static gboolean
is_utf16(const CsvReader *reader)
{
	return starts_with(reader, "\xff\xfe", 2) || starts_with(reader, "\xfe\xff", 2) ||
	       (reader->end - reader->next >= 2 && (!reader->next[0] != !reader->next[1]));
}

/* A pipe may hand over its first bytes one by one. */
static gboolean
skip_byte_order_mark(CsvReader *reader, GError **error)
{
	while (reader->end - reader->next < 3 && !reader->source_ended)
		if (!refill(reader, error))
			return FALSE;
	if (is_utf16(reader))
		return refuse_file(reader, 1, "found text in UTF-16, wanted UTF-8", error);
	if (starts_with(reader, "\xef\xbb\xbf", 3))
		reader->next += 3;
	return TRUE;
}

/* Names are trimmed, as `job_id, submit_time` is what people write; cells are not. A CR inside a
 * name is the end of a line that nobody else saw. */
static gboolean
name_columns(CsvReader *reader)
{
	for (guint i = 0; i < reader->max_cells; i++) {
		char *name = g_strndup(reader->cells[i].text, reader->cells[i].length);

		g_ptr_array_add(reader->names, g_strstrip(name));
		if (strchr(name, '\r'))
			return FALSE;
	}
	g_ptr_array_add(reader->names, NULL);
	return TRUE;
}

/* How many cells a row has at most is not known before the header is cut. */
static gboolean
split_header(CsvReader *reader, char *end, GError **error)
{
	gsize length = (gsize)(end - reader->row);

	reader->max_cells = 1;
	for (gsize i = 0; i < length; i++)
		reader->max_cells += reader->row[i] == ',';
	reader->cells = g_new0(CsvCell, reader->max_cells);
	reader->max_cells = split(reader, end);
	if (reader->max_cells == 0) {
		problems_to_error(reader->problems, error);
		return FALSE;
	}
	return name_columns(reader) ||
	       refuse_file(reader, reader->row_line,
	                   "found lines that end in a CR alone, wanted LF or CRLF", error);
}

static gboolean
read_header(CsvReader *reader, GError **error)
{
	RowVerdict verdict;
	char *end;

	if (!skip_byte_order_mark(reader, error))
		return FALSE;
	do
		verdict = next_row(reader, &end, error);
	while (verdict == ROW_BAD && reader->problems->n_bad == 0);
	if (verdict == ROW_FAILED)
		return FALSE;
	if (verdict == ROW_BAD) {
		problems_to_error(reader->problems, error);
		return FALSE;
	}
	if (verdict == ROW_NONE)
		return refuse_file(reader, reader->next_line,
		                   "found no header, wanted a first row that names the columns",
		                   error);
	return split_header(reader, end, error);
}

CsvReader *
csv_open(const char *path, Problems *problems, GError **error)
{
	ByteSource *source = byte_source_open(path, error);

	return source ? csv_open_source(source, path, problems, error) : NULL;
}

CsvReader *
csv_open_source(ByteSource *source, const char *path, Problems *problems, GError **error)
{
	g_autoptr(CsvReader) reader = g_new0(CsvReader, 1);

	reader->path = g_strdup(path);
	reader->problems = problems;
	reader->source = source;
	reader->buffer = g_malloc(CSV_MAX_ROW_BYTES + 1);
	reader->next = reader->end = reader->row = reader->buffer;
	reader->next_line = 1;
	reader->names = g_ptr_array_new_with_free_func(g_free);
	if (!read_header(reader, error))
		return NULL;
	reader->n_rows = 0;
	return g_steal_pointer(&reader);
}

void
csv_close(CsvReader *reader)
{
	if (!reader)
		return;
	byte_source_close(reader->source);
	g_ptr_array_unref(reader->names);
	g_free(reader->cells);
	g_free(reader->buffer);
	g_free(reader->path);
	g_free(reader);
}

const char *const *
csv_names(const CsvReader *reader)
{
	return (const char *const *)reader->names->pdata;
}

guint
csv_n_columns(const CsvReader *reader)
{
	return reader->max_cells;
}

gboolean
csv_find(const CsvReader *reader, const char *name, guint *ret_column)
{
	const char *const *names = csv_names(reader);

	for (guint i = 0; i < reader->max_cells; i++) {
		if (g_str_equal(names[i], name)) {
			*ret_column = i;
			return TRUE;
		}
	}
	return FALSE;
}

gboolean
csv_refuse_duplicates(const CsvReader *reader, GError **error)
{
	const char *const *names = csv_names(reader);

	for (guint i = 0; i < reader->max_cells; i++) {
		guint first;

		if (names[i][0] == '\0' || !csv_find(reader, names[i], &first) || first == i)
			continue;
		g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT,
		            "%s:%" G_GUINT64_FORMAT ":%u: found a second column \"%s\", wanted one",
		            reader->path, csv_cell_line(reader, i), csv_cell_column(reader, i),
		            names[i]);
		return FALSE;
	}
	return TRUE;
}

const CsvCell *
csv_cells(const CsvReader *reader)
{
	return reader->cells;
}

guint64
csv_row_line(const CsvReader *reader)
{
	return reader->row_line;
}

guint64
csv_cell_line(const CsvReader *reader, guint column)
{
	return reader->row_line + count_newlines(reader->row, reader->cells[column].start);
}

guint
csv_cell_column(const CsvReader *reader, guint column)
{
	return column_of(reader, reader->cells[column].start);
}

guint64
csv_n_rows(const CsvReader *reader)
{
	return reader->n_rows;
}

const char *
csv_sha256(CsvReader *reader)
{
	return byte_source_sha256(reader->source);
}

void
csv_complain(CsvReader *reader, guint column, const char *reason, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	text = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	problems_add(reader->problems, csv_cell_line(reader, column),
	             csv_cell_column(reader, column), reason, "%s", text);
}

void
csv_notice(CsvReader *reader, guint column, const char *reason, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list arguments;

	va_start(arguments, format);
	text = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	problems_notice(reader->problems, csv_cell_line(reader, column),
	                csv_cell_column(reader, column), reason, "%s", text);
}

char *
csv_cell_shown(const CsvCell *cell)
{
	g_autofree char *valid = g_utf8_make_valid(cell->text, (gssize)cell->length);
	g_autoptr(GString) shown = g_string_new(NULL);

	for (char *at = valid; *at && shown->len < SHOWN_BYTES; at = g_utf8_next_char(at)) {
		gunichar character = g_utf8_get_char(at);

		g_string_append_unichar(shown, g_unichar_iscntrl(character) ? ' ' : character);
	}
	if (shown->len >= SHOWN_BYTES)
		g_string_append(shown, "...");
	return g_string_free(g_steal_pointer(&shown), FALSE);
}
