/* SPDX-License-Identifier: MIT */
#include "sim/report/report.h"

#include <errno.h>
#include <sys/stat.h>

#include <glib/gstdio.h>

#include "sim/base/error.h"
#include "sim/base/file.h"
#include "sim/report/apps_csv.h"
#include "sim/report/fairness_csv.h"
#include "sim/report/job_stream.h"
#include "sim/report/jobs_csv.h"
#include "sim/report/placement_csv.h"
#include "sim/report/received_csv.h"
#include "sim/report/segments_csv.h"
#include "sim/report/timeline_csv.h"

/* Of fairness_over_time.csv, where the timeline is not sampled. */
#define DEFAULT_WINDOW_NS (3600 * NS_PER_S)

struct RunFolder {
	const Scenario *scenario;
	char *path;      /* NULL: no files */
	char *temporary; /* beside it; NULL once it has got its name */
	JobStream *jobs; /* NULL: jobs.csv is written at the end */
	Timeline *timeline;
	ReceivedLog *received; /* with the timeline */
	SegmentLog *segments;
	PlacementLog *placement;
	Recorder recorder;
};

/* What a run writes. Nothing else in a folder that is replaced is ours to delete. */
static const char *const own_files[] = {
	"jobs.csv",      "apps.csv",     "fairness.csv", "fairness_over_time.csv",
	"placement.csv", "segments.csv", "timeline.csv",
};

/* Opening */

static gboolean
folder_error(const char *path, const char *what, int code, GError **error)
{
	g_set_error(error, SIM_ERROR, SIM_ERROR_INTERNAL, "%s: %s: %s", path, what,
	            g_strerror(code));
	return FALSE;
}

/* A new, empty folder in the one where @path is, so that a rename will do; NULL on error. */
static char *
sibling_new(const char *path, GError **error)
{
	g_autofree char *parent = g_path_get_dirname(path);
	g_autofree char *base = g_path_get_basename(path);
	g_autofree char *name = g_strdup_printf(".%s.tmp-XXXXXX", base);
	g_autofree char *sibling = g_build_filename(parent, name, NULL);

	if (!folder_make(parent, error))
		return NULL;
	if (!g_mkdtemp_full(sibling, 0777)) {
		folder_error(path, "the folder cannot be made", errno, error);
		return NULL;
	}
	return g_steal_pointer(&sibling);
}

static void
record_demand(void *self, JobId job, SimTime at_ns, guint64 from_milli, guint64 to_milli)
{
	RunFolder *folder = self;

	received_log_demand(folder->received, job, at_ns, from_milli, to_milli);
}

static void
record_begin(void *self, JobId job, SimTime at_ns, guint64 held_milli)
{
	RunFolder *folder = self;

	received_log_begin(folder->received, job, at_ns, held_milli);
}

static void
record_segment(void *self, const Segment *segment)
{
	RunFolder *folder = self;

	placement_log_add(folder->placement, segment);
	if (folder->segments)
		segment_log_add(folder->segments, segment);
	if (folder->received)
		received_log_end(folder->received, segment);
}

static void
record_instant(void *self, const Instant *instant)
{
	RunFolder *folder = self;

	if (folder->timeline)
		timeline_add(folder->timeline, instant);
	if (folder->received)
		received_log_instant(folder->received, instant->at_ns);
	if (folder->jobs)
		job_stream_end_instant(folder->jobs);
}

static void
record_done(void *self, JobId job, const JobRecord *record)
{
	RunFolder *folder = self;

	if (folder->jobs)
		job_stream_add(folder->jobs, job, record);
	if (folder->received)
		received_log_done(folder->received, job);
}

/* Windows as long as the samples of the timeline are apart. */
static gboolean
open_received(RunFolder *folder, const RunFolderSettings *settings, GError **error)
{
	g_autofree char *path = g_build_filename(folder->temporary, "fairness_over_time.csv", NULL);
	SimTime window_ns =
	    settings->timeline_every_ns > 0 ? settings->timeline_every_ns : DEFAULT_WINDOW_NS;

	folder->received =
	    received_log_open(path, folder->scenario, window_ns, settings->is_cancelled, error);
	folder->recorder.demand = record_demand;
	folder->recorder.begin = record_begin;
	folder->recorder.done = record_done;
	return folder->received != NULL;
}

static gboolean
open_timeline(RunFolder *folder, const RunFolderSettings *settings, GError **error)
{
	g_autofree char *path = g_build_filename(folder->temporary, "timeline.csv", NULL);

	folder->timeline =
	    timeline_open(path, folder->scenario->workload->origin_ns, settings->timeline_every_ns,
	                  settings->is_cancelled, error);
	folder->recorder.instant = record_instant;
	return folder->timeline != NULL && open_received(folder, settings, error);
}

/* segments.csv goes by the order of jobs.csv (A30). */
static gboolean
open_jobs(RunFolder *folder, gboolean keeps_order, GError **error)
{
	g_autofree char *path = g_build_filename(folder->temporary, "jobs.csv", NULL);

	folder->jobs = job_stream_open(path, folder->scenario, keeps_order, error);
	folder->recorder.instant = record_instant;
	folder->recorder.done = record_done;
	return folder->jobs != NULL;
}

static gboolean
open_files(RunFolder *folder, const RunFolderSettings *settings, GError **error)
{
	folder->path = g_strdup(settings->path);
	folder->temporary = sibling_new(settings->path, error);
	if (!folder->temporary)
		return FALSE;
	folder->placement = placement_log_new(folder->scenario);
	folder->recorder.segment = record_segment;
	if (settings->wants_segments)
		folder->segments = segment_log_new();
	if (settings->wants_stream && !open_jobs(folder, settings->wants_segments, error))
		return FALSE;
	return !settings->wants_timeline || open_timeline(folder, settings, error);
}

RunFolder *
run_folder_open(const Scenario *scenario, const RunFolderSettings *settings, GError **error)
{
	g_autoptr(RunFolder) folder = g_new0(RunFolder, 1);

	folder->scenario = scenario;
	folder->recorder.self = folder;
	if (settings->path && !open_files(folder, settings, error))
		return NULL;
	return g_steal_pointer(&folder);
}

const Recorder *
run_folder_recorder(RunFolder *folder)
{
	return &folder->recorder;
}

/* Closing */

static gboolean
write_jobs(RunFolder *folder, const RunRecord *record, GError **error)
{
	g_autofree char *path = g_build_filename(folder->temporary, "jobs.csv", NULL);

	if (folder->jobs)
		return job_stream_commit(folder->jobs, record->end_ns, error);
	return jobs_csv_write(path, folder->scenario, record, error);
}

static gboolean
write_segments(RunFolder *folder, GError **error)
{
	const JobId *by_row = folder->scenario->workload->by_row;
	g_autofree char *path = g_build_filename(folder->temporary, "segments.csv", NULL);

	return segments_csv_write(path, folder->segments, folder->scenario,
	                          folder->jobs ? job_stream_order(folder->jobs) : by_row, error);
}

static gboolean
write_files(RunFolder *folder, const RunRecord *record, GError **error)
{
	g_autofree char *apps = g_build_filename(folder->temporary, "apps.csv", NULL);
	g_autofree char *fairness = g_build_filename(folder->temporary, "fairness.csv", NULL);
	g_autofree char *placement = g_build_filename(folder->temporary, "placement.csv", NULL);

	return write_jobs(folder, record, error) &&
	       apps_csv_write(apps, folder->scenario, record, error) &&
	       fairness_csv_write(fairness, folder->scenario, record, error) &&
	       placement_csv_write(placement, folder->placement, error) &&
	       (!folder->received ||
	        received_log_commit(folder->received, record->end_ns, error)) &&
	       (!folder->segments || write_segments(folder, error)) &&
	       (!folder->timeline || timeline_commit(folder->timeline, record->end_ns, error));
}

static void
remove_own_files(const char *path)
{
	for (guint i = 0; i < G_N_ELEMENTS(own_files); i++) {
		g_autofree char *file = g_build_filename(path, own_files[i], NULL);

		g_unlink(file);
	}
}

/* Whatever people have put into the older folder stays, beside the new files. */
static void
keep_foreign_files(const char *older, const char *path)
{
	g_autoptr(GDir) entries = g_dir_open(older, 0, NULL);
	const char *name;

	while (entries && (name = g_dir_read_name(entries)) != NULL) {
		g_autofree char *from = g_build_filename(older, name, NULL);
		g_autofree char *to = g_build_filename(path, name, NULL);

		g_rename(from, to);
	}
}

/* Puts the older folder, if there is one, under a temporary name: NULL if there is none. */
static gboolean
set_aside(const char *path, char **ret_aside, GError **error)
{
	g_autofree char *aside = NULL;

	*ret_aside = NULL;
	if (!g_file_test(path, G_FILE_TEST_EXISTS | G_FILE_TEST_IS_SYMLINK))
		return TRUE;
	aside = sibling_new(path, error);
	if (!aside)
		return FALSE;
	if (g_rename(path, aside) != 0) {
		int code = errno;

		g_rmdir(aside);
		return folder_error(path, "the older folder cannot be replaced", code, error);
	}
	*ret_aside = g_steal_pointer(&aside);
	return TRUE;
}

static gboolean
put_in_place(RunFolder *folder, GError **error)
{
	g_autofree char *aside = NULL;

	if (!set_aside(folder->path, &aside, error))
		return FALSE;
	if (g_rename(folder->temporary, folder->path) != 0) {
		int code = errno;

		if (aside)
			g_rename(aside, folder->path);
		return folder_error(folder->path, "cannot be put in place", code, error);
	}
	g_clear_pointer(&folder->temporary, g_free);
	if (!aside)
		return TRUE;
	remove_own_files(aside);
	keep_foreign_files(aside, folder->path);
	g_rmdir(aside);
	return TRUE;
}

gboolean
run_folder_commit(RunFolder *folder, const RunRecord *record, GError **error)
{
	if (!folder->path)
		return TRUE;
	return write_files(folder, record, error) && put_in_place(folder, error);
}

void
run_folder_free(RunFolder *folder)
{
	if (!folder)
		return;
	job_stream_free(folder->jobs);
	timeline_free(folder->timeline);
	received_log_free(folder->received);
	segment_log_free(folder->segments);
	placement_log_free(folder->placement);
	if (folder->temporary) {
		remove_own_files(folder->temporary);
		g_rmdir(folder->temporary);
	}
	g_free(folder->temporary);
	g_free(folder->path);
	g_free(folder);
}
