/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A trace in memory: every job and app, checked, in order of submission. Built once, then only
 * read: the runs of several policies share it between threads.
 */

#include "sim/base/problems.h"
#include "sim/model/app.h"
#include "sim/model/speed.h"

/* A row whose num_gpus is to be workers x gpus_per_worker (A46); what job_draft_init() sets. */
#define NUM_GPUS_ABSENT G_MAXUINT32

/* One row as a reader of a trace hands it over; times on the trace's own clock. Texts are copied,
 * and NULL is "". JobDraft values that a row does not give keep those of job_draft_init(). That a
 * given gpu_share of exactly 1 has num_gpus 1 is for the reader to see: here it is no share. */
typedef struct JobDraft {
	const char *name, *app, *user, *tenant, *group, *model, *gpu_type, *state, *kind;
	const char *tuner; /* of its app, see tuner_parse() */
	LossCurve loss;    /* half_ns 0 = none */
	gint64 submit_ns;  /* on the trace's clock */
	SimWork duration_ns;
	SimTime iteration_ns;  /* 0 = not given */
	SimTime time_limit_ns; /* 0 = none */
	gint64 deadline_ns;    /* on the trace's clock; TIME_NEVER = none */
	gint64 priority;
	double weight;
	guint32 num_gpus;           /* or NUM_GPUS_ABSENT */
	guint32 min_gpus, max_gpus; /* 0 = not given */
	guint32 share_milli;        /* GPU_MILLI = whole GPUs */
	guint32 gpu_mem_mib, cpus_milli, workers, gpus_per_worker;
	guint64 mem_mib;
	gint64 slowdown_ppb[N_LEVELS]; /* of @model, by placement level; 0 = not given */
	guint64 line;                  /* of the file, where the row begins */
} JobDraft;

void job_draft_init(JobDraft *draft);

/* The cells of a row that the builder may complain of. */
typedef enum DraftField {
	DRAFT_NAME,
	DRAFT_APP,
	DRAFT_SUBMIT,
	DRAFT_DURATION,
	DRAFT_MIN_GPUS,
	DRAFT_MAX_GPUS,
	DRAFT_SHARE,
	DRAFT_WORKERS,
	DRAFT_GPUS_PER_WORKER,
	DRAFT_SLOWDOWN,
	DRAFT_TUNER,
	DRAFT_LOSS_CURVE,
} DraftField;

/* Where that cell of the row being added stands, counted from 1; FALSE if it has none. Asked when
 * there is something to say, so that places cost nothing in rows that are good. */
typedef gboolean (*DraftFinder)(const void *reader, DraftField field, guint64 *ret_line,
                                guint *ret_column);

typedef struct Workload {
	char *path; /* as given by the user */
	char *sha256;
	char *format;        /* name of the reader that took it */
	Problems *problems;  /* bad and noticed rows, by reason */
	guint64 n_rows_read; /* data rows of the file; rows added, unless the reader knows more */
	gint64 origin_ns;    /* first submit on the trace's clock; SimTime 0 */
	guint n_jobs;
	Job *jobs;            /* by JobId */
	SimWork *duration_ns; /* by JobId: the truth that only an ORACLE may see */
	JobId *by_row;        /* the trace's row order */
	guint n_apps;
	App *apps;                /* by AppId */
	AppId *apps_by_row;       /* by first appearance in the file */
	JobId *app_jobs;          /* backing of App.jobs */
	ModelTable *models;       /* those that the trace itself brings, by their slowdowns */
	GPtrArray *gpu_type_sets; /* of char *: what job.gpu_type_name holds, distinct */
	GPtrArray *tuners;        /* of Tuner: backing of App.tuner */
	GPtrArray *loss_curves;   /* of LossCurve: backing of Job.loss */
	gboolean has_tuners;      /* some app has one */
	GStringChunk *strings;
} Workload;

typedef struct WorkloadBuilder WorkloadBuilder;

/* Takes @problems (not owned until finished). */
WorkloadBuilder *workload_builder_new(const char *path, Problems *problems);
void workload_builder_free(WorkloadBuilder *builder);

/* Until it is set again, with NULL at the latest when @reader ends, complaints name the cell that
 * @find_cell knows; else the line of the draft alone. */
void workload_builder_set_finder(WorkloadBuilder *builder, DraftFinder find_cell,
                                 const void *reader);

/* Adds a row. Checks what concerns one row or its neighbours by id: duplicate ids (naming both
 * lines), an app named like an app-less job (A34), min <= num <= max (B09), shares (A45), workers
 * (A46), time overflow (A19), two tables of slowdowns for one model, tuners, of which an app has
 * one and which need loss curves. FALSE if the row was bad: it is in problems and not added. */
gboolean workload_builder_add(WorkloadBuilder *builder, const JobDraft *draft);

/* Sorts (with a notice if the file was not in order), numbers, groups into apps. Frees the
 * builder; the Workload owns @problems from then on. */
Workload *workload_builder_finish(WorkloadBuilder *builder);

void workload_free(Workload *workload);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Workload, workload_free)
