/* SPDX-License-Identifier: MIT */
#include "sim/base/file.h"
#include "sim/report/json.h"
#include "sim/report/report.h"

#define SCHEMA_VERSION 1 /* of all files of a run */

static void
append_options(JsonWriter *json, const Manifest *manifest)
{
	json_open(json, "options", '{');
	for (guint i = 0; i < manifest->n_options; i++)
		json_text(json, manifest->option_keys[i], manifest->option_values[i]);
	json_close(json, '}');
}

static void
append_inputs(JsonWriter *json, const Manifest *manifest)
{
	json_open(json, "inputs", '[');
	for (guint i = 0; i < manifest->n_inputs; i++) {
		const ManifestInput *input = &manifest->inputs[i];

		json_open(json, NULL, '{');
		json_text(json, "role", input->role);
		json_text(json, "path", input->path);
		json_text(json, "sha256", input->sha256);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void
append_reasons(JsonWriter *json, const char *key, const GArray *reasons)
{
	json_open(json, key, '{');
	for (guint i = 0; i < reasons->len; i++) {
		const ReasonCount *reason = &g_array_index(reasons, ReasonCount, i);

		json_count(json, reason->reason, reason->n);
	}
	json_close(json, '}');
}

/* A row may have several bad places, and a format may make one job of several rows; neither makes
 * more rows bad than there are. */
static guint64
n_rejected_rows(const Workload *workload)
{
	guint64 n_read = workload->n_rows_read;
	guint64 n_not_jobs = n_read > workload->n_jobs ? n_read - workload->n_jobs : 0;

	return MIN(workload->problems->n_bad, n_not_jobs);
}

static void
append_rows(JsonWriter *json, const Workload *workload)
{
	json_open(json, "rows", '{');
	json_count(json, "read", workload->n_rows_read);
	json_count(json, "accepted", workload->n_jobs);
	json_count(json, "rejected", n_rejected_rows(workload));
	append_reasons(json, "rejected_by_reason", workload->problems->bad);
	json_count(json, "noticed", workload->problems->n_noticed);
	append_reasons(json, "noticed_by_reason", workload->problems->noticed);
	json_close(json, '}');
}

gboolean
manifest_write(const char *path, const Manifest *manifest, GError **error)
{
	OutputFile *file = output_file_open(path, error);
	JsonWriter json = { 0 };

	if (!file)
		return FALSE;
	json.out = output_file_text(file);
	json_open(&json, NULL, '{');
	json_count(&json, "schema_version", SCHEMA_VERSION);
	json_text(&json, "version", manifest->version);
	json_text(&json, "commit", manifest->commit);
	json_count(&json, "seed", manifest->seed);
	append_options(&json, manifest);
	append_inputs(&json, manifest);
	append_rows(&json, manifest->workload);
	if (manifest->is_interrupted)
		json_bool(&json, "interrupted", TRUE);
	json_close(&json, '}');
	g_string_append_c(json.out, '\n');
	return output_file_commit(file, error);
}
