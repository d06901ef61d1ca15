/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A linear program: minimise cost . x within bounds on x and on rows of it. It is solved by the
 * dual simplex of COIN-OR's CLP, which starts from where it ended: after a change of bounds it has
 * little left to do. CLP is given the same numbers in the same order by every compiler, and its
 * answer is the same wherever the same build of it runs.
 */

#include <glib.h>

typedef struct Linear Linear;

Linear *linear_new(void);
void linear_free(Linear *linear);

/* Empties it: no rows, no columns. */
void linear_open(Linear *linear);

/* A row with @least <= row <= @most; -HUGE_VAL and HUGE_VAL are no bound. Returns its number. */
guint linear_add_row(Linear *linear, double least, double most);

/* A column with 0 <= x <= @most, and then its entries in rows that are there. */
guint linear_add_column(Linear *linear, double cost, double most);
void linear_add_entry(Linear *linear, guint row, double value);

/* Once all is added; then bounds and costs may be changed. */
void linear_load(Linear *linear);
void linear_set_least(Linear *linear, guint row, double least);
void linear_set_cost(Linear *linear, guint column, double cost);
void linear_set_most(Linear *linear, guint column, double most);

/* FALSE if there is no optimum, or CLP finds none. */
gboolean linear_solve(Linear *linear);

/* Of the last optimum. The price of a row is what the optimum rises by if the row's bound does. */
double linear_value(const Linear *linear, guint column);
double linear_price(const Linear *linear, guint row);

guint64 linear_n_solved(const Linear *linear);
guint64 linear_n_iterations(const Linear *linear);
