/* SPDX-License-Identifier: MIT */
#include "sim/cli/inputs.h"

#include "sim/base/error.h"
#include "sim/base/file.h"
#include "traces/trace.h"

/* A mistake in what @setting names is the file's where it stood in one (B10). */
static void
blame(const RunConfig *config, const Setting *setting, GError **error)
{
	if (!g_error_matches(*error, SIM_ERROR, SIM_ERROR_USAGE) ||
	    setting->code != SIM_ERROR_INPUT)
		return;
	(*error)->code = SIM_ERROR_INPUT;
	g_prefix_error(error, "%s: ", config->run_file.given);
}

/* Tables show names as they were given, wherever the files were found (B17). */
static void
rename_as_given(char **name, const Setting *setting)
{
	g_free(*name);
	*name = g_strdup(setting->given);
}

static gboolean
load_cluster(RunInputs *inputs, const RunConfig *config, GError **error)
{
	g_autoptr(GError) problem = NULL;

	inputs->cluster = cluster_spec_load(config->cluster.path, &problem);
	if (!inputs->cluster) {
		blame(config, &config->cluster, &problem);
		g_propagate_error(error, g_steal_pointer(&problem));
		return FALSE;
	}
	rename_as_given(&inputs->cluster->given, &config->cluster);
	return TRUE;
}

static gboolean
load_models(RunInputs *inputs, const RunConfig *config, GError **error)
{
	if (!config->models.given) {
		inputs->models = model_table_new_empty();
		return TRUE;
	}
	inputs->models = model_table_load(config->models.path, error);
	if (!inputs->models)
		return FALSE;
	rename_as_given(&inputs->models->path, &config->models);
	return TRUE;
}

/* A wrong format or zone can be a usage error; whose it is depends on where the two stood. */
static void
blame_trace(const RunConfig *config, GError **error)
{
	if (config->format.code != SIM_ERROR_USAGE && config->time_zone.code != SIM_ERROR_USAGE)
		blame(config, config->format.given ? &config->format : &config->time_zone, error);
}

static gboolean
load_trace(RunInputs *inputs, const RunConfig *config, GError **error)
{
	const TraceOptions options = {
		.format = config->format.given ? config->format.given : "auto",
		.time_zone = config->time_zone.given,
		.skip_bad_rows = config->skips_bad_rows,
	};
	g_autoptr(GError) problem = NULL;

	inputs->workload = trace_read(config->trace.path, &options, &problem);
	if (!inputs->workload) {
		blame_trace(config, &problem);
		g_propagate_error(error, g_steal_pointer(&problem));
		return FALSE;
	}
	rename_as_given(&inputs->workload->path, &config->trace);
	return TRUE;
}

/* What run.json says was read */

static void
add_file(RunInputs *inputs, const char *role, const char *path, const char *sha256)
{
	const ManifestInput file = {
		.role = role,
		.path = g_string_chunk_insert(inputs->strings, path),
		.sha256 = g_string_chunk_insert(inputs->strings, sha256),
	};

	g_array_append_val(inputs->files, file);
}

static gboolean
add_setting(RunInputs *inputs, const char *role, const char *given, const char *path,
            GError **error)
{
	g_autofree char *sha256 = NULL;

	if (!given)
		return TRUE;
	sha256 = file_sha256(path, error);
	if (sha256)
		add_file(inputs, role, given, sha256);
	return sha256 != NULL;
}

/* A policy's own files: its shared object, and what its options point at. */
static gboolean
add_policy(RunInputs *inputs, const PolicySpec *spec, GError **error)
{
	const Option *table = spec->policy->options;

	if (!add_setting(inputs, "policy", spec->given, spec->path, error))
		return FALSE;
	for (const Option *option = table; option && option->name; option++) {
		g_autofree char *value = options_get(option, spec->options);

		if (option->is_path && g_strcmp0(value, option->standard) != 0 &&
		    !add_setting(inputs, "policy", value, value, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean
add_files(RunInputs *inputs, const RunConfig *config, GError **error)
{
	const Setting *run_file = &config->run_file;

	if (!add_setting(inputs, "run", run_file->given, run_file->path, error))
		return FALSE;
	add_file(inputs, "trace", config->trace.given, inputs->workload->sha256);
	if (inputs->cluster->sha256)
		add_file(inputs, "cluster", config->cluster.given, inputs->cluster->sha256);
	if (inputs->models->sha256)
		add_file(inputs, "models", config->models.given, inputs->models->sha256);
	for (guint i = 0; i < config->policies->len; i++)
		if (!add_policy(inputs, g_ptr_array_index(config->policies, i), error))
			return FALSE;
	return TRUE;
}

RunInputs *
run_inputs_load(const RunConfig *config, GError **error)
{
	g_autoptr(RunInputs) inputs = g_new0(RunInputs, 1);

	inputs->files = g_array_new(FALSE, FALSE, sizeof(ManifestInput));
	inputs->strings = g_string_chunk_new(256);
	if (!load_cluster(inputs, config, error) || !load_models(inputs, config, error) ||
	    !load_trace(inputs, config, error) || !add_files(inputs, config, error))
		return NULL;
	model_table_add_missing(inputs->models, inputs->workload->models);
	scenario_resolve(inputs->workload, inputs->cluster, inputs->models);
	return g_steal_pointer(&inputs);
}

void
run_inputs_free(RunInputs *inputs)
{
	if (!inputs)
		return;
	cluster_spec_free(inputs->cluster);
	model_table_free(inputs->models);
	workload_free(inputs->workload);
	g_array_unref(inputs->files);
	g_string_chunk_free(inputs->strings);
	g_free(inputs);
}

Scenario
run_inputs_scenario(const RunInputs *inputs, const RunConfig *config, const PolicySpec *spec)
{
	return (Scenario){
		.workload = inputs->workload,
		.cluster = inputs->cluster,
		.models = inputs->models,
		.overheads = run_config_overheads(config, spec),
		.seed = config->seed,
		.window_from_ns = config->window_from_ns,
		.window_to_ns = config->window_to_ns,
		.stop_ns = config->stop_ns,
	};
}
