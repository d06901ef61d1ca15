/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * How fast a job goes: throughput(type, n) x placement(level) x sharing(co-residents), each 1
 * where nothing is known (DESIGN 5). What is known is data: a YAML file of models.
 * All factors are parts per billion, all products round down, so speeds are the same everywhere.
 */

#include "sim/model/cluster.h"

/* Beyond this a slowdown is a typing mistake, and products could leave 64 bits. */
#define SLOWDOWN_MAX_PPB (G_GINT64_CONSTANT(1000000) * SPEED_ONE_PPB)

typedef struct PackedSpeed {
	char *partner;    /* name of the other model */
	gint64 speed_ppb; /* of this model beside it */
} PackedSpeed;

typedef struct TypeSpeed {
	char *gpu_type;
	gint64 speed_ppb; /* relative to the model's reference type */
} TypeSpeed;

typedef struct ModelSpec {
	char *name;
	gint64 slowdown_ppb[N_LEVELS]; /* >= 1e9, by placement level */
	GArray *types;                 /* of TypeSpeed; empty = 1 everywhere */
	/* of gint64: scaling(n) in ppb at index n - 1; beyond its end the efficiency of the last
	 * n stays; empty = linear */
	GArray *scaling;
	GArray *packed;         /* of PackedSpeed */
	gint64 utilisation_ppb; /* of a GPU it runs on alone; 0 = not given */
	guint32 gpu_mem_mib;    /* 0 = not given */
	double skew;            /* largest tensor / model size (Tiresias); 0 = not given */
	gboolean has_overheads; /* the four below, 0 where not given, replace the run's */
	SimTime start_ns, suspend_ns, resume_ns, migrate_ns;
} ModelSpec;

typedef struct ModelTable {
	char *path;   /* as given, or NULL */
	char *sha256; /* or NULL */
	guint n;
	ModelSpec *models;
} ModelTable;

/* Reads a YAML file (traces/models.yaml describes and is one); SIM_ERROR_INPUT. */
ModelTable *model_table_load(const char *path, GError **error);
ModelTable *model_table_new_empty(void);
void model_table_free(ModelTable *table);

/* Adds a model of which only its slowdowns are known; @table has none of that name. */
void model_table_add(ModelTable *table, const char *name, const gint64 slowdown_ppb[N_LEVELS]);

/* Adds, by their slowdowns, those models of @other that @table has not: what a trace knows of its
 * own models holds where the user's table says nothing of them. */
void model_table_add_missing(ModelTable *table, const ModelTable *other);

/* The index of @name (case, spaces, '-' and '_' do not matter), or MODEL_NONE. */
guint32 model_table_find(const ModelTable *table, const char *name);

/* The index of a GPU type's relative speed in @model, or G_MAXUINT if it says nothing of it. */
guint model_find_type(const ModelSpec *model, const char *gpu_type);

/* @model may be MODEL_NONE in all of these. */
gint64 speed_scaling_ppb(const ModelTable *table, const Job *job, guint n_gpus);
gint64 speed_placement_ppb(const ModelTable *table, guint32 model, PlacementLevel level);
/* The same times 10^18, for reports. */
gint64 speed_placement_atto(const ModelTable *table, guint32 model, PlacementLevel level);
gint64 speed_type_ppb(const ModelTable *table, const ClusterSpec *spec, const Job *job, guint type);

/* The speed of @model beside @partner on one GPU; 1 where the table does not know. */
gint64 speed_packed_ppb(const ModelTable *table, guint32 model, guint32 partner);
gboolean speed_packed_is_known(const ModelTable *table, guint32 model, guint32 partner);

/* The product without co-residents; 0 where the job cannot run on that type at all (E26). */
gint64 speed_alone_ppb(const ModelTable *table, const ClusterSpec *spec, const Job *job,
                       const Alloc *alloc);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(ModelTable, model_table_free)
