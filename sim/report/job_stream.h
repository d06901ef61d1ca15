/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * jobs.csv written while the engine runs, in the order (finish, trace order) (SEMANTICS A30, B16).
 * A row waits for the end of its instant alone, so that the rows of an instant can be sorted: the
 * memory is that of the jobs that end at once.
 */

#include "sim/engine/record.h"
#include "sim/model/scenario.h"

typedef struct JobStream JobStream;

/* With @keeps_order the order of the rows is remembered for job_stream_order(). */
JobStream *job_stream_open(const char *path, const Scenario *scenario, gboolean keeps_order,
                           GError **error);

/* The job is done; @record is copied. A failed write is reported by job_stream_commit(). */
void job_stream_add(JobStream *stream, JobId job, const JobRecord *record);
void job_stream_end_instant(JobStream *stream);

/* Writes the rows of the end of the run as well. */
gboolean job_stream_commit(JobStream *stream, SimTime end_ns, GError **error);

/* All jobs as their rows stand in the file; once it is committed. */
const JobId *job_stream_order(const JobStream *stream);

void job_stream_free(JobStream *stream);
