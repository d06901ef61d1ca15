/* SPDX-License-Identifier: MIT */
#pragma once

/* The project's own trace format (DESIGN 6.1). */

#include "traces/trace.h"

extern const TraceFormat native_format;

/* The first column that a native trace needs and @names (NULL-terminated) lack, or NULL. */
const char *native_missing_column(const char *const *names);

/* Every column's name without a unit; NULL-terminated. */
const char *const *native_column_names(void);
