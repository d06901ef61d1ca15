#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Policies that misbehave are refused with one named verdict: under --strict the run ends with
# status 1 and names policy, job and verdict; without it the edit is counted and changes nothing.
set -u

program=${THEMIS_SIM:-build/themis-sim}
rogues=${THEMIS_BUILD:-build/release}/tests/rogue
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n_passed=0
n_failed=0

cat >"$work/cluster.yaml" <<'Y'
gpu_types:
  v100: {mem_mib: 16000}
racks:
  - machines: [{gpus: 4, gpu_type: v100}]
Y
cat >"$work/trace.csv" <<'Y'
job_id,submit_time,num_gpus,duration,gpu_mem_mib
A,0,2,100,9000
B,0,2,100,9000
C,50,1,10,100
Y

# expect NAME STATUS TEXT [OPTION...]: the rogue NAME ends with STATUS, saying TEXT.
expect() {
	local name=$1 status=$2 text=$3 got
	shift 3
	"$program" run --cluster "$work/cluster.yaml" --trace "$work/trace.csv" \
		--policy "$rogues/$name.so" "$@" >"$work/out" 2>&1
	got=$?
	if [ "$got" -eq "$status" ] && grep -qF -- "$text" "$work/out"; then
		n_passed=$((n_passed + 1))
		return
	fi
	n_failed=$((n_failed + 1))
	echo "$name $*: status $got, wanted $status and '$text':"
	sed 's/^/    /' "$work/out"
}

expect double_placement 1 'place of job B refused: no room' --strict
expect place_running 1 'place of job A refused: wrong state' --strict
expect too_much_memory 1 'place of job B refused: no room' --strict
expect free_anothers 1 'preempt of job B refused: wrong state' --strict
expect preempt_uncapable 1 'preempt of job A refused: not capable' --strict
expect peek 1 'knowledge of the work of job A refused: not capable' --strict
expect part_of_a_gang 1 'place of job A refused: bad allocation' --strict
expect same_gpu_twice 1 'place of job A refused: bad allocation' --strict
expect no_such_gpu 1 'place of job A refused: bad allocation' --strict
expect no_such_job 1 'place of job (no such job) refused: wrong state' --strict
expect not_arrived 1 'place of job C refused: wrong state' --strict
expect wake_for_ever 1 'wakes itself again and again at one instant'
expect wake_without_end 1 'wakes itself again and again without starting any of 3 queued jobs'
expect swap_for_ever 1 'are stopped again and again without any work done' --set overheads.resume_s=2 --set overheads.start_s=2

expect swap_slowly 1 'are stopped again and again with next to no work done' --set overheads.resume_s=2 --set overheads.start_s=2

# Without --strict the run goes on, under every invariant.
for name in double_placement place_running too_much_memory free_anothers part_of_a_gang; do
	expect "$name" 5 '' --paranoid
done

echo "$n_passed passed, $n_failed failed"
[ "$n_failed" -eq 0 ]
