/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Errors that a user can cause. A bug is an assertion, never one of these.
 * The code is the exit status of the program (DESIGN 7), so that it is decided where the
 * cause is known.
 */

#include <glib.h>

#define SIM_ERROR sim_error_quark()

typedef enum SimErrorCode {
	SIM_ERROR_INTERNAL = 1,    /* a broken invariant, or output that cannot be written */
	SIM_ERROR_USAGE = 2,       /* the command line */
	SIM_ERROR_INPUT = 3,       /* a file's content, or a file that cannot be read */
	SIM_ERROR_CANCELLED = 130, /* by SIGINT */
} SimErrorCode;

GQuark sim_error_quark(void);

/* The exit status that @error stands for. */
int sim_error_exit_status(const GError *error);
