/* SPDX-License-Identifier: MIT */

#include <check.h>

#include "sim/base/rng.h"
#include "sim/engine/events.h"

#define N_ENTRIES 200
#define N_STEPS   20000

typedef struct Due {
	gboolean is_queued;
	SimTime at_ns;
	guint64 order;
} Due;

/* The first by looking at all of them: what a queue must agree with. */
static guint
first_of(const Due *dues)
{
	guint first = N_ENTRIES;

	for (guint i = 0; i < N_ENTRIES; i++)
		if (dues[i].is_queued &&
		    (first == N_ENTRIES || dues[i].at_ns < dues[first].at_ns ||
		     (dues[i].at_ns == dues[first].at_ns && dues[i].order < dues[first].order)))
			first = i;
	return first;
}

START_TEST(test_agrees_with_a_scan)
{
	g_autoptr(EventQueue) queue = event_queue_new();
	RngStream stream = rng_stream(_i, "events");
	Due dues[N_ENTRIES] = { 0 };

	for (guint step = 0; step < N_STEPS; step++) {
		guint entry = rng_below(stream, step, 0, N_ENTRIES);
		guint first = first_of(dues);

		ck_assert(event_queue_next_ns(queue) ==
		          (first == N_ENTRIES ? TIME_NEVER : dues[first].at_ns));
		switch (rng_below(stream, step, 1, 4)) {
		case 0:
			event_queue_remove(queue, entry);
			dues[entry].is_queued = FALSE;
			break;
		case 1:
			if (first == N_ENTRIES)
				break;
			ck_assert_uint_eq(event_queue_next_order(queue), dues[first].order);
			ck_assert_uint_eq(event_queue_pop(queue), first);
			dues[first].is_queued = FALSE;
			break;
		default:
			/* Few times, so that ties are common; orders are distinct. */
			dues[entry].is_queued = TRUE;
			dues[entry].at_ns = rng_below(stream, step, 2, 50);
			dues[entry].order = step;
			event_queue_set(queue, entry, dues[entry].at_ns, step);
			break;
		}
	}
}
END_TEST

START_TEST(test_equal_times_in_order)
{
	g_autoptr(EventQueue) queue = event_queue_new();

	event_queue_set(queue, 3, 10, 7);
	event_queue_set(queue, 1, 10, 9);
	event_queue_set(queue, 2, 10, 8);
	event_queue_set(queue, 1, 10, 6); /* moved, not added */
	ck_assert_uint_eq(event_queue_n(queue), 3);
	ck_assert_uint_eq(event_queue_pop(queue), 1);
	ck_assert_uint_eq(event_queue_pop(queue), 3);
	ck_assert_uint_eq(event_queue_pop(queue), 2);
	ck_assert(event_queue_next_ns(queue) == TIME_NEVER);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("events");
	TCase *tests = tcase_create("queue");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	tcase_add_loop_test(tests, test_agrees_with_a_scan, 1, 6);
	tcase_add_test(tests, test_equal_times_in_order);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed > 0;
}
