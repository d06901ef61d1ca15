/* SPDX-License-Identifier: MIT */
#pragma once

/* apps.csv: every app of the trace, in the order of first appearance there (SEMANTICS A22, A30). */

#include "sim/engine/record.h"
#include "sim/model/scenario.h"

gboolean apps_csv_write(const char *path, const Scenario *scenario, const RunRecord *record,
                        GError **error);
