/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The corridor: the only loop and the only clock. An Engine is a value; two of them run on two
 * threads. What happens at one instant, and in which order, is DESIGN 3.
 */

#include <glib.h>

#include "sim/engine/policy_class.h"
#include "sim/engine/record.h"
#include "sim/model/scenario.h"

typedef struct Engine Engine;

typedef struct EngineSettings {
	gboolean is_strict;       /* a refused edit ends the run */
	gboolean is_paranoid;     /* every invariant is checked after every instant */
	const Recorder *recorder; /* or NULL */
	gint *is_cancelled;       /* set from elsewhere to stop the run; or NULL */
} EngineSettings;

/* Everything given must outlive the engine. SIM_ERROR_USAGE if the policy does not take its
 * options or its abi differs. */
Engine *engine_new(const Scenario *scenario, const PolicyClass *policy, const void *options,
                   const EngineSettings *settings, GError **error);
void engine_free(Engine *engine);

/* Runs to the end and hands the record over. SIM_ERROR_INTERNAL: a broken invariant, a refusal
 * under is_strict, a policy that makes no progress; SIM_ERROR_CANCELLED if cancelled. */
RunRecord *engine_run(Engine *engine, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Engine, engine_free)
