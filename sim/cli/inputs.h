/* SPDX-License-Identifier: MIT */
#pragma once

/* Everything that a run reads, loaded and matched to each other. */

#include "sim/cli/config.h"
#include "sim/model/scenario.h"
#include "sim/report/report.h"

typedef struct RunInputs {
	ClusterSpec *cluster;
	ModelTable *models;
	Workload *workload;
	GArray *files;         /* of ManifestInput: every file read, with its sum */
	GStringChunk *strings; /* of the files */
} RunInputs;

/* SIM_ERROR_INPUT, or SIM_ERROR_USAGE where the command line is to blame (B10). */
RunInputs *run_inputs_load(const RunConfig *config, GError **error);
void run_inputs_free(RunInputs *inputs);

/* The run under @spec: these inputs, and the overheads that hold under that policy. */
Scenario run_inputs_scenario(const RunInputs *inputs, const RunConfig *config,
                             const PolicySpec *spec);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(RunInputs, run_inputs_free)
