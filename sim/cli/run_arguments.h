/* SPDX-License-Identifier: MIT */
#pragma once

/* The command line of `themis-sim run`, as a RunConfig: the file, --set and the options together.
 */

#include "sim/cli/command.h"
#include "sim/cli/config.h"

CommandVerdict run_arguments_read(char **argv, RunConfig **ret_config, GError **error);
