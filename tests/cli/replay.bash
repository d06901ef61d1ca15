# SPDX-License-Identifier: MIT
# For tests that replay small traces and look at cells; sourced after common.bash.
# shellcheck shell=bash disable=SC2034,SC2154

# trace ROW...: into trace.csv, under the usual header.
trace() {
	printf '%s\n' job_id,submit_time,num_gpus,duration "$@" >trace.csv
}

# replay CLUSTER POLICY [OPTION...]: trace.csv into results/.
replay() {
	local cluster=$1 policy=$2
	shift 2
	rm -rf results
	sim run --trace trace.csv --cluster "$cluster" --policy "$policy" --out results \
		--strict --paranoid -q "$@"
	folder=results/$(ls results 2>/dev/null | grep -v -e json -e csv)
	said="$said   (trace: $(tail -n +2 trace.csv | tr '\n' ';' | cut -c 1-300))"
}

# of JOB COLUMN VALUE: a cell of jobs.csv.
of() {
	local row
	row=$(awk -F, -v job="$1" '$1 == job { print NR - 1; exit }' "$folder/jobs.csv")
	has "$3" "$folder/jobs.csv" "$2" "${row:-0}"
}

# app APP COLUMN VALUE: a cell of apps.csv.
app() {
	local row
	row=$(awk -F, -v app="$1" '$1 == app { print NR - 1; exit }' "$folder/apps.csv")
	has "$3" "$folder/apps.csv" "$2" "${row:-0}"
}

# all COLUMN VALUE: a cell of summary.csv.
all() {
	has "$2" results/summary.csv "$1"
}

# runs JOB START FINISH
runs() {
	of "$1" first_start_s "$2"
	of "$1" finish_s "$3"
}
