#!/bin/bash
# SPDX-License-Identifier: MIT
# Points of the contract, each on a trace whose result was worked out by hand from the text.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"
. "$root/tests/cli/replay.bash"

# with COLUMNS ROW...: a trace that has more columns than the usual four.
with() {
	printf '%s\n' "job_id,submit_time,num_gpus,duration${1:+,}$1" "${@:2}" >trace.csv
}

# table NAME ROW...: all rows of segments.csv or timeline.csv.
table() {
	local wanted
	wanted=$(printf '%s\n' "${@:2}")
	if [ "$(tail -n +2 "$folder/$1.csv")" = "$wanted" ]; then
		pass
	else
		fail "$1.csv is not as wanted: $(diff <(tail -n +2 "$folder/$1.csv") - <<<"$wanted")"
	fi
}

# A09, A10, A33, A52: all four overheads; a stopped job holds its GPU for suspend_s.
overheads=(--set 'overheads={start_s: 2, suspend_s: 3, resume_s: 5, migrate_s: 7}')
with priority A,0,1,10,0 B,6,1,4,1
replay 1x1 priority:preempt=true "${overheads[@]}" --segments --timeline
table segments A,0,0,9,0,0,slot,1,5,preempted A,1,15,26,0,0,slot,1,5,finished \
	B,0,9,15,0,0,slot,1,2,finished
table timeline 0,1,1,1,0,0 6,1,1,1,1,1 9,1,1,1,1,1 15,1,1,1,0,0 26,0,1,0,0,0
of A run_s 20
of A overhead_s 10
of A service_gpu_s 20
of A pending_s 6
of A segments 2
of A preemptions 1
of B wait_s 3
all alloc_gpu_s 26
all useful_gpu_s 14
all util_frac 1

# A11: what was paid of an overhead before a stop is lost.
with priority A,0,1,10,0 B,1,1,1,1 C,7,1,1,1
replay 1x1 priority:preempt=true --set 'overheads={start_s: 2, resume_s: 5}'
runs B 1 4
runs C 7 10
runs A 0 25
of A overhead_s 9
of A run_s 19
of A segments 3
of A preemptions 2

# A model's overheads stand in place of all four of the run.
cat >models.yaml <<'Y'
models:
  slow: {overheads: {start_s: 4, suspend_s: 1}}
Y
with priority,model A,0,1,10,0,slow B,6,1,4,1,
replay 1x1 priority:preempt=true "${overheads[@]}" --models models.yaml
runs B 7 13
runs A 0 21
of A overhead_s 5

# A17: the limit is reached while the job is being suspended; at its end, at the latest.
with priority,time_limit A,0,1,10,0,8 B,6,1,2,1,
for suspend in 5 2; do
	replay 1x1 priority:preempt=true --set overheads.suspend_s=$suspend --segments
	ends_with 0
	table segments A,0,0,8,0,0,slot,1,2,timeout B,0,8,10,0,0,slot,1,0,finished
	of A state TIMEOUT
	of A jct_s 8
	of A slowdown 0.8
	of A preemptions 0
	app A state TIMEOUT
	app A jct_s ''
	all useful_gpu_s 8
	all measured 1
	all jct_mean_s 4
	all rho_apps 1
done
with time_limit A,0,1,10,3 B,0,1,1,none C,0,1,1,0
replay 1x1 fifo --set overheads.start_s=5
of A finish_s 3
of A overhead_s 3
runs B 3 9
runs C 9 15
all useful_gpu_s 2

# A16: checkpoints are multiples of the job's own work, at any speed.
with priority,time_limit A,0,1,10,0, B,7,1,2,1,
replay 1x1 priority:preempt=true --set overheads.checkpoint_every_s=3
runs A 0 13
all alloc_gpu_s 13
all useful_gpu_s 12
with priority,time_limit A,0,1,10,0,8 B,7,1,2,1,
replay 1x1 priority:preempt=true --set overheads.checkpoint_every_s=3
of A finish_s 10
of A state TIMEOUT
all useful_gpu_s 8
printf 'models:\n  half: {slowdown: {slot: 2}}\n' >models.yaml
with priority,model A,0,1,10,0,half B,7,1,2,1,
replay 1x1 priority:preempt=true --set overheads.checkpoint_every_s=3 --models models.yaml
runs A 0 23
of A placement_score 0.5

# A03: a job without work stops another all the same, and a row of the timeline is of the instant.
trace A,0,1,10 B,5,1,0
replay 1x1 srtf --set overheads.resume_s=2 --timeline --segments
runs B 5 5
runs A 0 12
of A preemptions 1
table timeline 0,1,1,1,0,0 5,1,1,1,0,0 12,0,1,0,0,0
table segments A,0,0,5,0,0,slot,1,0,preempted A,1,5,12,0,0,slot,1,2,finished \
	B,0,5,5,0,0,slot,1,0,finished

# A04, B15: no GPUs, no overhead, and in no figure of GPUs.
trace Z,3,0,10 A,0,1,5
replay 1x1 srtf "${overheads[@]}" --segments
holds grep -q '^Z,0,3,13,,,' "$folder/segments.csv"
of Z overhead_s 0
of Z placement_score ''
of A finish_s 7
app A n_avg 1
app Z rho ''
all measured 2
all jct_mean_s 8.5
all makespan_s 13
all placement_score_mean 1
all util_frac 0.538461538

# A18, A32, B12: the stop.
with time_limit A,0,1,10, B,0,1,5, C,10,1,1, D,20,1,1, E,0,2,1, F,20,2,1,
replay 1x1 fifo --set stop_s=10 --timeline
ends_with 5
of A state FINISHED
for job in B C D F; do
	of $job state UNFINISHED
	of $job first_start_s ''
	of $job wait_s ''
	of $job finish_s ''
	of $job slowdown ''
	of $job placement_score ''
	of $job run_s 0
	of $job segments 0
done
of B pending_s 10
of C pending_s 0
of D pending_s 0
of E state REJECTED
of E pending_s ''
all first_submit_s 0
all last_finish_s 10
all util_frac 1
all unfinished 4
all rejected 1
replay 1x1 fifo --set stop_s=10 --allow-rejected
ends_with 5
replay 1x1 fifo --set stop_s=10 --allow-rejected --allow-unfinished
ends_with 0

# A limit that is reached at the stop is not: nothing happens then but ends of work.
with time_limit A,0,1,20,10 B,0,1,10,10
replay 1x2 fifo --set stop_s=10 --segments
of A state UNFINISHED
of B state FINISHED
table segments A,0,0,10,0,0,slot,1,0,stopped B,0,0,10,1,0,slot,1,0,finished
with time_limit A,0,1,0,3
replay 1x1 fifo --set stop_s=3 --set overheads.start_s=5
of A state UNFINISHED
with '' A,0,1,0
replay 1x1 fifo --set stop_s=3 --set overheads.start_s=3
of A state FINISHED

# The stop is an instant of the timeline, whatever ends there.
trace A,0,1,10
replay 1x1 fifo --set stop_s=10 --timeline
table timeline 0,1,1,1,0,0 10,0,1,0,0,0
replay 1x1 fifo --set stop_s=10 --timeline=5
table timeline 0,1,1,1,0,0 5,1,1,1,0,0 10,0,1,0,0,0
replay 1x1 fifo --set stop_s=11 --timeline
table timeline 0,1,1,1,0,0 10,0,1,0,0,0
replay 1x1 fifo --set stop_s=9 --timeline --stream
table timeline 0,1,1,1,0,0 9,1,1,1,0,0

# A32: cut inside an overhead, and while being suspended.
replay 1x1 fifo --set stop_s=3 --set overheads.start_s=5
of A run_s 3
of A overhead_s 3
of A service_gpu_s 3
of A pending_s 0
all useful_gpu_s 0
all alloc_gpu_s 3
with priority A,0,1,10,0 B,6,1,4,1
replay 1x1 priority:preempt=true --set overheads.suspend_s=3 --set stop_s=8 --segments
table segments A,0,0,8,0,0,slot,1,2,stopped
of A preemptions 0
of A overhead_s 2
of B pending_s 2
all useful_gpu_s 6
all alloc_gpu_s 8

# A27: with jobs unfinished, use is up to the stop.
trace A,0,1,10 B,150,1,1
replay 1x2 fifo --set stop_s=100
all util_frac 0.05
all makespan_s 10
trace R,0,3,10 A,5,1,10 B,20,1,5
replay 1x2 fifo
all first_submit_s 5
all makespan_s 20
all alloc_gpu_s 15
all util_frac 0.375
trace R,0,3,10
replay 1x2 fifo --allow-rejected
all first_submit_s ''
all last_finish_s ''
all makespan_s ''
all util_frac ''

# A02, A25, B13: a window is half open and counts from the first submit; an app is in it with its own.
with app_id a,5,1,10,x b,10,1,20,x c,10,1,30,y d,19.9,1,40,z e,20,1,50,z
replay 1x8 fifo --set 'window={from_s: 5, to_s: 15}'
all measured 3
all jct_mean_s 30
all rho_apps 2
all jobs 5
all finished 5
all alloc_gpu_s 150
replay 1x8 fifo --set 'window={to_s: 5}'
all measured 1
all jct_p50_s 10
all rho_apps 1
replay 1x8 fifo --set 'window={from_s: 16}'
all measured 0
all jct_mean_s ''
all rho_mean ''
all rho_apps 0

# A22: the states of apps.
with app_id,time_limit a,0,1,10,x,5 b,0,1,10,x, c,0,9,1,y, d,0,1,1,y, e,0,1,99,z, f,0,1,9,z,5 g,0,9,1,z, h,0,9,1,w, \
	i,0,1,9,w,5
replay 1x8 fifo --set stop_s=50
app x state TIMEOUT
app x service_gpu_s 15
app y state REJECTED
app z state UNFINISHED
app w state TIMEOUT
for column in finish_s jct_s n_avg t_shared_s t_independent_s rho rho_capped contention rho_contention; do
	app x $column ''
	app z $column ''
done

# A20, A08: n(t) while an app has nothing to do, without those of no GPUs and the rejected.
with app_id x1,0,1,10,X y,5,1,10,Y z,15,1,10,Z x2,30,1,10,X r,0,5,10,R w,0,0,100,W
replay 1x4 fifo
app X n_avg 1
app Y n_avg 1.5
app Z n_avg 1
app X t_independent_s 10
app X rho 4
app X rho_capped 4
app X contention 1
app Y t_independent_s 15
app Y rho 0.666666667
app W n_avg 0.4
app R n_avg ''
all rho_apps 3

# A21: a life of no length.
trace X,0,1,10 Y,0,1,10 N,5,1,0
replay 1x4 fifo
app N n_avg 3
app N t_independent_s 0
app N t_shared_s 0
app N rho ''
app N rho_capped ''
app N rho_contention ''
all rho_apps 2

# A23: d is of max_gpus, under every policy; W of num_gpus.
with max_gpus A,0,2,10,4
replay 1x8 fifo
app A t_independent_s 5
app A rho 2
app A rho_capped 2
app A contention 1

# C04
trace J1,0,2,10 J2,0,2,20
replay 1x2 fifo
app J1 contention 2
app J2 contention 1.333333333
app J1 rho_contention 0.5
app J2 rho_contention 1.125

# A45, B07, B19: parts of a GPU, by share and by memory.
printf 'gpu_types: {v: {mem_mib: 1000}}\nracks:\n  - machines: [{gpus: 1, gpu_type: v}]\n' >one.yaml
with gpu_share,gpu_mem_mib A,0,1,10,0.6,500 B,0,1,20,0.4,500 C,0,1,5,0.1,
for policy in fifo fifo-skip sjf srtf srsf las 2d-las priority easy tiresias gandiva themis; do
	replay one.yaml $policy --timeline
	ends_with 0
	all finished 3
	all alloc_gpu_s 14.5
done
replay one.yaml fifo --timeline --segments
table timeline 0,1,1,2,1,0.1 10,0.5,1,2,0,0 15,0.4,1,1,0,0 20,0,1,0,0,0
runs C 10 15
of A service_gpu_s 6
of B service_gpu_s 8
of C service_gpu_s 0.5
of A num_gpus 1
all useful_gpu_s 14.5
all util_frac 0.725
app A t_independent_s 30
app A rho 0.333333333
with gpu_share,gpu_mem_mib A,0,1,10,0.1,600 B,0,1,10,0.1,500 C,0,1,10,0.1,400 D,0,1,1,0.1,1001 E,0,1,1,,1001
replay one.yaml fifo-skip
runs C 0 10
runs B 10 20
of D state REJECTED
of E state REJECTED
with gpu_share A,0,1,10,0.9 B,0,1,10,1 C,0,1,10,0.1
replay 1x1 fifo-skip
runs C 0 10
runs B 10 20

# CPUs and host memory of the whole job, spread as its GPUs are.
printf 'racks:\n  - machines: [{count: 2, gpus: 2, cpus: 4, mem_mib: 100}]\n' >two.yaml
with cpus,mem_mib A,0,1,10,3, B,0,1,10,3, C,0,1,10,,60 D,0,1,10,,60 E,0,1,1,5, F,0,1,1,,101
replay two.yaml fifo-skip --segments
runs A 0 10
runs B 0 10
runs C 0 10
runs D 0 10
of E state REJECTED
of F state REJECTED
with cpus A,0,1,10,3 B,0,1,10,3 C,0,1,10,3
replay two.yaml fifo-skip
runs C 10 20
with cpus A,0,4,10,6 B,0,4,10,9
replay two.yaml fifo
runs A 0 10
of B state REJECTED

# A46: a worker is in one machine, machines may be shared.
printf '%s\n' job_id,submit_time,duration,workers,gpus_per_worker A,0,10,2,3 B,20,10,3,2 C,20,10,1,5 D,40,10,4,2 >trace.csv
replay 2x4 fifo --segments
holds test "$(cut -d, -f1,5,6 "$folder/segments.csv" | tail -n +2 | tr '\n' ' ')" = \
	'A,0-2 4-6,0-1 B,0-5,0-1 D,0-7,0-1 '
of A num_gpus 6
of C state REJECTED
replay 2x5 fifo --segments
holds grep -q '^C,0,.*,[0-9-]*,[01],machine\|^C,0,.*,slot' "$folder/segments.csv"
of C state FINISHED
replay 3x3 fifo
of D state REJECTED

# A44, B08: types.
with gpu_type A,0,1,10,V100 B,0,1,10,nan C,0,1,10,'k80|p100' D,0,1,10,k80 E,0,5,10, F,0,4,10,'v100|p100'
replay 1x4:v100,2x2:p100 fifo-skip --segments
holds grep -q '^A,0,0,10,0,0,' "$folder/segments.csv"
holds grep -q '^B,0,0,10,4,1,' "$folder/segments.csv"
holds grep -q '^C,0,0,10,5,1,' "$folder/segments.csv"
of A gpu_type V100
of D state REJECTED
holds grep -q '"needs gpu_type k80, the cluster has v100, p100"' "$folder/jobs.csv"
of E state REJECTED
runs F 10 20
holds grep -q '^F,0,10,20,0-3,0,' "$folder/segments.csv"

# Speed by type: the first type named in gpu_type is what the duration was measured on.
cat >models.yaml <<'Y'
models:
  m: {throughput: {p100: 1, v100: 2}}
  third: {slowdown: {slot: 3}}
  wide: {slowdown: {machine: 1.25, rack: 2, cluster: 4}}
  still: {throughput: {k80: 0}}
  scaled: {scaling: [1, 1.5, 1.8, 2]}
  both: {throughput: {p100: 0.5}, slowdown: {machine: 1.25}}
Y
with gpu_type,model A,0,1,10,p100'|'v100,m B,0,1,10,v100,m C,0,1,10,v100'|'p100,m
replay 1x3:v100 fifo --models models.yaml
of A finish_s 5
of B finish_s 10
of C finish_s 10
replay 1x3:p100 fifo --models models.yaml --allow-rejected
of A finish_s 10
of B state REJECTED
of C finish_s 20

# A model that stands still on every type is told as the reason.
with gpu_type,model A,0,1,10,,still B,0,1,10,'k80|v100',still C,0,1,10,v100,still
replay 1x1:k80 fifo --models models.yaml --allow-rejected
for row in 1 2; do
	holds test "$(sed -n $((row + 1))p "$folder/jobs.csv" | cut -d'"' -f2)" = \
		'model still cannot run on the types it may have, the cluster has k80'
done
holds grep -q '"needs gpu_type v100, the cluster has k80"' "$folder/jobs.csv"

# A05: speeds are floored, ends are rounded up. The product of type and place.
with model A,0,1,1,third
replay 1x1 fifo --models models.yaml --segments
of A finish_s 3.000000004
holds grep -q ',slot,0.333333333,0,finished' "$folder/segments.csv"
of A placement_score 0.333333333
with model A,0,4,10,both
printf 'racks:\n  - machines: [{gpus: 4, slot_gpus: 2, gpu_type: p100}]\n' >slots.yaml
replay slots.yaml fifo --models models.yaml --segments
of A finish_s 25
of A placement_score 0.8
holds grep -q ',machine,0.4,0,finished' "$folder/segments.csv"

# A05: with another width, the ratio of the curve; rigid under a policy that does not resize.
with model,min_gpus,max_gpus A,0,2,10,scaled,1,4
replay 1x4 themis --models models.yaml --segments
table segments A,0,0,7.500000002,0-3,0,slot,1.333333333,0,finished
of A service_gpu_s 30.000000008
all useful_gpu_s 20
app A t_independent_s 5
replay 1x4 fifo --models models.yaml --segments
table segments A,0,0,10,0-1,0,slot,1,0,finished

# DESIGN 3, 5: who shares GPUs is re-rated when others come and go.
printf 'models:\n  twin: {utilisation: 0.5, packed: {twin: 0.6}}\n' >twin.yaml
with model A,0,1,12,twin B,6,1,12,twin
replay 1x1 gandiva --models twin.yaml --segments
table segments A,0,0,6,0,0,slot,1,0,speed A,1,6,16,0,0,slot,0.6,0,finished \
	B,0,6,16,0,0,slot,0.6,0,speed B,1,16,22,0,0,slot,1,0,finished
all alloc_gpu_s 22
all useful_gpu_s 24

# Levels (A85): machines of a shorthand are in no rack, so that each is one of its own.
printf 'racks:\n  - count: 2\n    machines: [{count: 2, gpus: 4, slot_gpus: 2}]\n' >racks.yaml
with model A,0,2,10,wide B,100,4,10,wide C,200,8,10,wide D,300,16,10,wide
replay racks.yaml fifo --models models.yaml --segments
table segments A,0,0,10,0-1,0,slot,1,0,finished B,0,100,112.5,0-3,0,machine,0.8,0,finished \
	C,0,200,220,0-7,0-1,rack,0.5,0,finished D,0,300,340,0-15,0-3,cluster,0.25,0,finished
all placement_score_mean 0.6375
with model A,0,8,10,wide
replay 2x4 fifo --models models.yaml --segments
table segments A,0,0,40,0-7,0-1,cluster,0.25,0,finished
with model A,0,2,10,wide B,100,4,10,wide C,200,8,10,wide D,300,16,10,wide
for level in slot machine rack cluster; do
	replay racks.yaml fifo:max_level=$level --models models.yaml --allow-rejected
	case $level in slot) wanted=3 ;; machine) wanted=2 ;; rack) wanted=1 ;; *) wanted=0 ;; esac
	all rejected $wanted
done

# A13, C01: off its GPUs and onto others in one plan is a move, without a suspend.
trace A,0,1,100 B,0,1,10 C,0,1,100 W,20,2,5
replay 2x2 srtf:max_level=machine --set 'overheads={suspend_s: 3, resume_s: 5, migrate_s: 7}' --segments
runs W 20 25
of C migrations 1
of C preemptions 0
of C finish_s 107
of C overhead_s 7
holds grep -q '^C,0,0,20,2,1,slot,1,0,moved' "$folder/segments.csv"
holds grep -q '^C,1,20,107,0,0,slot,1,7,finished' "$folder/segments.csv"

# A52: samples.
trace A,100,1,10 B,104,1,3
replay 1x2 fifo --timeline=4
table timeline 100,1,2,1,0,0 104,2,2,2,0,0 108,1,2,1,0,0

# A42, A43, A53: numbers.
printf '%s\n' job_id,submit_time,num_gpus,duration A,0,1,1e1 'B, 5 ,1.0, 2.5e-1 ' C,0,1,1.0000000005 D,0,1,0.0000000015 >trace.csv
replay 1x9 fifo
ends_with 0
of A duration_s 10
of B duration_s 0.25
of B submit_s 5
of C duration_s 1
of D duration_s 0.000000002
holds grep -q '"more than nine decimals": 2' results/run.json
for bad in -1 +5 0x10 inf nan 1,5 1e400 10s '' . 1e 1_000; do
	trace "A,0,1,\"$bad\""
	replay 1x1 fifo
	ends_with 3
done
printf '%s\n' job_id,submit_time,num_gpus,duration,start_time,end_time A,0,1,5,10,20 B,0,1,10,10,20 C,0,1,7,, >trace.csv
replay 1x3 fifo
ends_with 0
of A duration_s 10
of C duration_s 7
holds grep -q '"duration differs from end - start": 1' results/run.json

# A40: the hour that occurs twice is taken as the first, and noticed.
printf '%s\n' job_id,submit_time,num_gpus,duration 'A,2023-11-05 01:30:00,1,1' 'B,2023-11-05 02:30:00,1,1' >trace.csv
replay 1x3 fifo --tz America/New_York
of A submit_s 1699162200
of B submit_s 1699169400
holds grep -q '"ambiguous local time": 1' results/run.json

# A19, A31: GPU-seconds beyond 64 bits of nanoseconds; an end beyond the clock.
trace A,0,10,4000000000
replay 1x10 fifo
of A service_gpu_s 40000000000
all alloc_gpu_s 40000000000
trace A,0,1,9e9 B,0,1,9e9
replay 1x1 fifo
ends_with 3
complains 'time overflow'
is_absent results/fifo results/summary.csv

# A30: rows as in the file, whatever the order of submits.
with app_id c,20,1,1,Q a,0,1,1,P b,10,1,1,Q
replay 1x1 fifo --segments
holds test "$(cut -d, -f1 "$folder/jobs.csv" "$folder/segments.csv" | tr '\n' ' ')" = 'job_id c a b job_id c a b '
holds test "$(cut -d, -f1 "$folder/apps.csv" | tr '\n' ' ')" = 'app_id Q P '
app Q submit_s 10
app Q jct_s 11

# B16: what is rejected is told at its submit, what is cut at the stop.
trace A,0,1,10 R,5,2,1 B,1,1,99
replay 1x1 fifo --stream --set stop_s=20
holds test "$(cut -d, -f1 "$folder/jobs.csv" | tr '\n' ' ')" = 'job_id R A B '

# A79, B05
trace A,0,1,10
rm -rf results
refuses 2 quantum_s run --trace trace.csv --cluster 1x1 --policy las:quantum_s=5 --out results \
	--set 'overheads={resume_s: 3, suspend_s: 2}'
complains resume_s
refuses 2 lease_s run --trace trace.csv --cluster 1x1 --policy themis:lease_s=7 --out results --set overheads.migrate_s=7
replay 1x1 themis:lease_s=7.1 --set overheads.migrate_s=7
ends_with 0

# A87, B18
all seed 1
of A overhead_s 0
finish
