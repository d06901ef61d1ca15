# SPDX-License-Identifier: MIT
"""One picture a figure: a panel for each of its plots, what was published beside what was measured."""

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot as plt

from reproduction.experiment import POLICY, QUANTILE
from reproduction.tables import published_at, published_values

# The first policy of an experiment is the one it is about.
COLOURS = ("#d62728", "#1f77b4", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#17becf", "#7f7f7f", "#bcbd22", "#e377c2",
           "#0b3d91", "#00695c", "#808000")
PUBLISHED = dict(linestyle="none", marker="D", markersize=5, markerfacecolor="white", markeredgecolor="black")
PANEL_WIDTH, PANEL_HEIGHT = 5.0, 3.6


class Drawing:
    def __init__(self, experiment, figure, measured):
        self.figure, self.measured = figure, measured
        self.colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(experiment.policies)}

    def label(self, metric):
        return self.figure.metrics[metric].label

    def settings(self, plot):
        """Coordinates that the plot shows: those that agree with its `at`."""
        at = plot.get("at", {})
        return [coordinates for coordinates in self.measured.settings(plot["metric"])
                if all(coordinates.get(name) == value for name, value in at.items())]

    def colour(self, value, place):
        return self.colours.get(value, COLOURS[place % len(COLOURS)])

    def bars(self, axes, plot):
        x = plot.get("x", POLICY)
        settings = self.settings(plot)
        names = [str(coordinates[x]) for coordinates in settings]
        intervals = [self.measured.interval(plot["metric"], coordinates) for coordinates in settings]
        places = np.arange(len(names))
        colours = [self.colour(coordinates[x], i) for i, coordinates in enumerate(settings)]
        errors = [interval.half_width or 0 for interval in intervals]
        axes.barh(places, [interval.mean for interval in intervals], xerr=errors, color=colours, height=0.7,
                  error_kw={"elinewidth": 1, "capsize": 2})
        theirs = [published_at(self.figure, plot["metric"], coordinates) for coordinates in settings]
        known = [(place, number) for place, number in zip(places, theirs) if number is not None]
        if known:
            axes.plot([number for _, number in known], [place for place, _ in known], label="published", **PUBLISHED)
            axes.legend(loc="best", frameon=False)
        axes.set_yticks(places, names)
        axes.invert_yaxis()
        axes.set_xlabel(self.label(plot["metric"]))
        axes.grid(True, axis="x", color="0.9", linewidth=0.6)

    def curves(self, plot, x):
        """By the coordinate that tells curves apart: the points of its curve in the order of x."""
        by = plot.get("by", POLICY)
        found = {}
        for coordinates in self.settings(plot):
            found.setdefault(coordinates[by], []).append(coordinates)
        return by, {key: sorted(group, key=lambda coordinates: coordinates[x]) for key, group in found.items()}

    def lines(self, axes, plot):
        x = plot["x"]
        by, curves = self.curves(plot, x)
        for place, (key, group) in enumerate(curves.items()):
            xs = [coordinates[x] for coordinates in group]
            intervals = [self.measured.interval(plot["metric"], coordinates) for coordinates in group]
            colour = self.colour(key, place)
            name = key if by == POLICY else f"{by} {key}"
            axes.plot(xs, [interval.mean for interval in intervals], color=colour, marker="o", markersize=3, label=name)
            if intervals[0].low is not None:
                axes.fill_between(xs, [interval.low for interval in intervals], [interval.high for interval in intervals],
                                  color=colour, alpha=0.12, linewidth=0)
            theirs = [published_at(self.figure, plot["metric"], coordinates) for coordinates in group]
            known = [(value, number) for value, number in zip(xs, theirs) if number is not None]
            if known:
                axes.plot(*zip(*known), color=colour, linestyle=(0, (3, 2)), linewidth=1, label=f"{name}, published")
        axes.set_xlabel(self.figure.axis(x).label)
        axes.set_ylabel(self.label(plot["metric"]))
        axes.grid(True, color="0.9", linewidth=0.6)
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)

    def cdf(self, axes, plot):
        """The mean over seeds of each quantile."""
        _, curves = self.curves(plot, QUANTILE)
        for place, (key, group) in enumerate(curves.items()):
            intervals = [self.measured.interval(plot["metric"], coordinates) for coordinates in group]
            quantiles = [coordinates[QUANTILE] for coordinates in group]
            colour = self.colour(key, place)
            axes.plot([interval.mean for interval in intervals], quantiles, color=colour, label=key)
            if intervals[0].low is not None:
                axes.fill_betweenx(quantiles, [interval.low for interval in intervals],
                                   [interval.high for interval in intervals], color=colour, alpha=0.12, linewidth=0)
        axes.set_ylim(0, 1)
        axes.set_xlabel(self.label(plot["metric"]))
        axes.set_ylabel("part that has at most that")
        axes.grid(True, color="0.9", linewidth=0.6)
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)

    def heat(self, axes, plot):
        """A table in colours; the published in small print below each number."""
        x, y = plot["x"], plot["by"]
        settings = self.settings(plot)
        columns = list(dict.fromkeys(coordinates[x] for coordinates in settings))
        rows = list(dict.fromkeys(coordinates[y] for coordinates in settings))
        grid = np.full((len(rows), len(columns)), np.nan)
        for coordinates in settings:
            row, column = rows.index(coordinates[y]), columns.index(coordinates[x])
            grid[row, column] = self.measured.mean(plot["metric"], coordinates)
            theirs = published_at(self.figure, plot["metric"], coordinates)
            text = f"{grid[row, column]:.3g}" + (f"\n({theirs:.3g})" if theirs is not None else "")
            axes.text(column, row, text, ha="center", va="center", fontsize="x-small", color="black")
        axes.imshow(grid, aspect="auto", cmap="YlOrRd", alpha=0.8)
        axes.set_xticks(range(len(columns)), [str(value) for value in columns])
        axes.set_yticks(range(len(rows)), [str(value) for value in rows])
        axes.set_xlabel(self.figure.axis(x).label)
        axes.set_ylabel(self.figure.axis(y).label)
        has_published = any(name == plot["metric"] for name, _, _ in published_values(self.figure))
        axes.set_title(self.label(plot["metric"]) + (" (published)" if has_published else ""), fontsize="medium")

    def save(self, path):
        plots = self.figure.plots
        n_columns = min(2, len(plots))
        n_rows = -(-len(plots) // n_columns)
        picture, panels = plt.subplots(n_rows, n_columns, figsize=(PANEL_WIDTH * n_columns * 1.15, PANEL_HEIGHT * n_rows),
                                       layout="constrained", squeeze=False)
        for axes, plot in zip(panels.flat, plots):
            getattr(self, plot["kind"])(axes, plot)
            if plot.get("log"):
                (axes.set_yscale if plot["kind"] == "lines" else axes.set_xscale)("log")
            axes.spines[["top", "right"]].set_visible(False)
        for axes in list(panels.flat)[len(plots):]:
            axes.set_visible(False)
        picture.savefig(path, dpi=90, metadata={"Software": None})
        plt.close(picture)


def draw(experiment, figure, measured, path):
    matplotlib.rcParams.update({"font.size": 8, "lines.linewidth": 1.4})
    Drawing(experiment, figure, measured).save(path)
