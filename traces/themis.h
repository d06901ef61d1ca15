/* SPDX-License-Identifier: MIT */
#pragma once

/* The JSON workloads of the simulator that the authors of Themis wrote (kshiteejm/mltiply). */

#include "traces/trace.h"

extern const TraceFormat themis_format;
