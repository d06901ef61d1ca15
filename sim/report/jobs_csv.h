/* SPDX-License-Identifier: MIT */
#pragma once

/* jobs.csv: every job of the trace, a row each (SEMANTICS A30, A32); see also job_stream.h. */

#include "sim/engine/record.h"
#include "sim/model/scenario.h"

void jobs_csv_append_header(GString *out);

/* The row of a job that is done; @run_end_ns is when the run ended, and matters to UNFINISHED jobs.
 */
void jobs_csv_append_row(GString *out, const Scenario *scenario, JobId id, const JobRecord *done,
                         SimTime run_end_ns);

/* The whole file, in the order of the trace's rows. */
gboolean jobs_csv_write(const char *path, const Scenario *scenario, const RunRecord *record,
                        GError **error);
