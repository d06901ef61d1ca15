/* SPDX-License-Identifier: MIT */

#include "policies/ftf_lp/linear.h"

#include <Clp_C_Interface.h>
#include <math.h>

/* Finer than CLP's own 1e-7: what is compared is rounded to 32 bits (B02). */
#define TOLERANCE 1e-9

struct Linear {
	Clp_Simplex *model;
	GArray *row_least, *row_most; /* of double */
	GArray *costs, *column_most;  /* of double */
	GArray *starts;               /* of CoinBigIndex, by column, and the end */
	GArray *rows;                 /* of int, by entry */
	GArray *values;               /* of double, by entry */
	guint64 n_solved, n_iterations;
};

static GArray *
doubles_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(double));
}

Linear *
linear_new(void)
{
	Linear *linear = g_new0(Linear, 1);

	linear->row_least = doubles_new();
	linear->row_most = doubles_new();
	linear->costs = doubles_new();
	linear->column_most = doubles_new();
	linear->values = doubles_new();
	linear->starts = g_array_new(FALSE, FALSE, sizeof(CoinBigIndex));
	linear->rows = g_array_new(FALSE, FALSE, sizeof(int));
	return linear;
}

static void
drop_model(Linear *linear)
{
	if (linear->model != NULL)
		Clp_deleteModel(linear->model);
	linear->model = NULL;
}

void
linear_free(Linear *linear)
{
	if (linear == NULL)
		return;
	drop_model(linear);
	g_array_unref(linear->row_least);
	g_array_unref(linear->row_most);
	g_array_unref(linear->costs);
	g_array_unref(linear->column_most);
	g_array_unref(linear->values);
	g_array_unref(linear->starts);
	g_array_unref(linear->rows);
	g_free(linear);
}

void
linear_open(Linear *linear)
{
	drop_model(linear);
	g_array_set_size(linear->row_least, 0);
	g_array_set_size(linear->row_most, 0);
	g_array_set_size(linear->costs, 0);
	g_array_set_size(linear->column_most, 0);
	g_array_set_size(linear->values, 0);
	g_array_set_size(linear->starts, 0);
	g_array_set_size(linear->rows, 0);
}

guint
linear_add_row(Linear *linear, double least, double most)
{
	g_array_append_val(linear->row_least, least);
	g_array_append_val(linear->row_most, most);
	return linear->row_least->len - 1;
}

guint
linear_add_column(Linear *linear, double cost, double most)
{
	CoinBigIndex start = (CoinBigIndex)linear->values->len;

	g_array_append_val(linear->starts, start);
	g_array_append_val(linear->costs, cost);
	g_array_append_val(linear->column_most, most);
	return linear->costs->len - 1;
}

void
linear_add_entry(Linear *linear, guint row, double value)
{
	int number = (int)row;

	g_array_append_val(linear->rows, number);
	g_array_append_val(linear->values, value);
}

void
linear_load(Linear *linear)
{
	CoinBigIndex end = (CoinBigIndex)linear->values->len;

	g_array_append_val(linear->starts, end);
	linear->model = Clp_newModel();
	Clp_setLogLevel(linear->model, 0);
	Clp_setPrimalTolerance(linear->model, TOLERANCE);
	Clp_setDualTolerance(linear->model, TOLERANCE);
	Clp_loadProblem(linear->model, (int)linear->costs->len, (int)linear->row_least->len,
	                (const CoinBigIndex *)(gpointer)linear->starts->data,
	                (const int *)(gpointer)linear->rows->data,
	                (const double *)(gpointer)linear->values->data, NULL,
	                (const double *)(gpointer)linear->column_most->data,
	                (const double *)(gpointer)linear->costs->data,
	                (const double *)(gpointer)linear->row_least->data,
	                (const double *)(gpointer)linear->row_most->data);
}

void
linear_set_least(Linear *linear, guint row, double least)
{
	g_array_index(linear->row_least, double, row) = least;
}

void
linear_set_cost(Linear *linear, guint column, double cost)
{
	g_array_index(linear->costs, double, column) = cost;
}

void
linear_set_most(Linear *linear, guint column, double most)
{
	g_array_index(linear->column_most, double, column) = most;
}

gboolean
linear_solve(Linear *linear)
{
	Clp_chgRowLower(linear->model, (const double *)(gpointer)linear->row_least->data);
	Clp_chgColumnUpper(linear->model, (const double *)(gpointer)linear->column_most->data);
	Clp_chgObjCoefficients(linear->model, (const double *)(gpointer)linear->costs->data);
	Clp_dual(linear->model, 0);
	linear->n_solved++;
	linear->n_iterations += (guint64)Clp_numberIterations(linear->model);
	return Clp_status(linear->model) == 0;
}

double
linear_value(const Linear *linear, guint column)
{
	return Clp_primalColumnSolution(linear->model)[column];
}

double
linear_price(const Linear *linear, guint row)
{
	return Clp_dualRowSolution(linear->model)[row];
}

guint64
linear_n_solved(const Linear *linear)
{
	return linear->n_solved;
}

guint64
linear_n_iterations(const Linear *linear)
{
	return linear->n_iterations;
}
