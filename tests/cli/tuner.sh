#!/bin/bash
# SPDX-License-Identifier: MIT
# Apps that tune, from a spec to the tables, and what can be wrong with a tuner in a trace.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"

# The four trials of tests/test_tuner.c on two GPUs: phases of 10, 10 and 20 s.
header=job_id,submit_time,num_gpus,duration,app_id,tuner,loss_curve
cat >four.csv <<E
$header
a,0,1,40,x,successive-halving,1:0.1:10
b,0,1,40,x,,1:0.2:10
c,0,1,40,x,,1:0.3:10
d,0,1,40,x,"successive-halving:eta=2,phases=0",1:0.4:10
E
sim run --trace four.csv --cluster 1x2 --policy fifo --segments --paranoid --strict --out results
ends_with 0

# columns FILE NAME...: those columns of it, by name.
columns() {
	python3 -c '
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(*(row[name] for name in sys.argv[2:]), sep=",")' "$@"
}

columns results/fifo/jobs.csv job_id first_start_s finish_s state jct_s run_s >got
cat >want <<'E'
a,0,50,FINISHED,50,40
b,0,30,STOPPED,30,20
c,10,20,STOPPED,20,10
d,10,20,STOPPED,20,10
E
holds diff want got
columns results/fifo/segments.csv job_id start_s end_s end_reason >got
cat >want <<'E'
a,0,10,paused
a,20,30,paused
a,30,50,finished
b,0,10,paused
b,20,30,paused
c,10,20,paused
d,10,20,paused
E
holds diff want got
# W = 40 + 20 + 10 + 10 GPU-s on 2 GPUs: 40 s alone; contention (10 x 2 + 40) / 50.
columns results/fifo/apps.csv app_id finish_s state jct_s t_independent_s rho contention \
	rho_contention >got
echo x,50,FINISHED,50,40,1.25,1.2,1.041666667 >want
holds diff want got
# Goodput: the 40 GPU-s of a, of 100.
columns results/summary.csv finished stopped stopped_gpu_s useful_gpu_s util_frac goodput_frac >got
echo 1,3,40,80,0.8,0.4 >want
holds diff want got
rm -r "$work/results"

# Written again it is the same trace.
sim trace convert four.csv -o again.csv
ends_with 0
holds grep -qxF 'a,0,1,40,x,"successive-halving:eta=2,phases=0,work=[],widen=true",1:0.1:10' again.csv
sim trace convert again.csv -o twice.csv
holds cmp again.csv twice.csv

# What can be wrong
wrong() {
	printf '%s\n' "$header" "$2" "${3-}" >wrong.csv
	refuses 3 "$1" run --trace wrong.csv --cluster 1x2 --policy fifo --out results
}
wrong 'wrong.csv:2:12: found the unknown tuner "halving", wanted' 'a,0,1,40,x,halving,1:0.1:10'
wrong 'wrong.csv:2:12: found "1" for eta, wanted a whole number from 2' 'a,0,1,40,x,asha:eta=1,1:0.1:10'
wrong 'wrong.csv:2:12: found the unknown option "etta"' 'a,0,1,40,x,asha:etta=2,1:0.1:10'
wrong 'wrong.csv:2:12: found eta again, wanted it once' 'a,0,1,40,x,"asha:eta=2,eta=2",1:0.1:10'
wrong 'wrong.csv:2:17: found "1:2" for loss_curve, wanted START:END:HALF_S' 'a,0,1,40,x,asha,1:2'
wrong 'wrong.csv:2:17: found no loss_curve, wanted one' 'a,0,1,40,x,asha,'
wrong 'has "asha:eta=4,phases=0,work=[],widen=true" by line 2, wanted the same or none' \
	'a,0,1,40,x,asha,1:0.1:10' 'b,0,1,40,x,asha:eta=2,1:0.1:10'
wrong 'wrong.csv:3:12: found the tuner "asha:eta=4,phases=0,work=[],widen=true" for app "x", whose job of line 2 has no loss_curve' \
	'a,0,1,40,x,,' 'b,0,1,40,x,asha,1:0.1:10'

# From a spec: every policy ends it, and whom halving and hyperdrive stop is the workload's.
cat >spec.yaml <<'E'
apps: 12
arrivals: {process: poisson, interarrival_s: 300}
jobs_per_app: {choice: [[1, 1], [8, 3], [20, 1]]}
num_gpus: {choice: [[1, 1], [2, 1]], per: app}
duration_min: {uniform: {from: 5, to: 60}}
tuner: {"successive-halving:eta=2": 2, "hyperband:eta=3": 1, asha: 1, hyperdrive: 1, none: 1}
loss: {start: 2.3, end: {uniform: {from: 0.2, to: 1.2}}, half_frac: {uniform: {from: 0.02, to: 0.2}}}
E
sim trace generate spec.yaml -o tuned.csv
ends_with 0
sim trace convert tuned.csv -o again.csv
holds cmp tuned.csv again.csv

# fates LABEL: how the trials ended whose tuners do not go by the order of results.
fates() {
	python3 -c '
import csv, sys
apps = {row["app_id"] for row in csv.DictReader(open("tuned.csv")) if row["tuner"][:3] in ("suc", "hyp")}
for row in csv.DictReader(open(sys.argv[1])):
    if row["app_id"] in apps:
        print(row["job_id"], row["state"])' "results/$1/jobs.csv" >"$1.fates"
}
sim run --trace tuned.csv --cluster 4x4 --out results --strict --paranoid --policy fifo --policy srtf \
	--policy las --policy easy --policy tiresias --policy gandiva --policy themis
ends_with 0
fates fifo
holds grep -q STOPPED fifo.fates
for policy in srtf las easy tiresias gandiva themis; do
	fates "$policy"
	holds diff fifo.fates "$policy.fates"
done
rm -r "$work/results"

# A spec with a tuner and no losses, or with what is none.
sed '/^loss/d' spec.yaml >bare.yaml
sim trace generate bare.yaml -o no.csv
ends_with 3
complains 'bare.yaml:6:'
complains 'wanted loss: {start: .., end: .., half_frac: ..} beside it'
sed 's/^tuner.*/tuner: asha:eta=0/' spec.yaml >bad.yaml
sim trace generate bad.yaml -o no.csv
ends_with 3
complains 'bad.yaml:6:8: found "0" for eta'
is_absent no.csv

# Losses drawn beyond all measure can still be read.
sed 's/start: 2.3/start: {pareto: {least: 1000, shape: 0.1}}/' spec.yaml >large.yaml
sim trace generate large.yaml -o large.csv
ends_with 0
holds grep -q ',1000000:' large.csv
sim trace convert large.csv -o again.csv
holds cmp large.csv again.csv

finish
