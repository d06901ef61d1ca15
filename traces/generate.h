/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Synthetic traces. Every quantity is drawn from a stream of its own, keyed by job or app, so
 * that a change of one part of a spec moves the numbers of no other.
 */

#include "sim/model/workload.h"

/* The trace that the file @spec_path asks for; with @seed instead of the file's, unless NULL, and
 * the values @sets instead of its own, see generate_spec_read(). SIM_ERROR_INPUT. */
Workload *trace_generate(const char *spec_path, const guint64 *seed, const char *const *sets,
                         GError **error);
