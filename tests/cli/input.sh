#!/bin/bash
# SPDX-License-Identifier: MIT
# Files that are missing or wrong: status 3, where and what, and no output touched (E20, A41, A47).
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"

header=job_id,submit_time,num_gpus,duration
printf '%s\nA,0,1,10\nB,0,1,20\n' "$header" >good.csv

# Missing files
refuses 3 'none.csv' run --trace none.csv --cluster 1x1 --policy fifo --out results
refuses 3 'none.yaml' run none.yaml --out results
refuses 3 'none.yaml' run --trace good.csv --cluster none.yaml --policy fifo --out results
refuses 3 'none.yaml' run --trace good.csv --cluster 1x1 --models none.yaml --policy fifo --out results
refuses 3 './none.so' run --trace good.csv --cluster 1x1 --policy ./none.so --out results
refuses 3 'good.csv' run --trace good.csv --cluster good.csv --policy fifo --out results
refuses 3 'work: cannot be read' run --trace "$(mkdir work && echo work)" --cluster 1x1 --policy fifo --out results

# A bad row at line 10 of 20
{
	echo "$header"
	for i in $(seq 2 20); do
		if [ "$i" -eq 10 ]; then echo "j$i,0,one,10"; else echo "j$i,0,1,10"; fi
	done
} >bad.csv
refuses 3 'bad.csv:10:' run --trace bad.csv --cluster 4x4 --policy fifo --out results
complains 'bad.csv:10:7:'

# Every problem is told, the first 20 in words.
{
	echo "$header"
	for i in $(seq 2 31); do echo "j$i,0,1,-5"; done
} >many.csv
refuses 3 'many.csv:2:8:' run --trace many.csv --cluster 4x4 --policy fifo --out results
complains 'many.csv:21:9:'
complains 'in all 30'
holds test "$(grep -c '^many.csv:[0-9]' err)" -eq 20

# Whatever is wrong with a row, its line and column are told, what was found, and what was wanted.
cat >wrong.csv <<'E'
job_id,app_id,submit_time,num_gpus,duration,min_gpus,max_gpus,workers,gpus_per_worker,gpu_share
A,,0,1,1,,,,,
A,,0,1,1,,,,,
B,A,0,1,1,,,,,
C,,0,4,1,5,,,,
D,,0,4,1,,3,,,
E,,0,7,1,,,2,4,
F,,0,2,1,,,,,0.5
G,,9e9,1,9e9,,,,,
H,,0,1
I,,0,1,1,,,,,,
E
refuses 3 'wrong.csv:3:1: found the job_id "A" of line 2 again, wanted an id of its own' \
	run --trace wrong.csv --cluster 1x4 --policy fifo --out results
complains 'wrong.csv:4:3: found the app_id "A", the job_id of line 2 that has no app_id, wanted another one'
complains 'wrong.csv:5:10: found min_gpus 5 above num_gpus 4, wanted at most that many'
complains 'wrong.csv:6:11: found max_gpus 3 below num_gpus 4, wanted at least that many'
complains 'wrong.csv:7:12: found 2 workers of 4 GPUs for num_gpus 7, wanted a product equal to it'
complains 'wrong.csv:8:14: found a gpu_share beside num_gpus 2, wanted num_gpus 1'
complains 'wrong.csv:9:10: found a submit plus duration beyond the clock, a time overflow, wanted at most'
complains 'wrong.csv:10:7: found 4 cells, wanted 10 as in the header'
complains 'wrong.csv:11:15: found 11 cells, wanted 10 as in the header'
holds test "$(grep -cE '^wrong.csv:[0-9]+:[0-9]+: found .*, wanted ' err)" -eq 9
holds test "$(wc -l <err)" -eq 9

# Left out where that is asked for: no job, no row, no effect on the status, but counted.
sim run --trace bad.csv --cluster 4x4 --policy fifo --out results --skip-bad-rows
ends_with 0
has 18 results/summary.csv jobs
has_lines 19 results/fifo/jobs.csv
holds grep -q '"rejected": 1' results/run.json
holds grep -q '"read": 19' results/run.json
rm -r results

# A header without rows is an empty run (A49, S15); no header is none.
echo "$header" >empty.csv
sim run --trace empty.csv --cluster 1x1 --policy fifo --policy srtf --out results --timeline --segments
ends_with 0
has 0 results/summary.csv jobs
has '' results/summary.csv makespan_s
has '' results/summary.csv util_frac
has 0 results/summary.csv finished 2
for table in jobs apps segments timeline; do
	has_lines 1 results/srtf/$table.csv
done
holds test "$(grep -ciE 'nan|inf' results/summary.csv)" -eq 0
rm -r results
: >zero.csv
refuses 3 'zero.csv' run --trace zero.csv --cluster 1x1 --policy fifo --out results

# What was there before stays as it was when a run is refused.
mkdir results
echo before >results/summary.csv
sim run --trace bad.csv --cluster 4x4 --policy fifo --out results
ends_with 3
holds test "$(cat results/summary.csv)" = before
holds test "$(ls -A results)" = summary.csv
rm -r results
finish
