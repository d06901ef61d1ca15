/* SPDX-License-Identifier: MIT */
#pragma once

/* The native CSV of a workload as text; trace_write_native() in traces/trace.h makes it a file. */

#include "sim/model/workload.h"

/* A header and a row a job, in the order of the trace. Times are in seconds on the trace's own
 * clock; columns that no job uses are left out. */
void trace_append_native(GString *out, const Workload *workload);
