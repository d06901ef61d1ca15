/* SPDX-License-Identifier: MIT */
#include "sim/model/workload.h"

#include <stdlib.h>
#include <string.h>

/*
 * Rows become Jobs at once, in the order of the file; only the order, the ids and the grouping
 * into apps wait for the end. Until then Job.submit_ns and .deadline_ns are on the trace's own
 * clock and Job.app counts apps by first appearance. A trace of millions of rows must fit, so
 * texts are kept once: labels (user, model, ...) have few values, ids have one row each.
 */

/* Labels of a row, kept once each; the same label often follows itself. */
typedef enum Label {
	LABEL_USER,
	LABEL_TENANT,
	LABEL_GROUP,
	LABEL_MODEL,
	LABEL_GPU_TYPE,
	LABEL_STATE,
	LABEL_KIND,
	N_LABELS,
} Label;

typedef struct AppDraft {
	const char *name;
	guint32 n_jobs;
	gboolean is_lone; /* the app of one job without app_id */
	const Tuner *tuner;
	guint64 tuner_line; /* that gave it */
	gboolean has_bare;  /* a job without a loss curve, by this line */
	guint64 bare_line;
} AppDraft;

/* In the file; line 0 is none. */
typedef struct Place {
	guint64 line;
	guint column;
} Place;

struct WorkloadBuilder {
	char *path;
	Problems *problems;
	guint64 n_rows;
	guint n, size; /* jobs, and the room for them in the four arrays below */
	Job *jobs;
	SimWork *duration_ns;
	guint64 *lines;
	GArray *apps;          /* of AppDraft, by first appearance */
	GHashTable *rows;      /* job name -> its index in jobs */
	GHashTable *named;     /* app_id -> its index in apps */
	GHashTable *type_sets; /* interned gpu_type texts seen so far */
	GPtrArray *gpu_type_sets;
	ModelTable *models;
	GHashTable *tuners; /* text as given or canonical -> Tuner of tuner_list */
	GPtrArray *tuner_list;
	GPtrArray *loss_curves;
	GStringChunk *strings;
	const char *last[N_LABELS];
	gint64 earliest_ns, latest_ns; /* of all times, so that differences fit */
	gboolean is_unsorted;
	Place unsorted; /* of the first submit that is before the one above */
	DraftFinder find_cell;
	const void *reader;
};

void
job_draft_init(JobDraft *draft)
{
	*draft = (JobDraft){
		.num_gpus = NUM_GPUS_ABSENT,
		.share_milli = GPU_MILLI,
		.deadline_ns = TIME_NEVER,
		.weight = 1,
	};
}

WorkloadBuilder *
workload_builder_new(const char *path, Problems *problems)
{
	WorkloadBuilder *builder = g_new0(WorkloadBuilder, 1);

	builder->path = g_strdup(path);
	builder->problems = problems;
	builder->apps = g_array_new(FALSE, FALSE, sizeof(AppDraft));
	builder->rows = g_hash_table_new(g_str_hash, g_str_equal);
	builder->named = g_hash_table_new(g_str_hash, g_str_equal);
	builder->type_sets = g_hash_table_new(NULL, NULL);
	builder->gpu_type_sets = g_ptr_array_new();
	builder->models = model_table_new_empty();
	builder->tuners = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	builder->tuner_list = g_ptr_array_new_with_free_func((GDestroyNotify)tuner_free);
	builder->loss_curves = g_ptr_array_new_with_free_func(g_free);
	builder->strings = g_string_chunk_new(1 << 16);
	for (Label label = 0; label < N_LABELS; label++)
		builder->last[label] = "";
	builder->earliest_ns = G_MAXINT64;
	builder->latest_ns = G_MININT64;
	return builder;
}

void
workload_builder_free(WorkloadBuilder *builder)
{
	if (!builder)
		return;
	g_free(builder->path);
	g_free(builder->jobs);
	g_free(builder->duration_ns);
	g_free(builder->lines);
	g_clear_pointer(&builder->apps, g_array_unref);
	g_hash_table_destroy(builder->rows);
	g_hash_table_destroy(builder->named);
	g_hash_table_destroy(builder->type_sets);
	g_clear_pointer(&builder->gpu_type_sets, g_ptr_array_unref);
	g_clear_pointer(&builder->models, model_table_free);
	g_hash_table_destroy(builder->tuners);
	g_clear_pointer(&builder->tuner_list, g_ptr_array_unref);
	g_clear_pointer(&builder->loss_curves, g_ptr_array_unref);
	g_clear_pointer(&builder->strings, g_string_chunk_free);
	g_free(builder);
}

void
workload_builder_set_finder(WorkloadBuilder *builder, DraftFinder find_cell, const void *reader)
{
	builder->find_cell = find_cell;
	builder->reader = reader;
}

/* checks of one row */

static Place
place_of(const WorkloadBuilder *builder, const JobDraft *draft, DraftField field)
{
	Place place = { .line = draft->line };

	if (builder->find_cell)
		builder->find_cell(builder->reader, field, &place.line, &place.column);
	return place;
}

/* @field is what was found, or where it is missing. A row that is in no line goes by its name. */
G_GNUC_PRINTF(5, 6)
static gboolean
refuse(WorkloadBuilder *builder, const JobDraft *draft, DraftField field, const char *reason,
       const char *format, ...)
{
	Place place = place_of(builder, draft, field);
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	if (place.line > 0)
		problems_add(builder->problems, place.line, place.column, reason, "%s", text);
	else
		problems_add(builder->problems, 0, 0, reason, "job \"%s\": %s", draft->name, text);
	return FALSE;
}

/* One of the two without the other says nothing. */
static gboolean
refuse_half_workers(WorkloadBuilder *builder, const JobDraft *draft)
{
	if (draft->workers > 0)
		return refuse(builder, draft, DRAFT_WORKERS, "workers without gpus_per_worker",
		              "found workers %u without gpus_per_worker, wanted both or none",
		              draft->workers);
	return refuse(builder, draft, DRAFT_GPUS_PER_WORKER, "workers without gpus_per_worker",
	              "found gpus_per_worker %u without workers, wanted both or none",
	              draft->gpus_per_worker);
}

/* num_gpus of the row, from its workers where it has them (A46). */
static gboolean
check_workers(WorkloadBuilder *builder, const JobDraft *draft, guint32 *ret_num_gpus)
{
	guint64 product = (guint64)draft->workers * draft->gpus_per_worker;
	gboolean has_any = draft->workers > 0 || draft->gpus_per_worker > 0;

	if (draft->num_gpus == NUM_GPUS_ABSENT && !has_any)
		return refuse(builder, draft, DRAFT_WORKERS, "no num_gpus",
		              "found neither num_gpus nor workers and gpus_per_worker, wanted "
		              "one of them");
	if (has_any && product == 0 && draft->num_gpus > 0)
		return refuse_half_workers(builder, draft);
	if (draft->num_gpus == NUM_GPUS_ABSENT && product >= NUM_GPUS_ABSENT)
		return refuse(builder, draft, DRAFT_WORKERS, "workers do not match num_gpus",
		              "found %u workers of %u GPUs, wanted fewer GPUs", draft->workers,
		              draft->gpus_per_worker);
	*ret_num_gpus = draft->num_gpus == NUM_GPUS_ABSENT ? (guint32)product : draft->num_gpus;
	if (has_any && product != *ret_num_gpus)
		return refuse(builder, draft, DRAFT_WORKERS, "workers do not match num_gpus",
		              "found %u workers of %u GPUs for num_gpus %u, wanted a product "
		              "equal to it",
		              draft->workers, draft->gpus_per_worker, *ret_num_gpus);
	return TRUE;
}

/* The widths of the job; without any it is rigid (B09). */
static gboolean
check_widths(WorkloadBuilder *builder, const JobDraft *draft, Job *job)
{
	guint32 num_gpus = job->num_gpus;

	job->max_gpus = draft->max_gpus > 0 ? draft->max_gpus : num_gpus;
	job->min_gpus = draft->min_gpus > 0 ? draft->min_gpus : draft->max_gpus > 0 ? 1 : num_gpus;
	if (draft->min_gpus > num_gpus)
		return refuse(builder, draft, DRAFT_MIN_GPUS, "min_gpus above num_gpus",
		              "found min_gpus %u above num_gpus %u, wanted at most that many",
		              job->min_gpus, num_gpus);
	if (job->min_gpus > num_gpus)
		return refuse(builder, draft, DRAFT_MAX_GPUS, "min_gpus above num_gpus",
		              "found max_gpus %u for num_gpus 0, wanted none", job->max_gpus);
	if (job->max_gpus < num_gpus)
		return refuse(builder, draft, DRAFT_MAX_GPUS, "max_gpus below num_gpus",
		              "found max_gpus %u below num_gpus %u, wanted at least that many",
		              job->max_gpus, num_gpus);
	return TRUE;
}

/* A part of a GPU is for jobs of one GPU, whatever happens (A45). */
static gboolean
check_share(WorkloadBuilder *builder, const JobDraft *draft, const Job *job)
{
	if (draft->share_milli == GPU_MILLI)
		return TRUE;
	if (draft->share_milli == 0 || draft->share_milli > GPU_MILLI)
		return refuse(builder, draft, DRAFT_SHARE, "bad gpu_share",
		              "found a gpu_share of %u thousandths, wanted 1 to 1000",
		              draft->share_milli);
	if (job->num_gpus != 1 || job->max_gpus != 1)
		return refuse(builder, draft, DRAFT_SHARE, "gpu_share without num_gpus 1",
		              "found a gpu_share with num_gpus %u and max_gpus %u, wanted 1",
		              job->num_gpus, job->max_gpus);
	return TRUE;
}

/* Times that fit the clock, wherever the first submit turns out to be (A19). */
static gboolean
check_times(WorkloadBuilder *builder, const JobDraft *draft)
{
	gint64 earliest_ns = MIN(builder->earliest_ns, draft->submit_ns);
	gint64 latest_ns = MAX(builder->latest_ns, draft->submit_ns);
	__int128 end_ns = (__int128)draft->submit_ns + draft->duration_ns;

	if (draft->duration_ns < 0)
		return refuse(builder, draft, DRAFT_DURATION, "negative duration",
		              "found a negative duration, wanted 0 or more");
	if (draft->deadline_ns != TIME_NEVER) {
		earliest_ns = MIN(earliest_ns, draft->deadline_ns);
		latest_ns = MAX(latest_ns, draft->deadline_ns);
	}
	if (end_ns > G_MAXINT64 ||
	    MAX(end_ns, (__int128)latest_ns) - earliest_ns > (__int128)G_MAXINT64)
		return refuse(builder, draft, DRAFT_DURATION, "time overflow",
		              "found a submit plus duration beyond the clock, a time overflow, "
		              "wanted at most 9223372036.854775807 s");
	builder->earliest_ns = earliest_ns;
	builder->latest_ns = MAX(latest_ns, (gint64)end_ns);
	return TRUE;
}

/* All rows of a model say the same of it, or nothing. */
static gboolean
check_slowdown(WorkloadBuilder *builder, const JobDraft *draft)
{
	guint32 known;

	if (draft->slowdown_ppb[0] == 0)
		return TRUE;
	if (draft->model[0] == '\0')
		return refuse(builder, draft, DRAFT_SLOWDOWN, "slowdown without a model",
		              "found slowdowns without a model, wanted the name of one");
	known = model_table_find(builder->models, draft->model);
	if (known == MODEL_NONE || memcmp(builder->models->models[known].slowdown_ppb,
	                                  draft->slowdown_ppb, sizeof(draft->slowdown_ppb)) == 0)
		return TRUE;
	return refuse(builder, draft, DRAFT_SLOWDOWN, "two slowdowns of one model",
	              "found slowdowns of the model \"%s\" that differ from those in a row above, "
	              "wanted the same",
	              draft->model);
}

static gboolean
check_name(WorkloadBuilder *builder, const JobDraft *draft)
{
	gpointer row;

	if (draft->name[0] == '\0')
		return refuse(builder, draft, DRAFT_NAME, "empty job_id",
		              "found an empty job_id, wanted one");
	if (!g_hash_table_lookup_extended(builder->rows, draft->name, NULL, &row))
		return TRUE;
	return refuse(builder, draft, DRAFT_NAME, "duplicate job_id",
	              "found the job_id \"%s\" of line %" G_GUINT64_FORMAT
	              " again, wanted an id of its own",
	              draft->name, builder->lines[GPOINTER_TO_UINT(row)]);
}

/* A row without app_id is an app called as the job, so no other app may be called so (A34). */
static gboolean
check_app(WorkloadBuilder *builder, const JobDraft *draft)
{
	gpointer row;

	if (draft->app[0] == '\0') {
		if (!g_hash_table_contains(builder->named, draft->name))
			return TRUE;
		return refuse(builder, draft, DRAFT_NAME, "app_id equals a job_id",
		              "found the job_id \"%s\", without app_id, that is an app_id of rows "
		              "above, wanted another one",
		              draft->name);
	}
	if (!g_hash_table_lookup_extended(builder->rows, draft->app, NULL, &row))
		return TRUE;
	if (!g_array_index(builder->apps, AppDraft, builder->jobs[GPOINTER_TO_UINT(row)].app)
	         .is_lone)
		return TRUE;
	return refuse(builder, draft, DRAFT_APP, "app_id equals a job_id",
	              "found the app_id \"%s\", the job_id of line %" G_GUINT64_FORMAT
	              " that has no app_id, wanted another one",
	              draft->app, builder->lines[GPOINTER_TO_UINT(row)]);
}

/* tuners */

/* The one Tuner of this meaning, however it is written. */
static const Tuner *
find_tuner(WorkloadBuilder *builder, const char *text, GError **error)
{
	const Tuner *known = g_hash_table_lookup(builder->tuners, text);
	Tuner *tuner;

	if (known)
		return known;
	tuner = tuner_parse(text, error);
	if (!tuner)
		return NULL;
	g_ptr_array_add(builder->tuner_list, tuner);
	known = g_hash_table_lookup(builder->tuners, tuner->text);
	if (!known) {
		known = tuner;
		g_hash_table_insert(builder->tuners, g_strdup(tuner->text), tuner);
	}
	if (!g_str_equal(text, tuner->text))
		g_hash_table_insert(builder->tuners, g_strdup(text), (gpointer)(guintptr)known);
	return known;
}

/* What rows above have said of the row's app, or NULL if it is new. */
static AppDraft *
find_app(const WorkloadBuilder *builder, const JobDraft *draft)
{
	gpointer index;

	if (draft->app[0] == '\0' ||
	    !g_hash_table_lookup_extended(builder->named, draft->app, NULL, &index))
		return NULL;
	return &g_array_index(builder->apps, AppDraft, GPOINTER_TO_UINT(index));
}

static gboolean
refuse_tuner(WorkloadBuilder *builder, const JobDraft *draft, const AppDraft *app,
             const Tuner *tuner)
{
	return refuse(builder, draft, DRAFT_TUNER, "an app of two tuners",
	              "found the tuner \"%s\" for app \"%s\", which has \"%s\" by line "
	              "%" G_GUINT64_FORMAT ", wanted the same or none",
	              tuner->text, draft->app, app->tuner->text, app->tuner_line);
}

/* A tuner that compares trials needs the loss of each, and of those above, too. */
static gboolean
check_losses(WorkloadBuilder *builder, const JobDraft *draft, const AppDraft *app,
             const Tuner *tuner)
{
	if (tuner == NULL || !tuner_compares(tuner))
		return TRUE;
	if (draft->loss.half_ns == 0)
		return refuse(builder, draft, DRAFT_LOSS_CURVE, "no loss_curve",
		              "found no loss_curve, wanted one: the tuner \"%s\" of the app "
		              "compares losses",
		              tuner->text);
	if (app == NULL || !app->has_bare)
		return TRUE;
	return refuse(builder, draft, DRAFT_TUNER, "no loss_curve",
	              "found the tuner \"%s\" for app \"%s\", whose job of line %" G_GUINT64_FORMAT
	              " has no loss_curve, wanted one on each",
	              tuner->text, draft->app, app->bare_line);
}

/* The tuner that the row gives, or its app has; NULL if none is known. */
static gboolean
check_tuner(WorkloadBuilder *builder, const JobDraft *draft, const Tuner **ret_tuner)
{
	const AppDraft *app = find_app(builder, draft);
	const Tuner *tuner = app ? app->tuner : NULL;
	g_autoptr(GError) error = NULL;

	if (draft->tuner[0] != '\0') {
		const Tuner *given = find_tuner(builder, draft->tuner, &error);

		if (!given)
			return refuse(builder, draft, DRAFT_TUNER, "bad tuner", "%s",
			              error->message);
		if (tuner && tuner != given)
			return refuse_tuner(builder, draft, app, given);
		tuner = given;
	}
	*ret_tuner = tuner;
	return check_losses(builder, draft, app, tuner);
}

/* keeping a row */

/* Plain arrays, not GArrays, so that the Workload takes them over without a copy. */
static void
builder_reserve(WorkloadBuilder *builder)
{
	if (builder->n < builder->size)
		return;
	g_assert(builder->size < JOB_NONE / 2);
	builder->size = MAX(1024, builder->size * 2);
	builder->jobs = g_renew(Job, builder->jobs, builder->size);
	builder->duration_ns = g_renew(SimWork, builder->duration_ns, builder->size);
	builder->lines = g_renew(guint64, builder->lines, builder->size);
}

/* The chunk looks a label up to keep it once, which the last one of its column often saves. */
static const char *
keep_label(WorkloadBuilder *builder, Label label, const char *text)
{
	if (text[0] == '\0')
		return "";
	if (strcmp(builder->last[label], text) != 0)
		builder->last[label] = g_string_chunk_insert_const(builder->strings, text);
	return builder->last[label];
}

static void
keep_labels(WorkloadBuilder *builder, const JobDraft *draft, Job *job)
{
	job->user = keep_label(builder, LABEL_USER, draft->user);
	job->tenant = keep_label(builder, LABEL_TENANT, draft->tenant);
	job->group = keep_label(builder, LABEL_GROUP, draft->group);
	job->model_name = keep_label(builder, LABEL_MODEL, draft->model);
	job->gpu_type_name = keep_label(builder, LABEL_GPU_TYPE, draft->gpu_type);
	job->trace_state = keep_label(builder, LABEL_STATE, draft->state);
	job->kind = keep_label(builder, LABEL_KIND, draft->kind);
	if (job->gpu_type_name[0] != '\0' &&
	    g_hash_table_add(builder->type_sets, (gpointer)(guintptr)job->gpu_type_name))
		g_ptr_array_add(builder->gpu_type_sets, (gpointer)(guintptr)job->gpu_type_name);
}

/* The app of the row, as its number by first appearance. */
static guint32
keep_app(WorkloadBuilder *builder, const JobDraft *draft, const char *job_name)
{
	AppDraft app = { .name = job_name, .n_jobs = 1, .is_lone = TRUE };
	gpointer index;

	if (draft->app[0] != '\0') {
		if (g_hash_table_lookup_extended(builder->named, draft->app, NULL, &index)) {
			g_array_index(builder->apps, AppDraft, GPOINTER_TO_UINT(index)).n_jobs++;
			return GPOINTER_TO_UINT(index);
		}
		app.name = g_string_chunk_insert(builder->strings, draft->app);
		app.is_lone = FALSE;
		g_hash_table_insert(builder->named, (gpointer)(guintptr)app.name,
		                    GUINT_TO_POINTER(builder->apps->len));
	}
	g_array_append_val(builder->apps, app);
	return builder->apps->len - 1;
}

static void
keep_model(WorkloadBuilder *builder, const JobDraft *draft)
{
	if (draft->slowdown_ppb[0] > 0 &&
	    model_table_find(builder->models, draft->model) == MODEL_NONE)
		model_table_add(builder->models, draft->model, draft->slowdown_ppb);
}

static void
keep_numbers(const JobDraft *draft, Job *job)
{
	job->share_milli = draft->share_milli;
	job->gpu_mem_mib = draft->gpu_mem_mib;
	job->cpus_milli = draft->cpus_milli;
	job->mem_mib = draft->mem_mib;
	job->workers = job->num_gpus > 0 ? draft->workers : 0;
	job->gpus_per_worker = job->num_gpus > 0 ? draft->gpus_per_worker : 0;
	job->model = MODEL_NONE;
	job->gpu_types = GPU_TYPE_ANY;
	job->submit_ns = draft->submit_ns;
	job->iteration_ns = draft->iteration_ns;
	job->time_limit_ns = draft->time_limit_ns;
	job->deadline_ns = draft->deadline_ns;
	job->priority = draft->priority;
	job->weight = draft->weight;
}

static void
keep_tuning(WorkloadBuilder *builder, const JobDraft *draft, const Tuner *tuner, Job *job)
{
	AppDraft *app = &g_array_index(builder->apps, AppDraft, job->app);

	if (draft->loss.half_ns > 0) {
		LossCurve *loss = g_new(LossCurve, 1);

		*loss = draft->loss;
		g_ptr_array_add(builder->loss_curves, loss);
		job->loss = loss;
	} else if (!app->has_bare) {
		app->has_bare = TRUE;
		app->bare_line = draft->line;
	}
	if (app->tuner == NULL) {
		app->tuner = tuner;
		app->tuner_line = draft->line;
	}
}

static void
note_unsorted(WorkloadBuilder *builder, const JobDraft *draft)
{
	builder->is_unsorted = TRUE;
	builder->unsorted = place_of(builder, draft, DRAFT_SUBMIT);
}

/* Ids are not looked up in the chunk: they are distinct, as check_name() has seen. */
static void
keep_row(WorkloadBuilder *builder, const JobDraft *draft, const Tuner *tuner, Job job)
{
	guint row = builder->n;

	builder_reserve(builder);
	job.row = row;
	job.name = g_string_chunk_insert(builder->strings, draft->name);
	job.app = keep_app(builder, draft, job.name);
	keep_labels(builder, draft, &job);
	keep_model(builder, draft);
	keep_numbers(draft, &job);
	keep_tuning(builder, draft, tuner, &job);
	if (row > 0 && draft->submit_ns < builder->jobs[row - 1].submit_ns && !builder->is_unsorted)
		note_unsorted(builder, draft);
	g_hash_table_insert(builder->rows, (gpointer)(guintptr)job.name, GUINT_TO_POINTER(row));
	builder->jobs[row] = job;
	builder->duration_ns[row] = draft->duration_ns;
	builder->lines[row] = draft->line;
	builder->n++;
}

static const char *
text_or_empty(const char *text)
{
	return text ? text : "";
}

static JobDraft
draft_with_texts(const JobDraft *given)
{
	JobDraft draft = *given;

	draft.name = text_or_empty(given->name);
	draft.app = text_or_empty(given->app);
	draft.user = text_or_empty(given->user);
	draft.tenant = text_or_empty(given->tenant);
	draft.group = text_or_empty(given->group);
	draft.model = text_or_empty(given->model);
	draft.gpu_type = text_or_empty(given->gpu_type);
	draft.state = text_or_empty(given->state);
	draft.kind = text_or_empty(given->kind);
	draft.tuner = text_or_empty(given->tuner);
	return draft;
}

gboolean
workload_builder_add(WorkloadBuilder *builder, const JobDraft *given)
{
	JobDraft draft = draft_with_texts(given);
	const Tuner *tuner = NULL;
	Job job = { 0 };

	builder->n_rows++;
	if (!check_name(builder, &draft) || !check_app(builder, &draft) ||
	    !check_workers(builder, &draft, &job.num_gpus) ||
	    !check_widths(builder, &draft, &job) || !check_share(builder, &draft, &job) ||
	    !check_slowdown(builder, &draft) || !check_tuner(builder, &draft, &tuner) ||
	    !check_times(builder, &draft))
		return FALSE;
	keep_row(builder, &draft, tuner, job);
	return TRUE;
}

/* the end: order, ids, apps */

typedef struct SortKey {
	gint64 submit_ns;
	guint32 row;
} SortKey;

static int
compare_keys(const void *one, const void *other)
{
	const SortKey *a = one, *b = other;

	if (a->submit_ns != b->submit_ns)
		return a->submit_ns < b->submit_ns ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

static void
notice_unsorted(WorkloadBuilder *builder)
{
	problems_notice(builder->problems, builder->unsorted.line, builder->unsorted.column,
	                "not sorted by submit time",
	                "found a submit time before that of the row above, jobs are taken in the "
	                "order of (submit time, row)");
}

/* Jobs and durations by (submit, row). */
static void
builder_sort(WorkloadBuilder *builder)
{
	g_autofree SortKey *keys = g_new(SortKey, builder->n);
	Job *jobs = g_new(Job, builder->n);
	SimWork *duration_ns = g_new(SimWork, builder->n);

	for (guint i = 0; i < builder->n; i++)
		keys[i] = (SortKey){ builder->jobs[i].submit_ns, i };
	qsort(keys, builder->n, sizeof(keys[0]), compare_keys);
	for (guint i = 0; i < builder->n; i++) {
		jobs[i] = builder->jobs[keys[i].row];
		duration_ns[i] = builder->duration_ns[keys[i].row];
	}
	g_free(builder->jobs);
	g_free(builder->duration_ns);
	builder->jobs = jobs;
	builder->duration_ns = duration_ns;
	builder->size = builder->n;
}

/* Ids by place, times counted from the first submit. */
static void
workload_number_jobs(Workload *workload)
{
	workload->origin_ns = workload->n_jobs > 0 ? workload->jobs[0].submit_ns : 0;
	workload->by_row = g_new(JobId, workload->n_jobs);
	for (guint i = 0; i < workload->n_jobs; i++) {
		Job *job = &workload->jobs[i];

		job->id = i;
		job->submit_ns -= workload->origin_ns;
		if (job->deadline_ns != TIME_NEVER)
			job->deadline_ns -= workload->origin_ns;
		workload->by_row[job->row] = i;
	}
}

static void
app_add_job(App *app, const Job *job, SimWork duration_ns)
{
	app->n_jobs++;
	if (job->num_gpus == 0)
		return;
	app->n_gpu_jobs++;
	app->demand_milli += job_held_milli(job, job->max_gpus);
	app->work += (GpuTime)job_held_milli(job, job->num_gpus) * duration_ns;
}

/* One that lets every job run to its end is none. */
static const Tuner *
tuner_of(const AppDraft *draft)
{
	return draft->tuner != NULL && draft->tuner->kind != TUNER_NONE ? draft->tuner : NULL;
}

/* Gives the apps their ids, in the order of their first jobs, and their part of app_jobs. */
static void
workload_number_apps(Workload *workload, const AppDraft *drafts)
{
	guint32 n_before = 0;
	AppId next = 0;

	for (guint i = 0; i < workload->n_apps; i++)
		workload->apps_by_row[i] = G_MAXUINT32;
	for (guint i = 0; i < workload->n_jobs; i++) {
		Job *job = &workload->jobs[i];
		const AppDraft *draft = &drafts[job->app];

		if (workload->apps_by_row[job->app] == G_MAXUINT32) {
			workload->apps_by_row[job->app] = next;
			workload->apps[next] = (App){
				.id = next,
				.name = draft->name,
				.jobs = workload->app_jobs + n_before,
				.submit_ns = job->submit_ns,
				.tuner = tuner_of(draft),
			};
			workload->has_tuners |= tuner_of(draft) != NULL;
			n_before += draft->n_jobs;
			next++;
		}
		job->app = workload->apps_by_row[job->app];
	}
}

static void
workload_group_apps(Workload *workload, const GArray *drafts)
{
	workload->n_apps = drafts->len;
	workload->apps = g_new0(App, workload->n_apps);
	workload->apps_by_row = g_new(AppId, workload->n_apps);
	workload->app_jobs = g_new(JobId, workload->n_jobs);
	workload_number_apps(workload, &g_array_index(drafts, AppDraft, 0));
	for (guint i = 0; i < workload->n_jobs; i++) {
		const Job *job = &workload->jobs[i];
		App *app = &workload->apps[job->app];
		gsize place = (gsize)(app->jobs - workload->app_jobs) + app->n_jobs;

		workload->app_jobs[place] = i;
		app_add_job(app, job, workload->duration_ns[i]);
	}
}

Workload *
workload_builder_finish(WorkloadBuilder *builder)
{
	Workload *workload = g_new0(Workload, 1);

	if (builder->is_unsorted) {
		notice_unsorted(builder);
		builder_sort(builder);
	}
	workload->path = g_steal_pointer(&builder->path);
	workload->problems = builder->problems;
	workload->n_rows_read = builder->n_rows;
	workload->n_jobs = builder->n;
	workload->jobs = g_renew(Job, g_steal_pointer(&builder->jobs), builder->n);
	workload->duration_ns =
	    g_renew(SimWork, g_steal_pointer(&builder->duration_ns), builder->n);
	workload->gpu_type_sets = g_steal_pointer(&builder->gpu_type_sets);
	workload->models = g_steal_pointer(&builder->models);
	workload->tuners = g_steal_pointer(&builder->tuner_list);
	workload->loss_curves = g_steal_pointer(&builder->loss_curves);
	workload->strings = g_steal_pointer(&builder->strings);
	workload_number_jobs(workload);
	workload_group_apps(workload, builder->apps);
	workload_builder_free(builder);
	return workload;
}

void
workload_free(Workload *workload)
{
	if (!workload)
		return;
	g_free(workload->path);
	g_free(workload->sha256);
	g_free(workload->format);
	problems_free(workload->problems);
	g_free(workload->jobs);
	g_free(workload->duration_ns);
	g_free(workload->by_row);
	g_free(workload->apps);
	g_free(workload->apps_by_row);
	g_free(workload->app_jobs);
	g_clear_pointer(&workload->gpu_type_sets, g_ptr_array_unref);
	model_table_free(workload->models);
	g_clear_pointer(&workload->tuners, g_ptr_array_unref);
	g_clear_pointer(&workload->loss_curves, g_ptr_array_unref);
	g_clear_pointer(&workload->strings, g_string_chunk_free);
	g_free(workload);
}
