/* SPDX-License-Identifier: MIT */
#include "sim/cli/version.h"

/* The only file that is compiled anew when the commit changes. */

#ifndef SIM_VERSION
#define SIM_VERSION "unknown"
#endif
#ifndef SIM_COMMIT
#define SIM_COMMIT "unknown"
#endif

const char *
sim_version(void)
{
	return SIM_VERSION;
}

const char *
sim_commit(void)
{
	return SIM_COMMIT;
}
