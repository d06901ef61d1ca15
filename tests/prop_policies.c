/* SPDX-License-Identifier: MIT */

/*
 * What must hold for every policy on every input: random traces, clusters and options, each run
 * strict (no edit is ever refused) and paranoid (every invariant after every instant), and looked
 * at from outside through its segments. A failing case prints its seed; THEMIS_SEED=n reruns it.
 */

#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "policies/registry.h"
#include "sim/base/rng.h"
#include "sim/engine/engine.h"

#define N_SHORT 12 /* worlds; each is run under every policy */
#define N_LONG  140

/* Each is run in every world. %K is the factor of time (seconds are written as multiples of it);
 * policies that look at the whole trace in advance are told apart by knows_all. */
typedef struct Entry {
	const char *policy;
	const char *options; /* key=value;key=value */
	gboolean knows_all;
	gboolean waits_for_rounds; /* starts nobody in between, whoever else is there */
} Entry;

static const Entry entries[] = {
	{ .policy = "fifo" },
	{ .policy = "fifo", .options = "max_level=machine" },
	{ .policy = "fifo", .options = "placement=random" },
	{ .policy = "fifo-skip" },
	{ .policy = "fifo-skip", .options = "placement=spread" },
	{ .policy = "sjf", .options = "placement=first-fit" },
	{ .policy = "srtf" },
	{ .policy = "srtf", .options = "min_run_s=%7" },
	{ .policy = "srtf", .options = "max_level=rack;placement=best-fit" },
	{ .policy = "srsf" },
	{ .policy = "las", .options = "quantum_s=%20" },
	{ .policy = "2d-las", .options = "quantum_s=%31" },
	{ .policy = "priority" },
	{ .policy = "priority", .options = "preempt=true" },
	{ .policy = "easy" },
	{ .policy = "tiresias", .options = "thresholds_gpu_s=[%40,%200]" },
	{ .policy = "tiresias", .options = "thresholds_gpu_s=[%400];promote_knob=2" },
	{ .policy = "tiresias",
	  .options = "gittins=textbook;thresholds_gpu_s=[%90]",
	  .knows_all = TRUE },
	{ .policy = "gandiva", .options = "quantum_s=%20" },
	{ .policy = "gandiva", .options = "quantum_s=%20;migration=false" },
	{ .policy = "themis", .options = "lease_s=%30" },
	{ .policy = "themis", .options = "lease_s=%30;fairness_knob=0;round=floor" },
	{ .policy = "themis", .options = "lease_s=%45;fairness_knob=1;rho0=cap" },
	{ .policy = "themis",
	  .options = "lease_s=%30;trigger=periodic;renew_free=false",
	  .waits_for_rounds = TRUE },
	{ .policy = "themis", .options = "lease_s=%30;preset=authors" },
	{ .policy = "themis", .options = "lease_s=%45;unit=job;fairness_knob=0.5" },
	{ .policy = "themis", .options = "lease_s=%30;leftover=auction;fairness_knob=0" },
	{ .policy = "themis", .options = "lease_s=%30;jobs=longest;tid=capped" },
	{ .policy = "themis-strawman", .options = "lease_s=%30" },
	{ .policy = "themis-strawman", .options = "lease_s=%30;preset=authors;jobs=longest" },
	{ .policy = "gandiva-greedy", .options = "lease_s=%30" },
	{ .policy = "gandiva-greedy", .options = "lease_s=%30;preset=authors" },
	{ .policy = "gandiva-greedy", .options = "lease_s=%25;grain=gang;max_level=machine" },
	{ .policy = "gandiva-greedy", .options = "lease_s=%30;jobs=longest" },
	{ .policy = "tiresias-app", .options = "lease_s=%30" },
	{ .policy = "tiresias-app", .options = "lease_s=off;placement=random" },
	{ .policy = "tiresias-app", .options = "lease_s=%40;grain=gpu;max_level=rack" },
	{ .policy = "tiresias-app", .options = "lease_s=%30;preset=authors" },
	{ .policy = "tiresias-app", .options = "lease_s=%30;jobs=longest;count=iteration" },
	{ .policy = "optimus", .options = "lease_s=%30" },
	{ .policy = "optimus", .options = "lease_s=%30;preset=authors" },
	{ .policy = "optimus", .options = "lease_s=%30;grain=gang;unit=job;max_level=slot" },
	{ .policy = "slaq", .options = "lease_s=%30" },
	{ .policy = "srtf-app", .options = "lease_s=%30" },
	{ .policy = "srtf-app", .options = "lease_s=%20;key=with-gpus;grain=gang" },
	{ .policy = "srsf-app", .options = "lease_s=%30;placement=best-fit" },
	{ .policy = "srsf-app", .options = "lease_s=%30;key=done;unit=job" },
	{ .policy = "srsf-app", .options = "lease_s=%30;lease_end=iteration;count=iteration" },
	{ .policy = "srtf-app", .options = "lease_s=%30;preset=authors" },
	{ .policy = "srtf-app", .options = "lease_s=%25;jobs=longest;grain=gpu" },
	{ .policy = "srtf-app", .options = "lease_s=%30;arrivals=first" },
	{ .policy = "drf" },
	{ .policy = "drf", .options = "by=user;lease_s=%35" },
	{ .policy = "drf", .options = "by=tenant;lease_s=%35;jobs=longest" },
	{ .policy = "afs", .options = "lease_s=%30" },
	{ .policy = "max-min" },
	{ .policy = "max-min", .options = "by=tenant;within=app;placement=spread" },
	{ .policy = "max-min", .options = "preempt=true;quantum_s=%20" },
	{ .policy = "max-min", .options = "by=app;preempt=true;quantum_s=%20;max_level=machine" },
	{ .policy = "ftf-greedy", .options = "lease_s=%30" },
	{ .policy = "ftf-greedy", .options = "lease_s=%15;max_level=rack" },
	{ .policy = "ftf-lp", .options = "round_s=%30", .waits_for_rounds = TRUE },
	{ .policy = "ftf-lp", .options = "round_s=%20;trigger=free;unit=app;reset_s=%50" },
	{ .policy = "ftf-lp", .options = "round_s=%15;trigger=free;types=agnostic;max_level=rack" },
	{ .policy = "quota", .options = "quotas=[t0=4,t1=2]" },
	{ .policy = "quota",
	  .options = "quotas=[t0=1,t1=3,t2=2];borrow_limit_gpus=9;lend_limit_frac=0.5;"
	             "reclaim_grace_s=%7;max_level=machine" },
	{ .policy = "gandiva-fair", .options = "quantum_s=%20" },
	{ .policy = "gandiva-fair",
	  .options = "quantum_s=%25;stride=plain;by=tenant;trading=false" },
	{ .policy = "gandiva-fair",
	  .options = "quantum_s=%15;by=app;tickets=[app0=3];balance_gap=0;price=middle;"
	             "max_level=slot" },
	{ .policy = "fgd", .knows_all = TRUE },
	{ .policy = "fgd",
	  .options = "max_level=machine;rounding=none;popular_frac=0.5",
	  .knows_all = TRUE },
	{ .policy = "fgd", .options = "misfits=strict;cpu_tasks=false", .knows_all = TRUE },
	{ .policy = "fgd", .options = "score=best-fit" },
	{ .policy = "fgd", .options = "score=dot-product;misfits=strict" },
	{ .policy = "fgd", .options = "score=packing" },
	{ .policy = "fgd", .options = "score=clustering;max_level=machine" },
	{ .policy = "fgd", .options = "score=random" },
	{ .policy = "reject-all" },
};

/* What a world consists of, drawn from its seed. */
typedef struct World {
	guint64 seed;
	RngStream stream;
	guint64 n_drawn;
	gint64 factor;    /* of all times */
	guint n_extra;    /* far-future jobs appended */
	gboolean is_calm; /* far apart, rigid, no limits, no overheads: nobody meets anybody */
	gboolean is_rigid;
	gboolean is_tuned; /* most apps have tuners */
	ClusterSpec *cluster;
	ModelTable *models;
	Workload *workload;
	Overheads overheads;
} World;

static guint
draw(World *world, guint n)
{
	return rng_below(world->stream, world->n_drawn++, 0, n);
}

static gboolean
chance(World *world, guint percent)
{
	return draw(world, 100) < percent;
}

static ClusterSpec *
draw_cluster(World *world)
{
	g_autoptr(GString) text =
	    g_string_new("gpu_types:\n  a: {mem_mib: 1000}\n  b: {}\nracks:\n");
	guint n_racks = 1 + draw(world, 3);
	g_autofree char *path = NULL;
	g_autoptr(GError) error = NULL;
	ClusterSpec *spec;
	int fd = g_file_open_tmp("themis-XXXXXX.yaml", &path, NULL);

	close(fd);
	for (guint rack = 0; rack < n_racks; rack++) {
		guint n_kinds = 1 + draw(world, 3);

		g_string_append_printf(text, "  - count: %u\n    machines:\n", 1 + draw(world, 2));
		for (guint i = 0; i < n_kinds; i++) {
			guint n_machines = 1 + draw(world, 2);
			guint n_gpus = 1 + draw(world, 8);
			guint n_slot = 1 + draw(world, n_gpus);

			g_string_append_printf(
			    text, "      - {count: %u, gpus: %u, slot_gpus: %u, gpu_type: %s}\n",
			    n_machines, n_gpus, n_slot, chance(world, 80) ? "a" : "b");
		}
	}
	g_assert_true(g_file_set_contents(path, text->str, -1, NULL));
	spec = cluster_spec_load(path, &error);
	g_unlink(path);
	ck_assert_msg(spec != NULL, "%s\n%s", error != NULL ? error->message : "", text->str);
	return spec;
}

static SimTime
draw_time(World *world, guint most_s)
{
	SimTime ns = (SimTime)draw(world, most_s) * NS_PER_S;

	/* Mostly whole seconds, so that things happen at one instant. */
	if (chance(world, 20) && !world->is_rigid)
		ns += draw(world, NS_PER_S);
	return ns * world->factor;
}

static void
draw_wishes(World *world, JobDraft *draft)
{
	static const char *const types[] = { "", "", "", "a", "a|b", "B" };

	draft->gpu_type = types[draw(world, G_N_ELEMENTS(types))];
	draft->priority = draw(world, 3);
	if (chance(world, 15) && draft->num_gpus == 1)
		draft->share_milli = world->is_rigid ? 500 : 100 * (1 + draw(world, 9));
	if (chance(world, 20))
		draft->gpu_mem_mib = 1 + draw(world, 1200);
	if (chance(world, 10))
		draft->time_limit_ns = NS_PER_S * world->factor + draw_time(world, 100);
	if (chance(world, 20))
		draft->iteration_ns = draw_time(world, 12);
	if (chance(world, 25) && draft->share_milli == GPU_MILLI && draft->num_gpus > 0 &&
	    !world->is_rigid) {
		/* Within a lease of 15 s and a start of at most 5 a job has to get from one
		 * checkpoint to the next, or it never does (A16). */
		draft->min_gpus =
		    world->overheads.checkpoint_every_ns > 0 ? (draft->num_gpus + 1) / 2 : 1;
		draft->max_gpus = draft->num_gpus + draw(world, 3);
	}
}

#define N_APPS 6

/* The tuner of an app is drawn beside the rest, so that the jobs of a world are the same with it
 * and without. */
static const char *
draw_tuner(const World *world, guint app)
{
	static const char *const tuners[] = {
		"none",
		"successive-halving",
		"successive-halving:eta=3,widen=false",
		"successive-halving:work=[1,1,5]",
		"hyperband",
		"hyperband:phases=4,brackets=2",
		"asha:eta=2",
		"asha:eta=3,phases=3",
		"hyperdrive",
		"hyperdrive:check_frac=0.3,keep=0.5,error=0.5",
	};

	return tuners[rng_below(rng_stream(world->seed, "tuner"), app, 0, G_N_ELEMENTS(tuners))];
}

static void
draw_loss(const World *world, guint job, LossCurve *ret_loss)
{
	RngStream stream = rng_stream(world->seed, "loss");

	/* Of few values, so that some are equal. */
	ret_loss->start = 1 + (double)rng_below(stream, job, 0, 3);
	ret_loss->end = (double)rng_below(stream, job, 1, 8) / 8;
	ret_loss->half_ns = (SimWork)(1 + rng_below(stream, job, 2, 40)) * NS_PER_S * world->factor;
}

static void
draw_job(World *world, WorkloadBuilder *builder, guint i, gint64 *submit_ns)
{
	static const guint gangs[] = { 1, 1, 1, 1, 2, 2, 3, 4, 4, 8, 12, 0 };
	static const char *const users[] = { "u0", "u1", "u2", "u3", "" };
	static const char *const tenants[] = { "t0", "t1", "t2", "" };
	g_autofree char *name = g_strdup_printf("j%u", i);
	gboolean has_app = chance(world, world->is_tuned ? 90 : 50);
	guint app_number = has_app ? draw(world, N_APPS) : 0;
	g_autofree char *app = has_app ? g_strdup_printf("app%u", app_number) : NULL;
	JobDraft draft;

	job_draft_init(&draft);
	draft.user = users[i % G_N_ELEMENTS(users)];
	draft.tenant = tenants[i % G_N_ELEMENTS(tenants)];
	draft.weight = 1 + i % 3;
	draft.name = name;
	draft.app = app != NULL ? app : "";
	draft.line = i + 2;
	draft.num_gpus = gangs[draw(world, G_N_ELEMENTS(gangs))];
	draft.duration_ns = chance(world, 5) ? 0 : draw_time(world, 120);
	if (world->is_calm) {
		draft.app = "";
		draft.num_gpus = 1;
		*submit_ns += 1000 * NS_PER_S * world->factor;
	} else {
		*submit_ns += chance(world, 40) ? 0 : draw_time(world, 30);
		draw_wishes(world, &draft);
	}
	draft.submit_ns = *submit_ns;
	if (world->is_tuned && has_app) {
		draft.tuner = draw_tuner(world, app_number);
		draw_loss(world, i, &draft.loss);
	}
	ck_assert(workload_builder_add(builder, &draft));
}

static void
add_far_job(World *world, WorkloadBuilder *builder)
{
	JobDraft draft;

	job_draft_init(&draft);
	draft.name = "far";
	draft.num_gpus = 1;
	draft.submit_ns = NS_PER_S * 100000000;
	draft.duration_ns = NS_PER_S;
	draft.line = 100000;
	ck_assert(workload_builder_add(builder, &draft));
}

static World *
world_new_shaped(guint64 seed, gint64 factor, guint n_extra, gboolean is_calm, gboolean is_rigid,
                 gboolean is_tuned)
{
	World *world = g_new0(World, 1);
	Problems *problems = problems_new("drawn");
	WorkloadBuilder *builder = workload_builder_new("drawn", problems);
	gint64 submit_ns = 0;
	guint n_jobs;

	world->seed = seed;
	world->factor = factor;
	world->is_calm = is_calm;
	world->is_rigid = is_rigid;
	world->is_tuned = is_tuned;
	world->stream = rng_stream(seed, "world");
	world->cluster = draw_cluster(world);
	world->models = model_table_new_empty();
	if (!is_calm && chance(world, 50)) {
		world->overheads.start_ns = draw(world, 4) * NS_PER_S * factor;
		world->overheads.suspend_ns = draw(world, 4) * NS_PER_S * factor;
		world->overheads.resume_ns = draw(world, 6) * NS_PER_S * factor;
		world->overheads.migrate_ns = draw(world, 6) * NS_PER_S * factor;
	}
	if (!is_calm && chance(world, 20))
		world->overheads.checkpoint_every_ns = 5 * NS_PER_S * factor;
	n_jobs = 3 + draw(world, 50);
	for (guint i = 0; i < n_jobs; i++)
		draw_job(world, builder, i, &submit_ns);
	for (guint i = 0; i < n_extra; i++)
		add_far_job(world, builder);
	world->workload = workload_builder_finish(builder);
	scenario_resolve(world->workload, world->cluster, world->models);
	return world;
}

static World *
world_new(guint64 seed, gint64 factor, guint n_extra, gboolean is_calm)
{
	return world_new_shaped(seed, factor, n_extra, is_calm, FALSE, FALSE);
}

static void
world_free(World *world)
{
	workload_free(world->workload);
	model_table_free(world->models);
	cluster_spec_free(world->cluster);
	g_free(world);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(World, world_free)

/* What is seen from outside: the GPUs' owners over time. */
typedef struct Watch {
	const World *world;
	const PolicyClass *policy;
	SimTime *free_from_ns; /* by GPU: end of the last segment there, by whole jobs */
	GArray *ends;          /* of Segment without its alloc, to be compared */
	__int128 *work_ppb_ns; /* by JobId */
} Watch;

static void
watch_segment(void *self, const Segment *segment)
{
	Watch *watch = self;
	const Job *job = &watch->world->workload->jobs[segment->job];
	Segment kept = *segment;

	kept.alloc = NULL;
	g_array_append_val(watch->ends, kept);
	ck_assert(segment->end_ns >= segment->start_ns);
	watch->work_ppb_ns[segment->job] +=
	    (__int128)(segment->end_ns - segment->start_ns - segment->overhead_ns) *
	    segment->speed_ppb;
	if (job->num_gpus > 0 && (watch->policy->caps & POLICY_RESIZES) == 0)
		ck_assert_uint_eq(segment->alloc->n, job->num_gpus);
	if (job->share_milli < GPU_MILLI || (watch->policy->caps & POLICY_SHARES) != 0)
		return;
	for (guint i = 0; i < segment->alloc->n; i++) {
		SimTime *free_from_ns = &watch->free_from_ns[segment->alloc->gpus[i]];

		ck_assert_msg(segment->start_ns >= *free_from_ns, "GPU held twice");
		*free_from_ns = segment->end_ns;
	}
}

static void *
parse_options(const Entry *entry, gint64 factor)
{
	const PolicyClass *policy = policy_find(entry->policy);
	void *options = options_new(policy->options, policy->options_size);
	g_auto(GStrv) pairs = g_strsplit(entry->options != NULL ? entry->options : "", ";", 0);

	for (guint i = 0; pairs[i] != NULL; i++) {
		g_auto(GStrv) pair = g_strsplit(pairs[i], "=", 2);
		g_autoptr(GString) value = g_string_new(NULL);
		g_autoptr(GError) error = NULL;

		for (char *at = pair[1]; *at != '\0';) {
			if (*at != '%')
				g_string_append_c(value, *at++);
			else
				g_string_append_printf(value, "%" G_GINT64_FORMAT,
				                       g_ascii_strtoll(at + 1, &at, 10) * factor);
		}
		ck_assert_msg(options_set(policy->options, options, pair[0], value->str, 2, &error),
		              "%s", error != NULL ? error->message : "");
	}
	return options;
}

static RunRecord *
run(const World *world, const Entry *entry, GArray **ret_segments)
{
	const PolicyClass *policy = policy_find(entry->policy);
	void *options = parse_options(entry, world->factor);
	Watch watch = { .world = world,
		        .policy = policy,
		        .free_from_ns = g_new0(SimTime, world->cluster->n_gpus),
		        .ends = g_array_new(FALSE, TRUE, sizeof(Segment)),
		        .work_ppb_ns = g_new0(__int128, world->workload->n_jobs) };
	Recorder recorder = { .self = &watch, .segment = watch_segment };
	EngineSettings settings = { .is_strict = TRUE, .is_paranoid = TRUE, .recorder = &recorder };
	Scenario scenario = { .workload = world->workload,
		              .cluster = world->cluster,
		              .models = world->models,
		              .overheads = world->overheads,
		              .seed = 1,
		              .window_to_ns = TIME_NEVER,
		              .stop_ns = TIME_NEVER };
	g_autoptr(GError) error = NULL;
	g_autoptr(Engine) engine = engine_new(&scenario, policy, options, &settings, &error);
	RunRecord *record = engine != NULL ? engine_run(engine, &error) : NULL;

	ck_assert_msg(record != NULL, "seed %" G_GUINT64_FORMAT ", %s:%s: %s", world->seed,
	              entry->policy, entry->options != NULL ? entry->options : "",
	              error != NULL ? error->message : "");
	g_clear_pointer(&engine, engine_free);
	options_free(policy->options, options);
	g_free(watch.free_from_ns);
	g_free(watch.work_ppb_ns);
	*ret_segments = watch.ends;
	return record;
}

#define SAYING "seed %" G_GUINT64_FORMAT ", %s:%s, job %s"
#define ABOUT                                                                     \
	world->seed, entry->policy, entry->options != NULL ? entry->options : "", \
	    world->workload->jobs[job].name

/* Every job ended, and what its record says adds up. */
static void
check_records(const World *world, const Entry *entry, const RunRecord *record)
{
	for (JobId job = 0; job < world->workload->n_jobs; job++) {
		const JobRecord *done = &record->jobs[job];
		SimWork duration_ns = world->workload->duration_ns[job];
		SimTime jct_ns = done->finish_ns - world->workload->jobs[job].submit_ns;

		ck_assert_msg(done->state == JOB_FINISHED || done->state == JOB_TIMEOUT ||
		                  done->state == JOB_REJECTED || done->state == JOB_STOPPED,
		              SAYING " is left in state %d", ABOUT, done->state);
		if (done->state != JOB_FINISHED)
			continue;
		ck_assert_msg(done->kept_work_ns == duration_ns, SAYING " lost work", ABOUT);
		ck_assert_msg(jct_ns >= done->run_ns, SAYING " ran longer than it was there",
		              ABOUT);
		if ((policy_find(entry->policy)->caps & POLICY_RESIZES) == 0)
			ck_assert_msg(done->run_ns - done->overhead_ns >= duration_ns,
			              SAYING " ended early", ABOUT);
		if (world->is_calm && !entry->waits_for_rounds)
			ck_assert_msg(jct_ns == duration_ns, SAYING " waited for nobody", ABOUT);
	}
}

/* Equal but for the far jobs and times multiplied by @factor. */
static void
check_same(const World *world, const Entry *entry, const RunRecord *one, const RunRecord *other,
           gint64 factor, const char *what)
{
	for (JobId job = 0; job < world->workload->n_jobs; job++) {
		const JobRecord *a = &one->jobs[job], *b = &other->jobs[job];

		ck_assert_msg(
		    a->state == b->state && a->first_start_ns * factor == b->first_start_ns &&
		        a->finish_ns * factor == b->finish_ns && a->run_ns * factor == b->run_ns &&
		        a->overhead_ns * factor == b->overhead_ns &&
		        a->service * factor == b->service && a->segments == b->segments &&
		        a->preemptions == b->preemptions && a->migrations == b->migrations,
		    SAYING " changed by %s: finish %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
		           " is %" G_GINT64_FORMAT " ns",
		    ABOUT, what, a->finish_ns, factor, b->finish_ns);
	}
}

static guint64
first_seed(void)
{
	const char *seed = g_getenv("THEMIS_SEED");

	return seed != NULL ? g_ascii_strtoull(seed, NULL, 10) : 1;
}

static int
n_worlds(void)
{
	if (g_getenv("THEMIS_SEED") != NULL)
		return 1;
	return g_getenv("THEMIS_LONG") != NULL ? N_LONG : N_SHORT;
}

START_TEST(test_invariants)
{
	g_autoptr(World) world = world_new(first_seed() + _i, 1, 0, FALSE);

	for (guint i = 0; i < G_N_ELEMENTS(entries); i++) {
		g_autoptr(GArray) segments = NULL;
		g_autoptr(RunRecord) record = run(world, &entries[i], &segments);

		check_records(world, &entries[i], record);
	}
}
END_TEST

START_TEST(test_far_job_changes_nobody)
{
	g_autoptr(World) world = world_new(first_seed() + _i, 1, 0, FALSE);
	g_autoptr(World) longer = world_new(first_seed() + _i, 1, 1, FALSE);

	for (guint i = 0; i < G_N_ELEMENTS(entries); i++) {
		g_autoptr(GArray) segments = NULL, others = NULL;
		g_autoptr(RunRecord) record = NULL, other = NULL;

		if (entries[i].knows_all)
			continue;
		record = run(world, &entries[i], &segments);
		other = run(longer, &entries[i], &others);
		check_same(world, &entries[i], record, other, 1, "a job in the far future");
	}
}
END_TEST

START_TEST(test_time_scales)
{
	/* Powers of two leave the mantissa of a policy's floating scores alone. Times that can be
	 * divided by a gang's size several times over, and speeds of 1, leave no nanosecond to be
	 * rounded (A05, A58). */
	const gint64 divisible = 16 * 6561;
	const gint64 factor = 1 << (1 + (first_seed() + _i) % 4);
	g_autoptr(World) world =
	    world_new_shaped(first_seed() + _i, divisible, 0, FALSE, TRUE, FALSE);
	g_autoptr(World) scaled =
	    world_new_shaped(first_seed() + _i, divisible * factor, 0, FALSE, TRUE, FALSE);

	for (guint i = 0; i < G_N_ELEMENTS(entries); i++) {
		g_autoptr(GArray) segments = NULL, others = NULL;
		g_autoptr(RunRecord) record = run(world, &entries[i], &segments);
		g_autoptr(RunRecord) other = run(scaled, &entries[i], &others);

		check_same(world, &entries[i], record, other, factor, "another unit of time");
	}
}
END_TEST

START_TEST(test_same_twice)
{
	g_autoptr(World) world = world_new(first_seed() + _i, 1, 0, FALSE);

	for (guint i = 0; i < G_N_ELEMENTS(entries); i++) {
		g_autoptr(GArray) segments = NULL, others = NULL;
		g_autoptr(RunRecord) record = run(world, &entries[i], &segments);
		g_autoptr(RunRecord) other = run(world, &entries[i], &others);

		check_same(world, &entries[i], record, other, 1, "being run again");
		ck_assert_uint_eq(segments->len, others->len);
	}
}
END_TEST

START_TEST(test_alone_takes_its_duration)
{
	g_autoptr(World) world = world_new(first_seed() + _i, 1, 0, TRUE);

	for (guint i = 0; i < G_N_ELEMENTS(entries); i++) {
		g_autoptr(GArray) segments = NULL;
		g_autoptr(RunRecord) record = run(world, &entries[i], &segments);

		check_records(world, &entries[i], record);
	}
}
END_TEST

/* Every app with a tuner has a model in the end: somebody finished, unless trials were lost in
 * other ways than by the tuner. */
static void
check_models(const World *world, const Entry *entry, const RunRecord *record)
{
	for (AppId app = 0; app < world->workload->n_apps; app++) {
		const App *spec = &world->workload->apps[app];
		JobId job = spec->jobs[0];
		guint n_finished = 0;

		for (guint i = 0; i < spec->n_jobs; i++)
			n_finished += record->jobs[spec->jobs[i]].state == JOB_FINISHED;
		ck_assert_msg(record->apps[app].state != JOB_FINISHED || n_finished > 0,
		              SAYING ": its app has no model", ABOUT);
	}
}

START_TEST(test_tuned_apps)
{
	g_autoptr(World) world = world_new_shaped(first_seed() + _i, 1, 0, FALSE, FALSE, TRUE);

	for (guint i = 0; i < G_N_ELEMENTS(entries); i++) {
		g_autoptr(GArray) segments = NULL, others = NULL;
		g_autoptr(RunRecord) record = run(world, &entries[i], &segments);
		g_autoptr(RunRecord) other = run(world, &entries[i], &others);

		check_records(world, &entries[i], record);
		check_models(world, &entries[i], record);
		check_same(world, &entries[i], record, other, 1, "being run again");
		ck_assert_uint_eq(segments->len, others->len);
	}
}
END_TEST

/* Whom halving stops depends on the losses at the ends of phases alone: not on asha's order of
 * results, nor on trials that the policy or their limits took out of it. */
static gboolean
is_comparable(const World *world, const App *app, const RunRecord *one, const RunRecord *other)
{
	if (app->tuner == NULL || app->tuner->kind == TUNER_ASHA)
		return FALSE;
	for (guint i = 0; i < app->n_jobs; i++) {
		JobState a = one->jobs[app->jobs[i]].state, b = other->jobs[app->jobs[i]].state;

		if (a == JOB_TIMEOUT || a == JOB_REJECTED || b == JOB_TIMEOUT || b == JOB_REJECTED)
			return FALSE;
	}
	return TRUE;
}

START_TEST(test_tuner_is_the_workloads)
{
	g_autoptr(World) world = world_new_shaped(first_seed() + _i, 1, 0, FALSE, FALSE, TRUE);
	g_autoptr(GArray) segments = NULL;
	g_autoptr(RunRecord) first = run(world, &entries[0], &segments);

	for (guint i = 1; i < G_N_ELEMENTS(entries); i++) {
		const Entry *entry = &entries[i];
		g_autoptr(GArray) others = NULL;
		g_autoptr(RunRecord) other = run(world, entry, &others);

		for (JobId job = 0; job < world->workload->n_jobs; job++) {
			const App *app = &world->workload->apps[world->workload->jobs[job].app];

			if (!is_comparable(world, app, first, other))
				continue;
			ck_assert_msg(first->jobs[job].state == other->jobs[job].state,
			              SAYING " has another fate than under fifo", ABOUT);
			ck_assert_msg(first->jobs[job].kept_work_ns ==
			                  other->jobs[job].kept_work_ns,
			              SAYING " did another part than under fifo", ABOUT);
		}
	}
}
END_TEST

/* Divisible by the tuners' etas, too, and with error bars that scale. 292 years are 3100 s of such
 * a world; rounds that stop everybody can take 1500 s. */
START_TEST(test_tuned_time_scales)
{
	const gint64 divisible = 16 * 6561 * 7;
	const gint64 factor = 1 << (1 + (first_seed() + _i) % 2);
	g_autoptr(World) world =
	    world_new_shaped(first_seed() + _i, divisible, 0, FALSE, TRUE, TRUE);
	g_autoptr(World) scaled =
	    world_new_shaped(first_seed() + _i, divisible * factor, 0, FALSE, TRUE, TRUE);

	for (guint i = 0; i < G_N_ELEMENTS(entries); i++) {
		g_autoptr(GArray) segments = NULL, others = NULL;
		g_autoptr(RunRecord) record = run(world, &entries[i], &segments);
		g_autoptr(RunRecord) other = run(scaled, &entries[i], &others);

		check_same(world, &entries[i], record, other, factor, "another unit of time");
	}
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("every policy");
	TCase *tests = tcase_create("properties");
	TCase *tuned = tcase_create("tuned");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	tcase_set_timeout(tests, 600);
	tcase_set_timeout(tuned, 600);
	tcase_add_loop_test(tests, test_invariants, 0, n_worlds());
	tcase_add_loop_test(tests, test_far_job_changes_nobody, 0, n_worlds());
	tcase_add_loop_test(tests, test_time_scales, 0, n_worlds());
	tcase_add_loop_test(tests, test_same_twice, 0, n_worlds());
	tcase_add_loop_test(tuned, test_tuned_apps, 0, n_worlds());
	tcase_add_loop_test(tuned, test_tuner_is_the_workloads, 0, n_worlds());
	tcase_add_loop_test(tuned, test_tuned_time_scales, 0, n_worlds());
	tcase_add_loop_test(tests, test_alone_takes_its_duration, 0, n_worlds());
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, tuned);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed > 0;
}
