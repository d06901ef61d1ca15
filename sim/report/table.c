/* SPDX-License-Identifier: MIT */

/*
 * The table that `run` prints: summary.csv for the eye. A column of times is in hours where
 * seconds would be too long to read, the same for every row, and says which.
 */

#include <string.h>

#include "sim/base/text.h"
#include "sim/report/report.h"

#define LONG_TIME_S   100000.0 /* from here on in hours */
#define SECONDS_PER_H 3600.0

typedef enum TableKind {
	TABLE_TEXT,
	TABLE_COUNT,
	TABLE_TIME,    /* seconds or hours, two places */
	TABLE_RATIO,   /* three places */
	TABLE_PERCENT, /* one place */
} TableKind;

typedef struct TableColumn {
	const char *title; /* of a time without its unit */
	const char *column;
	TableKind kind;
} TableColumn;

static const TableColumn columns[] = {
	{ "policy", "policy", TABLE_TEXT },
	{ "measured", "measured", TABLE_COUNT },
	{ "jct_mean", "jct_mean_s", TABLE_TIME },
	{ "jct_p50", "jct_p50_s", TABLE_TIME },
	{ "jct_p99", "jct_p99_s", TABLE_TIME },
	{ "rho_max", "rho_max", TABLE_RATIO },
	{ "rho_mean", "rho_mean", TABLE_RATIO },
	{ "rho_cont_max", "rho_contention_max", TABLE_RATIO },
	{ "jain_rho", "jain_rho", TABLE_RATIO },
	{ "util_%", "util_frac", TABLE_PERCENT },
	{ "makespan", "makespan_s", TABLE_TIME },
	{ "preemptions", "preemptions", TABLE_COUNT },
};

#define N_COLUMNS G_N_ELEMENTS(columns)

/* All times of a table are in one unit, so that columns can be compared too. */
static gboolean
is_in_hours(const SummaryRow *const *rows, guint n_rows)
{
	for (guint i = 0; i < n_rows; i++) {
		for (guint k = 0; k < N_COLUMNS; k++) {
			const char *cell = summary_row_get(rows[i], columns[k].column);

			if (columns[k].kind == TABLE_TIME &&
			    g_ascii_strtod(cell, NULL) >= LONG_TIME_S)
				return TRUE;
		}
	}
	return FALSE;
}

static char *
title_of(const TableColumn *column, gboolean in_hours)
{
	if (column->kind != TABLE_TIME)
		return g_strdup(column->title);
	return g_strconcat(column->title, in_hours ? "_h" : "_s", NULL);
}

static char *
format_places(double value, const char *format)
{
	char buffer[G_ASCII_DTOSTR_BUF_SIZE + 320];

	return g_strdup(g_ascii_formatd(buffer, sizeof buffer, format, value));
}

static char *
cell_of(const SummaryRow *row, const TableColumn *column, gboolean in_hours)
{
	const char *text = summary_row_get(row, column->column);
	double value = g_ascii_strtod(text, NULL);

	if (text[0] == '\0')
		return g_strdup("-");
	switch (column->kind) {
	case TABLE_TEXT:
	case TABLE_COUNT:
		break;
	case TABLE_TIME:
		return format_places(in_hours ? value / SECONDS_PER_H : value, "%.2f");
	case TABLE_RATIO:
		return format_places(value, "%.3f");
	case TABLE_PERCENT:
		return format_places(value * 100, "%.1f");
	}
	return g_strdup(text);
}

static glong
width_of(const char *cell)
{
	return g_utf8_validate(cell, -1, NULL) ? g_utf8_strlen(cell, -1) : (glong)strlen(cell);
}

/* Names to the left, numbers to the right. */
static void
append_padded(GString *out, const char *cell, glong width, gboolean is_first)
{
	glong n_blanks = width - width_of(cell);

	if (is_first)
		g_string_append(out, cell);
	else
		g_string_append(out, "  ");
	for (; n_blanks > 0; n_blanks--)
		g_string_append_c(out, ' ');
	if (!is_first)
		g_string_append(out, cell);
}

/* Line 0 is the header. */
typedef char *TableLine[N_COLUMNS];

static TableLine *
lines_new(const SummaryRow *const *rows, guint n_rows)
{
	gboolean in_hours = is_in_hours(rows, n_rows);
	TableLine *lines = g_new(TableLine, n_rows + 1);

	for (guint k = 0; k < N_COLUMNS; k++) {
		lines[0][k] = title_of(&columns[k], in_hours);
		for (guint i = 0; i < n_rows; i++)
			lines[i + 1][k] = cell_of(rows[i], &columns[k], in_hours);
	}
	return lines;
}

static void
lines_free(TableLine *lines, guint n_lines)
{
	for (guint i = 0; i < n_lines; i++) {
		for (guint k = 0; k < N_COLUMNS; k++)
			g_free(lines[i][k]);
	}
	g_free(lines);
}

static void
find_widths(TableLine *lines, guint n_lines, glong *ret_widths)
{
	for (guint k = 0; k < N_COLUMNS; k++) {
		ret_widths[k] = 0;
		for (guint i = 0; i < n_lines; i++)
			ret_widths[k] = MAX(ret_widths[k], width_of(lines[i][k]));
	}
}

char *
summary_table(const SummaryRow *const *rows, guint n_rows)
{
	TableLine *lines = lines_new(rows, n_rows);
	GString *out = g_string_new(NULL);
	glong widths[N_COLUMNS];

	find_widths(lines, n_rows + 1, widths);
	for (guint i = 0; i < n_rows + 1; i++) {
		for (guint k = 0; k < N_COLUMNS; k++)
			append_padded(out, lines[i][k], widths[k], k == 0);
		g_string_append_c(out, '\n');
	}
	lines_free(lines, n_rows + 1);
	return g_string_free(out, FALSE);
}
