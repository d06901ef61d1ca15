/* SPDX-License-Identifier: MIT */
#include "traces/generate.h"

#include <math.h>
#include <stdlib.h>

#include "traces/generate_spec.h"

#define MS_PER_S           1000.0
#define NS_PER_MS          G_GINT64_CONSTANT(1000000)
/* Beyond the clock: such a submit is refused by name. */
#define MAX_SUBMIT_S       1e10
#define MAX_JOB_S          1e9
#define MAX_GPUS           (1 << 24)
#define HOUR_S             3600.0

/* The largest number below 1. */
#define MAX_UNIT           0x1.fffffffffffffp-1

/* Draws of a stream that make an order of apps, behind those that make numbers. */
#define FIRST_PERMUTE_DRAW 1000
#define PERMUTE_ROUNDS     6

/*
 * Jobs are made first, as the rate of arrivals may depend on their work; then they are submitted,
 * sorted, and handed to the builder as a trace's rows are, so that the same checks hold.
 */

typedef struct MadeJob {
	guint32 app;
	guint32 number; /* within the app, from 1 */
	guint32 num_gpus, min_gpus, max_gpus;
	gint64 duration_ms;
	double gap_s; /* after the job before it in the app */
	gint64 submit_ms;
} MadeJob;

typedef struct Streams {
	RngStream arrivals, jobs_per_app, job_gap, num_gpus, min_gpus, max_gpus, length;
	RngStream tuner, loss_start, loss_end, loss_half;
	RngStream labels[N_GENERATED_LABELS];
} Streams;

typedef struct Maker {
	const GenerateSpec *spec;
	Streams streams;
	guint32 n_apps;
	GArray *jobs;    /* of MadeJob, app after app */
	GArray *times_s; /* of double: when apps arrive, of ARRIVALS_DRAWN */
} Maker;

static Streams
streams_new(guint64 seed)
{
	static const char *const label_names[] = {
		[GENERATED_USER] = "trace-user",         [GENERATED_TENANT] = "trace-tenant",
		[GENERATED_GROUP] = "trace-group",       [GENERATED_MODEL] = "trace-model",
		[GENERATED_GPU_TYPE] = "trace-gpu-type",
	};
	Streams streams = {
		.arrivals = rng_stream(seed, "trace-arrivals"),
		.jobs_per_app = rng_stream(seed, "trace-jobs-per-app"),
		.job_gap = rng_stream(seed, "trace-job-gap"),
		.num_gpus = rng_stream(seed, "trace-num-gpus"),
		.min_gpus = rng_stream(seed, "trace-min-gpus"),
		.max_gpus = rng_stream(seed, "trace-max-gpus"),
		.length = rng_stream(seed, "trace-length"),
		.tuner = rng_stream(seed, "trace-tuner"),
		.loss_start = rng_stream(seed, "trace-loss-start"),
		.loss_end = rng_stream(seed, "trace-loss-end"),
		.loss_half = rng_stream(seed, "trace-loss-half"),
	};

	for (guint i = 0; i < N_GENERATED_LABELS; i++)
		streams.labels[i] = rng_stream(seed, label_names[i]);
	return streams;
}

/* Jobs */

/* A place of 0 .. @n - 1 for @i, each once, in an order that is the stream's: a Feistel network
 * over the next power of four, gone round until it ends below @n. */
static guint32
permute(RngStream stream, guint32 n, guint32 i, guint64 draw)
{
	guint half_bits = 1;

	while (G_GUINT64_CONSTANT(1) << (2 * half_bits) < n)
		half_bits++;
	do {
		guint32 mask = (1u << half_bits) - 1;
		guint32 left = i >> half_bits, right = i & mask;

		for (guint round = 0; round < PERMUTE_ROUNDS; round++) {
			guint32 key = (guint32)rng_draw(
			    stream, right, FIRST_PERMUTE_DRAW + draw * PERMUTE_ROUNDS + round);
			guint32 next = left ^ (key & mask);

			left = right;
			right = next;
		}
		i = left << half_bits | right;
	} while (i >= n);
	return i;
}

/* The app's number in [0, 1); where draws are even, one app's lies in each n-th part of it. */
static double
app_unit(const Maker *maker, RngStream stream, guint32 app, guint64 draw)
{
	guint32 n = maker->spec->n_apps;
	double unit = rng_unit(stream, app, draw);

	return maker->spec->is_even ? (permute(stream, n, app, draw) + unit) / n : unit;
}

static double
draw_for_app(const Maker *maker, const Quantity *quantity, RngStream stream, guint32 app)
{
	if (!maker->spec->is_even)
		return variate_draw(&quantity->variate, stream, app);
	return variate_quantile(&quantity->variate, app_unit(maker, stream, app, 0));
}

/* Two normal scores mixed so that the sum is one, of correlation @part with the first. */
static double
mix_scores(double part, double one, double other)
{
	return part * one + sqrt(1 - part * part) * other;
}

/* What the jobs of an app have in common; an app of many jobs may have larger ones. */
static double
draw_alike(const Maker *maker, const Quantity *quantity, RngStream stream, guint32 app, guint64 job)
{
	double size = app_unit(maker, maker->streams.jobs_per_app, app, 0);
	double common = mix_scores(quantity->with_jobs, variate_normal_quantile(size),
	                           variate_normal_quantile(app_unit(maker, stream, app, 1)));
	double score = mix_scores(sqrt(quantity->alike), common, variate_unit_normal(stream, job));

	return variate_quantile(&quantity->variate, MIN(variate_normal_cdf(score), MAX_UNIT));
}

/* The entity is the app or the job within its app, never a running number: so that one app's jobs
 * do not depend on how many another has. */
static double
draw(const Maker *maker, const Quantity *quantity, RngStream stream, guint32 app, guint64 job)
{
	if (quantity->drawn_for == DRAWN_FOR_APP)
		return draw_for_app(maker, quantity, stream, app);
	if (quantity->alike > 0)
		return draw_alike(maker, quantity, stream, app, job);
	return variate_draw(&quantity->variate, stream, job);
}

static guint32
round_count(double value)
{
	return (guint32)MIN(floor(value + 0.5), MAX_GPUS);
}

static guint32
draw_count(const Maker *maker, const Quantity *quantity, RngStream stream, guint32 app, guint64 job)
{
	return round_count(draw(maker, quantity, stream, app, job));
}

/* To the nearest multiple of the resolution. */
static gint64
round_to_ms(const GenerateSpec *spec, double time_s)
{
	double ticks = floor(time_s * MS_PER_S / (double)spec->resolution_ms + 0.5);

	return (gint64)ticks * spec->resolution_ms;
}

static gint64
draw_duration_ms(const Maker *maker, const MadeJob *job, guint64 entity)
{
	const GenerateSpec *spec = maker->spec;
	double length_s = draw(maker, &spec->length, maker->streams.length, job->app, entity) *
	                  spec->length_unit_s;

	if (spec->length_is_work && job->num_gpus > 1)
		length_s /= job->num_gpus;
	return round_to_ms(spec, MIN(length_s, MAX_JOB_S));
}

static void
make_job(Maker *maker, guint32 app, guint32 number)
{
	const GenerateSpec *spec = maker->spec;
	guint64 entity = (guint64)app << 32 | number;
	MadeJob job = { .app = app, .number = number };

	job.num_gpus = draw_count(maker, &spec->num_gpus, maker->streams.num_gpus, app, entity);
	job.min_gpus = draw_count(maker, &spec->min_gpus, maker->streams.min_gpus, app, entity);
	job.max_gpus = draw_count(maker, &spec->max_gpus, maker->streams.max_gpus, app, entity);
	job.duration_ms = draw_duration_ms(maker, &job, entity);
	if (number > 1)
		job.gap_s = draw(maker, &spec->job_gap_s, maker->streams.job_gap, app, entity);
	g_array_append_val(maker->jobs, job);
}

static void
make_app(Maker *maker)
{
	const GenerateSpec *spec = maker->spec;
	guint32 app = maker->n_apps++;
	guint32 n = MAX(
	    round_count(draw_for_app(maker, &spec->jobs_per_app, maker->streams.jobs_per_app, app)),
	    1);

	/* Where the number of jobs is given, the last app is cut to fit. */
	if (spec->n_jobs > 0)
		n = MIN(n, spec->n_jobs - maker->jobs->len);
	for (guint32 number = 1; number <= n; number++)
		make_job(maker, app, number);
}

static void
make_apps(Maker *maker)
{
	const GenerateSpec *spec = maker->spec;

	while (spec->n_jobs > 0 ? maker->jobs->len < spec->n_jobs : maker->n_apps < spec->n_apps)
		make_app(maker);
}

/* Arrivals */

/* When the integral of the bursts' rate, times @scale, has grown by @amount since @now_s. */
static double
pass_bursts(const Arrivals *arrivals, double scale, double now_s, double amount)
{
	const RatePiece *pieces = &g_array_index(arrivals->pieces, RatePiece, 0);
	double per_period = arrivals_mean_per_s(arrivals) * arrivals->period_s * scale;
	double start_s = 0;
	guint i = 0;

	if (arrivals->period_s > 0) {
		double n_periods = floor(amount / per_period);

		start_s = floor(now_s / arrivals->period_s) * arrivals->period_s;
		start_s += n_periods * arrivals->period_s;
		now_s += n_periods * arrivals->period_s;
		amount -= n_periods * per_period;
	}
	for (;;) {
		gboolean is_last = i + 1 == arrivals->pieces->len;
		double end_s = start_s + (is_last ? arrivals->period_s : pieces[i + 1].from_s);
		double per_s = pieces[i].per_s * scale;
		gboolean is_endless = is_last && arrivals->period_s == 0;

		if (per_s > 0 && (is_endless || now_s + amount / per_s < end_s))
			return now_s + amount / per_s;
		if (now_s < end_s) {
			amount -= per_s * (end_s - now_s);
			amount = MAX(amount, 0);
			now_s = end_s;
		}
		if (is_last)
			start_s += arrivals->period_s;
		i = is_last ? 0 : i + 1;
	}
}

/* A draw for each app, which a fixed process leaves unused. */
static double
next_arrival_s(const Maker *maker, double scale, double now_s, guint32 app)
{
	const Arrivals *arrivals = &maker->spec->arrivals;
	double amount = variate_unit_exponential(maker->streams.arrivals, app);

	switch (arrivals->process) {
	case ARRIVALS_AT_ONCE:
		return 0;
	case ARRIVALS_FIXED:
		return app / (arrivals->per_s * scale);
	case ARRIVALS_POISSON:
		return now_s + amount / (arrivals->per_s * scale);
	case ARRIVALS_BURSTS:
		return pass_bursts(arrivals, scale, now_s, amount);
	case ARRIVALS_DRAWN:
		return g_array_index(maker->times_s, double, app);
	}
	g_assert_not_reached();
}

static int
compare_doubles(gconstpointer one, gconstpointer other)
{
	const double *a = one, *b = other;

	return *a < *b ? -1 : *a > *b;
}

/* Apps are numbered as they arrive. */
static void
draw_times(Maker *maker)
{
	for (guint32 app = 0; app < maker->n_apps; app++) {
		double unit = app_unit(maker, maker->streams.arrivals, app, 0);
		double time_s = variate_quantile(&maker->spec->arrivals.at_h, unit) * HOUR_S;

		g_array_append_val(maker->times_s, time_s);
	}
	g_array_sort(maker->times_s, compare_doubles);
}

/* The mean work of an app times the mean rate of arrivals is what the cluster is offered; the
 * rate is scaled so that this is the wanted part of its GPUs. */
static double
load_scale(const Maker *maker)
{
	const GenerateSpec *spec = maker->spec;
	__int128 work_gpu_ms = 0;
	double per_app_gpu_s;

	if (spec->load == 0)
		return 1;
	for (guint i = 0; i < maker->jobs->len; i++) {
		const MadeJob *job = &g_array_index(maker->jobs, MadeJob, i);

		work_gpu_ms += (__int128)job->duration_ms * job->num_gpus;
	}
	if (work_gpu_ms == 0)
		return 1;
	per_app_gpu_s = (double)work_gpu_ms / MS_PER_S / maker->n_apps;
	return spec->load * spec->load_gpus /
	       (per_app_gpu_s * arrivals_mean_per_s(&spec->arrivals));
}

static void
submit_jobs(Maker *maker)
{
	const GenerateSpec *spec = maker->spec;
	double scale = load_scale(maker);
	double arrival_s = 0, submit_s = 0;

	if (spec->arrivals.process == ARRIVALS_DRAWN)
		draw_times(maker);
	for (guint i = 0; i < maker->jobs->len; i++) {
		MadeJob *job = &g_array_index(maker->jobs, MadeJob, i);

		if (job->number == 1) {
			arrival_s = next_arrival_s(maker, scale, arrival_s, job->app);
			submit_s = arrival_s / spec->arrivals.speedup;
		}
		submit_s += job->gap_s;
		job->submit_ms = spec->start_ms + round_to_ms(spec, MIN(submit_s, MAX_SUBMIT_S));
	}
}

static int
compare_submits(gconstpointer one, gconstpointer other)
{
	const MadeJob *a = one, *b = other;

	if (a->submit_ms != b->submit_ms)
		return a->submit_ms < b->submit_ms ? -1 : 1;
	if (a->app != b->app)
		return a->app < b->app ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* The rows */

static const char *
name_of(const Maker *maker, const LabelMix *mix, RngStream stream, guint32 app)
{
	if (!mix->names)
		return "";
	return g_ptr_array_index(
	    mix->names, (guint)variate_quantile(&mix->choice, app_unit(maker, stream, app, 0)));
}

static const char *
label_of(const Maker *maker, GeneratedLabel label, guint32 app)
{
	return name_of(maker, &maker->spec->labels[label], maker->streams.labels[label], app);
}

/* To whole billionths, which a trace can hold. */
static double
round_loss(double loss)
{
	return floor(MIN(loss, LOSS_MAX) * 1e9 + 0.5) / 1e9;
}

static LossCurve
draw_loss(const Maker *maker, const MadeJob *job)
{
	const GenerateSpec *spec = maker->spec;
	guint64 entity = (guint64)job->app << 32 | job->number;
	double half_s =
	    draw(maker, &spec->loss_half_frac, maker->streams.loss_half, job->app, entity) *
	    (double)job->duration_ms / MS_PER_S;

	return (LossCurve){
		.start = round_loss(
		    draw(maker, &spec->loss_start, maker->streams.loss_start, job->app, entity)),
		.end = round_loss(
		    draw(maker, &spec->loss_end, maker->streams.loss_end, job->app, entity)),
		.half_ns = MAX(round_to_ms(spec, MIN(half_s, MAX_JOB_S)), 1) * NS_PER_MS,
	};
}

static void
add_row(const Maker *maker, const MadeJob *job, GString *app, GString *name,
        WorkloadBuilder *builder)
{
	JobDraft draft;

	job_draft_init(&draft);
	g_string_printf(app, "app%u", job->app + 1);
	g_string_printf(name, "app%u-%u", job->app + 1, job->number);
	if (maker->spec->jobs_per_app.is_given)
		draft.app = app->str;
	else
		g_string_printf(name, "job%u", job->app + 1);
	draft.name = name->str;
	draft.user = label_of(maker, GENERATED_USER, job->app);
	draft.tenant = label_of(maker, GENERATED_TENANT, job->app);
	draft.group = label_of(maker, GENERATED_GROUP, job->app);
	draft.model = label_of(maker, GENERATED_MODEL, job->app);
	draft.gpu_type = label_of(maker, GENERATED_GPU_TYPE, job->app);
	draft.submit_ns = job->submit_ms * NS_PER_MS;
	draft.duration_ns = job->duration_ms * NS_PER_MS;
	draft.num_gpus = job->num_gpus;
	draft.min_gpus = job->min_gpus;
	draft.max_gpus = job->max_gpus;
	draft.tuner = name_of(maker, &maker->spec->tuners, maker->streams.tuner, job->app);
	if (maker->spec->has_losses)
		draft.loss = draw_loss(maker, job);
	workload_builder_add(builder, &draft);
}

/* Jobs come in order of submit, so that the first that is late is followed by late ones alone. */
static gboolean
is_on_clock(const Maker *maker, guint i, Problems *problems)
{
	const MadeJob *job = &g_array_index(maker->jobs, MadeJob, i);

	if (job->submit_ms <= G_MAXINT64 / NS_PER_MS)
		return TRUE;
	problems_add(problems, 0, 0, "time overflow",
	             "found arrivals beyond the clock from job %u on, wanted a higher rate", i + 1);
	return FALSE;
}

static Workload *
build(const Maker *maker, const char *path, GError **error)
{
	Problems *problems = problems_new(path);
	WorkloadBuilder *builder = workload_builder_new(path, problems);
	g_autoptr(GString) app = g_string_new(NULL);
	g_autoptr(GString) name = g_string_new(NULL);

	for (guint i = 0; i < maker->jobs->len && is_on_clock(maker, i, problems); i++)
		add_row(maker, &g_array_index(maker->jobs, MadeJob, i), app, name, builder);
	if (problems->n_bad == 0)
		return workload_builder_finish(builder);
	problems_to_error(problems, error);
	workload_builder_free(builder);
	problems_free(problems);
	return NULL;
}

Workload *
trace_generate(const char *spec_path, const guint64 *seed, const char *const *sets, GError **error)
{
	g_autoptr(GenerateSpec) spec = generate_spec_read(spec_path, sets, error);
	g_autoptr(GArray) jobs = g_array_new(FALSE, FALSE, sizeof(MadeJob));
	g_autoptr(GArray) times_s = g_array_new(FALSE, FALSE, sizeof(double));
	Maker maker = { .spec = spec, .jobs = jobs, .times_s = times_s };

	if (!spec)
		return NULL;
	maker.streams = streams_new(seed ? *seed : spec->seed);
	make_apps(&maker);
	submit_jobs(&maker);
	g_array_sort(jobs, compare_submits);
	return build(&maker, spec_path, error);
}
