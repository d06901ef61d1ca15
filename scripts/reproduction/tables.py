# SPDX-License-Identifier: MIT
"""What came out: one number for each point of a figure, seed and metric, and means of these over the
seeds. A `Measured` is asked by coordinates, such as {policy: Themis, f: 0.8}."""

import csv
import functools
import math

import pandas as pd

import stats
from reproduction import InputError
from reproduction.experiment import QUANTILE


@functools.lru_cache(maxsize=64)
def read_table(path):
    return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype={"app_id": str, "job_id": str})


def selected(table, where, path):
    """The rows in which each column of `where` has its value; `not` before a column's name turns it round."""
    for column, value in where.items():
        name = column[4:] if column.startswith("not ") else column
        if name not in table:
            raise InputError(f"{path}: found no column {name}")
        is_it = table[name].astype(str) == str(value)
        table = table[~is_it if column.startswith("not ") else is_it]
    return table


def numbers_of(metric, folder):
    """The metric's values in a run: pairs of quantile (None if it is a single number) and number."""
    path = folder / f"{metric.table}.csv"
    table = read_table(path)
    if metric.column not in table:
        raise InputError(f"{path}: found no column {metric.column}, wanted by metric {metric.name}")
    column = selected(table, metric.where, path)[metric.column].dropna().astype(float) / metric.divide_by
    if column.empty:
        raise InputError(f"{path}: found no value of {metric.column} with {metric.where or 'no condition'}, "
                         f"wanted by metric {metric.name}")
    if metric.quantiles is None:
        return [(None, float(getattr(column, metric.statistic)()))]
    return [(q, float(column.quantile(q))) for q in metric.quantiles]


class Measured:
    """Numbers of a figure by coordinates, metric and seed."""

    def __init__(self, figure):
        self.figure = figure
        self.values = {}  # (metric, coordinates as sorted pairs) -> {seed: number}

    @staticmethod
    def key(metric, coordinates):
        return metric, tuple(sorted(coordinates.items(), key=lambda pair: pair[0]))

    def add(self, metric, coordinates, seed, number):
        self.values.setdefault(self.key(metric, coordinates), {})[seed] = number

    def by_seed(self, metric, coordinates):
        """In the order of the seeds, so that equal places are of the same workload."""
        try:
            found = self.values[self.key(metric, coordinates)]
        except KeyError:
            raise InputError(f"{self.figure.name}: found nothing of {metric} at {coordinates}") from None
        return [found[seed] for seed in self.figure.seeds]

    def interval(self, metric, coordinates):
        return stats.mean_interval(self.by_seed(metric, coordinates))

    def mean(self, metric, coordinates):
        return self.interval(metric, coordinates).mean

    def settings(self, metric):
        """Coordinates of all that was measured of a metric, in the order of the figure's points."""
        return [dict(pairs) for name, pairs in self.values if name == metric]


def gather(figure, wanted, simulator):
    measured = Measured(figure)
    for point, seed, run in wanted:
        folder = simulator.folder(run)
        for metric in figure.metrics.values():
            for quantile, number in numbers_of(metric, folder):
                coordinates = dict(point.coordinates)
                if quantile is not None:
                    coordinates[QUANTILE] = quantile
                measured.add(metric.name, coordinates, seed, number)
    return measured


def published_values(figure):
    """(metric, coordinates that are named, number) of every published number."""
    for series in figure.published:
        scale = series.get("scale", 1)
        for value, number in series["values"].items():
            yield series["metric"], {**series.get("at", {}), series["over"]: value}, number * scale


def published_at(figure, metric, coordinates):
    """The published number for these coordinates, or None."""
    for name, named, number in published_values(figure):
        if name == metric and all(coordinates.get(axis) == value for axis, value in named.items()):
            return number
    return None


def cell(number):
    """Six significant digits, no exponent, empty where undefined."""
    if number is None or not math.isfinite(number):
        return ""
    if number == 0:
        return "0"
    digits = max(0, 5 - math.floor(math.log10(abs(number))))
    text = f"{number:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def write_csv(figure, measured, path):
    """A row for each setting and metric: mean over seeds, its interval, the extremes, the published."""
    axes = [axis.name for axis in figure.axes]
    if any(metric.quantiles for metric in figure.metrics.values()):
        axes.append(QUANTILE)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["metric", *axes, "n", "mean", "ci95_low", "ci95_high", "sd", "min", "max", "published"])
        for metric in figure.metrics:
            for coordinates in measured.settings(metric):
                values = measured.by_seed(metric, coordinates)
                interval = stats.mean_interval(values)
                row = [interval.mean, interval.low, interval.high, interval.sd, min(values), max(values),
                       published_at(figure, metric, coordinates)]
                writer.writerow([metric, *(coordinates.get(axis, "") for axis in axes), interval.n, *map(cell, row)])
