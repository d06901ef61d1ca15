/* SPDX-License-Identifier: MIT */
#pragma once

/* jobs.csv: every job of the trace, a row each (SEMANTICS A30, A32). */

#include "sim/engine/record.h"
#include "sim/model/scenario.h"

typedef enum JobOrder {
	JOB_ORDER_TRACE,  /* rows of the trace file */
	JOB_ORDER_FINISH, /* (finish, trace order): as jobs end (A30, B16) */
} JobOrder;

/* All ids in the order of the file's rows; the caller frees it. */
JobId *job_order_new(const Scenario *scenario, const RunRecord *record, JobOrder order);

gboolean jobs_csv_write(const char *path, const Scenario *scenario, const RunRecord *record,
                        const JobId *order, GError **error);
