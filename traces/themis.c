/* SPDX-License-Identifier: MIT */
#include "traces/themis.h"

#include "sim/base/text.h"
#include "sim/base/yaml.h"
#include "traces/field.h"

/*
 * An array of jobs, each an object of texts. JSON is read as the YAML that it is, whose tree knows
 * the places of everything.
 */

#define THEMIS_KEYS(KEY)                                                                        \
	KEY(GROUP, "job_group_id", "text", "the app")                                           \
	KEY(JOB, "job_id", "text",                                                              \
	    "the job; one that another group has had before is called GROUP/JOB")               \
	KEY(START, "start_time", "min", "when it is submitted")                                 \
	KEY(ITERATIONS, "total_iterations", "number",                                           \
	    "how many it runs if it is not stopped early, 0 to 10^15")                          \
	KEY(MINUTES, "time_per_iteration", "min",                                               \
	    "on one GPU; duration = total_iterations x time_per_iteration / max_parallelism")   \
	KEY(WIDTH, "max_parallelism", "GPUs", "num_gpus and max_gpus, with min_gpus 1")         \
	KEY(SLOT, "cross_slot_slowdown", "speed",                                               \
	    "across slots of a machine, 0.001 to 1, relative to one slot")                      \
	KEY(MACHINE, "cross_machine_slowdown", "speed", "across machines of a rack")            \
	KEY(RACK, "cross_rack_slowdown", "speed", "across racks")                               \
	KEY(LOSS, "loss_function_type", "text", "optional; sublinear or superlinear; the kind") \
	KEY(SEED, "random_seed", "number", "optional; of the authors' loss curves; not used")

#define KEY_ID(id, name, unit, meaning)   KEY_##id,
#define KEY_NAME(id, name, unit, meaning) name,
#define KEY_TEXT(id, name, unit, meaning) name "\t" unit "\t" meaning "\n"

typedef enum KeyId {
	THEMIS_KEYS(KEY_ID) /* */
	N_KEYS,
} KeyId;

#define N_REQUIRED KEY_LOSS

static const char *const key_names[] = { THEMIS_KEYS(KEY_NAME) NULL };

/* Decimals that are kept of minutes, and the most minutes that they leave room for: 10^-11 min is
 * less than a nanosecond; of an iteration, of which there are millions, more are kept. */
#define START_SCALE    11
#define START_MAX      (G_GINT64_CONSTANT(92233720) * 100000000000) /* 175 years */
#define MINUTES_SCALE  15
#define MINUTES_MAX    (G_GINT64_CONSTANT(9223) * 1000000000000000)

#define ITERATIONS_MAX G_GINT64_CONSTANT(1000000000000000)

/* What a job's three factors are called. The image models without large layers share theirs, and
 * are called by the first of them. */
static const struct {
	const char *factors;
	const char *model;
} known_models[] = {
	{ "1/0.72/0.52", "vgg16" },  { "1/0.7/0.5", "vgg19" },      { "1/0.75/0.56", "vgg11" },
	{ "1/0.8/0.64", "alexnet" }, { "1/0.98/0.96", "resnet50" },
};

typedef struct ThemisJob {
	const YamlNode *row;
	const char *group, *job, *loss;
	gint64 start; /* of START_SCALE */
	gint64 iterations;
	gint64 minutes; /* of MINUTES_SCALE */
	gint64 width;
	gint64 speed_ppb[3]; /* across slots, machines, racks */
} ThemisJob;

typedef struct ThemisReader {
	WorkloadBuilder *builder;
	Problems *problems;
	GHashTable *groups;  /* job_id -> the job_group_id that had it first */
	const YamlNode *row; /* the job at hand */
	GString *name;       /* of it */
	GString *model;      /* likewise */
} ThemisReader;

/* keys */

/* The key that was perhaps meant: of those that say nothing, the nearest to the missing one. */
static const char *
find_meant(const YamlNode *row, const char *missing)
{
	g_autoptr(GPtrArray) unknown = g_ptr_array_new(); /* of const char * */

	for (guint i = 0; i < yaml_n(row); i++)
		if (!g_strv_contains(key_names, yaml_key(row, i)))
			g_ptr_array_add(unknown, (gpointer)(guintptr)yaml_key(row, i));
	g_ptr_array_add(unknown, NULL);
	return text_nearest(missing, (const char *const *)unknown->pdata);
}

static gboolean
require_keys(const YamlNode *row)
{
	gboolean ok = TRUE;

	for (KeyId id = 0; id < N_REQUIRED; id++) {
		const char *meant;

		if (yaml_find(row, key_names[id]))
			continue;
		ok = FALSE;
		meant = find_meant(row, key_names[id]);
		if (meant)
			yaml_complain(row, "missing key",
			              "found a job without %s, wanted it (perhaps \"%s\" is meant)",
			              key_names[id], meant);
		else
			yaml_complain(row, "missing key", "found a job without %s, wanted it",
			              key_names[id]);
	}
	return ok;
}

static void
notice_unknown(const YamlNode *row, Problems *problems)
{
	for (guint i = 0; i < yaml_n(row); i++) {
		const YamlNode *key = yaml_key_node(row, i);

		if (!g_strv_contains(key_names, yaml_text(key)))
			problems_notice(problems, yaml_line(key), yaml_column(key), "unknown key",
			                "found the key \"%s\", which is not read", yaml_text(key));
	}
}

static gboolean
read_id(const YamlNode *row, KeyId id, const char **ret_text)
{
	if (!yaml_get_text(row, key_names[id], ret_text))
		return FALSE;
	if ((*ret_text)[0] != '\0')
		return TRUE;
	yaml_complain(yaml_find(row, key_names[id]), "empty text",
	              "found nothing for %s, wanted a text", key_names[id]);
	return FALSE;
}

static gboolean
read_speeds(const YamlNode *row, ThemisJob *job)
{
	gint64 before_ppb = SPEED_ONE_PPB;

	for (guint i = 0; i < G_N_ELEMENTS(job->speed_ppb); i++) {
		const char *key = key_names[KEY_SLOT + i];

		if (!yaml_get_scaled(row, key, 9, SPEED_ONE_PPB / 1000, SPEED_ONE_PPB,
		                     &job->speed_ppb[i]))
			return FALSE;
		if (job->speed_ppb[i] > before_ppb) {
			yaml_complain(yaml_find(row, key), "rising speed",
			              "found a %s above the one of a smaller part of the cluster, "
			              "wanted at most that",
			              key);
			return FALSE;
		}
		before_ppb = job->speed_ppb[i];
	}
	return TRUE;
}

/* Every bad value of the job is told. */
static gboolean
read_values(const YamlNode *row, ThemisJob *job)
{
	gboolean ok = read_id(row, KEY_GROUP, &job->group);

	ok &= read_id(row, KEY_JOB, &job->job);
	ok &= yaml_get_scaled(row, key_names[KEY_START], START_SCALE, 0, START_MAX, &job->start);
	ok &= yaml_get_int(row, key_names[KEY_ITERATIONS], 0, ITERATIONS_MAX, &job->iterations);
	ok &= yaml_get_scaled(row, key_names[KEY_MINUTES], MINUTES_SCALE, 0, MINUTES_MAX,
	                      &job->minutes);
	ok &= yaml_get_int(row, key_names[KEY_WIDTH], 1, MAX_JOB_GPUS, &job->width);
	ok &= read_speeds(row, job);
	ok &= yaml_get_text(row, key_names[KEY_LOSS], &job->loss);
	return ok;
}

/* early stopping */

/*
 * The program halves every group when it reads the file: of n jobs, the longest of M iterations,
 * there are floor(log2(n)) rungs, M / that many iterations apart. At each but the last, the half of
 * the jobs left (rounded down) that have the fewest iterations, of equal ones those that stand
 * first in the file, stop: there or, if that is sooner, at their own end. What stops is known from
 * the start, and nobody waits at a rung. Found from its results, whose counts it gives for all jobs
 * of three workloads.
 */

static gint
compare_counts(gconstpointer a, gconstpointer b)
{
	const ThemisJob *one = *(ThemisJob *const *)a, *other = *(ThemisJob *const *)b;

	if (one->iterations != other->iterations)
		return one->iterations < other->iterations ? -1 : 1;
	return one < other ? -1 : one > other; /* all are in one array, as in the file */
}

/* @group holds the jobs of one group, ThemisJob *. */
static void
halve(GPtrArray *group)
{
	gint64 n_rungs = (gint64)g_bit_storage(group->len) - 1;
	gint64 apart;
	guint first = 0;

	g_ptr_array_sort(group, compare_counts);
	if (n_rungs < 2)
		return;
	apart = ((const ThemisJob *)group->pdata[group->len - 1])->iterations / n_rungs;
	for (gint64 rung = 1; rung < n_rungs; rung++)
		for (guint n = (group->len - first) / 2; n > 0; n--, first++) {
			ThemisJob *job = group->pdata[first];

			job->iterations = MIN(job->iterations, rung * apart);
		}
}

/* @jobs: ThemisJob */
static void
stop_early(GArray *jobs)
{
	g_autoptr(GHashTable) groups =
	    g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_ptr_array_unref);
	GHashTableIter iter;
	gpointer group;

	for (guint i = 0; i < jobs->len; i++) {
		ThemisJob *job = &g_array_index(jobs, ThemisJob, i);

		group = g_hash_table_lookup(groups, job->group);
		if (!group) {
			group = g_ptr_array_new();
			g_hash_table_insert(groups, (gpointer)(guintptr)job->group, group);
		}
		g_ptr_array_add(group, job);
	}
	g_hash_table_iter_init(&iter, groups);
	while (g_hash_table_iter_next(&iter, NULL, &group))
		halve(group);
}

/* what they mean */

/* Rounded half to even; both are >= 0. */
static __int128
divide_rounded(__int128 dividend, __int128 divisor)
{
	__int128 quotient = dividend / divisor;
	__int128 twice_rest = 2 * (dividend % divisor);

	return quotient + (twice_rest > divisor || (twice_rest == divisor && quotient % 2 == 1));
}

/* @n iterations on all GPUs of the job, in nanoseconds: n x minutes / 10^15 x 60 x 10^9 / width. */
static __int128
iterations_ns(const ThemisJob *job, gint64 n)
{
	return divide_rounded((__int128)n * job->minutes * 3, (__int128)50000 * job->width);
}

static gboolean
check_times(const ThemisJob *job)
{
	const YamlNode *iterations = yaml_find(job->row, key_names[KEY_ITERATIONS]);

	if (iterations_ns(job, job->iterations) < TIME_NEVER)
		return TRUE;
	yaml_complain(iterations, "time overflow",
	              "found %s for total_iterations, with time_per_iteration a time "
	              "overflow, wanted less than 2^63 nanoseconds (about 292 years)",
	              yaml_text(iterations));
	return FALSE;
}

static void
set_times(const ThemisJob *job, JobDraft *draft)
{
	draft->submit_ns = (gint64)divide_rounded((__int128)job->start * 3, 5);
	draft->duration_ns = (SimWork)iterations_ns(job, job->iterations);
	draft->iteration_ns = (SimTime)iterations_ns(job, 1);
}

/* A slowdown is rounded down, so that the speed that comes of it is the factor again. */
static void
set_slowdowns(const ThemisJob *job, JobDraft *draft)
{
	draft->slowdown_ppb[LEVEL_SLOT] = SPEED_ONE_PPB;
	for (guint i = 0; i < G_N_ELEMENTS(job->speed_ppb); i++)
		draft->slowdown_ppb[LEVEL_MACHINE + i] =
		    SPEED_ONE_PPB * SPEED_ONE_PPB / job->speed_ppb[i];
}

/* Factors that are no known model's are a model called by them. */
static const char *
name_model(ThemisReader *reader, const ThemisJob *job)
{
	g_string_truncate(reader->model, 0);
	for (guint i = 0; i < G_N_ELEMENTS(job->speed_ppb); i++) {
		if (i > 0)
			g_string_append_c(reader->model, '/');
		decimal_append(reader->model, job->speed_ppb[i], 9);
	}
	for (guint i = 0; i < G_N_ELEMENTS(known_models); i++)
		if (g_str_equal(reader->model->str, known_models[i].factors))
			return known_models[i].model;
	return reader->model->str;
}

/* Some files number the jobs of each group anew. A group that has an id twice is left to the
 * builder to refuse. */
static const char *
name_job(ThemisReader *reader, const ThemisJob *job)
{
	const char *first = g_hash_table_lookup(reader->groups, job->job);
	const YamlNode *node = yaml_find(reader->row, key_names[KEY_JOB]);

	if (!first)
		g_hash_table_insert(reader->groups, (gpointer)(guintptr)job->job,
		                    (gpointer)(guintptr)job->group);
	if (!first || g_str_equal(first, job->group))
		return job->job;
	g_string_printf(reader->name, "%s/%s", job->group, job->job);
	problems_notice(reader->problems, yaml_line(node), yaml_column(node),
	                "job_id of another group",
	                "found the job_id \"%s\" of group \"%s\" again in group \"%s\": the job is "
	                "called \"%s\"",
	                job->job, first, job->group, reader->name->str);
	return reader->name->str;
}

static KeyId
key_of_field(DraftField field)
{
	switch (field) {
	case DRAFT_NAME:
		return KEY_JOB;
	case DRAFT_APP:
		return KEY_GROUP;
	case DRAFT_SUBMIT:
		return KEY_START;
	case DRAFT_DURATION:
		return KEY_ITERATIONS;
	case DRAFT_SLOWDOWN:
		return KEY_SLOT;
	case DRAFT_MIN_GPUS:
	case DRAFT_MAX_GPUS:
	case DRAFT_SHARE:
	case DRAFT_WORKERS:
	case DRAFT_GPUS_PER_WORKER:
	case DRAFT_TUNER: /* (such traces have none) */
	case DRAFT_LOSS_CURVE:
		return KEY_WIDTH;
	}
	g_assert_not_reached();
}

static gboolean
find_value(const void *self, DraftField field, guint64 *ret_line, guint *ret_column)
{
	const ThemisReader *reader = self;
	const YamlNode *node = yaml_find(reader->row, key_names[key_of_field(field)]);

	*ret_line = yaml_line(node);
	*ret_column = yaml_column(node);
	return TRUE;
}

static void
add_job(ThemisReader *reader, const ThemisJob *job)
{
	JobDraft draft;

	reader->row = job->row;
	job_draft_init(&draft);
	set_times(job, &draft);
	draft.line = yaml_line(job->row);
	draft.name = name_job(reader, job);
	draft.app = job->group;
	draft.kind = job->loss;
	draft.num_gpus = draft.max_gpus = (guint32)job->width;
	draft.min_gpus = 1;
	draft.model = name_model(reader, job);
	set_slowdowns(job, &draft);
	workload_builder_add(reader->builder, &draft);
}

/* Those without fault are added to @jobs. */
static void
read_job(const YamlNode *row, Problems *problems, GArray *jobs)
{
	ThemisJob job = { .row = row, .group = "", .job = "", .loss = "" };

	if (yaml_kind(row) != YAML_MAP) {
		yaml_complain(row, "no job", "found no object, wanted one with the keys of a job");
		return;
	}
	if (!require_keys(row))
		return;
	notice_unknown(row, problems);
	if (read_values(row, &job) && check_times(&job))
		g_array_append_val(jobs, job);
}

static void
themis_read(const YamlNode *root, WorkloadBuilder *builder, Problems *problems)
{
	g_autoptr(GArray) jobs = g_array_new(FALSE, FALSE, sizeof(ThemisJob));
	g_autoptr(GHashTable) groups = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GString) name = g_string_new(NULL);
	g_autoptr(GString) model = g_string_new(NULL);
	ThemisReader reader = { builder, problems, groups, NULL, name, model };

	if (yaml_kind(root) != YAML_LIST) {
		yaml_complain(root, "no list of jobs", "found no array, wanted one of jobs");
		return;
	}
	for (guint i = 0; i < yaml_n(root); i++)
		read_job(yaml_item(root, i), problems, jobs);
	stop_early(jobs);
	workload_builder_set_finder(builder, find_value, &reader);
	for (guint i = 0; i < jobs->len; i++)
		add_job(&reader, &g_array_index(jobs, ThemisJob, i));
	workload_builder_set_finder(builder, NULL, NULL);
}

const TraceFormat themis_format = {
	.name = "themis",
	.summary = "the JSON workloads of the Themis authors' simulator",
	.columns = THEMIS_KEYS(KEY_TEXT),
	.read_json = themis_read,
};
