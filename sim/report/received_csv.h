/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fairness_over_time.csv: in each window of time, what part of the GPU time that it was entitled
 * to each app, and each user, received (policies.md 6.3). Entitled is an equal part of the
 * cluster, GPUs / n(t), or demand(t) where that is less; received is what its jobs held.
 */

#include "sim/engine/record.h"
#include "sim/model/scenario.h"

typedef struct ReceivedLog ReceivedLog;

/* Windows of @window_ns > 0, the first from the first submit on. @is_cancelled as in report.h. */
ReceivedLog *received_log_open(const char *path, const Scenario *scenario, SimTime window_ns,
                               gint *is_cancelled, GError **error);

/* What the job can use changes at @at_ns. */
void received_log_demand(ReceivedLog *log, JobId job, SimTime at_ns, guint64 from_milli,
                         guint64 to_milli);

/* The job holds so many thousandths of GPUs from @at_ns on; until the end of the segment. */
void received_log_begin(ReceivedLog *log, JobId job, SimTime at_ns, guint64 held_milli);
void received_log_end(ReceivedLog *log, const Segment *segment);

/* The job is done, at the instant that comes next. */
void received_log_done(ReceivedLog *log, JobId job);
void received_log_instant(ReceivedLog *log, SimTime at_ns);

/* Closes the last window at the end of the run. A failed write of any row is reported here. */
gboolean received_log_commit(ReceivedLog *log, SimTime end_ns, GError **error);
void received_log_free(ReceivedLog *log);
