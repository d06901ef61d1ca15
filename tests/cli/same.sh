#!/bin/bash
# SPDX-License-Identifier: MIT
# One input, one output, to the byte: whatever the threads, the place, the locale, the time zone, and
# whoever is looking (E22, E23, S13).
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"

# S12's numbers, and enough jobs for the policies to differ.
{
	echo job_id,app_id,submit_time,num_gpus,duration
	echo 'half,,0.5,1,10.25'
	echo 'quarter,,0.5,1,0.25'
	for i in $(seq 1 200); do
		echo "j$i,app$((i % 40)),$((i * 7 % 500)).$((i % 10)),$((1 + i * i % 6)),$((20 + i * 37 % 300)).5"
	done
} >"$work/trace.csv"
cat >"$work/run.yaml" <<'Y'
trace: {path: trace.csv}
cluster: 3x4
policies:
  - fifo
  - srtf
  - las: {quantum_s: 30}
  - {las: {quantum_s: 45}, label: las-45}
  - tiresias
  - gandiva
  - themis: {lease_s: 100}
  - {fifo: {placement: random}, label: random}
overheads: {resume_s: 3, start_s: 1}
seed: 5
Y
policies=$(grep -c '^  - ' run.yaml)

# equal FOLDER [EXCEPT]: as the first one; perf.json is what differs, and run.json where the
# arguments do.
equal() {
	holds diff -r -x perf.json ${2:+-x "$2"} first "$1"
}

sim run run.yaml --out first -j 1
ends_with 0
cp out table
has_lines $((policies + 1)) first/summary.csv
sim run run.yaml --out again -j 1
equal again
holds cmp out table
sim run run.yaml --out two -j 2
equal two
holds cmp out table
sim run run.yaml --out many -j 16 -q
equal many
sim run run.yaml --out strict --strict --paranoid
equal strict run.json

# From another folder: paths in a file are seen from there, and nothing says where the run was.
mkdir elsewhere
cd elsewhere || exit 1
sim run "$work/run.yaml" --out "$work/elsewhere/there"
cd "$work" || exit 1
ends_with 0
equal elsewhere/there run.json
holds diff <(grep -v -A1 '"role": "run"' first/run.json | grep -v run.yaml) \
	<(grep -v -A1 '"role": "run"' elsewhere/there/run.json | grep -v run.yaml)

# The command line says the same as the file.
sim run --trace trace.csv --cluster 3x4 --policy fifo --policy srtf --policy las:quantum_s=30 \
	--policy las@las-45:quantum_s=45 --policy tiresias --policy gandiva --policy themis:lease_s=100 \
	--policy fifo@random:placement=random --set 'overheads={resume_s: 3, start_s: 1}' --seed=5 --out line
ends_with 0
equal line run.json

# The host's zone and locale (S13). A locale that is not installed is made here, where that can be.
TZ=Asia/Shanghai sim run run.yaml --out zone
equal zone
comma=$(locale -a 2>/dev/null | grep -iE -m 1 '^(de_DE|fr_FR|de_AT|es_ES|it_IT|pl_PL)')
if [ -z "$comma" ] && localedef -i de_DE -f UTF-8 "$work/de_DE.UTF-8" >/dev/null 2>&1; then
	comma=de_DE.UTF-8
	export LOCPATH=$work
fi
if [ -n "$comma" ]; then
	holds test "$(LC_ALL=$comma printf %.1f 1)" = '1,0'
	LC_ALL=$comma LANG=$comma sim run run.yaml --out locale
	equal locale
else
	echo 'SKIP: no locale with a decimal comma is installed, or can be made'
fi
unset LOCPATH

# Looking changes nothing (E22).
for interval in '' =1 =60 =7; do
	sim run run.yaml --out watched --segments --timeline$interval
	ends_with 0
	for policy in fifo las-45 themis random; do
		holds cmp first/$policy/jobs.csv watched/$policy/jobs.csv
		holds cmp first/$policy/apps.csv watched/$policy/apps.csv
	done
	holds cmp first/summary.csv watched/summary.csv
done

# Streamed rows are the same ones by (finish, trace order), and so are the segments' jobs (A30).
sim run run.yaml --out streamed --stream --segments
holds cmp first/summary.csv streamed/summary.csv
for policy in fifo srtf gandiva themis; do
	holds cmp <(tail -n +2 first/$policy/jobs.csv | sort -s -t, -k11,11n) \
		<(tail -n +2 streamed/$policy/jobs.csv)
	holds cmp <(tail -n +2 streamed/$policy/jobs.csv | cut -d, -f1) \
		<(tail -n +2 streamed/$policy/segments.csv | cut -d, -f1 | uniq)
done

# A policy does not see who else runs.
sim run run.yaml --out alone --policy themis:lease_s=100
holds cmp first/themis/jobs.csv alone/themis/jobs.csv

# Another seed is another run, where something is drawn.
sim run run.yaml --out other --set seed=6
holds cmp first/fifo/jobs.csv other/fifo/jobs.csv
holds test "$(cell other/summary.csv seed)" = 6
finish
