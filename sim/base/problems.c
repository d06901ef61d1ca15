/* SPDX-License-Identifier: MIT */
#include "sim/base/problems.h"

#include "sim/base/error.h"

/* A complaint longer than this, one that quotes a whole file where a word was wanted, loses its
 * middle; what was wanted stands at its end. */
#define MAX_TEXT_BYTES  1200
#define KEPT_HEAD_BYTES 400
#define KEPT_TAIL_BYTES 400

static void
reason_count_clear(gpointer data)
{
	ReasonCount *count = data;

	g_free(count->reason);
}

static GArray *
reason_counts_new(void)
{
	GArray *counts = g_array_new(FALSE, FALSE, sizeof(ReasonCount));

	g_array_set_clear_func(counts, reason_count_clear);
	return counts;
}

Problems *
problems_new(const char *path)
{
	Problems *problems = g_new0(Problems, 1);

	problems->path = g_strdup(path);
	problems->texts = g_ptr_array_new_with_free_func(g_free);
	problems->notices = g_ptr_array_new_with_free_func(g_free);
	problems->bad = reason_counts_new();
	problems->noticed = reason_counts_new();
	return problems;
}

void
problems_free(Problems *problems)
{
	if (!problems)
		return;
	g_ptr_array_unref(problems->texts);
	g_ptr_array_unref(problems->notices);
	g_array_unref(problems->bad);
	g_array_unref(problems->noticed);
	g_free(problems->path);
	g_free(problems);
}

/* How often @reason has come up, this time included. Reasons are few, so a walk is enough. */
static guint64
reason_count(GArray *counts, const char *reason)
{
	for (guint i = 0; i < counts->len; i++) {
		ReasonCount *count = &g_array_index(counts, ReasonCount, i);

		if (g_str_equal(count->reason, reason))
			return ++count->n;
	}
	g_array_set_size(counts, counts->len + 1);
	g_array_index(counts, ReasonCount, counts->len - 1) =
	    (ReasonCount){ .reason = g_strdup(reason), .n = 1 };
	return 1;
}

/* Bytes that go on a UTF-8 character are cut off with it. */
static gboolean
is_inside_character(char byte)
{
	return ((guchar)byte & 0xc0) == 0x80;
}

static void
shorten(GString *text)
{
	gsize head = KEPT_HEAD_BYTES, tail;

	if (text->len <= MAX_TEXT_BYTES)
		return;
	tail = text->len - KEPT_TAIL_BYTES;
	while (head > 0 && is_inside_character(text->str[head]))
		head--;
	while (tail < text->len && is_inside_character(text->str[tail]))
		tail++;
	g_string_erase(text, (gssize)head, (gssize)(tail - head));
	g_string_insert(text, (gssize)head, " ... ");
}

G_GNUC_PRINTF(4, 0)
static char *
place_to_string(const char *path, guint64 line, guint column, const char *format, va_list args)
{
	GString *text = g_string_new(path);

	if (line > 0)
		g_string_append_printf(text, ":%" G_GUINT64_FORMAT, line);
	if (line > 0 && column > 0)
		g_string_append_printf(text, ":%u", column);
	g_string_append(text, ": ");
	g_string_append_vprintf(text, format, args);
	shorten(text);
	return g_string_free(text, FALSE);
}

void
problems_add(Problems *problems, guint64 line, guint column, const char *reason, const char *format,
             ...)
{
	va_list args;

	problems->n_bad++;
	reason_count(problems->bad, reason);
	if (problems->texts->len >= PROBLEMS_SHOWN)
		return;
	va_start(args, format);
	g_ptr_array_add(problems->texts,
	                place_to_string(problems->path, line, column, format, args));
	va_end(args);
}

void
problems_notice(Problems *problems, guint64 line, guint column, const char *reason,
                const char *format, ...)
{
	va_list args;

	problems->n_noticed++;
	if (reason_count(problems->noticed, reason) > 1)
		return;
	va_start(args, format);
	g_ptr_array_add(problems->notices,
	                place_to_string(problems->path, line, column, format, args));
	va_end(args);
}

/* What the texts that are not shown were about, as all of them by reason. */
static void
append_rest(GString *out, const Problems *problems)
{
	g_string_append_printf(
	    out, "\n%s: and %" G_GUINT64_FORMAT " more; in all %" G_GUINT64_FORMAT, problems->path,
	    problems->n_bad - problems->texts->len, problems->n_bad);
	for (guint i = 0; i < problems->bad->len; i++) {
		const ReasonCount *count = &g_array_index(problems->bad, ReasonCount, i);

		g_string_append_printf(out, "%s%" G_GUINT64_FORMAT " %s", i == 0 ? ": " : ", ",
		                       count->n, count->reason);
	}
}

void
problems_to_error(const Problems *problems, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);

	g_assert(problems->n_bad > 0);
	for (guint i = 0; i < problems->texts->len; i++) {
		if (i > 0)
			g_string_append_c(text, '\n');
		g_string_append(text, g_ptr_array_index(problems->texts, i));
	}
	if (problems->n_bad > problems->texts->len)
		append_rest(text, problems);
	g_set_error_literal(error, SIM_ERROR, SIM_ERROR_INPUT, text->str);
}
