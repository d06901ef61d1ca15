/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The cluster: what it is made of (ClusterSpec, read once and shared between runs), and who
 * holds what in one run (Cluster). GPUs, machines and racks are numbered from 0 in the order of
 * the cluster file; the GPUs of a machine are consecutive, and so are the machines of a rack.
 *
 * A GPU is *free* when nobody is on it. Jobs that ask for a share may sit together on a GPU while
 * their shares and their memory fit; whole jobs share one only under a policy that may.
 */

#include "sim/base/problems.h"
#include "sim/model/alloc.h"
#include "sim/model/job.h"

#define MAX_GPU_TYPES 64

typedef struct GpuType {
	char *name;      /* "" in a cluster that names none */
	guint32 mem_mib; /* 0 = not given: holds anything */
	guint32 n_gpus;  /* of this type in the cluster */
} GpuType;

typedef struct Machine {
	guint32 first_gpu, n_gpus;
	guint32 slot_gpus; /* GPUs of a slot; the last slot may be smaller */
	guint32 rack;
	guint32 type;
	guint32 cpus_milli; /* 0 = not given */
	guint64 mem_mib;    /* 0 = not given */
	double nic_gbps;    /* 0 = not given */
} Machine;

typedef struct Rack {
	guint32 first_machine, n_machines;
	guint32 first_gpu, n_gpus;
} Rack;

typedef struct Tenant {
	char *name;
	guint32 quota_gpus;
} Tenant;

typedef struct ClusterSpec {
	char *given;  /* as the user wrote it: a path or a shorthand */
	char *path;   /* of the file, or NULL */
	char *sha256; /* of the file, or NULL */
	char *name;
	guint n_types, n_racks, n_machines, n_gpus, n_tenants;
	guint max_machine_gpus;
	GpuType *types;
	Rack *racks;
	Machine *machines;
	Tenant *tenants;
	guint32 *machine_of; /* by GPU */
} ClusterSpec;

/* A shorthand such as `12x4:v100,6x2:p100` (SIM_ERROR_USAGE if it is none and no file is so
 * named), or a YAML file (DESIGN 6.2; SIM_ERROR_INPUT), which a name with a '/' or with the ending
 * .yaml or .yml always is. A machine outside every rack, and every machine of a shorthand, is a
 * rack of its own (A85). */
ClusterSpec *cluster_spec_load(const char *given, GError **error);
ClusterSpec *cluster_spec_parse_shorthand(const char *text, GError **error);
void cluster_spec_free(ClusterSpec *spec);

/* The types named in `a|b` as bits, without regard to case; GPU_TYPE_ANY for "", "nan", or when
 * one alternative is empty. Unknown names are dropped: 0 if none is left (A44). */
guint64 cluster_spec_types(const ClusterSpec *spec, const char *names);

/* The smallest level that holds all of @alloc; a single GPU is a slot. */
PlacementLevel cluster_spec_level(const ClusterSpec *spec, const Alloc *alloc);

static inline guint32
cluster_spec_slot(const Machine *machine, guint32 gpu)
{
	return (gpu - machine->first_gpu) / machine->slot_gpus;
}

typedef struct GpuState {
	guint32 held_milli; /* sum of the residents' shares; above 1000 when packed */
	guint32 held_mem_mib;
	guint32 n_residents;
	JobId resident; /* the lowest id while there is one; see cluster_next_resident() */
} GpuState;

typedef struct MachineState {
	guint32 n_free; /* GPUs nobody is on */
	guint64 held_cpus_milli;
	guint64 held_mem_mib;
} MachineState;

typedef struct Cluster {
	const ClusterSpec *spec;
	guint n_free;       /* GPUs nobody is on */
	guint64 held_milli; /* sum over GPUs of min(1000, held): the allocation of A27 */
	guint32 *free_by_type;
	guint32 *free_by_rack;
	GpuState *gpus;
	MachineState *machines;
	guint64 *free_bits; /* a bit a GPU */
	/* Machines of one type with exactly n free GPUs, a bit a machine, at
	 * ((type * (max_machine_gpus + 1) + n) * machine_words); how best fit finds its machine
	 * without looking at the others. */
	guint64 *buckets;
	guint32 *n_in_bucket; /* machines, at type * (max_machine_gpus + 1) + n */
	guint machine_words;
	GHashTable *crowds; /* GPU -> GArray of JobId, where more than one is on it */
} Cluster;

Cluster *cluster_new(const ClusterSpec *spec);
void cluster_free(Cluster *cluster);

typedef enum CrowdRule {
	CROWD_SHARES, /* a GPU's shares add up to at most one */
	CROWD_PACKED, /* whole jobs may sit together; memory alone decides */
} CrowdRule;

/* Whether @job may hold @alloc beside who is there now: each GPU there and named once, of one
 * type that the job accepts, share, GPU memory, and the machines' CPUs and memory (taken in
 * proportion to the job's GPUs there over num_gpus, rounded up). The *number* of GPUs is not judged
 * here. _is_sane() judges what does not change: numbers, type, workers; _has_room() the rest, of a
 * sane @alloc. */
gboolean cluster_alloc_is_sane(const ClusterSpec *spec, const Job *job, const Alloc *alloc);
gboolean cluster_has_room(const Cluster *cluster, const Job *job, const Alloc *alloc,
                          CrowdRule rule);

/* What cluster_has_room() allowed; giving back what was not taken is a bug. */
void cluster_take(Cluster *cluster, const Job *job, const Alloc *alloc);
void cluster_give(Cluster *cluster, const Job *job, const Alloc *alloc);

static inline gboolean
cluster_gpu_is_free(const Cluster *cluster, guint32 gpu)
{
	return (cluster->free_bits[gpu / 64] >> (gpu % 64)) & 1;
}

/* Jobs on @gpu, ascending: start with @after = JOB_NONE; JOB_NONE ends it. */
JobId cluster_next_resident(const Cluster *cluster, guint32 gpu, JobId after);

/* How many GPUs of the machine @job could take now, by count, type, memory and CPUs; whole free
 * GPUs only (a job with a share: GPUs with room for it), and whole workers only. */
guint cluster_machine_room(const Cluster *cluster, guint32 machine, const Job *job);

/* The lowest machine of @type with exactly @n_free free GPUs, from machine @from on; G_MAXUINT32
 * if there is none. */
guint32 cluster_machine_with(const Cluster *cluster, guint type, guint n_free, guint32 from);

/* The lowest free GPU from @from on, below @end; @end if none. */
guint32 cluster_next_free(const Cluster *cluster, guint32 from, guint32 end);

/* Recounts everything from the residents; a text of the first difference, or NULL. */
char *cluster_check(const Cluster *cluster);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ClusterSpec, cluster_spec_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Cluster, cluster_free)
