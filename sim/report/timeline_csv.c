/* SPDX-License-Identifier: MIT */
#include "sim/report/timeline_csv.h"

#include "sim/base/error.h"
#include "sim/report/cell.h"

static const char *const columns[] = {
	"time_s", "allocated_gpus", "capacity_gpus", "running_jobs", "queued_jobs", "queued_gpus",
	NULL,
};

struct Timeline {
	OutputFile *file;
	gint64 origin_ns;
	SimTime every_ns;
	SimTime next_sample_ns; /* TIME_NEVER once the clock has no more of them */
	gboolean has_last;
	Instant last; /* not written yet: the engine may come back to the same instant (A03) */
	gint *is_cancelled; /* atomic, or NULL */
	GError *error;      /* the first write that failed, or that it was cancelled */
};

Timeline *
timeline_open(const char *path, gint64 origin_ns, SimTime every_ns, gint *is_cancelled,
              GError **error)
{
	OutputFile *file = output_file_open(path, error);
	Timeline *timeline;

	if (!file)
		return NULL;
	timeline = g_new0(Timeline, 1);
	timeline->file = file;
	timeline->origin_ns = origin_ns;
	timeline->every_ns = every_ns;
	timeline->is_cancelled = is_cancelled;
	header_append(output_file_text(file), columns);
	return timeline;
}

static void
write_row(Timeline *timeline, SimTime at_ns)
{
	const Instant *state = &timeline->last;
	GString *out = output_file_text(timeline->file);

	if (timeline->error)
		return;
	cell_clock(out, timeline->origin_ns, at_ns);
	cell_milli(out, state->held_milli);
	cell_milli(out, state->capacity_milli);
	cell_count(out, state->n_running);
	cell_count(out, state->n_queued);
	cell_milli(out, state->queued_milli);
	row_end(out);
	output_file_flush(timeline->file, &timeline->error);
}

static gboolean
is_cancelled(const Timeline *timeline)
{
	return timeline->is_cancelled && g_atomic_int_get(timeline->is_cancelled);
}

/* The samples of the last state, which stood from its instant until before @end_ns. There may be
 * billions of them before the engine is asked again whether it was interrupted. */
static void
write_samples(Timeline *timeline, SimTime end_ns)
{
	while (timeline->next_sample_ns < end_ns && !timeline->error) {
		if (is_cancelled(timeline)) {
			g_set_error(&timeline->error, SIM_ERROR, SIM_ERROR_CANCELLED,
			            "interrupted");
			return;
		}
		write_row(timeline, timeline->next_sample_ns);
		timeline->next_sample_ns = time_add(timeline->next_sample_ns, timeline->every_ns);
	}
}

/* The last state gives way to one at @until_ns. */
static void
write_last(Timeline *timeline, SimTime until_ns)
{
	if (timeline->every_ns > 0)
		write_samples(timeline, until_ns);
	else if (until_ns > timeline->last.at_ns)
		write_row(timeline, timeline->last.at_ns);
}

void
timeline_add(Timeline *timeline, const Instant *instant)
{
	if (timeline->has_last)
		write_last(timeline, instant->at_ns);
	timeline->last = *instant;
	timeline->has_last = TRUE;
}

gboolean
timeline_commit(Timeline *timeline, SimTime end_ns, GError **error)
{
	/* The state of the very end is a row too. */
	if (timeline->has_last)
		write_last(timeline, time_add(MAX(end_ns, timeline->last.at_ns), 1));
	if (timeline->error) {
		g_propagate_error(error, g_steal_pointer(&timeline->error));
		return FALSE;
	}
	return output_file_commit(g_steal_pointer(&timeline->file), error);
}

void
timeline_free(Timeline *timeline)
{
	if (!timeline)
		return;
	output_file_free(timeline->file);
	g_clear_error(&timeline->error);
	g_free(timeline);
}
