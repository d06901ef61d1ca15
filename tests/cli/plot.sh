#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/plot draws what there is, the same bytes every time, and says what is missing.

# shellcheck source=tests/cli/common.bash
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"

plot=$root/scripts/plot
if ! "$plot" --help >/dev/null 2>&1; then
	echo "SKIP: no matplotlib or no pandas"
	exit 77
fi

# draw STATUS ARGUMENT...
draw() {
	local wanted=$1
	shift
	said="plot $*"
	"$plot" "$@" >"$work/out" 2>"$work/err"
	status=$?
	ends_with "$wanted"
}

mkdir -p results/fifo results/mine
cat >results/summary.csv <<'C'
rho_max,policy,jct_mean_s,jct_p99_s,rho_contention_max
1.5,fifo,20,30,2
,mine,,,
C
cat >results/fifo/jobs.csv <<'C'
jct_s,job_id,state
10,A,FINISHED
0,B,FINISHED
30,C,FINISHED
,D,REJECTED
C
cat >results/fifo/apps.csv <<'C'
state,rho,rho_contention
FINISHED,0.5,0.5
FINISHED,1.5,2
FINISHED,,
C
cat >results/fifo/timeline.csv <<'C'
time_s,allocated_gpus,capacity_gpus,running_jobs,queued_jobs,queued_gpus
1000,2.5,4,1,0,0
1030,0,4,0,0,0
C
cat >results/fifo/fairness_over_time.csv <<'C'
time_s,scope,parties,ratio_min,ratio_p50,ratio_mean,jain_ratio
1000,app,2,0,1,1,0.5
1000,user,1,1,1,1,1
1010,app,2,0,0,0,
1030,app,1,1,1,1,1
C
# Nothing in this one is finished.
echo 'job_id,jct_s,state' >results/mine/jobs.csv
echo 'state,rho,rho_contention' >results/mine/apps.csv

names="jct_cdf rho_cdf summary timeline fairness"
draw 0 results
for name in $names; do
	is_there "results/plots/$name.png" "results/plots/$name.pdf"
done
draw 0 results --out again
for name in $names; do
	holds cmp "results/plots/$name.png" "again/$name.png"
	holds cmp "results/plots/$name.pdf" "again/$name.pdf"
done

rm results/fifo/timeline.csv
draw 0 results --out without
complains "--timeline"
is_absent without/timeline.png

sed -i 's/^jct_s,/jct,/' results/fifo/jobs.csv
draw 3 results --out missing
complains "results/fifo/jobs.csv: found no column jct_s"
rm results/fifo/jobs.csv
draw 3 results --out missing
complains "results/fifo/jobs.csv: no such file"
is_absent missing
draw 3 nowhere
draw 2

finish
