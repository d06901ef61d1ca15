/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <glib/gstdio.h>

#include "sim/base/error.h"
#include "sim/base/rng.h"
#include "sim/model/cluster.h"

/* allocs */

START_TEST(alloc_is_ascending)
{
	static const guint32 wanted[] = { 1, 3, 4, 5, 6, 9, 20 };
	Alloc alloc, copy;

	alloc_init(&alloc);
	alloc_init(&copy);
	alloc_add(&alloc, 9);
	alloc_add(&alloc, 4);
	alloc_add(&alloc, 20);
	alloc_add_range(&alloc, 5, 2);
	alloc_add(&alloc, 1);
	alloc_add(&alloc, 3);
	ck_assert_uint_eq(alloc.n, G_N_ELEMENTS(wanted));
	ck_assert_mem_eq(alloc.gpus, wanted, sizeof(wanted));
	ck_assert(alloc_has(&alloc, 1) && alloc_has(&alloc, 20) && !alloc_has(&alloc, 2));
	ck_assert(!alloc_has(&alloc, 21));
	ck_assert(!alloc_equal(&alloc, &copy));
	alloc_copy(&copy, &alloc);
	ck_assert(alloc_equal(&alloc, &copy));
	alloc_reset(&copy);
	ck_assert_uint_eq(copy.n, 0);
	ck_assert(!alloc_has(&copy, 1));
	alloc_clear(&alloc);
	alloc_clear(&copy);
}
END_TEST

START_TEST(alloc_range_goes_around_what_is_there)
{
	static const guint32 wanted[] = { 2, 3, 4, 5, 6, 7 };
	Alloc alloc, empty;

	alloc_init(&alloc);
	alloc_init(&empty);
	alloc_add(&alloc, 7);
	alloc_add(&alloc, 4);
	alloc_add_range(&alloc, 2, 2);
	alloc_add_range(&alloc, 5, 2);
	alloc_add_range(&alloc, 5, 0);
	ck_assert_uint_eq(alloc.n, 6);
	ck_assert_mem_eq(alloc.gpus, wanted, sizeof(wanted));
	alloc_copy(&alloc, &empty);
	ck_assert(alloc_equal(&alloc, &empty));
	alloc_clear(&alloc);
}
END_TEST

static void
alloc_set(Alloc *alloc, const guint32 *gpus, guint n)
{
	alloc_reset(alloc);
	for (guint i = 0; i < n; i++)
		alloc_add(alloc, gpus[i]);
}

/* the shorthand */

static const struct {
	const char *text;
	guint n_machines, n_gpus, n_types, max_machine_gpus;
	const char *last_type;
} shorthands[] = {
	{ "2x4", 2, 8, 1, 4, "" },
	{ "1x1", 1, 1, 1, 1, "" },
	{ "12x4:v100,6x2:p100", 18, 60, 2, 4, "p100" },
	{ "2x4:V100,1x2:v100", 3, 10, 1, 4, "V100" },
	{ " 2x4 , 1x8:k80 ", 3, 16, 2, 8, "k80" },
	{ "1x16777216", 1, 16777216, 1, 16777216, "" },
};

START_TEST(reads_shorthand)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(ClusterSpec) spec = cluster_spec_load(shorthands[_i].text, &error);

	ck_assert_ptr_null(error);
	ck_assert_uint_eq(spec->n_machines, shorthands[_i].n_machines);
	ck_assert_uint_eq(spec->n_racks, shorthands[_i].n_machines);
	ck_assert_uint_eq(spec->n_gpus, shorthands[_i].n_gpus);
	ck_assert_uint_eq(spec->n_types, shorthands[_i].n_types);
	ck_assert_uint_eq(spec->max_machine_gpus, shorthands[_i].max_machine_gpus);
	ck_assert_str_eq(spec->types[spec->n_types - 1].name, shorthands[_i].last_type);
	ck_assert_str_eq(spec->given, shorthands[_i].text);
	ck_assert_ptr_null(spec->path);
	ck_assert_ptr_null(spec->sha256);
}
END_TEST

static const struct {
	const char *text, *found;
} bad_shorthands[] = {
	{ "", "" },
	{ "x", "x" },
	{ "2x", "2x" },
	{ "x4", "x4" },
	{ "0x4", "0x4" },
	{ "2x0", "2x0" },
	{ "2x4,", "" },
	{ "2x4,,1x1", "" },
	{ "-2x4", "-2x4" },
	{ "2X4", "2X4" },
	{ "2x4:", "2x4:" },
	{ "2x4:a:b", "2x4:a:b" },
	{ "2x4 a", "2x4 a" },
	{ "2.5x4", "2.5x4" },
	{ "16777217x1", "16777217x1" },
	{ "99999999999999999999999x1", "99999999999999999999999x1" },
	{ "no-such-file", "no-such-file" },
};

START_TEST(refuses_shorthand)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *wanted = g_strdup_printf(
	    "cluster \"%s\": found \"%s\", wanted NxG[:type][,...] such as 12x4:v100,6x2, or the "
	    "name of a file",
	    bad_shorthands[_i].text, bad_shorthands[_i].found);

	ck_assert_ptr_null(cluster_spec_load(bad_shorthands[_i].text, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_USAGE));
	ck_assert_str_eq(error->message, wanted);
}
END_TEST

START_TEST(refuses_too_large_shorthand)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "4097x4096", "cluster \"4097x4096\": found a cluster of more than 16777216 GPUs, "
		               "wanted at most that many" },
		{ "16777216x16777216,16777216x16777216",
		  "cluster \"16777216x16777216,16777216x16777216\": found a cluster of more than "
		  "16777216 GPUs, wanted at most that many" },
		{ "1x8000000,8000000x1",
		  "cluster \"1x8000000,8000000x1\": found 1 GPU types, 8000001 machines and one of "
		  "8000000 GPUs, wanted fewer of one of the three" },
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;

		ck_assert_ptr_null(cluster_spec_load(cases[i].text, &error));
		ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_USAGE));
		ck_assert_str_eq(error->message, cases[i].message);
	}
}
END_TEST

START_TEST(limits_types)
{
	g_autoptr(GString) text = g_string_new("1x1:t0");
	g_autoptr(GError) error = NULL;
	ClusterSpec *spec;

	for (guint i = 1; i < MAX_GPU_TYPES; i++)
		g_string_append_printf(text, ",1x1:t%u", i);
	spec = cluster_spec_load(text->str, NULL);
	ck_assert_uint_eq(spec->n_types, 64);
	ck_assert_uint_eq(cluster_spec_types(spec, "t63"), G_GUINT64_CONSTANT(1) << 63);
	cluster_spec_free(spec);
	g_string_append(text, ",1x1:one-more");
	ck_assert_ptr_null(cluster_spec_load(text->str, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_USAGE));
	ck_assert(g_str_has_suffix(error->message,
	                           "found more than 64 GPU types, wanted at most that many"));
}
END_TEST

/* files */

/* Loads @text as a file; the file's name is CLUSTER in the message of the error. */
static ClusterSpec *
load_text(const char *text, GError **error)
{
	g_autofree char *path = NULL;
	ClusterSpec *spec;
	int file = g_file_open_tmp("cluster-XXXXXX.yaml", &path, NULL);

	ck_assert_int_ge(file, 0);
	g_close(file, NULL);
	ck_assert(g_file_set_contents(path, text, -1, NULL));
	spec = cluster_spec_load(path, error);
	g_unlink(path);
	if (!spec && error) {
		g_auto(GStrv) parts = g_strsplit((*error)->message, path, -1);

		g_free((*error)->message);
		(*error)->message = g_strjoinv("CLUSTER", parts);
	}
	return spec;
}

START_TEST(reads_file)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(ClusterSpec) spec = load_text(
	    "name: example\n"
	    "gpu_types:\n"
	    "  v100: {mem_mib: 16384}\n"
	    "  spare: {mem_mib: 1}\n"
	    "racks:\n"
	    "  - count: 2\n"
	    "    machines:\n"
	    "      - {count: 2, gpus: 4, slot_gpus: 2, gpu_type: V100, cpus: 24.5, mem_mib: 229376,"
	    " nic_gbps: 25}\n"
	    "      - {gpus: 1, gpu_type: p100}\n"
	    "machines:\n"
	    "  - {count: 2, gpus: 3, slot_gpus: 2}\n"
	    "tenants: {vc1: {gpus: 4}, vc2: {gpus: 200}}\n",
	    &error);

	ck_assert_ptr_null(error);
	ck_assert_str_eq(spec->name, "example");
	ck_assert_uint_eq(strlen(spec->sha256), 64);
	ck_assert_str_eq(spec->path, spec->given);
	ck_assert_uint_eq(spec->n_racks, 4);
	ck_assert_uint_eq(spec->n_machines, 8);
	ck_assert_uint_eq(spec->n_gpus, 24);
	ck_assert_uint_eq(spec->max_machine_gpus, 4);
	ck_assert_uint_eq(spec->n_types, 4);
	ck_assert_str_eq(spec->types[0].name, "v100");
	ck_assert_uint_eq(spec->types[0].mem_mib, 16384);
	ck_assert_uint_eq(spec->types[0].n_gpus, 16);
	ck_assert_uint_eq(spec->types[1].n_gpus, 0);
	ck_assert_str_eq(spec->types[2].name, "p100");
	ck_assert_uint_eq(spec->types[2].n_gpus, 2);
	ck_assert_str_eq(spec->types[3].name, "");
	ck_assert_uint_eq(spec->types[3].n_gpus, 6);
	ck_assert_uint_eq(spec->racks[1].first_machine, 3);
	ck_assert_uint_eq(spec->racks[1].first_gpu, 9);
	ck_assert_uint_eq(spec->racks[1].n_machines, 3);
	ck_assert_uint_eq(spec->racks[1].n_gpus, 9);
	ck_assert_uint_eq(spec->racks[3].first_gpu, 21);
	ck_assert_uint_eq(spec->machines[1].cpus_milli, 24500);
	ck_assert_uint_eq(spec->machines[1].mem_mib, 229376);
	ck_assert_double_eq(spec->machines[1].nic_gbps, 25);
	ck_assert_uint_eq(spec->machines[2].slot_gpus, 1);
	ck_assert_uint_eq(spec->machines[6].slot_gpus, 2);
	ck_assert_uint_eq(spec->machines[7].rack, 3);
	ck_assert_uint_eq(spec->machine_of[20], 6);
	ck_assert_uint_eq(spec->n_tenants, 2);
	ck_assert_str_eq(spec->tenants[1].name, "vc2");
	ck_assert_uint_eq(spec->tenants[1].quota_gpus, 200);
}
END_TEST

/* Machines are numbered in the order of the file, also where the lone ones come first. */
START_TEST(numbers_in_file_order)
{
	g_autoptr(ClusterSpec) spec = load_text("machines: [{gpus: 1}]\n"
	                                        "racks: [{machines: [{gpus: 2}]}]\n",
	                                        NULL);

	ck_assert_uint_eq(spec->machines[0].n_gpus, 1);
	ck_assert_uint_eq(spec->machines[1].first_gpu, 1);
	ck_assert_uint_eq(spec->racks[1].first_machine, 1);
}
END_TEST

static const struct {
	const char *text, *message;
} bad_files[] = {
	{ "", "CLUSTER:1:1: found a cluster without GPUs, wanted one or more" },
	{ "name: x\nracks: []\n", "CLUSTER:1:1: found a cluster without GPUs, wanted one or more" },
	{ "racks: [{machines: [{gpus: 0}]}]\n",
	  "CLUSTER:1:28: found \"0\" for gpus, wanted a whole number from 1 to 16777216" },
	{ "racks:\n  - machines:\n      - {count: 2}\n",
	  "CLUSTER:3:9: found a machine without gpus, wanted their number" },
	{ "racks:\n  - count: 2\n",
	  "CLUSTER:2:5: found a rack without machines, wanted a list of them" },
	{ "machines: [{gpus: 4, slot_gpus: 8}]\n",
	  "CLUSTER:1:33: found \"8\" for slot_gpus, wanted a whole number from 1 to 4" },
	{ "machines: [{gpus: 4, slots_gpus: 2}]\n",
	  "CLUSTER:1:22: found the unknown key \"slots_gpus\", wanted perhaps \"slot_gpus\"" },
	{ "machine: [{gpus: 4}]\n",
	  "CLUSTER:1:1: found the unknown key \"machine\", wanted perhaps \"machines\"" },
	{ "machines: {gpus: 4}\n", "CLUSTER:1:11: found no list for machines, wanted one" },
	{ "machines: [4]\n", "CLUSTER:1:12: found \"4\", wanted a mapping of keys to values" },
	{ "gpu_types: {v100: {}, V100: {}}\nmachines: [{gpus: 4}]\n",
	  "CLUSTER:1:23: found the GPU type \"V100\" again, wanted it once (case does not "
	  "matter)" },
	{ "machines: [{gpus: 4}]\ntenants: {a: {}}\n",
	  "CLUSTER:2:11: found the tenant \"a\" without gpus, wanted its quota" },
	{ "machines: [{count: 4097, gpus: 4096}]\n",
	  "CLUSTER:1:1: found a cluster of more than 16777216 GPUs, wanted at most that many" },
	{ "racks: [{count: 16777216, machines: [{count: 16777216, gpus: 16777216}]}]\n",
	  "CLUSTER:1:1: found a cluster of more than 16777216 GPUs, wanted at most that many" },
	{ "machines: [{gpus: -1}]\nname: [a]\n",
	  "CLUSTER:2:7: found a list for name, wanted a text\n"
	  "CLUSTER:1:19: found \"-1\" for gpus, wanted a whole number from 1 to 16777216" },
	{ "[1, 2]\n", "CLUSTER:1:1: found a list, wanted a mapping of keys to values" },
};

START_TEST(refuses_file)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(load_text(bad_files[_i].text, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_INPUT));
	ck_assert_str_eq(error->message, bad_files[_i].message);
}
END_TEST

START_TEST(refuses_missing_file)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(cluster_spec_load("no/such/file", &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_INPUT));
	g_clear_error(&error);
	ck_assert_ptr_null(cluster_spec_load("no-such-file.yaml", &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_INPUT));
}
END_TEST

/* questions to a spec: two racks of two machines of two slots of two, and a lone machine of three
 * GPUs of another type */

static ClusterSpec *
layered_spec(void)
{
	return load_text("gpu_types: {a: {mem_mib: 1000}, b: {}}\n"
	                 "racks: [{count: 2, machines: [{count: 2, gpus: 4, slot_gpus: 2, "
	                 "gpu_type: a, cpus: 8, mem_mib: 100}]}]\n"
	                 "machines: [{gpus: 3, slot_gpus: 2, gpu_type: b}]\n",
	                 NULL);
}

static const struct {
	guint n;
	guint32 gpus[4];
	PlacementLevel level;
} level_cases[] = {
	{ 1, { 5 }, LEVEL_SLOT },       { 2, { 0, 1 }, LEVEL_SLOT },
	{ 2, { 1, 2 }, LEVEL_MACHINE }, { 4, { 0, 1, 2, 3 }, LEVEL_MACHINE },
	{ 2, { 3, 4 }, LEVEL_RACK },    { 3, { 0, 1, 7 }, LEVEL_RACK },
	{ 2, { 7, 8 }, LEVEL_CLUSTER }, { 2, { 15, 16 }, LEVEL_CLUSTER },
	{ 2, { 16, 17 }, LEVEL_SLOT },  { 3, { 16, 17, 18 }, LEVEL_MACHINE },
};

START_TEST(finds_level)
{
	g_autoptr(ClusterSpec) spec = layered_spec();
	Alloc alloc;

	alloc_init(&alloc);
	alloc_set(&alloc, level_cases[_i].gpus, level_cases[_i].n);
	ck_assert_str_eq(level_to_string(cluster_spec_level(spec, &alloc)),
	                 level_to_string(level_cases[_i].level));
	alloc_clear(&alloc);
}
END_TEST

static const struct {
	const char *names;
	guint64 types;
} type_cases[] = {
	{ "", GPU_TYPE_ANY },
	{ "nan", GPU_TYPE_ANY },
	{ "NaN", GPU_TYPE_ANY },
	{ "a", 1 },
	{ "A", 1 },
	{ "b|a", 3 },
	{ " a | b ", 3 },
	{ "a|", GPU_TYPE_ANY },
	{ "a|nan", GPU_TYPE_ANY },
	{ "a|v100", 1 },
	{ "v100", 0 },
	{ "aa", 0 },
};

START_TEST(finds_types)
{
	g_autoptr(ClusterSpec) spec = layered_spec();

	ck_assert_uint_eq(cluster_spec_types(spec, type_cases[_i].names), type_cases[_i].types);
}
END_TEST

/* A type that no machine has is no type of the cluster. */
START_TEST(unused_type_is_lacking)
{
	g_autoptr(ClusterSpec) spec =
	    load_text("gpu_types: {spare: {}}\nmachines: [{gpus: 1, gpu_type: a}]\n", NULL);

	ck_assert_uint_eq(cluster_spec_types(spec, "spare"), 0);
	ck_assert_uint_eq(cluster_spec_types(spec, "a"), 2);
}
END_TEST

/* room */

static Job
plain_job(JobId id, guint32 num_gpus)
{
	return (Job){
		.id = id,
		.num_gpus = num_gpus,
		.min_gpus = num_gpus,
		.max_gpus = num_gpus,
		.share_milli = GPU_MILLI,
		.gpu_types = GPU_TYPE_ANY,
		.model = MODEL_NONE,
	};
}

static const struct {
	const char *what;
	guint32 num_gpus, workers, gpus_per_worker;
	guint64 types;
	guint n;
	guint32 gpus[6];
	gboolean is_sane;
} sane_cases[] = {
	{ "one", 1, 0, 0, GPU_TYPE_ANY, 1, { 3 }, TRUE },
	{ "over a rack", 2, 0, 0, GPU_TYPE_ANY, 2, { 0, 8 }, TRUE },
	{ "none", 1, 0, 0, GPU_TYPE_ANY, 0, { 0 }, FALSE },
	{ "last", 1, 0, 0, GPU_TYPE_ANY, 1, { 18 }, TRUE },
	{ "beyond the last", 1, 0, 0, GPU_TYPE_ANY, 1, { 19 }, FALSE },
	{ "twice", 2, 0, 0, GPU_TYPE_ANY, 2, { 3, 3 }, FALSE },
	{ "two types", 2, 0, 0, GPU_TYPE_ANY, 2, { 15, 16 }, FALSE },
	{ "accepted type", 2, 0, 0, 2, 2, { 16, 17 }, TRUE },
	{ "another type", 2, 0, 0, 2, 2, { 14, 15 }, FALSE },
	{ "no type", 1, 0, 0, 0, 1, { 0 }, FALSE },
	{ "workers together", 4, 2, 2, GPU_TYPE_ANY, 4, { 0, 1, 2, 3 }, TRUE },
	{ "workers apart", 4, 2, 2, GPU_TYPE_ANY, 4, { 0, 3, 8, 9 }, TRUE },
	{ "a worker cut", 4, 2, 2, GPU_TYPE_ANY, 4, { 0, 1, 2, 8 }, FALSE },
	{ "workers of one", 3, 3, 1, GPU_TYPE_ANY, 3, { 0, 4, 8 }, TRUE },
};

START_TEST(judges_allocs)
{
	g_autoptr(ClusterSpec) spec = layered_spec();
	Job job = plain_job(0, sane_cases[_i].num_gpus);
	Alloc alloc;

	job.workers = sane_cases[_i].workers;
	job.gpus_per_worker = sane_cases[_i].gpus_per_worker;
	job.gpu_types = sane_cases[_i].types;
	alloc_init(&alloc);
	alloc_set(&alloc, sane_cases[_i].gpus, sane_cases[_i].n);
	ck_assert_msg(cluster_alloc_is_sane(spec, &job, &alloc) == sane_cases[_i].is_sane, "%s",
	              sane_cases[_i].what);
	alloc_clear(&alloc);
}
END_TEST

/* A newcomer on GPU 0 and one more of its machine, beside a job that is on GPU 0 already. */
static const struct {
	const char *what;
	guint32 old_share_milli, old_mem_mib, share_milli, mem_mib;
	guint64 host_mem_mib;
	guint32 cpus_milli;
	gboolean shares, packed;
} room_cases[] = {
	{ "whole beside whole", 1000, 0, 1000, 0, 0, 0, FALSE, TRUE },
	{ "half beside half", 500, 0, 500, 0, 0, 0, TRUE, TRUE },
	{ "just too much", 500, 0, 501, 0, 0, 0, FALSE, TRUE },
	{ "memory fits", 500, 600, 500, 400, 0, 0, TRUE, TRUE },
	{ "memory does not", 500, 600, 500, 401, 0, 0, FALSE, FALSE },
	{ "memory of packed jobs", 1000, 600, 1000, 401, 0, 0, FALSE, FALSE },
	{ "host memory fits", 500, 0, 500, 0, 90, 0, TRUE, TRUE },
	{ "host memory does not", 500, 0, 500, 0, 91, 0, FALSE, FALSE },
	{ "CPUs fit", 500, 0, 500, 0, 0, 7000, TRUE, TRUE },
	{ "CPUs do not", 500, 0, 500, 0, 0, 7001, FALSE, FALSE },
};

START_TEST(judges_room)
{
	g_autoptr(ClusterSpec) spec = layered_spec();
	g_autoptr(Cluster) cluster = cluster_new(spec);
	Job old = plain_job(0, 1), job = plain_job(1, 2);
	Alloc alloc;

	alloc_init(&alloc);
	alloc_add(&alloc, 0);
	old.share_milli = room_cases[_i].old_share_milli;
	old.gpu_mem_mib = room_cases[_i].old_mem_mib;
	old.mem_mib = 10;
	old.cpus_milli = 1000;
	cluster_take(cluster, &old, &alloc);
	job.share_milli = room_cases[_i].share_milli;
	job.gpu_mem_mib = room_cases[_i].mem_mib;
	job.mem_mib = room_cases[_i].host_mem_mib;
	job.cpus_milli = room_cases[_i].cpus_milli;
	alloc_add(&alloc, 1);
	ck_assert_msg(cluster_has_room(cluster, &job, &alloc, CROWD_SHARES) ==
	                  room_cases[_i].shares,
	              "shares: %s", room_cases[_i].what);
	ck_assert_msg(cluster_has_room(cluster, &job, &alloc, CROWD_PACKED) ==
	                  room_cases[_i].packed,
	              "packed: %s", room_cases[_i].what);
	alloc_clear(&alloc);
}
END_TEST

/* How much of an idle machine 0 (4 GPUs of 1000 MiB, 8 CPUs, 100 MiB) a job could take. */
static const struct {
	const char *what;
	guint32 num_gpus, gpus_per_worker, share_milli, gpu_mem_mib, cpus_milli;
	guint64 mem_mib, types;
	guint room;
} machine_room_cases[] = {
	{ "nothing else", 8, 0, 1000, 0, 0, 0, GPU_TYPE_ANY, 4 },
	{ "another type", 8, 0, 1000, 0, 0, 0, 2, 0 },
	{ "GPU memory", 8, 0, 1000, 1000, 0, 0, 1, 4 },
	{ "too much GPU memory", 8, 0, 1000, 1001, 0, 0, 1, 0 },
	{ "2.6 CPUs each", 5, 0, 1000, 0, 13000, 0, 1, 3 },
	{ "2 CPUs each", 4, 0, 1000, 0, 8000, 0, 1, 4 },
	{ "34 MiB each", 3, 0, 1000, 0, 0, 102, 1, 2 },
	{ "33.3 MiB each", 3, 0, 1000, 0, 0, 100, 1, 3 },
	{ "workers of three", 6, 3, 1000, 0, 0, 0, 1, 3 },
	{ "workers of five", 5, 5, 1000, 0, 0, 0, 1, 0 },
	{ "a share", 1, 0, 250, 0, 0, 0, 1, 4 },
};

START_TEST(counts_machine_room)
{
	g_autoptr(ClusterSpec) spec = layered_spec();
	g_autoptr(Cluster) cluster = cluster_new(spec);
	Job job = plain_job(1, machine_room_cases[_i].num_gpus);

	job.gpus_per_worker = machine_room_cases[_i].gpus_per_worker;
	job.workers = job.gpus_per_worker > 0 ? job.num_gpus / job.gpus_per_worker : 0;
	job.share_milli = machine_room_cases[_i].share_milli;
	job.gpu_mem_mib = machine_room_cases[_i].gpu_mem_mib;
	job.cpus_milli = machine_room_cases[_i].cpus_milli;
	job.mem_mib = machine_room_cases[_i].mem_mib;
	job.gpu_types = machine_room_cases[_i].types;
	ck_assert_msg(cluster_machine_room(cluster, 0, &job) == machine_room_cases[_i].room, "%s",
	              machine_room_cases[_i].what);
}
END_TEST

/* Two halves on a GPU count it once, two packed jobs too (A27, A83). */
START_TEST(counts_a_shared_gpu_once)
{
	g_autoptr(ClusterSpec) spec = cluster_spec_load("1x2", NULL);
	g_autoptr(Cluster) cluster = cluster_new(spec);
	Job half = plain_job(7, 1), whole = plain_job(3, 1);
	Alloc alloc;

	half.share_milli = 500;
	alloc_init(&alloc);
	alloc_add(&alloc, 1);
	cluster_take(cluster, &half, &alloc);
	ck_assert_uint_eq(cluster->held_milli, 500);
	ck_assert_uint_eq(cluster->n_free, 1);
	cluster_take(cluster, &whole, &alloc);
	ck_assert_uint_eq(cluster->held_milli, 1000);
	ck_assert_uint_eq(cluster->gpus[1].held_milli, 1500);
	ck_assert_uint_eq(cluster_next_resident(cluster, 1, JOB_NONE), 3);
	ck_assert_uint_eq(cluster_next_resident(cluster, 1, 3), 7);
	ck_assert_uint_eq(cluster_next_resident(cluster, 1, 7), JOB_NONE);
	ck_assert_uint_eq(cluster_next_resident(cluster, 0, JOB_NONE), JOB_NONE);
	cluster_give(cluster, &half, &alloc);
	ck_assert_uint_eq(cluster->held_milli, 1000);
	ck_assert_uint_eq(cluster_next_resident(cluster, 1, JOB_NONE), 3);
	ck_assert_uint_eq(cluster_next_resident(cluster, 1, 3), JOB_NONE);
	cluster_give(cluster, &whole, &alloc);
	ck_assert_uint_eq(cluster->held_milli, 0);
	ck_assert_uint_eq(cluster->n_free, 2);
	alloc_clear(&alloc);
}
END_TEST

/* cluster_check() is what --paranoid trusts, so it must see every kind of fault. */
START_TEST(check_finds_faults)
{
	static const char *const wanted[] = {
		"GPU 1 has 0 residents, 1 are counted",
		"GPU 2 has 0 residents and a wrong free bit",
		"GPU 3 has 0 residents that hold 7 thousandths",
		"machine 1 has 4 free GPUs, 3 are counted",
		"machine 0 has 4 free GPUs, and its bit for 2 is wrong",
		"machines in bucket 4: 4 found, 9 are kept",
		"free GPUs of rack 2: 3 found, 9 are kept",
		"free GPUs of type 0: 16 found, 9 are kept",
		"free GPUs of cluster 0: 19 found, 9 are kept",
		"thousandths held in cluster 0: 0 found, 9 are kept",
		"GPUs with several jobs in cluster 0: 0 found, 1 are kept",
	};
	g_autoptr(ClusterSpec) spec = layered_spec();

	for (guint i = 0; i < G_N_ELEMENTS(wanted); i++) {
		g_autoptr(Cluster) cluster = cluster_new(spec);
		g_autofree char *fault = NULL;

		ck_assert_ptr_null(cluster_check(cluster));
		cluster->gpus[1].n_residents += i == 0;
		cluster->free_bits[0] ^= i == 1 ? 1 << 2 : 0;
		cluster->gpus[3].held_milli += i == 2 ? 7 : 0;
		cluster->machines[1].n_free -= i == 3;
		cluster->buckets[2] ^= i == 4;
		cluster->n_in_bucket[4] = i == 5 ? 9 : cluster->n_in_bucket[4];
		cluster->free_by_rack[2] = i == 6 ? 9 : cluster->free_by_rack[2];
		cluster->free_by_type[0] = i == 7 ? 9 : cluster->free_by_type[0];
		cluster->n_free = i == 8 ? 9 : cluster->n_free;
		cluster->held_milli += i == 9 ? 9 : 0;
		if (i == 10)
			g_hash_table_insert(cluster->crowds, GUINT_TO_POINTER(9),
			                    g_array_new(FALSE, FALSE, sizeof(JobId)));
		fault = cluster_check(cluster);
		ck_assert_ptr_nonnull(fault);
		ck_assert_str_eq(fault, wanted[i]);
	}
}
END_TEST

/* a long random life beside a model of it that recounts everything each time */

#define N_JOBS  40
#define N_STEPS 20000

typedef struct Life {
	const ClusterSpec *spec;
	Cluster *cluster;
	Job jobs[N_JOBS];
	Alloc allocs[N_JOBS]; /* empty for a job that holds nothing */
	RngStream stream;
	guint64 n_draws;
} Life;

static guint
life_draw(Life *life, guint n)
{
	return (guint)rng_below(life->stream, 0, life->n_draws++, n);
}

static void
life_init(Life *life, const ClusterSpec *spec)
{
	life->spec = spec;
	life->cluster = cluster_new(spec);
	life->stream = rng_stream(1, "test");
	life->n_draws = 0;
	for (guint i = 0; i < N_JOBS; i++) {
		Job *job = &life->jobs[i];

		*job = plain_job(i, 1 + life_draw(life, 9));
		if (life_draw(life, 3) == 0) {
			*job = plain_job(i, 1);
			job->share_milli = 1 + life_draw(life, 1000);
		}
		job->gpu_mem_mib = life_draw(life, 2) ? life_draw(life, 700) : 0;
		job->cpus_milli = life_draw(life, 2) ? life_draw(life, 9000) : 0;
		job->mem_mib = life_draw(life, 2) ? life_draw(life, 60) : 0;
		alloc_init(&life->allocs[i]);
	}
}

static void
life_clear(Life *life)
{
	for (guint i = 0; i < N_JOBS; i++)
		alloc_clear(&life->allocs[i]);
	cluster_free(life->cluster);
}

/* The GPUs of @alloc in the machine. */
static guint
n_in_machine(const Life *life, const Alloc *alloc, guint32 machine)
{
	guint n = 0;

	for (guint i = 0; i < alloc->n; i++)
		n += life->spec->machine_of[alloc->gpus[i]] == machine;
	return n;
}

static guint64
rounded_part(guint64 whole, guint n, guint num_gpus)
{
	return (whole * n + num_gpus - 1) / num_gpus;
}

static gboolean
model_machine_has_room(const Life *life, const Job *job, guint32 machine, guint n)
{
	const Machine *spec = &life->spec->machines[machine];
	guint64 cpus_milli = rounded_part(job->cpus_milli, n, job->num_gpus);
	guint64 mem_mib = rounded_part(job->mem_mib, n, job->num_gpus);

	for (guint i = 0; i < N_JOBS; i++) {
		const Job *other = &life->jobs[i];
		guint n_other = n_in_machine(life, &life->allocs[i], machine);

		cpus_milli += rounded_part(other->cpus_milli, n_other, other->num_gpus);
		mem_mib += rounded_part(other->mem_mib, n_other, other->num_gpus);
	}
	return (spec->cpus_milli == 0 || cpus_milli <= spec->cpus_milli) &&
	       (spec->mem_mib == 0 || mem_mib <= spec->mem_mib);
}

static gboolean
model_gpu_has_room(const Life *life, const Job *job, guint32 gpu, CrowdRule rule)
{
	guint32 limit_mib =
	    life->spec->types[life->spec->machines[life->spec->machine_of[gpu]].type].mem_mib;
	guint share_milli = job->share_milli, mem_mib = job->gpu_mem_mib;

	for (guint i = 0; i < N_JOBS; i++) {
		if (!alloc_has(&life->allocs[i], gpu))
			continue;
		share_milli += life->jobs[i].share_milli;
		mem_mib += life->jobs[i].gpu_mem_mib;
	}
	return (limit_mib == 0 || mem_mib <= limit_mib) &&
	       (rule == CROWD_PACKED || share_milli <= GPU_MILLI);
}

static gboolean
model_has_room(const Life *life, const Job *job, const Alloc *alloc, CrowdRule rule)
{
	for (guint i = 0; i < alloc->n; i++)
		if (!model_gpu_has_room(life, job, alloc->gpus[i], rule))
			return FALSE;
	for (guint32 i = 0; i < life->spec->n_machines; i++) {
		guint n = n_in_machine(life, alloc, i);

		if (n > 0 && !model_machine_has_room(life, job, i, n))
			return FALSE;
	}
	return TRUE;
}

static gboolean
model_is_free(const Life *life, guint32 gpu)
{
	for (guint i = 0; i < N_JOBS; i++)
		if (alloc_has(&life->allocs[i], gpu))
			return FALSE;
	return TRUE;
}

static guint
model_machine_free(const Life *life, guint32 machine)
{
	const Machine *spec = &life->spec->machines[machine];
	guint n = 0;

	for (guint i = 0; i < spec->n_gpus; i++)
		n += model_is_free(life, spec->first_gpu + i);
	return n;
}

/* Whole GPUs: the free ones, as far as CPUs and memory reach; shares: GPUs with room. */
static guint
model_machine_room(const Life *life, guint32 machine, const Job *job)
{
	const Machine *spec = &life->spec->machines[machine];
	guint n = 0;

	for (guint i = 0; i < spec->n_gpus; i++)
		n += model_gpu_has_room(life, job, spec->first_gpu + i, CROWD_SHARES);
	while (n > 0 && !model_machine_has_room(life, job, machine, n))
		n--;
	return n;
}

static guint32
model_machine_with(const Life *life, guint type, guint n_free, guint32 from)
{
	for (guint32 i = from; i < life->spec->n_machines; i++)
		if (life->spec->machines[i].type == type && model_machine_free(life, i) == n_free)
			return i;
	return G_MAXUINT32;
}

static void
life_compare_gpus(const Life *life)
{
	guint32 next = life->spec->n_gpus;
	guint64 held_milli = 0;

	for (guint32 gpu = life->spec->n_gpus; gpu-- > 0;) {
		guint64 gpu_milli = 0;
		JobId resident = cluster_next_resident(life->cluster, gpu, JOB_NONE);

		for (guint i = 0; i < N_JOBS; i++) {
			if (!alloc_has(&life->allocs[i], gpu))
				continue;
			ck_assert_uint_eq(resident, i);
			resident = cluster_next_resident(life->cluster, gpu, i);
			gpu_milli += life->jobs[i].share_milli;
		}
		ck_assert_uint_eq(resident, JOB_NONE);
		held_milli += MIN(gpu_milli, GPU_MILLI);
		next = gpu_milli == 0 ? gpu : next;
		ck_assert_int_eq(cluster_gpu_is_free(life->cluster, gpu), gpu_milli == 0);
		ck_assert_uint_eq(cluster_next_free(life->cluster, gpu, life->spec->n_gpus), next);
	}
	ck_assert_uint_eq(life->cluster->held_milli, held_milli);
}

static void
life_compare_machines(Life *life)
{
	const Job *job = &life->jobs[life_draw(life, N_JOBS)];
	guint32 from = life_draw(life, life->spec->n_machines);
	guint n_free = life_draw(life, 6), type = life_draw(life, life->spec->n_types);

	for (guint32 i = 0; i < life->spec->n_machines; i++) {
		ck_assert_uint_eq(life->cluster->machines[i].n_free, model_machine_free(life, i));
		ck_assert_uint_eq(cluster_machine_room(life->cluster, i, job),
		                  model_machine_room(life, i, job));
	}
	ck_assert_uint_eq(cluster_machine_with(life->cluster, type, n_free, from),
	                  model_machine_with(life, type, n_free, from));
}

/* A random set, mostly of neighbours. */
static void
life_choose(Life *life, guint n, Alloc *ret_alloc)
{
	guint32 gpu = life_draw(life, life->spec->n_gpus);

	alloc_reset(ret_alloc);
	while (ret_alloc->n < n) {
		if (!alloc_has(ret_alloc, gpu))
			alloc_add(ret_alloc, gpu);
		gpu = (gpu + 1 + (life_draw(life, 4) == 0 ? life_draw(life, 30) : 0)) %
		      life->spec->n_gpus;
	}
}

/* One job takes what it may, or gives what it has; whether it took. */
static gboolean
life_step(Life *life)
{
	guint index = life_draw(life, N_JOBS);
	CrowdRule rule = life_draw(life, 4) == 0 ? CROWD_PACKED : CROWD_SHARES;
	const Job *job = &life->jobs[index];
	Alloc alloc;
	gboolean has_room;

	if (life->allocs[index].n > 0) {
		cluster_give(life->cluster, job, &life->allocs[index]);
		alloc_reset(&life->allocs[index]);
		return FALSE;
	}
	alloc_init(&alloc);
	life_choose(life, job->num_gpus, &alloc);
	has_room = model_has_room(life, job, &alloc, rule);
	ck_assert_int_eq(cluster_has_room(life->cluster, job, &alloc, rule), has_room);
	if (has_room) {
		cluster_take(life->cluster, job, &alloc);
		alloc_copy(&life->allocs[index], &alloc);
	}
	alloc_clear(&alloc);
	return has_room;
}

START_TEST(agrees_with_a_recount)
{
	g_autoptr(ClusterSpec) spec =
	    load_text("gpu_types: {a: {mem_mib: 1000}, b: {}}\n"
	              "racks: [{count: 3, machines: [{count: 2, gpus: 4, gpu_type: a, cpus: 8, "
	              "mem_mib: 100}, {gpus: 2, gpu_type: b}]}]\n"
	              "machines: [{gpus: 41, gpu_type: b}, {count: 60, gpus: 1, gpu_type: a}]\n",
	              NULL);
	Life life;
	guint n_taken = 0;

	life_init(&life, spec);
	for (guint i = 0; i < N_STEPS; i++) {
		g_autofree char *fault = NULL;

		n_taken += life_step(&life);
		if (i % 16 != 0)
			continue;
		fault = cluster_check(life.cluster);
		ck_assert_msg(!fault, "step %u: %s", i, fault);
		life_compare_gpus(&life);
		life_compare_machines(&life);
	}
	ck_assert_uint_gt(n_taken, N_STEPS / 5);
	for (guint i = 0; i < N_JOBS; i++)
		cluster_give(life.cluster, &life.jobs[i], &life.allocs[i]);
	ck_assert_uint_eq(life.cluster->n_free, spec->n_gpus);
	ck_assert_uint_eq(life.cluster->held_milli, 0);
	ck_assert_ptr_null(cluster_check(life.cluster));
	life_clear(&life);
}
END_TEST

static Suite *
cluster_suite(void)
{
	Suite *suite = suite_create("cluster");
	TCase *tests = tcase_create("cluster");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, alloc_is_ascending);
	tcase_add_test(tests, alloc_range_goes_around_what_is_there);
	tcase_add_loop_test(tests, reads_shorthand, 0, G_N_ELEMENTS(shorthands));
	tcase_add_loop_test(tests, refuses_shorthand, 0, G_N_ELEMENTS(bad_shorthands));
	tcase_add_test(tests, refuses_too_large_shorthand);
	tcase_add_test(tests, limits_types);
	tcase_add_test(tests, reads_file);
	tcase_add_test(tests, numbers_in_file_order);
	tcase_add_loop_test(tests, refuses_file, 0, G_N_ELEMENTS(bad_files));
	tcase_add_test(tests, refuses_missing_file);
	tcase_add_loop_test(tests, finds_level, 0, G_N_ELEMENTS(level_cases));
	tcase_add_loop_test(tests, finds_types, 0, G_N_ELEMENTS(type_cases));
	tcase_add_test(tests, unused_type_is_lacking);
	tcase_add_loop_test(tests, judges_allocs, 0, G_N_ELEMENTS(sane_cases));
	tcase_add_loop_test(tests, judges_room, 0, G_N_ELEMENTS(room_cases));
	tcase_add_loop_test(tests, counts_machine_room, 0, G_N_ELEMENTS(machine_room_cases));
	tcase_add_test(tests, counts_a_shared_gpu_once);
	tcase_add_test(tests, check_finds_faults);
	tcase_add_test(tests, agrees_with_a_recount);
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(cluster_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
