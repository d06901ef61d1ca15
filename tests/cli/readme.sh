#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# README.md as somebody follows it who has never seen this: its table is what `make run` prints, and
# its example of an own run does what it says. scripts/golden puts the table of today there.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"

# block LINE: the first code block below the line that is LINE or begins with it.
block() {
	awk -v start="$1" '
		index($0, start) == 1 { is_below = 1 }
		is_below && /^```/ { if (is_in) exit; is_in = 1; next }
		is_in' "$root/README.md"
}

block '<!-- quickstart -->' >"$work/wanted"
if [ -n "${THEMIS_SAN-}" ]; then
	echo "SKIP: the quickstart is a minute of work under sanitizers"
else
	sim run "$root/traces/samples/quickstart.yaml" --out results
	ends_with 0
	if diff "$work/wanted" "$work/out" >"$work/difference"; then
		pass
	else
		fail "README.md has (<) another table than make run prints (>):"
		cat "$work/difference"
	fi
fi

block 'A trace is a CSV' >"$work/jobs.csv"
mkdir "$work/build"
ln -s "$program" "$work/build/themis-sim"
sed -n '/^build\/themis-sim run --trace jobs.csv/,/^```/p' "$root/README.md" | sed '/^```/d' >"$work/commands"
said="the commands below \"Your own run\""
bash -e "$work/commands" >"$work/out" 2>"$work/err"
status=$?
ends_with 0
prints 'tiresias         2 '
prints 'jobs            2'
if [ "$(tail -n +2 "$work/results/mine/summary.csv" | wc -l)" -eq 3 ]; then
	pass
else
	fail "results/mine/summary.csv has not three rows"
fi
finish
