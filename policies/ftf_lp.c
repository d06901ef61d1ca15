/* SPDX-License-Identifier: MIT */

/*
 * Finish-time fairness as a program (Gavel, and what later papers call Themis): how much of its
 * time each job should run on each GPU type (ftf_lp/program.h), and rounds that bring what jobs get
 * near to that. A job's claim to a type is its part X of it over the part f that it has had of the
 * time given out there since the parts were last computed. So as in Gavel's program every job is
 * taken to have had half a round of each type at first.
 */

#include "sim/policy.h"
#include "policies/ftf_lp/program.h"

#include <stdlib.h>
#include <string.h>

#define NO_TYPE   G_MAXUINT

/* Gavel's factor for who has had no time at all, which is only so in rounds of a nanosecond. */
#define NEVER_RUN 1e9

typedef enum FtfTypes { TYPES_AWARE, TYPES_AGNOSTIC } FtfTypes;
typedef enum FtfUnit { UNIT_JOB, UNIT_APP } FtfUnit;
typedef enum FtfTrigger { TRIGGER_PERIODIC, TRIGGER_FREE } FtfTrigger;

typedef struct FtfLpOptions {
	PlacementOptions placement;
	SimTime round_ns, reset_ns;
	gint types, unit, trigger;
} FtfLpOptions;

/* A job here, or an app of such. */
typedef struct FtfParty {
	guint n_jobs; /* here; all else is reset when the first comes */
	SimTime arrived_ns;
	double isolated_ns;   /* time that what it has done would have taken in isolation */
	double isolated_rate; /* in GPUs, when the parts were computed; 0 before */
	double done;          /* since then, in GPU-ns */
	guint number;         /* in the program */
} FtfParty;

typedef struct FtfJob {
	SimWork remaining_ns; /* when the parts were computed, or when it came */
	SimTime booked_ns;    /* its time on type is in given_ns up to here */
	guint type;           /* on which it runs; NO_TYPE */
} FtfJob;

/* Of a job on a type. */
typedef struct FtfCell {
	double speed;     /* 0 where it cannot run */
	double part;      /* X */
	double deficit;   /* ns that it should have had and has not, at the last reset */
	SimTime given_ns; /* since then */
} FtfCell;

typedef struct FtfClaim {
	JobId job;
	guint type;
	double priority, deficit, part;
	gint64 rank; /* of the priority */
} FtfClaim;

typedef struct FtfLp {
	FtfLpOptions options;
	RoundsRules rules;
	Rounds *rounds;
	guint n_types;
	Cluster *empty;
	FtfProgram *program;
	FtfParty *parties;    /* by JobId or AppId */
	FtfJob *jobs;         /* by JobId */
	FtfCell *cells;       /* by JobId and type */
	SimTime *given_ns;    /* by type: to all jobs since the last reset */
	double *speeds;       /* by type; scratch */
	GArray *claims;       /* of FtfClaim */
	gboolean has_changed; /* jobs have come or gone since the parts were computed */
	gboolean has_parts;
	SimTime reset_at_ns;
	guint64 n_resets, n_failures;
} FtfLp;

static FtfCell *
cell(const FtfLp *ftf, JobId job, guint type)
{
	return &ftf->cells[(gsize)job * ftf->n_types + type];
}

static FtfParty *
party_of(const FtfLp *ftf, const Job *job)
{
	return &ftf->parties[ftf->options.unit == UNIT_APP ? job->app : job->id];
}

static double
gpus_of(const Job *job)
{
	return (double)job_held_milli(job, job->num_gpus) / GPU_MILLI;
}

static SimWork
remaining_ns(const View *view, JobId job)
{
	SimWork left_ns = 0;

	view_remaining_ns(view, job, &left_ns);
	return left_ns;
}

/* time given out */

/* Books the job's time on GPUs up to now. */
static void
book(FtfLp *ftf, const View *view, JobId job)
{
	FtfJob *own = &ftf->jobs[job];
	SimTime time_ns = view_now_ns(view) - own->booked_ns;

	own->booked_ns = view_now_ns(view);
	if (own->type == NO_TYPE)
		return;
	cell(ftf, job, own->type)->given_ns += time_ns;
	ftf->given_ns[own->type] += time_ns;
}

static guint
type_now(const View *view, JobId job)
{
	const ClusterSpec *spec = view_cluster_spec(view);
	const Alloc *gpus = view_alloc(view, job);

	if (view_state(view, job) == JOB_SUSPENDING || gpus->n == 0)
		return NO_TYPE;
	return spec->machines[spec->machine_of[gpus->gpus[0]]].type;
}

/* What jobs run on until the next decision. */
static void
note_types(FtfLp *ftf, const View *view)
{
	const GArray *active = rounds_active(ftf->rounds);

	for (guint i = 0; i < active->len; i++) {
		JobId job = g_array_index(active, JobId, i);
		guint type = type_now(view, job);

		if (ftf->jobs[job].type == type)
			continue;
		book(ftf, view, job);
		ftf->jobs[job].type = type;
	}
}

/* parts */

/* What has been done since the parts were computed would have taken so long in isolation. */
static void
settle_party(FtfParty *party)
{
	if (party->isolated_rate > 0)
		party->isolated_ns =
		    MAX(0, party->isolated_ns + party->done / party->isolated_rate);
	party->done = 0;
}

static void
settle_work(FtfLp *ftf, const View *view, const Job *job)
{
	FtfJob *own = &ftf->jobs[job->id];
	SimWork left_ns = remaining_ns(view, job->id);

	party_of(ftf, job)->done += (double)(own->remaining_ns - left_ns) * gpus_of(job);
	own->remaining_ns = left_ns;
}

static void
add_party(FtfLp *ftf, const View *view, FtfParty *party)
{
	settle_party(party);
	party->number = ftf_program_add_party(
	    ftf->program, (double)(view_now_ns(view) - party->arrived_ns), party->isolated_ns);
}

static void
add_member(FtfLp *ftf, const Job *job)
{
	for (guint type = 0; type < ftf->n_types; type++)
		ftf->speeds[type] = cell(ftf, job->id, type)->speed;
	ftf_program_add_member(ftf->program, gpus_of(job), (double)ftf->jobs[job->id].remaining_ns,
	                       ftf->speeds);
}

static int
compare_apps(gconstpointer one, gconstpointer other, gpointer view)
{
	const Job *a = view_job(view, *(const JobId *)one);
	const Job *b = view_job(view, *(const JobId *)other);

	if (a->app != b->app)
		return a->app < b->app ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* The jobs here, those of a party side by side; free with g_array_unref(). */
static GArray *
jobs_by_party(const FtfLp *ftf, const View *view)
{
	const GArray *active = rounds_active(ftf->rounds);
	GArray *jobs = g_array_sized_new(FALSE, FALSE, sizeof(JobId), active->len);

	g_array_append_vals(jobs, active->data, active->len);
	if (ftf->options.unit == UNIT_APP)
		g_array_sort_with_data(jobs, compare_apps, (gpointer)(gsize)view);
	return jobs;
}

/* A reset (Gavel): what was due and was not given is remembered, and time is counted anew. */
static void
reset_cell(FtfLp *ftf, const View *view, JobId job, guint type, double part)
{
	FtfCell *own = cell(ftf, job, type);
	SimTime half_ns = ftf->options.round_ns / 2;
	double due_ns = own->part * (double)(view_now_ns(view) - ftf->reset_at_ns);

	if (ftf->has_parts)
		own->deficit += due_ns - (double)(own->given_ns - half_ns);
	own->given_ns = half_ns;
	ftf->given_ns[type] += half_ns;
	own->part = part;
}

static void
take_parts(FtfLp *ftf, const View *view, const GArray *jobs)
{
	memset(ftf->given_ns, 0, ftf->n_types * sizeof(SimTime));
	for (guint i = 0; i < jobs->len; i++) {
		JobId id = g_array_index(jobs, JobId, i);
		FtfParty *party = party_of(ftf, view_job(view, id));

		party->isolated_rate = ftf_program_isolated_rate(ftf->program, party->number);
		for (guint type = 0; type < ftf->n_types; type++)
			reset_cell(ftf, view, id, type, ftf_program_share(ftf->program, i, type));
	}
	ftf->reset_at_ns = view_now_ns(view);
	ftf->has_changed = FALSE;
	ftf->has_parts = TRUE;
	ftf->n_resets++;
}

static void
compute_parts(FtfLp *ftf, const View *view)
{
	g_autoptr(GArray) jobs = jobs_by_party(ftf, view);
	const FtfParty *last = NULL;

	for (guint i = 0; i < jobs->len; i++)
		settle_work(ftf, view, view_job(view, g_array_index(jobs, JobId, i)));
	ftf_program_open(ftf->program);
	for (guint i = 0; i < jobs->len; i++) {
		const Job *job = view_job(view, g_array_index(jobs, JobId, i));
		FtfParty *party = party_of(ftf, job);

		if (party != last)
			add_party(ftf, view, party);
		add_member(ftf, job);
		last = party;
	}
	ftf->n_failures += !ftf_program_solve(ftf->program);
	take_parts(ftf, view, jobs);
}

/* claims */

/* As scores are (B02), but with their sign. */
static int
compare_rounded(double one, double other)
{
	if (score_rank_of(ABS(one)) == score_rank_of(ABS(other)) && (one < 0) == (other < 0))
		return 0;
	return one < other ? -1 : 1;
}

/* The larger first. */
static int
compare_claims(gconstpointer one, gconstpointer other)
{
	const FtfClaim *a = one, *b = other;
	int deficit;

	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	deficit = compare_rounded(a->deficit, b->deficit);
	if (deficit != 0)
		return -deficit;
	if (a->part != b->part)
		return a->part > b->part ? -1 : 1;
	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	return a->type < b->type ? -1 : a->type > b->type;
}

static double
priority_of(const FtfLp *ftf, const FtfCell *own, guint type)
{
	if (own->given_ns == 0)
		return own->part * NEVER_RUN;
	return own->part / ((double)own->given_ns / (double)ftf->given_ns[type]);
}

static void
add_claim(FtfLp *ftf, JobId job, guint type)
{
	const FtfCell *own = cell(ftf, job, type);
	FtfClaim claim = { .job = job, .type = type, .deficit = own->deficit, .part = own->part };

	if (own->speed <= 0)
		return;
	claim.priority = priority_of(ftf, own, type);
	claim.rank = score_rank_of(claim.priority);
	g_array_append_val(ftf->claims, claim);
}

static void
ftf_lp_serve(void *self, const View *view, Plan *plan)
{
	FtfLp *ftf = self;
	const GArray *active = rounds_active(ftf->rounds);

	g_array_set_size(ftf->claims, 0);
	for (guint i = 0; i < active->len; i++) {
		JobId job = g_array_index(active, JobId, i);

		for (guint type = 0; type < ftf->n_types; type++)
			if (rounds_held(ftf->rounds, view, job) == 0)
				add_claim(ftf, job, type);
	}
	g_array_sort(ftf->claims, compare_claims);
	for (guint i = 0; i < ftf->claims->len; i++) {
		const FtfClaim *claim = &g_array_index(ftf->claims, FtfClaim, i);

		if (rounds_held(ftf->rounds, view, claim->job) == 0)
			rounds_take(ftf->rounds, view, plan, view_job(view, claim->job),
			            claim->type);
	}
}

/* the contract */

/* Of the job alone in the cluster, ideally placed: 0 where it does not fit, by the policy's limits
 * to placement too. */
static double
speed_on(const FtfLp *ftf, const View *view, const Job *job, guint type)
{
	Job typed = *job;
	Alloc where = { 0 };
	double speed = 0;

	typed.gpu_types = G_GUINT64_CONSTANT(1) << type;
	if (placement_type_will_do(view, job, type) &&
	    placement_find_on(ftf->empty, view, &typed, job->num_gpus, &ftf->options.placement,
	                      &where))
		speed = ftf->options.types == TYPES_AGNOSTIC
		            ? 1
		            : (double)speed_type_ppb(view_models(view), view_cluster_spec(view),
		                                     job, type) /
		                  SPEED_ONE_PPB;
	alloc_clear(&where);
	return speed;
}

static void
ftf_lp_arrived(void *self, const View *view, const Job *job)
{
	FtfLp *ftf = self;
	FtfParty *party = party_of(ftf, job);

	if (party->n_jobs == 0)
		*party = (FtfParty){ .arrived_ns = view_now_ns(view) };
	party->n_jobs++;
	ftf->jobs[job->id] = (FtfJob){
		.remaining_ns = remaining_ns(view, job->id),
		.booked_ns = view_now_ns(view),
		.type = NO_TYPE,
	};
	for (guint type = 0; type < ftf->n_types; type++) {
		*cell(ftf, job->id, type) = (FtfCell){
			.speed = speed_on(ftf, view, job, type),
			.given_ns = ftf->options.round_ns / 2,
		};
		ftf->given_ns[type] += ftf->options.round_ns / 2;
	}
	ftf->has_changed = TRUE;
	rounds_arrived(ftf->rounds, job);
}

static void
ftf_lp_completed(void *self, const View *view, const Job *job)
{
	FtfLp *ftf = self;

	book(ftf, view, job->id);
	settle_work(ftf, view, job);
	party_of(ftf, job)->n_jobs--;
	ftf->has_changed = TRUE;
	rounds_completed(ftf->rounds, job);
}

static void
ftf_lp_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	FtfLp *ftf = self;
	const GArray *active = rounds_active(ftf->rounds);

	if (rounds_is_due(ftf->rounds, view)) {
		for (guint i = 0; i < active->len; i++)
			book(ftf, view, g_array_index(active, JobId, i));
		if (ftf->has_changed && (!ftf->has_parts || view_now_ns(view) - ftf->reset_at_ns >=
		                                                ftf->options.reset_ns))
			compute_parts(ftf, view);
	}
	rounds_decide(ftf->rounds, view, plan);
	note_types(ftf, view);
}

static gboolean
ftf_lp_init(void *self, const void *options, const View *view, GError **error)
{
	FtfLp *ftf = self;
	const ClusterSpec *spec = view_cluster_spec(view);
	g_autofree double *n_gpus = g_new(double, spec->n_types);

	ftf->options = *(const FtfLpOptions *)options;
	if (!rounds_check_length(view, "round_s", ftf->options.round_ns, error))
		return FALSE;
	ftf->rules = (RoundsRules){
		.length_ns = ftf->options.round_ns,
		.waits = ftf->options.trigger == TRIGGER_PERIODIC,
		.serve = ftf_lp_serve,
	};
	for (guint type = 0; type < spec->n_types; type++)
		n_gpus[type] = spec->types[type].n_gpus;
	ftf->n_types = spec->n_types;
	ftf->rounds = rounds_new(view, &ftf->rules, &ftf->options.placement, ftf);
	ftf->empty = cluster_new(spec);
	ftf->program = ftf_program_new(spec->n_types, n_gpus);
	ftf->parties = g_new0(FtfParty, MAX(view_n_jobs(view), view_n_apps(view)));
	ftf->jobs = g_new0(FtfJob, view_n_jobs(view));
	ftf->cells = g_new0(FtfCell, (gsize)view_n_jobs(view) * spec->n_types);
	ftf->given_ns = g_new0(SimTime, spec->n_types);
	ftf->speeds = g_new0(double, spec->n_types);
	ftf->claims = g_array_new(FALSE, FALSE, sizeof(FtfClaim));
	return TRUE;
}

static void
ftf_lp_finish(void *self)
{
	FtfLp *ftf = self;

	rounds_free(ftf->rounds);
	cluster_free(ftf->empty);
	ftf_program_free(ftf->program);
	g_free(ftf->parties);
	g_free(ftf->jobs);
	g_free(ftf->cells);
	g_free(ftf->given_ns);
	g_free(ftf->speeds);
	g_clear_pointer(&ftf->claims, g_array_unref);
}

static guint
ftf_lp_counters(const void *self, PolicyCounter *ret_counters)
{
	const FtfLp *ftf = self;

	ret_counters[0] = (PolicyCounter){ "programs", ftf->n_resets };
	ret_counters[1] = (PolicyCounter){ "programs_failed", ftf->n_failures };
	ret_counters[2] = (PolicyCounter){ "lp_solved", ftf_program_n_solved(ftf->program) };
	ret_counters[3] =
	    (PolicyCounter){ "lp_iterations", ftf_program_n_iterations(ftf->program) };
	return 4;
}

static PlacementLevel
ftf_lp_max_level(const void *options)
{
	return (PlacementLevel)((const FtfLpOptions *)options)->placement.max_level;
}

static const char *const types_names[] = { "aware", "agnostic", NULL };
static const char *const unit_names[] = { "job", "app", NULL };
static const char *const trigger_names[] = { "periodic", "free", NULL };

static const Option ftf_lp_options[] = {
	{ .name = "round_s",
	  .kind = OPTION_SECONDS,
	  .offset = G_STRUCT_OFFSET(FtfLpOptions, round_ns),
	  .standard = "360",
	  .min = 1e-9,
	  .help = "the length of a round; longer than any overhead" },
	{ .name = "reset_s",
	  .kind = OPTION_SECONDS,
	  .offset = G_STRUCT_OFFSET(FtfLpOptions, reset_ns),
	  .standard = "0",
	  .min = 0,
	  .help = "the least time between two computations of the parts, which the first round "
	          "after an arrival or end asks for; 1920 in Gavel's program" },
	{ .name = "types",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(FtfLpOptions, types),
	  .standard = "aware",
	  .choices = types_names,
	  .help = "whether the speeds of a job on different GPU types count, or all are taken to "
	          "be 1" },
	{ .name = "unit",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(FtfLpOptions, unit),
	  .standard = "job",
	  .choices = unit_names,
	  .help = "whose finish-time fairness is to be even" },
	{ .name = "trigger",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(FtfLpOptions, trigger),
	  .standard = "periodic",
	  .choices = trigger_names,
	  .help =
	      "whether GPUs that fall idle in a round wait for the next or are given out at once" },
	PLACEMENT_OPTION_ROWS(FtfLpOptions, placement),
	{ 0 },
};

const PolicyClass ftf_lp_policy = {
	.abi = POLICY_ABI,
	.name = "ftf-lp",
	.version = "1",
	.summary = "min-max finish-time fairness by a program, in rounds: Gavel's, called Themis "
	           "elsewhere",
	.source =
	    "Narayanan et al., Gavel, OSDI'20, sections 4.2 and 5; compared with as \"Themis\" in "
	    "Shockwave, NSDI'23, and Sia, SOSP'23",
	.caps = POLICY_PREEMPTS | POLICY_MIGRATES | POLICY_ORACLE,
	.options = ftf_lp_options,
	.options_size = sizeof(FtfLpOptions),
	.state_size = sizeof(FtfLp),
	.init = ftf_lp_init,
	.arrived = ftf_lp_arrived,
	.completed = ftf_lp_completed,
	.decide = ftf_lp_decide,
	.finish = ftf_lp_finish,
	.max_level = ftf_lp_max_level,
	.counters = ftf_lp_counters,
	.idea =
	    "Computes for each job the part X of its time that it should run on each GPU type, so "
	    "that "
	    "the largest finish-time fairness is the least; against a job's ideal, which is its "
	    "n-th "
	    "part of every type while n jobs are there. Gavel takes any optimum; here those "
	    "that could do better than the worst do, too (water-filling), and the optimum is "
	    "one. Then, in rounds, jobs run in the order of X over the part of the time "
	    "that they have had; big gangs are placed first, and jobs keep their GPUs where they "
	    "can. With several GPU types it solves linear programs by CLP, whose answers are "
	    "the same for the same build of that library. Jobs run at num_gpus.",
};
