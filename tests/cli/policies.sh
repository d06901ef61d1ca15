#!/bin/bash
# SPDX-License-Identifier: MIT
# Policies by name, with labels and options, on their page, and as shared objects.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"

header=job_id,submit_time,num_gpus,duration

# The list: one a line, the name first (A54).
sim policies
ends_with 0
for name in fifo fifo-skip sjf srtf srsf las 2d-las priority easy tiresias gandiva themis; do
	holds grep -qE "^$name +[A-Za-z]" out
done

# Every page, and every option by the name that SEMANTICS gives it.
while read -r name _; do
	sim policies "$name"
	ends_with 0
	holds test ! -s err
	prints "$name "
	prints 'Does it stop running jobs?'
	prints Source:
	case $name in
	null | reject-all) ;; # they place nothing
	*) prints max_level=cluster ;;
	esac
done < <("$program" policies)
# A walk that stops jobs may move them over several machines (C01).
for name in srtf srsf las 2d-las priority tiresias gandiva themis themis-strawman; do
	sim policies "$name"
	holds grep -qE '^Does it stop running jobs\? +yes$' out
	holds grep -qE '^Does it move running jobs\? +yes$' out
done
for option in srtf/min_run_s=0 srsf/min_run_s=0 las/quantum_s=60 2d-las/quantum_s=60 \
	priority/preempt=false tiresias/thresholds_gpu_s=3250 tiresias/promote_knob=off \
	tiresias/gittins=off tiresias/distribution=trace gandiva/quantum_s=60 gandiva/migration=true \
	gandiva/packing=true themis/fairness_knob=0.8 themis/lease_s=600 themis/rho0= \
	themis/round=lottery fifo/placement=consolidate fifo/max_level=cluster; do
	sim policies "${option%%/*}"
	prints "  ${option#*/}"
done

# The committed page is what the program says.
sim policies --markdown
ends_with 0
holds diff "$root/docs/policies.md" out

# Labels name folders and rows (A36).
printf '%s\nA,0,1,10\nB,0,1,5\n' "$header" >t.csv
sim run --trace t.csv --cluster 1x1 --policy tiresias \
	--policy 'tiresias@three-queues:thresholds_gpu_s=[3600,36000]' --out labels
ends_with 0
has tiresias labels/summary.csv policy 1
has three-queues labels/summary.csv policy 2
is_there labels/tiresias/jobs.csv labels/three-queues/jobs.csv
holds grep -qF 'thresholds_gpu_s=3250,' labels/summary.csv
holds grep -qF '"' labels/summary.csv
holds grep -qF 'thresholds_gpu_s=[3600,36000],' labels/summary.csv

# The policy of docs/add-a-policy.md, as it stands there.
awk '/^```c$/ { on = 1; next } /^```$/ { on = 0 } on' "$root/docs/add-a-policy.md" >narrow.c
holds compile narrow -Wall -Wextra -Wno-unused-parameter -Werror
sim policies ./narrow.so
ends_with 0
prints 'narrow 1: the job that asks for the fewest GPUs first'
prints '  max_gpus=1000'
# On 4 GPUs: at 0 the narrow one, then the 2; the 3 waits for 10, the 4 for 30.
printf '%s\nfour,0,4,5\ntwo,0,2,10\none,0,1,10\nthree,0,3,20\n' "$header" >gangs.csv
sim run --trace gangs.csv --cluster 1x4 --policy ./narrow.so --policy ./narrow.so@capped:max_gpus=1 \
	--strict --paranoid --out narrow
ends_with 0
has 30 narrow/narrow/jobs.csv first_start_s 1
has 0 narrow/narrow/jobs.csv first_start_s 2
has 0 narrow/narrow/jobs.csv first_start_s 3
has 10 narrow/narrow/jobs.csv first_start_s 4
# Capped at 1 all are equal, and go as they came: 0, 5, 5, 15.
has 0 narrow/capped/jobs.csv first_start_s 1
has 5 narrow/capped/jobs.csv first_start_s 2
has 5 narrow/capped/jobs.csv first_start_s 3
has 15 narrow/capped/jobs.csv first_start_s 4
holds grep -q '"role": "policy"' narrow/run.json
holds grep -q "$(sha256sum narrow.so | cut -d' ' -f1)" narrow/run.json

# The same by a path relative to the file that names it, and without a slash.
mkdir sub
cp narrow.so sub/
printf 'trace: ../gangs.csv\ncluster: 1x4\npolicies:\n  - ./narrow.so: {max_gpus: 1}\n' >sub/run.yaml
sim run sub/run.yaml --out sub/results
ends_with 0
holds cmp sub/results/narrow/jobs.csv narrow/capped/jobs.csv
sim run --trace gangs.csv --cluster 1x4 --policy narrow.so
ends_with 0

# An option that is a path is seen from the file that gives it, and is an input of the run.
cat >filed.c <<'C'
#include "sim/policy.h"
static const Option options[] = {
	{ .name = "file", .kind = OPTION_TEXT, .offset = 0, .standard = "none", .is_path = TRUE },
	{ .name = NULL },
};
static void
decide(void *self, const View *view, PolicyWake why, Plan *plan)
{
}
extern const PolicyClass policy_class;
const PolicyClass policy_class = { .abi = POLICY_ABI, .name = "filed", .version = "1", .summary = "",
				   .source = "", .decide = decide, .options = options,
				   .options_size = sizeof(char *) };
C
holds compile filed
echo 1 >sub/samples.txt
printf 'trace: ../t.csv\ncluster: 1x1\npolicies: [{../filed.so: {file: samples.txt}}, {../filed.so: {file: none}, label: n}]\n' >sub/filed.yaml
sim run sub/filed.yaml --out filed --allow-unfinished
ends_with 0
holds grep -q '^filed,file=sub/samples.txt,' filed/summary.csv
holds grep -q '^n,file=none,' filed/summary.csv
holds grep -q "$(sha256sum sub/samples.txt | cut -d' ' -f1)" filed/run.json
refuses 3 'nosuch.txt' run --trace t.csv --cluster 1x1 --policy ./filed.so:file=nosuch.txt --out results

# refuses_object NAME TEXT C: a shared object made of C is bad input, and says why.
refuses_object() {
	printf '#include "sim/policy.h"\n%s\n' "$3" >"$1.c"
	holds compile "$1"
	refuses 3 "$2" run --trace t.csv --cluster 1x1 --policy "./$1.so" --out results
	complains "./$1.so"
}
refuses_object nothing 'found no symbol "policy_class"' 'int nothing;'
refuses_object old 'found a policy of abi 999, wanted 2' \
	'const PolicyClass policy_class = { .abi = 999 };'
refuses_object idle 'found a policy without decide()' \
	'const PolicyClass policy_class = { .abi = POLICY_ABI, .name = "idle" };'
echo text >text.so
refuses 3 './text.so: cannot be loaded' run --trace t.csv --cluster 1x1 --policy ./text.so --out results
refuses 2 'wanted perhaps max_gpus' run --trace gangs.csv --cluster 1x4 --policy ./narrow.so:max_gpu=3 --out results
refuses 2 'a second policy labelled "narrow"' run --trace gangs.csv --cluster 1x4 --policy ./narrow.so \
	--policy ./sub/narrow.so --out results
finish
