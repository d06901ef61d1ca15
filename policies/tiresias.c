/* SPDX-License-Identifier: MIT */

/*
 * Tiresias: least attained GPU-service first, in a few queues instead of a continuous order, so
 * that jobs are not stopped again and again (A58 to A61).
 */

#include <math.h>
#include <string.h>

#include "policies/tiresias/gittins.h"
#include "sim/policy.h"

/* What a stop and a restart cost on the paper's testbed: 13 724 s for 221 of them. */
#define PAPER_RESUME_NS (62 * NS_PER_S)

/* The last of placement_names: beyond those of PlacementKind that a user can name. */
#define PLACEMENT_SKEW  5

static const char *const placement_names[] = { "consolidate", "first-fit", "best-fit", "spread",
	                                       "random",      "skew",      NULL };
static const char *const gittins_names[] = { "off", "textbook", "fixed-delta", "tiresias-sim",
	                                     NULL };
static const char *const preset_names[] = { "none", "paper", NULL };

typedef enum TiresiasPreset {
	PRESET_NONE,
	PRESET_PAPER,
} TiresiasPreset;

typedef struct TiresiasOptions {
	PlacementOptions placement;
	OptionList thresholds; /* GPU-seconds x NS_PER_S */
	double promote_knob;   /* HUGE_VAL = off */
	gint gittins;          /* GittinsKind */
	SimTime gittins_delta; /* GPU-seconds x NS_PER_S */
	char *distribution;
	double skew_threshold;
	gint preset; /* TiresiasPreset */
} TiresiasOptions;

/* A job in the queues. What it attained counts from its last promotion. */
typedef struct Standing {
	GpuTime promoted_service; /* attained by then */
	SimTime promoted_ns;      /* time on GPUs by then */
	SimTime first_start_ns;   /* or when it was promoted; TIME_NEVER if it never started */
	guint queue;
	guint sample; /* where its Gittins index was found last */
} Standing;

typedef struct Tiresias {
	Walk *walk; /* first, for walk_policy_*() */
	const TiresiasOptions *options;
	WalkRules rules;
	PlacementOptions consolidated, leftovers; /* where placement=skew */
	Standing *standings;                      /* by JobId */
	Gittins *gittins;                         /* or NULL */
	guint n_jobs;
	gint64 knob_ppb; /* 0 = off */
	GArray *demoted; /* of JobId: on GPUs, whose next demotion is to be waited for */
	GArray *ended;   /* of JobId: jobs that need no wake any more */
} Tiresias;

static const Option tiresias_options[] = {
	{ .name = "thresholds_gpu_s",
	  .kind = OPTION_SECONDS_LIST,
	  .offset = G_STRUCT_OFFSET(TiresiasOptions, thresholds),
	  .standard = "3250",
	  .help = "attained GPU-seconds at which a job falls to the next queue; n of them make "
	          "n + 1 queues" },
	{ .name = "promote_knob",
	  .kind = OPTION_NUMBER,
	  .offset = G_STRUCT_OFFSET(TiresiasOptions, promote_knob),
	  .standard = "off",
	  .min = 1e-9,
	  .max = 1e6,
	  .may_be_off = TRUE,
	  .help = "a stopped job that has waited so many times as long as it ran goes back to the "
	          "first queue" },
	{ .name = "gittins",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(TiresiasOptions, gittins),
	  .standard = "off",
	  .choices = gittins_names,
	  .help = "order inside a queue by Gittins index, and which" },
	{ .name = "gittins_delta_gpu_s",
	  .kind = OPTION_SECONDS,
	  .offset = G_STRUCT_OFFSET(TiresiasOptions, gittins_delta),
	  .standard = "3250",
	  .min = 1e-9,
	  .help = "the service looked ahead by fixed-delta and tiresias-sim, in GPU-seconds" },
	{ .name = "distribution",
	  .kind = OPTION_TEXT,
	  .is_path = TRUE,
	  .offset = G_STRUCT_OFFSET(TiresiasOptions, distribution),
	  .standard = "trace",
	  .help = "where Gittins indices know services from: the trace itself, or a file of "
	          "GPU-seconds, a number a line" },
	{ .name = "placement",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(TiresiasOptions, placement.kind),
	  .standard = "consolidate",
	  .choices = placement_names,
	  .help =
	      "how the GPUs of a gang are chosen among those that are free; skew: by its model" },
	{ .name = "max_level",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(TiresiasOptions, placement.max_level),
	  .standard = "cluster",
	  .choices = placement_level_names,
	  .help = "a gang is never spread beyond this level" },
	{ .name = "skew_threshold",
	  .kind = OPTION_NUMBER,
	  .offset = G_STRUCT_OFFSET(TiresiasOptions, skew_threshold),
	  .standard = "0.3",
	  .min = 0,
	  .max = 1,
	  .help = "with placement=skew, models above it wait for as few machines as they need" },
	{ .name = "preset",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(TiresiasOptions, preset),
	  .standard = "none",
	  .choices = preset_names,
	  .help = "paper: resume_s 62, unless the run gives overheads" },
	{ 0 },
};

/* wakes: one of each kind a job */

static guint64
demotion_tag(JobId job)
{
	return job;
}

static guint64
promotion_tag(const Tiresias *tiresias, JobId job)
{
	return (guint64)tiresias->n_jobs + job;
}

/* standing */

static GpuTime
attained(const Tiresias *tiresias, const View *view, JobId job)
{
	return view_attained_service(view, job) - tiresias->standings[job].promoted_service;
}

static GpuTime
threshold(const Tiresias *tiresias, guint queue)
{
	return (GpuTime)tiresias->options->thresholds.values[queue] * GPU_MILLI;
}

static guint
queue_of(const Tiresias *tiresias, GpuTime service)
{
	guint queue = 0;

	while (queue < tiresias->options->thresholds.n && threshold(tiresias, queue) <= service)
		queue++;
	return queue;
}

static WalkKey
tiresias_key(const void *self, const View *view, const Job *job)
{
	const Tiresias *tiresias = self;
	const Standing *standing = &tiresias->standings[job->id];

	return ((WalkKey)standing->queue << 64) + standing->first_start_ns;
}

static WalkKey
gittins_key(const void *self, const View *view, const Job *job)
{
	const Tiresias *tiresias = self;
	Standing *standing = &tiresias->standings[job->id];
	GpuTime service = attained(tiresias, view, job->id);

	return ((WalkKey)standing->queue << 66) -
	       score_rank_of(gittins_index(tiresias->gittins, service, &standing->sample));
}

/* Waits for the first nanosecond at which the job's service reaches the next threshold (A58). */
static void
await_demotion(const Tiresias *tiresias, const View *view, JobId id, Plan *plan)
{
	const Job *job = view_job(view, id);
	guint64 held_milli = job_held_milli(job, job->num_gpus);
	guint queue = tiresias->standings[id].queue;
	GpuTime left;

	plan_unwake(plan, demotion_tag(id));
	if (queue >= tiresias->options->thresholds.n)
		return;
	left = threshold(tiresias, queue) - attained(tiresias, view, id);
	left = (left + held_milli - 1) / held_milli;
	if (left < TIME_NEVER)
		plan_wake(plan, time_add(view_now_ns(view), (SimTime)left), demotion_tag(id));
}

static void
tiresias_started(void *self, const View *view, const Job *job, Plan *plan)
{
	Tiresias *tiresias = self;
	Standing *standing = &tiresias->standings[job->id];

	if (standing->first_start_ns == TIME_NEVER)
		standing->first_start_ns = view_now_ns(view);
	if (tiresias->knob_ppb > 0)
		plan_unwake(plan, promotion_tag(tiresias, job->id));
	await_demotion(tiresias, view, job->id, plan);
}

/* Its wait begins when its GPUs are gone; until then it attains service, and may yet be demoted. */
static void
tiresias_stopped(void *self, const View *view, const Job *job, Plan *plan)
{
	const Tiresias *tiresias = self;
	SimTime suspend_ns = view_overheads(view, job->id).suspend_ns;
	SimTime from_ns = time_add(view_now_ns(view), suspend_ns);
	__int128 executed_ns =
	    view_attained_ns(view, job->id) - tiresias->standings[job->id].promoted_ns + suspend_ns;
	__int128 patience_ns =
	    (executed_ns * tiresias->knob_ppb + SPEED_ONE_PPB - 1) / SPEED_ONE_PPB;

	if (suspend_ns == 0)
		plan_unwake(plan, demotion_tag(job->id));
	if (tiresias->knob_ppb > 0 && patience_ns < TIME_NEVER)
		plan_wake(plan, time_add(from_ns, (SimTime)patience_ns),
		          promotion_tag(tiresias, job->id));
}

/* A job that waits by now may have reached its threshold at the last instant of its suspension. */
static void
demote(Tiresias *tiresias, const View *view, JobId job)
{
	Standing *standing = &tiresias->standings[job];
	JobState state = view_state(view, job);

	if (job_state_is_done(state))
		return;
	standing->queue = queue_of(tiresias, attained(tiresias, view, job));
	walk_rekey(tiresias->walk, view, view_job(view, job));
	if (state != JOB_QUEUED)
		g_array_append_val(tiresias->demoted, job);
}

/* A promotion counts as a new first start, with nothing attained (A59). In the first queue there is
 * nothing to gain from it. */
static void
promote(Tiresias *tiresias, const View *view, JobId job)
{
	Standing *standing = &tiresias->standings[job];

	if (view_state(view, job) != JOB_QUEUED || standing->queue == 0)
		return;
	*standing = (Standing){
		.promoted_service = view_attained_service(view, job),
		.promoted_ns = view_attained_ns(view, job),
		.first_start_ns = view_now_ns(view),
	};
	walk_rekey(tiresias->walk, view, view_job(view, job));
}

/* the table */

static void
tiresias_timer(void *self, const View *view, guint64 tag)
{
	Tiresias *tiresias = self;

	if (tag < tiresias->n_jobs)
		demote(tiresias, view, (JobId)tag);
	else
		promote(tiresias, view, (JobId)(tag - tiresias->n_jobs));
}

static void
tiresias_completed(void *self, const View *view, const Job *job)
{
	Tiresias *tiresias = self;

	walk_completed(tiresias->walk, view, job);
	g_array_append_val(tiresias->ended, job->id);
}

static void
tiresias_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	Tiresias *tiresias = self;

	for (guint i = 0; i < tiresias->ended->len; i++)
		plan_unwake(plan, demotion_tag(g_array_index(tiresias->ended, JobId, i)));
	for (guint i = 0; i < tiresias->demoted->len; i++)
		await_demotion(tiresias, view, g_array_index(tiresias->demoted, JobId, i), plan);
	g_array_set_size(tiresias->ended, 0);
	g_array_set_size(tiresias->demoted, 0);
	walk_decide(tiresias->walk, view, plan);
}

static const PlacementOptions *
tiresias_placement(const void *self, const View *view, const Job *job)
{
	const Tiresias *tiresias = self;
	const ModelTable *models = view_models(view);
	double skew = job->model != MODEL_NONE ? models->models[job->model].skew : 0;

	return skew > tiresias->options->skew_threshold ? &tiresias->consolidated
	                                                : &tiresias->leftovers;
}

/* life */

static gint
compare_samples(gconstpointer one, gconstpointer other)
{
	const GpuTime *a = one, *b = other;

	return (*a > *b) - (*a < *b);
}

/* A file of GPU-seconds, a number a line; blank lines and comments do not count. */
static GArray * /* of GpuTime, ascending */
read_samples(const char *path, GError **error)
{
	g_autoptr(GArray) samples = g_array_new(FALSE, FALSE, sizeof(GpuTime));
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	gsize length;

	if (!file_read(path, &text, &length, error))
		return NULL;
	lines = g_strsplit(text, "\n", -1);
	for (guint i = 0; lines[i] != NULL; i++) {
		const char *line = g_strstrip(lines[i]);
		gint64 value = 0;
		GpuTime sample;
		DecimalVerdict verdict = decimal_parse(line, strlen(line), 9, &value);

		if (line[0] == '\0' || line[0] == '#')
			continue;
		if (verdict != DECIMAL_OK && verdict != DECIMAL_ROUNDED) {
			g_set_error(error, SIM_ERROR, SIM_ERROR_INPUT,
			            "%s:%u:1: found %s, wanted a number of GPU-seconds", path,
			            i + 1, line);
			return NULL;
		}
		sample = (GpuTime)value * GPU_MILLI;
		g_array_append_val(samples, sample);
	}
	if (samples->len > 0)
		qsort(samples->data, samples->len, sizeof(GpuTime), compare_samples);
	return g_steal_pointer(&samples);
}

static gboolean
init_gittins(Tiresias *tiresias, const View *view, GError **error)
{
	const TiresiasOptions *options = tiresias->options;
	GpuTime delta = (GpuTime)options->gittins_delta * GPU_MILLI;
	g_autoptr(GArray) samples = NULL;
	const GpuTime *from_trace;
	guint n = 0;

	if (options->gittins == GITTINS_OFF)
		return TRUE;
	if (g_strcmp0(options->distribution, "trace") == 0) {
		from_trace = view_service_distribution(view, &n);
		tiresias->gittins =
		    gittins_new((GittinsKind)options->gittins, from_trace, n, delta);
		return TRUE;
	}
	samples = read_samples(options->distribution, error);
	if (samples == NULL)
		return FALSE;
	tiresias->gittins =
	    gittins_new((GittinsKind)options->gittins,
	                (const GpuTime *)(gconstpointer)samples->data, samples->len, delta);
	return TRUE;
}

static gboolean
tiresias_init(void *self, const void *options, const View *view, GError **error)
{
	Tiresias *tiresias = self;
	const TiresiasOptions *given = options;

	tiresias->options = given;
	tiresias->n_jobs = view_n_jobs(view);
	if (given->promote_knob < HUGE_VAL)
		tiresias->knob_ppb = llround(given->promote_knob * 1e9);
	if (!init_gittins(tiresias, view, error))
		return FALSE;
	tiresias->rules = (WalkRules){
		.preempts = TRUE,
		/* With indices a tie goes to the running job (A61); else running plays no part. */
		.prefers_running = tiresias->gittins != NULL,
		.running_order = tiresias->gittins != NULL ? WALK_ORDER_CHANGES : WALK_ORDER_STATIC,
		.key = tiresias->gittins != NULL ? gittins_key : tiresias_key,
		.started = tiresias_started,
		.stopped = tiresias_stopped,
		.placement = given->placement.kind == PLACEMENT_SKEW ? tiresias_placement : NULL,
	};
	tiresias->leftovers = tiresias->consolidated = given->placement;
	tiresias->leftovers.kind = PLACEMENT_LEFTOVERS;
	tiresias->consolidated.kind = PLACEMENT_CONSOLIDATE;
	tiresias->consolidated.is_compact = TRUE;
	tiresias->standings = g_new0(Standing, tiresias->n_jobs);
	for (JobId job = 0; job < tiresias->n_jobs; job++)
		tiresias->standings[job].first_start_ns = TIME_NEVER;
	tiresias->demoted = g_array_new(FALSE, FALSE, sizeof(JobId));
	tiresias->ended = g_array_new(FALSE, FALSE, sizeof(JobId));
	tiresias->walk = walk_new(view, &tiresias->rules, &given->placement, tiresias);
	return TRUE;
}

static void
tiresias_finish(void *self)
{
	Tiresias *tiresias = self;

	walk_free(tiresias->walk);
	gittins_free(tiresias->gittins);
	g_free(tiresias->standings);
	g_clear_pointer(&tiresias->demoted, g_array_unref);
	g_clear_pointer(&tiresias->ended, g_array_unref);
}

static void
tiresias_preset(const void *options, Overheads *overheads)
{
	switch ((TiresiasPreset)((const TiresiasOptions *)options)->preset) {
	case PRESET_NONE:
		break;
	case PRESET_PAPER:
		overheads->resume_ns = PAPER_RESUME_NS;
		break;
	}
}

static PlacementLevel
tiresias_max_level(const void *options)
{
	return (PlacementLevel)((const TiresiasOptions *)options)->placement.max_level;
}

const PolicyClass tiresias_policy = {
	.abi = POLICY_ABI,
	.name = "tiresias",
	.version = "1",
	.summary = "least attained service in a few queues, first started first in each",
	.source = "Gu et al., Tiresias: A GPU cluster manager for distributed deep learning, "
	          "NSDI'19, sections 3 and 4",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES,
	.options = tiresias_options,
	.options_size = sizeof(TiresiasOptions),
	.state_size = sizeof(Tiresias),
	.init = tiresias_init,
	.arrived = walk_policy_arrived,
	.completed = tiresias_completed,
	.timer = tiresias_timer,
	.decide = tiresias_decide,
	.finish = tiresias_finish,
	.preset = tiresias_preset,
	.max_level = tiresias_max_level,
	.idea =
	    "Knows no durations. A job begins in the first of a few queues and falls to the next "
	    "when its GPU-time so far reaches a threshold; higher queues go first, gangs that "
	    "do not fit are passed over, and inside a queue who started first goes first, so "
	    "that long jobs are stopped seldom. Optionally the queues are ordered by Gittins "
	    "index, which knows the distribution of services though no single one; jobs that "
	    "have waited long are promoted; and models whose tensors are of very unequal size "
	    "wait for few machines, while others take what is left over anywhere.",
};
