/* SPDX-License-Identifier: MIT */
#include "traces/write_native.h"

#include "sim/base/file.h"
#include "sim/base/text.h"
#include "traces/trace.h"

/* A column is written if some job uses it. */
typedef struct OutColumn {
	const char *name;
	gboolean (*is_used)(const Workload *workload, const Job *job);
	void (*append)(GString *out, const Workload *workload, const Job *job);
} OutColumn;

/* Texts */

#define TEXT_COLUMN(column, field)                                                          \
	static gboolean uses_##column(const Workload *workload, const Job *job)             \
	{                                                                                   \
		return job->field[0] != '\0';                                               \
	}                                                                                   \
	static void append_##column(GString *out, const Workload *workload, const Job *job) \
	{                                                                                   \
		csv_append(out, job->field);                                                \
	}

TEXT_COLUMN(user, user)
TEXT_COLUMN(tenant, tenant)
TEXT_COLUMN(group, group)
TEXT_COLUMN(model, model_name)
TEXT_COLUMN(gpu_type, gpu_type_name)
TEXT_COLUMN(state, trace_state)
TEXT_COLUMN(kind, kind)

/* Numbers that an empty cell stands for when they are 0 */

#define NUMBER_COLUMN(column, field, scale)                                                 \
	static gboolean uses_##column(const Workload *workload, const Job *job)             \
	{                                                                                   \
		return job->field > 0;                                                      \
	}                                                                                   \
	static void append_##column(GString *out, const Workload *workload, const Job *job) \
	{                                                                                   \
		if (job->field > 0)                                                         \
			decimal_append(out, job->field, scale);                             \
	}

NUMBER_COLUMN(gpu_mem_mib, gpu_mem_mib, 0)
NUMBER_COLUMN(cpus, cpus_milli, 3)
NUMBER_COLUMN(mem_mib, mem_mib, 0)
NUMBER_COLUMN(workers, workers, 0)
NUMBER_COLUMN(gpus_per_worker, gpus_per_worker, 0)
NUMBER_COLUMN(time_limit, time_limit_ns, 9)
NUMBER_COLUMN(iteration, iteration_ns, 9)

/* The others */

static gboolean
always(const Workload *workload, const Job *job)
{
	return TRUE;
}

static void
append_job_id(GString *out, const Workload *workload, const Job *job)
{
	csv_append(out, job->name);
}

static void
append_submit_time(GString *out, const Workload *workload, const Job *job)
{
	decimal_append(out, (__int128)workload->origin_ns + job->submit_ns, 9);
}

static void
append_num_gpus(GString *out, const Workload *workload, const Job *job)
{
	decimal_append(out, job->num_gpus, 0);
}

static void
append_duration(GString *out, const Workload *workload, const Job *job)
{
	seconds_append(out, workload->duration_ns[job->id]);
}

/* A job that bears its app's name is the only one of it, and needs no app_id to be that. */
static gboolean
uses_app_id(const Workload *workload, const Job *job)
{
	const App *app = &workload->apps[job->app];

	return app->n_jobs > 1 || !g_str_equal(app->name, job->name);
}

static void
append_app_id(GString *out, const Workload *workload, const Job *job)
{
	if (uses_app_id(workload, job))
		csv_append(out, workload->apps[job->app].name);
}

static gboolean
uses_slowdown(const Workload *workload, const Job *job)
{
	return model_table_find(workload->models, job->model_name) != MODEL_NONE;
}

static void
append_slowdown(GString *out, const Workload *workload, const Job *job)
{
	guint32 model = model_table_find(workload->models, job->model_name);

	for (guint i = 0; model != MODEL_NONE && i < N_LEVELS; i++) {
		if (i > 0)
			g_string_append_c(out, '/');
		decimal_append(out, workload->models->models[model].slowdown_ppb[i], 9);
	}
}

static gboolean
uses_gpu_share(const Workload *workload, const Job *job)
{
	return job->share_milli != GPU_MILLI;
}

static void
append_gpu_share(GString *out, const Workload *workload, const Job *job)
{
	if (uses_gpu_share(workload, job))
		decimal_append(out, job->share_milli, 3);
}

static gboolean
uses_priority(const Workload *workload, const Job *job)
{
	return job->priority != 0;
}

static void
append_priority(GString *out, const Workload *workload, const Job *job)
{
	g_string_append_printf(out, "%" G_GINT64_FORMAT, job->priority);
}

static gboolean
uses_weight(const Workload *workload, const Job *job)
{
	return job->weight != 1;
}

static void
append_weight(GString *out, const Workload *workload, const Job *job)
{
	decimal_append_double(out, job->weight);
}

static gboolean
uses_deadline(const Workload *workload, const Job *job)
{
	return job->deadline_ns != TIME_NEVER;
}

static void
append_deadline(GString *out, const Workload *workload, const Job *job)
{
	if (uses_deadline(workload, job))
		decimal_append(out, (__int128)workload->origin_ns + job->deadline_ns, 9);
}

/* Either of min_gpus and max_gpus has a default that depends on the other (B09), so both are
 * written or none. */
static gboolean
uses_widths(const Workload *workload, const Job *job)
{
	return !job_is_rigid(job);
}

static void
append_min_gpus(GString *out, const Workload *workload, const Job *job)
{
	if (uses_widths(workload, job))
		decimal_append(out, job->min_gpus, 0);
}

static void
append_max_gpus(GString *out, const Workload *workload, const Job *job)
{
	if (uses_widths(workload, job))
		decimal_append(out, job->max_gpus, 0);
}

static gboolean
uses_tuner(const Workload *workload, const Job *job)
{
	return workload->apps[job->app].tuner != NULL;
}

static void
append_tuner(GString *out, const Workload *workload, const Job *job)
{
	if (uses_tuner(workload, job))
		csv_append(out, workload->apps[job->app].tuner->text);
}

static gboolean
uses_loss_curve(const Workload *workload, const Job *job)
{
	return job->loss != NULL;
}

static void
append_loss_curve(GString *out, const Workload *workload, const Job *job)
{
	if (uses_loss_curve(workload, job))
		loss_curve_append(out, job->loss);
}

static const OutColumn out_columns[] = {
	{ "job_id", always, append_job_id },
	{ "submit_time", always, append_submit_time },
	{ "num_gpus", always, append_num_gpus },
	{ "duration", always, append_duration },
	{ "app_id", uses_app_id, append_app_id },
	{ "user", uses_user, append_user },
	{ "tenant", uses_tenant, append_tenant },
	{ "group", uses_group, append_group },
	{ "model", uses_model, append_model },
	{ "slowdown", uses_slowdown, append_slowdown },
	{ "gpu_type", uses_gpu_type, append_gpu_type },
	{ "gpu_share", uses_gpu_share, append_gpu_share },
	{ "gpu_mem_mib", uses_gpu_mem_mib, append_gpu_mem_mib },
	{ "cpus", uses_cpus, append_cpus },
	{ "mem_mib", uses_mem_mib, append_mem_mib },
	{ "priority", uses_priority, append_priority },
	{ "weight", uses_weight, append_weight },
	{ "deadline", uses_deadline, append_deadline },
	{ "time_limit", uses_time_limit, append_time_limit },
	{ "iteration", uses_iteration, append_iteration },
	{ "min_gpus", uses_widths, append_min_gpus },
	{ "max_gpus", uses_widths, append_max_gpus },
	{ "workers", uses_workers, append_workers },
	{ "gpus_per_worker", uses_gpus_per_worker, append_gpus_per_worker },
	{ "state", uses_state, append_state },
	{ "kind", uses_kind, append_kind },
	{ "tuner", uses_tuner, append_tuner },
	{ "loss_curve", uses_loss_curve, append_loss_curve },
};

typedef struct ColumnChoice {
	guint n;
	const OutColumn *columns[G_N_ELEMENTS(out_columns)];
} ColumnChoice;

static gboolean
is_column_used(const OutColumn *column, const Workload *workload)
{
	if (column->is_used == always)
		return TRUE;
	for (guint i = 0; i < workload->n_jobs; i++)
		if (column->is_used(workload, &workload->jobs[i]))
			return TRUE;
	return FALSE;
}

static ColumnChoice
choose_columns(const Workload *workload)
{
	ColumnChoice choice = { 0 };

	for (guint i = 0; i < G_N_ELEMENTS(out_columns); i++)
		if (is_column_used(&out_columns[i], workload))
			choice.columns[choice.n++] = &out_columns[i];
	return choice;
}

static void
append_header(GString *out, const ColumnChoice *choice)
{
	for (guint i = 0; i < choice->n; i++)
		g_string_append_printf(out, "%s%s", i > 0 ? "," : "", choice->columns[i]->name);
	g_string_append_c(out, '\n');
}

static void
append_row(GString *out, const ColumnChoice *choice, const Workload *workload, const Job *job)
{
	for (guint i = 0; i < choice->n; i++) {
		if (i > 0)
			g_string_append_c(out, ',');
		choice->columns[i]->append(out, workload, job);
	}
	g_string_append_c(out, '\n');
}

void
trace_append_native(GString *out, const Workload *workload)
{
	ColumnChoice choice = choose_columns(workload);

	append_header(out, &choice);
	for (guint row = 0; row < workload->n_jobs; row++)
		append_row(out, &choice, workload, &workload->jobs[workload->by_row[row]]);
}

gboolean
trace_write_native(const Workload *workload, const char *path, GError **error)
{
	g_autoptr(OutputFile) file = output_file_open(path, error);
	ColumnChoice choice = choose_columns(workload);

	if (!file)
		return FALSE;
	append_header(output_file_text(file), &choice);
	for (guint row = 0; row < workload->n_jobs; row++) {
		append_row(output_file_text(file), &choice, workload,
		           &workload->jobs[workload->by_row[row]]);
		if (!output_file_flush(file, error))
			return FALSE;
	}
	return output_file_commit(g_steal_pointer(&file), error);
}
