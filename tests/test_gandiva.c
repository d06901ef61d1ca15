/* SPDX-License-Identifier: MIT */

/*
 * Gandiva, run to the end on small traces: worked example E12 of the specification, and for each
 * mechanism what follows from its rule, worked out in the comment at the case. Turns last 60 s
 * unless a case says otherwise.
 */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/error.h"
#include "sim/base/rng.h"
#include "tests/fixture.h"

typedef struct Cost {
	guint start_s, suspend_s, resume_s, migrate_s;
} Cost;

typedef struct Case {
	const char *name, *jobs, *cluster, *policy, *expected;
	Cost cost;
	const char *models; /* or NULL */
	const char *firsts; /* GPUs of each job's first segment, or NULL */
} Case;

/* models */

/* together: no loss; nine: 0.9 each; e12: the two pairs of E12 (c); half: only one side is known.
 */
#define MODELS                                                             \
	"models:\n"                                                        \
	"  together: {utilisation: 0.4, packed: {together: 1}}\n"          \
	"  nine: {utilisation: 0.4, packed: {nine: 0.9}}\n"                \
	"  light: {utilisation: 0.4, packed: {light: 0.92}}\n"             \
	"  heavy: {utilisation: 0.9, packed: {heavy: 0.45}}\n"             \
	"  busy: {utilisation: 0.9, packed: {calm: 0.8}}\n"                \
	"  calm: {utilisation: 0.2, packed: {busy: 0.8, calm: 0.8}}\n"     \
	"  unmeasured: {packed: {unmeasured: 1}}\n"                        \
	"  near: {slowdown: {slot: 1, machine: 2, rack: 4, cluster: 8}}\n" \
	"  flat: {scaling: [1, 1, 1, 1]}\n"                                \
	"  sunk: {throughput: {old: 0, new: 1}}\n"

#define SLOTS "racks:\n  - machines:\n      - {count: 1, gpus: 4, slot_gpus: 2}\n"
#define CPUS  "racks:\n  - machines:\n      - {count: 1, gpus: 2, cpus: 8}\n"
#define MEM                                 \
	"gpu_types: {a: {mem_mib: 1000}}\n" \
	"racks:\n  - machines:\n      - {count: 1, gpus: 1, gpu_type: a}\n"

#define E12B "J1,0,1,120; J2,0,1,120; J3,0,1,120"
#define E12A                                                                             \
	"J1,0,1,1000; J2,1,2,1000; J3,2,1,1000; J4,3,4,1000; J5,4,1,1000; J6,5,2,1000; " \
	"J7,6,1,1000; J8,7,1,1000; J9,8,2,1000"

static const Case affinity[] = {
	/* (a): J8 shares GPU 0 with J1 and J9 GPUs 4 and 5 with J2, each 1000 s in 16 turns and
	 * 40 s; J4 waits until all are gone from machine 0. */
	{ "E12 (a)", E12A, "2x4", "gandiva:migration=false",
	  .expected =
	      "J1 0-1960 P16; J2 1-1961 P16; J3 2-1002; J4 2000-3000; J5 4-1004; J6 5-1005; "
	      "J7 6-1006; J8 60-2000 P16; J9 61-2001 P16",
	  .firsts = "0; 4-5; 1; 0-3; 2; 6-7; 3; 0; 4-5" },
	/* B goes where there is room and leaves the affinity at 1: D finds the rows of 1, E no
	 * machine for 2. At 100 the queue is served before the waiting A moves (A82). */
	{ "n3 keeps the affinity", "A,0,1,100; B,0,2,100; C,0,1,100; D,0,1,100; E,0,2,10", "1x4",
	  "gandiva:migration=false",
	  .expected = "A 0-160 P1; B 0-100; C 0-100; D 60-200 P1; E 100-110",
	  .firsts = "0; 1-2; 3; 0; 1-2" },
	{ "n3 keeps the affinity, then A moves",
	  "A,0,1,100; B,0,2,100; C,0,1,100; D,0,1,100; E,0,2,10", "1x4", "gandiva",
	  .expected = "A 0-140 P1 M1; B 0-100; C 0-100; D 60-160; E 100-110" },
	/* Without affinity E takes turns with B, which has its size. */
	{ "off", "A,0,1,100; B,0,2,100; C,0,1,100; D,0,1,100; E,0,2,10", "1x4",
	  "gandiva:affinity=false,migration=false",
	  .expected = "A 0-160 P1; B 0-110 P1; C 0-100; D 60-200 P1; E 60-70" },
	/* Machine 0 is empty at 10 and new for whoever comes. */
	{ "cleared when empty", "A,0,2,10; B,20,1,10; C,21,1,10; D,22,2,10", "2x2", "gandiva",
	  .expected = "A 0-10; B 20-30; C 21-31; D 22-32", .firsts = "0-1; 0; 1; 2-3" },
	/* D joins C on the less loaded machine 1; E finds both at load 1 and takes the lower, F
	 * the other one. */
	{ "least loaded", "A,0,1,50; B,0,1,50; C,0,1,50; D,0,1,50; E,0,1,50; F,0,1,50", "2x2",
	  "gandiva:quantum_s=10,migration=false",
	  .expected = "A 0-90 P4; B 0-50; C 0-90 P4; D 0-50; E 10-100 P4; F 10-100 P4",
	  .firsts = "0; 1; 2; 3; 0; 2" },
	/* A84: B goes to the fresh machine 1, not to the free GPUs beside A. */
	{ "fresh before mixed", "A,0,1,10; B,0,2,10; C,0,2,10", "2x4", "gandiva",
	  .expected = "A 0-10; B 0-10; C 0-10", .firsts = "0; 4-5; 6-7" },
	{ "slots", "A,0,1,10; B,0,2,10; C,0,1,10", SLOTS, "gandiva",
	  .expected = "A 0-10; B 0-10; C 0-10", .firsts = "0; 2-3; 1" },
	{ "types", "A,0,1,100,type=v; B,0,1,100,type=v; C,0,1,50,type=p", "1x1:v,1x1:p", "gandiva",
	  .expected = "A 0-160 P1; B 60-200 P1; C 0-50" },
	{ "E26", "A,0,1,10,model=sunk; B,0,1,10,model=sunk", "1x1:old,1x1:new", "gandiva",
	  .expected = "A 0-10; B 10-20", .models = MODELS },
};

static const Case slicing[] = {
	{ "E12 (b) without migration", E12B, "1x2", "gandiva:migration=false",
	  .expected = "J1 0-180 P1; J2 0-120; J3 60-240 P1", .cost = { .migrate_s = 2 } },
	/* At 120 the turn passes to J1 first; then J3 moves to the GPU that J2 has left. */
	{ "E12 (b)", E12B, "1x2", "gandiva", .expected = "J1 0-180 P1; J2 0-120; J3 60-182 M1",
	  .cost = { .migrate_s = 2 } },
	/* J3 starts when J1's suspension is over; at 120 it is J1 that waits, and moves. */
	{ "E12 (b), suspension", E12B, "1x2", "gandiva",
	  .expected = "J1 0-182 P1 M1; J2 0-120; J3 61-181",
	  .cost = { .suspend_s = 1, .migrate_s = 2 } },
	{ "off", "A,0,1,100; B,0,1,10", "1x1", "gandiva:time_slicing=false",
	  .expected = "A 0-100; B 100-110" },
	/* A has had its GPU to itself since 0: its second turn ends at 120 (A81). */
	{ "turns begin with the job", "A,0,1,200; B,70,1,100", "1x1", "gandiva",
	  .expected = "A 0-300 P2; B 120-280 P1" },
	/* Who comes at the end of a turn takes part (A14). */
	{ "comes at the end of a turn", "A,0,1,200; B,60,1,10", "1x1", "gandiva",
	  .expected = "A 0-210 P1; B 60-70" },
	/* C comes in B's turn and sits down at the end: A, B, C. Each has a whole turn after C. */
	{ "order of arrival", "A,0,1,300; B,0,1,300; C,70,1,60", "1x1", "gandiva",
	  .expected = "A 0-600 P4; B 60-660 P4; C 120-180" },
	{ "a job that ends hands over", "A,0,1,50; B,0,1,100; C,0,1,50", "1x1", "gandiva",
	  .expected = "A 0-50; B 50-200 P1; C 110-160" },
	/* 60 + 5 suspended; B 50; A resumes with 3 and has 40 left. */
	{ "overheads", "A,0,1,100; B,0,1,50", "1x1", "gandiva", .expected = "A 0-158 P1; B 65-115",
	  .cost = { .suspend_s = 5, .resume_s = 3 } },
	{ "preset", "A,0,1,100; B,0,1,50", "1x1", "gandiva:preset=paper",
	  .expected = "A 0-151 P1; B 61-111" },
	{ "time limit", "A,0,1,100,limit=30; B,0,1,10", "1x1", "gandiva",
	  .expected = "A 0-30 TIMEOUT; B 30-40" },
	{ "no work", "A,0,1,100; B,0,1,0", "1x1", "gandiva", .expected = "A 0-100 P1; B 60-60" },
	{ "height", "A,0,1,100; B,0,1,100; C,0,1,100", "1x1", "gandiva:max_height=2",
	  .expected = "A 0-160 P1; B 60-200 P1; C 200-300" },
	/* W1 and W2 share machines 0 and 1 by turns; N goes elsewhere. */
	{ "wide gangs", "W1,0,4,100; W2,0,4,100; N,0,1,50", "3x2", "gandiva",
	  .expected = "W1 0-160 P1; W2 60-200 P1; N 0-50", .firsts = "0-3; 0-3; 4" },
	{ "wide gangs side by side", "W1,0,4,100; W2,0,4,100", "4x2", "gandiva",
	  .expected = "W1 0-100; W2 0-100", .firsts = "0-3; 4-7" },
	/* W leaves GPU 3 of its second machine: N has no other. */
	{ "rest of a wide gang's machine", "W,0,3,100; N,0,1,50", "2x2", "gandiva",
	  .expected = "W 0-100; N 0-50", .firsts = "0-2; 3" },
	{ "beyond max_level", "W,0,4,10; N,0,2,10", "2x2", "gandiva:max_level=machine",
	  .expected = "W REJECTED; N 0-10" },
	/* At 120 D has A's CPUs: C goes on, never stopped, until D is gone at 180. */
	{ "a turn without CPUs",
	  "A,0,1,100,cpus=6; B,0,1,70,cpus=2; C,0,1,200,cpus=2; "
	  "D,80,1,100,cpus=6",
	  CPUS, "gandiva:migration=false",
	  .expected = "A 0-220 P1; B 0-70; C 60-300 P1; D 80-180" },
	/* A finds no machine, as A07 asks for one GPU only: all there are, at half speed. */
	{ "narrower than asked for", "A,0,8,100,min=1", "1x4", "gandiva", .expected = "A 0-200" },
	{ "shares", "A,0,1,10,share=0.5; B,0,1,10,share=0.5; C,0,1,10,share=0.5", "1x1", "gandiva",
	  .expected = "A 0-10; B 0-10; C 10-20" },
	/* At 100 GPU 0 is free of shares, and B, which waits, has 40 s left. */
	{ "shares and whole", "A,0,1,100,share=0.5; B,0,1,100; C,0,1,50; D,0,1,10,share=0.4", "1x2",
	  "gandiva", .expected = "A 0-100; B 0-140 P1 M1; C 60-110; D 0-10",
	  .firsts = "0; 1; 1; 0" },
};

static const Case migration[] = {
	/* C has not run before: it starts, and does not pay for a move. */
	{ "a first start is no move", "A,0,1,100; B,0,1,30; C,0,1,50", "1x2", "gandiva",
	  .expected = "A 0-104; B 0-34; C 34-88", .cost = { .start_s = 4, .migrate_s = 2 } },
	/* At 30 the queued Q takes GPUs 1 and 2 before D could move to one of them (A82). */
	{ "the queue first", "A,0,1,200; B,0,1,30; C,0,1,30; D,0,1,50; Q,0,2,100", "1x3", "gandiva",
	  .expected = "A 0-250 P1; B 0-30; C 0-30; D 60-110; Q 30-130" },
	/* GPU 0 has A, D, G, GPU 1 has B, E, GPU 2 is free at 50: D moves in, the next of the
	 * longest row. At 150 both have two left, G of the lower one moves. */
	{ "the longest row",
	  "A,0,1,100; B,0,1,100; C,0,1,30; D,0,1,100; E,0,1,100; F,0,1,20; G,0,1,100", "1x3",
	  "gandiva",
	  .expected =
	      "A 0-160 P1; B 0-160 P1; C 0-30; D 50-150; E 60-200 P1; F 30-50; G 60-190 P1 M1" },
	/* One GPU in four of machine 1 is used: J2 makes room for J3 at once. */
	{ "de-fragmentation", "J1,0,2,500; J2,0,1,500; J3,5,4,50", "2x4", "gandiva",
	  .expected = "J1 0-500; J2 0-502 M1; J3 5-55", .cost = { .migrate_s = 2 },
	  .firsts = "0-1; 4; 4-7" },
	{ "de-fragmentation off", "J1,0,2,500; J2,0,1,500; J3,5,4,50", "2x4",
	  "gandiva:defragment=false", .expected = "J1 0-500; J2 0-500; J3 500-550" },
	/* W2 waits for its turn with W1 when the others leave machine 1 to J alone, at 30. */
	{ "de-fragmentation for a turn",
	  "W1,0,4,200; S,0,1,30; J,0,1,500; T,0,1,30; U,0,1,30; K,0,1,500; W2,20,4,50", "3x4",
	  "gandiva",
	  .expected = "W1 0-200; S 0-30; J 0-500 M1; T 0-30; U 0-30; K 0-500; W2 30-80" },
	/* D is over two slots at half speed; at 20 it has done 7 s and gets both GPUs of one. */
	{ "locality", "A,0,1,20; B,0,1,5; C,0,1,300; D,6,2,100,model=near", SLOTS, "gandiva",
	  .expected = "A 0-20; B 0-5; C 0-300; D 6-115 M1", .cost = { .migrate_s = 2 },
	  .models = MODELS, .firsts = "0; 1; 2; 1,3" },
	{ "locality off", "A,0,1,20; B,0,1,5; C,0,1,300; D,6,2,100,model=near", SLOTS,
	  "gandiva:migration=false", .expected = "A 0-20; B 0-5; C 0-300; D 6-206",
	  .models = MODELS },
	/* Without a model no place is better. */
	{ "no gain", "A,0,1,20; B,0,1,5; C,0,1,300; D,6,2,100", SLOTS, "gandiva",
	  .expected = "A 0-20; B 0-5; C 0-300; D 6-106", .models = MODELS },
};

static const Case packing[] = {
	{ "E15", "A,0,1,10,model=together; B,0,1,10,model=together", "1x1", "gandiva",
	  .expected = "A 0-10; B 0-10", .models = MODELS },
	{ "E12 (c) keep", "A,0,1,92,model=light; B,0,1,92,model=light", "1x1", "gandiva",
	  .expected = "A 0-100; B 0-100", .models = MODELS },
	{ "E12 (c) undo", "A,0,1,90,model=heavy; B,0,1,90,model=heavy", "1x1", "gandiva",
	  .expected = "A 0-150 P1; B 60-180 P1", .models = MODELS },
	{ "off", "A,0,1,92,model=light; B,0,1,92,model=light", "1x1", "gandiva:packing=false",
	  .expected = "A 0-152 P1; B 60-184 P1", .models = MODELS },
	{ "no utilisation", "A,0,1,60,model=unmeasured; B,0,1,60,model=unmeasured", "1x1",
	  "gandiva", .expected = "A 0-60; B 60-120", .models = MODELS },
	{ "one side unknown", "A,0,1,60,model=busy; B,0,1,60,model=light", "1x1", "gandiva",
	  .expected = "A 0-60; B 60-120", .models = MODELS },
	{ "without turns", "A,0,1,92,model=light; B,0,1,92,model=light", "1x1",
	  "gandiva:time_slicing=false", .expected = "A 0-100; B 0-100", .models = MODELS },
	{ "gangs", "A,0,2,10,model=together; B,0,2,10,model=together", "1x2", "gandiva",
	  .expected = "A 0-10; B 0-10", .models = MODELS },
	{ "not where there are free GPUs", "A,0,1,10,model=light; B,0,1,10,model=light", "1x2",
	  "gandiva", .expected = "A 0-10; B 0-10", .models = MODELS, .firsts = "0; 1" },
	/* The third has nobody to share with, and takes turns with the two. */
	{ "two at most",
	  "A,0,1,70,model=together; B,0,1,70,model=together; "
	  "C,0,1,20,model=together",
	  "1x1", "gandiva", .expected = "A 0-90 P1; B 0-90 P1; C 60-80", .models = MODELS },
	{ "memory that suffices",
	  "A,0,1,10,model=together,gpu_mem=500; "
	  "B,0,1,10,model=together,gpu_mem=500",
	  MEM, "gandiva", .expected = "A 0-10; B 0-10", .models = MODELS },
	{ "memory that does not",
	  "A,0,1,10,model=together,gpu_mem=500; "
	  "B,0,1,10,model=together,gpu_mem=501",
	  MEM, "gandiva", .expected = "A 0-10; B 10-20", .models = MODELS },
	/* W would share GPU 0 by turns, and is packed on GPU 1, which is less busy: 80 s of work
	 * each until 100. */
	{ "the least busy", "H1,0,1,100,model=busy; H2,0,1,100,model=calm; W,0,1,80,model=calm",
	  "1x2", "gandiva", .expected = "H1 0-100; H2 0-120; W 0-100", .models = MODELS,
	  .firsts = "0; 1; 1" },
	/* At 10 both have done 9 s; C moves to the GPU that B has left. */
	{ "parting", "A,0,1,100,model=nine; B,0,1,10; C,0,1,100,model=nine", "1x2", "gandiva",
	  .expected = "A 0-101; B 0-10; C 0-103 M1", .cost = { .migrate_s = 2 }, .models = MODELS },
	{ "nothing to part for", "A,0,1,100,model=together; B,0,1,10; C,0,1,100,model=together",
	  "1x2", "gandiva", .expected = "A 0-100; B 0-10; C 0-100", .cost = { .migrate_s = 2 },
	  .models = MODELS },
};

static const Case growing[] = {
	/* 40 s of work by 10, when A shrinks for B and keeps the GPU that B leaves: one move. 16
	 * more from 12 to 20, then 2 s for the next move and 44 at speed 4. */
	{ "grows and shrinks", "A,0,1,100,max=4; B,10,2,10", "1x4", "gandiva",
	  .expected = "A 0-33 M2; B 10-20", .cost = { .migrate_s = 2 }, .firsts = "0-3; 1-2" },
	{ "off", "A,0,1,100,max=4; B,10,2,10", "1x4", "gandiva:grow_shrink=false",
	  .expected = "A 0-100; B 10-20", .cost = { .migrate_s = 2 } },
	{ "rigid", "A,0,1,100,min=1; B,0,1,100", "1x4", "gandiva", .expected = "A 0-100; B 0-100" },
	{ "up to one machine", "A,0,1,100,max=4", "2x2", "gandiva", .expected = "A 0-50" },
	{ "no use", "A,0,1,100,max=4,model=flat", "1x4", "gandiva", .expected = "A 0-100",
	  .models = MODELS, .firsts = "0" },
	/* While C waits nobody grows: it moves to GPU 1 at 30, and A gets that at 60. */
	{ "not while somebody waits", "A,0,1,100,max=2; B,0,1,30; C,0,1,30", "1x2", "gandiva",
	  .expected = "A 0-80 M1; B 0-30; C 30-60" },
	/* B needs both GPUs and takes turns with nobody: A goes on at its width. */
	{ "not for who gains nothing", "A,0,1,100,max=2; B,10,2,10", "1x2", "gandiva",
	  .expected = "A 0-50; B 50-60" },
	/* B joins A, which shrinks for it with 15 s done, has 65 at the end of its turn and grows
	 * again when B is gone: 30 more at speed 1.5. */
	{ "shrinks to be joined", "A,0,2,95,max=3; X,0,1,1000; B,10,2,10", "1x4", "gandiva",
	  .expected = "A 0-90 P1 M1; X 0-1000; B 60-70" },
};

/* what is run */

static void
note_first(void *self, const Segment *segment)
{
	GString **firsts = self;
	const Alloc *alloc = segment->alloc;

	if (segment->index > 0)
		return;
	firsts[segment->job] = g_string_new(NULL);
	for (guint i = 0, n; i < alloc->n; i += n) {
		for (n = 1; i + n < alloc->n && alloc->gpus[i + n] == alloc->gpus[i] + n;)
			n++;
		g_string_append_printf(firsts[segment->job], "%s%u", i > 0 ? "," : "",
		                       alloc->gpus[i]);
		if (n > 1)
			g_string_append_printf(firsts[segment->job], "-%u", alloc->gpus[i] + n - 1);
	}
}

static char *
join_firsts(GString **firsts, guint n_jobs)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < n_jobs; i++) {
		g_string_append_printf(text, "%s%s", i > 0 ? "; " : "",
		                       firsts[i] != NULL ? firsts[i]->str : "");
		if (firsts[i] != NULL)
			g_string_free(firsts[i], TRUE);
	}
	return g_string_free(text, FALSE);
}

static Fixture *
fixture_of(const Case *test)
{
	Fixture *fixture = fixture_new(test->jobs, test->cluster);

	fixture->scenario.overheads = (Overheads){
		.start_ns = test->cost.start_s * NS_PER_S,
		.suspend_ns = test->cost.suspend_s * NS_PER_S,
		.resume_ns = test->cost.resume_s * NS_PER_S,
		.migrate_ns = test->cost.migrate_s * NS_PER_S,
	};
	if (test->models != NULL)
		fixture_set_models(fixture, test->models);
	return fixture;
}

static void
check_case(const Case *test)
{
	g_autoptr(Fixture) fixture = fixture_of(test);
	guint n_jobs = fixture->workload->n_jobs;
	g_autofree GString **firsts = g_new0(GString *, n_jobs);
	Recorder recorder = { .self = firsts, .segment = note_first };
	g_autofree char *found = NULL, *found_firsts = NULL;

	fixture->recorder = &recorder;
	fixture_run(fixture, test->policy);
	found = fixture_to_string(fixture);
	found_firsts = join_firsts(firsts, n_jobs);
	ck_assert_msg(g_str_equal(found, test->expected), "%s:\n  right %s\n  found %s", test->name,
	              test->expected, found);
	ck_assert_msg(test->firsts == NULL || g_str_equal(found_firsts, test->firsts),
	              "%s: GPUs\n  right %s\n  found %s", test->name, test->firsts, found_firsts);
}

START_TEST(keeps_affinity)
{
	check_case(&affinity[_i]);
}
END_TEST

START_TEST(takes_turns)
{
	check_case(&slicing[_i]);
}
END_TEST

START_TEST(migrates)
{
	check_case(&migration[_i]);
}
END_TEST

START_TEST(packs)
{
	check_case(&packing[_i]);
}
END_TEST

START_TEST(grows_and_shrinks)
{
	check_case(&growing[_i]);
}
END_TEST

/* Two packed jobs hold the GPU once (A83): all 10 s of it, not 20. */
START_TEST(counts_a_packed_gpu_once)
{
	g_autoptr(Fixture) fixture = fixture_of(&packing[0]);

	fixture_run(fixture, "gandiva");
	ck_assert(fixture->record->allocated == 10 * GPU_TIME_PER_GPU_S);
	ck_assert(fixture->record->capacity == 10 * GPU_TIME_PER_GPU_S);
}
END_TEST

/* Each by itself is legal, so only what they come to may be refused (A79, B05). */
static const struct {
	const char *options;
	Cost cost;
	const char *part; /* of the complaint; NULL = none */
} quanta[] = {
	{ "gandiva:quantum_s=60", { .resume_s = 59 }, NULL },
	{ "gandiva:quantum_s=60", { .resume_s = 60 }, "quantum_s is 60" },
	{ "gandiva:quantum_s=60", { .resume_s = 30, .suspend_s = 30 }, "resume_s + suspend_s" },
	{ "gandiva:quantum_s=60", { .start_s = 61 }, "start_s" },
	{ "gandiva:quantum_s=60", { .migrate_s = 61 }, "largest is 61" },
	{ "gandiva:quantum_s=60,time_slicing=false", { .resume_s = 61 }, NULL },
	{ "gandiva:quantum_s=0", { 0 }, "quantum_s" },
	{ "gandiva:quantum=10", { 0 }, "quantum_s" },
};

START_TEST(checks_the_quantum)
{
	Case test = { .jobs = "A,0,1,10", .cluster = "1x1", .cost = quanta[_i].cost };
	g_autoptr(Fixture) fixture = fixture_of(&test);
	g_autoptr(GError) error = NULL;
	gboolean is_ok = fixture_try(fixture, quanta[_i].options, &error);

	ck_assert_int_eq(is_ok, quanta[_i].part == NULL);
	if (is_ok)
		return;
	ck_assert_int_eq(error->code, SIM_ERROR_USAGE);
	ck_assert_msg(strstr(error->message, quanta[_i].part) != NULL, "%s", error->message);
}
END_TEST

/* Crowds of all kinds: nobody is refused, forgotten or left waiting for ever. */

#define N_CROWDS 40

static const char *const crowd_clusters[] = {
	"2x4",
	"1x8,2x2",
	"3x4:new,2x2:old",
	"2x1:old,1x4:new,4x2:new",
	"gpu_types: {new: {mem_mib: 1000}, old: {}}\n"
	"racks:\n"
	"  - count: 2\n"
	"    machines:\n"
	"      - {count: 2, gpus: 4, slot_gpus: 2, gpu_type: new, cpus: 16}\n"
	"      - {count: 1, gpus: 2, gpu_type: old}\n",
};

static const char *const crowd_options[] = {
	"",
	"migration=false",
	"time_slicing=false",
	"packing=false",
	"affinity=false",
	"grow_shrink=false",
	"defragment=false",
	"max_height=2",
	"max_level=machine",
	"max_level=slot",
	"affinity=false,placement=spread",
	"migration=false,affinity=false",
};

static const Cost crowd_costs[] = {
	{ 0 }, { .migrate_s = 2 }, { 1, 2, 3, 4 }, { .suspend_s = 7 }, { .resume_s = 5 },
};

static guint
draw(RngStream stream, guint64 *n_drawn, guint n)
{
	return (guint)rng_below(stream, 0, (*n_drawn)++, n);
}

static char *
draw_jobs(RngStream stream, guint64 *n_drawn)
{
	static const guint gangs[] = { 1, 1, 1, 1, 2, 2, 3, 4, 8 };
	static const char *const wishes[] = {
		"",
		"",
		"",
		",model=together",
		",model=light",
		",model=calm",
		",model=busy",
		",model=near",
		",type=new",
		",gpu_mem=600",
	};
	GString *text = g_string_new(NULL);
	guint submit_s = 0;

	for (guint i = 0; i < 50; i++) {
		guint n_gpus = gangs[draw(stream, n_drawn, G_N_ELEMENTS(gangs))];

		submit_s += draw(stream, n_drawn, 2) * draw(stream, n_drawn, 20);
		g_string_append_printf(text, "j%u,%u,%u,%u%s", i, submit_s, n_gpus,
		                       draw(stream, n_drawn, 150),
		                       wishes[draw(stream, n_drawn, G_N_ELEMENTS(wishes))]);
		switch (draw(stream, n_drawn, 5)) {
		case 0:
			g_string_append_printf(text, ",min=1,max=%u", n_gpus + 2);
			break;
		case 1:
			g_string_append(text, n_gpus == 1 ? ",share=0.4" : ",min=1");
			break;
		case 2:
			g_string_append_printf(text, ",cpus=%u", n_gpus * 3);
			break;
		}
		g_string_append(text, "; ");
	}
	return g_string_free(text, FALSE);
}

START_TEST(serves_every_crowd)
{
	RngStream stream = rng_stream((guint64)_i, "crowd");
	guint64 n_drawn = 0;
	g_autofree char *jobs = draw_jobs(stream, &n_drawn);
	Case test = {
		.jobs = jobs,
		.cluster = crowd_clusters[draw(stream, &n_drawn, G_N_ELEMENTS(crowd_clusters))],
		.cost = crowd_costs[draw(stream, &n_drawn, G_N_ELEMENTS(crowd_costs))],
		.models = MODELS,
	};
	g_autofree char *policy = g_strdup_printf("gandiva:quantum_s=20%s%s",
	                                          _i % G_N_ELEMENTS(crowd_options) > 0 ? "," : "",
	                                          crowd_options[_i % G_N_ELEMENTS(crowd_options)]);
	g_autoptr(Fixture) fixture = fixture_of(&test);

	fixture_run(fixture, policy);
	for (JobId id = 0; id < fixture->workload->n_jobs; id++) {
		JobState state = fixture->record->jobs[id].state;

		ck_assert_msg(state == JOB_FINISHED || state == JOB_REJECTED, "%s on %s: %s",
		              policy, test.cluster, fixture->workload->jobs[id].name);
	}
}
END_TEST

static Suite *
gandiva_suite(void)
{
	Suite *suite = suite_create("gandiva");
	TCase *tests = tcase_create("gandiva");

	tcase_add_loop_test(tests, keeps_affinity, 0, G_N_ELEMENTS(affinity));
	tcase_add_loop_test(tests, takes_turns, 0, G_N_ELEMENTS(slicing));
	tcase_add_loop_test(tests, migrates, 0, G_N_ELEMENTS(migration));
	tcase_add_loop_test(tests, packs, 0, G_N_ELEMENTS(packing));
	tcase_add_loop_test(tests, grows_and_shrinks, 0, G_N_ELEMENTS(growing));
	tcase_add_test(tests, counts_a_packed_gpu_once);
	tcase_add_loop_test(tests, checks_the_quantum, 0, G_N_ELEMENTS(quanta));
	tcase_add_loop_test(tests, serves_every_crowd, 0, N_CROWDS);
	suite_add_tcase(suite, tests);
	return suite;
}

int
main(void)
{
	SRunner *runner = srunner_create(gandiva_suite());
	int n_failed;

	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
