# SPDX-License-Identifier: MIT
"""The page for readers: each published claim, our number beside theirs, and why they differ; and the
table of figures that stands in another page as well."""

import re

from reproduction import InputError
from reproduction.claims import NOT, PARTLY, REPRODUCED

NOT_ANALYSED = "not analysed yet"
END_MARK = "<!-- end -->"


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def workload_text(name, workload):
    overrides = "".join(f", {key} {value}" for key, value in workload.overrides.items())
    return f"{name} ({workload.spec.name}{overrides})"


def conditions(figure):
    axes = "; ".join(f"{axis.name}: {', '.join(map(str, axis.values))}" for axis in figure.axes)
    workloads = ", ".join(workload_text(name, workload) for name, workload in figure.workloads.items())
    return (f"{figure.source}. Workload {workloads}; cluster "
            f"{figure.cluster.rsplit('/', 1)[-1]}; {len(figure.seeds)} seeds. {axes}.")


def figure_section(figure):
    lines = [f"## {figure.title}", "", conditions(figure), "", f"![{figure.title}]({figure.name}.png)", "",
             f"Numbers: [{figure.name}.csv]({figure.name}.csv).", ""]
    return lines + [figure.note.strip(), ""] if figure.note else lines


def anchor(title):
    """As the usual renderers of Markdown make it of a heading."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def reason_links(experiment, judgement):
    """Names of the reasons of a claim that is not reproduced; a reason may also stand there itself."""
    if judgement.verdict == REPRODUCED and judgement.is_alike():
        return ""
    reasons = judgement.claim.get("reason", NOT_ANALYSED)
    reasons = reasons if isinstance(reasons, list) else [reasons]
    return ", ".join(f"[{name}](#{anchor(name)})" if name in experiment.reasons else cell(name) for name in reasons)


def verdict_text(judgement):
    text = f"**{judgement.verdict}**"
    return text if judgement.is_alike() else f"{text}; {cell(judgement.beside)}: **{judgement.beside_verdict}**"


def summary_row(experiment, figure, judgement):
    claim, ours = judgement.claim, judgement.ours
    if not judgement.is_alike():
        beside = judgement.beside_ours
        ours = f"{ours}; {beside if judgement.beside in beside else f'{judgement.beside}: {beside}'}"
    cells = [f"[{figure.name}](#{anchor(figure.title)})", cell(claim["text"]), cell(claim["published"]), cell(ours),
             verdict_text(judgement), reason_links(experiment, judgement)]
    return f"| {' | '.join(cells)} |"


def summary_table(experiment, judged_by_figure):
    lines = ["| figure | claim | published | here | verdict | reason |", "|---|---|---|---|---|---|"]
    for figure, judged in judged_by_figure:
        lines += [summary_row(experiment, figure, judgement) for judgement in judged]
    return lines


def reasons_section(experiment):
    lines = ["## Reasons", ""] if experiment.reasons else []
    for name, text in experiment.reasons.items():
        lines += [f"### {name}", "", text.strip(), ""]
    return lines


def counts(judged_by_figure):
    verdicts = [judgement.verdict for _, judged in judged_by_figure for judgement in judged]
    return ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in (REPRODUCED, PARTLY, NOT))


def write_page(experiment, judged_by_figure, version, how, path):
    lines = [f"# {experiment.title}", "", f"Made by `{how}` with {version}: do not edit. What is in the table, and how a "
             "claim is judged: [docs/reproduce.md](../../docs/reproduce.md).", ""]
    if experiment.preface:
        lines += [experiment.preface.strip(), ""]
    lines += [f"Of {sum(len(judged) for _, judged in judged_by_figure)} claims: {counts(judged_by_figure)}.", ""]
    lines += [*summary_table(experiment, judged_by_figure), "", *reasons_section(experiment)]
    for figure, _ in judged_by_figure:
        lines += figure_section(figure)
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def plus_minus(interval):
    n_decimals = 2 if abs(interval.mean) < 100 else 0
    half_width = "" if interval.half_width is None else f" ± {interval.half_width:.{n_decimals}f}"
    return f"{interval.mean:.{n_decimals}f}{half_width}"


def excerpt_table(excerpt, measured_by_figure):
    """A row for each policy; for each of its figures the columns that it names."""
    figures, metrics = excerpt["figures"], excerpt["metrics"]
    heads = [f"{short}: {label}" for short in figures.values() for label in metrics.values()]
    lines = [f"| policy | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    first = measured_by_figure[next(iter(figures))].figure
    for policy in first.policies:
        numbers = [plus_minus(measured_by_figure[name].interval(metric, {"policy": policy}))
                   for name in figures for metric in metrics]
        lines.append(f"| {policy} | {' | '.join(numbers)} |")
    return "\n".join(lines)


def write_excerpt(experiment, measured_by_figure):
    """Puts the excerpt's table between its marks in another page."""
    path = experiment.folder / experiment.excerpt["file"]
    mark = experiment.excerpt["mark"]
    text = path.read_text(encoding="utf-8")
    table = f"{mark}\n{excerpt_table(experiment.excerpt, measured_by_figure)}\n{END_MARK}"
    text, n_found = re.subn(f"{re.escape(mark)}\n.*?{re.escape(END_MARK)}", lambda _: table, text, flags=re.DOTALL)
    if n_found != 1:
        raise InputError(f"{path}: found {n_found} times {mark} with a later {END_MARK}, wanted one")
    path.write_text(text, encoding="utf-8")
