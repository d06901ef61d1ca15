#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Means over seeds, with the confidence interval that belongs to them.

  scripts/stats.py results/seed-*                      every policy's headline columns
  scripts/stats.py --column rho_max,util_frac results/seed-*

Each folder is what themis-sim run --out has written with one seed; rows of one policy and cluster are
replications of one experiment. The result is a CSV, a row for each policy, cluster and column.

The interval is Student's: mean +- t s / sqrt(n), s with n - 1, t the quantile at n - 1 degrees of
freedom. It is the interval of the *mean over seeds*, not the spread of the seeds, and it is
undefined below two of them. For two policies on the same seeds ratio_interval() is the sharper
question: it pairs what came of the same workload.

As a module it needs the standard library alone; summarise() takes and gives pandas tables.
"""

import argparse
import csv
import functools
import math
import pathlib
import sys
from typing import NamedTuple, Optional

STATUS_INPUT = 3
CONFIDENCE = 0.95
HEADLINE = ["jct_mean_s", "jct_p99_s", "rho_mean", "rho_max", "rho_contention_max", "jain_rho", "util_frac", "alloc_gpu_s",
            "makespan_s"]


class Interval(NamedTuple):
    """Of n values; what is undefined is None, and so is no number at all."""

    n: int
    mean: Optional[float]
    sd: Optional[float]  # of the values, with n - 1
    low: Optional[float]
    high: Optional[float]

    @property
    def half_width(self):
        return None if self.low is None else (self.high - self.low) / 2


def student_t_cdf(t, df):
    """P(T <= t) for a whole number of degrees of freedom: the finite sums of Abramowitz and Stegun,
    26.7.3 and 26.7.4."""
    theta = math.atan2(t, math.sqrt(df))
    cos2 = math.cos(theta) ** 2
    term = total = math.cos(theta) if df % 2 else 1.0
    for k in range(2 if df % 2 else 1, df - 1, 2):
        term *= cos2 * k / (k + 1)
        total += term
    if df % 2 == 0:
        inside = math.sin(theta) * total
    else:
        inside = 2 / math.pi * (theta + (math.sin(theta) * total if df > 1 else 0.0))
    return 0.5 + inside / 2


@functools.lru_cache(maxsize=None)
def student_t_quantile(p, df):
    """The t with P(T <= t) = p, for 0.5 < p < 1, by bisection to the last bit."""
    if not (0.5 < p < 1 and df >= 1 and df == int(df)):
        raise ValueError(f"found p = {p} and {df} degrees of freedom; wanted 0.5 < p < 1 and a whole number")
    low, high = 0.0, 1.0
    while student_t_cdf(high, df) < p:
        low, high = high, high * 2
    while low < (middle := (low + high) / 2) < high:
        if student_t_cdf(middle, df) < p:
            low = middle
        else:
            high = middle
    return high


def is_number(value):
    return value is not None and value != "" and math.isfinite(float(value))


def mean_interval(values, confidence=CONFIDENCE):
    """The Interval of the mean of `values`, one a seed. None, "", NaN and inf are undefined: they
    are left out, and n says how many remain."""
    known = [float(value) for value in values if is_number(value)]
    n = len(known)
    if n == 0:
        return Interval(0, None, None, None, None)
    mean = math.fsum(known) / n
    if n == 1:
        return Interval(1, mean, None, None, None)
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / (n - 1))
    half = student_t_quantile((1 + confidence) / 2, n - 1) * sd / math.sqrt(n)
    return Interval(n, mean, sd, mean - half, mean + half)


def known_pairs(ours, theirs):
    ours, theirs = list(ours), list(theirs)
    if len(ours) != len(theirs):
        raise ValueError(f"found {len(ours)} and {len(theirs)} values; wanted one a seed of both")
    return [(float(a), float(b)) for a, b in zip(ours, theirs) if is_number(a) and is_number(b)]


def difference_interval(ours, theirs, confidence=CONFIDENCE):
    """Of ours - theirs, paired: the i-th of both are of one seed. Where 0 is outside, they differ."""
    return mean_interval([a - b for a, b in known_pairs(ours, theirs)], confidence)


def ratio_interval(ours, theirs, confidence=CONFIDENCE):
    """Of ours / theirs, paired, as the geometric mean (all above 0), which does not depend on who
    is divided by whom. Where 1 is outside, they differ. sd is that of the logarithm."""
    logs = mean_interval([math.log(a / b) for a, b in known_pairs(ours, theirs)], confidence)
    return Interval(logs.n, *(None if value is None else math.exp(value) if i != 1 else value
                              for i, value in enumerate(logs[1:])))


def summarise(table, by, columns, confidence=CONFIDENCE):
    """Of a pandas table with a row a seed: a row for each group of the columns `by`, in the order of
    first appearance, and each of `columns`: by..., column, n, mean, sd, ci_low, ci_high. Undefined
    is NaN there."""
    import pandas as pd

    rows = []
    for key, group in table.groupby(list(by), sort=False, dropna=False):
        for column in columns:
            rows.append([*key, column, *mean_interval(group[column].tolist(), confidence)])
    return pd.DataFrame(rows, columns=[*by, *RESULT_COLUMNS])


RESULT_COLUMNS = ["column", "n", "mean", "sd", "ci_low", "ci_high"]


class InputError(Exception):
    """Something wanted is not in a file."""


def checked_row(row, columns, place):
    if None in row or None in row.values():
        raise InputError(f"{place}: found another number of cells than in the header, wanted the same")
    for name in columns:
        try:
            is_number(row[name])
        except ValueError:
            raise InputError(f"{place}: found \"{row[name]}\" for {name}, wanted a number or nothing") from None
    return row


def read_rows(folder, columns):
    path = pathlib.Path(folder) / "summary.csv"
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            absent = [name for name in ("policy", "cluster", "seed", *columns) if name not in (reader.fieldnames or [])]
            if absent:
                raise InputError(f"{path}: found no column {', '.join(absent)}")
            return [checked_row(row, columns, f"{path}:{reader.line_num}") for row in reader]
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; wanted a folder that themis-sim run --out has written") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: found what is no text in UTF-8, wanted a table") from None


def group_rows(folders, columns):
    """By (policy, cluster), the rows of all seeds; the same seed twice is no second observation."""
    groups, seen = {}, {}
    for folder in folders:
        for row in read_rows(folder, columns):
            key = (row["policy"], row["cluster"])
            if (key, row["seed"]) in seen:
                raise InputError(f"{folder}: found seed {row['seed']} of {key[0]} again, after "
                                 f"{seen[key, row['seed']]}; wanted one run a seed")
            seen[key, row["seed"]] = folder
            groups.setdefault(key, []).append(row)
    return groups


def write_csv(groups, columns, confidence, out):
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["policy", "cluster", *RESULT_COLUMNS])
    for key, rows in groups.items():
        for column in columns:
            interval = mean_interval([row[column] for row in rows], confidence)
            writer.writerow([*key, column, *("" if value is None else format(value, ".10g") for value in interval)])


def main():
    parser = argparse.ArgumentParser(prog="stats.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", metavar="RESULTS_DIR", nargs="+", help="one a seed")
    parser.add_argument("--column", metavar="NAMES", default=",".join(HEADLINE),
                        help="columns of summary.csv, joined by commas (%(default)s)")
    parser.add_argument("--confidence", metavar="P", type=float, default=CONFIDENCE, help="(%(default)s)")
    arguments = parser.parse_args()
    if not 0 < arguments.confidence < 1:
        parser.error(f"--confidence: found {arguments.confidence:g}, wanted a number between 0 and 1")
    columns = arguments.column.split(",")
    try:
        write_csv(group_rows(arguments.results, columns), columns, arguments.confidence, sys.stdout)
    except (InputError, ValueError) as error:
        print(f"stats: {error}", file=sys.stderr)
        return STATUS_INPUT
    return 0


if __name__ == "__main__":
    sys.exit(main())
