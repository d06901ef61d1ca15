/* SPDX-License-Identifier: MIT */
#pragma once

/* What was built, as the Makefile said it. */

/* "0.1.0" */
const char *sim_version(void);

/* The commit's hash, with "-dirty" behind it if the tree had changes; "unknown" without a
 * repository. */
const char *sim_commit(void);
