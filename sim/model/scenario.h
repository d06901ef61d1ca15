/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Everything that a run is a function of, but for the policy: shared and never written to, so
 * that policies can run on threads beside each other.
 */

#include "sim/model/cluster.h"
#include "sim/model/overhead.h"
#include "sim/model/speed.h"
#include "sim/model/workload.h"

typedef struct Scenario {
	const Workload *workload;
	const ClusterSpec *cluster;
	const ModelTable *models;
	Overheads overheads;
	guint64 seed;
	SimTime window_from_ns; /* jobs submitted in [from, to) are measured */
	SimTime window_to_ns;   /* TIME_NEVER = no bound */
	SimTime stop_ns;        /* TIME_NEVER = run to the end */
} Scenario;

/* Resolves what jobs say by name against this cluster and these models: Job.gpu_types, .model,
 * and gpu_mem_mib where only the model knows it. To be called once, before any run. */
void scenario_resolve(Workload *workload, const ClusterSpec *cluster, const ModelTable *models);
