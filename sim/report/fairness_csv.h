/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * fairness.csv: what every value of fairness.h comes to, over all measured apps and over those of
 * each tenant, user, group, size, duration, model and sensitivity to placement (policies.md 6.3).
 */

#include "sim/engine/record.h"
#include "sim/model/scenario.h"

gboolean fairness_csv_write(const char *path, const Scenario *scenario, const RunRecord *record,
                            GError **error);
