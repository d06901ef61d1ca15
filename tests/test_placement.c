/* SPDX-License-Identifier: MIT */

/* Where gangs go: which GPUs each job of a small run holds, by C02, A44 to A46, B08 and B22. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fixture.h"

/* "A 0 1; B 4": the GPUs of every segment, as it ends. */
typedef struct Watch {
	GString *text;
	const Workload *workload;
} Watch;

static void
watch_segment(void *self, const Segment *segment)
{
	Watch *watch = self;

	if (watch->text->len > 0)
		g_string_append(watch->text, "; ");
	g_string_append(watch->text, watch->workload->jobs[segment->job].name);
	for (guint i = 0; i < segment->alloc->n; i++)
		g_string_append_printf(watch->text, " %u", segment->alloc->gpus[i]);
}

#define TWO_RACKS                                             \
	"racks:\n"                                            \
	"  - machines: [{count: 2, gpus: 4, slot_gpus: 2}]\n" \
	"  - machines: [{count: 2, gpus: 4, slot_gpus: 2}]\n"

#define UNLIKE                          \
	"racks:\n"                      \
	"  - machines:\n"               \
	"      - {count: 1, gpus: 8}\n" \
	"      - {count: 2, gpus: 4}\n"

#define CPUS              \
	"racks:\n"        \
	"  - machines:\n" \
	"      - {count: 2, gpus: 4, cpus: 8}\n"

#define MEMORY                                                   \
	"gpu_types: {a: {mem_mib: 8000}, b: {mem_mib: 16000}}\n" \
	"racks:\n"                                               \
	"  - machines:\n"                                        \
	"      - {count: 1, gpus: 4, gpu_type: a}\n"             \
	"      - {count: 1, gpus: 2, gpu_type: b}\n"

/* Jobs end in the order in which they are to be listed. */
static const struct {
	const char *name, *jobs, *cluster, *policy, *expected;
} cases[] = {
	{ "fewest free GPUs that suffice", "A,0,3,1; B,0,1,2; C,0,4,3; D,0,2,4", "3x4", "fifo",
	  "A 0 1 2; B 3; C 4 5 6 7; D 8 9" },
	/* No rack has enough: M1 whole, and the remainder where the fewest are free, on M0. */
	{ "wider than a machine", "A,0,1,1; B,0,6,2", "4x4", "fifo", "A 0; B 1 2 4 5 6 7" },
	{ "one rack has enough", "A,0,2,1; B,0,8,2", TWO_RACKS, "fifo",
	  "A 0 1; B 8 9 10 11 12 13 14 15" },
	/* The first rack has 6 free GPUs, the second 8: B takes a machine and a half of the one
	 * that suffices with the fewest. */
	{ "the tighter rack", "A,0,2,1; B,0,6,2", TWO_RACKS, "fifo", "A 0 1; B 2 3 4 5 6 7" },
	/* E leaves half of the large machine free, as much as each of the small ones is. */
	{ "whole free machines before a part of a larger one",
	  "A,0,8,1; C,0,4,3; D,0,4,3; E,1,4,9; G,3,8,2", UNLIKE, "fifo",
	  "A 0 1 2 3 4 5 6 7; C 8 9 10 11; D 12 13 14 15; G 8 9 10 11 12 13 14 15; E 0 1 2 3" },
	{ "over racks", "A,0,2,1; B,0,10,2", TWO_RACKS, "fifo",
	  "A 0 1; B 2 3 8 9 10 11 12 13 14 15" },
	/* B is held by the second slot, C by what is left of the first. */
	{ "slots", "A,0,1,1; B,0,2,2; C,0,1,3", TWO_RACKS, "fifo", "A 0; B 2 3; C 1" },
	{ "too wide for a slot", "A,0,3,1; B,0,2,2", TWO_RACKS, "fifo:max_level=slot", "B 0 1" },
	/* Of the first machine 1 and 3 are free, which is enough for E, but no slot. */
	{ "level before fullness", "A,0,1,9; B,0,1,1; C,0,1,8; D,0,1,2; E,3,2,1", TWO_RACKS, "fifo",
	  "B 1; D 3; E 4 5; C 2; A 0" },

	{ "first-fit", "A,0,3,1; B,0,2,2; C,0,1,3", "3x4", "fifo:placement=first-fit",
	  "A 0 1 2; B 4 5; C 3" },
	{ "first-fit, wider than a machine", "A,0,3,1; B,0,6,2", "3x4", "fifo:placement=first-fit",
	  "A 0 1 2; B 3 4 5 6 7 8" },
	{ "best-fit", "A,0,3,1; B,0,2,2; C,0,2,3; D,0,1,4", "3x4", "fifo:placement=best-fit",
	  "A 0 1 2; B 4 5; C 6 7; D 3" },
	{ "spread", "A,0,3,1; B,0,2,2", "2x4", "fifo:placement=spread", "A 0 1 4; B 2 5" },
	{ "spread in a machine", "A,0,1,1; B,0,2,2", "2x4",
	  "fifo:placement=spread,max_level=machine", "A 0; B 4 5" },
	{ "spread in a rack", "A,0,1,1; B,0,2,2", TWO_RACKS, "fifo:placement=spread,max_level=rack",
	  "A 0; B 8 12" },

	{ "the type with most free GPUs", "A,0,1,1; B,0,2,2; C,0,1,3", "1x2:a,1x4:b", "fifo",
	  "A 2; B 3 4; C 0" },
	{ "types asked for", "A,0,1,1,type=a; B,0,1,2,type=c|b; C,0,1,3,type=a|b", "1x2:a,1x4:b",
	  "fifo", "A 0; B 2; C 3" },
	{ "a gang is of one type", "A,0,2,1,type=b; B,0,3,2", "1x2:a,1x4:b", "fifo-skip",
	  "A 2 3; B 2 3 4" },
	{ "GPU memory", "A,0,1,1,gpu_mem=12000; B,0,1,2,gpu_mem=8000", MEMORY, "fifo", "A 4; B 0" },

	/* The least room that suffices: 0.8 does not fit beside 0.3, 0.2 fits beside 0.8. */
	{ "shares",
	  "A,0,1,1,share=0.3; B,0,1,2,share=0.8; C,0,1,3,share=0.2; D,0,1,4,share=0.7; E,0,1,5",
	  "1x3", "fifo", "A 0; B 1; C 1; D 0; E 2" },
	{ "shares and memory",
	  "A,0,1,1,share=0.3,gpu_mem=6000,type=a; B,0,1,2,share=0.3,gpu_mem=6000,type=a", MEMORY,
	  "fifo", "A 0; B 1" },
	{ "workers are whole in a machine", "A,0,4,1,workers=2,per_worker=2; B,0,2,2", "2x3",
	  "fifo", "A 0 1 3 4; B 2 5" },
	{ "CPUs", "A,0,2,1,cpus=8; B,0,2,2,cpus=4; C,0,2,3", CPUS, "fifo", "A 0 1; B 4 5; C 2 3" },

	/* B is gone when A comes back: the GPUs that A had are free, and so are lower ones. */
	{ "own former GPUs first", "B,0,2,4; A,0,2,10; C,5,4,3,priority=1", "1x4",
	  "priority:preempt=true", "B 0 1; A 2 3; C 0 1 2 3; A 2 3" },
};

START_TEST(test_case)
{
	g_autoptr(Fixture) fixture = fixture_new(cases[_i].jobs, cases[_i].cluster);
	g_autoptr(GString) text = g_string_new(NULL);
	Watch watch = { text, fixture->workload };
	Recorder recorder = { .self = &watch, .segment = watch_segment };

	fixture->recorder = &recorder;
	fixture_run(fixture, cases[_i].policy);
	ck_assert_msg(g_str_equal(text->str, cases[_i].expected), "%s:\n  right %s\n  found %s",
	              cases[_i].name, cases[_i].expected, text->str);
}
END_TEST

/* Random places follow from the seed, the job and its start: another job in the trace, or another
 * policy, moves nobody who has the same choice. */
START_TEST(test_random)
{
	g_autoptr(GString) one = g_string_new(NULL), other = g_string_new(NULL);
	GString *texts[] = { one, other };

	for (guint i = 0; i < 2; i++) {
		g_autoptr(Fixture) fixture = fixture_new("A,0,3,1; B,5,3,1; C,10,3,1", "4x4");
		Watch watch = { texts[i], fixture->workload };
		Recorder recorder = { .self = &watch, .segment = watch_segment };

		fixture->recorder = &recorder;
		fixture_run(fixture, i == 0 ? "fifo:placement=random" : "srtf:placement=random");
	}
	ck_assert_str_eq(one->str, other->str);
	/* Three draws of 3 out of 16 are hardly all the same. */
	ck_assert_msg(strstr(one->str, "B") - one->str > 0 &&
	                  strncmp(one->str + 1, strstr(one->str, "B") + 1, 6) != 0,
	              "%s", one->str);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("placement");
	TCase *places = tcase_create("places");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	tcase_add_loop_test(places, test_case, 0, G_N_ELEMENTS(cases));
	tcase_add_test(places, test_random);
	suite_add_tcase(suite, places);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
