/* SPDX-License-Identifier: MIT */
#include "sim/cli/run.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "sim/base/error.h"
#include "sim/base/file.h"
#include "sim/cli/batch.h"
#include "sim/cli/run_arguments.h"
#include "sim/cli/version.h"

#define EXIT_NOT_ALLOWED 5 /* rejected or unfinished jobs that nobody allowed */

/* While a trace is read nothing has been written that would have to be put right. */
static void
exit_interrupted(int signal_number)
{
	_exit(SIM_ERROR_CANCELLED);
}

/* Telling people */

static void
print_notices(const GPtrArray *notices)
{
	for (guint i = 0; i < notices->len; i++)
		fprintf(stderr, "%s\n", (const char *)g_ptr_array_index(notices, i));
}

/* The first notice of every reason stands for all of them. */
static void
print_trace_notices(const Workload *workload)
{
	const Problems *problems = workload->problems;
	guint64 n_shown = problems->notices->len;

	print_notices(problems->texts);
	print_notices(problems->notices);
	if (problems->n_noticed > n_shown)
		fprintf(stderr, "%s: and %" G_GUINT64_FORMAT " more of the same kind\n",
		        workload->path, problems->n_noticed - n_shown);
	if (problems->n_bad > 0)
		fprintf(stderr, "%s: %" G_GUINT64_FORMAT " bad rows were left out\n",
		        workload->path, problems->n_bad);
}

static void
print_progress(const PolicyRun *run, guint n_ended, guint n_runs)
{
	fprintf(stderr, "%s: %" G_GUINT64_FORMAT " events in %.1f s (%u of %u)\n", run->spec->label,
	        run->performance.events, run->performance.wall_s, n_ended, n_runs);
}

static void
print_refusals(const Batch *batch)
{
	for (guint i = 0; i < batch->runs->len; i++) {
		const PolicyRun *run = &g_array_index(batch->runs, PolicyRun, i);

		if (run->refused > 0)
			command_note("%s: %" G_GUINT64_FORMAT " edits were refused, the first: %s",
			             run->spec->label, run->refused,
			             run->first_refusal ? run->first_refusal : "unknown");
	}
}

static void
print_table(const GPtrArray *rows)
{
	g_autofree char *table =
	    summary_table((const SummaryRow *const *)(gpointer)rows->pdata, rows->len);

	fputs(table, stdout);
}

/* Files beside the policies' folders */

static gboolean
write_summary(const char *out, const GPtrArray *rows, GError **error)
{
	g_autofree char *path = g_build_filename(out, "summary.csv", NULL);

	return summary_write(path, (const SummaryRow *const *)(gpointer)rows->pdata, rows->len,
	                     error);
}

static gboolean
write_manifest(const RunConfig *config, const RunInputs *inputs, const Batch *batch, GError **error)
{
	g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *path = g_build_filename(config->out.path, "run.json", NULL);
	Manifest manifest = {
		.version = sim_version(),
		.commit = sim_commit(),
		.seed = config->seed,
		.is_interrupted = batch->is_interrupted,
		.inputs = (const ManifestInput *)(gpointer)inputs->files->data,
		.n_inputs = inputs->files->len,
		.workload = inputs->workload,
	};

	run_config_describe(config, inputs->workload->format, keys, values);
	manifest.option_keys = (const char *const *)keys->pdata;
	manifest.option_values = (const char *const *)values->pdata;
	manifest.n_options = keys->len;
	return manifest_write(path, &manifest, error);
}

static gboolean
write_performance(const char *out, const Batch *batch, double wall_s, GError **error)
{
	g_autofree char *path = g_build_filename(out, "perf.json", NULL);
	g_autoptr(GArray) ended = g_array_new(FALSE, FALSE, sizeof(Performance));

	for (guint i = 0; i < batch->runs->len; i++) {
		const PolicyRun *run = &g_array_index(batch->runs, PolicyRun, i);

		if (run->row)
			g_array_append_val(ended, run->performance);
	}
	return performance_write(path, (const Performance *)(gpointer)ended->data, ended->len,
	                         wall_s, error);
}

/* The status */

/* Says what was not allowed about one policy's run, if anything was. */
static gboolean
is_allowed(const RunConfig *config, const PolicyRun *run)
{
	guint64 n_rejected = config->allows_rejected ? 0 : summary_row_n_rejected(run->row);
	guint64 n_unfinished = config->allows_unfinished ? 0 : summary_row_n_unfinished(run->row);

	if (n_rejected > 0)
		command_note("%s: jobs rejected: %" G_GUINT64_FORMAT
		             " (--allow-rejected accepts that)",
		             run->spec->label, n_rejected);
	if (n_unfinished > 0)
		command_note("%s: jobs unfinished: %" G_GUINT64_FORMAT
		             " (--allow-unfinished accepts that)",
		             run->spec->label, n_unfinished);
	return n_rejected == 0 && n_unfinished == 0;
}

static int
interrupted(const Batch *batch, const GPtrArray *rows)
{
	command_note("interrupted: %u of %u policies had ended", rows->len, batch->runs->len);
	return 128 + batch->signal_number; /* as shells have it; SIGINT is 130 (A50) */
}

static int
exit_status(const RunConfig *config, const Batch *batch)
{
	int status = 0;

	for (guint i = 0; i < batch->runs->len; i++) {
		const PolicyRun *run = &g_array_index(batch->runs, PolicyRun, i);

		if (run->row && !is_allowed(config, run))
			status = EXIT_NOT_ALLOWED;
	}
	if (batch_error(batch))
		status = command_fail(batch_error(batch));
	return status;
}

/* The run */

/* A run of which nothing is left leaves the folder as it was, unless it was interrupted (A50). */
static gboolean
write_all(const RunConfig *config, const RunInputs *inputs, const Batch *batch,
          const GPtrArray *rows, double wall_s, GError **error)
{
	const char *out = config->out.path;

	if (!out || (rows->len == 0 && !batch->is_interrupted))
		return TRUE;
	return write_summary(out, rows, error) && write_manifest(config, inputs, batch, error) &&
	       write_performance(out, batch, wall_s, error);
}

static gboolean
shows_progress(const RunConfig *config)
{
	return !config->is_quiet && isatty(STDERR_FILENO);
}

/* Takes away a folder that this run made and left empty; any other stays. */
static void
remove_made(const RunConfig *config, gboolean was_there)
{
	if (config->out.path && !was_there)
		g_rmdir(config->out.path);
}

static int
simulate(const RunConfig *config, const RunInputs *inputs, Batch *batch)
{
	gboolean was_there = config->out.path && g_file_test(config->out.path, G_FILE_TEST_EXISTS);
	gint64 start_us = g_get_monotonic_time();
	g_autoptr(GPtrArray) rows = NULL; /* of SummaryRow */
	g_autoptr(GError) error = NULL;
	double wall_s;

	if (config->out.given && !folder_make(config->out.path, &error))
		return command_fail(error);
	batch_run(batch, shows_progress(config) ? print_progress : NULL);
	wall_s = (double)(g_get_monotonic_time() - start_us) / G_USEC_PER_SEC;
	rows = batch_rows(batch);
	if (!write_all(config, inputs, batch, rows, wall_s, &error))
		return command_fail(error);
	if (rows->len == 0)
		remove_made(config, was_there);
	if (!config->is_quiet && rows->len > 0)
		print_table(rows);
	print_refusals(batch);
	if (!config->out.given)
		command_note("nothing was written: give --out DIR for the tables");
	return batch->is_interrupted ? interrupted(batch, rows) : exit_status(config, batch);
}

static int
load_and_simulate(const RunConfig *config)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(RunInputs) inputs = run_inputs_load(config, &error);
	g_autoptr(Batch) batch = NULL;

	if (!inputs)
		return command_fail(error);
	print_notices(config->notices);
	print_trace_notices(inputs->workload);
	batch = batch_new(config, inputs);
	if (!batch_check(batch, &error))
		return command_fail(error);
	return simulate(config, inputs, batch);
}

int
command_run(int argc, char **argv)
{
	g_autoptr(RunConfig) config = NULL;
	g_autoptr(GError) error = NULL;

	signal(SIGINT, exit_interrupted);
	/* A file that may grow no further is an error like a full disk, and is cleaned up after. */
	signal(SIGXFSZ, SIG_IGN);
	switch (run_arguments_read(argv, &config, &error)) {
	case COMMAND_HELPED:
		return 0;
	case COMMAND_BAD:
		return command_fail(error);
	case COMMAND_GO:
		break;
	}
	return load_and_simulate(config);
}
