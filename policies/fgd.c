/* SPDX-License-Identifier: MIT */

/*
 * FGD: each job goes at once where the fragmentation of what is free grows least (policies.md
 * 5.13), or where one of the scores that it is compared with is highest.
 *
 * Jobs that ask for the same are one class: if the first of them does not fit, none does, and the
 * score of a machine for a class stays what it was until somebody comes or leaves there. A class
 * that did not fit is stuck: from then on only machines where somebody has left need be looked at.
 */

#include "policies/fgd/scores.h"

#include <string.h>

enum { MISFITS_SKIP, MISFITS_STRICT };
enum { WITHIN_MACHINE, WITHIN_CLUSTER };
enum { ROUND_PERCENT, ROUND_NONE };

typedef struct FgdOptions {
	gint score; /* FgdScore */
	gint rounding;
	gint misfits;
	gint max_level;
	double popular_frac;
	gboolean cpu_tasks;
} FgdOptions;

/* A machine and a class. */
typedef struct Seat {
	gint64 score;
	guint32 version; /* of the machine that this is about; 0 = nothing known */
	guint32 gpu;     /* in the machine */
	gboolean fits;
} Seat;

/* All that decides where a job fits. */
typedef struct Demand {
	guint64 num_gpus, share_milli, gpu_mem_mib, cpus_milli, mem_mib, workers, gpus_per_worker;
	guint64 gpu_types, good_types; /* as given, and without those where it stands still */
} Demand;

typedef struct Class {
	JobId example;
	TaskType task;
	gboolean is_wide; /* no machine could ever hold it */
	gboolean is_stuck;
	Backlog *waiting;
	guint n_waiting;
	Seat *seats; /* by machine; NULL until needed */
} Class;

typedef enum JobPlace {
	JOB_ELSEWHERE,
	JOB_WAITS,
	JOB_ON_MACHINE,
	JOB_ON_MACHINES,
} JobPlace;

typedef struct JobNote {
	guint class;
	JobPlace place;
	guint32 machine;
} JobNote;

typedef struct MachineNote {
	guint32 version;
	gboolean is_loose; /* is it in Fgd.loose? */
	guint32 known_version;
	guint64 kinds, fragmentation; /* at known_version */
} MachineNote;

typedef struct Fgd {
	const FgdOptions *options;
	FgdScorer scorer;
	TaskMix *mix;
	GArray *classes;       /* of Class */
	JobNote *jobs;         /* by JobId */
	MachineNote *machines; /* by number */
	GArray *loose;         /* of guint32: machines somebody has left since the last decision */
	MachineRest *rest;
	gboolean *is_shut;
	PlacementOptions wide;
	Alloc where;
	RngStream stream;
	guint64 n_scores, n_places;
} Fgd;

static Class *
class_at(const Fgd *fgd, guint i)
{
	return &g_array_index(fgd->classes, Class, i);
}

/* classes */

static guint64
good_types(const View *view, const Job *job)
{
	guint64 types = 0;

	for (guint type = 0; type < view_cluster_spec(view)->n_types; type++)
		if (placement_type_will_do(view, job, type))
			types |= G_GUINT64_CONSTANT(1) << type;
	return types;
}

static Demand
demand_of(const View *view, const Job *job)
{
	return (Demand){
		.num_gpus = job->num_gpus,
		.share_milli = job->share_milli,
		.gpu_mem_mib = job->gpu_mem_mib,
		.cpus_milli = job->cpus_milli,
		.mem_mib = job->mem_mib,
		.workers = job->workers,
		.gpus_per_worker = job->gpus_per_worker,
		.gpu_types = job->gpu_types,
		.good_types = good_types(view, job),
	};
}

static guint
demand_hash(gconstpointer a)
{
	guint64 words[sizeof(Demand) / sizeof(guint64)], hash = 0;

	memcpy(words, a, sizeof(words));
	for (guint i = 0; i < G_N_ELEMENTS(words); i++)
		hash = (hash ^ words[i]) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	return (guint)(hash >> 32);
}

static gboolean
demand_equal(gconstpointer a, gconstpointer b)
{
	return memcmp(a, b, sizeof(Demand)) == 0;
}

static gboolean
could_hold(const Machine *machine, const Demand *demand)
{
	return (demand->good_types >> machine->type & 1) && demand->num_gpus <= machine->n_gpus &&
	       (machine->cpus_milli == 0 || demand->cpus_milli <= machine->cpus_milli) &&
	       (machine->mem_mib == 0 || demand->mem_mib <= machine->mem_mib);
}

static gboolean
is_wide(const ClusterSpec *spec, const Demand *demand)
{
	for (guint i = 0; i < spec->n_machines; i++)
		if (could_hold(&spec->machines[i], demand))
			return FALSE;
	return TRUE;
}

static guint
add_class(Fgd *fgd, const View *view, const Job *job, const Demand *demand)
{
	Class class = {
		.example = job->id,
		.task = { .n_gpus = job->num_gpus,
		          .gpu_milli = job->num_gpus > 0 ? job->share_milli : 0,
		          .cpus_milli = job->cpus_milli,
		          .gpu_types = demand->good_types },
		.is_wide = is_wide(view_cluster_spec(view), demand),
	};

	g_array_append_val(fgd->classes, class);
	return fgd->classes->len - 1;
}

/* Classes are numbered by their first jobs: the table's own order is never seen. */
static void
sort_into_classes(Fgd *fgd, const View *view)
{
	g_autoptr(GHashTable) numbers =
	    g_hash_table_new_full(demand_hash, demand_equal, g_free, NULL);

	for (JobId id = 0; id < view_n_jobs(view); id++) {
		const Job *job = view_job(view, id);
		Demand demand = demand_of(view, job);
		guint number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, &demand));

		if (number == 0) {
			number = add_class(fgd, view, job, &demand) + 1;
			g_hash_table_insert(numbers, g_memdup2(&demand, sizeof(demand)),
			                    GUINT_TO_POINTER(number));
		}
		fgd->jobs[id].class = number - 1;
		class_at(fgd, number - 1)->task.n_tasks++;
	}
}

/* What no machine could ever hold fragments none. */
static TaskMix *
mix_of(const Fgd *fgd)
{
	g_autoptr(GArray) types = g_array_new(FALSE, FALSE, sizeof(TaskType));

	for (guint i = 0; i < fgd->classes->len; i++) {
		const Class *class = class_at(fgd, i);

		if (class->task.n_gpus > 0 ? !class->is_wide : fgd->options->cpu_tasks)
			g_array_append_val(types, class->task);
	}
	return task_mix_new((const TaskType *)types->data, types->len, fgd->options->popular_frac);
}

/* seats */

static guint64
kinds_on(const View *view, const Machine *machine)
{
	const Cluster *cluster = view_cluster(view);
	guint64 kinds = 0;

	for (guint i = 0; i < machine->n_gpus; i++)
		for (JobId id = cluster_next_resident(cluster, machine->first_gpu + i, JOB_NONE);
		     id != JOB_NONE;
		     id = cluster_next_resident(cluster, machine->first_gpu + i, id)) {
			const Job *job = view_job(view, id);

			kinds |= fgd_kind(job->num_gpus, job->share_milli);
		}
	return kinds;
}

/* Beside the parts that are held there, memory may be what lacks. */
static void
mark_shut_gpus(Fgd *fgd, const View *view, const Job *job, const Machine *machine)
{
	for (guint i = 0; i < machine->n_gpus; i++) {
		alloc_reset(&fgd->where);
		alloc_add(&fgd->where, machine->first_gpu + i);
		fgd->is_shut[i] =
		    !cluster_has_room(view_cluster(view), job, &fgd->where, CROWD_SHARES);
	}
}

static void
look_at_machine(Fgd *fgd, const View *view, guint32 number)
{
	MachineNote *note = &fgd->machines[number];

	machine_rest_read(fgd->rest, view_cluster(view), number);
	if (note->known_version == note->version)
		return;
	note->known_version = note->version;
	if (fgd->scorer.score == FGD_SCORE_FGD)
		note->fragmentation = fragmentation_of(fgd->rest, fgd->mix);
	if (fgd->scorer.score == FGD_SCORE_CLUSTERING)
		note->kinds = kinds_on(view, &view_cluster_spec(view)->machines[number]);
}

static Seat
find_seat(Fgd *fgd, const View *view, const Class *class, guint32 number)
{
	const Machine *machine = &view_cluster_spec(view)->machines[number];
	const Job *job = view_job(view, class->example);
	Seat seat = { .version = fgd->machines[number].version };
	FgdMachine shown = { .rest = fgd->rest, .is_shut = fgd->is_shut };
	guint gpu = 0;

	if (!(class->task.gpu_types >> machine->type & 1) ||
	    cluster_machine_room(view_cluster(view), number, job) < job->num_gpus)
		return seat;
	if (job->share_milli < GPU_MILLI)
		mark_shut_gpus(fgd, view, job, machine);
	look_at_machine(fgd, view, number);
	shown.kinds = fgd->machines[number].kinds;
	shown.fragmentation = fgd->machines[number].fragmentation;
	seat.fits = TRUE;
	seat.score = fgd_score(&fgd->scorer, &shown, &class->task, &gpu);
	seat.gpu = gpu;
	fgd->n_scores++;
	return seat;
}

static const Seat *
get_seat(Fgd *fgd, const View *view, Class *class, guint32 machine)
{
	if (class->seats == NULL)
		class->seats = g_new0(Seat, view_cluster_spec(view)->n_machines);
	if (class->seats[machine].version != fgd->machines[machine].version)
		class->seats[machine] = find_seat(fgd, view, class, machine);
	return &class->seats[machine];
}

static guint32
draw_below(const Fgd *fgd, const View *view, JobId job, guint draw, guint n)
{
	guint64 entity = (guint64)view_n_starts(view, job) << 32 | job;

	return (guint32)rng_below(fgd->stream, entity, draw, n);
}

/* The @i-th of the machines that the class may still fit into. */
static guint32
candidate_at(const Fgd *fgd, const Class *class, guint i)
{
	return class->is_stuck ? g_array_index(fgd->loose, guint32, i) : i;
}

/* The higher score, then the lower number: candidates come in no order. */
static gboolean
is_better(const Class *class, guint32 machine, guint32 than)
{
	const Seat *one = &class->seats[machine], *other;

	if (than == G_MAXUINT32)
		return TRUE;
	other = &class->seats[than];
	return one->score != other->score ? one->score > other->score : machine < than;
}

/* Where @job would go; G_MAXUINT32 if it does not fit. Under random each machine that does takes
 * the place of those before with the odds it deserves. */
static guint32
find_machine(Fgd *fgd, const View *view, Class *class, JobId job)
{
	guint n = class->is_stuck ? fgd->loose->len : view_cluster_spec(view)->n_machines;
	gboolean is_drawn = fgd->scorer.score == FGD_SCORE_RANDOM;
	guint32 found = G_MAXUINT32;
	guint n_that_do = 0;

	for (guint i = 0; i < n; i++) {
		guint32 machine = candidate_at(fgd, class, i);

		if (!get_seat(fgd, view, class, machine)->fits)
			continue;
		n_that_do++;
		if (is_drawn ? draw_below(fgd, view, job, n_that_do, n_that_do) == 0
		             : is_better(class, machine, found))
			found = machine;
	}
	return found;
}

/* GPUs on @machine, those of its last stretch first (B22). */
static void
take_free_gpus(Fgd *fgd, const View *view, const Job *job, const Machine *machine)
{
	const Cluster *cluster = view_cluster(view);
	const Alloc *former = view_last_alloc(view, job->id);
	guint32 end = machine->first_gpu + machine->n_gpus;

	for (guint i = 0; i < former->n && fgd->where.n < job->num_gpus; i++)
		if (former->gpus[i] >= machine->first_gpu && former->gpus[i] < end &&
		    cluster_gpu_is_free(cluster, former->gpus[i]))
			alloc_add(&fgd->where, former->gpus[i]);
	for (guint32 gpu = cluster_next_free(cluster, machine->first_gpu, end);
	     gpu < end && fgd->where.n < job->num_gpus;
	     gpu = cluster_next_free(cluster, gpu + 1, end))
		if (!alloc_has(&fgd->where, gpu))
			alloc_add(&fgd->where, gpu);
}

/* Any GPU with room, as random has it for a part. */
static guint
draw_gpu(Fgd *fgd, const View *view, const Job *job, const Machine *machine)
{
	guint found = 0, n_that_do = 0;

	mark_shut_gpus(fgd, view, job, machine);
	for (guint i = 0; i < machine->n_gpus; i++) {
		if (fgd->is_shut[i])
			continue;
		n_that_do++;
		if (draw_below(fgd, view, job->id, view_cluster_spec(view)->n_machines + n_that_do,
		               n_that_do) == 0)
			found = i;
	}
	return found;
}

static void
take_seat(Fgd *fgd, const View *view, const Class *class, const Job *job, guint32 number)
{
	const Machine *machine = &view_cluster_spec(view)->machines[number];
	guint gpu = class->seats[number].gpu;

	if (job->share_milli < GPU_MILLI && fgd->scorer.score == FGD_SCORE_RANDOM)
		gpu = draw_gpu(fgd, view, job, machine);
	alloc_reset(&fgd->where);
	if (job->share_milli < GPU_MILLI)
		alloc_add(&fgd->where, machine->first_gpu + gpu);
	else
		take_free_gpus(fgd, view, job, machine);
}

/* decisions */

static void
machine_changes(Fgd *fgd, guint32 machine)
{
	fgd->machines[machine].version++;
}

static void
machines_change(Fgd *fgd, const View *view, const Alloc *where)
{
	for (guint i = 0; i < where->n; i++)
		machine_changes(fgd, view_cluster_spec(view)->machine_of[where->gpus[i]]);
}

static gboolean
find_place(Fgd *fgd, const View *view, Class *class, const Job *job)
{
	JobNote *note = &fgd->jobs[job->id];

	if (class->is_wide) {
		note->place = JOB_ON_MACHINES;
		return placement_find(view, job, job->num_gpus, &fgd->wide, &fgd->where);
	}
	note->place = JOB_ON_MACHINE;
	note->machine = find_machine(fgd, view, class, job->id);
	if (note->machine == G_MAXUINT32)
		return FALSE;
	take_seat(fgd, view, class, job, note->machine);
	return TRUE;
}

static void
leave_queue(Class *class, JobId job)
{
	backlog_remove(class->waiting, job);
	class->n_waiting--;
	/* Nobody keeps an eye on what becomes free for it. */
	if (class->n_waiting == 0)
		class->is_stuck = FALSE;
}

static gboolean
place(Fgd *fgd, const View *view, Class *class, const Job *job, Plan *plan)
{
	if (!find_place(fgd, view, class, job) ||
	    plan_place(plan, job->id, &fgd->where) != PLAN_OK) {
		fgd->jobs[job->id].place = JOB_WAITS;
		return FALSE;
	}
	machines_change(fgd, view, &fgd->where);
	leave_queue(class, job->id);
	fgd->n_places++;
	return TRUE;
}

/* The class whose first job has waited longest among those not @is_done; NULL if there is none. */
static Class *
next_class(const Fgd *fgd, const gboolean *is_done, JobId *ret_head)
{
	Class *found = NULL;

	for (guint i = 0; i < fgd->classes->len; i++) {
		Class *class = class_at(fgd, i);
		JobId head;

		if (class->n_waiting == 0 || is_done[i])
			continue;
		head = backlog_find(class->waiting, 0, TIME_NEVER);
		if (found == NULL || head < *ret_head) {
			found = class;
			*ret_head = head;
		}
	}
	return found;
}

static void
forget_loose_machines(Fgd *fgd)
{
	for (guint i = 0; i < fgd->loose->len; i++)
		fgd->machines[g_array_index(fgd->loose, guint32, i)].is_loose = FALSE;
	g_array_set_size(fgd->loose, 0);
}

static void
unstick_all(Fgd *fgd)
{
	for (guint i = 0; i < fgd->classes->len; i++)
		class_at(fgd, i)->is_stuck = FALSE;
}

/* A node has come or gone: nothing that was known of the machines holds. */
static void
forget_all(Fgd *fgd, const View *view)
{
	for (guint i = 0; i < view_cluster_spec(view)->n_machines; i++)
		machine_changes(fgd, i);
	unstick_all(fgd);
}

static void
fgd_decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	Fgd *fgd = self;
	gboolean is_strict = fgd->options->misfits == MISFITS_STRICT;
	g_autofree gboolean *is_done = g_new0(gboolean, fgd->classes->len);
	JobId head;

	if ((why & POLICY_WAKE_NODES) != 0)
		forget_all(fgd, view);
	/* Who stands behind the first misfit has not looked at what became free. */
	if (is_strict)
		unstick_all(fgd);
	for (Class *class = next_class(fgd, is_done, &head); class != NULL;
	     class = next_class(fgd, is_done, &head)) {
		if (place(fgd, view, class, view_job(view, head), plan))
			continue;
		class->is_stuck = TRUE;
		is_done[fgd->jobs[head].class] = TRUE;
		if (is_strict)
			break;
	}
	forget_loose_machines(fgd);
}

/* notes */

static void
fgd_arrived(void *self, const View *view, const Job *job)
{
	Fgd *fgd = self;
	Class *class = class_at(fgd, fgd->jobs[job->id].class);

	if (class->waiting == NULL)
		class->waiting = backlog_new();
	backlog_add(class->waiting, job->id, 0);
	class->n_waiting++;
	fgd->jobs[job->id].place = JOB_WAITS;
}

static void
loosen(Fgd *fgd, guint32 machine)
{
	machine_changes(fgd, machine);
	if (fgd->machines[machine].is_loose)
		return;
	fgd->machines[machine].is_loose = TRUE;
	g_array_append_val(fgd->loose, machine);
}

static void
fgd_completed(void *self, const View *view, const Job *job)
{
	Fgd *fgd = self;
	JobNote *note = &fgd->jobs[job->id];

	switch (note->place) {
	case JOB_ELSEWHERE:
		break;
	case JOB_WAITS:
		leave_queue(class_at(fgd, note->class), job->id);
		break;
	case JOB_ON_MACHINE:
		loosen(fgd, note->machine);
		break;
	case JOB_ON_MACHINES:
		forget_all(fgd, view);
		break;
	}
	note->place = JOB_ELSEWHERE;
}

/* the class */

static void
measure_machines(Fgd *fgd, const ClusterSpec *spec)
{
	for (guint i = 0; i < spec->n_machines; i++)
		fgd->scorer.largest_cpus_milli =
		    MAX(fgd->scorer.largest_cpus_milli, spec->machines[i].cpus_milli);
	fgd->scorer.largest_gpus_milli = (guint64)spec->max_machine_gpus * GPU_MILLI;
}

static gboolean
fgd_init(void *self, const void *options, const View *view, GError **error)
{
	Fgd *fgd = self;
	const ClusterSpec *spec = view_cluster_spec(view);

	fgd->options = options;
	fgd->classes = g_array_new(FALSE, FALSE, sizeof(Class));
	fgd->loose = g_array_new(FALSE, FALSE, sizeof(guint32));
	fgd->jobs = g_new0(JobNote, view_n_jobs(view));
	fgd->machines = g_new0(MachineNote, spec->n_machines);
	fgd->rest = machine_rest_new(spec->max_machine_gpus);
	fgd->is_shut = g_new0(gboolean, spec->max_machine_gpus);
	fgd->wide.max_level = LEVEL_CLUSTER;
	fgd->stream = view_stream(view, "placement");
	sort_into_classes(fgd, view);
	forget_all(fgd, view);
	fgd->mix = mix_of(fgd);
	fgd->scorer.score = (FgdScore)fgd->options->score;
	fgd->scorer.is_exact = fgd->options->rounding == ROUND_NONE;
	fgd->scorer.mix = fgd->mix;
	measure_machines(fgd, spec);
	return TRUE;
}

static void
fgd_finish(void *self)
{
	Fgd *fgd = self;

	for (guint i = 0; fgd->classes != NULL && i < fgd->classes->len; i++) {
		backlog_free(class_at(fgd, i)->waiting);
		g_free(class_at(fgd, i)->seats);
	}
	g_clear_pointer(&fgd->classes, g_array_unref);
	g_clear_pointer(&fgd->loose, g_array_unref);
	g_free(fgd->jobs);
	g_free(fgd->machines);
	g_free(fgd->is_shut);
	machine_rest_free(fgd->rest);
	task_mix_free(fgd->mix);
	alloc_clear(&fgd->where);
}

static guint
fgd_counters(const void *self, PolicyCounter *ret_counters)
{
	const Fgd *fgd = self;

	ret_counters[0] = (PolicyCounter){ "placements", fgd->n_places };
	ret_counters[1] = (PolicyCounter){ "machines_scored", fgd->n_scores };
	return 2;
}

static PlacementLevel
fgd_max_level(const void *options)
{
	const FgdOptions *own = options;

	return own->max_level == WITHIN_MACHINE ? LEVEL_MACHINE : LEVEL_CLUSTER;
}

static const char *const score_names[] = { "fgd",        "best-fit", "dot-product", "packing",
	                                   "clustering", "random",   NULL };
static const char *const rounding_names[] = { "percent", "none", NULL };
static const char *const misfit_names[] = { "skip", "strict", NULL };
static const char *const level_names[] = { "machine", "cluster", NULL };

static const Option fgd_options[] = {
	{ .name = "score",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(FgdOptions, score),
	  .standard = "fgd",
	  .choices = score_names,
	  .help = "what decides between the machines that a job fits into: the growth of "
	          "fragmentation, or what FGD is compared with" },
	{ .name = "rounding",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(FgdOptions, rounding),
	  .standard = "percent",
	  .choices = rounding_names,
	  .help = "fgd, best-fit and dot-product: machines whose scores are in the same hundredth "
	          "tie, as in the authors' simulator, and the first gets the job; or none" },
	{ .name = "popular_frac",
	  .kind = OPTION_NUMBER,
	  .offset = G_STRUCT_OFFSET(FgdOptions, popular_frac),
	  .standard = "0.95",
	  .max = 1,
	  .help = "fgd: the usual tasks are the most frequent ones of the trace, up to this part "
	          "of all" },
	{ .name = "cpu_tasks",
	  .kind = OPTION_BOOL,
	  .offset = G_STRUCT_OFFSET(FgdOptions, cpu_tasks),
	  .standard = "true",
	  .help = "fgd: jobs of 0 GPUs are among the usual tasks; they have no use for any GPU" },
	{ .name = "misfits",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(FgdOptions, misfits),
	  .standard = "skip",
	  .choices = misfit_names,
	  .help = "a job that does not fit is passed over, or holds up all behind it" },
	{ .name = "max_level",
	  .kind = OPTION_CHOICE,
	  .offset = G_STRUCT_OFFSET(FgdOptions, max_level),
	  .standard = "cluster",
	  .choices = level_names,
	  .help = "a gang that no machine could hold is rejected, or spread over several, "
	          "consolidated" },
	{ .name = NULL },
};

const PolicyClass fgd_policy = {
	.abi = POLICY_ABI,
	.name = "fgd",
	.version = "1",
	.summary = "each job goes where the GPUs left over stay of most use to the usual job",
	.source = "Weng et al., Beware of Fragmentation: Scheduling GPU-Sharing Workloads with "
	          "Fragmentation Gradient Descent, ATC 2023",
	.options = fgd_options,
	.options_size = sizeof(FgdOptions),
	.state_size = sizeof(Fgd),
	.init = fgd_init,
	.arrived = fgd_arrived,
	.completed = fgd_completed,
	.decide = fgd_decide,
	.finish = fgd_finish,
	.max_level = fgd_max_level,
	.counters = fgd_counters,
	.idea =
	    "What is free on a machine is fragmented as far as a job drawn from the usual ones "
	    "could not use it: all of it if the job does not fit there, else the rests of GPUs "
	    "that are smaller than what the job wants of each. Jobs start in the order of their "
	    "submission, whole in one machine, on the one where this expectation grows least "
	    "(or falls most), the first one on ties; a part of a GPU goes to that GPU where it "
	    "does. All GPU types that a job accepts are compared. Nothing is ever stopped or "
	    "moved. Which jobs are usual is taken from the whole trace, as popularity by number "
	    "of GPUs, part, CPUs and types; how long jobs run is not looked at.",
};
