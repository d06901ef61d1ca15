/* SPDX-License-Identifier: MIT */
#pragma once

/* `themis-sim run`: replays a trace under some policies. Returns the exit status (DESIGN 7). */
int command_run(int argc, char **argv);
