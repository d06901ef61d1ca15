#!/bin/bash
# SPDX-License-Identifier: MIT
# Inputs that break simulators of this kind, each with its right value, through the program. The
# numbers S01 to S20 and E01 to E30 are those of the collection that they are from; those that
# need formats or commands of later versions are not here.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"
. "$root/tests/cli/replay.bash"

# S01: bigger than the cluster
trace A,0,16,100 B,0,1,10
replay 2x4 fifo
ends_with 5
of A state REJECTED
of A reject_reason Q
holds grep -q '"needs 16 GPUs, the cluster has 8"' "$folder/jobs.csv"
runs B 0 10
all jobs 2
all finished 1
all rejected 1
all jct_mean_s 10
all makespan_s 10
replay 2x4 fifo --allow-rejected
ends_with 0

# S02: a job without GPUs
trace A,0,0,50 B,0,8,10
replay 1x8 fifo --timeline
ends_with 0
of A jct_s 50
of A service_gpu_s 0
runs B 0 10
all util_frac 0.2
all makespan_s 50
app A rho ''
holds test "$(sed -n 2p "$folder/timeline.csv")" = 0,8,8,2,0,0

# S03: no duration
trace A,0,1,0 B,0,1,5
replay 1x1 fifo
ends_with 0
runs A 0 0
of A jct_s 0
of A slowdown ''
runs B 0 5
all jct_mean_s 2.5

# S04: identical arrival times go in file order, whoever comes later
trace c,0,2,10 a,0,1,10 b,0,1,10
replay 1x2 fifo
runs c 0 10
runs a 10 20
runs b 10 20
all jct_mean_s 16.666666667
cp "$folder/jobs.csv" before.csv
trace c,0,2,10 a,0,1,10 b,0,1,10 far,1000000,1,1
replay 1x2 fifo
holds diff before.csv <(grep -v '^far' "$folder/jobs.csv")

# S05: unsorted
trace A,100,1,10 B,0,1,10 C,50,1,10
replay 1x1 fifo
ends_with 0
complains 'trace.csv:3:'
runs B 0 10
runs C 50 60
runs A 100 110
holds test "$(cut -d, -f1 "$folder/jobs.csv" | tr '\n' ' ')" = 'job_id A B C '

# S06: the same id twice
trace X,0,1,10 X,5,1,20
replay 1x1 fifo
ends_with 3
complains 'trace.csv:3'
complains 'X'
complains 'line 2'
is_absent results

# S07, S08: CRLF, no final newline, byte-order mark
printf 'job_id,submit_time,num_gpus,duration\r\n1,0,1,10\r\n2,0,1,20' >trace.csv
replay 1x1 fifo
of 1 jct_s 10
of 2 jct_s 30
cp "$folder/jobs.csv" before.csv
trace 1,0,1,10 2,0,1,20
replay 1x1 fifo
holds cmp before.csv "$folder/jobs.csv"
printf '\xef\xbb\xbf"job_id",submit_time,num_gpus,duration\n1,0,1,10\n2,0,1,20\n' >trace.csv
replay 1x1 fifo
holds cmp before.csv "$folder/jobs.csv"
printf '\xff\xfej\0o\0b\0' >trace.csv
replay 1x1 fifo
ends_with 3
complains UTF-16

# S09: comments and blank lines; a semicolon starts none
printf '# made by hand\njob_id,submit_time,num_gpus,duration\n1,0,1,10\n\n# note\n2#x,0,1,20\n\n\n' >trace.csv
replay 1x1 fifo
ends_with 0
of 2#x jct_s 30
all jobs 2
trace 1,0,1,10 '; note'
replay 1x1 fifo
ends_with 3
complains 'trace.csv:3'

# S10: ids are text
trace application_1_2,0,1,1 dlc01x,0,1,1 007,0,1,1 7,0,1,1
replay 1x4 fifo
all jobs 4
holds test "$(cut -d, -f1 "$folder/jobs.csv" | tr '\n' ' ')" = 'job_id application_1_2 dlc01x 007 7 '

# S11: end before start
printf '%s\n' job_id,submit_time,start_time,end_time,num_gpus A,100,100,0,1 B,100,100,160,1 >trace.csv
replay 1x1 fifo
ends_with 3
complains 'trace.csv:2:'
replay 1x1 fifo --skip-bad-rows
ends_with 0
of B duration_s 60
all jobs 1
holds grep -q '"rejected": 1' results/run.json

# S12: fractions of a second
trace A,0.5,1,10.25 B,0.5,1,0.25
replay 1x1 fifo
runs A 0.5 10.75
runs B 10.75 11
of A jct_s 10.25
of B jct_s 10.5
trace A,0,1,'"1,5"'
replay 1x1 fifo
ends_with 3
complains 'trace.csv:2:7:'

# S14: several gzip members; a cut one
trace A,0,1,1 B,0,1,1
gzip -c trace.csv >both.csv.gz
echo C,0,1,1 | gzip -c >>both.csv.gz
cp both.csv.gz trace.csv
replay 1x1 fifo
ends_with 0
all jobs 3
head -c 60 both.csv.gz >trace.csv
replay 1x1 fifo
ends_with 3

# S15: nothing but a header
trace
replay 1x1 fifo
ends_with 0
all jobs 0
all jct_mean_s ''
all util_frac ''
: >trace.csv
replay 1x1 fifo
ends_with 3

# S16: back to back
trace A,0,1,10 B,0,1,5
replay 1x1 fifo --timeline
holds test "$(cut -d, -f1,2 "$folder/timeline.csv" | tr '\n' ' ')" = 'time_s,allocated_gpus 0,1 10,1 15,0 '
all util_frac 1

# S17: a completion is booked when the work is done
trace A,0,1,10
replay 1x1 las:quantum_s=300
of A finish_s 10
replay 1x1 las:quantum_s=300 --set stop_s=300
of A jct_s 10

# S18: unfinished jobs
trace A,0,1,10 B,0,1,1000
replay 1x1 fifo --set stop_s=100
ends_with 5
of B state UNFINISHED
of B finish_s ''
of B jct_s ''
of B run_s 90
all jct_mean_s 10
all finished 1
all unfinished 1
replay 1x1 fifo --set stop_s=100 --allow-unfinished
ends_with 0

# S19: finish-time fairness
trace J1,0,4,100 J2,0,4,100
replay 1x4 fifo
app J1 n_avg 2
app J2 n_avg 1.5
app J1 t_independent_s 200
app J2 t_independent_s 150
app J1 rho 0.5
app J2 rho 1.333333333
app J1 rho_capped 0.5
app J2 rho_capped 1.333333333

# S20: gangs are whole
trace A,0,4,10 B,0,4,10
replay 2x2 fifo --timeline
runs A 0 10
runs B 10 20
all makespan_s 20
trace A,0,3,10 B,0,3,10 C,0,3,10 D,0,3,10
for policy in fifo fifo-skip srtf las tiresias gandiva themis; do
	replay 2x4 "$policy"
	ends_with 0
	all finished 4
done

# E01: a wide job among many small ones
{
	echo job_id,submit_time,num_gpus,duration
	echo BIG,1,4,10
	for i in $(seq 0 99); do echo "s$i,$i,1,4"; done
} >trace.csv
replay 1x4 fifo
runs BIG 4 14
of BIG jct_s 13
replay 1x4 fifo-skip
runs BIG 103 113
of BIG jct_s 112
all wait_max_s 102
all wait_max_job BIG

# E02: nobody overtakes under fifo
trace A,0,3,10 B,1,4,10 C,2,1,5
replay 1x4 fifo
of A jct_s 10
of B jct_s 19
of C jct_s 23
replay 1x4 fifo-skip
runs C 2 7

# E03: the trace's own state changes nothing
printf '%s\n' job_id,submit_time,num_gpus,duration,state A,0,1,20,FAILED B,0,1,20,COMPLETED >trace.csv
replay 1x1 fifo
runs A 0 20
of A state FINISHED
of A trace_state FAILED

# E04: the limit equals the run time
printf '%s\n' job_id,submit_time,num_gpus,duration,time_limit A,0,1,10,10 B,0,1,10,9 >trace.csv
replay 1x2 fifo
ends_with 0
of A state FINISHED
of A finish_s 10
of B state TIMEOUT
of B finish_s 9
all jct_mean_s 10

# E05: units in names
printf '%s\n' job_id,submit_time_ms,num_gpus,duration_ms A,0,1,10000 >trace.csv
replay 1x1 fifo
of A jct_s 10

# E06: zones
printf '%s\n' job_id,submit_time,num_gpus,duration \
	'A,2023-03-01 08:00:00+08:00,1,1' 'B,2023-03-01 00:00:00+00:00,1,1' >trace.csv
replay 1x2 fifo
of A submit_s 1677628800
of B submit_s 1677628800
printf '%s\n' job_id,submit_time,num_gpus,duration \
	'A,2023-03-01 08:00:00+08:00,1,1' 'B,2023-03-01 00:00:00,1,1' >trace.csv
replay 1x2 fifo
ends_with 3
complains 'trace.csv:3:3:'
replay 1x2 fifo --tz UTC
ends_with 0

# E07: a makespan is a length
trace A,1000,1,10
replay 1x1 fifo
all makespan_s 10
all first_submit_s 1000
all last_finish_s 1010

# E08: nothing is restarted, nothing is charged
trace A,0,1,100
replay 1x1 srtf --set overheads.resume_s=30
of A jct_s 100
of A overhead_s 0
replay 1x1 srtf --set overheads.start_s=30
of A jct_s 130
replay 1x1 las:quantum_s=40 --set overheads.resume_s=30
of A jct_s 100

# E09: service is scaled by GPUs from the first instant on
trace wide,0,4,300 narrow,0,1,300
replay 1x5 fifo
of wide service_gpu_s 1200
of narrow service_gpu_s 300

# E10: the end of a job that was stopped
printf '%s\n' job_id,submit_time,num_gpus,duration,priority A,0,1,10,0 B,5,1,3,1 >trace.csv
replay 1x1 priority:preempt=true
runs A 0 13
runs B 5 8
of A preemptions 1

# E12: ten thousand tenths are a thousand
{
	echo job_id,submit_time,num_gpus,duration
	for i in $(seq 10000); do echo "j$i,0,1,0.1"; done
} >trace.csv
rm -rf results
sim run --trace trace.csv --cluster 1x1 --policy fifo --out results -q
all last_finish_s 1000

# E13, E14: to the end, and not a tick longer, under everybody
trace A,0,1,1000
for policy in fifo srtf srsf las 2d-las tiresias gandiva themis easy sjf; do
	replay 1x1 "$policy"
	of A jct_s 1000
done
trace A,0,1,10 B,0,1,10
for policy in fifo srtf las:quantum_s=100 tiresias sjf easy; do
	replay 1x1 "$policy"
	of A jct_s 10
	of B jct_s 20
done

# E15: packed jobs hold their GPU once
cat >models.yaml <<'Y'
models:
  twin: {utilisation: 0.5, packed: {twin: 1}}
Y
printf '%s\n' job_id,submit_time,num_gpus,duration,model A,0,1,10,twin B,0,1,10,twin >trace.csv
replay 1x1 gandiva --models models.yaml
of A finish_s 10
of B finish_s 10
all alloc_gpu_s 10
all util_frac 1

# E16: quantiles are linear, and waits of nothing count
trace a,0,1,10 b,0,1,20 c,0,1,30 d,0,1,40
replay 1x4 fifo
all jct_p50_s 25
all jct_p90_s 37
all wait_p50_s 0

# E17: what waits holds nothing
trace R,0,1,100 G,1,4,10 S,2,1,5
replay 1x4 fifo-skip --timeline
runs S 2 7
runs G 100 110
holds test "$(awk -F, '$1 == 1 { print $2 }' "$folder/timeline.csv")" = 1

# E18: ten GPUs in machines of four
trace A,0,10,10
replay 2x4,1x2 fifo
runs A 0 10

# E19: unknown words
rm -rf results
refuses 2 --policy run --polcy=srtf --trace trace.csv --cluster 1x1
refuses 2 srtf run --policy srft --trace trace.csv --cluster 1x1
refuses 2 thresholds_gpu_s run --policy tiresias:treshold_gpu_s=1 --trace trace.csv --cluster 1x1

# E24: a default that would switch the policy off
refuses 2 quantum_s run --policy las:quantum_s=0 --trace trace.csv --cluster 1x1 --out results

# E26: never on a type where it cannot run
cat >models.yaml <<'Y'
models:
  modern: {throughput: {v100: 1, k80: 0}}
Y
printf '%s\n' job_id,submit_time,num_gpus,duration,model A,0,1,10,modern B,0,1,10,modern >trace.csv
for policy in fifo srtf las:quantum_s=20 tiresias gandiva themis; do
	replay 1x1:k80,1x1:v100 "$policy" --models models.yaml --segments
	ends_with 0
	holds test "$(cut -d, -f5 "$folder/segments.csv" | sort -u | tr '\n' ' ')" = '1 gpus '
done

# E27: short and long rows, a cut file
trace A,0,1
replay 1x1 fifo
ends_with 3
complains 'trace.csv:2'
complains '3 cells, wanted 4'
trace A,0,1,10,5,6
replay 1x1 fifo
ends_with 3
complains '6 cells, wanted 4'

# E30: service of a job that is stopped by its limit
printf '%s\n' job_id,submit_time,num_gpus,duration,time_limit A,0,2,4,3 >trace.csv
replay 1x2 fifo
of A state TIMEOUT
of A service_gpu_s 6

# Themis promises no CPUs and no memory twice in one plan.
cat >cluster.yaml <<'Y'
gpu_types: {v100: {mem_mib: 1000}, p100: {mem_mib: 600}}
racks:
  - machines:
      - {count: 2, gpus: 2, gpu_type: v100, cpus: 8, mem_mib: 100}
      - {gpus: 1, gpu_type: p100, cpus: 8, mem_mib: 100}
Y
printf '%s\n' job_id,submit_time,num_gpus,duration,app_id,gpu_share,gpu_mem_mib,cpus,mem_mib \
	j2,18,1,13,,0.1,300,3, j8,0,3,3,,,,1.5, j9,0,1,27,y,,700,7, j12,0,1,23,,,700,3, \
	j14,0,1,18,,0.25,,,70 j16,17,2,0,,,,, j17,0,3,12,y,,,,30 >trace.csv
for seed in $(seq 20); do
	replay cluster.yaml themis:lease_s=8 --seed "$seed" \
		--set 'overheads={start_s: 1, suspend_s: 1, resume_s: 1, migrate_s: 2}'
	ends_with 0
done

# A round at once, or at the next multiple of the lease: B is done at 150.
trace A,0,4,150 B,10,4,50
replay 1x4 themis:lease_s=100
runs B 100 150
of A finish_s 200
replay 1x4 themis:lease_s=100,trigger=periodic
runs B 100 150
of A finish_s 250
finish
