#!/bin/bash
# SPDX-License-Identifier: MIT
# How a run that was let run ends (A41, B14), and what is left of it.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"

header=job_id,submit_time,num_gpus,duration

# S01: a job bigger than the cluster is rejected and named, and the rest goes on.
printf '%s\nA,0,16,100\nB,0,1,10\n' "$header" >big.csv
sim run --trace big.csv --cluster 2x4 --policy fifo --policy srtf --out results
ends_with 5
complains 'fifo: jobs rejected: 1'
complains '--allow-rejected'
has 1 results/summary.csv rejected
has 1 results/summary.csv finished
has 10 results/summary.csv jct_mean_s
has REJECTED results/fifo/jobs.csv state 1
holds grep -q 'needs 16' results/fifo/jobs.csv
prints fifo
sim run --trace big.csv --cluster 2x4 --policy fifo --out results --allow-rejected -q
ends_with 0
holds test ! -s out
sim run --trace big.csv --cluster 2x4 --policy fifo --out results --allow-unfinished
ends_with 5

# S18: a job that the stop cut off.
printf '%s\nA,0,1,10\nB,0,1,1000\n' "$header" >long.csv
sim run --trace long.csv --cluster 1x1 --policy fifo --out stopped --set stop_s=100
ends_with 5
complains 'fifo: jobs unfinished: 1'
has UNFINISHED stopped/fifo/jobs.csv state 2
has 90 stopped/fifo/jobs.csv run_s 2
sim run --trace long.csv --cluster 1x1 --policy fifo --set stop_s=100 --allow-unfinished
ends_with 0
complains 'nothing was written'
sim run --trace long.csv --cluster 1x1 --policy fifo --set stop_s=100 --allow-rejected
ends_with 5
# One policy is enough.
printf '%s\nA,0,1,10\nB,1,1,5\n' "$header" >two.csv
sim run --trace two.csv --cluster 1x1 --policy fifo --policy srtf --set stop_s=15 --out results
ends_with 0
sim run --trace two.csv --cluster 1x1 --policy fifo --policy srtf --set stop_s=14 --out results
ends_with 5

# A time beyond the clock shows up under a policy, and leaves nothing behind.
printf '%s\nA,0,1,9000000000\nB,0,1,9000000000\n' "$header" >late.csv
sim run --trace late.csv --cluster 1x1 --policy fifo --out late
ends_with 3
complains 'time overflow: job B'
is_absent late

# B14: a timeout is an answer.
printf '%s,time_limit\nA,0,1,10,10\nB,0,1,10,9\n' "$header" >limit.csv
sim run --trace limit.csv --cluster 1x2 --policy fifo --out limited
ends_with 0
has FINISHED limited/fifo/jobs.csv state 1
has TIMEOUT limited/fifo/jobs.csv state 2

# An output folder that cannot be made is 1, and nothing is half there.
echo file >file
sim run --trace two.csv --cluster 1x1 --policy fifo --out file/results
ends_with 1
complains 'file/results'
mkdir taken
echo mine >taken/fifo
sim run --trace two.csv --cluster 1x1 --policy fifo --out taken
ends_with 1
holds test "$(cat taken/fifo)" = mine
is_absent taken/summary.csv taken/run.json
no_leftovers taken

# A disk that fills up (E20), here a limit on the size of files: 1, and nothing is half there.
awk 'BEGIN {
	print "job_id,submit_time,num_gpus,duration"
	for (i = 1; i <= 2000; i++) print "j" i "," i ",1,1"
}' >many.csv
said='themis-sim run, with a full disk'
(ulimit -f 32 && exec "$program" run --trace many.csv --cluster 1x1 --policy fifo --out full) >out 2>err
status=$?
ends_with 1
complains 'fifo: '
complains 'cannot be written'
is_absent full/fifo full/summary.csv full/run.json
no_leftovers full

# summary.csv is that of the last run; other labels' folders stay.
sim run --trace two.csv --cluster 1x1 --policy fifo --policy srtf --out again
sim run --trace two.csv --cluster 1x1 --policy fifo --out again
ends_with 0
has_lines 2 again/summary.csv
is_there again/srtf/jobs.csv again/run.json again/perf.json
no_leftovers again

# A policy that fails stops no other, and the status is 1.
cat >broken.c <<'C'
#include "sim/policy.h"
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	plan_preempt(plan, 0);
}
extern const PolicyClass policy_class;
const PolicyClass policy_class = { .abi = POLICY_ABI, .name = "broken", .version = "1",
				   .summary = "", .source = "", .decide = decide };
C
holds compile broken
sim run --trace two.csv --cluster 1x1 --policy ./broken.so --policy fifo --out failed --strict
ends_with 1
complains 'broken: '
is_there failed/fifo/jobs.csv
is_absent failed/broken
has_lines 2 failed/summary.csv
no_leftovers failed
finish
