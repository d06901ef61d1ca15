/* SPDX-License-Identifier: MIT */
#include "sim/model/cluster.h"

#include <string.h>

#include "sim/base/error.h"
#include "sim/base/file.h"
#include "sim/base/yaml.h"

/*
 * A cluster as people write it. Both notations are read into a draft, racks of machine groups
 * with their counts, so that a cluster that is too large is refused before anything of its size
 * is made. A machine outside every rack is a rack of its own (A85): a group of n such machines is
 * n racks of one machine each.
 */

#define MAX_GPUS         (1u << 24)
/* The Cluster keeps a bit for each type, machine and number of free GPUs: 512 MiB of them. */
#define MAX_BUCKET_WORDS (G_GUINT64_CONSTANT(1) << 26)

typedef struct MachineGroup {
	guint64 count;
	Machine machine; /* but for its place */
} MachineGroup;

typedef struct RackGroup {
	guint64 count;
	guint first_group, n_groups;
} RackGroup;

typedef struct SpecDraft {
	const char *name; /* or NULL */
	GArray *groups;   /* of MachineGroup */
	GArray *racks;    /* of RackGroup */
	GArray *types;    /* of GpuType */
	GArray *tenants;  /* of Tenant */
} SpecDraft;

static void
gpu_type_clear(gpointer type)
{
	g_free(((GpuType *)type)->name);
}

static void
tenant_clear(gpointer tenant)
{
	g_free(((Tenant *)tenant)->name);
}

static SpecDraft *
spec_draft_new(void)
{
	SpecDraft *draft = g_new0(SpecDraft, 1);

	draft->groups = g_array_new(FALSE, FALSE, sizeof(MachineGroup));
	draft->racks = g_array_new(FALSE, FALSE, sizeof(RackGroup));
	draft->types = g_array_new(FALSE, TRUE, sizeof(GpuType));
	draft->tenants = g_array_new(FALSE, TRUE, sizeof(Tenant));
	g_array_set_clear_func(draft->types, gpu_type_clear);
	g_array_set_clear_func(draft->tenants, tenant_clear);
	return draft;
}

static void
spec_draft_free(SpecDraft *draft)
{
	if (!draft)
		return;
	g_array_unref(draft->groups);
	g_array_unref(draft->racks);
	g_array_unref(draft->types);
	g_array_unref(draft->tenants);
	g_free(draft);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpecDraft, spec_draft_free)

/* The type called @name, a new one where there is none yet; MAX_GPU_TYPES if they are too many. */
static guint
spec_draft_type(SpecDraft *draft, const char *name)
{
	GpuType type = { 0 };

	for (guint i = 0; i < draft->types->len; i++)
		if (g_ascii_strcasecmp(g_array_index(draft->types, GpuType, i).name, name) == 0)
			return i;
	if (draft->types->len == MAX_GPU_TYPES)
		return MAX_GPU_TYPES;
	type.name = g_strdup(name);
	g_array_append_val(draft->types, type);
	return draft->types->len - 1;
}

/* Adds @count racks of one machine each. */
static void
spec_draft_add_lone(SpecDraft *draft, MachineGroup group)
{
	RackGroup rack = { group.count, draft->groups->len, 1 };

	group.count = 1;
	g_array_append_val(draft->groups, group);
	g_array_append_val(draft->racks, rack);
}

/* GPUs or machines of a draft; no more than MAX_GPUS + 1 is ever counted. */
static guint64
rack_group_total(const SpecDraft *draft, const RackGroup *rack, gboolean in_gpus)
{
	guint64 n = 0;

	for (guint i = 0; i < rack->n_groups; i++) {
		const MachineGroup *group =
		    &g_array_index(draft->groups, MachineGroup, rack->first_group + i);

		n += group->count * (in_gpus ? group->machine.n_gpus : 1);
		n = MIN(n, MAX_GPUS + 1);
	}
	return MIN(n * rack->count, MAX_GPUS + 1);
}

static guint64
spec_draft_total(const SpecDraft *draft, gboolean in_gpus)
{
	guint64 n = 0;

	for (guint i = 0; i < draft->racks->len; i++)
		n += rack_group_total(draft, &g_array_index(draft->racks, RackGroup, i), in_gpus);
	return MIN(n, MAX_GPUS + 1);
}

static guint32
spec_draft_max_machine_gpus(const SpecDraft *draft)
{
	guint32 n_gpus = 0;

	for (guint i = 0; i < draft->groups->len; i++)
		n_gpus = MAX(n_gpus, g_array_index(draft->groups, MachineGroup, i).machine.n_gpus);
	return n_gpus;
}

/* What is wrong with the size of the cluster, to be freed, or NULL. */
static char *
spec_draft_size_fault(const SpecDraft *draft)
{
	guint64 n_gpus = spec_draft_total(draft, TRUE);
	guint64 n_machines = spec_draft_total(draft, FALSE);
	guint32 widest = spec_draft_max_machine_gpus(draft);

	if (n_gpus == 0)
		return g_strdup("found a cluster without GPUs, wanted one or more");
	if (n_gpus > MAX_GPUS)
		return g_strdup_printf("found a cluster of more than %u GPUs, wanted at most that "
		                       "many",
		                       MAX_GPUS);
	if (draft->types->len * (widest + G_GUINT64_CONSTANT(1)) * ((n_machines + 63) / 64) >
	    MAX_BUCKET_WORDS)
		return g_strdup_printf("found %u GPU types, %" G_GUINT64_FORMAT " machines and one "
		                       "of %u GPUs, wanted fewer of one of the three",
		                       draft->types->len, n_machines, widest);
	return NULL;
}

/* from a draft to the spec */

static void
spec_add_machine(ClusterSpec *spec, const Machine *like)
{
	guint32 number = spec->n_machines++;
	Machine *machine = &spec->machines[number];

	*machine = *like;
	machine->first_gpu = spec->n_gpus;
	machine->rack = spec->n_racks;
	for (guint32 i = 0; i < like->n_gpus; i++)
		spec->machine_of[spec->n_gpus++] = number;
	spec->types[like->type].n_gpus += like->n_gpus;
	spec->max_machine_gpus = MAX(spec->max_machine_gpus, like->n_gpus);
}

static void
spec_add_rack(ClusterSpec *spec, const SpecDraft *draft, const RackGroup *group)
{
	Rack *rack = &spec->racks[spec->n_racks];

	rack->first_machine = spec->n_machines;
	rack->first_gpu = spec->n_gpus;
	for (guint i = 0; i < group->n_groups; i++) {
		const MachineGroup *machines =
		    &g_array_index(draft->groups, MachineGroup, group->first_group + i);

		for (guint64 j = 0; j < machines->count; j++)
			spec_add_machine(spec, &machines->machine);
	}
	rack->n_machines = spec->n_machines - rack->first_machine;
	rack->n_gpus = spec->n_gpus - rack->first_gpu;
	spec->n_racks++;
}

static void
spec_add_racks(ClusterSpec *spec, const SpecDraft *draft)
{
	for (guint i = 0; i < draft->racks->len; i++) {
		const RackGroup *group = &g_array_index(draft->racks, RackGroup, i);

		for (guint64 j = 0; j < group->count; j++)
			spec_add_rack(spec, draft, group);
	}
}

/* Empties @draft, whose size must be right. */
static ClusterSpec *
spec_draft_finish(SpecDraft *draft, const char *given)
{
	ClusterSpec *spec = g_new0(ClusterSpec, 1);
	gsize n_racks = 0;

	for (guint i = 0; i < draft->racks->len; i++)
		n_racks += g_array_index(draft->racks, RackGroup, i).count;
	spec->given = g_strdup(given);
	spec->name = g_strdup(draft->name ? draft->name : given);
	spec->racks = g_new0(Rack, n_racks);
	spec->machines = g_new0(Machine, spec_draft_total(draft, FALSE));
	spec->machine_of = g_new(guint32, spec_draft_total(draft, TRUE));
	spec->n_types = draft->types->len;
	spec->n_tenants = draft->tenants->len;
	/* The names move over; an array that is stolen from frees nothing. */
	spec->types = (GpuType *)g_array_steal(draft->types, NULL);
	spec->tenants = (Tenant *)g_array_steal(draft->tenants, NULL);
	spec_add_racks(spec, draft);
	return spec;
}

void
cluster_spec_free(ClusterSpec *spec)
{
	if (!spec)
		return;
	for (guint i = 0; i < spec->n_types; i++)
		g_free(spec->types[i].name);
	for (guint i = 0; i < spec->n_tenants; i++)
		g_free(spec->tenants[i].name);
	g_free(spec->given);
	g_free(spec->path);
	g_free(spec->sha256);
	g_free(spec->name);
	g_free(spec->types);
	g_free(spec->racks);
	g_free(spec->machines);
	g_free(spec->tenants);
	g_free(spec->machine_of);
	g_free(spec);
}

/* the shorthand */

/* Digits at *@text, which moves behind them. FALSE unless they are a number from 1 to MAX_GPUS. */
static gboolean
parse_count(const char **text, guint64 *ret_n)
{
	guint64 n = 0;
	const char *end = *text;

	for (; g_ascii_isdigit(*end); end++)
		n = MIN(n * 10 + (guint64)(*end - '0'), MAX_GPUS + 1);
	if (end == *text || n == 0 || n > MAX_GPUS)
		return FALSE;
	*text = end;
	*ret_n = n;
	return TRUE;
}

/* `NxG[:type]` */
static gboolean
parse_group(const char *text, MachineGroup *ret_group, const char **ret_type)
{
	MachineGroup group = { 0 };
	guint64 n_gpus = 0;

	if (!parse_count(&text, &group.count) || *text++ != 'x' || !parse_count(&text, &n_gpus))
		return FALSE;
	group.machine.n_gpus = (guint32)n_gpus;
	group.machine.slot_gpus = (guint32)n_gpus;
	if (*text == ':' && (text[1] == '\0' || strpbrk(text + 1, ": \t|")))
		return FALSE;
	if (*text != ':' && *text != '\0')
		return FALSE;
	*ret_type = *text == ':' ? text + 1 : "";
	*ret_group = group;
	return TRUE;
}

static gboolean
refuse_group(const char *given, const char *group, GError **error)
{
	g_set_error(
	    error, SIM_ERROR, SIM_ERROR_USAGE,
	    "cluster \"%s\": found \"%s\", wanted NxG[:type][,...] such as 12x4:v100,6x2, or "
	    "the name of a file",
	    given, group);
	return FALSE;
}

static gboolean
spec_draft_add_groups(SpecDraft *draft, const char *given, GError **error)
{
	g_auto(GStrv) parts = g_strsplit(given, ",", -1);

	if (!parts[0])
		return refuse_group(given, "", error);
	for (guint i = 0; parts[i]; i++) {
		const char *type = NULL;
		MachineGroup group;

		if (!parse_group(g_strstrip(parts[i]), &group, &type))
			return refuse_group(given, parts[i], error);
		group.machine.type = spec_draft_type(draft, type);
		if (group.machine.type == MAX_GPU_TYPES) {
			g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE,
			            "cluster \"%s\": found more than %d GPU types, wanted at most "
			            "that many",
			            given, MAX_GPU_TYPES);
			return FALSE;
		}
		spec_draft_add_lone(draft, group);
	}
	return TRUE;
}

ClusterSpec *
cluster_spec_parse_shorthand(const char *text, GError **error)
{
	g_autoptr(SpecDraft) draft = spec_draft_new();
	g_autofree char *fault = NULL;

	if (!spec_draft_add_groups(draft, text, error))
		return NULL;
	fault = spec_draft_size_fault(draft);
	if (fault) {
		g_set_error(error, SIM_ERROR, SIM_ERROR_USAGE, "cluster \"%s\": %s", text, fault);
		return NULL;
	}
	return spec_draft_finish(draft, text);
}

/* the YAML file */

/* The value of @key, which must be of @kind; NULL if there is none, or after a complaint. */
static const YamlNode *
find_kind(const YamlNode *map, const char *key, YamlKind kind)
{
	const YamlNode *node = yaml_find(map, key);
	g_autofree char *reason = g_strdup_printf("bad %s", key);

	if (!node || yaml_is_null(node))
		return NULL;
	if (yaml_kind(node) == kind)
		return node;
	yaml_complain(node, reason, "found no %s for %s, wanted one",
	              kind == YAML_LIST ? "list" : "mapping", key);
	return NULL;
}

static void
complain_types(const YamlNode *node)
{
	yaml_complain(node, "too many GPU types",
	              "found more than %d GPU types, wanted at most that many", MAX_GPU_TYPES);
}

static void
read_type(SpecDraft *draft, const YamlNode *types, guint index)
{
	static const char *const known[] = { "mem_mib", NULL };
	const YamlNode *node = yaml_item(types, index);
	guint n_before = draft->types->len;
	guint type = spec_draft_type(draft, yaml_key(types, index));
	gint64 mem_mib = 0;

	if (type == MAX_GPU_TYPES) {
		complain_types(yaml_key_node(types, index));
		return;
	}
	if (type < n_before)
		yaml_complain(yaml_key_node(types, index), "duplicate GPU type",
		              "found the GPU type \"%s\" again, wanted it once (case does not "
		              "matter)",
		              yaml_key(types, index));
	if (yaml_expect_keys(node, known) &&
	    yaml_get_int(node, "mem_mib", 0, G_MAXUINT32, &mem_mib))
		g_array_index(draft->types, GpuType, type).mem_mib = (guint32)mem_mib;
}

static void
read_types(SpecDraft *draft, const YamlNode *root)
{
	const YamlNode *types = find_kind(root, "gpu_types", YAML_MAP);

	for (guint i = 0; types && i < yaml_n(types); i++)
		read_type(draft, types, i);
}

/* CPUs, memory and network of a machine, none of which must be given. */
static void
read_machine_rest(const YamlNode *node, Machine *machine)
{
	gint64 cpus_milli = 0, mem_mib = 0;

	yaml_get_scaled(node, "cpus", 3, 0, G_MAXUINT32, &cpus_milli);
	yaml_get_int(node, "mem_mib", 0, G_MAXINT64, &mem_mib);
	yaml_get_number(node, "nic_gbps", 0, 1e9, &machine->nic_gbps);
	machine->cpus_milli = (guint32)cpus_milli;
	machine->mem_mib = (guint64)mem_mib;
}

static void
read_machine_gpus(SpecDraft *draft, const YamlNode *node, Machine *machine)
{
	const char *type = "";
	gint64 n_gpus = 0, slot_gpus;

	if (yaml_kind(node) == YAML_MAP && !yaml_find(node, "gpus"))
		yaml_complain(node, "no gpus", "found a machine without gpus, wanted their number");
	yaml_get_int(node, "gpus", 1, MAX_GPUS, &n_gpus);
	slot_gpus = MAX(n_gpus, 1);
	yaml_get_int(node, "slot_gpus", 1, slot_gpus, &slot_gpus);
	yaml_get_text(node, "gpu_type", &type);
	machine->n_gpus = (guint32)n_gpus;
	machine->slot_gpus = (guint32)slot_gpus;
	machine->type = spec_draft_type(draft, type);
	if (machine->type == MAX_GPU_TYPES)
		complain_types(node);
}

static MachineGroup
read_machine(SpecDraft *draft, const YamlNode *node)
{
	static const char *const known[] = { "count", "gpus",    "slot_gpus", "gpu_type",
		                             "cpus",  "mem_mib", "nic_gbps",  NULL };
	MachineGroup group = { .count = 1 };
	gint64 count = 1;

	yaml_expect_keys(node, known);
	yaml_get_int(node, "count", 1, MAX_GPUS, &count);
	read_machine_gpus(draft, node, &group.machine);
	read_machine_rest(node, &group.machine);
	group.count = (guint64)count;
	return group;
}

static void
read_rack(SpecDraft *draft, const YamlNode *node)
{
	static const char *const known[] = { "count", "machines", NULL };
	const YamlNode *machines = find_kind(node, "machines", YAML_LIST);
	RackGroup rack = { 1, draft->groups->len, 0 };
	gint64 count = 1;

	yaml_expect_keys(node, known);
	yaml_get_int(node, "count", 1, MAX_GPUS, &count);
	if (yaml_kind(node) == YAML_MAP && (!machines || yaml_n(machines) == 0))
		yaml_complain(node, "no machines",
		              "found a rack without machines, wanted a list "
		              "of them");
	for (guint i = 0; machines && i < yaml_n(machines); i++) {
		MachineGroup group = read_machine(draft, yaml_item(machines, i));

		g_array_append_val(draft->groups, group);
		rack.n_groups++;
	}
	rack.count = (guint64)count;
	g_array_append_val(draft->racks, rack);
}

/* Racks and lone machines, in the order of the file: that is how they are numbered. */
static void
read_racks(SpecDraft *draft, const YamlNode *root)
{
	for (guint i = 0; i < yaml_n(root); i++) {
		gboolean is_lone = g_str_equal(yaml_key(root, i), "machines");
		const YamlNode *list = NULL;

		if (is_lone || g_str_equal(yaml_key(root, i), "racks"))
			list = find_kind(root, yaml_key(root, i), YAML_LIST);
		for (guint j = 0; list && j < yaml_n(list); j++) {
			const YamlNode *node = yaml_item(list, j);

			if (is_lone)
				spec_draft_add_lone(draft, read_machine(draft, node));
			else
				read_rack(draft, node);
		}
	}
}

static void
read_tenants(SpecDraft *draft, const YamlNode *root)
{
	static const char *const known[] = { "gpus", NULL };
	const YamlNode *tenants = find_kind(root, "tenants", YAML_MAP);

	for (guint i = 0; tenants && i < yaml_n(tenants); i++) {
		const YamlNode *node = yaml_item(tenants, i);
		gint64 quota_gpus = 0;
		Tenant tenant;

		if (yaml_kind(node) == YAML_MAP && !yaml_find(node, "gpus"))
			yaml_complain(yaml_key_node(tenants, i), "no gpus",
			              "found the tenant \"%s\" without gpus, wanted its quota",
			              yaml_key(tenants, i));
		yaml_expect_keys(node, known);
		yaml_get_int(node, "gpus", 0, MAX_GPUS, &quota_gpus);
		tenant.name = g_strdup(yaml_key(tenants, i));
		tenant.quota_gpus = (guint32)quota_gpus;
		g_array_append_val(draft->tenants, tenant);
	}
}

static void
read_cluster(SpecDraft *draft, const YamlNode *root)
{
	static const char *const known[] = { "name",     "gpu_types", "racks",
		                             "machines", "tenants",   NULL };

	yaml_expect_keys(root, known);
	if (yaml_kind(root) != YAML_MAP)
		return;
	yaml_get_text(root, "name", &draft->name);
	read_types(draft, root);
	read_racks(draft, root);
	read_tenants(draft, root);
}

/* The size is worth a complaint only when all of its parts were readable. */
static void
complain_size(const SpecDraft *draft, const YamlNode *root, const Problems *problems)
{
	g_autofree char *fault = NULL;

	if (problems->n_bad > 0)
		return;
	fault = spec_draft_size_fault(draft);
	if (fault)
		yaml_complain(root, "cluster size", "%s", fault);
}

static ClusterSpec *
cluster_spec_load_file(const char *path, GError **error)
{
	g_autoptr(Problems) problems = problems_new(path);
	g_autoptr(SpecDraft) draft = spec_draft_new();
	g_autoptr(YamlDocument) document = yaml_read(path, problems, error);
	g_autofree char *sha256 = document ? file_sha256(path, error) : NULL;
	ClusterSpec *spec;

	if (!sha256)
		return NULL;
	read_cluster(draft, yaml_root(document));
	complain_size(draft, yaml_root(document), problems);
	if (problems->n_bad > 0) {
		problems_to_error(problems, error);
		return NULL;
	}
	spec = spec_draft_finish(draft, path);
	spec->path = g_strdup(path);
	spec->sha256 = g_steal_pointer(&sha256);
	return spec;
}

/* Whether @given is meant as a file even if there is none. */
static gboolean
is_path(const char *given)
{
	return strchr(given, '/') || g_str_has_suffix(given, ".yaml") ||
	       g_str_has_suffix(given, ".yml");
}

ClusterSpec *
cluster_spec_load(const char *given, GError **error)
{
	if (is_path(given) || g_file_test(given, G_FILE_TEST_EXISTS))
		return cluster_spec_load_file(given, error);
	return cluster_spec_parse_shorthand(given, error);
}

/* questions */

/* The type called @name of those that have GPUs, as a bit; 0 if there is none. */
static guint64
type_bit(const ClusterSpec *spec, const char *name)
{
	for (guint i = 0; i < spec->n_types; i++)
		if (spec->types[i].n_gpus > 0 && g_ascii_strcasecmp(spec->types[i].name, name) == 0)
			return G_GUINT64_CONSTANT(1) << i;
	return 0;
}

guint64
cluster_spec_types(const ClusterSpec *spec, const char *names)
{
	g_auto(GStrv) parts = g_strsplit(names, "|", -1);
	guint64 types = 0;

	if (!parts[0])
		return GPU_TYPE_ANY;
	for (guint i = 0; parts[i]; i++) {
		const char *name = g_strstrip(parts[i]);

		if (*name == '\0' || g_ascii_strcasecmp(name, "nan") == 0)
			return GPU_TYPE_ANY;
		types |= type_bit(spec, name);
	}
	return types;
}

/* GPUs of a slot, machine or rack are consecutive, so the two ends speak for all. */
PlacementLevel
cluster_spec_level(const ClusterSpec *spec, const Alloc *alloc)
{
	if (alloc->n <= 1)
		return LEVEL_SLOT;

	guint32 first = alloc->gpus[0], last = alloc->gpus[alloc->n - 1];
	const Machine *machine = &spec->machines[spec->machine_of[first]];
	const Machine *other = &spec->machines[spec->machine_of[last]];

	if (machine != other)
		return machine->rack == other->rack ? LEVEL_RACK : LEVEL_CLUSTER;
	return cluster_spec_slot(machine, first) == cluster_spec_slot(machine, last)
	           ? LEVEL_SLOT
	           : LEVEL_MACHINE;
}
