/* SPDX-License-Identifier: MIT */
#include "sim/model/cluster.h"

/*
 * The run-time half: who holds what. Every event of a run ends here, so that a take or a give
 * touches only the GPUs of the job, and a machine's counters once for all of its GPUs. GPUs of
 * an Alloc ascend and those of a machine are consecutive, hence an Alloc is a row of runs, each
 * in one machine.
 */

/* The part of an Alloc that is in one machine. */
typedef struct MachineRun {
	guint32 machine;
	const guint32 *gpus;
	guint n;
} MachineRun;

/* The run that starts at @index; the next one starts at @index + run.n. */
static MachineRun
alloc_machine_run(const ClusterSpec *spec, const Alloc *alloc, guint index)
{
	MachineRun run = { spec->machine_of[alloc->gpus[index]], alloc->gpus + index, 1 };
	const Machine *machine = &spec->machines[run.machine];
	guint32 end = machine->first_gpu + machine->n_gpus;

	while (index + run.n < alloc->n && run.gpus[run.n] < end)
		run.n++;
	return run;
}

/* What @job wants of a machine for @n_gpus of its GPUs, when the whole gang wants @whole. */
static guint64
job_part(const Job *job, guint64 whole, guint n_gpus)
{
	if (whole == 0)
		return 0;
	g_assert(job->num_gpus > 0);
	return (guint64)(((unsigned __int128)whole * n_gpus + job->num_gpus - 1) / job->num_gpus);
}

/* The most GPUs of @job for which job_part() is at most @rest. */
static guint
job_part_gpus(const Job *job, guint64 whole, guint64 rest)
{
	unsigned __int128 n_gpus = (unsigned __int128)rest * job->num_gpus / whole;

	return (guint)MIN(n_gpus, G_MAXUINT);
}

/* buckets */

static gsize
bucket_index(const Cluster *cluster, guint type, guint n_free)
{
	return (gsize)type * (cluster->spec->max_machine_gpus + 1) + n_free;
}

static guint64 *
bucket_words(const Cluster *cluster, gsize index)
{
	return cluster->buckets + index * cluster->machine_words;
}

static void
bucket_add(Cluster *cluster, guint32 machine, guint n_free)
{
	gsize index = bucket_index(cluster, cluster->spec->machines[machine].type, n_free);

	bucket_words(cluster, index)[machine / 64] |= G_GUINT64_CONSTANT(1) << (machine % 64);
	cluster->n_in_bucket[index]++;
}

static void
bucket_remove(Cluster *cluster, guint32 machine, guint n_free)
{
	gsize index = bucket_index(cluster, cluster->spec->machines[machine].type, n_free);

	bucket_words(cluster, index)[machine / 64] &= ~(G_GUINT64_CONSTANT(1) << (machine % 64));
	cluster->n_in_bucket[index]--;
}

/* The first bit set from @from on, below @end; @end if none. */
static guint32
bits_next(const guint64 *words, guint32 from, guint32 end)
{
	if (from >= end)
		return end;

	guint32 index = from / 64, last = (end - 1) / 64;
	guint64 word = words[index] & (G_MAXUINT64 << (from % 64));

	while (word == 0 && index < last)
		word = words[++index];
	if (word == 0)
		return end;

	guint32 found = index * 64 + (guint32)__builtin_ctzll(word);

	return MIN(found, end);
}

/* life */

static void
cluster_fill_gpus(Cluster *cluster)
{
	for (guint i = 0; i < cluster->spec->n_gpus; i++) {
		cluster->gpus[i].resident = JOB_NONE;
		cluster->free_bits[i / 64] |= G_GUINT64_CONSTANT(1) << (i % 64);
	}
}

static void
cluster_fill_machines(Cluster *cluster)
{
	for (guint i = 0; i < cluster->spec->n_machines; i++) {
		guint32 n_gpus = cluster->spec->machines[i].n_gpus;

		cluster->machines[i].n_free = n_gpus;
		bucket_add(cluster, i, n_gpus);
	}
}

Cluster *
cluster_new(const ClusterSpec *spec)
{
	Cluster *cluster = g_new0(Cluster, 1);
	gsize n_buckets = (gsize)spec->n_types * (spec->max_machine_gpus + 1);

	cluster->spec = spec;
	cluster->n_free = spec->n_gpus;
	cluster->machine_words = (spec->n_machines + 63) / 64;
	cluster->gpus = g_new0(GpuState, spec->n_gpus);
	cluster->machines = g_new0(MachineState, spec->n_machines);
	cluster->free_bits = g_new0(guint64, (spec->n_gpus + 63) / 64);
	cluster->buckets = g_new0(guint64, n_buckets * cluster->machine_words);
	cluster->n_in_bucket = g_new0(guint32, n_buckets);
	cluster->free_by_type = g_new0(guint32, spec->n_types);
	cluster->free_by_rack = g_new0(guint32, spec->n_racks);
	cluster->crowds = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
	for (guint i = 0; i < spec->n_types; i++)
		cluster->free_by_type[i] = spec->types[i].n_gpus;
	for (guint i = 0; i < spec->n_racks; i++)
		cluster->free_by_rack[i] = spec->racks[i].n_gpus;
	cluster_fill_gpus(cluster);
	cluster_fill_machines(cluster);
	return cluster;
}

void
cluster_free(Cluster *cluster)
{
	if (!cluster)
		return;
	g_free(cluster->gpus);
	g_free(cluster->machines);
	g_free(cluster->free_bits);
	g_free(cluster->buckets);
	g_free(cluster->n_in_bucket);
	g_free(cluster->free_by_type);
	g_free(cluster->free_by_rack);
	g_hash_table_destroy(cluster->crowds);
	g_free(cluster);
}

/* who is on a GPU */

/* A GPU has one resident nearly always, and then GpuState alone says who. The table of crowds is
 * touched, and memory asked for, only where jobs do sit together. */
static GArray * /* of JobId, ascending */
gpu_crowd(const Cluster *cluster, guint32 gpu)
{
	return g_hash_table_lookup(cluster->crowds, GUINT_TO_POINTER(gpu));
}

/* How many ids of @crowd are below @job; few jobs ever sit together. */
static guint
crowd_rank(const GArray *crowd, JobId job)
{
	guint rank = 0;

	while (rank < crowd->len && g_array_index(crowd, JobId, rank) < job)
		rank++;
	return rank;
}

static void
gpu_join(Cluster *cluster, guint32 gpu, JobId job)
{
	GpuState *state = &cluster->gpus[gpu];

	if (state->n_residents++ == 0) {
		state->resident = job;
		return;
	}

	GArray *crowd = gpu_crowd(cluster, gpu);

	if (!crowd) {
		crowd = g_array_new(FALSE, FALSE, sizeof(JobId));
		g_array_append_val(crowd, state->resident);
		g_hash_table_insert(cluster->crowds, GUINT_TO_POINTER(gpu), crowd);
	}

	guint rank = crowd_rank(crowd, job);

	g_assert(rank == crowd->len || g_array_index(crowd, JobId, rank) != job);
	g_array_insert_val(crowd, rank, job);
	state->resident = g_array_index(crowd, JobId, 0);
}

static void
gpu_leave(Cluster *cluster, guint32 gpu, JobId job)
{
	GpuState *state = &cluster->gpus[gpu];

	g_assert(state->n_residents > 0);
	if (--state->n_residents == 0) {
		g_assert(state->resident == job);
		state->resident = JOB_NONE;
		return;
	}

	GArray *crowd = gpu_crowd(cluster, gpu);
	guint rank = crowd_rank(crowd, job);

	g_assert(rank < crowd->len && g_array_index(crowd, JobId, rank) == job);
	g_array_remove_index(crowd, rank);
	state->resident = g_array_index(crowd, JobId, 0);
	if (crowd->len == 1)
		g_hash_table_remove(cluster->crowds, GUINT_TO_POINTER(gpu));
}

JobId
cluster_next_resident(const Cluster *cluster, guint32 gpu, JobId after)
{
	const GpuState *state = &cluster->gpus[gpu];

	if (after == JOB_NONE)
		return state->resident;
	if (state->n_residents < 2)
		return JOB_NONE;

	const GArray *crowd = gpu_crowd(cluster, gpu);
	guint rank = crowd_rank(crowd, after + 1);

	return rank < crowd->len ? g_array_index(crowd, JobId, rank) : JOB_NONE;
}

/* room */

/* A gang runs on one type (B08), and each worker is whole in one machine (A46). */
static gboolean
run_is_sane(const ClusterSpec *spec, const Job *job, guint32 type, MachineRun run)
{
	return spec->machines[run.machine].type == type &&
	       (job->workers == 0 || run.n % job->gpus_per_worker == 0);
}

static gboolean
alloc_is_a_set(const ClusterSpec *spec, const Alloc *alloc)
{
	if (alloc->n == 0 || alloc->gpus[alloc->n - 1] >= spec->n_gpus)
		return FALSE;
	for (guint i = 1; i < alloc->n; i++)
		if (alloc->gpus[i] <= alloc->gpus[i - 1])
			return FALSE;
	return TRUE;
}

gboolean
cluster_alloc_is_sane(const ClusterSpec *spec, const Job *job, const Alloc *alloc)
{
	if (!alloc_is_a_set(spec, alloc))
		return FALSE;

	guint32 type = spec->machines[spec->machine_of[alloc->gpus[0]]].type;

	if (!((job->gpu_types >> type) & 1))
		return FALSE;
	for (guint i = 0; i < alloc->n;) {
		MachineRun run = alloc_machine_run(spec, alloc, i);

		if (!run_is_sane(spec, job, type, run))
			return FALSE;
		i += run.n;
	}
	return TRUE;
}

/* GPU memory that jobs can hold together on a GPU of @type. */
static guint64
type_mem_limit_mib(const ClusterSpec *spec, guint type)
{
	guint32 mem_mib = spec->types[type].mem_mib;

	return mem_mib > 0 ? mem_mib : G_MAXUINT32;
}

/* A whole job's share is a whole GPU, so under CROWD_SHARES it wants the GPU for itself. */
static gboolean
gpu_has_room(const Cluster *cluster, const Job *job, guint32 gpu, guint64 mem_limit_mib,
             CrowdRule rule)
{
	const GpuState *state = &cluster->gpus[gpu];

	if ((guint64)state->held_mem_mib + job->gpu_mem_mib > mem_limit_mib)
		return FALSE;
	return rule == CROWD_PACKED || state->held_milli + job->share_milli <= GPU_MILLI;
}

/* Held CPUs and memory are counted also where the machine's are not given; nothing limits them. */
static gboolean
machine_has_room(const Cluster *cluster, const Job *job, guint32 machine, guint n_gpus)
{
	const Machine *spec = &cluster->spec->machines[machine];
	const MachineState *state = &cluster->machines[machine];

	if (spec->cpus_milli > 0 &&
	    state->held_cpus_milli + job_part(job, job->cpus_milli, n_gpus) > spec->cpus_milli)
		return FALSE;
	return spec->mem_mib == 0 ||
	       job_part(job, job->mem_mib, n_gpus) <= spec->mem_mib - state->held_mem_mib;
}

gboolean
cluster_has_room(const Cluster *cluster, const Job *job, const Alloc *alloc, CrowdRule rule)
{
	for (guint i = 0; i < alloc->n;) {
		MachineRun run = alloc_machine_run(cluster->spec, alloc, i);
		guint type = cluster->spec->machines[run.machine].type;
		guint64 mem_limit_mib = type_mem_limit_mib(cluster->spec, type);

		if (!machine_has_room(cluster, job, run.machine, run.n))
			return FALSE;
		for (guint j = 0; j < run.n; j++)
			if (!gpu_has_room(cluster, job, run.gpus[j], mem_limit_mib, rule))
				return FALSE;
		i += run.n;
	}
	return TRUE;
}

/* GPUs of the machine that could take @job's share; a whole GPU must be free. */
static guint
machine_open_gpus(const Cluster *cluster, const Machine *machine, const Job *job)
{
	guint64 mem_limit_mib = type_mem_limit_mib(cluster->spec, machine->type);
	guint n = 0;

	for (guint32 i = 0; i < machine->n_gpus; i++)
		n +=
		    gpu_has_room(cluster, job, machine->first_gpu + i, mem_limit_mib, CROWD_SHARES);
	return n;
}

/* @room, less what the machine's CPUs and memory do not allow. */
static guint
machine_limit(const Machine *machine, const MachineState *state, const Job *job, guint room)
{
	if (job->cpus_milli > 0 && machine->cpus_milli > 0) {
		guint64 rest_milli = machine->cpus_milli - state->held_cpus_milli;

		room = MIN(room, job_part_gpus(job, job->cpus_milli, rest_milli));
	}
	if (job->mem_mib > 0 && machine->mem_mib > 0) {
		guint64 rest_mib = machine->mem_mib - state->held_mem_mib;

		room = MIN(room, job_part_gpus(job, job->mem_mib, rest_mib));
	}
	return room;
}

guint
cluster_machine_room(const Cluster *cluster, guint32 machine, const Job *job)
{
	const Machine *spec = &cluster->spec->machines[machine];
	const MachineState *state = &cluster->machines[machine];

	if (!((job->gpu_types >> spec->type) & 1))
		return 0;
	if (job->gpu_mem_mib > type_mem_limit_mib(cluster->spec, spec->type))
		return 0;

	guint room =
	    job->share_milli < GPU_MILLI ? machine_open_gpus(cluster, spec, job) : state->n_free;

	room = machine_limit(spec, state, job, room);
	return job->workers > 0 ? room - room % job->gpus_per_worker : room;
}

/* Most numbers of free GPUs have no machine at all, which the count tells without a walk over the
 * bits. */
guint32
cluster_machine_with(const Cluster *cluster, guint type, guint n_free, guint32 from)
{
	guint32 end = cluster->spec->n_machines;
	gsize index = bucket_index(cluster, type, n_free);

	if (n_free > cluster->spec->max_machine_gpus || cluster->n_in_bucket[index] == 0)
		return G_MAXUINT32;

	guint32 machine = bits_next(bucket_words(cluster, index), from, end);

	return machine < end ? machine : G_MAXUINT32;
}

guint32
cluster_next_free(const Cluster *cluster, guint32 from, guint32 end)
{
	return bits_next(cluster->free_bits, from, MIN(end, cluster->spec->n_gpus));
}

/* take and give */

/* A GPU counts as one at most, whoever sits on it (A27). */
static void
gpu_hold(Cluster *cluster, guint32 gpu, guint32 held_milli)
{
	GpuState *state = &cluster->gpus[gpu];

	cluster->held_milli -= MIN(state->held_milli, GPU_MILLI);
	cluster->held_milli += MIN(held_milli, GPU_MILLI);
	state->held_milli = held_milli;
}

/* Moves a machine from the bucket of its free GPUs to that of @n_free, and all counts with it. */
static void
machine_set_free(Cluster *cluster, guint32 machine, guint32 n_free)
{
	const Machine *spec = &cluster->spec->machines[machine];
	guint32 n_before = cluster->machines[machine].n_free;

	if (n_free == n_before)
		return;
	bucket_remove(cluster, machine, n_before);
	bucket_add(cluster, machine, n_free);
	cluster->machines[machine].n_free = n_free;
	/* Unsigned on purpose: n_free - n_before may be "negative" and wraps back. */
	cluster->n_free += n_free - n_before;
	cluster->free_by_type[spec->type] += n_free - n_before;
	cluster->free_by_rack[spec->rack] += n_free - n_before;
}

static void
run_take(Cluster *cluster, const Job *job, MachineRun run)
{
	MachineState *machine = &cluster->machines[run.machine];
	guint32 n_free = machine->n_free;

	for (guint i = 0; i < run.n; i++) {
		guint32 gpu = run.gpus[i];

		n_free -= cluster->gpus[gpu].n_residents == 0;
		cluster->free_bits[gpu / 64] &= ~(G_GUINT64_CONSTANT(1) << (gpu % 64));
		gpu_hold(cluster, gpu, cluster->gpus[gpu].held_milli + job->share_milli);
		cluster->gpus[gpu].held_mem_mib += job->gpu_mem_mib;
		gpu_join(cluster, gpu, job->id);
	}
	machine->held_cpus_milli += job_part(job, job->cpus_milli, run.n);
	machine->held_mem_mib += job_part(job, job->mem_mib, run.n);
	machine_set_free(cluster, run.machine, n_free);
}

static void
run_give(Cluster *cluster, const Job *job, MachineRun run)
{
	MachineState *machine = &cluster->machines[run.machine];
	guint32 n_free = machine->n_free;

	for (guint i = 0; i < run.n; i++) {
		guint32 gpu = run.gpus[i];
		GpuState *state = &cluster->gpus[gpu];

		gpu_leave(cluster, gpu, job->id);
		g_assert(state->held_milli >= job->share_milli &&
		         state->held_mem_mib >= job->gpu_mem_mib);
		gpu_hold(cluster, gpu, state->held_milli - job->share_milli);
		state->held_mem_mib -= job->gpu_mem_mib;
		if (state->n_residents == 0) {
			n_free++;
			cluster->free_bits[gpu / 64] |= G_GUINT64_CONSTANT(1) << (gpu % 64);
		}
	}
	machine->held_cpus_milli -= job_part(job, job->cpus_milli, run.n);
	machine->held_mem_mib -= job_part(job, job->mem_mib, run.n);
	machine_set_free(cluster, run.machine, n_free);
}

void
cluster_take(Cluster *cluster, const Job *job, const Alloc *alloc)
{
	for (guint i = 0; i < alloc->n;) {
		MachineRun run = alloc_machine_run(cluster->spec, alloc, i);

		run_take(cluster, job, run);
		i += run.n;
	}
}

void
cluster_give(Cluster *cluster, const Job *job, const Alloc *alloc)
{
	for (guint i = 0; i < alloc->n;) {
		MachineRun run = alloc_machine_run(cluster->spec, alloc, i);

		run_give(cluster, job, run);
		i += run.n;
	}
}

/* check */

/* The residents are what is believed; all else follows from them. */
static char *
check_gpu(const Cluster *cluster, guint32 gpu)
{
	const GpuState *state = &cluster->gpus[gpu];
	guint n = 0;

	for (JobId job = cluster_next_resident(cluster, gpu, JOB_NONE); job != JOB_NONE;
	     job = cluster_next_resident(cluster, gpu, job))
		n++;
	if (n != state->n_residents)
		return g_strdup_printf("GPU %u has %u residents, %u are counted", gpu, n,
		                       state->n_residents);
	if (cluster_gpu_is_free(cluster, gpu) != (n == 0))
		return g_strdup_printf("GPU %u has %u residents and a wrong free bit", gpu, n);
	if ((state->held_milli > 0) != (n > 0))
		return g_strdup_printf("GPU %u has %u residents that hold %u thousandths", gpu, n,
		                       state->held_milli);
	return NULL;
}

static char *
check_machine(const Cluster *cluster, guint32 machine)
{
	const Machine *spec = &cluster->spec->machines[machine];
	guint n_free = 0;

	for (guint32 i = 0; i < spec->n_gpus; i++)
		n_free += cluster->gpus[spec->first_gpu + i].n_residents == 0;
	if (n_free != cluster->machines[machine].n_free)
		return g_strdup_printf("machine %u has %u free GPUs, %u are counted", machine,
		                       n_free, cluster->machines[machine].n_free);
	for (guint n = 0; n <= cluster->spec->max_machine_gpus; n++) {
		gsize index = bucket_index(cluster, spec->type, n);
		guint64 word = bucket_words(cluster, index)[machine / 64];

		if (((word >> (machine % 64)) & 1) != (n == n_free))
			return g_strdup_printf("machine %u has %u free GPUs, and its bit for %u is "
			                       "wrong",
			                       machine, n_free, n);
	}
	return NULL;
}

static char *
check_count(const char *what, guint index, guint64 n_found, guint64 n_kept)
{
	if (n_found == n_kept)
		return NULL;
	return g_strdup_printf("%s %u: %" G_GUINT64_FORMAT " found, %" G_GUINT64_FORMAT " are kept",
	                       what, index, n_found, n_kept);
}

static char *
check_buckets(const Cluster *cluster)
{
	gsize n_buckets = (gsize)cluster->spec->n_types * (cluster->spec->max_machine_gpus + 1);
	char *fault = NULL;

	for (gsize i = 0; i < n_buckets && !fault; i++) {
		const guint64 *words = bucket_words(cluster, i);
		guint n = 0;

		for (guint j = 0; j < cluster->machine_words; j++)
			n += (guint)__builtin_popcountll(words[j]);
		fault = check_count("machines in bucket", (guint)i, n, cluster->n_in_bucket[i]);
	}
	return fault;
}

static char *
check_racks(const Cluster *cluster)
{
	const ClusterSpec *spec = cluster->spec;
	char *fault = NULL;

	for (guint i = 0; i < spec->n_racks && !fault; i++) {
		const Rack *rack = &spec->racks[i];
		guint n_free = 0;

		for (guint j = 0; j < rack->n_machines; j++)
			n_free += cluster->machines[rack->first_machine + j].n_free;
		fault = check_count("free GPUs of rack", i, n_free, cluster->free_by_rack[i]);
	}
	return fault;
}

static char *
check_types(const Cluster *cluster)
{
	const ClusterSpec *spec = cluster->spec;
	char *fault = NULL;

	for (guint i = 0; i < spec->n_types && !fault; i++) {
		guint n_free = 0;

		for (guint j = 0; j < spec->n_machines; j++)
			if (spec->machines[j].type == i)
				n_free += cluster->machines[j].n_free;
		fault = check_count("free GPUs of type", i, n_free, cluster->free_by_type[i]);
	}
	return fault;
}

/* Every GPU with company, and no other, may be in the table of crowds. */
static char *
check_totals(const Cluster *cluster)
{
	guint64 held_milli = 0, n_free = 0, n_crowds = 0;
	char *fault;

	for (guint i = 0; i < cluster->spec->n_gpus; i++) {
		held_milli += MIN(cluster->gpus[i].held_milli, GPU_MILLI);
		n_free += cluster->gpus[i].n_residents == 0;
		n_crowds += cluster->gpus[i].n_residents > 1;
	}
	fault = check_count("free GPUs of cluster", 0, n_free, cluster->n_free);
	if (!fault)
		fault =
		    check_count("thousandths held in cluster", 0, held_milli, cluster->held_milli);
	if (!fault)
		fault = check_count("GPUs with several jobs in cluster", 0, n_crowds,
		                    g_hash_table_size(cluster->crowds));
	return fault;
}

char *
cluster_check(const Cluster *cluster)
{
	char *fault = NULL;

	for (guint i = 0; i < cluster->spec->n_gpus && !fault; i++)
		fault = check_gpu(cluster, i);
	for (guint i = 0; i < cluster->spec->n_machines && !fault; i++)
		fault = check_machine(cluster, i);
	if (!fault)
		fault = check_buckets(cluster);
	if (!fault)
		fault = check_racks(cluster);
	if (!fault)
		fault = check_types(cluster);
	if (!fault)
		fault = check_totals(cluster);
	return fault;
}
