/* SPDX-License-Identifier: MIT */
#include "sim/cli/batch.h"

#include <signal.h>
#include <time.h>

#include "sim/base/error.h"
#include "sim/engine/engine.h"

#define SIGNAL_CHECK_US 50000 /* how long a signal may go unheard */

/* Life */

static void
policy_run_clear(gpointer data)
{
	PolicyRun *run = data;

	summary_row_free(run->row);
	g_clear_error(&run->error);
	g_free(run->first_refusal);
	g_free((gpointer)(gsize)run->folder.path);
}

static void
add_run(Batch *batch, const RunConfig *config, const RunInputs *inputs, const PolicySpec *spec)
{
	const char *out = config->out.path;
	const PolicyRun run = {
		.spec = spec,
		.scenario = run_inputs_scenario(inputs, config, spec),
		.folder = {
			.path = out ? g_build_filename(out, spec->label, NULL) : NULL,
			.wants_segments = config->wants_segments,
			.wants_timeline = config->wants_timeline,
			.timeline_every_ns = config->timeline_every_ns,
			.wants_stream = config->wants_stream,
			.is_cancelled = &batch->is_cancelled,
		},
		.performance.label = spec->label,
	};

	g_array_append_val(batch->runs, run);
}

Batch *
batch_new(const RunConfig *config, const RunInputs *inputs)
{
	Batch *batch = g_new0(Batch, 1);
	guint n_wanted = config->n_threads > 0 ? (guint)config->n_threads : g_get_num_processors();

	batch->runs = g_array_new(FALSE, FALSE, sizeof(PolicyRun));
	g_array_set_clear_func(batch->runs, policy_run_clear);
	batch->n_threads = MIN(n_wanted, config->policies->len);
	batch->is_strict = config->is_strict;
	batch->is_paranoid = config->is_paranoid;
	batch->ended = g_async_queue_new();
	for (guint i = 0; i < config->policies->len; i++)
		add_run(batch, config, inputs, g_ptr_array_index(config->policies, i));
	return batch;
}

void
batch_free(Batch *batch)
{
	if (!batch)
		return;
	g_array_unref(batch->runs);
	g_async_queue_unref(batch->ended);
	g_free(batch);
}

/* One run */

static Engine *
engine_of(Batch *batch, const PolicyRun *run, const Recorder *recorder, GError **error)
{
	const EngineSettings settings = {
		.is_strict = batch->is_strict,
		.is_paranoid = batch->is_paranoid,
		.recorder = recorder,
		.is_cancelled = &batch->is_cancelled,
	};

	return engine_new(&run->scenario, run->spec->policy, run->spec->options, &settings, error);
}

/* An engine is made and thrown away: one that is to run would have to be told where to write, and
 * nothing may be touched before all have been asked. */
gboolean
batch_check(Batch *batch, GError **error)
{
	for (guint i = 0; i < batch->runs->len; i++) {
		const PolicyRun *run = &g_array_index(batch->runs, PolicyRun, i);
		g_autoptr(Engine) engine = engine_of(batch, run, NULL, error);

		if (!engine) {
			g_prefix_error(error, "%s: ", run->spec->label);
			return FALSE;
		}
	}
	return TRUE;
}

static RunRecord *
simulate(Batch *batch, const PolicyRun *run, const Recorder *recorder, GError **error)
{
	g_autoptr(Engine) engine = engine_of(batch, run, recorder, error);

	return engine ? engine_run(engine, error) : NULL;
}

static void
keep_record(PolicyRun *run, const RunRecord *record)
{
	g_autofree char *options =
	    options_to_string(run->spec->policy->options, run->spec->options);

	run->row = summary_row_new(&run->scenario, record, run->spec->label, options);
	run->performance.events = record->events;
	run->performance.n_counters = record->n_counters;
	memcpy(run->performance.counters, record->counters, sizeof record->counters);
	run->refused = record->refused;
	run->first_refusal = g_strdup(record->first_refusal);
}

static gboolean
simulate_and_write(Batch *batch, PolicyRun *run, GError **error)
{
	gboolean writes = run->folder.path != NULL;
	g_autoptr(RunFolder) folder =
	    writes ? run_folder_open(&run->scenario, &run->folder, error) : NULL;
	g_autoptr(RunRecord) record = NULL;

	if (writes && !folder)
		return FALSE;
	record = simulate(batch, run, writes ? run_folder_recorder(folder) : NULL, error);
	if (!record || (writes && !run_folder_commit(folder, record, error)))
		return FALSE;
	keep_record(run, record);
	return TRUE;
}

static double
thread_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / (double)NS_PER_S;
}

static void
run_one(Batch *batch, PolicyRun *run)
{
	gint64 wall_us = g_get_monotonic_time();
	double cpu_s = thread_seconds();

	if (!simulate_and_write(batch, run, &run->error))
		g_prefix_error(&run->error, "%s: ", run->spec->label);
	run->performance.wall_s = (double)(g_get_monotonic_time() - wall_us) / G_USEC_PER_SEC;
	run->performance.cpu_s = thread_seconds() - cpu_s;
}

/* All of them */

static gpointer
work(gpointer data)
{
	Batch *batch = data;
	guint index;

	while ((index = (guint)g_atomic_int_add(&batch->next, 1)) < batch->runs->len) {
		PolicyRun *run = &g_array_index(batch->runs, PolicyRun, index);

		if (!g_atomic_int_get(&batch->is_cancelled))
			run_one(batch, run);
		g_async_queue_push(batch->ended, run);
	}
	return NULL;
}

/* Threads begin with the mask of the one that starts them: none of them gets a signal, and it
 * waits until it is asked for. */
static void
block_interrupt(sigset_t *ret_signals)
{
	sigemptyset(ret_signals);
	sigaddset(ret_signals, SIGINT);
	sigaddset(ret_signals, SIGTERM);
	pthread_sigmask(SIG_BLOCK, ret_signals, NULL);
}

static void
check_interrupt(Batch *batch, const sigset_t *signals)
{
	const struct timespec at_once = { 0 };
	int signal_number = sigtimedwait(signals, NULL, &at_once);

	if (signal_number <= 0)
		return;
	batch->is_interrupted = TRUE;
	batch->signal_number = signal_number;
	g_atomic_int_set(&batch->is_cancelled, TRUE);
}

static void
wait_for_all(Batch *batch, const sigset_t *signals, BatchProgress progress)
{
	guint n_ended = 0;

	while (n_ended < batch->runs->len) {
		const PolicyRun *run = g_async_queue_timeout_pop(batch->ended, SIGNAL_CHECK_US);

		n_ended += run != NULL;
		/* Once all have ended there is nothing left to interrupt. */
		if (n_ended < batch->runs->len)
			check_interrupt(batch, signals);
		if (run && run->row && progress)
			progress(run, n_ended, batch->runs->len);
	}
}

void
batch_run(Batch *batch, BatchProgress progress)
{
	g_autofree GThread **threads = g_new(GThread *, batch->n_threads);
	sigset_t signals;

	block_interrupt(&signals);
	for (guint i = 0; i < batch->n_threads; i++)
		threads[i] = g_thread_new("policy", work, batch);
	wait_for_all(batch, &signals, progress);
	for (guint i = 0; i < batch->n_threads; i++)
		g_thread_join(threads[i]);
}

/* What came of it */

GPtrArray *
batch_rows(const Batch *batch)
{
	GPtrArray *rows = g_ptr_array_new();

	for (guint i = 0; i < batch->runs->len; i++) {
		PolicyRun *run = &g_array_index(batch->runs, PolicyRun, i);

		if (run->row)
			g_ptr_array_add(rows, run->row);
	}
	return rows;
}

const GError *
batch_error(const Batch *batch)
{
	for (guint i = 0; i < batch->runs->len; i++) {
		const PolicyRun *run = &g_array_index(batch->runs, PolicyRun, i);

		if (run->error && !g_error_matches(run->error, SIM_ERROR, SIM_ERROR_CANCELLED))
			return run->error;
	}
	return NULL;
}
