/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Numbers become text here and nowhere else. One policy's run is a folder of CSVs (RunFolder),
 * filled while the engine runs where rows are asked for as they happen, and finished from its
 * record; a run of several policies is a summary.csv of SummaryRows, run.json and perf.json.
 * Columns, definitions and order: DESIGN 8, SEMANTICS A20 to A35, A88, C04, docs/metrics.md.
 */

#include "sim/engine/record.h"
#include "sim/model/scenario.h"

typedef struct RunFolderSettings {
	const char *path; /* DIR/LABEL; NULL writes no files and computes metrics alone */
	gboolean wants_segments;
	gboolean wants_timeline;   /* and fairness over time */
	SimTime timeline_every_ns; /* 0 = a row an instant; windows of fairness are an hour then */
	gboolean wants_stream;     /* jobs.csv as jobs end, by (finish, trace order) */
	gint *is_cancelled;        /* atomic, set from another thread; or NULL */
} RunFolderSettings;

typedef struct RunFolder RunFolder;

/* Makes the folder under a temporary name; nothing of that name appears before the commit. */
RunFolder *run_folder_open(const Scenario *scenario, const RunFolderSettings *settings,
                           GError **error);

/* What the engine must call; valid until the folder is freed. */
const Recorder *run_folder_recorder(RunFolder *folder);

/* Writes jobs.csv, apps.csv, fairness.csv, placement.csv and the rest, and gives the folder its
 * name; an older folder of that name is replaced. */
gboolean run_folder_commit(RunFolder *folder, const RunRecord *record, GError **error);
void run_folder_free(RunFolder *folder);

/* One row of summary.csv: cells by column, and what the console table needs. */
typedef struct SummaryRow SummaryRow;

extern const char *const summary_columns[]; /* NULL-terminated, in file order */

SummaryRow *summary_row_new(const Scenario *scenario, const RunRecord *record, const char *label,
                            const char *policy_options);
void summary_row_free(SummaryRow *row);

/* The text of a column, as in the file; "" where undefined. */
const char *summary_row_get(const SummaryRow *row, const char *column);

/* Rejected or unfinished jobs. */
guint64 summary_row_n_rejected(const SummaryRow *row);
guint64 summary_row_n_unfinished(const SummaryRow *row);

gboolean summary_write(const char *path, const SummaryRow *const *rows, guint n_rows,
                       GError **error);

/* The aligned table that `run` prints: mean, median, p99 JCT; max and mean rho; max rho_contention;
 * Jain; utilisation; makespan; preemptions. Free with g_free(). */
char *summary_table(const SummaryRow *const *rows, guint n_rows);

typedef struct ManifestInput {
	const char *role; /* "trace", "cluster", "models", "run", "policy" */
	const char *path; /* as given */
	const char *sha256;
} ManifestInput;

typedef struct Manifest {
	const char *version, *commit;
	guint64 seed;
	gboolean is_interrupted;
	const ManifestInput *inputs;
	guint n_inputs;
	/* Effective options as (dotted key, YAML value) pairs in a fixed order; no output path. */
	const char *const *option_keys;
	const char *const *option_values;
	guint n_options;
	const Workload *workload; /* rows read, rejected, noticed by reason */
} Manifest;

/* run.json (A53): byte-stable. */
gboolean manifest_write(const char *path, const Manifest *manifest, GError **error);

typedef struct Performance {
	const char *label;
	double wall_s, cpu_s;
	guint64 events;
	PolicyCounter counters[MAX_POLICY_COUNTERS];
	guint n_counters;
} Performance;

/* perf.json: wall time, events per second, host: what is not the same twice. */
gboolean performance_write(const char *path, const Performance *runs, guint n_runs, double wall_s,
                           GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunFolder, run_folder_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SummaryRow, summary_row_free)
