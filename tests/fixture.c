/* SPDX-License-Identifier: MIT */
#include "tests/fixture.h"

#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "policies/registry.h"
#include "sim/base/error.h"
#include "sim/base/text.h"

/* numbers */

static gint64
parse_scaled(const char *text, guint scale)
{
	gint64 value = 0;
	g_autofree char *bare = g_strstrip(g_strdup(text));
	gboolean is_negative = bare[0] == '-';
	DecimalVerdict verdict =
	    decimal_parse(bare + is_negative, strlen(bare + is_negative), scale, &value);

	ck_assert_msg(verdict == DECIMAL_OK, "not a number: %s", text);
	return is_negative ? -value : value;
}

static double
to_seconds(SimTime ns)
{
	return (double)ns / NS_PER_S;
}

/* jobs */

typedef enum DraftKey {
	KEY_APP,
	KEY_USER,
	KEY_TENANT,
	KEY_MODEL,
	KEY_TYPE,
	KEY_SHARE,
	KEY_GPU_MEM,
	KEY_MEM,
	KEY_CPUS,
	KEY_WORKERS,
	KEY_PER_WORKER,
	KEY_MIN,
	KEY_MAX,
	KEY_PRIORITY,
	KEY_LIMIT,
	KEY_WEIGHT,
	KEY_ITERATION,
	KEY_TUNER,
	KEY_LOSS,
} DraftKey;

static const char *const draft_keys[] = { "app",       "user",     "tenant",     "model",
	                                  "type",      "share",    "gpu_mem",    "mem",
	                                  "cpus",      "workers",  "per_worker", "min",
	                                  "max",       "priority", "limit",      "weight",
	                                  "iteration", "tuner",    "loss",       NULL };

static DraftKey
find_key(const char *name)
{
	guint i = 0;

	while (draft_keys[i] != NULL && !g_str_equal(draft_keys[i], name))
		i++;
	ck_assert_msg(draft_keys[i] != NULL, "no such key of a job: %s", name);
	return (DraftKey)i;
}

static void
draft_set(JobDraft *draft, DraftKey key, char *value)
{
	switch (key) {
	case KEY_APP:
		draft->app = value;
		break;
	case KEY_USER:
		draft->user = value;
		break;
	case KEY_TENANT:
		draft->tenant = value;
		break;
	case KEY_MODEL:
		draft->model = value;
		break;
	case KEY_TYPE:
		draft->gpu_type = value;
		break;
	case KEY_SHARE:
		draft->share_milli = (guint32)parse_scaled(value, 3);
		break;
	case KEY_GPU_MEM:
		draft->gpu_mem_mib = (guint32)parse_scaled(value, 0);
		break;
	case KEY_MEM:
		draft->mem_mib = (guint64)parse_scaled(value, 0);
		break;
	case KEY_CPUS:
		draft->cpus_milli = (guint32)parse_scaled(value, 3);
		break;
	case KEY_WORKERS:
		draft->workers = (guint32)parse_scaled(value, 0);
		break;
	case KEY_PER_WORKER:
		draft->gpus_per_worker = (guint32)parse_scaled(value, 0);
		break;
	case KEY_MIN:
		draft->min_gpus = (guint32)parse_scaled(value, 0);
		break;
	case KEY_MAX:
		draft->max_gpus = (guint32)parse_scaled(value, 0);
		break;
	case KEY_PRIORITY:
		draft->priority = parse_scaled(value, 0);
		break;
	case KEY_ITERATION:
		draft->iteration_ns = parse_scaled(value, 9);
		break;
	case KEY_LIMIT:
		draft->time_limit_ns = parse_scaled(value, 9);
		break;
	case KEY_WEIGHT:
		draft->weight = (double)parse_scaled(value, 3) / 1000;
		break;
	case KEY_TUNER:
		draft->tuner = g_strdelimit(value, "+", ',');
		break;
	case KEY_LOSS:
		ck_assert_msg(loss_curve_parse(value, &draft->loss), "not a loss: %s", value);
		break;
	}
}

static void
add_job(WorkloadBuilder *builder, char *text, guint64 line)
{
	g_auto(GStrv) cells = g_strsplit(g_strstrip(text), ",", -1);
	JobDraft draft;

	ck_assert_msg(g_strv_length(cells) >= 4, "not id,submit,gpus,duration: %s", text);
	job_draft_init(&draft);
	draft.line = line;
	draft.name = g_strstrip(cells[0]);
	draft.submit_ns = parse_scaled(cells[1], 9);
	draft.num_gpus = (guint32)parse_scaled(cells[2], 0);
	draft.duration_ns = parse_scaled(cells[3], 9);
	for (guint i = 4; cells[i] != NULL; i++) {
		char *value = strchr(g_strstrip(cells[i]), '=');

		ck_assert_msg(value != NULL, "not key=value: %s", cells[i]);
		*value++ = '\0';
		draft_set(&draft, find_key(cells[i]), value);
	}
	ck_assert_msg(workload_builder_add(builder, &draft), "a bad job: %s", cells[0]);
}

static Workload *
parse_jobs(const char *text)
{
	g_auto(GStrv) rows = g_strsplit(text, ";", -1);
	WorkloadBuilder *builder = workload_builder_new("fixture", problems_new("fixture"));

	for (guint i = 0; rows[i] != NULL; i++)
		if (g_strstrip(rows[i])[0] != '\0')
			add_job(builder, rows[i], i + 1);
	return workload_builder_finish(builder);
}

/* files */

/* A file that holds @text; the caller removes and frees its name. */
static char *
write_text(const char *text)
{
	g_autoptr(GError) error = NULL;
	char *path = NULL;
	int file = g_file_open_tmp("themis-XXXXXX.yaml", &path, &error);

	ck_assert_msg(file >= 0, "%s", error != NULL ? error->message : "");
	close(file);
	ck_assert(g_file_set_contents(path, text, -1, NULL));
	return path;
}

static ClusterSpec *
parse_cluster(const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;
	ClusterSpec *cluster;

	if (strchr(text, '\n') == NULL) {
		cluster = cluster_spec_parse_shorthand(text, &error);
	} else {
		path = write_text(text);
		cluster = cluster_spec_load(path, &error);
		g_unlink(path);
	}
	ck_assert_msg(cluster != NULL, "%s", error != NULL ? error->message : "");
	return cluster;
}

/* life */

Fixture *
fixture_new(const char *jobs, const char *cluster)
{
	Fixture *fixture = g_new0(Fixture, 1);

	fixture->workload = parse_jobs(jobs);
	fixture->cluster = parse_cluster(cluster);
	fixture->models = model_table_new_empty();
	fixture->scenario = (Scenario){
		.workload = fixture->workload,
		.cluster = fixture->cluster,
		.models = fixture->models,
		.seed = 1,
		.window_to_ns = TIME_NEVER,
		.stop_ns = TIME_NEVER,
	};
	return fixture;
}

void
fixture_free(Fixture *fixture)
{
	if (fixture == NULL)
		return;
	run_record_free(fixture->record);
	workload_free(fixture->workload);
	cluster_spec_free(fixture->cluster);
	model_table_free(fixture->models);
	g_free(fixture);
}

void
fixture_set_models(Fixture *fixture, const char *yaml)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = write_text(yaml);

	ck_assert(!fixture->is_resolved);
	model_table_free(fixture->models);
	fixture->models = model_table_load(path, &error);
	fixture->scenario.models = fixture->models;
	g_unlink(path);
	ck_assert_msg(fixture->models != NULL, "%s", error != NULL ? error->message : "");
}

/* runs */

static gboolean
set_option(const PolicyClass *policy, void *options, const char *text, GError **error)
{
	g_auto(GStrv) sides = g_strsplit(text, "=", 2);

	ck_assert_msg(g_strv_length(sides) == 2, "not key=value: %s", text);
	return options_set(policy->options, options, sides[0], sides[1], SIM_ERROR_USAGE, error);
}

/* key=value,...; commas inside brackets do not separate (A39). */
static gboolean
set_options(const PolicyClass *policy, void *options, const char *text, GError **error)
{
	g_autofree char *rest = g_strdup(text != NULL ? text : "");
	guint depth = 0;
	char *from = rest;

	for (char *at = rest; from[0] != '\0'; at++) {
		gboolean is_end = *at == '\0';

		depth += *at == '[';
		depth -= *at == ']';
		if (!is_end && (*at != ',' || depth > 0))
			continue;
		*at = '\0';
		if (!set_option(policy, options, from, error))
			return FALSE;
		from = is_end ? at : at + 1;
	}
	return TRUE;
}

/* The run's overheads, or what the policy's preset asks for where it gives none. */
static Overheads
effective_overheads(const Fixture *fixture, const PolicyClass *policy, const void *options)
{
	Overheads overheads = fixture->scenario.overheads;
	gboolean is_given = overheads.start_ns > 0 || overheads.suspend_ns > 0 ||
	                    overheads.resume_ns > 0 || overheads.migrate_ns > 0;

	if (policy->preset != NULL && !is_given)
		policy->preset(options, &overheads);
	return overheads;
}

static RunRecord *
run_engine(Fixture *fixture, const PolicyClass *policy, const void *options, GError **error)
{
	EngineSettings settings = { TRUE, TRUE, fixture->recorder, NULL };
	Scenario scenario = fixture->scenario;
	g_autoptr(Engine) engine = NULL;

	scenario.overheads = effective_overheads(fixture, policy, options);
	engine = engine_new(&scenario, policy, options, &settings, error);
	return engine != NULL ? engine_run(engine, error) : NULL;
}

gboolean
fixture_try_class(Fixture *fixture, const PolicyClass *policy, const char *options, GError **error)
{
	void *values = options_new(policy->options, policy->options_size);

	if (!fixture->is_resolved)
		scenario_resolve(fixture->workload, fixture->cluster, fixture->models);
	fixture->is_resolved = TRUE;
	g_clear_pointer(&fixture->record, run_record_free);
	if (set_options(policy, values, options, error))
		fixture->record = run_engine(fixture, policy, values, error);
	options_free(policy->options, values);
	return fixture->record != NULL;
}

gboolean
fixture_try(Fixture *fixture, const char *policy, GError **error)
{
	g_auto(GStrv) sides = g_strsplit(policy, ":", 2);
	const PolicyClass *class = policy_find(sides[0]);

	ck_assert_msg(class != NULL, "no such policy: %s", sides[0]);
	return fixture_try_class(fixture, class, sides[1], error);
}

void
fixture_run(Fixture *fixture, const char *policy)
{
	g_autoptr(GError) error = NULL;

	ck_assert_msg(fixture_try(fixture, policy, &error), "%s: %s", policy,
	              error != NULL ? error->message : "no error told");
}

void
fixture_run_class(Fixture *fixture, const PolicyClass *policy, const char *options)
{
	g_autoptr(GError) error = NULL;

	ck_assert_msg(fixture_try_class(fixture, policy, options, &error), "%s: %s", policy->name,
	              error != NULL ? error->message : "no error told");
}

/* results */

JobId
fixture_job_id(const Fixture *fixture, const char *job)
{
	JobId id = 0;

	while (id < fixture->workload->n_jobs &&
	       !g_str_equal(fixture->workload->jobs[id].name, job))
		id++;
	ck_assert_msg(id < fixture->workload->n_jobs, "no such job: %s", job);
	return id;
}

const JobRecord *
fixture_job(const Fixture *fixture, const char *job)
{
	return &fixture->record->jobs[fixture_job_id(fixture, job)];
}

double
fixture_start_s(const Fixture *fixture, const char *job)
{
	ck_assert_msg(fixture_job(fixture, job)->has_started, "%s never started", job);
	return to_seconds(fixture_job(fixture, job)->first_start_ns);
}

double
fixture_finish_s(const Fixture *fixture, const char *job)
{
	ck_assert_msg(fixture_job(fixture, job)->state == JOB_FINISHED, "%s did not finish", job);
	return to_seconds(fixture_job(fixture, job)->finish_ns);
}

double
fixture_jct_s(const Fixture *fixture, const char *job)
{
	const Job *spec = &fixture->workload->jobs[fixture_job_id(fixture, job)];

	return fixture_finish_s(fixture, job) - to_seconds(spec->submit_ns);
}

double
fixture_mean_jct_s(const Fixture *fixture)
{
	__int128 sum_ns = 0;
	guint n = 0;

	for (JobId id = 0; id < fixture->workload->n_jobs; id++) {
		const JobRecord *job = &fixture->record->jobs[id];

		if (job->state != JOB_FINISHED)
			continue;
		sum_ns += job->finish_ns - fixture->workload->jobs[id].submit_ns;
		n++;
	}
	ck_assert_uint_gt(n, 0);
	return (double)sum_ns / n / NS_PER_S;
}

double
fixture_makespan_s(const Fixture *fixture)
{
	return to_seconds(fixture->record->last_finish_ns - fixture->record->first_submit_ns);
}

static const char *
state_name(JobState state)
{
	static const char *const names[] = { "PENDING", "QUEUED",     "RUNNING",  "SUSPENDING",
		                             "PAUSED",  "FINISHED",   "REJECTED", "TIMEOUT",
		                             "FAILED",  "UNFINISHED", "STOPPED" };

	return names[state];
}

static void
append_job(GString *text, const Job *job, const JobRecord *record)
{
	gboolean has_end = record->state == JOB_FINISHED || record->state == JOB_TIMEOUT ||
	                   record->state == JOB_FAILED || record->state == JOB_STOPPED;

	g_string_append(text, job->name);
	if (record->has_started) {
		g_string_append_c(text, ' ');
		seconds_append(text, record->first_start_ns);
		g_string_append_c(text, '-');
	}
	if (has_end)
		seconds_append(text, record->finish_ns);
	if (record->state != JOB_FINISHED)
		g_string_append_printf(text, " %s", state_name(record->state));
	if (record->preemptions > 0)
		g_string_append_printf(text, " P%u", record->preemptions);
	if (record->migrations > 0)
		g_string_append_printf(text, " M%u", record->migrations);
}

char *
fixture_to_string(const Fixture *fixture)
{
	const Workload *workload = fixture->workload;
	GString *text = g_string_new(NULL);

	for (guint row = 0; row < workload->n_jobs; row++) {
		JobId id = workload->by_row[row];

		if (row > 0)
			g_string_append(text, "; ");
		append_job(text, &workload->jobs[id], &fixture->record->jobs[id]);
	}
	return g_string_free(text, FALSE);
}

void
fixture_expect(const char *jobs, const char *cluster, const char *policy, const char *expected)
{
	g_autoptr(Fixture) fixture = fixture_new(jobs, cluster);
	g_autofree char *text = NULL;

	fixture_run(fixture, policy);
	text = fixture_to_string(fixture);
	ck_assert_msg(g_str_equal(text, expected), "%s on %s, %s:\n  right %s\n  found %s", jobs,
	              cluster, policy, expected, text);
}
