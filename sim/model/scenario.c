/* SPDX-License-Identifier: MIT */
#include "sim/model/scenario.h"

/*
 * Names are resolved once per distinct text, not once per job: texts of a Workload are interned,
 * so a text's address is its identity.
 */

typedef struct Resolver {
	const ClusterSpec *cluster;
	const ModelTable *models;
	guint64 all_types;   /* a bit for each type of the cluster */
	GHashTable *types;   /* gpu_type_name -> its guint64 of types */
	GHashTable *indices; /* model_name -> its index + 1, 0 for MODEL_NONE */
	guint64 *barred;     /* by model: types on which it cannot run (E26) */
} Resolver;

static guint64
model_barred_types(const ModelSpec *model, const ClusterSpec *cluster)
{
	guint64 barred = 0;

	for (guint i = 0; i < cluster->n_types; i++) {
		guint index = model_find_type(model, cluster->types[i].name);

		if (index != G_MAXUINT &&
		    g_array_index(model->types, TypeSpeed, index).speed_ppb == 0)
			barred |= G_GUINT64_CONSTANT(1) << i;
	}
	return barred;
}

static void
resolver_init(Resolver *resolver, const ClusterSpec *cluster, const ModelTable *models)
{
	resolver->cluster = cluster;
	resolver->models = models;
	resolver->all_types = G_MAXUINT64 >> (MAX_GPU_TYPES - cluster->n_types);
	resolver->types = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	resolver->indices = g_hash_table_new(NULL, NULL);
	resolver->barred = g_new(guint64, models->n);
	for (guint i = 0; i < models->n; i++)
		resolver->barred[i] = model_barred_types(&models->models[i], cluster);
}

static void
resolver_clear(Resolver *resolver)
{
	g_hash_table_destroy(resolver->types);
	g_hash_table_destroy(resolver->indices);
	g_free(resolver->barred);
}

static guint64
resolver_types(Resolver *resolver, const char *names)
{
	guint64 *types;

	if (names[0] == '\0')
		return GPU_TYPE_ANY;
	types = g_hash_table_lookup(resolver->types, names);
	if (!types) {
		types = g_new(guint64, 1);
		*types = cluster_spec_types(resolver->cluster, names);
		g_hash_table_insert(resolver->types, (gpointer)(guintptr)names, types);
	}
	return *types;
}

/* A name that the table lacks is as good as none (A86). */
static guint32
resolver_model(Resolver *resolver, const char *name)
{
	gpointer value;
	guint32 index;

	if (name[0] == '\0')
		return MODEL_NONE;
	if (g_hash_table_lookup_extended(resolver->indices, name, NULL, &value))
		return GPOINTER_TO_UINT(value) - 1;
	index = model_table_find(resolver->models, name);
	g_hash_table_insert(resolver->indices, (gpointer)(guintptr)name,
	                    GUINT_TO_POINTER(index + 1));
	return index;
}

/* Types on which the model stands still are taken out here, so that no placement need ask. */
static void
resolver_apply(Resolver *resolver, Job *job)
{
	job->gpu_types = resolver_types(resolver, job->gpu_type_name);
	job->model = resolver_model(resolver, job->model_name);
	if (job->model == MODEL_NONE)
		return;
	if (resolver->barred[job->model] != 0)
		job->gpu_types &= resolver->all_types & ~resolver->barred[job->model];
	if (job->gpu_mem_mib == 0)
		job->gpu_mem_mib = resolver->models->models[job->model].gpu_mem_mib;
}

void
scenario_resolve(Workload *workload, const ClusterSpec *cluster, const ModelTable *models)
{
	Resolver resolver;

	resolver_init(&resolver, cluster, models);
	for (guint i = 0; i < workload->n_jobs; i++)
		resolver_apply(&resolver, &workload->jobs[i]);
	resolver_clear(&resolver);
}
