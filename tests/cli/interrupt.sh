#!/bin/bash
# SPDX-License-Identifier: MIT
# SIGINT (A50): 130, what has ended stays, nothing of what was running. SIGTERM: the same, with 143.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"

# fifo, but asleep for a while at each decision: a run of it takes minutes.
cat >slow.c <<'C'
#include "sim/policy.h"
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
	g_usleep(1000);
}
extern const PolicyClass policy_class;
const PolicyClass policy_class = { .abi = POLICY_ABI, .name = "slow", .version = "1",
				   .summary = "", .source = "", .decide = decide };
C
holds compile slow
awk 'BEGIN {
	print "job_id,submit_time,num_gpus,duration"
	for (i = 1; i <= 60000; i++) print "j" i "," i ",1,1"
}' >trace.csv

# interrupted FOLDER OPTION...: runs fifo and slow, and interrupts that once fifo has ended.
interrupted() {
	local folder=$1 pid
	shift
	said="themis-sim run --out $folder $*, interrupted"
	"$program" run --trace trace.csv --cluster 1x1 --policy fifo --policy ./slow.so \
		--policy srtf@never --out "$folder" "$@" >out 2>err &
	pid=$!
	for _ in $(seq 600); do
		[ -d "$folder/fifo" ] && break
		sleep 0.1
	done
	sleep 0.2
	kill "-$signal" "$pid"
	wait "$pid"
	status=$?
}
signal=INT

interrupted one -j 1
ends_with 130
complains 'interrupted: 1 of 3'
is_there one/fifo/jobs.csv one/fifo/apps.csv one/perf.json
is_absent one/slow one/never
no_leftovers one
has_lines 2 one/summary.csv
has fifo one/summary.csv policy
has 60000 one/summary.csv finished
has_lines 60001 one/fifo/jobs.csv
holds grep -q '"interrupted": true' one/run.json
prints fifo

# What has ended is what it would have been.
sim run --trace trace.csv --cluster 1x1 --policy fifo --out whole
ends_with 0
holds diff -r one/fifo whole/fifo
holds cmp one/summary.csv whole/summary.csv
holds grep -qv interrupted whole/run.json

# On several threads too.
interrupted two -j 3
ends_with 130
is_absent two/slow
no_leftovers two
holds grep -q '"interrupted": true' two/run.json

# A batch system that ends a job is answered in the same way.
signal=TERM
interrupted terminated -j 1
ends_with 143
complains 'interrupted: 1 of 3'
is_there terminated/fifo/jobs.csv
is_absent terminated/slow terminated/never
no_leftovers terminated
holds grep -q '"interrupted": true' terminated/run.json

# An instant of more samples than anybody waits for.
said='themis-sim run --timeline=1e-9, interrupted'
"$program" run --trace trace.csv --cluster 1x1 --policy fifo --timeline=1e-9 --out samples \
	>out 2>err &
pid=$!
for _ in $(seq 600); do
	[ -n "$(ls -A samples 2>/dev/null)" ] && break
	sleep 0.1
done
kill -INT "$pid"
wait "$pid"
status=$?
ends_with 130
is_absent samples/fifo
no_leftovers samples

# With only one policy there is an empty table.
said='themis-sim run --policy ./slow.so, interrupted'
"$program" run --trace trace.csv --cluster 1x1 --policy ./slow.so --out three >out 2>err &
pid=$!
for _ in $(seq 600); do
	[ -n "$(ls -A three 2>/dev/null)" ] && break
	sleep 0.1
done
kill -INT "$pid"
wait "$pid"
status=$?
ends_with 130
has_lines 1 three/summary.csv
is_absent three/slow
no_leftovers three

# While it still reads there is nothing to keep.
mkfifo pipe
said='themis-sim run --trace pipe, interrupted'
"$program" run --trace pipe --cluster 1x1 --policy fifo --out four >out 2>err &
pid=$!
sleep 0.3
kill -INT "$pid"
wait "$pid"
status=$?
ends_with 130
is_absent four
finish
