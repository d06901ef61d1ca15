/* SPDX-License-Identifier: MIT */

/*
 * The greedy policies, run to the end on small traces. Right values are those of the worked
 * examples of the papers, or are worked out in a comment.
 */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "tests/fixture.h"

typedef struct Case {
	const char *name, *jobs, *cluster, *policy, *expected;
	const char *models; /* or NULL */
} Case;

/* E14: one short and one long job, speed-ups of 1, 1.8, 2.4 and 2.8. */
#define E14_JOBS "S,0,1,100,min=1,max=4,model=m; L,0,1,1000,min=1,max=4,model=m"
#define E14_MODELS                                                                            \
	"models:\n"                                                                           \
	"  m: {slowdown: {slot: 1, machine: 1, rack: 1, cluster: 1}, scaling: [1, 1.8, 2.4, " \
	"2.8]}\n"

/* The example of DRF: 9 CPUs and 18 GB, tasks of 1 CPU and 4 GB and of 3 CPUs and 1 GB. */
#define DRF_JOBS                                                       \
	"A1,0,1,10,app=A,cpus=1,mem=4; A2,0,1,10,app=A,cpus=1,mem=4; " \
	"A3,0,1,10,app=A,cpus=1,mem=4; A4,0,1,10,app=A,cpus=1,mem=4; " \
	"B1,0,1,10,app=B,cpus=3,mem=1; B2,0,1,10,app=B,cpus=3,mem=1; " \
	"B3,0,1,10,app=B,cpus=3,mem=1"
#define DRF_CLUSTER  "racks:\n  - machines:\n      - {gpus: 100, cpus: 9, mem_mib: 18}\n"

/* One GPU is left on each of two machines at 10; m is four times slower across them. */
#define SPLIT_JOBS   "A,0,1,200; B,0,1,10; C,0,1,200; F,0,1,10; D,5,2,20,model=m; E,5,2,20"
#define SPLIT_LATER  "A,0,1,200; B,1,1,10; C,2,1,200; F,3,1,8; D,5,2,30,model=m; E,5,2,20"
#define SPLIT_MODELS "models:\n  m: {slowdown: {slot: 1, machine: 1, rack: 2, cluster: 4}}\n"

#define OFFERS_JOBS                                                               \
	"A,0,2,1200,min=1,max=2; B,20,1,2000; C,1000,2,200,min=1,max=2,model=m; " \
	"D,1000,1,200"
#define OFFERS_MODELS                                                                 \
	"models:\n  m: {slowdown: {slot: 1, machine: 1, rack: 1.333333333, cluster: " \
	"1.333333333}}\n"

#define MIXED_JOBS "A,0,2,100; B,0,1,400; C,0,1,250; D,10,2,20; E,10,1,300"

static const Case cases[] = {
	/* S on one GPU, L on three: at 100 L has 1000 - 240 left, on four from then on. */
	{ "E14 optimus", E14_JOBS, "1x4", "optimus:grain=gang,unit=job,lease_s=off",
	  "S 0-100; L 0-371.428571429 M1", E14_MODELS },
	{ "E14 optimus, GPU by GPU", E14_JOBS, "1x4", "optimus:grain=gpu,unit=job,lease_s=off",
	  "S 0-100; L 0-371.428571429 M1", E14_MODELS },
	/* Two each: S takes 100 / 1.8, L has 1000 - 100 left then. */
	{ "E14 afs", E14_JOBS, "1x4", "afs", "S 0-55.555555556; L 0-376.984126985 M1", E14_MODELS },
	/* App by app: the shorter takes all four, then the other. */
	{ "E14 optimus, app by app", E14_JOBS, "1x4", "optimus",
	  "S 0-35.714285715; L 35.714285715-392.857142858", E14_MODELS },

	{ "drf golden", DRF_JOBS, DRF_CLUSTER, "drf",
	  "A1 0-10; A2 0-10; A3 0-10; A4 10-20; B1 0-10; B2 0-10; B3 10-20", NULL },
	/* b's first job before u's second app; among apps, a2 holds nothing either. */
	{ "drf by app", "A,0,1,10,user=u,app=a1; B,0,1,10,user=u,app=a2; C,0,1,10,user=v,app=b",
	  "1x2", "drf", "A 0-10; B 0-10; C 10-20", NULL },
	{ "drf by user", "A,0,1,10,user=u,app=a1; B,0,1,10,user=u,app=a2; C,0,1,10,user=v,app=b",
	  "1x2", "drf:by=user", "A 0-10; B 10-20; C 0-10", NULL },
	{ "drf by tenant", "A,0,1,10,tenant=u; B,0,1,10,tenant=u; C,0,1,10,tenant=v", "1x2",
	  "drf:by=tenant", "A 0-10; B 10-20; C 0-10", NULL },
	{ "drf stops nobody", "A,0,4,100,app=a; B,10,2,10,app=b", "1x4", "drf",
	  "A 0-100; B 100-110", NULL },
	/* A's share counts for a third of what B's does: A takes two more before B takes its
	 * second.
	 */
	{ "drf by weight",
	  "A1,0,1,10,app=a,weight=3; A2,0,1,10,app=a,weight=3; "
	  "A3,0,1,10,app=a,weight=3; A4,0,1,10,app=a,weight=3; "
	  "B1,0,1,10,app=b; B2,0,1,10,app=b",
	  "1x4", "drf", "A1 0-10; A2 0-10; A3 0-10; A4 10-20; B1 0-10; B2 10-20", NULL },
	/* At 50 a takes two of four, then b. */
	{ "drf with leases", "A1,0,2,100,app=a; A2,0,2,100,app=a; B,10,2,10,app=b", "1x4",
	  "drf:lease_s=50", "A1 0-100; A2 0-110 P1; B 50-60", NULL },

	/* E would be as fast as on one machine (A86), D at a quarter. D runs at a quarter from 30
	 * on. */
	{ "gandiva-greedy looks at places", SPLIT_JOBS, "2x2", "gandiva-greedy:lease_s=1000",
	  "A 0-200; B 0-10; C 0-200; F 0-10; D 30-110; E 10-30", SPLIT_MODELS },
	{ "tiresias-app does not", SPLIT_JOBS, "2x2", "tiresias-app:lease_s=1000",
	  "A 0-200; B 0-10; C 0-200; F 0-10; D 10-90; E 90-110", SPLIT_MODELS },
	{ "gandiva-greedy by speed", "A,0,2,10; B,0,3,10; C,0,1,10", "1x3",
	  "gandiva-greedy:grain=gang,score=speed", "A 10-20; B 0-10; C 10-20", NULL },
	/* A keeps its GPUs as nobody would sit better. */
	{ "gandiva-greedy, the earlier", MIXED_JOBS, "2x2", "gandiva-greedy:lease_s=60",
	  "A 0-100; B 0-400; C 0-250; D 100-120; E 120-420", NULL },

	/* At 60 A has had 120 GPU-s, B and C 60, D and E none: D, E and B. At 80 C, beside an idle
	 * GPU. At 120 E has had 60, A and B 120: E and A. At 140 B and C have had 120: B. C goes on
	 * when A ends, 100 s of work after all, at 160. */
	{ "tiresias-app", MIXED_JOBS, "2x2", "tiresias-app:lease_s=60",
	  "A 0-160 P1; B 0-420 P1; C 0-290 P2; D 60-80; E 60-360", NULL },
	/* What a's first job has held counts for its second. */
	{ "tiresias-app remembers", "A,0,1,30,app=a; B,0,1,50,app=a; C,10,1,10,app=c", "1x1",
	  "tiresias-app", "A 0-30; B 40-90; C 30-40", NULL },
	{ "tiresias-app by job", "A,0,1,30,app=a; B,0,1,50,app=a; C,10,1,10,app=c", "1x1",
	  "tiresias-app:unit=job", "A 0-30; B 30-80; C 80-90", NULL },

	/* Work left is GPU-time: B's 160 before C's 150 and A's 100, and of equal ones the earlier.
	 */
	{ "jobs=trace", "A,0,1,100,app=x; B,0,2,80,app=x; C,0,1,150,app=x; D,0,1,150,app=x", "1x2",
	  "tiresias-app:lease_s=1000", "A 0-100; B 250-330; C 0-150; D 100-250", NULL },
	{ "jobs=longest", "A,0,1,100,app=x; B,0,2,80,app=x; C,0,1,150,app=x; D,0,1,150,app=x",
	  "1x2", "tiresias-app:lease_s=1000,jobs=longest", "A 230-330; B 0-80; C 80-230; D 80-230",
	  NULL },
	/* At 60 A has 70 left and B 200, but A's lease has just ended. */
	{ "jobs=longest: but the leaseholder first", "A,0,1,130,app=x; B,10,1,200,app=x", "1x1",
	  "drf:lease_s=60,jobs=longest", "A 0-130; B 130-330", NULL },
	/* N, with nothing so far, has the GPU at 60; at 70 A waits as B does. */
	{ "jobs=longest: once it has lost its lease, no more",
	  "A,0,1,130,app=x; B,10,1,200,app=x; N,20,1,10,app=n", "1x1",
	  "tiresias-app:lease_s=60,jobs=longest", "A 0-340 P1; B 70-270; N 60-70", NULL },
	{ "jobs=trace: once it has lost its lease",
	  "A,0,1,130,app=x; B,10,1,200,app=x; N,20,1,10,app=n", "1x1", "tiresias-app:lease_s=60",
	  "A 0-140 P1; B 140-340; N 60-70", NULL },
	/* At 60 both leases end and N takes a GPU: the other is A's, with 40 left, not B's, with
	   140. */
	{ "jobs=longest: leaseholders by trace order",
	  "A,0,1,100,app=x; B,0,1,200,app=x; N,10,1,50,app=n", "1x2",
	  "tiresias-app:lease_s=60,jobs=longest", "A 0-100; B 0-240 P1; N 60-110", NULL },
	/* u's B, 120, before its A, 2 x 50. */
	{ "jobs=longest: whoever asks", "A,0,2,50,tenant=u; B,0,1,120,tenant=u; C,0,1,90,tenant=v",
	  "1x2", "drf:by=tenant,jobs=longest", "A 120-170; B 0-120; C 0-90", NULL },

	/* Left at 60: D 20, A 40, C 190, E 300, B 340. */
	{ "optimus", MIXED_JOBS, "2x2", "optimus:lease_s=60",
	  "A 0-100; B 0-440 P1; C 0-270 P1; D 60-80; E 80-380", NULL },
	{ "srtf-app", MIXED_JOBS, "2x2", "srtf-app:lease_s=60",
	  "A 0-100; B 0-440 P1; C 0-270 P1; D 60-80; E 80-380", NULL },
	{ "srtf-app: the longest job", "A,0,1,20,app=x; B,0,1,40,app=x; C,0,1,50,app=y", "1x1",
	  "srtf-app", "A 0-20; B 20-60; C 60-110", NULL },
	{ "srsf-app: the sum", "A,0,1,20,app=x; B,0,1,40,app=x; C,0,1,50,app=y", "1x1", "srsf-app",
	  "A 50-70; B 70-110; C 0-50", NULL },
	{ "srtf-app: time", "A,0,1,50; B,0,4,30", "1x4", "srtf-app", "A 30-80; B 0-30", NULL },
	{ "srsf-app: time x GPUs", "A,0,1,50; B,0,4,30", "1x4", "srsf-app", "A 0-50; B 50-80",
	  NULL },
	/* At 60 A has done 60, B nothing; at 120 both 60, and A is the earlier. */
	{ "srsf-app by work done", "A,0,1,100; B,1,1,90", "1x1", "srsf-app:key=done,lease_s=60",
	  "A 0-160 P1; B 60-190 P1", NULL },
	/* At 11 one GPU is left on each machine: D would take 30 x 4 on them, E 20. With the factor
	 * the wrong way round that of D is 30 / 4. */
	{ "srtf-app with GPUs", SPLIT_LATER, "2x2", "srtf-app:key=with-gpus,lease_s=1000",
	  "A 0-200; B 1-11; C 2-202; F 3-11; D 31-151; E 11-31", SPLIT_MODELS },
	{ "srtf-app inverted", SPLIT_LATER, "2x2", "srtf-app:key=with-gpus-inverted,lease_s=1000",
	  "A 0-200; B 1-11; C 2-202; F 3-11; D 11-131; E 131-151", SPLIT_MODELS },

	/* Halved at 200: 1, .667, .5, .4, .333 after 0, 100, .. 400. At 300 A would lower its loss
	 * by .067, B by .333, then .167, .1, and .067 at 600, when A is the earlier; from then on
	 * they take turns of 100. */
	{ "slaq", "A,0,1,1000; B,300,1,1000", "1x1", "slaq:lease_s=100",
	  "A 0-1900 P7; B 300-2000 P7", NULL },

	/* At 300 A has done 3 iterations, at 400 B 4. */
	{ "slaq: the fewest iterations first", "A,0,1,1000,iteration=100; B,300,1,200,iteration=25",
	  "1x1", "slaq:lease_s=100,score=iteration", "A 0-1200 P2; B 300-700 P1", NULL },

	/* leases */
	{ "leases: won back is no stop", "A,0,2,1000; B,0,1,1000", "1x3", "srtf-app:lease_s=60",
	  "A 0-1000; B 0-1000", NULL },
	/* At 60 N takes one of M's four, and M goes on with three: 40 s of work left at 3/4. */
	{ "leases: narrower is a move", "M,0,4,100,min=1,max=4; N,10,1,100", "1x4",
	  "tiresias-app:lease_s=60", "M 0-113.333333334 M1; N 60-160", NULL },
	{ "leases: rigid is all or nothing", "M,0,4,100; N,10,1,30", "1x4",
	  "tiresias-app:lease_s=60", "M 0-130 P1; N 60-90", NULL },
	{ "leases: off", "M,0,4,100; N,10,1,30", "1x4", "tiresias-app:lease_s=off",
	  "M 0-100; N 100-130", NULL },
	/* M has three GPUs since 0, and that of N since 30. At 60 three leases end, and the one
	 * that goes on is too little for M (A75): P, with nothing so far, takes two, and two are
	 * too few. M has done 30 x 3/4 + 30, and goes on at 90. */
	{ "leases: too little to go on", "N,0,1,30; M,0,4,100,min=3,max=4; P,40,2,30", "1x4",
	  "tiresias-app:lease_s=60", "N 0-30; M 0-137.5 P1 M1; P 60-90", NULL },

	/* A's lease ends with its eighth iteration, and so would its second. */
	{ "iterations: none is cut", "A,0,1,100,iteration=7; B,10,1,100", "1x1",
	  "tiresias-app:lease_s=60,lease_end=iteration", "A 0-160 P1; B 56-200 P1", NULL },
	/* Whether ten iterations are over when B comes, a millionth of one decides. */
	{ "iterations: ten are over", "A,0,2,2000,iteration=100; B,1000,2,200,iteration=10", "1x2",
	  "gandiva-greedy:lease_s=1000,preset=authors", "A 0-2200 P1; B 1000-1200", NULL },
	{ "iterations: only nine are",
	  "A,0,2,2000.002,iteration=100.0001; B,1000,2,200,iteration=10", "1x2",
	  "gandiva-greedy:lease_s=1000,preset=authors", "A 0-2200.002 P1; B 1800.0018-2000.0018",
	  NULL },
	{ "iterations: ten are, and A goes on",
	  "A,0,2,1999.998,iteration=99.9999; "
	  "B,1000,2,200,iteration=10",
	  "1x2", "gandiva-greedy:lease_s=1000,preset=authors", "A 0-1999.998; B 1999.998-2199.998",
	  NULL },
	/* At 1000 A's two GPUs are released and one of the other machine is free: of all three C
	 * takes A's; first offered the one, it takes that and one of A's, on which it is a quarter
	 * slower. */
	{ "arrivals: pooled", OFFERS_JOBS, "2x2",
	  "gandiva-greedy:lease_s=1000,grain=gpu,unit=job,ties=held,score=speed",
	  "A 0-1310 P1 M1; B 20-2200 P1; C 1000-1200; D 1000-1200", OFFERS_MODELS },
	{ "arrivals: first", OFFERS_JOBS, "2x2",
	  "gandiva-greedy:lease_s=1000,grain=gpu,unit=job,ties=held,score=speed,arrivals=first",
	  "A 0-1310 P1 M1; B 20-2266.666666667 P1; C 1000-1266.666666667; D 1000-1200",
	  OFFERS_MODELS },
	/* At 10 both have held 10 s; with the iteration in progress A has held 14. */
	{ "iterations: as they go",
	  "A,0,1,90,min=1,max=2,iteration=7; B,0,1,90,min=1,max=2; C,0,1,10", "1x3",
	  "tiresias-app:lease_s=off,grain=gang,ties=held", "A 0-50 M1; B 0-70 M1; C 0-10", NULL },
	{ "iterations: counted in full",
	  "A,0,1,90,min=1,max=2,iteration=7; B,0,1,90,min=1,max=2; C,0,1,10", "1x3",
	  "tiresias-app:lease_s=off,grain=gang,ties=held,count=iteration",
	  "A 0-70 M1; B 0-50 M1; C 0-10", NULL },
};

START_TEST(test_case)
{
	const Case *one = &cases[_i];
	g_autoptr(Fixture) fixture = fixture_new(one->jobs, one->cluster);
	g_autofree char *found = NULL;

	if (one->models != NULL)
		fixture_set_models(fixture, one->models);
	fixture_run(fixture, one->policy);
	found = fixture_to_string(fixture);
	ck_assert_msg(strcmp(found, one->expected) == 0, "%s: %s, wanted %s", one->name, found,
	              one->expected);
}
END_TEST

START_TEST(test_lease_leaves_time_to_work)
{
	g_autoptr(Fixture) fixture = fixture_new("A,0,1,10", "1x1");
	g_autoptr(GError) error = NULL;

	fixture->scenario.overheads.migrate_ns = 20 * NS_PER_S;
	ck_assert(!fixture_try(fixture, "optimus:lease_s=20", &error));
	ck_assert(g_error_matches(error, SIM_ERROR, SIM_ERROR_USAGE));
	ck_assert(strstr(error->message, "migrate_s") != NULL);
	fixture_run(fixture, "optimus:lease_s=off");
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("greedy");
	TCase *tests = tcase_create("runs");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	tcase_add_loop_test(tests, test_case, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tests, test_lease_leaves_time_to_work);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed > 0;
}
