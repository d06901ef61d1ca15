/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "sim/base/file.h"
#include "sim/report/json.h"
#include "sim/report/report.h"

static void
append_run(JsonWriter *json, const Performance *run)
{
	json_open(json, NULL, '{');
	json_text(json, "policy", run->label);
	json_number(json, "wall_s", run->wall_s);
	json_number(json, "cpu_s", run->cpu_s);
	json_count(json, "events", run->events);
	json_number(json, "events_per_s",
	            run->wall_s > 0 ? round((double)run->events / run->wall_s) : NAN);
	json_open(json, "counters", '{');
	for (guint i = 0; i < run->n_counters; i++)
		json_count(json, run->counters[i].name, run->counters[i].value);
	json_close(json, '}');
	json_close(json, '}');
}

gboolean
performance_write(const char *path, const Performance *runs, guint n_runs, double wall_s,
                  GError **error)
{
	OutputFile *file = output_file_open(path, error);
	JsonWriter json = { 0 };

	if (!file)
		return FALSE;
	json.out = output_file_text(file);
	json_open(&json, NULL, '{');
	json_text(&json, "host", g_get_host_name());
	json_count(&json, "cores", g_get_num_processors());
	json_number(&json, "total_wall_s", wall_s);
	json_open(&json, "policies", '[');
	for (guint i = 0; i < n_runs; i++)
		append_run(&json, &runs[i]);
	json_close(&json, ']');
	json_close(&json, '}');
	g_string_append_c(json.out, '\n');
	return output_file_commit(file, error);
}
