/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <glib/gstdio.h>

#include "sim/base/error.h"
#include "sim/cli/config.h"

/* A run file of its own for every test. */
static char *folder;
static char *run_file;

static void
set_up(void)
{
	folder = g_dir_make_tmp("themis-config-XXXXXX", NULL);
	ck_assert_ptr_nonnull(folder);
	run_file = g_build_filename(folder, "run.yaml", NULL);
}

static void
tear_down(void)
{
	g_unlink(run_file);
	g_rmdir(folder);
	g_clear_pointer(&run_file, g_free);
	g_clear_pointer(&folder, g_free);
}

static gboolean
read_yaml(RunConfig *config, const char *text, GError **error)
{
	ck_assert(g_file_set_contents(run_file, text, -1, NULL));
	return run_config_read(config, run_file, error);
}

static RunConfig *
config_of(const char *text)
{
	RunConfig *config = run_config_new();
	g_autoptr(GError) error = NULL;
	gboolean is_good = read_yaml(config, text, &error);

	ck_assert_msg(is_good, "%s", error ? error->message : "");
	return config;
}

static char *
options_of(const RunConfig *config, guint index)
{
	const PolicySpec *spec = g_ptr_array_index(config->policies, index);

	return options_to_string(spec->policy->options, spec->options);
}

static const char whole_file[] = "cluster: cluster.yaml\n"
                                 "trace: {path: trace.csv.gz, format: auto}\n"
                                 "models: /data/models.yaml\n"
                                 "policies:\n"
                                 "  - themis: {fairness_knob: 0.5, lease_s: 300}\n"
                                 "  - fifo\n"
                                 "  - {tiresias: {thresholds_gpu_s: [3600, 36000]}, label: three}\n"
                                 "  - tiresias\n"
                                 "  - srtf:\n"
                                 "seed: 7\n"
                                 "overheads: {resume_s: 30, suspend_s: 5}\n"
                                 "window: {from_s: 1.5, to_s: 86400}\n"
                                 "stop_s: 604800\n"
                                 "out: results\n"
                                 "tz: Asia/Shanghai\n"
                                 "segments: true\n"
                                 "timeline: 60\n"
                                 "allow_rejected: yes\n";

START_TEST(reads_a_file)
{
	g_autoptr(RunConfig) config = config_of(whole_file);

	ck_assert_str_eq(config->cluster.given, "cluster.yaml");
	ck_assert_str_eq(config->format.given, "auto");
	ck_assert_str_eq(config->time_zone.given, "Asia/Shanghai");
	ck_assert_uint_eq(config->seed, 7);
	ck_assert_int_eq(config->window_from_ns, 1500000000);
	ck_assert_int_eq(config->window_to_ns, 86400 * NS_PER_S);
	ck_assert_int_eq(config->stop_ns, 604800 * NS_PER_S);
	ck_assert(config->wants_segments && config->wants_timeline && config->allows_rejected);
	ck_assert(!config->wants_stream && !config->allows_unfinished && !config->is_strict);
	ck_assert_int_eq(config->timeline_every_ns, 60 * NS_PER_S);
	ck_assert(run_config_check(config, NULL));
}
END_TEST

START_TEST(sees_paths_from_the_file)
{
	g_autoptr(RunConfig) config = config_of(whole_file);
	g_autofree char *trace = g_build_filename(folder, "trace.csv.gz", NULL);
	g_autofree char *out = g_build_filename(folder, "results", NULL);

	ck_assert_str_eq(config->trace.given, "trace.csv.gz");
	ck_assert_str_eq(config->trace.path, trace);
	ck_assert_str_eq(config->models.path, "/data/models.yaml");
	ck_assert_str_eq(config->out.path, out);
	ck_assert(run_config_set(config, "trace.path=other.csv", NULL));
	ck_assert_str_eq(config->trace.path, "other.csv");
	setting_set(&config->out, "here");
	ck_assert_str_eq(config->out.path, "here");
}
END_TEST

START_TEST(knows_shorthands_from_paths)
{
	g_autoptr(RunConfig) config = config_of("cluster: 12x4:v100,6x2:p100\n");

	ck_assert_str_eq(config->cluster.path, "12x4:v100,6x2:p100");
	ck_assert_int_eq(config->cluster.code, SIM_ERROR_INPUT);
	ck_assert(run_config_set(config, "cluster=2x2", NULL));
	ck_assert_str_eq(config->cluster.path, "2x2");
	ck_assert_int_eq(config->cluster.code, SIM_ERROR_USAGE);
}
END_TEST

START_TEST(reads_policies)
{
	g_autoptr(RunConfig) config = config_of(whole_file);
	static const char *const labels[] = { "themis", "fifo", "three", "tiresias", "srtf" };
	g_autofree char *themis = options_of(config, 0);
	g_autofree char *three = options_of(config, 2);
	g_autofree char *tiresias = options_of(config, 3);

	ck_assert_uint_eq(config->policies->len, G_N_ELEMENTS(labels));
	for (guint i = 0; i < G_N_ELEMENTS(labels); i++) {
		const PolicySpec *spec = g_ptr_array_index(config->policies, i);

		ck_assert_str_eq(spec->label, labels[i]);
	}
	ck_assert(strstr(themis, "fairness_knob=0.5,lease_s=300") != NULL);
	ck_assert(strstr(three, "thresholds_gpu_s=[3600,36000]") != NULL);
	ck_assert(strstr(tiresias, "thresholds_gpu_s=3250") != NULL);
}
END_TEST

START_TEST(has_standards)
{
	g_autoptr(RunConfig) config = config_of("");
	const Overheads overheads = run_config_overheads(config, NULL);

	ck_assert_uint_eq(config->seed, 1);          /* B18 */
	ck_assert_int_eq(config->window_from_ns, 0); /* B13 */
	ck_assert_int_eq(config->window_to_ns, TIME_NEVER);
	ck_assert_int_eq(config->stop_ns, TIME_NEVER);
	ck_assert_int_eq(overheads.start_ns, 0); /* A87 */
	ck_assert_int_eq(overheads.suspend_ns, 0);
	ck_assert_int_eq(overheads.resume_ns, 0);
	ck_assert_int_eq(overheads.migrate_ns, 0);
	ck_assert_int_eq(overheads.checkpoint_every_ns, 0);
}
END_TEST

/* A38: --set wins over the file, key by key; an option of its own wins over --set. */
START_TEST(knows_who_wins)
{
	g_autoptr(RunConfig) config = config_of(whole_file);
	static const char *const texts[] = { "las:quantum_s=30", NULL };
	Overheads overheads;

	ck_assert(run_config_set(config, "overheads.resume_s=5", NULL));
	ck_assert(run_config_set(config, "seed=8", NULL));
	ck_assert(run_config_set(config, "window.from_s=20", NULL));
	ck_assert(run_config_set(config, "policies=[fifo, {srtf: {min_run_s: 3}}]", NULL));
	overheads = run_config_overheads(config, NULL);
	ck_assert_int_eq(overheads.resume_ns, 5 * NS_PER_S);
	ck_assert_int_eq(overheads.suspend_ns, 5 * NS_PER_S);
	ck_assert_int_eq(config->window_from_ns, 20 * NS_PER_S);
	ck_assert_int_eq(config->window_to_ns, 86400 * NS_PER_S);
	ck_assert_uint_eq(config->policies->len, 2);
	ck_assert(run_config_set_number(config, "--seed", "seed", "9", NULL));
	ck_assert_uint_eq(config->seed, 9);
	ck_assert(run_config_set_policies(config, texts, NULL));
	ck_assert_uint_eq(config->policies->len, 1);
}
END_TEST

typedef struct BadFile {
	const char *text;
	const char *part; /* of the message, behind the file's name */
} BadFile;

static const BadFile bad_files[] = {
	{ "sed: 1\n", ":1:1: found the unknown key \"sed\", wanted perhaps \"seed\"" },
	{ "seed: 1\ntrace: {pth: x}\n", ":2:9: found the unknown key \"pth\"" },
	{ "overheads: {resume: 3}\n", "wanted perhaps \"resume_s\"" },
	{ "seed: -1\n", ":1:7: found \"-1\" for seed" },
	{ "seed: 1.5\n", ":1:7: found \"1.5\" for seed" },
	{ "stop_s: soon\n", ":1:9: found \"soon\" for stop_s" },
	{ "strict: perhaps\n", ":1:9:" },
	{ "timeline: perhaps\n", ":1:11: found \"perhaps\" for timeline, wanted true or false" },
	{ "timeline: -5\n", ":1:11: found \"-5\" for timeline, wanted a number of seconds" },
	{ "threads: 0\n", ":1:10:" },
	{ "policies: [fifo, srft]\n",
	  ":1:18: found the unknown policy \"srft\", wanted perhaps srtf" },
	{ "policies:\n  - themis: {lease: 3}\n", ":2:14: themis: found the unknown option" },
	{ "policies:\n  - themis: {fairness_knob: 2}\n", "wanted a number from 0 to 1" },
	{ "policies:\n  - themis: 3\n", ":2:13:" },
	{ "policies:\n  - {fifo: {}, srtf: {}}\n", ":2:5: found 2 policies in one item" },
	{ "policies:\n  - {label: x}\n", ":2:5: found 0 policies in one item" },
	{ "policies:\n  - {fifo: {}, label: ../x}\n", "found the label \"../x\"" },
	{ "policies: {fifo: {}}\n", ":1:11: found no list" },
	{ "policies: [fifo, fifo]\n", ":1:18: found a second policy labelled \"fifo\"" },
	{ "policies: [[fifo]]\n", ":1:12: found no policy" },
	{ "window: {from_s: 5, to_s: 5}\n", ":1:9: found a window" },
	{ "- a\n- b\n", ":1:1: found a list" },
	{ "seed: [\n", ": " },
	{ "seed: 1\nseed: 2\n", "seed" },
};

START_TEST(refuses_bad_files)
{
	const BadFile *bad = &bad_files[_i];
	g_autoptr(RunConfig) config = run_config_new();
	g_autoptr(GError) error = NULL;

	ck_assert(!read_yaml(config, bad->text, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_INPUT)); /* B10 */
	ck_assert(g_str_has_prefix(error->message, run_file));
	ck_assert_msg(strstr(error->message, bad->part) != NULL, "\"%s\" is not in \"%s\"",
	              bad->part, error->message);
}
END_TEST

START_TEST(lists_every_problem)
{
	g_autoptr(RunConfig) config = run_config_new();
	g_autoptr(GError) error = NULL;

	ck_assert(!read_yaml(config, "sed: 1\nstop_s: x\npolicies: [fifi]\n", &error));
	ck_assert(strstr(error->message, ":1:1:") != NULL);
	ck_assert(strstr(error->message, ":2:9:") != NULL);
	ck_assert(strstr(error->message, ":3:12:") != NULL);
}
END_TEST

typedef struct BadSet {
	const char *assignment;
	const char *part;
} BadSet;

static const BadSet bad_sets[] = {
	{ "overheads.resum_s=5", "--set overheads.resum_s=5: found the unknown key \"resum_s\", "
	                         "wanted perhaps \"resume_s\"" },
	{ "sed=1", "wanted perhaps \"seed\"" },
	{ "seed", "wanted KEY=VALUE" },
	{ "=5", "wanted KEY=VALUE" },
	{ "a..b=5", "wanted KEY=VALUE" },
	{ "seed=1\nout: x", "wanted KEY=VALUE" },
	{ "stop_s=never", "found \"never\" for stop_s" },
	{ "seed.x=3", "seed" },
	{ "overheads=3", "found \"3\", wanted a mapping" },
	{ "policies=[fifi]", "found the unknown policy \"fifi\"" },
	{ "seed=[1", "--set seed=[1: " },
};

START_TEST(refuses_bad_sets)
{
	const BadSet *bad = &bad_sets[_i];
	g_autoptr(RunConfig) config = run_config_new();
	g_autoptr(GError) error = NULL;

	ck_assert(!run_config_set(config, bad->assignment, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_USAGE)); /* B10 */
	ck_assert_msg(strstr(error->message, bad->part) != NULL, "\"%s\" is not in \"%s\"",
	              bad->part, error->message);
}
END_TEST

typedef struct SpecCase {
	const char *text;
	const char *name, *label; /* name NULL = refused */
	const char *part;         /* of its options, or of the message */
} SpecCase;

static const SpecCase spec_cases[] = {
	{ "fifo", "fifo", "fifo", "" },
	{ "fifo@a.B-c_d+9", "fifo", "a.B-c_d+9", "" },
	{ "themis:fairness_knob=0.5", "themis", "themis", "fairness_knob=0.5" },
	{ "themis:fairness_knob=0.5,lease_s=60", "themis", "themis",
	  "fairness_knob=0.5,lease_s=60" },
	{ "tiresias:thresholds_gpu_s=[3600,36000],promote_knob=8", "tiresias", "tiresias",
	  "thresholds_gpu_s=[3600,36000],promote_knob=8" },
	{ "tiresias@three-queues:thresholds_gpu_s=[3600,36000]", "tiresias", "three-queues",
	  "thresholds_gpu_s=[3600,36000]" },
	/* A39: a single number is a list of one. */
	{ "tiresias:thresholds_gpu_s=100", "tiresias", "tiresias", "thresholds_gpu_s=100" },
	{ "las: quantum_s =5", "las", "las", "quantum_s=5" },
	{ "srft", NULL, NULL, "found the unknown policy \"srft\", wanted perhaps srtf" },
	{ "", NULL, NULL, "found the unknown policy \"\"" },
	{ "FIFO", NULL, NULL, "wanted perhaps fifo" },
	{ "themis:", NULL, NULL, "wanted key=value" },
	{ "themis:lease_s", NULL, NULL, "wanted key=value" },
	{ "themis:lease_s=60,", NULL, NULL, "wanted key=value" },
	{ "themis:lease=60", NULL, NULL, "wanted perhaps lease_s" },
	{ "themis:lease_s=x", NULL, NULL, "found \"x\" for lease_s" },
	{ "fifo@", NULL, NULL, "found the label \"\"" },
	{ "fifo@..", NULL, NULL, "found the label" },
	{ "fifo@.hidden", NULL, NULL, "found the label" },
	{ "fifo@a/b", NULL, NULL, "found the label" },
	{ "fifo@a b", NULL, NULL, "found the label" },
	{ "fifo@summary.csv", NULL, NULL, "found the label" },
	{ "fifo@\xc3\xa4", NULL, NULL, "found the label" },
};

START_TEST(parses_policies)
{
	const SpecCase *expected = &spec_cases[_i];
	g_autoptr(GError) error = NULL;
	g_autoptr(PolicySpec) spec = policy_spec_parse(expected->text, &error);
	g_autofree char *options = NULL;

	ck_assert_int_eq(spec != NULL, expected->name != NULL);
	if (!spec) {
		ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_USAGE));
		ck_assert_msg(strstr(error->message, expected->part) != NULL,
		              "\"%s\" is not in \"%s\"", expected->part, error->message);
		return;
	}
	options = options_to_string(spec->policy->options, spec->options);
	ck_assert_str_eq(spec->policy->name, expected->name);
	ck_assert_str_eq(spec->label, expected->label);
	ck_assert_msg(strstr(options, expected->part) != NULL, "\"%s\" is not in \"%s\"",
	              expected->part, options);
}
END_TEST

START_TEST(refuses_equal_labels)
{
	g_autoptr(RunConfig) config = run_config_new();
	static const char *const equal[] = { "fifo", "srtf@fifo", NULL };
	static const char *const different[] = { "fifo", "fifo@again", NULL };
	g_autoptr(GError) error = NULL;

	ck_assert(!run_config_set_policies(config, equal, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_USAGE));
	ck_assert(strstr(error->message, "a second policy labelled \"fifo\"") != NULL);
	ck_assert(run_config_set_policies(config, different, NULL));
}
END_TEST

typedef struct Lack {
	const char *text;
	const char *part;
} Lack;

static const Lack lacks[] = {
	{ "cluster: 1x1\npolicies: [fifo]\n", "no trace" },
	{ "trace: x.csv\npolicies: [fifo]\n", "no cluster" },
	{ "trace: {path: x.csv}\ncluster: 1x1\n", "no policy" },
	{ "trace: {path: x.csv}\ncluster: 1x1\npolicies: []\n", "no policy" },
	{ "trace: x.csv\ncluster: 1x1\npolicies: fifo\nbatsim: true\n", "--batsim" },
	{ "trace: x.csv\ncluster: 1x1\npolicies: fifo\nperfetto: true\n", "--perfetto" },
};

START_TEST(says_what_is_lacking)
{
	g_autoptr(RunConfig) config = config_of(lacks[_i].text);
	g_autoptr(GError) error = NULL;

	ck_assert(!run_config_check(config, &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_USAGE)); /* A41 */
	ck_assert_msg(strstr(error->message, lacks[_i].part) != NULL, "%s", error->message);
}
END_TEST

/* A53: no output folder, no number of threads; every value is YAML. */
START_TEST(describes_itself)
{
	g_autoptr(RunConfig) config = config_of(whole_file);
	g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) all = g_string_new(NULL);

	run_config_describe(config, "native", keys, values);
	ck_assert_uint_eq(keys->len, values->len);
	for (guint i = 0; i < keys->len; i++)
		g_string_append_printf(all, "%s=%s\n", (char *)g_ptr_array_index(keys, i),
		                       (char *)g_ptr_array_index(values, i));
	ck_assert(strstr(all->str, "trace.path=trace.csv.gz\n") != NULL);
	ck_assert(strstr(all->str, "trace.format=native\n") != NULL);
	ck_assert(strstr(all->str, "seed=7\n") != NULL);
	ck_assert(strstr(all->str, "policies.three={tiresias: {") != NULL);
	ck_assert(strstr(all->str, "thresholds_gpu_s: [3600,36000]") != NULL);
	ck_assert(strstr(all->str, "overheads={start_s: 0, suspend_s: 5, resume_s: 30, "
	                           "migrate_s: 0, checkpoint_every_s: 0}\n") != NULL);
	ck_assert(strstr(all->str, "window.from_s=1.5\n") != NULL);
	ck_assert(strstr(all->str, "stop_s=604800\n") != NULL);
	ck_assert(strstr(all->str, "timeline=60\n") != NULL);
	ck_assert(strstr(all->str, "out=") == NULL);
	ck_assert(strstr(all->str, "threads") == NULL);
}
END_TEST

static Suite *
config_suite(void)
{
	Suite *suite = suite_create("config");
	TCase *tests = tcase_create("config");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, reads_a_file);
	tcase_add_test(tests, sees_paths_from_the_file);
	tcase_add_test(tests, knows_shorthands_from_paths);
	tcase_add_test(tests, reads_policies);
	tcase_add_test(tests, has_standards);
	tcase_add_test(tests, knows_who_wins);
	tcase_add_loop_test(tests, refuses_bad_files, 0, G_N_ELEMENTS(bad_files));
	tcase_add_test(tests, lists_every_problem);
	tcase_add_loop_test(tests, refuses_bad_sets, 0, G_N_ELEMENTS(bad_sets));
	tcase_add_loop_test(tests, parses_policies, 0, G_N_ELEMENTS(spec_cases));
	tcase_add_test(tests, refuses_equal_labels);
	tcase_add_loop_test(tests, says_what_is_lacking, 0, G_N_ELEMENTS(lacks));
	tcase_add_test(tests, describes_itself);
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(config_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
