#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/metrics.md is right: its worked example is what the program does with its trace, cell for
# cell, and every column of every file is in that file's table there, and no other.
set -u

program=${THEMIS_SIM:-build/themis-sim}
page=${THEMIS_ROOT:-.}/docs/metrics.md
program=$(realpath "$program")
page=$(realpath "$page")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n_passed=0
n_failed=0

pass() {
	n_passed=$((n_passed + 1))
}

fail() {
	n_failed=$((n_failed + 1))
	echo "$*"
}

# block NAME: the lines of the page's code block of that name.
block() {
	awk -v start="\`\`\`csv $1" '$0 == start { on = 1; next } /^```/ { on = 0 } on' "$page"
}

# table NAME: the columns that the page's section of that name lists, in its order.
table() {
	# shellcheck disable=SC2016
	awk -v start="## $1" '$0 == start { on = 1; next } /^## / { on = 0 } on' "$page" |
		sed -n 's/^| `\([^`]*\)` |.*/\1/p'
}

cd "$work" || exit 1
block trace.csv >"$work/trace.csv"
if ! "$program" run --cluster 1x4 --trace trace.csv --policy fifo --segments --timeline --out out \
	>stdout 2>stderr; then
	cat stderr
	echo "0 passed, 1 failed"
	exit 1
fi

for file in summary.csv fifo/jobs.csv fifo/apps.csv fifo/segments.csv fifo/timeline.csv \
	fifo/fairness.csv fifo/placement.csv fifo/fairness_over_time.csv; do
	name=${file#fifo/}
	block "$file" >want
	if [ -s want ] && diff want "out/$file" >difference; then
		pass
	else
		fail "$file: the page's example (<) is not what the program writes (>):"
		cat difference
	fi
	table "$name" >want
	head -n 1 "out/$file" | tr , '\n' >got
	if diff want got >difference; then
		pass
	else
		fail "$file: the page's table (<) has not the columns of the file (>):"
		cat difference
	fi
done

# The keys of the two JSON files are named too, but for what the options are and an input's three.
sed '/^  "options": {/,/^  }/d; /^  "inputs": \[/,/^  \]/d' out/run.json out/perf.json |
	sed -n 's/^ *"\([a-z_0-9]*\)":.*/\1/p' | sort -u >keys
while read -r key; do
	if grep -qF "\`$key\`" "$page"; then
		pass
	else
		fail "the key $key is not on the page"
	fi
done <keys

echo "$n_passed passed, $n_failed failed"
[ "$n_failed" -eq 0 ]
