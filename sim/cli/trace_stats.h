/* SPDX-License-Identifier: MIT */
#pragma once

/* What a trace holds, in figures. */

#include "sim/model/cluster.h"
#include "sim/model/workload.h"

/* An aligned table; with @cluster (or NULL), what the trace asks of it. Free with g_free(). */
char *trace_stats_table(const Workload *workload, const ClusterSpec *cluster);
