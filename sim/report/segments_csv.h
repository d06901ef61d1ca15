/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * segments.csv: every stretch of a job on one allocation at one speed. The engine reports them as
 * they end; the file has them by job, so that they are kept until the run is over.
 */

#include "sim/engine/record.h"
#include "sim/model/scenario.h"

typedef struct SegmentLog SegmentLog;

SegmentLog *segment_log_new(void);
void segment_log_free(SegmentLog *log);

/* A job's segments come in their order. */
void segment_log_add(SegmentLog *log, const Segment *segment);

/* In the @order of jobs.csv, then by segment (SEMANTICS A30). */
gboolean segments_csv_write(const char *path, const SegmentLog *log, const Scenario *scenario,
                            const JobId *order, GError **error);
