# SPDX-License-Identifier: MIT
"""The page for readers: each published claim, our number beside theirs, and why they differ."""

from reproduction.claims import NOT, PARTLY, REPRODUCED

HEAD = "| claim | published | here | verdict |\n|---|---|---|---|"


def cell(text):
    return " ".join(str(text).split()).replace("|", "\\|")


def claim_row(claim, verdict, ours):
    return f"| {cell(claim['text'])} | {cell(claim['published'])} | {cell(ours)} | **{verdict}** |"


def workload_text(name, workload):
    overrides = "".join(f", {key} {value}" for key, value in workload.overrides.items())
    return f"{name} ({workload.spec.name}{overrides})"


def conditions(figure):
    axes = "; ".join(f"{axis.name}: {', '.join(map(str, axis.values))}" for axis in figure.axes)
    workloads = ", ".join(workload_text(name, workload) for name, workload in figure.workloads.items())
    return (f"{figure.source}. Workload {workloads}; cluster "
            f"{figure.cluster.rsplit('/', 1)[-1]}; {len(figure.seeds)} seeds. {axes}.")


def figure_section(figure, judged):
    lines = [f"## {figure.title}", "", conditions(figure), "", f"![{figure.title}]({figure.name}.png)", "",
             f"Numbers: [{figure.name}.csv]({figure.name}.csv).", ""]
    if figure.note:
        lines += [figure.note.strip(), ""]
    if judged:
        lines += [HEAD, *(claim_row(*entry) for entry in judged), ""]
    for claim, verdict, _ in judged:
        if verdict != REPRODUCED:
            reason = claim.get("reason", "not analysed yet").strip()
            lines += [f"*{cell(claim['text'])}*: **{verdict}**. {reason}", ""]
    return lines


def summary_table(judged_by_figure):
    lines = ["| figure | claim | published | here | verdict |", "|---|---|---|---|---|"]
    for figure, judged in judged_by_figure:
        for claim, verdict, ours in judged:
            lines.append(f"| [{figure.title}](#{anchor(figure.title)}) {claim_row(claim, verdict, ours)}")
    return lines


def anchor(title):
    """As the usual renderers of Markdown make it of a heading."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")


def counts(judged_by_figure):
    verdicts = [verdict for _, judged in judged_by_figure for _, verdict, _ in judged]
    return ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in (REPRODUCED, PARTLY, NOT))


def write_page(experiment, judged_by_figure, version, how, path):
    lines = [f"# {experiment.title}", "", f"Made by `{how}` with {version}: do not edit. What is in the table, and how a "
             "claim is judged: [docs/reproduce.md](../../docs/reproduce.md).", ""]
    if experiment.preface:
        lines += [experiment.preface.strip(), ""]
    lines += [f"Of {sum(len(judged) for _, judged in judged_by_figure)} claims: {counts(judged_by_figure)}.", ""]
    lines += [*summary_table(judged_by_figure), ""]
    for figure, judged in judged_by_figure:
        lines += figure_section(figure, judged)
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
