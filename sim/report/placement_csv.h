/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * placement.csv: how well allocations were placed, as a distribution over GPU time: Themis's
 * placement score, 1 / the model's slowdown at the level that holds all GPUs (policies.md 6.4).
 */

#include "sim/engine/record.h"
#include "sim/model/scenario.h"

typedef struct PlacementLog PlacementLog;

PlacementLog *placement_log_new(const Scenario *scenario);
void placement_log_free(PlacementLog *log);

void placement_log_add(PlacementLog *log, const Segment *segment);

gboolean placement_csv_write(const char *path, const PlacementLog *log, GError **error);
