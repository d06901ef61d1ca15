# SPDX-License-Identifier: MIT
"""An experiment as its YAML files describe it: experiment.yaml for all, and one file a figure."""

import copy
import itertools
import pathlib
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

import yaml

from reproduction import InputError

# The policy is an axis like any other, and so is the workload where there are several, and the
# quantile of metrics that are distributions.
POLICY, WORKLOAD, QUANTILE = "policy", "workload", "quantile"
TABLES = ("summary", "apps", "jobs", "fairness")
PLOT_KINDS = ("bars", "lines", "cdf", "heat")


def checked(mapping, where, required=(), optional=()):
    """The mapping, if it has all required keys and none that nobody reads."""
    if not isinstance(mapping, dict):
        raise InputError(f"{where}: found {mapping!r}, wanted a mapping")
    absent = [key for key in required if key not in mapping]
    unknown = [key for key in mapping if key not in (*required, *optional)]
    if absent or unknown:
        what = f"no {absent[0]}" if absent else f"the key {unknown[0]!r}"
        raise InputError(f"{where}: found {what}, wanted {', '.join((*required, *optional))}")
    return mapping


def one_of(value, known, where):
    if value not in known:
        raise InputError(f"{where}: found {value!r}, wanted one of {', '.join(map(str, known))}")
    return value


def read_yaml(path):
    try:
        with open(path, encoding="utf-8") as file:
            return yaml.safe_load(file)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except yaml.YAMLError as error:
        raise InputError(f"{path}: {error}") from None


def with_overrides(spec, overrides):
    """A copy of a nested mapping in which the value of each dotted key is replaced."""
    spec = copy.deepcopy(spec)
    for key, value in overrides.items():
        *parents, last = key.split(".")
        place = spec
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return spec


@dataclass
class Axis:
    """What is varied: an option of the policies, keys of the workload's spec, or the policy."""

    name: str
    values: List[Any]
    label: str = ""
    options: Dict[Any, Dict[str, Any]] = field(default_factory=dict)  # by value: policy options
    workload: Dict[Any, Dict[str, Any]] = field(default_factory=dict)  # by value: keys of the spec


@dataclass
class Metric:
    """One number a run, or one for each quantile: a statistic of a column of one of its tables."""

    name: str
    label: str
    table: str
    column: str
    where: Dict[str, Any]
    statistic: str
    divide_by: float
    quantiles: Optional[List[float]]


@dataclass
class Point:
    """One setting of a figure: its coordinates, and what they mean to the simulator."""

    coordinates: Dict[str, Any]
    policy: str
    spec: pathlib.Path
    overrides: Dict[str, Any]


@dataclass
class Workload:
    """A spec of a synthetic trace, and keys of it that are replaced."""

    spec: pathlib.Path
    overrides: Dict[str, Any]


@dataclass
class Figure:
    name: str
    title: str
    source: str
    note: str
    workloads: Dict[str, Workload]
    cluster: str
    seeds: List[int]
    axes: List[Axis]
    policies: Dict[str, Dict[str, Any]]
    metrics: Dict[str, Metric]
    published: List[Dict[str, Any]]
    claims: List[Dict[str, Any]]
    plots: List[Dict[str, Any]]

    def axis(self, name):
        return next(axis for axis in self.axes if axis.name == name)

    def points(self):
        for values in itertools.product(*(axis.values for axis in self.axes)):
            coordinates = {axis.name: value for axis, value in zip(self.axes, values)}
            policy = self.policies[coordinates[POLICY]]
            workload = self.workloads[coordinates.get(WORKLOAD, next(iter(self.workloads)))]
            options, overrides = dict(policy["options"]), dict(workload.overrides)
            for axis, value in zip(self.axes, values):
                options.update(axis.options.get(value, {}))
                overrides.update(axis.workload.get(value, {}))
            yield Point(coordinates, policy_text(policy["policy"], options), workload.spec, overrides)


@dataclass
class Experiment:
    title: str
    folder: pathlib.Path
    models: Optional[pathlib.Path]
    settings: Dict[str, Any]
    policies: List[str]
    figures: List[Figure]
    preface: str
    beside: Dict[str, str]
    reasons: Dict[str, str]
    excerpt: Dict[str, Any]


def option_text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def policy_text(name, options):
    """As --policy takes it; options in the order of their names, so that equal runs look equal."""
    pairs = ",".join(f"{key}={option_text(options[key])}" for key in sorted(options))
    return f"{name}:{pairs}" if pairs else name


def settings_of(keys, values):
    """By value of an axis, what it sets. Several keys take a list of settings, one for each."""
    if not isinstance(keys, list):
        return {value: {keys: setting} for value, setting in values.items()}
    return {value: dict(zip(keys, setting)) for value, setting in values.items()}


def read_axis(entry, where):
    """`values` is a list, each given to the `option` or the key of the `workload`'s spec; or a mapping
    of values to what each sets there."""
    checked(entry, where, ("name", "values"), ("label", "option", "workload"))
    if ("option" in entry) == ("workload" in entry):
        raise InputError(f"{where}: wanted either option or workload, the thing that is varied")
    values = entry["values"] if isinstance(entry["values"], dict) else {value: value for value in entry["values"]}
    settings = settings_of(entry.get("option", entry.get("workload")), values)
    axis = Axis(entry["name"], list(values), entry.get("label", entry["name"]))
    if "option" in entry:
        axis.options = settings
    else:
        axis.workload = settings
    return axis


def read_metric(name, entry, where):
    entry = checked(entry or {}, where, (),
                    ("label", "table", "column", "where", "statistic", "divide_by", "quantiles"))
    quantiles = entry.get("quantiles")
    return Metric(name, entry.get("label", name), one_of(entry.get("table", "summary"), TABLES, where),
                  entry.get("column", name), entry.get("where", {}),
                  one_of(entry.get("statistic", "mean"), ("mean", "max", "min", "sum"), where),
                  float(entry.get("divide_by", 1)), quantiles)


class FigureReader:
    """Reads one figure's file, against what the experiment says for all."""

    REQUIRED = ("title", "source", "workload", "cluster", "policies", "metrics", "plots", "claims")
    OPTIONAL = ("note", "axes", "published", "seeds", "quick", "set")

    def __init__(self, path, shared, folder, is_quick):
        self.path, self.shared, self.folder, self.is_quick = path, shared, folder, is_quick
        self.entry = checked(read_yaml(path), path, self.REQUIRED, self.OPTIONAL)

    def seeds(self):
        n_seeds = self.entry.get("seeds", self.shared["seeds"])
        if self.is_quick:
            n_seeds = self.quick().get("seeds", self.shared.get("quick", {}).get("seeds", n_seeds))
        return list(range(1, n_seeds + 1))

    def quick(self):
        return checked(self.entry.get("quick", {}), f"{self.path}: quick", (), ("seeds", "axes"))

    def axes(self):
        axes = [Axis(POLICY, list(self.entry["policies"]), "policy")]
        if len(self.workload_names()) > 1:
            axes.append(Axis(WORKLOAD, self.workload_names(), "workload"))
        axes += [read_axis(axis, f"{self.path}: axes") for axis in self.entry.get("axes", [])]
        if self.is_quick:
            for name, values in self.quick().get("axes", {}).items():
                axis = next((axis for axis in axes if axis.name == name), None)
                if axis is None or any(value not in axis.values for value in values):
                    raise InputError(f"{self.path}: quick: found {name}: {values}, wanted values of an axis")
                axis.values = values
        return axes

    def policies(self):
        known = self.shared["policies"]
        chosen = {}
        for label in self.entry["policies"]:
            one_of(label, known, f"{self.path}: policies")
            entry = known[label] if isinstance(known[label], dict) else {"policy": known[label]}
            checked(entry, f"policy {label}", ("policy",), ("options",))
            chosen[label] = {"policy": entry["policy"], "options": entry.get("options", {})}
        return chosen

    def workload_names(self):
        names = self.entry["workload"]
        return names if isinstance(names, list) else [names]

    def workload(self, name):
        one_of(name, self.shared["workloads"], f"{self.path}: workload")
        entry = checked(self.shared["workloads"][name], f"workload {name}", ("spec",), ("set",))
        return Workload(self.folder / entry["spec"], {**entry.get("set", {}), **self.entry.get("set", {})})

    def cluster(self, name):
        """A file beside the experiment, or a shorthand that the program understands."""
        file = self.folder / self.shared["clusters"][name]
        return str(file) if file.exists() else self.shared["clusters"][name]

    def metrics(self):
        entries = self.entry["metrics"]
        if isinstance(entries, list):
            entries = {name: {} for name in entries}
        return {name: read_metric(name, entry, f"{self.path}: metric {name}") for name, entry in entries.items()}

    def plots(self, metrics):
        for plot in self.entry["plots"]:
            where = f"{self.path}: plots"
            checked(plot, where, ("kind", "metric"), ("x", "by", "at", "log"))
            one_of(plot["kind"], PLOT_KINDS, where)
            one_of(plot["metric"], metrics, where)
        return self.entry["plots"]

    def published(self, axes, metrics):
        names = [axis.name for axis in axes] + [QUANTILE]
        for series in self.entry.get("published", []):
            where = f"{self.path}: published"
            checked(series, where, ("metric", "over", "values"), ("at", "scale"))
            one_of(series["metric"], metrics, where)
            for name in (series["over"], *series.get("at", {})):
                one_of(name, names, where)
        return self.entry.get("published", [])

    def read(self):
        axes, metrics = self.axes(), self.metrics()
        workloads = {name: self.workload(name) for name in self.workload_names()}
        cluster = one_of(self.entry["cluster"], self.shared["clusters"], f"{self.path}: cluster")
        return Figure(self.path.stem, self.entry["title"], self.entry["source"], self.entry.get("note", ""),
                      workloads, self.cluster(cluster), self.seeds(), axes, self.policies(),
                      metrics, self.published(axes, metrics), self.entry["claims"], self.plots(metrics))


def read_experiment(folder, is_quick=False, only=()):
    """The experiment in a folder; `only` names the figures wanted, if not all."""
    folder = pathlib.Path(folder)
    path = folder / "experiment.yaml"
    shared = checked(read_yaml(path), path, ("title", "seeds", "workloads", "clusters", "policies", "figures"),
                     ("quick", "models", "settings", "preface", "beside", "reasons", "excerpt"))
    for policy, other in shared.get("beside", {}).items():
        one_of(policy, shared["policies"], f"{path}: beside")
        one_of(other, shared["policies"], f"{path}: beside")
    if "excerpt" in shared:
        checked(shared["excerpt"], f"{path}: excerpt", ("file", "mark", "figures", "metrics"))
    for name in only:
        one_of(name, shared["figures"], "--figure")
    names = [name for name in shared["figures"] if not only or name in only]
    figures = [FigureReader(folder / f"{name}.yaml", shared, folder, is_quick).read() for name in names]
    models = folder / shared["models"] if "models" in shared else None
    return Experiment(shared["title"], folder, models, shared.get("settings", {}), list(shared["policies"]),
                      figures, shared.get("preface", ""), shared.get("beside", {}), shared.get("reasons", {}),
                      shared.get("excerpt", {}))
