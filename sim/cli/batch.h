/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The policies of one run, each a simulation of its own, on threads beside each other. They share
 * what was read and nothing else, so that no result depends on how many threads there are.
 */

#include "sim/cli/inputs.h"

/* One policy's run. */
typedef struct PolicyRun {
	const PolicySpec *spec;
	Scenario scenario;
	RunFolderSettings folder; /* its path is NULL where nothing is to be written */
	SummaryRow *row;          /* NULL unless the run ended and is written */
	GError *error;            /* NULL if so, or if the run has not begun */
	Performance performance;
	guint64 refused;
	char *first_refusal; /* or NULL */
} PolicyRun;

typedef struct Batch {
	GArray *runs; /* of PolicyRun, in the order that the policies were given in */
	guint n_threads;
	gboolean is_strict, is_paranoid;
	gboolean is_interrupted; /* SIGINT or SIGTERM came before all had ended */
	int signal_number;       /* which of them */
	gint is_cancelled;       /* atomic */
	gint next;               /* atomic: the run to be begun next */
	GAsyncQueue *ended;      /* of PolicyRun */
} Batch;

Batch *batch_new(const RunConfig *config, const RunInputs *inputs);
void batch_free(Batch *batch);

/* Whether every policy takes its options, before any of them runs (A41); SIM_ERROR_USAGE. */
gboolean batch_check(Batch *batch, GError **error);

typedef void (*BatchProgress)(const PolicyRun *run, guint n_ended, guint n_runs);

/* Runs all, tells @progress (or NULL) of each that ends, and returns when none runs any more. What
 * went wrong with one stands in its error and stops no other. SIGINT and SIGTERM cancel those that
 * run; they are blocked from here on, so that what has ended gets written. */
void batch_run(Batch *batch, BatchProgress progress);

/* The rows of those that ended well, in order. Free with g_ptr_array_unref(). */
GPtrArray *batch_rows(const Batch *batch); /* of const SummaryRow */

/* The first error that is no cancellation, or NULL. */
const GError *batch_error(const Batch *batch);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Batch, batch_free)
