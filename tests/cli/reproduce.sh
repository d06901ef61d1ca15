#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/reproduce: a tiny experiment from its files to the page, what is remembered, what is refused;
# and every kind of claim on made-up numbers, both ways.

# shellcheck source=tests/cli/common.bash
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"

reproduce=$root/scripts/reproduce
if ! "$reproduce" --help >/dev/null 2>&1; then
	echo "SKIP: no matplotlib, no pandas or no yaml for Python"
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1

# again STATUS ARGUMENT...
again() {
	local wanted=$1
	shift
	said="reproduce $*"
	"$reproduce" "$@" --program "$program" --cache cache >"$work/out" 2>"$work/err"
	status=$?
	ends_with "$wanted"
}

mkdir tiny
cat >tiny/spec.yaml <<'Y'
apps: 12
arrivals: {process: poisson, interarrival_s: 60}
jobs_per_app: {choice: [[1, 1], [3, 1]]}
num_gpus: {choice: [[1, 1], [4, 1]]}
duration_s: {uniform: {from: 10, to: 600}}
Y
cat >tiny/experiment.yaml <<'Y'
title: Tiny
seeds: 3
quick: {seeds: 2}
workloads: {small: {spec: spec.yaml, set: {apps: 8}}}
clusters: {machine: 1x4}
policies: {First: fifo, Shortest: {policy: srtf, options: {min_run_s: 0}}}
beside: {Shortest: First}
reasons: {Of queues: A queue is no race.}
excerpt:
  file: ../page.md
  mark: <!-- table -->
  figures: {order4: Four}
  metrics: {jct_mean_s: mean (s)}
figures: [order, order4, runtime]
Y
cat >tiny/order.yaml <<'Y'
title: "Who is next?"
source: made up
workload: small
cluster: machine
policies: [First, Shortest]
axes:
  - {name: gap, workload: arrivals.interarrival_s, values: {1: 60, 4: 15}}
quick: {axes: {gap: [4]}}
metrics:
  jct_mean_s:
  late_s: {table: jobs, column: jct_s, statistic: max, divide_by: 2}
  jct_s: {table: jobs, quantiles: [0, 0.5, 1]}
published:
  - {metric: jct_mean_s, at: {gap: 4}, over: policy, values: {First: 1000}}
plots:
  - {kind: bars, metric: jct_mean_s, at: {gap: 4}}
  - {kind: lines, metric: jct_mean_s, x: gap}
  - {kind: cdf, metric: jct_s, at: {gap: 1}}
  - {kind: heat, metric: late_s, x: gap, by: policy}
claims:
  - {kind: lowest, text: the shortest first is best, published: theory, metric: jct_mean_s, policy: Shortest}
  - {kind: lowest, text: the first first is best, published: a lie, metric: jct_mean_s, policy: First, reason: It is | not.}
Y
cat >tiny/order4.yaml <<'Y'
title: At one rate
source: made up
workload: small
cluster: machine
policies: [First, Shortest]
metrics: {jct_mean_s: {label: mean}}
plots: [{kind: bars, metric: jct_mean_s}]
claims:
  - {kind: highest, text: the last shall be, published: no, metric: jct_mean_s, policy: Shortest, reason: Of queues}
Y
cat >tiny/runtime.yaml <<'Y'
title: Options
source: made up
workload: small
cluster: machine
policies: [Shortest]
axes: [{name: least_s, option: min_run_s, values: [0, 100]}]
metrics: [jct_mean_s]
plots: [{kind: bars, metric: jct_mean_s, x: least_s}]
claims: []
Y

# The first figure has 2 policies x 2 rates x 3 seeds; of the second 3 runs are new.
printf '%s\n' above '<!-- table -->' stale '<!-- end -->' below >page.md
again 0 tiny --out one
complains "15 runs to do"
is_there one/order.png one/runtime.png one/runtime.csv
has_lines 21 one/order.csv
prints "reproduced  order: the shortest first is best"
prints "not         order: the first first is best"
holds grep -qF '| the first first is best | a lie |' one/README.md
holds grep -qF '| **not** | It is \| not. |' one/README.md
holds grep -qF '| **reproduced**; First: **not** |' one/README.md
holds grep -qF '| **not**; First: **reproduced** | [Of queues](#of-queues) |' one/README.md
holds grep -q '^Of 3 claims: 1 reproduced, 0 partly, 2 not.$' one/README.md

# The excerpt is between its marks, and nothing else of the page has changed.
mean=$(awk -F, '$1 == "jct_mean_s" && $2 == "First" { printf "%.0f ± %.0f", $4, ($6 - $5) / 2 }' one/order4.csv)
printf '%s\n' above '<!-- table -->' '| policy | Four: mean (s) |' '|---|---:|' "| First | $mean |" >wanted.md
head -5 page.md >found.md
holds diff wanted.md found.md
holds test "$(tail -2 page.md)" = '<!-- end -->
below'

# All is remembered, and the bytes are the same.
again 0 tiny --out two
complains "0 runs to do"
holds diff -r one two

# The number is the one that the program gives when asked by hand.
sed 's/apps: 12/apps: 8/; s/interarrival_s: 60/interarrival_s: 15/' tiny/spec.yaml >by-hand.yaml
sum=0
for seed in 1 2 3; do
	"$program" trace generate by-hand.yaml --seed "$seed" -o "$seed.csv"
	"$program" run --trace "$seed.csv" --cluster 1x4 --policy fifo --seed "$seed" --out "$seed" -q
	sum=$(awk "BEGIN { printf \"%.9f\", $sum + $(cell "$seed/summary.csv" jct_mean_s) }")
done
ours=$(awk -F, '$1 == "jct_mean_s" && $2 == "First" && $3 == 4 { print $6, $12 }' one/order.csv)
holds awk -v sum="$sum" -v ours="${ours% *}" 'BEGIN { d = sum / 3 - ours; exit !(d * d < 1e-4) }'
holds test "${ours#* }" = 1000

# --quick has fewer seeds and points, all of them remembered.
again 0 tiny --quick --out quick
complains "0 runs to do"
has_lines 11 quick/order.csv
again 0 tiny --figure runtime --out partial
is_absent partial/order.csv

# What is wrong is named: a run that fails, a key that nobody reads, a claim of nothing.
sed -i 's/policy: srtf/policy: nobody/' tiny/experiment.yaml
again 3 tiny --out bad
complains "nobody"
is_absent bad
sed -i 's/policy: nobody/policy: srtf/' tiny/experiment.yaml
sed -i 's/^source:/sauce: x\nsource:/' tiny/order.yaml
again 3 tiny --out bad
complains "order.yaml: found the key 'sauce'"
sed -i '/^sauce/d; s/policy: First, reason/policy: Last, reason/' tiny/order.yaml
again 3 tiny --out bad
complains "order: claims: found 'Last', wanted one of First, Shortest"

# Who is told to stop ends the simulators that it has started, and says so by its status.
cat >slow <<Y
#!/bin/sh
case \$1 in run) echo \$\$ >>$PWD/started; exec sleep 60 ;; *) exec "$program" "\$@" ;; esac
Y
chmod +x slow
sed -i 's/policy: Last, reason/policy: First, reason/' tiny/order.yaml
said="reproduce, told to stop"
"$reproduce" tiny --program "$PWD/slow" --cache slow-cache -j2 --out slow-out >"$work/out" 2>"$work/err" &
for _ in $(seq 100); do
	[ "$(wc -l 2>/dev/null <started)" = 2 ] && break
	sleep 0.1
done
kill -TERM $!
wait $!
status=$?
ends_with 143
holds test "$(wc -l <started)" = 2
while read -r pid; do
	holds test ! -e "/proc/$pid"
done <started

# The table in README.md is what results/ has.
said="the table of results in README.md"
python3 - "$root" >"$work/out" 2>"$work/err" <<'Y'
import csv, pathlib, re, sys

root = pathlib.Path(sys.argv[1])
table = re.search(r"<!-- themis-nsdi20 -->\n(.*?)<!-- end -->", (root / "README.md").read_text(), re.S).group(1)
_, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
metrics = ["rho_contention_max", "rho_max", "app_time_mean_h", "gpu_time_h"]
wanted = {}
for figure in ("fig09", "fig10"):
    with open(root / f"results/themis-nsdi20/{figure}.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["metric"] in metrics:
                half = (float(row["ci95_high"]) - float(row["ci95_low"])) / 2
                wanted[row["policy"], figure, row["metric"]] = (float(row["mean"]), half)
n_compared = 0
for policy, *cells in rows:
    for (figure, metric), cell in zip([(f, m) for f in ("fig09", "fig10") for m in metrics], cells):
        pair = wanted.pop((policy, figure, metric))
        wanted_mean = pair[0]
        for number, exact in zip(map(float, cell.split(" ± ")), pair):
            # Rounded here, and to six digits there.
            half_unit = 0.005 if "." in cell else 0.5
            assert abs(number - exact) <= half_unit + 1e-5 * wanted_mean, (policy, figure, metric, number, exact)
            n_compared += 1
assert not wanted and n_compared >= 100, (wanted, n_compared)
Y
status=$?
ends_with 0
if [ "$status" -ne 0 ]; then cat "$work/err"; fi

said="claims.py"
"$root/tests/reproduction/claims.py" "$root" >"$work/out" 2>"$work/err"
status=$?
ends_with 0
cat "$work/out"
finish
