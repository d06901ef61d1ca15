#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every kind of claim on made-up numbers of three seeds: where it is reproduced, partly, and not.

  claims.py ROOT
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "scripts"))

from reproduction import InputError
from reproduction.claims import KINDS, NOT, PARTLY, REPRODUCED, judge
from reproduction.experiment import Axis, Figure
from reproduction.tables import Measured, cell, published_at

SPREAD = (-0.1, 0.0, 0.1)
failures = []
judged_kinds = set()


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: found {found!r}, wanted {wanted!r}")


def measured_of(axes, means, spread=SPREAD):
    """A figure of one metric, m, from the mean of each setting of its axes."""
    figure = Figure("made-up", "", "", "", {}, "", list(range(1, len(spread) + 1)), axes, {}, {"m": None}, [], [], [])
    for axis in axes:
        if axis.name == "policy":
            figure.policies = {name: {} for name in axis.values}
    measured = Measured(figure)
    for values, mean in means.items():
        coordinates = dict(zip((axis.name for axis in axes), values if isinstance(values, tuple) else (values,)))
        for seed, off in zip(figure.seeds, spread):
            measured.add("m", coordinates, seed, mean + off)
    return figure, measured


def verdict(axes, means, spread=SPREAD, **claim):
    figure, measured = measured_of(axes, means, spread)
    claim = {"text": "t", "published": "p", "metric": "m", **claim}
    judged_kinds.add(claim["kind"])
    return judge(claim, figure, measured)


def policies(**means):
    return [Axis("policy", list(means))], means


def along(*means):
    values = [i / (len(means) - 1) for i in range(len(means))]
    return [Axis("f", values)], dict(zip(values, means))


def check(wanted, axes_and_means, **claim):
    found, text = verdict(*axes_and_means, **claim)
    expect(f"{claim} of {axes_and_means[1]}: {text}", found, wanted)


check(REPRODUCED, policies(a=1, b=2, c=3), kind="lowest", policy="a")
check(NOT, policies(a=2, b=1, c=3), kind="lowest", policy="a")
check(REPRODUCED, policies(a=2, b=1, c=3), kind="lowest", policy="a", among=["c"])
check(REPRODUCED, policies(a=3, b=1, c=2), kind="highest", policy="a")
check(NOT, policies(a=1, b=1.5, c=2), kind="highest", policy="a")

# Who is worse by less than the interval of the paired difference is partly the best.
axes = [Axis("policy", ["a", "b"])]
figure, measured = measured_of(axes, {"b": 1.0})
for seed, value in zip(figure.seeds, (0.9, 1.2, 1.0)):
    measured.add("m", {"policy": "a"}, seed, value)
for kind, wanted in (("lowest", PARTLY), ("highest", REPRODUCED)):
    claim = {"kind": kind, "text": "t", "published": "p", "metric": "m", "policy": "a"}
    expect(f"close, {kind}", judge(claim, figure, measured)[0], wanted)

ratio = dict(kind="ratio_at_least", policy="a", of=["b", "c"], least=1.5)
check(REPRODUCED, policies(a=1, b=1.6, c=9), **ratio)
check(PARTLY, policies(a=1, b=1.4, c=9), **ratio)
check(NOT, policies(a=1, b=0.9, c=9), **ratio)
expect("its number", verdict(*policies(a=2, b=4, c=9), spread=(0, 0, 0), **ratio)[1], "2 (2 to 2), b")

order = dict(kind="order", policies=["a", "b", "c"])
check(REPRODUCED, policies(c=3, b=2, a=1), **order)
check(PARTLY, policies(a=1, b=3, c=2), **order)
check(NOT, policies(a=3, b=2, c=1), **order)
check(REPRODUCED, policies(a=3, b=2, c=1), **order, falling=True)

shape = dict(kind="u_shape", axis="f", minimum=[0.5, 0.9], first_over_minimum=2)
check(REPRODUCED, along(4, 3, 1, 2, 3), **shape)
check(PARTLY, along(1.5, 1.4, 1, 2, 3), **shape)
check(PARTLY, along(4, 3, 2, 1.5, 1), **shape)
check(NOT, along(3, 3, 3, 2.5, 2), **shape)

rising = dict(kind="monotone", axis="f")
check(REPRODUCED, along(1, 2, 2, 3), **rising)
check(PARTLY, along(1, 3, 2, 4), **rising)
check(NOT, along(3, 4, 2), **rising)
check(REPRODUCED, along(3, 2, 1), **rising, falling=True)
check(REPRODUCED, along(9, 1, 2), **rising, **{"from": 0.5})

both = [Axis("policy", ["a", "b", "c"]), Axis("f", [1, 2])]
gap = dict(kind="gap_widens", axis="f", policy="a", of=["b", "c"])
widening = {("a", 1): 1, ("b", 1): 1.5, ("c", 1): 3, ("a", 2): 1, ("b", 2): 4, ("c", 2): 2}
check(REPRODUCED, (both, widening), **gap)
check(NOT, (both, {**widening, ("c", 2): 1.2}), **gap)

# Bounds of a number, and of changes from a base; only just outside is partly.
one = policies(a=1)
check(REPRODUCED, one, kind="at_most", at={"policy": "a"}, most=1)
check(PARTLY, one, kind="at_most", at={"policy": "a"}, most=0.9)
check(NOT, one, kind="at_most", at={"policy": "a"}, most=0.5)
check(REPRODUCED, one, kind="at_least", at={"policy": "a"}, least=1)
check(NOT, one, kind="at_least", at={"policy": "a"}, least=1.5)
change = dict(change_from={"f": 0})
check(REPRODUCED, along(1, 1.2), kind="within", least=-0.25, most=0.25, **change)
check(NOT, along(1, 1.9), kind="within", least=-0.25, most=0.25, **change)
check(NOT, along(1, 0.5), kind="at_least", least=0, **change)
check(REPRODUCED, along(1, 1, 1.5), kind="at_least", least=0, **change)

# Where a claim does not speak of an axis it must hold everywhere there, or where `at` says.
mixed = {("a", 1): 1, ("b", 1): 2, ("c", 1): 3, ("a", 2): 2, ("b", 2): 1, ("c", 2): 3}
check(PARTLY, (both, mixed), kind="lowest", policy="a")
check(REPRODUCED, (both, mixed), kind="lowest", policy="a", at={"f": 1})
check(NOT, (both, mixed), kind="lowest", policy="a", at={"f": [2]})
try:
    verdict(both, mixed, kind="lowest", policy="a", at={"f": 3})
    failures.append("a claim about no setting was judged")
except InputError:
    pass

expect("kinds that were judged here", judged_kinds, set(KINDS))

figure.published = [{"metric": "m", "over": "policy", "values": {"a": 5}, "scale": 2}]
expect("published", published_at(figure, "m", {"policy": "a", "f": 1}), 10)
expect("published of another", published_at(figure, "m", {"policy": "b"}), None)
for number, text in ((0, "0"), (1234567.8, "1234568"), (0.000123456789, "0.000123457"), (2.50, "2.5"), (None, "")):
    expect(f"{number} as text", cell(number), text)

print("\n".join(failures) or "all claims are judged as they should be")
sys.exit(1 if failures else 0)
