/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <glib/gstdio.h>

#include "sim/base/error.h"
#include "sim/model/scenario.h"

#define MODELS "traces/models.yaml"

/* Loads @text as a file; the file's name is MODELS in the message of the error. */
static ModelTable *
load_text(const char *text, GError **error)
{
	g_autofree char *path = NULL;
	ModelTable *table;
	int file = g_file_open_tmp("models-XXXXXX.yaml", &path, NULL);

	ck_assert_int_ge(file, 0);
	g_close(file, NULL);
	ck_assert(g_file_set_contents(path, text, -1, NULL));
	table = model_table_load(path, error);
	g_unlink(path);
	if (!table && error) {
		g_auto(GStrv) parts = g_strsplit((*error)->message, path, -1);

		g_free((*error)->message);
		(*error)->message = g_strjoinv("MODELS", parts);
	}
	return table;
}

static ModelTable *
example_table(void)
{
	ModelTable *table =
	    load_text("models:\n"
	              "  plain: {}\n"
	              "  net:\n"
	              "    slowdown: {slot: 1, machine: 1.1, rack: 1.3, cluster: 3}\n"
	              "    throughput: {v100: 1, p100: 0.6, k80: 0, a100: 2.5}\n"
	              "    scaling: [1, 1.9, 2.7, 3.4]\n"
	              "    packed: {net: 0.81, Plain: 0.9}\n"
	              "    utilisation: 0.75\n"
	              "    gpu_mem_mib: 900\n"
	              "    skew: 0.743\n"
	              "    overheads: {start_s: 1.5, resume_s: 30}\n"
	              "  odd_name-1: {slowdown: {rack: 2}}\n",
	              NULL);

	ck_assert_ptr_nonnull(table);
	return table;
}

START_TEST(reads_file)
{
	g_autoptr(ModelTable) table = example_table();
	const ModelSpec *net = &table->models[1], *odd = &table->models[2];

	ck_assert_uint_eq(table->n, 3);
	ck_assert_uint_eq(strlen(table->sha256), 64);
	ck_assert_str_eq(net->name, "net");
	ck_assert_int_eq(net->slowdown_ppb[LEVEL_MACHINE], 1100000000);
	ck_assert_int_eq(net->slowdown_ppb[LEVEL_CLUSTER], 3000000000);
	ck_assert_int_eq(odd->slowdown_ppb[LEVEL_MACHINE], SPEED_ONE_PPB);
	ck_assert_int_eq(odd->slowdown_ppb[LEVEL_CLUSTER], 2000000000);
	ck_assert_uint_eq(net->types->len, 4);
	ck_assert_uint_eq(net->scaling->len, 4);
	ck_assert_int_eq(g_array_index(net->scaling, gint64, 1), 1900000000);
	ck_assert_int_eq(net->utilisation_ppb, 750000000);
	ck_assert_uint_eq(net->gpu_mem_mib, 900);
	ck_assert_double_eq(net->skew, 0.743);
	ck_assert(net->has_overheads && !odd->has_overheads);
	ck_assert_int_eq(net->start_ns, 1500000000);
	ck_assert_int_eq(net->suspend_ns, 0);
	ck_assert_int_eq(net->resume_ns, 30 * NS_PER_S);
}
END_TEST

static const struct {
	const char *name;
	guint32 index;
} name_cases[] = {
	{ "plain", 0 },         { "PLAIN", 0 },
	{ "net", 1 },           { "ne", MODEL_NONE },
	{ "nets", MODEL_NONE }, { "", MODEL_NONE },
	{ "odd_name-1", 2 },    { "Odd Name_1", 2 },
	{ "oddname1", 2 },      { "odd name 2", MODEL_NONE },
	{ "-", MODEL_NONE },
};

START_TEST(finds_name)
{
	g_autoptr(ModelTable) table = example_table();

	ck_assert_uint_eq(model_table_find(table, name_cases[_i].name), name_cases[_i].index);
}
END_TEST

static const struct {
	const char *text, *message;
} bad_files[] = {
	{ "model: {}\n", "MODELS:1:1: found the unknown key \"model\", wanted perhaps \"models\"" },
	{ "models: [a]\n",
	  "MODELS:1:9: found no mapping for models, wanted one from names to models" },
	{ "models: {a: 1}\n", "MODELS:1:13: found \"1\", wanted a mapping of keys to values" },
	{ "models: {a: {slow: 1}}\n",
	  "MODELS:1:14: found the unknown key \"slow\", wanted perhaps \"slowdown\"" },
	{ "models: {a-b: {}, A_B: {}}\n", "MODELS:1:19: found the model \"A_B\" again, wanted it "
	                                  "once (case, spaces, '-' and '_' do "
	                                  "not matter)" },
	{ "models: {a: {slowdown: {slot: 0.9}}}\n",
	  "MODELS:1:31: found \"0.9\" for slot, wanted a number from 1 to 1000000" },
	{ "models: {a: {slowdown: {rack: 1.3, cluster: 1.2}}}\n",
	  "MODELS:1:45: found a slowdown for cluster below that of the level before, wanted at "
	  "least that" },
	{ "models: {a: {slowdown: {racks: 1.3}}}\n",
	  "MODELS:1:25: found the unknown key \"racks\", wanted perhaps \"rack\"" },
	{ "models: {a: {throughput: {v100: -1}}}\n",
	  "MODELS:1:33: found \"-1\" for v100, wanted a number from 0 to 1000000" },
	{ "models: {a: {throughput: {v100: 1, V100: 2}}}\n",
	  "MODELS:1:36: found the GPU type \"V100\" again, wanted it once (case does not matter)" },
	{ "models: {a: {throughput: 2}}\n",
	  "MODELS:1:26: found no mapping for throughput, wanted one from GPU types to numbers" },
	{ "models: {a: {scaling: 2}}\n",
	  "MODELS:1:23: found no list for scaling, wanted the speed of 1, 2, 3, ... GPUs" },
	{ "models: {a: {scaling: [1, 1.9, 1.8]}}\n", "MODELS:1:32: found \"1.8\" as the speed of 3 "
	                                             "GPUs, wanted a number from 0.001 to 16777216 "
	                                             "not below the one before" },
	{ "models: {a: {scaling: [0]}}\n",
	  "MODELS:1:24: found \"0\" as the speed of 1 GPUs, wanted a number from 0.001 to 16777216 "
	  "not below the one before" },
	{ "models: {a: {packed: {b: 0.9}}}\n",
	  "MODELS:1:23: found the unknown model \"b\", wanted one of this file" },
	{ "models: {a: {packed: {a: 1.1}}}\n",
	  "MODELS:1:26: found \"1.1\" for a, wanted a number from 0.000000001 to 1" },
	{ "models: {a: {utilisation: 0}}\n",
	  "MODELS:1:27: found \"0\" for utilisation, wanted a number from 0.000000001 to 1" },
	{ "models: {a: {skew: 74}}\n",
	  "MODELS:1:20: found \"74\" for skew, wanted a number from 0 to 1" },
	{ "models: {a: {gpu_mem_mib: 1.5}}\n", "MODELS:1:27: found \"1.5\" for gpu_mem_mib, wanted "
	                                       "a whole number from 1 to 4294967295" },
	{ "models: {a: {overheads: {start: 5}}}\n",
	  "MODELS:1:26: found the unknown key \"start\", wanted perhaps \"start_s\"" },
};

START_TEST(refuses_file)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(load_text(bad_files[_i].text, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_INPUT));
	ck_assert_str_eq(error->message, bad_files[_i].message);
}
END_TEST

START_TEST(empty_file_is_an_empty_table)
{
	g_autoptr(ModelTable) table = load_text("", NULL);

	ck_assert_uint_eq(table->n, 0);
	ck_assert_uint_eq(model_table_find(table, "vgg16"), MODEL_NONE);
}
END_TEST

/* factors */

static Job
job_of(guint32 model, guint32 num_gpus, const char *gpu_type)
{
	return (Job){
		.num_gpus = num_gpus,
		.min_gpus = 1,
		.max_gpus = 16,
		.share_milli = GPU_MILLI,
		.gpu_types = GPU_TYPE_ANY,
		.model = model,
		.gpu_type_name = gpu_type,
		.model_name = "",
	};
}

static const struct {
	guint32 model, num_gpus, n_gpus;
	gint64 ppb;
} scaling_cases[] = {
	{ MODEL_NONE, 4, 4, 1000000000 }, { MODEL_NONE, 3, 1, 333333333 },
	{ MODEL_NONE, 3, 8, 2666666666 }, { MODEL_NONE, 0, 0, 1000000000 },
	{ 0, 3, 2, 666666666 },                                    /* no curve: linear */
	{ 1, 2, 2, 1000000000 },          { 1, 2, 1, 526315789 },  /* 1 / 1.9 */
	{ 1, 1, 4, 3400000000 },          { 1, 2, 4, 1789473684 }, /* 3.4 / 1.9 */
	{ 1, 1, 8, 6800000000 }, /* beyond the curve: 3.4 x 8 / 4 */
	{ 1, 8, 2, 279411764 },  /* 1.9 / 6.8 */
	{ 1, 16, 8, 500000000 },          { MODEL_NONE, 4294967294, 1, 1 }, /* never 0 */
};

START_TEST(scales)
{
	g_autoptr(ModelTable) table = example_table();
	Job job = job_of(scaling_cases[_i].model, scaling_cases[_i].num_gpus, "");

	ck_assert_int_eq(speed_scaling_ppb(table, &job, scaling_cases[_i].n_gpus),
	                 scaling_cases[_i].ppb);
}
END_TEST

static const struct {
	guint32 model;
	PlacementLevel level;
	gint64 ppb;
} placement_cases[] = {
	{ MODEL_NONE, LEVEL_CLUSTER, 1000000000 }, /* A86 */
	{ 0, LEVEL_CLUSTER, 1000000000 },          { 1, LEVEL_SLOT, 1000000000 },
	{ 1, LEVEL_MACHINE, 909090909 },           { 1, LEVEL_RACK, 769230769 },
	{ 1, LEVEL_CLUSTER, 333333333 },
};

START_TEST(slows_down)
{
	g_autoptr(ModelTable) table = example_table();

	ck_assert_int_eq(
	    speed_placement_ppb(table, placement_cases[_i].model, placement_cases[_i].level),
	    placement_cases[_i].ppb);
}
END_TEST

/* The cluster has the types V100, p100, k80, a100 and t4, numbered so. */
#define CLUSTER "1x4:V100,1x4:p100,1x4:k80,1x4:a100,1x4:t4"

static const struct {
	guint32 model;
	const char *gpu_type;
	guint type;
	gint64 ppb;
} type_cases[] = {
	{ MODEL_NONE, "k80", 2, 1000000000 },
	{ 0, "v100", 2, 1000000000 },
	{ 1, "", 0, 1000000000 },
	{ 1, "", 1, 600000000 },
	{ 1, "", 2, 0 },
	{ 1, "", 3, 2500000000 },
	{ 1, "", 4, 1000000000 },     /* not in the model's table */
	{ 1, "P100", 1, 1000000000 }, /* measured there */
	{ 1, "p100", 0, 1666666666 },
	{ 1, " p100 |v100", 3, 4166666666 }, /* the first name counts */
	{ 1, "a100|p100", 1, 240000000 },
	{ 1, "h100|p100", 1, 600000000 }, /* the first name is not in the table */
	{ 1, "k80", 0, 1000000000 },      /* cannot have been measured there */
	{ 1, "k80", 2, 0 },
};

START_TEST(minds_the_type)
{
	g_autoptr(ModelTable) table = example_table();
	g_autoptr(ClusterSpec) spec = cluster_spec_load(CLUSTER, NULL);
	Job job = job_of(type_cases[_i].model, 1, type_cases[_i].gpu_type);

	ck_assert_int_eq(speed_type_ppb(table, spec, &job, type_cases[_i].type),
	                 type_cases[_i].ppb);
}
END_TEST

START_TEST(knows_packed_speeds)
{
	g_autoptr(ModelTable) table = example_table();

	ck_assert_int_eq(speed_packed_ppb(table, 1, 1), 810000000);
	ck_assert_int_eq(speed_packed_ppb(table, 1, 0), 900000000);
	ck_assert_int_eq(speed_packed_ppb(table, 0, 1), 1000000000);
	ck_assert_int_eq(speed_packed_ppb(table, MODEL_NONE, 1), 1000000000);
	ck_assert(speed_packed_is_known(table, 1, 0) && !speed_packed_is_known(table, 0, 1));
	ck_assert(!speed_packed_is_known(table, 1, MODEL_NONE));
	ck_assert(!speed_packed_is_known(table, MODEL_NONE, 1));
}
END_TEST

/* The product, over GPUs from @first on. */
static const struct {
	guint32 model, num_gpus, first, n;
	gint64 ppb;
} alone_cases[] = {
	{ MODEL_NONE, 4, 0, 4, 1000000000 },
	{ MODEL_NONE, 4, 0, 2, 500000000 },
	{ 1, 4, 0, 4, 1000000000 },
	{ 1, 2, 4, 4, 1073684210 }, /* 1.789473684 x 0.6, rounded down */
	{ 1, 2, 7, 2, 199999999 },  /* the type of the first: 0.6 x 0.333333333 */
	{ 1, 4, 8, 4, 0 },          /* k80 */
};

START_TEST(multiplies)
{
	g_autoptr(ModelTable) table = example_table();
	g_autoptr(ClusterSpec) spec = cluster_spec_load(CLUSTER, NULL);
	Job job = job_of(alone_cases[_i].model, alone_cases[_i].num_gpus, "");
	Alloc alloc;

	alloc_init(&alloc);
	alloc_add_range(&alloc, alone_cases[_i].first, alone_cases[_i].n);
	ck_assert_int_eq(speed_alone_ppb(table, spec, &job, &alloc), alone_cases[_i].ppb);
	alloc_clear(&alloc);
}
END_TEST

START_TEST(takes_overheads_from_the_model)
{
	static const Overheads run = { 1, 2, 3, 4, 5 };
	g_autoptr(ModelTable) table = example_table();
	Job job = job_of(MODEL_NONE, 1, "");
	Overheads overheads = overheads_of(&run, table, &job);

	ck_assert_mem_eq(&overheads, &run, sizeof(run));
	job.model = 0;
	overheads = overheads_of(&run, table, &job);
	ck_assert_mem_eq(&overheads, &run, sizeof(run));
	job.model = 1;
	overheads = overheads_of(&run, table, &job);
	ck_assert_int_eq(overheads.start_ns, 1500000000);
	ck_assert_int_eq(overheads.suspend_ns, 0);
	ck_assert_int_eq(overheads.resume_ns, 30 * NS_PER_S);
	ck_assert_int_eq(overheads.migrate_ns, 0);
	ck_assert_int_eq(overheads.checkpoint_every_ns, 5);
}
END_TEST

/* scenario */

static const struct {
	const char *model, *gpu_type;
	guint32 gpu_mem_mib, model_wanted;
	guint64 types_wanted;
	guint32 gpu_mem_wanted_mib;
} resolve_cases[] = {
	{ "", "", 0, MODEL_NONE, GPU_TYPE_ANY, 0 },
	{ "mystery", "v100", 0, MODEL_NONE, 1, 0 },
	{ "Plain", "p100|v100", 7, 0, 3, 7 },
	{ "net", "", 0, 1, 0x1b, 900 }, /* all five but the k80 */
	{ "net", "k80|t4", 500, 1, 0x10, 500 },
	{ "net", "k80", 0, 1, 0, 900 },
	{ "plain", "k80", 0, 0, 4, 0 },
	{ "", "h100", 0, MODEL_NONE, 0, 0 },
	{ "", "h100|", 0, MODEL_NONE, GPU_TYPE_ANY, 0 },
};

START_TEST(resolves_names)
{
	g_autoptr(ModelTable) table = example_table();
	g_autoptr(ClusterSpec) spec = cluster_spec_load(CLUSTER, NULL);
	WorkloadBuilder *builder = workload_builder_new("t", problems_new("t"));
	g_autoptr(Workload) workload = NULL;

	for (guint i = 0; i < G_N_ELEMENTS(resolve_cases); i++) {
		g_autofree char *name = g_strdup_printf("%u", i);
		JobDraft draft;

		job_draft_init(&draft);
		draft.name = name;
		draft.num_gpus = 1;
		draft.model = resolve_cases[i].model;
		draft.gpu_type = resolve_cases[i].gpu_type;
		draft.gpu_mem_mib = resolve_cases[i].gpu_mem_mib;
		ck_assert(workload_builder_add(builder, &draft));
	}
	workload = workload_builder_finish(builder);
	scenario_resolve(workload, spec, table);
	for (guint i = 0; i < workload->n_jobs; i++) {
		ck_assert_uint_eq(workload->jobs[i].model, resolve_cases[i].model_wanted);
		ck_assert_uint_eq(workload->jobs[i].gpu_types, resolve_cases[i].types_wanted);
		ck_assert_uint_eq(workload->jobs[i].gpu_mem_mib,
		                  resolve_cases[i].gpu_mem_wanted_mib);
	}
}
END_TEST

/* the published values */

static const struct {
	const char *model;
	gint64 rack_ppb, cluster_ppb; /* speeds */
} published[] = {
	{ "unknown", 909090909, 769230769 },     { "VGG-16", 720000000, 520000000 },
	{ "vgg19", 700000000, 500000000 },       { "alexnet", 800000000, 640000000 },
	{ "resnet50", 980000000, 960000000 },    { "lm", 769230769, 625000000 },
	{ "Bi-Att-Flow", 980392156, 952380952 },
};

START_TEST(ships_published_values)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(ModelTable) table = model_table_load(MODELS, &error);
	guint32 model;

	ck_assert_msg(table != NULL, "%s", error ? error->message : "");
	model = model_table_find(table, published[_i].model);
	ck_assert_uint_ne(model, MODEL_NONE);
	ck_assert_int_eq(speed_placement_ppb(table, model, LEVEL_RACK), published[_i].rack_ppb);
	ck_assert_int_eq(speed_placement_ppb(table, model, LEVEL_CLUSTER),
	                 published[_i].cluster_ppb);
}
END_TEST

START_TEST(ships_packed_speeds)
{
	g_autoptr(ModelTable) table = model_table_load(MODELS, NULL);
	guint32 lm = model_table_find(table, "lm"), gnmt = model_table_find(table, "gnmt");
	guint32 resnet50 = model_table_find(table, "resnet50");

	ck_assert_int_eq(speed_packed_ppb(table, lm, lm), 810000000);
	ck_assert_int_eq(speed_packed_ppb(table, lm, gnmt), 900000000);
	ck_assert_int_eq(speed_packed_ppb(table, gnmt, lm), 950000000);
	ck_assert_int_eq(speed_packed_ppb(table, lm, resnet50), 990000000);
	ck_assert(speed_packed_is_known(table, resnet50, lm));
	ck_assert(!speed_packed_is_known(table, gnmt, resnet50));
}
END_TEST

static Suite *
speed_suite(void)
{
	Suite *suite = suite_create("speed");
	TCase *tests = tcase_create("speed");

	tcase_add_test(tests, reads_file);
	tcase_add_loop_test(tests, finds_name, 0, G_N_ELEMENTS(name_cases));
	tcase_add_loop_test(tests, refuses_file, 0, G_N_ELEMENTS(bad_files));
	tcase_add_test(tests, empty_file_is_an_empty_table);
	tcase_add_loop_test(tests, scales, 0, G_N_ELEMENTS(scaling_cases));
	tcase_add_loop_test(tests, slows_down, 0, G_N_ELEMENTS(placement_cases));
	tcase_add_loop_test(tests, minds_the_type, 0, G_N_ELEMENTS(type_cases));
	tcase_add_test(tests, knows_packed_speeds);
	tcase_add_loop_test(tests, multiplies, 0, G_N_ELEMENTS(alone_cases));
	tcase_add_test(tests, takes_overheads_from_the_model);
	tcase_add_test(tests, resolves_names);
	tcase_add_loop_test(tests, ships_published_values, 0, G_N_ELEMENTS(published));
	tcase_add_test(tests, ships_packed_speeds);
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(speed_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
