/* SPDX-License-Identifier: MIT */
#include "policies/gandiva/rows.h"

#include <string.h>

/* life */

static void
width_clear(gpointer width)
{
	g_array_unref(((RowWidth *)width)->crowd);
}

void
gandiva_rows_init(Rows *rows, const ClusterSpec *spec, Guest *guests, guint max_height)
{
	rows->max_height = max_height;
	rows->guests = guests;
	rows->unused = g_array_new(FALSE, FALSE, sizeof(guint32));
	rows->row_of = g_new(guint32, spec->n_gpus);
	for (guint i = 0; i < spec->n_gpus; i++)
		rows->row_of[i] = ROW_NONE;
	rows->widths = g_array_new(FALSE, FALSE, sizeof(RowWidth));
	g_array_set_clear_func(rows->widths, width_clear);
}

void
gandiva_rows_clear(Rows *rows)
{
	if (rows->unused == NULL)
		return;
	for (guint i = 0; i < rows->size; i++)
		alloc_clear(&rows->rows[i].gpus);
	g_free(rows->rows);
	g_array_unref(rows->unused);
	g_free(rows->row_of);
	g_array_unref(rows->widths);
}

/* widths: a handful, so they are looked through */

static guint32
width_place(Rows *rows, guint width)
{
	RowWidth fresh = { .width = width };

	for (guint i = 0; i < rows->widths->len; i++)
		if (g_array_index(rows->widths, RowWidth, i).width == width)
			return i;
	g_array_append_val(rows->widths, fresh);
	g_array_index(rows->widths, RowWidth, rows->widths->len - 1).crowd =
	    g_array_new(FALSE, FALSE, sizeof(guint32));
	return rows->widths->len - 1;
}

RowWidth *
gandiva_rows_find_width(const Rows *rows, guint width)
{
	for (guint i = 0; i < rows->widths->len; i++)
		if (g_array_index(rows->widths, RowWidth, i).width == width)
			return &g_array_index(rows->widths, RowWidth, i);
	return NULL;
}

static RowWidth *
width_of(const Rows *rows, guint32 row)
{
	return &g_array_index(rows->widths, RowWidth, rows->rows[row].width_at);
}

/* @n more jobs in the row, or fewer. */
static void
add_jobs(Rows *rows, guint32 id, gint n)
{
	Row *row = &rows->rows[id];
	RowWidth *width = width_of(rows, id);

	width->n_open -= row->n_jobs > 0 && row->n_jobs < rows->max_height;
	row->n_jobs += (guint)n;
	width->n_open += row->n_jobs > 0 && row->n_jobs < rows->max_height;
	width->version += n < 0 || row->n_jobs == 1;
}

/* the crowded */

gboolean
gandiva_rows_is_longer(const Rows *rows, guint32 row, guint32 other)
{
	const Row *one = &rows->rows[row], *two = &rows->rows[other];

	if (one->n_seats != two->n_seats)
		return one->n_seats > two->n_seats;
	return one->gpus.gpus[0] < two->gpus.gpus[0];
}

static void
heap_put(Rows *rows, GArray *heap, guint32 at, guint32 row)
{
	g_array_index(heap, guint32, at) = row;
	rows->rows[row].heap_at = at;
}

static void
heap_rise(Rows *rows, GArray *heap, guint32 row)
{
	guint32 at = rows->rows[row].heap_at;

	while (at > 0) {
		guint32 above = g_array_index(heap, guint32, (at - 1) / 2);

		if (!gandiva_rows_is_longer(rows, row, above))
			break;
		heap_put(rows, heap, at, above);
		at = (at - 1) / 2;
	}
	heap_put(rows, heap, at, row);
}

static void
heap_sink(Rows *rows, GArray *heap, guint32 row)
{
	guint32 at = rows->rows[row].heap_at;

	for (guint32 below = 2 * at + 1; below < heap->len; below = 2 * at + 1) {
		guint32 child = g_array_index(heap, guint32, below);

		if (below + 1 < heap->len) {
			guint32 other = g_array_index(heap, guint32, below + 1);

			if (gandiva_rows_is_longer(rows, other, child)) {
				child = other;
				below++;
			}
		}
		if (!gandiva_rows_is_longer(rows, child, row))
			break;
		heap_put(rows, heap, at, child);
		at = below;
	}
	heap_put(rows, heap, at, row);
}

static void
crowd_add(Rows *rows, guint32 row)
{
	GArray *heap = width_of(rows, row)->crowd;

	rows->n_crowded++;
	g_array_append_val(heap, row);
	rows->rows[row].heap_at = heap->len - 1;
	heap_rise(rows, heap, row);
}

static void
crowd_remove(Rows *rows, guint32 row)
{
	GArray *heap = width_of(rows, row)->crowd;
	guint32 at = rows->rows[row].heap_at;
	guint32 last = g_array_index(heap, guint32, heap->len - 1);

	rows->n_crowded--;
	g_array_set_size(heap, heap->len - 1);
	if (last == row)
		return;
	heap_put(rows, heap, at, last);
	heap_rise(rows, heap, last);
	heap_sink(rows, heap, last);
}

/* The row has become one seat longer, or shorter. */
static void
crowd_settle(Rows *rows, guint32 row, guint n_before)
{
	guint n_seats = rows->rows[row].n_seats;

	if (n_before < 2 && n_seats >= 2)
		crowd_add(rows, row);
	else if (n_before >= 2 && n_seats < 2)
		crowd_remove(rows, row);
	else if (n_seats > n_before && n_before >= 2)
		heap_rise(rows, width_of(rows, row)->crowd, row);
	else if (n_seats >= 2)
		heap_sink(rows, width_of(rows, row)->crowd, row);
}

/* the ring */

static void
ring_append(Rows *rows, Row *row, JobId job)
{
	Guest *guests = rows->guests;
	JobId first = row->first, last;

	if (row->n_seats++ == 0) {
		row->first = guests[job].next = guests[job].previous = job;
		return;
	}
	last = guests[first].previous;
	guests[job].previous = last;
	guests[job].next = first;
	guests[last].next = job;
	guests[first].previous = job;
}

static void
ring_remove(Rows *rows, Row *row, JobId job)
{
	Guest *guests = rows->guests;
	JobId next = guests[job].next, previous = guests[job].previous;

	guests[previous].next = next;
	guests[next].previous = previous;
	if (row->first == job)
		row->first = next;
	row->n_seats--;
}

/* @job takes the seat of @other. */
static void
ring_replace(Rows *rows, Row *row, JobId other, JobId job)
{
	Guest *guests = rows->guests;
	JobId next = guests[other].next, previous = guests[other].previous;

	guests[job].next = next == other ? job : next;
	guests[job].previous = previous == other ? job : previous;
	guests[guests[job].next].previous = job;
	guests[guests[job].previous].next = job;
	if (row->first == other)
		row->first = job;
	if (row->holder == other)
		row->holder = job;
}

/* Of two that are packed only one is in the ring. */
static gboolean
has_seat(const Rows *rows, JobId job)
{
	return rows->guests[job].previous != JOB_NONE;
}

/* rows */

static guint32
take_unused(Rows *rows)
{
	guint32 row;

	if (rows->unused->len > 0) {
		row = g_array_index(rows->unused, guint32, rows->unused->len - 1);
		g_array_set_size(rows->unused, rows->unused->len - 1);
		return row;
	}
	if (rows->n == rows->size) {
		rows->size = MAX(64, rows->size * 2);
		rows->rows = g_renew(Row, rows->rows, rows->size);
		memset(rows->rows + rows->n, 0, (rows->size - rows->n) * sizeof(Row));
	}
	return rows->n++;
}

static void
mark_gpus(Rows *rows, const Alloc *gpus, guint32 row)
{
	for (guint i = 0; i < gpus->n; i++)
		rows->row_of[gpus->gpus[i]] = row;
}

guint32
gandiva_rows_open(Rows *rows, JobId job, guint width, const Alloc *gpus, SimTime now_ns)
{
	guint32 id = take_unused(rows);
	Row *row = &rows->rows[id];

	/* What is listed elsewhere, and a wake that is still pending, outlive the last row of this
	 * number. */
	row->width_at = width_place(rows, width);
	add_jobs(rows, id, 1);
	row->holder = job;
	row->is_running = TRUE;
	row->turn_ns = now_ns;
	alloc_copy(&row->gpus, gpus);
	mark_gpus(rows, gpus, id);
	ring_append(rows, row, job);
	rows->guests[job].row = id;
	return id;
}

static void
close_row(Rows *rows, guint32 id)
{
	Row *row = &rows->rows[id];

	mark_gpus(rows, &row->gpus, ROW_NONE);
	alloc_reset(&row->gpus);
	row->first = row->holder = JOB_NONE;
	row->is_running = FALSE;
	g_array_append_val(rows->unused, id);
}

void
gandiva_rows_join(Rows *rows, guint32 id, JobId job)
{
	Row *row = &rows->rows[id];

	ring_append(rows, row, job);
	add_jobs(rows, id, 1);
	rows->guests[job].row = id;
	crowd_settle(rows, id, row->n_seats - 1);
}

void
gandiva_rows_pack(Rows *rows, JobId lead, JobId job)
{
	Guest *guests = rows->guests;

	g_assert(guests[lead].partner == JOB_NONE && guests[job].row == ROW_NONE);
	guests[lead].partner = job;
	guests[job].partner = lead;
	guests[job].next = guests[job].previous = JOB_NONE;
	guests[job].row = guests[lead].row;
	add_jobs(rows, guests[lead].row, 1);
}

static void
give_up_seat(Rows *rows, Row *row, JobId job)
{
	if (row->holder == job) {
		row->holder = rows->guests[job].next;
		row->is_running = FALSE;
	}
	ring_remove(rows, row, job);
}

void
gandiva_rows_leave(Rows *rows, JobId job)
{
	Guest *guest = &rows->guests[job];
	guint32 id = guest->row;
	Row *row = &rows->rows[id];
	guint n_before = row->n_seats;

	if (guest->partner != JOB_NONE) {
		if (has_seat(rows, job))
			ring_replace(rows, row, job, guest->partner);
		rows->guests[guest->partner].partner = JOB_NONE;
		guest->partner = JOB_NONE;
	} else {
		give_up_seat(rows, row, job);
	}
	guest->row = ROW_NONE;
	add_jobs(rows, id, -1);
	if (row->n_jobs == 0)
		close_row(rows, id);
	else if (row->n_seats != n_before)
		crowd_settle(rows, id, n_before);
}

void
gandiva_rows_set_gpus(Rows *rows, guint32 id, const Alloc *gpus)
{
	Row *row = &rows->rows[id];

	g_assert(row->n_seats == 1);
	mark_gpus(rows, &row->gpus, ROW_NONE);
	alloc_copy(&row->gpus, gpus);
	mark_gpus(rows, gpus, id);
}
