#!/bin/bash
# SPDX-License-Identifier: MIT
# Every policy on workloads 1 and 2 of the Themis paper, as they were run and with tuners: no edit is
# refused, no invariant is broken, and every job is accounted for. A part of each; the long version
# has them whole.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"

samples=$root/traces/samples

# As many apps in a seventh of the time leave the load what it is.
cut=(--set apps=12 --set arrivals.speedup=7)
[ -n "${THEMIS_LONG-}" ] && cut=()

# states_of JOBS_CSV: one a line, blank where there is none.
states_of() {
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "state") found = i }
		NR > 1 { print $found }' "$1"
}

# spec_of POLICY: with the options without which it does not start.
spec_of() {
	case $1 in
	quota) echo 'quota:quotas=[user1=8,user2=8]' ;;
	*) echo "$1" ;;
	esac
}

# ends_of POLICY: the states in which it may leave jobs.
ends_of() {
	case $1 in
	null) echo UNFINISHED ;;
	reject-all) echo REJECTED ;;
	*) echo 'FINISHED|STOPPED' ;;
	esac
}

# runs WORKLOAD POLICY
runs() {
	local allow=()
	case $2 in
	null) allow=(--allow-unfinished) ;;
	reject-all) allow=(--allow-rejected) ;;
	esac
	sim run --trace "$1.csv" --cluster "$samples/testbed-64.yaml" --models "$root/traces/models.yaml" \
		--policy "$(spec_of "$2")" --strict --paranoid --out "$1-$2" "${allow[@]}"
	ends_with 0
	states_of "$1-$2/$2/jobs.csv" >states
	holds [ "$(wc -l <states)" -eq "$n_jobs" ]
	holds [ "$(grep -cE "^($(ends_of "$2"))$" states)" -eq "$n_jobs" ]
	# Whoever places jobs at all ends as many as any other: what a tuner stops is the trace's.
	case $2 in
	null | reject-all) ;;
	*) holds [ "$(grep -c STOPPED states)" -eq "$n_stopped" ] ;;
	esac
	rm -rf "${1:?}-$2"
}

for workload in themis-w1 themis-w2 themis-w1-tuned themis-w2-tuned; do
	sim trace generate "$samples/$workload.yaml" "${cut[@]}" -o "$workload.csv"
	ends_with 0
	n_jobs=$(($(wc -l <"$workload.csv") - 1))
	sim run --trace "$workload.csv" --cluster 600x4 --policy fifo --out alone -q
	n_stopped=$(states_of alone/fifo/jobs.csv | grep -c STOPPED)
	case $workload in
	*-tuned) holds [ "$n_stopped" -gt $((n_jobs / 3)) ] ;;
	*) holds [ "$n_stopped" -eq 0 ] ;;
	esac
	rm -r alone
	while read -r policy _; do
		runs "$workload" "$policy"
	done < <("$program" policies)
done
finish
