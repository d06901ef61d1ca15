/* SPDX-License-Identifier: MIT */
#include "sim/model/speed.h"

#include <string.h>

#include "sim/base/file.h"
#include "sim/base/text.h"
#include "sim/base/yaml.h"

/* As SLOWDOWN_MAX_PPB. */
#define SCALING_MIN_PPB (SPEED_ONE_PPB / 1000)
#define SCALING_MAX_PPB ((gint64)(1 << 24) * SPEED_ONE_PPB)
#define TYPE_MAX_PPB    ((gint64)1000000 * SPEED_ONE_PPB)

/* life */

static void
type_speed_clear(gpointer speed)
{
	g_free(((TypeSpeed *)speed)->gpu_type);
}

static void
packed_speed_clear(gpointer speed)
{
	g_free(((PackedSpeed *)speed)->partner);
}

static void
model_init(ModelSpec *model, const char *name)
{
	*model = (ModelSpec){ .name = g_strdup(name) };
	for (guint i = 0; i < N_LEVELS; i++)
		model->slowdown_ppb[i] = SPEED_ONE_PPB;
	model->types = g_array_new(FALSE, FALSE, sizeof(TypeSpeed));
	model->scaling = g_array_new(FALSE, FALSE, sizeof(gint64));
	model->packed = g_array_new(FALSE, FALSE, sizeof(PackedSpeed));
	g_array_set_clear_func(model->types, type_speed_clear);
	g_array_set_clear_func(model->packed, packed_speed_clear);
}

static void
model_clear(ModelSpec *model)
{
	g_free(model->name);
	g_array_unref(model->types);
	g_array_unref(model->scaling);
	g_array_unref(model->packed);
}

ModelTable *
model_table_new_empty(void)
{
	return g_new0(ModelTable, 1);
}

void
model_table_free(ModelTable *table)
{
	if (!table)
		return;
	for (guint i = 0; i < table->n; i++)
		model_clear(&table->models[i]);
	g_free(table->models);
	g_free(table->path);
	g_free(table->sha256);
	g_free(table);
}

/* names */

static const char *
skip_joints(const char *text)
{
	return text + strspn(text, " -_");
}

/* Traces write VGG16, vgg-16 and vgg_16. */
static gboolean
model_name_is(const char *one, const char *other)
{
	for (;;) {
		one = skip_joints(one);
		other = skip_joints(other);
		if (g_ascii_tolower(*one) != g_ascii_tolower(*other))
			return FALSE;
		if (*one == '\0')
			return TRUE;
		one++;
		other++;
	}
}

guint32
model_table_find(const ModelTable *table, const char *name)
{
	for (guint i = 0; i < table->n; i++)
		if (name[0] != '\0' && model_name_is(table->models[i].name, name))
			return i;
	return MODEL_NONE;
}

void
model_table_add(ModelTable *table, const char *name, const gint64 slowdown_ppb[N_LEVELS])
{
	ModelSpec *model;

	g_assert(model_table_find(table, name) == MODEL_NONE);
	table->models = g_renew(ModelSpec, table->models, table->n + 1);
	model = &table->models[table->n++];
	model_init(model, name);
	memcpy(model->slowdown_ppb, slowdown_ppb, sizeof(model->slowdown_ppb));
}

void
model_table_add_missing(ModelTable *table, const ModelTable *other)
{
	for (guint i = 0; i < other->n; i++)
		if (model_table_find(table, other->models[i].name) == MODEL_NONE)
			model_table_add(table, other->models[i].name,
			                other->models[i].slowdown_ppb);
}

/* @name ends after @length bytes. */
static guint
find_type(const ModelSpec *model, const char *name, gsize length)
{
	for (guint i = 0; i < model->types->len; i++) {
		const char *own = g_array_index(model->types, TypeSpeed, i).gpu_type;

		if (strlen(own) == length && g_ascii_strncasecmp(own, name, length) == 0)
			return i;
	}
	return G_MAXUINT;
}

guint
model_find_type(const ModelSpec *model, const char *gpu_type)
{
	return find_type(model, gpu_type, strlen(gpu_type));
}

/* the table as YAML */

/* A level that is left out is no better and no worse than the one below it. */
static void
read_slowdown(const YamlNode *map, ModelSpec *model)
{
	static const char *const levels[] = { "slot", "machine", "rack", "cluster", NULL };
	const YamlNode *node = yaml_find(map, "slowdown");
	gint64 before_ppb = SPEED_ONE_PPB;

	if (!node)
		return;
	yaml_expect_keys(node, levels);
	for (guint i = 0; i < N_LEVELS; i++) {
		gint64 ppb = before_ppb;

		yaml_get_scaled(node, levels[i], 9, SPEED_ONE_PPB, SLOWDOWN_MAX_PPB, &ppb);
		if (ppb < before_ppb)
			yaml_complain(yaml_find(node, levels[i]), "falling slowdown",
			              "found a slowdown for %s below that of the level before, "
			              "wanted at least that",
			              levels[i]);
		model->slowdown_ppb[i] = ppb;
		before_ppb = ppb;
	}
}

static void
read_throughput(const YamlNode *map, ModelSpec *model)
{
	const YamlNode *node = yaml_find(map, "throughput");

	if (node && yaml_kind(node) != YAML_MAP)
		yaml_complain(
		    node, "bad throughput",
		    "found no mapping for throughput, wanted one from GPU types to numbers");
	for (guint i = 0; node && yaml_kind(node) == YAML_MAP && i < yaml_n(node); i++) {
		const char *name = yaml_key(node, i);
		TypeSpeed speed = { NULL, SPEED_ONE_PPB };

		if (model_find_type(model, name) != G_MAXUINT)
			yaml_complain(yaml_key_node(node, i), "duplicate GPU type",
			              "found the GPU type \"%s\" again, wanted it once (case does "
			              "not matter)",
			              name);
		yaml_get_scaled(node, name, 9, 0, TYPE_MAX_PPB, &speed.speed_ppb);
		speed.gpu_type = g_strdup(name);
		g_array_append_val(model->types, speed);
	}
}

/* One value of the scaling curve; FALSE, and nothing added, if it is none. */
static gboolean
read_scaling_item(const YamlNode *item, ModelSpec *model)
{
	const char *text = yaml_text(item);
	guint n = model->scaling->len;
	gint64 before_ppb = n > 0 ? g_array_index(model->scaling, gint64, n - 1) : SCALING_MIN_PPB;
	gint64 ppb = 0;
	DecimalVerdict verdict = text ? decimal_parse(text, strlen(text), 9, &ppb) : DECIMAL_BAD;

	if ((verdict != DECIMAL_OK && verdict != DECIMAL_ROUNDED) || ppb < before_ppb ||
	    ppb > SCALING_MAX_PPB)
		return FALSE;
	g_array_append_val(model->scaling, ppb);
	return TRUE;
}

static void
read_scaling(const YamlNode *map, ModelSpec *model)
{
	const YamlNode *node = yaml_find(map, "scaling");

	if (node && yaml_kind(node) != YAML_LIST)
		yaml_complain(node, "bad scaling",
		              "found no list for scaling, wanted the speed of 1, 2, 3, ... GPUs");
	for (guint i = 0; node && yaml_kind(node) == YAML_LIST && i < yaml_n(node); i++) {
		const YamlNode *item = yaml_item(node, i);

		if (!read_scaling_item(item, model))
			yaml_complain(item, "bad scaling",
			              "found \"%s\" as the speed of %u GPUs, wanted a number from "
			              "0.001 to 16777216 not below the one before",
			              yaml_text(item) ? yaml_text(item) : "", i + 1);
	}
}

static void
read_packed(const YamlNode *map, ModelSpec *model)
{
	const YamlNode *node = yaml_find(map, "packed");

	if (node && yaml_kind(node) != YAML_MAP)
		yaml_complain(node, "bad packed",
		              "found no mapping for packed, wanted one from models to speeds");
	for (guint i = 0; node && yaml_kind(node) == YAML_MAP && i < yaml_n(node); i++) {
		PackedSpeed speed = { NULL, SPEED_ONE_PPB };

		yaml_get_scaled(node, yaml_key(node, i), 9, 1, SPEED_ONE_PPB, &speed.speed_ppb);
		speed.partner = g_strdup(yaml_key(node, i));
		g_array_append_val(model->packed, speed);
	}
}

/* All four or none: a mixture of a model's and a run's costs would be nobody's. */
static void
read_overheads(const YamlNode *map, ModelSpec *model)
{
	static const char *const known[] = { "start_s", "suspend_s", "resume_s", "migrate_s",
		                             NULL };
	const YamlNode *node = yaml_find(map, "overheads");

	if (!node)
		return;
	model->has_overheads = yaml_expect_keys(node, known);
	yaml_get_seconds(node, "start_s", &model->start_ns);
	yaml_get_seconds(node, "suspend_s", &model->suspend_ns);
	yaml_get_seconds(node, "resume_s", &model->resume_ns);
	yaml_get_seconds(node, "migrate_s", &model->migrate_ns);
}

static void
read_model(const YamlNode *node, ModelSpec *model)
{
	static const char *const known[] = { "slowdown", "throughput",  "scaling",
		                             "packed",   "utilisation", "gpu_mem_mib",
		                             "skew",     "overheads",   NULL };
	gint64 gpu_mem_mib = 0;

	yaml_expect_keys(node, known);
	if (yaml_kind(node) != YAML_MAP)
		return;
	read_slowdown(node, model);
	read_throughput(node, model);
	read_scaling(node, model);
	read_packed(node, model);
	read_overheads(node, model);
	yaml_get_scaled(node, "utilisation", 9, 1, SPEED_ONE_PPB, &model->utilisation_ppb);
	yaml_get_int(node, "gpu_mem_mib", 1, G_MAXUINT32, &gpu_mem_mib);
	yaml_get_number(node, "skew", 0, 1, &model->skew);
	model->gpu_mem_mib = (guint32)gpu_mem_mib;
}

/* A partner without an entry of its own would never be found: most likely a typing mistake. */
static void
check_partners(const YamlNode *models, const ModelTable *table)
{
	for (guint i = 0; i < table->n; i++) {
		const YamlNode *packed = yaml_find(yaml_item(models, i), "packed");

		for (guint j = 0; packed && yaml_kind(packed) == YAML_MAP && j < yaml_n(packed);
		     j++)
			if (model_table_find(table, yaml_key(packed, j)) == MODEL_NONE)
				yaml_complain(yaml_key_node(packed, j), "unknown model",
				              "found the unknown model \"%s\", wanted one of this "
				              "file",
				              yaml_key(packed, j));
	}
}

static void
read_models(const YamlNode *root, ModelTable *table)
{
	static const char *const known[] = { "models", NULL };
	const YamlNode *models = yaml_find(root, "models");

	if (!yaml_expect_keys(root, known) || !models || yaml_is_null(models))
		return;
	if (yaml_kind(models) != YAML_MAP) {
		yaml_complain(models, "bad models",
		              "found no mapping for models, wanted one from names to models");
		return;
	}
	table->models = g_new0(ModelSpec, yaml_n(models));
	for (guint i = 0; i < yaml_n(models); i++) {
		const char *name = yaml_key(models, i);

		if (model_table_find(table, name) != MODEL_NONE)
			yaml_complain(yaml_key_node(models, i), "duplicate model",
			              "found the model \"%s\" again, wanted it once (case, spaces, "
			              "'-' and '_' do not matter)",
			              name);
		model_init(&table->models[table->n], name);
		read_model(yaml_item(models, i), &table->models[table->n++]);
	}
	check_partners(models, table);
}

ModelTable *
model_table_load(const char *path, GError **error)
{
	g_autoptr(Problems) problems = problems_new(path);
	g_autoptr(ModelTable) table = model_table_new_empty();
	g_autoptr(YamlDocument) document = yaml_read(path, problems, error);

	if (!document)
		return NULL;
	table->path = g_strdup(path);
	table->sha256 = file_sha256(path, error);
	if (!table->sha256)
		return NULL;
	read_models(yaml_root(document), table);
	if (problems->n_bad > 0) {
		problems_to_error(problems, error);
		return NULL;
	}
	return g_steal_pointer(&table);
}

/* factors */

/* A speed that is not 0 does not become it by rounding: 0 is a job that cannot run. */
static gint64
speed_product_ppb(gint64 one_ppb, gint64 other_ppb)
{
	__int128 ppb = (__int128)one_ppb * other_ppb / SPEED_ONE_PPB;

	if (one_ppb == 0 || other_ppb == 0)
		return 0;
	return (gint64)CLAMP(ppb, 1, (__int128)G_MAXINT64);
}

/* floor(1e9 x @one / @other), at least 1. */
static gint64
speed_ratio_ppb(__int128 one, __int128 other)
{
	return (gint64)CLAMP(one * SPEED_ONE_PPB / other, 1, (__int128)G_MAXINT64);
}

static const ModelSpec *
table_get(const ModelTable *table, guint32 model)
{
	g_assert(model < table->n);
	return &table->models[model];
}

/* Beyond the measured end its last efficiency stays: on a plateau GPUs could be taken away without
 * any loss. */
static __int128
model_scaling_ppb(const ModelSpec *model, guint n_gpus)
{
	guint n = model->scaling->len;

	if (n_gpus <= n)
		return g_array_index(model->scaling, gint64, n_gpus - 1);
	return (__int128)g_array_index(model->scaling, gint64, n - 1) * n_gpus / n;
}

gint64
speed_scaling_ppb(const ModelTable *table, const Job *job, guint n_gpus)
{
	const ModelSpec *model;

	if (n_gpus == job->num_gpus)
		return SPEED_ONE_PPB;
	g_assert(job->num_gpus > 0 && n_gpus > 0);
	if (job->model == MODEL_NONE)
		return speed_ratio_ppb(n_gpus, job->num_gpus);
	model = table_get(table, job->model);
	if (model->scaling->len == 0)
		return speed_ratio_ppb(n_gpus, job->num_gpus);
	return speed_ratio_ppb(model_scaling_ppb(model, n_gpus),
	                       model_scaling_ppb(model, job->num_gpus));
}

gint64
speed_placement_ppb(const ModelTable *table, guint32 model, PlacementLevel level)
{
	if (model == MODEL_NONE)
		return SPEED_ONE_PPB;
	return speed_ratio_ppb(SPEED_ONE_PPB, table_get(table, model)->slowdown_ppb[level]);
}

gint64
speed_placement_atto(const ModelTable *table, guint32 model, PlacementLevel level)
{
	const __int128 one = (__int128)SPEED_ONE_PPB * SPEED_ONE_PPB;
	gint64 slowdown_ppb;

	if (model == MODEL_NONE)
		return (gint64)one;
	slowdown_ppb = table_get(table, model)->slowdown_ppb[level];
	return (gint64)((one * SPEED_ONE_PPB + slowdown_ppb / 2) / slowdown_ppb);
}

/* Relative speed of the type that the job's duration was measured on: the first it names. */
static gint64
job_reference_ppb(const ModelSpec *model, const Job *job)
{
	const char *name = job->gpu_type_name + strspn(job->gpu_type_name, " \t");
	gsize length = strcspn(name, "|");
	guint index;
	gint64 ppb;

	while (length > 0 && g_ascii_isspace(name[length - 1]))
		length--;
	index = find_type(model, name, length);
	if (index == G_MAXUINT)
		return SPEED_ONE_PPB;
	ppb = g_array_index(model->types, TypeSpeed, index).speed_ppb;
	return ppb > 0 ? ppb : SPEED_ONE_PPB;
}

gint64
speed_type_ppb(const ModelTable *table, const ClusterSpec *spec, const Job *job, guint type)
{
	const ModelSpec *model;
	guint index;
	gint64 ppb = SPEED_ONE_PPB;

	if (job->model == MODEL_NONE)
		return SPEED_ONE_PPB;
	model = table_get(table, job->model);
	if (model->types->len == 0)
		return SPEED_ONE_PPB;
	index = model_find_type(model, spec->types[type].name);
	if (index != G_MAXUINT)
		ppb = g_array_index(model->types, TypeSpeed, index).speed_ppb;
	return ppb == 0 ? 0 : speed_ratio_ppb(ppb, job_reference_ppb(model, job));
}

/* The entry of @partner in the model's packed speeds, or NULL. */
static const PackedSpeed *
find_packed(const ModelTable *table, guint32 model, guint32 partner)
{
	const GArray *packed;

	if (model == MODEL_NONE || partner == MODEL_NONE)
		return NULL;
	packed = table_get(table, model)->packed;
	for (guint i = 0; i < packed->len; i++) {
		const PackedSpeed *speed = &g_array_index(packed, PackedSpeed, i);

		if (model_name_is(speed->partner, table_get(table, partner)->name))
			return speed;
	}
	return NULL;
}

gint64
speed_packed_ppb(const ModelTable *table, guint32 model, guint32 partner)
{
	const PackedSpeed *speed = find_packed(table, model, partner);

	return speed ? speed->speed_ppb : SPEED_ONE_PPB;
}

gboolean
speed_packed_is_known(const ModelTable *table, guint32 model, guint32 partner)
{
	return find_packed(table, model, partner) != NULL;
}

gint64
speed_alone_ppb(const ModelTable *table, const ClusterSpec *spec, const Job *job,
                const Alloc *alloc)
{
	gint64 ppb = speed_scaling_ppb(table, job, alloc->n);

	/* Most traces name no model, and then nothing else can matter (A86). */
	if (job->model == MODEL_NONE || alloc->n == 0)
		return ppb;
	ppb = speed_product_ppb(
	    ppb, speed_type_ppb(table, spec, job,
	                        spec->machines[spec->machine_of[alloc->gpus[0]]].type));
	return speed_product_ppb(
	    ppb, speed_placement_ppb(table, job->model, cluster_spec_level(spec, alloc)));
}
