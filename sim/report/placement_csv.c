/* SPDX-License-Identifier: MIT */
#include "sim/report/placement_csv.h"

#include <stdlib.h>

#include "sim/base/file.h"
#include "sim/report/cell.h"
#include "sim/report/exact.h"

#define ATTO_PER_NANO G_GINT64_CONSTANT(1000000000)

static const char *const columns[] = { "model",       "level", "score", "allocations",
	                               "alloc_gpu_s", "cdf",   NULL };

typedef struct PlacementCell {
	guint32 model;
	PlacementLevel level;
	gint64 score_atto;
	guint64 n; /* stretches on the same GPUs */
	GpuTime held;
} PlacementCell;

struct PlacementLog {
	const Scenario *scenario;
	guint n_cells;
	PlacementCell *cells; /* by model, the last for jobs without one, and by level */
};

PlacementLog *
placement_log_new(const Scenario *scenario)
{
	PlacementLog *log = g_new0(PlacementLog, 1);
	guint n_models = scenario->models->n;

	log->scenario = scenario;
	log->n_cells = (n_models + 1) * N_LEVELS;
	log->cells = g_new0(PlacementCell, log->n_cells);
	for (guint i = 0; i < log->n_cells; i++) {
		PlacementCell *cell = &log->cells[i];

		cell->model = i / N_LEVELS < n_models ? i / N_LEVELS : MODEL_NONE;
		cell->level = (PlacementLevel)(i % N_LEVELS);
		cell->score_atto = speed_placement_atto(scenario->models, cell->model, cell->level);
	}
	return log;
}

void
placement_log_free(PlacementLog *log)
{
	if (!log)
		return;
	g_free(log->cells);
	g_free(log);
}

void
placement_log_add(PlacementLog *log, const Segment *segment)
{
	const Job *job = &log->scenario->workload->jobs[segment->job];
	guint model = job->model == MODEL_NONE ? log->scenario->models->n : job->model;
	PlacementCell *cell = &log->cells[model * N_LEVELS + segment->level];

	if (segment->alloc->n == 0)
		return;
	cell->n += segment->end != SEGMENT_SPEED;
	cell->held +=
	    (GpuTime)(segment->end_ns - segment->start_ns) * job_held_milli(job, segment->alloc->n);
}

/* Worst first; what is equal by model, then by level. */
static int
compare_cells(const void *one, const void *other)
{
	const PlacementCell *a = one;
	const PlacementCell *b = other;

	if (a->score_atto != b->score_atto)
		return a->score_atto < b->score_atto ? -1 : 1;
	if (a->model != b->model)
		return a->model < b->model ? -1 : 1;
	return (int)a->level - (int)b->level;
}

static void
append_row(GString *out, const PlacementLog *log, const PlacementCell *cell, GpuTime up_to,
           GpuTime total)
{
	const ModelTable *models = log->scenario->models;

	cell_text(out, cell->model == MODEL_NONE ? "" : models->models[cell->model].name);
	cell_text(out, level_to_string(cell->level));
	cell_nano(out, divide_half_even(cell->score_atto, ATTO_PER_NANO));
	cell_count(out, cell->n);
	cell_gpu_seconds(out, cell->held);
	if (total > 0)
		cell_nano(out, ratio_to_nano(up_to, total));
	else
		cell_empty(out);
	row_end(out);
}

static void
append_cells(GString *out, const PlacementLog *log)
{
	gsize size = log->n_cells * sizeof *log->cells;
	g_autofree PlacementCell *sorted = g_memdup2(log->cells, size);
	GpuTime total = 0, up_to = 0;

	qsort(sorted, log->n_cells, sizeof *sorted, compare_cells);
	for (guint i = 0; i < log->n_cells; i++)
		total += sorted[i].held;
	for (guint i = 0; i < log->n_cells; i++) {
		up_to += sorted[i].held;
		if (sorted[i].n > 0 || sorted[i].held > 0)
			append_row(out, log, &sorted[i], up_to, total);
	}
}

gboolean
placement_csv_write(const char *path, const PlacementLog *log, GError **error)
{
	OutputFile *file = output_file_open(path, error);

	if (!file)
		return FALSE;
	header_append(output_file_text(file), columns);
	append_cells(output_file_text(file), log);
	return output_file_commit(file, error);
}
