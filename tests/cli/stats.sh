#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# scripts/stats.py: quantiles against the printed tables, intervals against paper and pencil, and what it
# makes of summary.csv files.

# shellcheck source=tests/cli/common.bash
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"

python=$(command -v /usr/bin/python3 || command -v python3) || { echo "SKIP: no python3"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/scripts

# stats STATUS ARGUMENT...
stats() {
	local wanted=$1
	shift
	said="stats.py $*"
	"$python" "$root/scripts/stats.py" "$@" >"$work/out" 2>"$work/err"
	status=$?
	ends_with "$wanted"
}

# t at 97.5 and 99.5 %, as in the tables of every textbook.
cat >quantiles.py <<'P'
import stats
TABLE = {1: (12.706, 63.657), 2: (4.303, 9.925), 3: (3.182, 5.841), 4: (2.776, 4.604), 5: (2.571, 4.032),
         6: (2.447, 3.707), 9: (2.262, 3.250), 10: (2.228, 3.169), 19: (2.093, 2.861), 20: (2.086, 2.845),
         29: (2.045, 2.756), 30: (2.042, 2.750), 120: (1.980, 2.617)}
for df, (two_sided_95, two_sided_99) in TABLE.items():
    assert f"{stats.student_t_quantile(0.975, df):.3f}" == f"{two_sided_95:.3f}", df
    assert f"{stats.student_t_quantile(0.995, df):.3f}" == f"{two_sided_99:.3f}", df
    for t in (0.3, 1.0, 2.5):
        assert abs(stats.student_t_cdf(t, df) + stats.student_t_cdf(-t, df) - 1) < 1e-12, df
P
holds "$python" quantiles.py

# 1 2 3 4: s = sqrt(5/3), half = 3.182446 x 1.290994 / 2 = 2.054260.
cat >intervals.py <<'P'
import math
import stats


def near(found, wanted):
    assert abs(found - wanted) < 1e-6, (found, wanted)


four = stats.mean_interval([1, "2", 3.0, "", None, math.nan, 4])
assert four.n == 4
near(four.mean, 2.5), near(four.half_width, 2.054260), near(four.low, 0.445740), near(four.high, 4.554260)
near(stats.mean_interval([1, 2, 3, 4], 0.99).half_width, 5.840909 * 1.2909944 / 2)
one = stats.mean_interval([7])
assert one == (1, 7.0, None, None, None) and one.half_width is None
assert stats.mean_interval(["", None]) == (0, None, None, None, None)
# Pairs 2/1, 4/2, 8/2: logs of 2, 2, 4 have mean log(16)/3 and s = log(2)/sqrt(3).
ratio = stats.ratio_interval([2, 4, 8], [1, 2, 2])
near(ratio.mean, 16 ** (1 / 3)), near(ratio.high / ratio.mean, math.exp(4.302653 * math.log(2) / 3))
near(stats.ratio_interval([1, 2, 2], [2, 4, 8]).low * ratio.high, 1)
# Differences 1, 2, 6 have mean 3, s = sqrt(7); the pair without a value is left out.
difference = stats.difference_interval([2, 4, 8, 5], [1, 2, 2, ""])
assert difference.n == 3
near(difference.mean, 3), near(difference.half_width, 4.302653 * math.sqrt(7 / 3))
try:
    stats.ratio_interval([1, 2], [1])
    raise AssertionError("took lists of two lengths")
except ValueError:
    pass
P
holds "$python" intervals.py

cat >table.py <<'P'
import pandas as pd
import stats
table = pd.DataFrame({"policy": ["b", "a", "b", "a"], "load": [1, 1, 1, 1], "rho": [1.0, 5.0, 3.0, None]})
found = stats.summarise(table, ["policy", "load"], ["rho"])
assert list(found.columns) == ["policy", "load", "column", "n", "mean", "sd", "ci_low", "ci_high"]
assert found["policy"].tolist() == ["b", "a"] and found["n"].tolist() == [2, 1]
assert abs(found["ci_high"][0] - (2 + 12.706205)) < 1e-5 and found["ci_high"].isna()[1]
P
if "$python" -c 'import pandas' 2>/dev/null; then
	holds "$python" table.py
fi

# Whatever is the same in all seeds has an interval of width 0.
printf 'job_id,submit_time,num_gpus,duration\nJ1,0,4,100\nJ2,0,4,100\n' >trace.csv
for seed in 1 2 3; do
	sim run --cluster 1x4 --trace trace.csv --policy fifo --policy las --seed "$seed" --out "seed-$seed"
	ends_with 0
done
stats 0 --column rho_max,jct_mean_s seed-1 seed-2 seed-3
prints "policy,cluster,column,n,mean,sd,ci_low,ci_high"
prints "fifo,1x4,rho_max,3,1.333333333,0,1.333333333,1.333333333"
prints "fifo,1x4,jct_mean_s,3,150,0,150,150"
prints "las,1x4,rho_max,3"
stats 0 --column rho_max seed-1
prints "fifo,1x4,rho_max,1,1.333333333,,,"
stats 3 seed-1 seed-2 seed-1
complains "seed-1: found seed 1 of fifo again, after seed-1; wanted one run a seed"
stats 3 --column rho_min seed-1
complains "summary.csv: found no column rho_min"
stats 3 nowhere
complains "nowhere/summary.csv: No such file"
mkdir letters ragged bytes
printf 'policy,cluster,seed,rho_max\nfifo,1x1,1,2\nlas,1x1,1,high\n' >letters/summary.csv
printf 'policy,cluster,seed,rho_max\nfifo,1x1,1,2\nlas\n' >ragged/summary.csv
printf '\377\376' >bytes/summary.csv
stats 3 --column rho_max letters
complains 'letters/summary.csv:3: found "high" for rho_max, wanted a number or nothing'
holds test ! -s "$work/out"
stats 3 --column rho_max ragged
complains 'ragged/summary.csv:3: found another number of cells'
stats 3 --column rho_max bytes
complains 'bytes/summary.csv: found what is no text in UTF-8'
stats 2 --confidence 95 seed-1
stats 2

finish
