/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <check.h>

#include "policies/registry.h"
#include "sim/engine/engine.h"
#include "tests/trace_text.h"
#include "traces/generate.h"

/*
 * Workloads 1 and 2 against what the Themis paper shows of its own, as read off its figures. The
 * distance of two distributions is Kolmogorov's and Smirnov's: the largest difference of their
 * parts below a value. An honest sample of 85 apps of the very same distribution is 0.147 or more
 * away in one of twenty cases; apps that divide a distribution evenly are nearer.
 */

typedef struct Point {
	double value, part;
} Point;

/* Figure 2: jobs an app. */
static const Point jobs_per_app[] = {
	{ 1, .05 },  { 4, .19 },  { 10, .22 }, { 20, .25 }, { 20, .36 }, { 40, .39 }, { 58, .455 },
	{ 78, .49 }, { 80, .55 }, { 85, .67 }, { 88, .75 }, { 95, .84 }, { 98, .90 }, { 100, 1 },
};

/* Figure 3: GPU-hours an app. */
static const Point app_gpu_h[] = {
	{ 0, 0 },     { 10, .13 },  { 25, .27 },   { 50, .33 },  { 100, .41 },
	{ 130, .45 }, { 230, .47 }, { 290, .54 },  { 335, .65 }, { 365, .75 },
	{ 430, .83 }, { 530, .91 }, { 650, .985 }, { 735, 1 },
};

/* Figure 4: GPU-minutes a job, without its thin tail to 1590. */
static const Point job_gpu_min[] = {
	{ 0, 0 },     { 40, .03 },  { 100, .13 }, { 150, .30 }, { 200, .41 },
	{ 230, .46 }, { 240, .60 }, { 320, .67 }, { 350, .78 }, { 440, .87 },
	{ 460, .94 }, { 620, .99 }, { 700, 1 },
};

/* Figure 1: mean demand from hour to hour, and the largest around hour 550. */
static const struct {
	double from_h, to_h, gpus;
} plateaus[] = { { 122, 150, 95 }, { 236, 270, 80 }, { 437, 465, 325 } }, quiet[] = {
	{ 165, 225, 0 },
	{ 290, 430, 0 },
	{ 480, 545, 0 },
};

#define SPIKE_FROM_H 545
#define SPIKE_TO_H   560
#define SPIKE_GPUS   465

/* The part of the published distribution at or below @value; straight between points. */
static double
part_at(const Point *points, guint n, double value)
{
	double part = value < points[0].value ? 0 : points[0].part;

	for (guint i = 1; i < n; i++) {
		const Point *before = &points[i - 1], *point = &points[i];

		if (value >= point->value)
			part = point->part;
		else if (value >= before->value)
			return before->part + (point->part - before->part) *
			                          (value - before->value) /
			                          (point->value - before->value);
	}
	return part;
}

static int
compare_doubles(gconstpointer one, gconstpointer other)
{
	const double *a = one, *b = other;

	return *a < *b ? -1 : *a > *b;
}

/* @values, of double, are sorted on the way. */
static double
distance(GArray *values, const Point *points, guint n)
{
	double largest = 0;
	guint end;

	g_array_sort(values, compare_doubles);
	for (guint begin = 0; begin < values->len; begin = end) {
		double value = g_array_index(values, double, begin);
		double below, at;

		for (end = begin; end < values->len && g_array_index(values, double, end) == value;)
			end++;
		/* Where the published one jumps, its parts on both sides are compared. */
		below = fabs(part_at(points, n, value - 1e-9) - (double)begin / values->len);
		at = fabs(part_at(points, n, value) - (double)end / values->len);
		largest = fmax(largest, fmax(below, at));
	}
	return largest;
}

/* Demand: the GPUs of all jobs, as if each ran when it is submitted */

typedef struct Change {
	double at_h;
	double gpus;
} Change;

static int
compare_changes(gconstpointer one, gconstpointer other)
{
	const Change *a = one, *b = other;

	return a->at_h < b->at_h ? -1 : a->at_h > b->at_h;
}

static GArray *
demand_of(const Workload *workload)
{
	GArray *changes = g_array_new(FALSE, FALSE, sizeof(Change));

	for (guint i = 0; i < workload->n_jobs; i++) {
		const Job *job = &workload->jobs[i];
		double submit_h = (double)(workload->origin_ns + job->submit_ns) / 3.6e12;
		Change pair[] = { { submit_h, job->num_gpus },
			          { submit_h + (double)workload->duration_ns[i] / 3.6e12,
			            -(double)job->num_gpus } };

		g_array_append_vals(changes, pair, 2);
	}
	g_array_sort(changes, compare_changes);
	return changes;
}

static double
mean_demand(const GArray *changes, double from_h, double to_h)
{
	double gpus = 0, gpu_h = 0, now_h = 0;

	for (guint i = 0; i < changes->len; i++) {
		const Change *change = &g_array_index(changes, Change, i);
		double begin_h = fmax(now_h, from_h), end_h = fmin(change->at_h, to_h);

		gpu_h += gpus * fmax(end_h - begin_h, 0);
		gpus += change->gpus;
		now_h = change->at_h;
	}
	return gpu_h / (to_h - from_h);
}

static double
largest_demand(const GArray *changes, double from_h, double to_h)
{
	double gpus = 0, largest = 0;

	for (guint i = 0; i < changes->len; i++) {
		const Change *change = &g_array_index(changes, Change, i);

		gpus += change->gpus;
		if (change->at_h >= from_h && change->at_h <= to_h)
			largest = fmax(largest, gpus);
	}
	return largest;
}

/* What a workload is like */

typedef struct Shape {
	double jobs, hours, minutes; /* distances from figures 2, 3 and 4 */
	double plateaus[G_N_ELEMENTS(plateaus)], quiet[G_N_ELEMENTS(quiet)], spike; /* in GPUs */
	double gpu_h;
} Shape;

/* What each job is about; where tuners stop some early, what they have done. */
static GpuTime
job_work(const Workload *workload, const RunRecord *record, guint i)
{
	const Job *job = &workload->jobs[i];

	return record ? record->jobs[i].service
	              : (GpuTime)workload->duration_ns[i] * job->num_gpus * GPU_MILLI;
}

static double
gpu_hours(GpuTime work)
{
	return (double)work / (double)GPU_TIME_PER_GPU_S / 3600;
}

static void
measure_apps(const Workload *workload, const RunRecord *record, Shape *shape)
{
	g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(double));
	g_autoptr(GArray) hours = g_array_new(FALSE, FALSE, sizeof(double));
	g_autoptr(GArray) minutes = g_array_new(FALSE, FALSE, sizeof(double));

	for (guint i = 0; i < workload->n_apps; i++) {
		const App *app = &workload->apps[i];
		double n = app->n_jobs, gpu_h = 0;

		for (guint j = 0; j < app->n_jobs; j++) {
			double job_h = gpu_hours(job_work(workload, record, app->jobs[j]));
			double minutes_of_job = job_h * 60;

			gpu_h += job_h;
			g_array_append_val(minutes, minutes_of_job);
		}
		g_array_append_val(counts, n);
		g_array_append_val(hours, gpu_h);
		shape->gpu_h += gpu_h;
	}
	shape->jobs = distance(counts, jobs_per_app, G_N_ELEMENTS(jobs_per_app));
	shape->hours = distance(hours, app_gpu_h, G_N_ELEMENTS(app_gpu_h));
	shape->minutes = distance(minutes, job_gpu_min, G_N_ELEMENTS(job_gpu_min));
}

static Shape
measure(const char *name, const guint64 *seed)
{
	g_autofree char *path = project_file(name);
	g_autoptr(Workload) workload = trace_generate(path, seed, NULL, NULL);
	g_autoptr(GArray) changes = NULL;
	Shape shape = { 0 };

	ck_assert_ptr_nonnull(workload);
	ck_assert_uint_eq(workload->n_apps, 85);
	changes = demand_of(workload);
	measure_apps(workload, NULL, &shape);
	for (guint i = 0; i < G_N_ELEMENTS(plateaus); i++)
		shape.plateaus[i] = mean_demand(changes, plateaus[i].from_h, plateaus[i].to_h);
	for (guint i = 0; i < G_N_ELEMENTS(quiet); i++)
		shape.quiet[i] = mean_demand(changes, quiet[i].from_h, quiet[i].to_h);
	shape.spike = largest_demand(changes, SPIKE_FROM_H, SPIKE_TO_H);
	return shape;
}

static void
print_shape(const char *what, const Shape *shape)
{
	printf("%s: distances %.3f jobs, %.3f GPU-hours, %.3f GPU-minutes; demand %.0f %.0f %.0f, "
	       "spike %.0f; %.0f GPU-hours\n",
	       what, shape->jobs, shape->hours, shape->minutes, shape->plateaus[0],
	       shape->plateaus[1], shape->plateaus[2], shape->spike, shape->gpu_h);
}

/* The samples as they are. */

static const struct {
	const char *name;
	gboolean has_spike; /* wide jobs are short, so that more of them start at once */
} samples[] = {
	{ "traces/samples/themis-w1.yaml", TRUE },
	{ "traces/samples/themis-w2.yaml", FALSE },
};

START_TEST(is_as_published)
{
	Shape shape = measure(samples[_i].name, NULL);

	print_shape(samples[_i].name, &shape);
	ck_assert_double_le(shape.jobs, 0.04);
	ck_assert_double_le(shape.hours, 0.08);
	ck_assert_double_le(shape.minutes, 0.02);
	for (guint i = 0; i < G_N_ELEMENTS(plateaus); i++)
		ck_assert_double_le(fabs(shape.plateaus[i] / plateaus[i].gpus - 1), 0.15);
	for (guint i = 0; i < G_N_ELEMENTS(quiet); i++)
		ck_assert_double_le(shape.quiet[i], 10);
	if (samples[_i].has_spike)
		ck_assert_double_le(fabs(shape.spike / SPIKE_GPUS - 1), 0.15);
}
END_TEST

/* Whatever the seed, distributions hold; demand does on the average, as 14 apps of very different
 * sizes make a plateau. */
#define N_SEEDS 40

START_TEST(is_so_with_any_seed)
{
	Shape sum = { 0 };

	for (guint64 seed = 1000; seed < 1000 + N_SEEDS; seed++) {
		Shape shape = measure(samples[_i].name, &seed);

		ck_assert_double_le(shape.jobs, 0.05);
		ck_assert_double_le(shape.hours, 0.13);
		ck_assert_double_le(shape.minutes, 0.05);
		for (guint i = 0; i < G_N_ELEMENTS(plateaus); i++)
			sum.plateaus[i] += shape.plateaus[i] / N_SEEDS;
		sum.jobs += shape.jobs / N_SEEDS;
		sum.hours += shape.hours / N_SEEDS;
		sum.minutes += shape.minutes / N_SEEDS;
		sum.spike += shape.spike / N_SEEDS;
		sum.gpu_h += shape.gpu_h / N_SEEDS;
	}
	print_shape("mean of 40 seeds", &sum);
	for (guint i = 0; i < G_N_ELEMENTS(plateaus); i++)
		ck_assert_double_le(fabs(sum.plateaus[i] / plateaus[i].gpus - 1), 0.12);
	if (samples[_i].has_spike)
		ck_assert_double_le(fabs(sum.spike / SPIKE_GPUS - 1), 0.15);
}
END_TEST

/* What is run of the workloads with a tuner, on so many GPUs that nobody waits: the work that a
 * tuner leaves is then the trace's alone. */

#define FIG3_GPU_H 19717 /* 85 times the mean of figure 3 */

static const struct {
	const char *name, *untuned;
	double scale;        /* of what the jobs of the untuned one work */
	double minutes;      /* distance from figure 4 */
	double stopped_part; /* of the jobs */
} tuned_samples[] = {
	{ "traces/samples/themis-w1-tuned.yaml", "traces/samples/themis-w1.yaml", 1.3, 0.08,
	  0.615 },
	{ "traces/samples/themis-w2-tuned.yaml", "traces/samples/themis-w2.yaml", 1.36, 0.09,
	  0.503 },
};

static RunRecord *
run_alone(Workload *workload)
{
	const PolicyClass *fifo = policy_find("fifo");
	g_autoptr(ClusterSpec) cluster = cluster_spec_load("600x4", NULL);
	g_autoptr(ModelTable) models = model_table_new_empty();
	Scenario scenario = { .workload = workload,
		              .cluster = cluster,
		              .models = models,
		              .seed = 1,
		              .window_to_ns = TIME_NEVER,
		              .stop_ns = TIME_NEVER };
	EngineSettings settings = { .is_strict = TRUE };
	void *options = options_new(fifo->options, fifo->options_size);
	g_autoptr(Engine) engine = NULL;
	RunRecord *record;

	scenario_resolve(workload, cluster, models);
	engine = engine_new(&scenario, fifo, options, &settings, NULL);
	record = engine_run(engine, NULL);
	ck_assert_ptr_nonnull(record);
	options_free(fifo->options, options);
	return record;
}

static guint
count_ends(const Workload *workload, const RunRecord *record, JobState state)
{
	guint n = 0;

	for (guint i = 0; i < workload->n_jobs; i++)
		n += record->jobs[i].state == state;
	return n;
}

START_TEST(runs_as_published)
{
	g_autofree char *path = project_file(tuned_samples[_i].name);

	for (guint64 seed = 98; seed < 102; seed++) {
		g_autoptr(Workload) workload = trace_generate(path, &seed, NULL, NULL);
		g_autoptr(RunRecord) record = run_alone(workload);
		guint n_stopped = count_ends(workload, record, JOB_STOPPED);
		Shape shape = { 0 };

		ck_assert_uint_eq(n_stopped + count_ends(workload, record, JOB_FINISHED),
		                  workload->n_jobs);
		measure_apps(workload, record, &shape);
		printf("%s, seed %u: %u of %u jobs stopped; distances %.3f GPU-hours, %.3f "
		       "GPU-minutes; %.0f GPU-hours\n",
		       tuned_samples[_i].name, (guint)seed, n_stopped, workload->n_jobs,
		       shape.hours, shape.minutes, shape.gpu_h);
		ck_assert_double_le(shape.hours, 0.09);
		ck_assert_double_le(shape.minutes, tuned_samples[_i].minutes);
		ck_assert_double_le(fabs(shape.gpu_h / FIG3_GPU_H - 1), 0.03);
		ck_assert_double_le(
		    fabs((double)n_stopped / workload->n_jobs - tuned_samples[_i].stopped_part),
		    0.01);
	}
}
END_TEST

/* The apps of the workload without tuners at the same times, with trainings to the scale. */
START_TEST(tunes_the_same_apps)
{
	g_autofree char *path = project_file(tuned_samples[_i].name);
	g_autofree char *untuned_path = project_file(tuned_samples[_i].untuned);
	g_autoptr(Workload) tuned = trace_generate(path, NULL, NULL, NULL);
	g_autoptr(Workload) untuned = trace_generate(untuned_path, NULL, NULL, NULL);

	ck_assert_uint_eq(tuned->n_jobs, untuned->n_jobs);
	for (guint i = 0; i < tuned->n_jobs; i++) {
		const Job *job = &tuned->jobs[i], *twin = &untuned->jobs[i];
		double scaled_ns = tuned_samples[_i].scale * (double)untuned->duration_ns[i];

		ck_assert_str_eq(job->name, twin->name);
		ck_assert_str_eq(job->model_name, twin->model_name);
		ck_assert_int_eq(job->submit_ns, twin->submit_ns);
		ck_assert_uint_eq(job->num_gpus, twin->num_gpus);
		/* Both are rounded to seconds. */
		ck_assert_double_le(fabs((double)tuned->duration_ns[i] - scaled_ns),
		                    1.2 * (double)NS_PER_S);
		ck_assert_ptr_nonnull(tuned->apps[job->app].tuner);
	}
}
END_TEST

static guint
count_of_models(const Workload *workload, const char *const *names)
{
	guint n = 0;

	for (guint i = 0; i < workload->n_apps; i++)
		n += g_strv_contains(names, workload->jobs[workload->apps[i].jobs[0]].model_name);
	return n;
}

/* The share is the spec's to an app, and a larger one keeps the apps of the smaller. */
START_TEST(takes_a_share_of_network_intensive_apps)
{
	static const char *const network[] = { "vgg16", "vgg19",       "alexnet", "lm",
		                               "gnmt",  "transformer", NULL };

	for (guint percent = 0; percent <= 100; percent += 20) {
		g_autofree char *path = project_file(samples[_i].name);
		g_autofree char *one = g_strdup_printf("models.network.share=%u", percent);
		g_autofree char *other = g_strdup_printf("models.compute.share=%u", 100 - percent);
		const char *sets[] = { one, other, NULL };
		g_autoptr(Workload) workload = trace_generate(path, NULL, sets, NULL);

		ck_assert_ptr_nonnull(workload);
		ck_assert_uint_eq(count_of_models(workload, network), 85 * percent / 100);
	}
}
END_TEST

/* Workload 2 is workload 1 on more GPUs: the same apps at the same times, as much work. */
START_TEST(is_the_same_work)
{
	g_autofree char *one_path = project_file(samples[0].name);
	g_autofree char *other_path = project_file(samples[1].name);
	g_autoptr(Workload) one = trace_generate(one_path, NULL, NULL, NULL);
	g_autoptr(Workload) other = trace_generate(other_path, NULL, NULL, NULL);

	ck_assert_uint_eq(one->n_jobs, other->n_jobs);
	for (guint i = 0; i < one->n_apps; i++) {
		const App *app = &one->apps[i], *twin = &other->apps[i];

		ck_assert_str_eq(app->name, twin->name);
		ck_assert_uint_eq(app->n_jobs, twin->n_jobs);
		ck_assert_int_eq(app->submit_ns, twin->submit_ns);
		/* A second of rounding a job. */
		ck_assert_double_le(fabs((double)(app->work - twin->work)),
		                    (double)(app->n_jobs * 4 * GPU_TIME_PER_GPU_S));
	}
}
END_TEST

static Suite *
workload_shapes_suite(void)
{
	Suite *suite = suite_create("workload_shapes");
	TCase *tests = tcase_create("workload_shapes");

	tcase_set_timeout(tests, 300);
	tcase_add_loop_test(tests, is_as_published, 0, G_N_ELEMENTS(samples));
	tcase_add_loop_test(tests, is_so_with_any_seed, 0, G_N_ELEMENTS(samples));
	tcase_add_loop_test(tests, tunes_the_same_apps, 0, G_N_ELEMENTS(tuned_samples));
	tcase_add_loop_test(tests, runs_as_published, 0, G_N_ELEMENTS(tuned_samples));
	tcase_add_loop_test(tests, takes_a_share_of_network_intensive_apps, 0,
	                    G_N_ELEMENTS(samples));
	tcase_add_test(tests, is_the_same_work);
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(workload_shapes_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
