/* SPDX-License-Identifier: MIT */
#pragma once

/* The policies of this program: a list written by hand, in the order `themis-sim policies` prints.
 */

#include "sim/engine/policy_class.h"

/* NULL-terminated. */
extern const PolicyClass *const policy_classes[];

const PolicyClass *policy_find(const char *name);
