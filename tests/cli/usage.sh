#!/bin/bash
# SPDX-License-Identifier: MIT
# Wrong command lines (E19): status 2 (or 3 where a file is wrong), the nearest known name, and no
# output touched.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"

printf 'job_id,submit_time,num_gpus,duration\nA,0,1,10\n' >t.csv
given=(--trace t.csv --cluster 1x1 --policy fifo --out results)

# Commands
refuses 2 'Usage: themis-sim' # alone
refuses 2 'found the unknown command "rum", wanted perhaps "run"' rum
refuses 2 'found the unknown command "polices", wanted perhaps "policies"' polices
refuses 2 'found the unknown command "--versoin", wanted perhaps "--version"' --versoin
refuses 2 'not part of this version yet' sweep SWEEP.yaml
refuses 2 'not part of this version yet' compare a b
refuses 2 'not part of this version yet' run "${given[@]}" --perfetto
refuses 2 'not part of this version yet' run "${given[@]}" --batsim

# Options
refuses 2 'found the unknown option "--polcy", wanted perhaps --policy' run "${given[@]}" --polcy=srtf
refuses 2 'wanted perhaps --allow-rejected' run "${given[@]}" --allow-reject
refuses 2 'wanted perhaps --trace' run -trace t.csv "${given[@]}"
refuses 2 'found the unknown option "-x"' run "${given[@]}" -x
refuses 2 'found --seed without a value' run "${given[@]}" --seed
refuses 2 'found --quiet with a value' run "${given[@]}" --quiet=yes
refuses 2 '--seed x: found "x" for seed' run "${given[@]}" --seed x
refuses 2 '--seed -1: found "-1" for seed' run "${given[@]}" --seed -1
refuses 2 '-j 0: found "0" for threads' run "${given[@]}" -j 0
refuses 2 '--timeline x: ' run "${given[@]}" --timeline=x
refuses 2 'wanted one RUN.yaml at most' run "${given[@]}" a.yaml b.yaml
refuses 2 'found the unknown option "--markdwn", wanted perhaps --markdown' policies --markdwn

# Policies and their options
refuses 2 'found the unknown policy "srft", wanted perhaps srtf' run "${given[@]}" --policy srft
refuses 2 'wanted perhaps quantum_s' run "${given[@]}" --policy las:quantum=5
refuses 2 'found "soon" for quantum_s' run "${given[@]}" --policy las:quantum_s=soon
refuses 2 'found "0" for quantum_s' run "${given[@]}" --policy las:quantum_s=0
refuses 2 'found quantum_s again, wanted it once' run "${given[@]}" --policy las:quantum_s=1,quantum_s=2
refuses 2 'wanted key=value' run "${given[@]}" --policy las:quantum_s
refuses 2 'a second policy labelled "fifo"' run "${given[@]}" --policy fifo
refuses 2 'found the label "../up"' run "${given[@]}" --policy fifo@../up
long=$(printf 'x%.0s' $(seq 201))
refuses 2 'at most 200 of them' run "${given[@]}" --policy "srtf@$long"
refuses 2 'found the unknown policy "lass", wanted perhaps las' policies lass

# Keys (A38, B10)
refuses 2 'wanted perhaps "resume_s"' run "${given[@]}" --set overheads.resum_s=5
refuses 2 'wanted KEY=VALUE' run "${given[@]}" --set overheads
refuses 2 'found "x" for stop_s' run "${given[@]}" --set stop_s=x
refuses 2 'wanted one that is not empty' run "${given[@]}" --set window.from_s=9 --set window.to_s=9

# What a run needs (A41)
refuses 2 'found no trace' run
refuses 2 'found no trace' run --cluster 1x1 --policy fifo
refuses 2 'found no cluster' run --trace t.csv --policy fifo
refuses 2 'found no policy' run --trace t.csv --cluster 1x1
refuses 2 'cluster "4y4"' run --trace t.csv --cluster 4y4 --policy fifo --out results
refuses 2 'cluster "0x4"' run --trace t.csv --cluster 0x4 --policy fifo --out results
refuses 2 'nonative' run "${given[@]}" --format nonative
refuses 2 'Mars/Olympus' run "${given[@]}" --tz Mars/Olympus
refuses 2 'found no name for out' run "${given[@]}" --out ''

# A quantum that an overhead eats up (A79, B05)
refuses 2 'quantum_s' run --trace t.csv --cluster 1x1 --policy las:quantum_s=5 --out results \
	--set overheads.resume_s=5

# In a file the same mistakes are bad input (B10), and all are told at once.
cat >bad.yaml <<'Y'
trace: {path: t.csv, fromat: auto}
cluster: 1x1
policies: [srft, {las: {quantum: 5}}]
sed: 1
Y
refuses 3 'bad.yaml:1:22: found the unknown key "fromat", wanted perhaps "format"' run bad.yaml --out results
complains 'bad.yaml:3:12: found the unknown policy "srft", wanted perhaps srtf'
complains 'bad.yaml:3:25: las: found the unknown option "quantum", wanted perhaps quantum_s'
complains 'bad.yaml:4:1: found the unknown key "sed", wanted perhaps "seed"'
printf 'trace: {path: t.csv, format: nonative}\ncluster: 1x1\npolicies: [fifo]\n' >format.yaml
refuses 3 'nonative' run format.yaml --out results
printf 'trace: t.csv\ncluster: 4y4\npolicies: [fifo]\n' >cluster.yaml
refuses 3 '4y4' run cluster.yaml --out results

# What is right
sim --help
ends_with 0
for word in run trace policies sweep compare --version; do prints "$word"; done
sim --version
ends_with 0
prints 'themis-sim '
sim run --help
ends_with 0
prints '--allow-unfinished'
sim run -q -j2 -- "$root/traces/samples/nowhere.yaml"
ends_with 3
sim run "${given[@]}" --timeline -qj1
ends_with 0
is_there results/summary.csv results/fifo/timeline.csv

# Output that cannot be written is a failure (E20).
if [ -w /dev/full ]; then
	said='themis-sim policies >/dev/full'
	"$program" policies >/dev/full 2>"$work/err"
	status=$?
	ends_with 1
	complains 'cannot be written'
fi
finish
