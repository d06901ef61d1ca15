/* SPDX-License-Identifier: MIT */
#include "sim/base/error.h"

/* G_DEFINE_QUARK would keep the number in a static variable, which nothing here has; errors are
 * rare enough to look it up. */
GQuark
sim_error_quark(void)
{
	return g_quark_from_static_string("sim-error");
}

int
sim_error_exit_status(const GError *error)
{
	if (error->domain == SIM_ERROR)
		return error->code;
	if (error->domain == G_OPTION_ERROR)
		return SIM_ERROR_USAGE;
	return SIM_ERROR_INTERNAL;
}
