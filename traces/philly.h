/* SPDX-License-Identifier: MIT */
#pragma once

/* The CSV that the artifact of Sia derived from the trace of Microsoft's Philly clusters. */

#include "traces/trace.h"

extern const TraceFormat philly_csv_format;
