#!/bin/bash
# SPDX-License-Identifier: MIT
# The run file, --set and the options: who wins, where paths start, and what is said of it.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"

mkdir exp
printf 'job_id,submit_time,num_gpus,duration\nA,0,1,10\nB,20,1,10\nC,50,1,10\n' >exp/trace.csv
printf 'racks:\n  - machines: [{gpus: 1}]\n' >exp/cluster.yaml
cat >exp/run.yaml <<'Y'
trace: {path: trace.csv, format: auto}
cluster: cluster.yaml
policies: [fifo]
window: {from_s: 20}
seed: 3
out: results
Y

# Paths of the file start at the file; the tables show them as they were given (B17).
sim run exp/run.yaml
ends_with 0
is_there exp/results/summary.csv
has trace.csv exp/results/summary.csv trace
has cluster.yaml exp/results/summary.csv cluster
has 3 exp/results/summary.csv seed
has 2 exp/results/summary.csv measured
has 3 exp/results/summary.csv jobs
for role in run trace cluster; do holds grep -q "\"role\": \"$role\"" exp/results/run.json; done
for key in schema_version version commit seed options inputs rows; do
	holds grep -q "^  \"$key\": " exp/results/run.json
done
holds grep -q "$(sha256sum exp/trace.csv | cut -d' ' -f1)" exp/results/run.json
holds test "$(grep -c "$work\|$(hostname)\|results" exp/results/run.json)" -eq 0
holds python3 -m json.tool exp/results/run.json
holds python3 -m json.tool exp/results/perf.json

# --set wins over the file, an option of its own over both (A38); their paths start here.
sim run exp/run.yaml --set window.from_s=50 --set seed=4 --out here
ends_with 0
has 1 here/summary.csv measured
has 4 here/summary.csv seed
sim run exp/run.yaml --set seed=4 --seed 9 --set out=there --set 'policies=[srtf, {fifo: {}, label: f}]'
ends_with 0
has 9 there/summary.csv seed
has srtf there/summary.csv policy 1
has f there/summary.csv policy 2
sim run exp/run.yaml --set 'policies=[srtf]' --policy las --out mine
has las mine/summary.csv policy
has_lines 2 mine/summary.csv
sim run exp/run.yaml --set trace.path=exp/trace.csv --set cluster=2x1 --out sized
ends_with 0
has exp/trace.csv sized/summary.csv trace
has 2x1 sized/summary.csv cluster

# Windows and stops count from the first submit (A02, B13).
sed 's/,0,1/,1000,1/; s/,20,1/,1020,1/; s/,50,1/,1050,1/' exp/trace.csv >late.csv
sim run exp/run.yaml --trace late.csv --set window.to_s=50 --out late
has 1 late/summary.csv measured
sim run exp/run.yaml --trace late.csv --set stop_s=25 --out late --allow-unfinished
ends_with 0
has 2 late/summary.csv unfinished
has UNFINISHED late/fifo/jobs.csv state 2
has 5 late/fifo/jobs.csv run_s 2

# Overheads by --set (A09): B is preempted by none, so that each start alone is paid.
sim run exp/run.yaml --set overheads.start_s=2 --out paid
has 12 paid/fifo/jobs.csv run_s 1
has 2 paid/fifo/jobs.csv overhead_s 1

# Flags in the file.
printf 'trace: exp/trace.csv\ncluster: 1x1\npolicies: fifo\nsegments: yes\ntimeline: 10\nquiet: true\nout: flags\n' >flags.yaml
sim run flags.yaml
ends_with 0
holds test ! -s out
is_there flags/fifo/segments.csv flags/fifo/timeline.csv
has_lines 4 flags/fifo/segments.csv
# Sampled at 0, 10, ..., up to the end at 60.
has 0 flags/fifo/timeline.csv time_s 1
has 10 flags/fifo/timeline.csv time_s 2

# The zone of date-times without an offset (A40): 08:00 in Shanghai is midnight UTC.
printf 'job_id,submit_time,num_gpus,duration\nA,2023-03-01 08:00:00,1,10\n' >zone.csv
sim run --trace zone.csv --cluster 1x1 --policy fifo --out zone --tz Asia/Shanghai
ends_with 0
has "$(date -u -d '2023-03-01 00:00:00' +%s)" zone/summary.csv first_submit_s
sim run --trace zone.csv --cluster 1x1 --policy fifo --out zone
has "$(date -u -d '2023-03-01 08:00:00' +%s)" zone/summary.csv first_submit_s

# A trace where a run file was wanted is not quoted whole.
{ echo job_id,submit_time,num_gpus,duration; seq -f 'ä%.0f,0,1,10' 2000; } >long.csv
sim run long.csv
ends_with 3
holds test "$(wc -c <err)" -lt 1300
holds grep -q '^long.csv:1:1: found "job_id,.* \.\.\. .*", wanted a mapping of keys to values$' err
holds iconv -f UTF-8 -t UTF-8 -o /dev/null err
finish
