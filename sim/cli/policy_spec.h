/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A policy as a run names it: which one, with which options, under which label.
 *
 *   NAME[@LABEL][:key=value[,key=value...]]      on the command line (DESIGN 7, A36, A39)
 *   - {NAME: {key: value}, label: LABEL}         in a file
 *
 * NAME is one of the program's own policies, or the path of a shared object: it contains a slash
 * or ends in .so. Such a file is loaded only when it is named here, and stays loaded while the
 * PolicySpec lives.
 */

#include <gmodule.h>

#include "sim/base/yaml.h"
#include "sim/engine/policy_class.h"

typedef struct PolicySpec {
	const PolicyClass *policy;
	char *label;   /* names the folder and the row; the policy's name unless given */
	void *options; /* of the policy's own type */
	char *given;   /* path of the shared object as the user wrote it, or NULL */
	char *path;    /* of the shared object, as seen from the working directory, or NULL */
	GModule *module;
} PolicySpec;

/* From the command line. SIM_ERROR_USAGE; SIM_ERROR_INPUT for a shared object that cannot be used.
 */
PolicySpec *policy_spec_parse(const char *text, GError **error);

/* From one item of a list `policies`. Complains about @item and returns NULL if it is none. @file
 * is the file that paths are relative to; NULL = the working directory. */
PolicySpec *policy_spec_read(const YamlNode *item, const char *file);

void policy_spec_free(PolicySpec *spec);

/* The first of @specs (of PolicySpec) that has the label of @spec, or NULL. */
const PolicySpec *policy_spec_find_label(const GPtrArray *specs, const char *label);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(PolicySpec, policy_spec_free)
