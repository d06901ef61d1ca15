/* SPDX-License-Identifier: MIT */
#pragma once

/* `themis-sim trace stats|validate|convert|generate`, and `trace --formats`: what can be done with
 * traces without a run. @argv begins with "trace"; the answer is the exit status. */
int command_trace(int argc, char **argv);
