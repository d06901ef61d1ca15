/* SPDX-License-Identifier: MIT */
#pragma once

/* `themis-sim policies`: what there is, one policy's page, or all pages as markdown. */
int command_policies(int argc, char **argv);
