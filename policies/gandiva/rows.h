/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Gandiva's rows: a row is a set of GPUs and the jobs that take turns on it, a ring in the order
 * of arrival. A seat of the ring is one job, or two that are packed and run together; the seat
 * whose turn it is holds the GPUs. Rows are disjoint; every whole job that runs has one, most
 * have theirs to themselves.
 *
 * Rows of two or more seats are crowded; those of one width are in a heap, the longest first,
 * ties by the lowest GPU (A82).
 */

#include "policies/gandiva/shapes.h"

#define ROW_NONE GUEST_NOWHERE

typedef struct Row {
	Alloc gpus;
	guint32 width_at; /* place in Rows.widths */
	guint n_jobs, n_seats;
	JobId first;         /* of the ring */
	JobId holder;        /* the one in the ring whose turn it is */
	gboolean is_running; /* the holder runs; else it waits until the GPUs are free */
	SimTime turn_ns;     /* when the holder was started */
	guint32 heap_at;     /* if crowded */
	gboolean has_wake;   /* a wake is pending, at: */
	SimTime wake_ns;
	gboolean is_vacant, is_stale, is_grown, is_spread; /* listed in Gandiva */
} Row;

typedef struct RowWidth {
	guint width;
	guint n_open;    /* rows of less than max_height jobs */
	guint64 version; /* counts what may have made one open */
	GArray *crowd;   /* of guint32: the heap of crowded rows */
} RowWidth;

typedef struct Rows {
	Guest *guests; /* by JobId; the shapes' */
	Row *rows;
	guint n, size;
	GArray *unused;  /* of guint32: rows without jobs */
	guint32 *row_of; /* by GPU; ROW_NONE = nobody's */
	GArray *widths;  /* of RowWidth */
	guint n_crowded;
	guint max_height; /* most jobs in a row */
} Rows;

void gandiva_rows_init(Rows *rows, const ClusterSpec *spec, Guest *guests, guint max_height);
void gandiva_rows_clear(Rows *rows);

/* A row of its own for @job, which starts on @gpus now. */
guint32 gandiva_rows_open(Rows *rows, JobId job, guint width, const Alloc *gpus, SimTime now_ns);

/* @job sits down at the end of the row. */
void gandiva_rows_join(Rows *rows, guint32 row, JobId job);

/* @job shares the seat of @lead. */
void gandiva_rows_pack(Rows *rows, JobId lead, JobId job);

/* @job is nowhere. Its partner keeps the seat; an empty seat hands its turn on; a row that was
 * left by the last job is no more. */
void gandiva_rows_leave(Rows *rows, JobId job);

/* The row is on other GPUs, or on more or fewer. */
void gandiva_rows_set_gpus(Rows *rows, guint32 row, const Alloc *gpus);

/* What there is of that width, or NULL if there never was a row so wide. */
RowWidth *gandiva_rows_find_width(const Rows *rows, guint width);

static inline Row *
gandiva_row(const Rows *rows, guint32 row)
{
	return &rows->rows[row];
}

static inline guint
gandiva_row_width(const Rows *rows, guint32 row)
{
	return g_array_index(rows->widths, RowWidth, rows->rows[row].width_at).width;
}

/* Whether the row goes before @other among the crowded. */
gboolean gandiva_rows_is_longer(const Rows *rows, guint32 row, guint32 other);
