# SPDX-License-Identifier: MIT
"""What the numbers say of a published claim: reproduced, partly, or not.

A claim is judged in each setting of the axes that it does not speak of, on the same workloads for
everybody: comparisons are paired by seed, with 95 % intervals. It is reproduced if it is in all
settings, not if it is in none, not even partly, and else partly.

  lowest          the policy has the lowest mean. Partly: the lowest is another's, by less than the
                  interval of their difference
  highest         likewise, the highest
  ratio_at_least  the best of others over the policy (geometric mean over seeds) is at least `least`.
                  Partly: it is above 1
  order           means rise in the order given (fall, with `falling: true`). Partly: most pairs do
  u_shape         along the axis the lowest mean lies within `minimum`, both ends are above it, and
                  the first value is at least `first_over_minimum` times as large. Partly: some of this
  monotone        along the axis no mean is below the one before (above it, with `falling: true`).
                  Partly: only from the first to the last
  gap_widens      as monotone, of the ratio of the best of others to the policy
  at_most         the number, or its relative change from where `change_from` says, is at most
                  `most`. Partly: it is not, but by less than its interval
  at_least        likewise, at least `least`
  within          likewise, both
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any, Dict, Optional

import stats
from reproduction import InputError
from reproduction.experiment import POLICY, checked, one_of

REPRODUCED, PARTLY, NOT = "reproduced", "partly", "not"

COMMON = ("kind", "text", "published", "metric")
COMMON_OPTIONAL = ("at", "reason", "from")


def number(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def with_interval(interval):
    if interval.low is None:
        return number(interval.mean)
    return f"{number(interval.mean)} ({number(interval.low)} to {number(interval.high)})"


class Slice:
    """The numbers of one metric in one setting of the axes that the claim does not speak of."""

    def __init__(self, measured, metric, fixed):
        self.measured, self.metric, self.fixed = measured, metric, fixed

    def by_seed(self, **coordinates):
        return self.measured.by_seed(self.metric, {**self.fixed, **coordinates})

    def mean(self, **coordinates):
        return self.interval(**coordinates).mean

    def interval(self, **coordinates):
        return stats.mean_interval(self.by_seed(**coordinates))

    def best_ratio(self, policy, others, **coordinates):
        """Of the other with the lowest mean over the policy: its name and the ratio's interval."""
        best = min(others, key=lambda other: self.mean(policy=other, **coordinates))
        ours, theirs = (self.by_seed(policy=name, **coordinates) for name in (policy, best))
        return best, stats.ratio_interval(theirs, ours)


def judge_extreme(claim, cut, figure):
    policy, sign = claim["policy"], -1 if claim["kind"] == "highest" else 1
    others = claim.get("among") or [name for name in figure.policies if name != policy]
    best = min(others, key=lambda other: sign * cut.mean(policy=other))
    text = f"{policy} {with_interval(cut.interval(policy=policy))}, next {best} {with_interval(cut.interval(policy=best))}"
    difference = stats.difference_interval(cut.by_seed(policy=policy), cut.by_seed(policy=best))
    if sign * difference.mean < 0:
        return REPRODUCED, text
    is_close = difference.low is not None and difference.low <= 0 <= difference.high
    return PARTLY if is_close else NOT, text


def judge_ratio(claim, cut, figure):
    best, ratio = cut.best_ratio(claim["policy"], claim["of"])
    verdict = REPRODUCED if ratio.mean >= claim["least"] else PARTLY if ratio.mean > 1 else NOT
    return verdict, f"{with_interval(ratio)}, {best}"


def judge_order(claim, cut, figure):
    names = claim["policies"]
    means = [cut.mean(policy=name) for name in names]
    if claim.get("falling"):
        means = [-mean for mean in means]
    pairs = list(itertools.combinations(means, 2))
    n_right = sum(first <= second for first, second in pairs)
    verdict = REPRODUCED if n_right == len(pairs) else PARTLY if 2 * n_right > len(pairs) else NOT
    found = sorted(names, key=lambda name: cut.mean(policy=name), reverse=bool(claim.get("falling")))
    listed = ", ".join(f"{name} {number(cut.mean(policy=name))}" for name in found)
    return verdict, f"{listed} ({n_right} of {len(pairs)} pairs as published)"


def along(claim, cut, figure):
    """Values of the claim's axis, from `from` on, and the means there."""
    axis = figure.axis(claim["axis"])
    values = [value for value in axis.values if "from" not in claim or value >= claim["from"]]
    return values, [cut.mean(**{axis.name: value}) for value in values]


def judge_u_shape(claim, cut, figure):
    values, means = along(claim, cut, figure)
    least = min(means)
    place = values[means.index(least)]
    low, high = claim["minimum"]
    # Between the ends of the axis, or the shape would be no U.
    holds = [low <= place <= high, means[-1] > least, means[0] >= claim["first_over_minimum"] * least]
    verdict = REPRODUCED if all(holds) else PARTLY if any(holds) else NOT
    return verdict, (f"least {number(least)} at {place}, {number(means[0])} at {values[0]} "
                     f"({number(means[0] / least)} times), {number(means[-1])} at {values[-1]}")


def judge_rising(means, falling):
    if falling:
        means = [-mean for mean in means]
    if all(first <= second for first, second in zip(means, means[1:])):
        return REPRODUCED
    return PARTLY if means[0] < means[-1] else NOT


def judge_monotone(claim, cut, figure):
    values, means = along(claim, cut, figure)
    text = ", ".join(f"{number(mean)} at {value}" for value, mean in zip(values, means))
    return judge_rising(means, claim.get("falling")), text


def judge_gap(claim, cut, figure):
    axis = figure.axis(claim["axis"])
    found = [cut.best_ratio(claim["policy"], claim["of"], **{axis.name: value}) for value in axis.values]
    text = ", ".join(f"{number(ratio.mean)} at {value} ({best})" for value, (best, ratio) in zip(axis.values, found))
    return judge_rising([ratio.mean for _, ratio in found], False), text


def judge_bounds(claim, cut, figure):
    """at_most, at_least and within: of the number where all axes are fixed, or of each change."""
    low, high = claim.get("least", -math.inf), claim.get("most", math.inf)
    if "change_from" not in claim:
        return verdict_of_bounds([cut.interval()], low, high), with_interval(cut.interval())
    (name, base), = claim["change_from"].items()
    values = [value for value in figure.axis(name).values if value != base]
    base_by_seed = cut.by_seed(**{name: base})
    changes = []
    for value in values:
        ratio = stats.ratio_interval(cut.by_seed(**{name: value}), base_by_seed)
        changes.append(ratio._replace(mean=ratio.mean - 1, low=None if ratio.low is None else ratio.low - 1,
                                      high=None if ratio.high is None else ratio.high - 1))
    text = ", ".join(f"{100 * change.mean:+.1f} %{percent_interval(change)} at {value}"
                     for value, change in zip(values, changes))
    return verdict_of_bounds(changes, low, high), text


def percent_interval(change):
    return "" if change.low is None else f" ({100 * change.low:+.1f} to {100 * change.high:+.1f})"


def verdict_of_bounds(intervals, low, high):
    if all(low <= interval.mean <= high for interval in intervals):
        return REPRODUCED
    if all(interval.low is not None and interval.low <= high and interval.high >= low for interval in intervals):
        return PARTLY
    return NOT


# By kind: the function, keys it needs and may have, and the axes that it speaks of itself.
KINDS = {
    "lowest": (judge_extreme, ("policy",), ("among",)),
    "highest": (judge_extreme, ("policy",), ("among",)),
    "ratio_at_least": (judge_ratio, ("policy", "of", "least"), ()),
    "order": (judge_order, ("policies",), ("falling",)),
    "u_shape": (judge_u_shape, ("axis", "minimum", "first_over_minimum"), ()),
    "monotone": (judge_monotone, ("axis",), ("falling",)),
    "gap_widens": (judge_gap, ("axis", "policy", "of"), ()),
    "at_most": (judge_bounds, ("most",), ("change_from",)),
    "at_least": (judge_bounds, ("least",), ("change_from",)),
    "within": (judge_bounds, ("least", "most"), ("change_from",)),
}


def own_axes(claim):
    """The axes along which the claim itself looks."""
    names = set(claim.get("change_from", {}))
    if "axis" in claim:
        names.add(claim["axis"])
    if claim["kind"] in ("lowest", "highest", "ratio_at_least", "order", "gap_widens"):
        names.add(POLICY)
    return names


def settings_of(claim, figure, measured):
    """Each setting of the other axes that agrees with the claim's `at`."""
    own = own_axes(claim)
    found = []
    for coordinates in measured.settings(claim["metric"]):
        rest = {name: value for name, value in coordinates.items() if name not in own}
        wanted = all(is_in(rest.get(name), value) for name, value in claim.get("at", {}).items())
        if wanted and rest not in found:
            found.append(rest)
    return found


def is_in(value, wanted):
    return value in wanted if isinstance(wanted, list) else value == wanted


def check_claim(claim, figure):
    where = f"{figure.name}: claims"
    one_of(claim.get("kind"), KINDS, where)
    _, required, optional = KINDS[claim["kind"]]
    checked(claim, where, COMMON + required, COMMON_OPTIONAL + optional)
    one_of(claim["metric"], figure.metrics, where)
    for name in (*claim.get("of", []), *claim.get("among", []), *claim.get("policies", [])):
        one_of(name, figure.policies, where)
    if "policy" in claim:
        one_of(claim["policy"], figure.policies, where)
    for name in own_axes(claim):
        one_of(name, [axis.name for axis in figure.axes], where)


def judge(claim, figure, measured):
    """The verdict and our numbers, as text."""
    check_claim(claim, figure)
    function = KINDS[claim["kind"]][0]
    settings = settings_of(claim, figure, measured)
    if not settings:
        raise InputError(f"{figure.name}: claims: found nothing at {claim.get('at')}")
    found = [function(claim, Slice(measured, claim["metric"], fixed), figure) for fixed in settings]
    verdicts = [verdict for verdict, _ in found]
    names = [name for name in settings[0] if len({str(fixed[name]) for fixed in settings}) > 1]
    texts = []
    for fixed, (verdict, text) in zip(settings, found):
        place = ", ".join(f"{name} {fixed[name]}" for name in names)
        texts.append(f"{place}: {text}" if place else text)
    if all(verdict == REPRODUCED for verdict in verdicts):
        return REPRODUCED, "; ".join(texts)
    return NOT if all(verdict == NOT for verdict in verdicts) else PARTLY, "; ".join(texts)


@dataclass
class Judgement:
    """Of a claim: the verdict and our numbers, as text; and, where the experiment has a policy stand
    beside the one that the claim is about, those of it."""

    claim: Dict[str, Any]
    verdict: str
    ours: str
    beside: Optional[str] = None
    beside_verdict: Optional[str] = None
    beside_ours: Optional[str] = None

    def is_alike(self):
        return self.beside is None or self.beside_verdict == self.verdict


def replaced(claim, policy, other):
    """The same claim of another policy; None if it is not about that policy."""
    changed = dict(claim)
    if claim.get("policy") == policy:
        changed["policy"] = other
    if "policies" in claim:
        changed["policies"] = [other if name == policy else name for name in claim["policies"]]
    if claim.get("at", {}).get(POLICY) == policy:
        changed["at"] = {**claim["at"], POLICY: other}
    return changed if changed != claim else None


def judge_beside(claim, figure, measured, beside):
    """`beside` maps a policy to the one beside it."""
    judgement = Judgement(claim, *judge(claim, figure, measured))
    for policy, other in beside.items():
        changed = replaced(claim, policy, other)
        if changed is not None and other in figure.policies:
            judgement.beside = other
            judgement.beside_verdict, judgement.beside_ours = judge(changed, figure, measured)
    return judgement
