/* SPDX-License-Identifier: MIT */
#include "sim/report/segments_csv.h"

#include "sim/base/file.h"
#include "sim/report/cell.h"

static const char *const columns[] = {
	"job_id", "segment", "start_s",    "end_s",      "gpus", "machines",
	"level",  "speed",   "overhead_s", "end_reason", NULL,
};

/* Numbers @first .. @last. */
typedef struct Range {
	guint32 first, last;
} Range;

typedef struct KeptSegment {
	SimTime start_ns, end_ns, overhead_ns;
	gint64 speed_ppb;
	gsize first_range; /* of its GPUs, in SegmentLog.ranges */
	guint32 n_ranges;
	JobId job;
	guint32 index;
	guint8 level, end;
} KeptSegment;

struct SegmentLog {
	KeptSegment *segments;
	gsize n, size;
	Range *ranges;
	gsize n_ranges, ranges_size;
};

SegmentLog *
segment_log_new(void)
{
	return g_new0(SegmentLog, 1);
}

void
segment_log_free(SegmentLog *log)
{
	if (!log)
		return;
	g_free(log->segments);
	g_free(log->ranges);
	g_free(log);
}

/* GArray counts in 32 bits, and a long run under short quanta has more segments than that. */
static gsize
grown(gsize size)
{
	return size > 0 ? size * 2 : 64;
}

static void
push_range(SegmentLog *log, guint32 gpu)
{
	if (log->n_ranges == log->ranges_size) {
		log->ranges_size = grown(log->ranges_size);
		log->ranges = g_renew(Range, log->ranges, log->ranges_size);
	}
	log->ranges[log->n_ranges++] = (Range){ gpu, gpu };
}

static void
push_gpus(SegmentLog *log, const Alloc *alloc)
{
	for (guint i = 0; i < alloc->n; i++) {
		if (i > 0 && alloc->gpus[i] == alloc->gpus[i - 1] + 1)
			log->ranges[log->n_ranges - 1].last++;
		else
			push_range(log, alloc->gpus[i]);
	}
}

void
segment_log_add(SegmentLog *log, const Segment *segment)
{
	gsize first_range = log->n_ranges;

	push_gpus(log, segment->alloc);
	if (log->n == log->size) {
		log->size = grown(log->size);
		log->segments = g_renew(KeptSegment, log->segments, log->size);
	}
	log->segments[log->n++] = (KeptSegment){
		.start_ns = segment->start_ns,
		.end_ns = segment->end_ns,
		.overhead_ns = segment->overhead_ns,
		.speed_ppb = segment->speed_ppb,
		.first_range = first_range,
		.n_ranges = (guint32)(log->n_ranges - first_range),
		.job = segment->job,
		.index = segment->index,
		.level = (guint8)segment->level,
		.end = (guint8)segment->end,
	};
}

/* Where the segments of each job in @order begin in a list of all by job. */
static gsize *
place_jobs(const SegmentLog *log, guint n_jobs, const JobId *order)
{
	gsize *place = g_new0(gsize, n_jobs);
	gsize next = 0;

	for (gsize i = 0; i < log->n; i++)
		place[log->segments[i].job]++;
	for (guint i = 0; i < n_jobs; i++) {
		gsize n = place[order[i]];

		place[order[i]] = next;
		next += n;
	}
	return place;
}

/* Indices into the log, by place of the job, then as they came. */
static gsize *
sort_segments(const SegmentLog *log, guint n_jobs, const JobId *order)
{
	g_autofree gsize *place = place_jobs(log, n_jobs, order);
	gsize *sorted = g_new(gsize, log->n);

	for (gsize i = 0; i < log->n; i++)
		sorted[place[log->segments[i].job]++] = i;
	return sorted;
}

static void
append_range(GString *out, Range range, gboolean is_first)
{
	if (!is_first)
		g_string_append_c(out, ' ');
	decimal_append(out, range.first, 0);
	if (range.last == range.first)
		return;
	g_string_append_c(out, '-');
	decimal_append(out, range.last, 0);
}

static void
cell_gpus(GString *out, const Range *ranges, guint32 n)
{
	for (guint32 i = 0; i < n; i++)
		append_range(out, ranges[i], i == 0);
	cell_empty(out);
}

/* GPUs ascend, and so do their machines; a machine may hold several of the ranges. */
static void
cell_machines(GString *out, const ClusterSpec *spec, const Range *ranges, guint32 n)
{
	Range run = { 0 };
	gboolean is_first = TRUE;

	for (guint32 i = 0; i < n; i++) {
		Range machines = { spec->machine_of[ranges[i].first],
			           spec->machine_of[ranges[i].last] };

		if (i > 0 && machines.first <= run.last + 1) {
			run.last = machines.last;
			continue;
		}
		if (i > 0) {
			append_range(out, run, is_first);
			is_first = FALSE;
		}
		run = machines;
	}
	if (n > 0)
		append_range(out, run, is_first);
	cell_empty(out);
}

static void
append_row(GString *out, const SegmentLog *log, const Scenario *scenario,
           const KeptSegment *segment)
{
	const Range *ranges = segment->n_ranges > 0 ? &log->ranges[segment->first_range] : NULL;
	gint64 origin_ns = scenario->workload->origin_ns;

	cell_text(out, scenario->workload->jobs[segment->job].name);
	cell_count(out, segment->index);
	cell_clock(out, origin_ns, segment->start_ns);
	cell_clock(out, origin_ns, segment->end_ns);
	cell_gpus(out, ranges, segment->n_ranges);
	cell_machines(out, scenario->cluster, ranges, segment->n_ranges);
	if (segment->n_ranges > 0)
		cell_text(out, level_to_string((PlacementLevel)segment->level));
	else
		cell_empty(out);
	cell_nano(out, segment->speed_ppb);
	cell_seconds(out, segment->overhead_ns);
	cell_text(out, segment_end_to_string((SegmentEnd)segment->end));
	row_end(out);
}

gboolean
segments_csv_write(const char *path, const SegmentLog *log, const Scenario *scenario,
                   const JobId *order, GError **error)
{
	g_autofree gsize *sorted = sort_segments(log, scenario->workload->n_jobs, order);
	g_autoptr(OutputFile) file = output_file_open(path, error);
	GString *out;

	if (!file)
		return FALSE;
	out = output_file_text(file);
	header_append(out, columns);
	for (gsize i = 0; i < log->n; i++) {
		append_row(out, log, scenario, &log->segments[sorted[i]]);
		if (!output_file_flush(file, error))
			return FALSE;
	}
	return output_file_commit(g_steal_pointer(&file), error);
}
