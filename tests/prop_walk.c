/* SPDX-License-Identifier: MIT */

/*
 * The walk against its definition: a policy that does what A55 says word by word (all active jobs
 * sorted, counted over the empty cluster) must give every job the same life as the walk that looks
 * at what changes. On one machine records are equal; over several, or where places are looked at,
 * losers may move, which without migrate_s changes nobody's times. THEMIS_SEED=n reruns one world.
 */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "policies/tiresias/gittins.h"
#include "sim/base/score.h"
#include "sim/base/text.h"
#include "sim/policy.h"
#include "tests/fixture.h"

#define N_SHORT 60
#define N_LONG  1000

typedef enum NaiveKind {
	NAIVE_FIFO,
	NAIVE_FIFO_SKIP,
	NAIVE_SJF,
	NAIVE_SRTF,
	NAIVE_SRSF,
	NAIVE_PRIORITY,
	NAIVE_LAS,
	NAIVE_2D_LAS,
	NAIVE_TIRESIAS,
	NAIVE_GITTINS,
} NaiveKind;

static const char *const naive_names[] = { "fifo",     "fifo-skip", "sjf", "srtf",
	                                   "srsf",     "priority",  "las", "2d-las",
	                                   "tiresias", "gittins",   NULL };

typedef struct NaiveOptions {
	PlacementOptions placement;
	gint kind;
	SimTime hold_ns; /* quantum_s or min_run_s */
	OptionList thresholds;
} NaiveOptions;

typedef struct Active {
	__int128 key;
	JobId job;
	gboolean is_running, is_pinned, is_chosen;
} Active;

typedef struct Naive {
	const NaiveOptions *options;
	GArray *active;        /* of Active */
	SimTime *held_from_ns; /* by JobId: start of its quantum */
	SimTime *first_start_ns;
	Gittins *gittins;
} Naive;

static const Option naive_options[] = {
	{ .name = "kind",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(NaiveOptions, kind),
	  .standard = "fifo",
	  .choices = naive_names },
	{ .name = "hold_s",
	  .kind = OPTION_SECONDS,
	  .offset = G_STRUCT_OFFSET(NaiveOptions, hold_ns),
	  .standard = "0" },
	{ .name = "thresholds",
	  .kind = OPTION_SECONDS_LIST,
	  .offset = G_STRUCT_OFFSET(NaiveOptions, thresholds),
	  .standard = "[]" },
	PLACEMENT_OPTION_ROWS(NaiveOptions, placement),
	{ 0 },
};

static gboolean
naive_init(void *self, const void *options, const View *view, GError **error)
{
	Naive *naive = self;
	const GpuTime *samples;
	guint n;

	naive->options = options;
	naive->active = g_array_new(FALSE, TRUE, sizeof(Active));
	naive->held_from_ns = g_new0(SimTime, view_n_jobs(view));
	naive->first_start_ns = g_new0(SimTime, view_n_jobs(view));
	samples = view_service_distribution(view, &n);
	naive->gittins = gittins_new(GITTINS_TEXTBOOK, samples, n, 1);
	for (guint i = 0; i < view_n_jobs(view); i++)
		naive->first_start_ns[i] = TIME_NEVER;
	return TRUE;
}

static void
naive_finish(void *self)
{
	Naive *naive = self;

	g_array_unref(naive->active);
	g_free(naive->held_from_ns);
	g_free(naive->first_start_ns);
	gittins_free(naive->gittins);
}

static void
naive_arrived(void *self, const View *view, const Job *job)
{
	Active active = { .job = job->id };

	g_array_append_val(((Naive *)self)->active, active);
}

static void
naive_completed(void *self, const View *view, const Job *job)
{
	GArray *active = ((Naive *)self)->active;

	for (guint i = 0; i < active->len; i++)
		if (g_array_index(active, Active, i).job == job->id)
			g_array_remove_index(active, i--);
}

static guint
queue_of(const Naive *naive, GpuTime service)
{
	guint queue = 0;

	for (guint i = 0; i < naive->options->thresholds.n; i++)
		queue += (GpuTime)naive->options->thresholds.values[i] * GPU_MILLI <= service;
	return queue;
}

static __int128
naive_key(const Naive *naive, const View *view, JobId id)
{
	const Job *job = view_job(view, id);
	GpuTime service = view_attained_service(view, id);
	SimWork work_ns = 0;
	guint hint = 0;

	switch ((NaiveKind)naive->options->kind) {
	case NAIVE_FIFO:
	case NAIVE_FIFO_SKIP:
		return 0;
	case NAIVE_SJF:
		view_duration_ns(view, id, &work_ns);
		return work_ns;
	case NAIVE_SRTF:
		view_remaining_ns(view, id, &work_ns);
		return work_ns;
	case NAIVE_SRSF:
		view_remaining_ns(view, id, &work_ns);
		return (__int128)work_ns * job->num_gpus;
	case NAIVE_PRIORITY:
		return -(__int128)job->priority;
	case NAIVE_LAS:
		return view_attained_ns(view, id);
	case NAIVE_2D_LAS:
		return service;
	case NAIVE_TIRESIAS:
		return ((__int128)queue_of(naive, service) << 64) + naive->first_start_ns[id];
	case NAIVE_GITTINS:
		return ((__int128)queue_of(naive, service) << 66) -
		       score_rank_of(gittins_index(naive->gittins, service, &hint));
	}
	g_assert_not_reached();
}

static gboolean
is_kind(const Naive *naive, guint kinds)
{
	return (kinds >> naive->options->kind & 1) != 0;
}

#define STAYS           ((1u << NAIVE_FIFO) | (1u << NAIVE_FIFO_SKIP) | (1u << NAIVE_SJF))
#define STRICT          ((1u << NAIVE_FIFO) | (1u << NAIVE_SJF) | (1u << NAIVE_PRIORITY))
#define PREFERS_RUNNING ((1u << NAIVE_SRTF) | (1u << NAIVE_SRSF) | (1u << NAIVE_GITTINS))
#define TURNS           ((1u << NAIVE_LAS) | (1u << NAIVE_2D_LAS))

static gboolean
comes_before(const Naive *naive, const Active *one, const Active *other)
{
	if (one->key != other->key)
		return one->key < other->key;
	if (is_kind(naive, PREFERS_RUNNING) && one->is_running != other->is_running)
		return one->is_running;
	return one->job < other->job;
}

static void
sort_active(Naive *naive, const View *view)
{
	Active *active = (Active *)(gpointer)naive->active->data;

	for (guint i = 0; i < naive->active->len; i++) {
		active[i].key = naive_key(naive, view, active[i].job);
		active[i].is_running = view_state(view, active[i].job) == JOB_RUNNING;
		active[i].is_chosen = FALSE;
		active[i].is_pinned = active[i].is_running &&
		                      (is_kind(naive, STAYS) ||
		                       view_now_ns(view) - naive->held_from_ns[active[i].job] <
		                           naive->options->hold_ns);
	}
	for (guint i = 1; i < naive->active->len; i++)
		for (guint j = i; j > 0 && comes_before(naive, &active[j], &active[j - 1]); j--) {
			Active swap = active[j];

			active[j] = active[j - 1];
			active[j - 1] = swap;
		}
}

/* A55, counting; and B03: running jobs behind the first misfit keep what is left to them. */
static void
choose_active(Naive *naive, const View *view)
{
	Active *active = (Active *)(gpointer)naive->active->data;
	guint n_free = view_cluster_spec(view)->n_gpus;
	gboolean is_over = FALSE;

	for (guint i = 0; i < naive->active->len; i++)
		if (active[i].is_pinned)
			n_free -= view_job(view, active[i].job)->num_gpus;
	for (guint i = 0; i < naive->active->len; i++) {
		guint n_gpus = view_job(view, active[i].job)->num_gpus;

		if (active[i].is_pinned) {
			active[i].is_chosen = TRUE;
			continue;
		}
		if (n_gpus > n_free)
			is_over |= is_kind(naive, STRICT);
		if (n_gpus > n_free || (is_over && !active[i].is_running))
			continue;
		n_free -= n_gpus;
		active[i].is_chosen = TRUE;
	}
}

/* The next instant at which something other than an arrival or an end changes the order. */
static void
wake_for(Naive *naive, const View *view, Plan *plan, JobId id)
{
	const Job *job = view_job(view, id);
	GpuTime service = view_attained_service(view, id);
	guint queue = queue_of(naive, service);
	GpuTime left;

	if (naive->held_from_ns[id] + naive->options->hold_ns > view_now_ns(view))
		plan_wake(plan, naive->held_from_ns[id] + naive->options->hold_ns, id);
	if (queue == naive->options->thresholds.n)
		return;
	left = (GpuTime)naive->options->thresholds.values[queue] * GPU_MILLI - service;
	left = (left + job->num_gpus * GPU_MILLI - 1) / (job->num_gpus * GPU_MILLI);
	plan_wake(plan, view_now_ns(view) + (SimTime)left, id);
}

static void
naive_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	Naive *naive = self;
	Active *active = (Active *)(gpointer)naive->active->data;
	Alloc where = { 0 };

	for (JobId job = 0; job < view_n_jobs(view); job++)
		plan_unwake(plan, job);
	sort_active(naive, view);
	choose_active(naive, view);
	for (guint i = 0; i < naive->active->len; i++)
		if (active[i].is_running && !active[i].is_chosen)
			plan_preempt(plan, active[i].job);
	for (guint i = 0; i < naive->active->len; i++) {
		const Job *job = view_job(view, active[i].job);

		if (!active[i].is_chosen)
			continue;
		if (!active[i].is_running) {
			ck_assert(placement_find(view, job, job->num_gpus,
			                         &naive->options->placement, &where));
			plan_place(plan, job->id, &where);
			naive->first_start_ns[job->id] =
			    MIN(naive->first_start_ns[job->id], view_now_ns(view));
		}
		if (!active[i].is_running || (is_kind(naive, TURNS) && !active[i].is_pinned))
			naive->held_from_ns[job->id] = view_now_ns(view);
		wake_for(naive, view, plan, job->id);
	}
	alloc_clear(&where);
}

static const PolicyClass naive_policy = {
	.abi = POLICY_ABI,
	.name = "naive",
	.caps = POLICY_PREEMPTS | POLICY_ORACLE,
	.options = naive_options,
	.options_size = sizeof(NaiveOptions),
	.state_size = sizeof(Naive),
	.init = naive_init,
	.arrived = naive_arrived,
	.completed = naive_completed,
	.decide = naive_decide,
	.finish = naive_finish,
};

static const struct {
	const char *policy, *naive;
} pairs[] = {
	{ "fifo", "kind=fifo" },
	{ "fifo-skip", "kind=fifo-skip" },
	{ "sjf", "kind=sjf" },
	{ "srtf", "kind=srtf" },
	{ "srtf:min_run_s=7", "kind=srtf,hold_s=7" },
	{ "srsf", "kind=srsf" },
	{ "srsf:min_run_s=13", "kind=srsf,hold_s=13" },
	{ "priority:preempt=true", "kind=priority" },
	{ "las:quantum_s=9", "kind=las,hold_s=9" },
	{ "2d-las:quantum_s=11", "kind=2d-las,hold_s=11" },
	{ "tiresias:thresholds_gpu_s=[20,100]", "kind=tiresias,thresholds=[20,100]" },
	{ "tiresias:thresholds_gpu_s=30,gittins=textbook", "kind=gittins,thresholds=30" },
};

/* worlds */

typedef struct World {
	RngStream stream;
	guint64 seed, n_drawn;
} World;

static guint
draw(World *world, guint n)
{
	return (guint)rng_below(world->stream, world->seed, world->n_drawn++, n);
}

static char *
draw_jobs(World *world, guint n_gpus, const char *extra)
{
	GString *text = g_string_new(NULL);
	guint n_jobs = 2 + draw(world, 40), span = 1 + draw(world, 120);
	guint widest = 1 + draw(world, n_gpus), longest = 1 + draw(world, 60);

	for (guint i = 0; i < n_jobs; i++)
		g_string_append_printf(text, "j%u,%u,%u,%u,priority=%u%s;", i, draw(world, span),
		                       1 + draw(world, widest), draw(world, longest),
		                       draw(world, 4), extra);
	return g_string_free(text, FALSE);
}

static void
check_equal(const Fixture *walk, const Fixture *naive, guint64 seed, guint pair, gboolean may_move)
{
	for (JobId job = 0; job < walk->workload->n_jobs; job++) {
		const JobRecord *a = &walk->record->jobs[job], *b = &naive->record->jobs[job];
		gboolean is_equal = a->state == b->state &&
		                    a->first_start_ns == b->first_start_ns &&
		                    a->finish_ns == b->finish_ns && a->run_ns == b->run_ns &&
		                    a->overhead_ns == b->overhead_ns && a->service == b->service &&
		                    a->preemptions == b->preemptions;
		gboolean is_same = a->segments == b->segments && a->migrations == b->migrations;
		g_autofree char *found = fixture_to_string(walk);
		g_autofree char *right = fixture_to_string(naive);

		ck_assert_msg(is_equal && (is_same || may_move),
		              "seed %" G_GUINT64_FORMAT ", %s, job %s:\n  right %s\n  found %s",
		              seed, pairs[pair].policy, walk->workload->jobs[job].name, right,
		              found);
	}
}

static void
check_world(guint64 seed, gboolean is_one_machine, const char *extra)
{
	World world = { rng_stream(seed, "prop_walk"), seed, 0 };
	guint n_machines = is_one_machine ? 1 : 2 + draw(&world, 4);
	guint n_gpus = 1 + draw(&world, is_one_machine ? 12 : 6);
	g_autofree char *cluster = g_strdup_printf("%ux%u", n_machines, n_gpus);
	g_autofree char *jobs = draw_jobs(&world, n_machines * n_gpus, extra);
	Overheads overheads = { .start_ns = draw(&world, 3) * NS_PER_S,
		                .resume_ns = draw(&world, 4) * NS_PER_S };

	for (guint pair = 0; pair < G_N_ELEMENTS(pairs); pair++) {
		g_autoptr(Fixture) walk = fixture_new(jobs, cluster);
		g_autoptr(Fixture) naive = fixture_new(jobs, cluster);

		walk->scenario.overheads = naive->scenario.overheads = overheads;
		fixture_run(walk, pairs[pair].policy);
		fixture_run_class(naive, &naive_policy, pairs[pair].naive);
		check_equal(walk, naive, seed, pair, !is_one_machine || extra[0] != '\0');
	}
}

/* Those that may look at a count alone, and those that must look at places: no machine of these has
 * a number of CPUs, so that asking for some changes nothing else. */
static const struct {
	gboolean is_one_machine;
	const char *extra;
} worlds[] = {
	{ TRUE, "" },
	{ FALSE, "" },
	{ TRUE, ",cpus=1" },
	{ FALSE, ",cpus=1" },
};

START_TEST(test_worlds)
{
	const char *seed = g_getenv("THEMIS_SEED");
	guint n = g_getenv("THEMIS_LONG") != NULL ? N_LONG : N_SHORT;
	guint64 first = seed != NULL ? g_ascii_strtoull(seed, NULL, 10) : 1;

	for (guint64 i = first; i < first + (seed != NULL ? 1 : n); i++)
		check_world(i, worlds[_i].is_one_machine, worlds[_i].extra);
}
END_TEST

/* Worlds in which it matters where GPUs are: nothing is compared, but no edit may be refused, no
 * invariant may break, and everybody who can run must end. */

static const char rough_cluster[] =
    "gpu_types:\n"
    "  a: {mem_mib: 16000}\n"
    "  b: {mem_mib: 8000}\n"
    "racks:\n"
    "  - machines:\n"
    "      - {count: 2, gpus: 4, slot_gpus: 2, gpu_type: a, cpus: 8, mem_mib: 64000}\n"
    "      - {count: 1, gpus: 2, gpu_type: b}\n"
    "  - machines:\n"
    "      - {count: 2, gpus: 3, slot_gpus: 2, gpu_type: a}\n"
    "      - {count: 2, gpus: 2, gpu_type: b, cpus: 4}\n";

static const char rough_models[] =
    "models:\n"
    "  slow: {overheads: {suspend_s: 3, start_s: 1, resume_s: 2, migrate_s: 1}}\n"
    "  vgg: {slowdown: {slot: 1, machine: 1.1, rack: 1.3, cluster: "
    "1.6}, skew: 0.7}\n";

static const char *const rough_policies[] = {
	"fifo:max_level=rack",
	"fifo-skip:placement=first-fit",
	"sjf:placement=best-fit,max_level=machine",
	"easy",
	"easy:placement=spread,max_level=rack",
	"srtf",
	"srtf:max_level=slot",
	"srtf:max_level=machine,placement=spread",
	"srtf:max_level=rack,placement=first-fit",
	"srsf:placement=random",
	"srsf:placement=random,max_level=rack",
	"srsf:placement=random,max_level=machine",
	"priority:preempt=true",
	"priority:preempt=true,max_level=machine",
	"las:quantum_s=20",
	"2d-las:quantum_s=15,max_level=rack,placement=best-fit",
	"tiresias:thresholds_gpu_s=[20,60],promote_knob=1",
	"tiresias:thresholds_gpu_s=40,placement=skew",
	"tiresias:thresholds_gpu_s=40,gittins=textbook,max_level=machine",
};

static void
draw_wishes(World *world, GString *text)
{
	static const char *const types[] = { "", ",type=a", ",type=b", ",type=a|b" };
	static const char *const models[] = { "", "", ",model=slow", ",model=vgg" };
	guint n_gpus = 1 + draw(world, 6);
	gboolean is_share = draw(world, 4) == 0, has_workers = draw(world, 6) == 0;

	g_string_append_printf(text, ",%u,%u,priority=%u", is_share ? 1 : n_gpus, draw(world, 60),
	                       draw(world, 4));
	g_string_append(text, types[draw(world, 4)]);
	g_string_append(text, models[draw(world, 4)]);
	if (is_share)
		g_string_append_printf(text, ",share=0.%u", 1 + draw(world, 9));
	else if (has_workers && n_gpus % 2 == 0)
		g_string_append_printf(text, ",workers=%u,per_worker=2", n_gpus / 2);
	if (draw(world, 4) == 0)
		g_string_append_printf(text, ",gpu_mem=%u", 1000 * draw(world, 16));
	if (draw(world, 4) == 0)
		g_string_append_printf(text, ",cpus=%u", 1 + draw(world, 8));
	if (draw(world, 4) == 0)
		g_string_append_printf(text, ",mem=%u", 8000 * draw(world, 9));
	if (draw(world, 8) == 0)
		g_string_append_printf(text, ",limit=%u", 1 + draw(world, 60));
}

static char *
draw_rough_jobs(World *world)
{
	GString *text = g_string_new(NULL);
	guint n_jobs = 2 + draw(world, 40), span = 1 + draw(world, 200);

	for (guint i = 0; i < n_jobs; i++) {
		g_string_append_printf(text, "j%u,%u", i, draw(world, span));
		draw_wishes(world, text);
		g_string_append_c(text, ';');
	}
	return g_string_free(text, FALSE);
}

static void
check_rough_world(guint64 seed)
{
	World world = { rng_stream(seed, "prop_walk rough"), seed, 0 };
	g_autofree char *jobs = draw_rough_jobs(&world);
	Overheads overheads = { .suspend_ns = draw(&world, 3) * 2 * NS_PER_S,
		                .resume_ns = draw(&world, 4) * NS_PER_S,
		                .migrate_ns = draw(&world, 4) * NS_PER_S,
		                .checkpoint_every_ns = draw(&world, 2) * NS_PER_S / 10 };

	for (guint i = 0; i < G_N_ELEMENTS(rough_policies); i++) {
		g_autoptr(Fixture) fixture = fixture_new(jobs, rough_cluster);
		g_autofree char *text = NULL;

		fixture_set_models(fixture, rough_models);
		fixture->scenario.overheads = overheads;
		fixture_run(fixture, rough_policies[i]);
		text = fixture_to_string(fixture);
		ck_assert_msg(strstr(text, "QUEUED") == NULL && strstr(text, "UNFINISHED") == NULL,
		              "seed %" G_GUINT64_FORMAT ", %s: %s", seed, rough_policies[i], text);
	}
}

/* The same, counting: several machines of one type, with stops that take their time. */
static void
check_slow_stops(guint64 seed)
{
	World world = { rng_stream(seed, "prop_walk stops"), seed, 0 };
	g_autofree char *cluster = g_strdup_printf("%ux4", 1 + draw(&world, 4));
	g_autofree char *jobs = draw_jobs(&world, 4, draw(&world, 2) > 0 ? ",model=slow" : "");

	for (guint i = 0; i < G_N_ELEMENTS(pairs); i++) {
		g_autoptr(Fixture) fixture = fixture_new(jobs, cluster);
		g_autofree char *text = NULL;

		fixture_set_models(fixture, rough_models);
		fixture->scenario.overheads.suspend_ns = draw(&world, 6) * NS_PER_S;
		fixture_run(fixture, pairs[i].policy);
		text = fixture_to_string(fixture);
		ck_assert_msg(strstr(text, "QUEUED") == NULL && strstr(text, "UNFINISHED") == NULL,
		              "seed %" G_GUINT64_FORMAT ", %s: %s", seed, pairs[i].policy, text);
	}
}

START_TEST(test_rough_worlds)
{
	const char *seed = g_getenv("THEMIS_SEED");
	guint n = g_getenv("THEMIS_LONG") != NULL ? N_LONG : N_SHORT;
	guint64 first = seed != NULL ? g_ascii_strtoull(seed, NULL, 10) : 1;

	for (guint64 i = first; i < first + (seed != NULL ? 1 : n); i++) {
		check_rough_world(i);
		check_slow_stops(i);
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("walk");
	TCase *properties = tcase_create("properties");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	tcase_set_timeout(properties, 900);
	tcase_add_loop_test(properties, test_worlds, 0, G_N_ELEMENTS(worlds));
	tcase_add_test(properties, test_rough_worlds);
	suite_add_tcase(suite, properties);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
