#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Compares the program with the second opinion of naive.py on random small cases.

    check.py PROGRAM [--from SEED] [--cases N] [--only LABEL] [--gpus] [--shrink]

A case is drawn from its seed alone: a trace with ties, jobs of no GPUs, of no length, too wide and
with time limits; a cluster of one machine; overheads, a stop and a window, each in some of the
cases. All policies replay it, every cell is compared: times and counts as text, ratios and means,
which the program has as floats, to 1e-9. --shrink looks for the fewest rows that still differ.
The last line is "N passed, M failed", counting cases times policies, and worked examples.
"""
import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile

from naive import OVERHEADS, Simulation, Stalled
from tables import app_rows, cell, fairness_rows, job_rows, segment_rows, summary_row, window_rows

FLOATS = ('slowdown', 'n_avg', 't_independent_s', 'rho', 'contention', 'util_frac', 'jain',
          'placement_score', 'jct_mean', 'jct_p', 'wait_mean', 'wait_p', 'n_jobs_avg', 'n_at_work',
          'received_', 'mean', 'min', 'p5', 'p9', 'max', 'spread', 'excess_mean', 'gini', 'ratio_',
          'entitled_', 'deficit_')


# The specification's worked examples, which naive.py itself must get right: (width, duration,
# submit) of each job, GPUs, policy, options, overheads; when the jobs end.
FIGURE_7 = [(2, 2, 0), (1, 8, 0), (2, 6, 0)]
E8 = [(4, 2000, 0), (2, 1000, 100)]
E10 = [(4, 100, 0), (2, 20, 10), (4, 50, 15)]
E11 = [(2, 100, 0), (4, 50, 1), (2, 80, 2), (2, 120, 3)]
EXAMPLES = (
    (FIGURE_7, 2, 'srsf', {}, {}, [2, 10, 16]),
    (FIGURE_7, 2, '2d-las', {'quantum_s': 1}, {}, [5, 14, 16]),
    (FIGURE_7, 2, 'tiresias', {'thresholds_gpu_s': [4, 8]}, {}, [2, 12, 16]),
    (E8, 4, 'tiresias', {}, {}, [3000, 1812.5]),
    (E8, 4, 'tiresias', {}, {'resume_s': 62}, [3062, 1812.5]),
    (E8, 4, 'tiresias', {'promote_knob': 1}, {}, [3000, 1812.5]),
    (E10, 4, 'srtf', {}, {'resume_s': 5}, [175, 30, 80]),
    (E10, 4, 'sjf', {}, {}, [100, 120, 170]),
    (E11, 4, 'fifo', {}, {}, [100, 150, 230, 270]),
    (E11, 4, 'easy', {}, {}, [100, 150, 82, 270]),
)


def check_example(jobs, n_gpus, policy, options, overheads, ends):
    rows = [{'job_id': str(i), 'num_gpus': width, 'duration': duration, 'submit_time': submit}
            for i, (width, duration, submit) in enumerate(jobs)]
    sim = Simulation(rows, n_gpus, policy, options, overheads).run()
    found = [float(row['finish_s']) for row in job_rows(sim)]
    if found != ends:
        print(f'worked example, {policy} {options}: found {found}, wanted {ends}')
    return found == ends


def draw_job(rng, i, scale, widest):
    width = rng.choice([1, 1, 1, 2, 2, 3, rng.randint(1, widest), widest])
    length = rng.choice([rng.randint(1, 10), rng.randint(1, 10), rng.randint(1, 60)]) * scale
    chance = rng.random()
    if chance < 0.05:
        width = 0
    elif chance < 0.08:
        width = widest + rng.randint(1, 3)
    elif chance < 0.16:
        length = 0
    return {'job_id': f'j{i}', 'num_gpus': width, 'duration': length, 'priority': rng.randint(0, 3)}


def to_text(ns):
    return f'{ns // 10 ** 9}.{ns % 10 ** 9:09d}'


class Case:
    """What one seed stands for."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.seed = seed
        self.n_gpus = rng.choice([1, 2, 3, 4, 4, 6, 8, 8, 12])
        # Whole seconds make ties; odd nanoseconds find what rounds.
        self.scale = rng.choice([10 ** 9, 10 ** 9, 10 ** 9, 500 * 10 ** 6, 333333333])
        self.rows = self.draw_rows(rng)
        self.overheads = self.draw_overheads(rng)
        self.quantum = rng.randint(1, 8) * self.scale
        if self.overheads:
            self.quantum += max(self.overheads['start_s'], self.overheads['migrate_s'],
                                self.overheads['resume_s'] + self.overheads['suspend_s'])
        self.window_ns = rng.randint(2, 12) * self.scale // 2
        self.thresholds = sorted(rng.sample(range(1, 60), rng.randint(1, 3)))
        # Promoted jobs must get some work done between overheads, or they swap for ever (A79).
        toll = max((self.overheads or {}).values(), default=0) * self.n_gpus // 10 ** 9
        self.late = [t + toll for t in self.thresholds]
        self.knob = rng.choice(['0.5', '1', '2', '3.25'])
        self.stop = rng.randint(1, 90) * self.scale if rng.random() < 0.3 else None
        self.window = None
        if rng.random() < 0.3:
            self.window = [(t := rng.randint(0, 15)), t + rng.randint(1, 20)]

    def draw_rows(self, rng):
        span = rng.choice([3, 20, 60])
        base = rng.choice([0, 0, 10 ** 9, 1600000000 * 10 ** 9 + 7])
        has_limits, has_apps = rng.random() < 0.3, rng.random() < 0.5
        rows = []
        for i in range(rng.randint(1, 25)):
            row = draw_job(rng, i, self.scale, self.n_gpus)
            row['submit_time'] = to_text(base + rng.randint(0, span) * self.scale)
            row['time_limit'] = ''
            if has_limits and rng.random() < 0.4:
                row['time_limit'] = to_text(rng.randint(1, 12) * self.scale)
            row['app_id'] = ''
            if has_apps and rng.random() < 0.7:
                row['app_id'] = f'a{rng.randint(0, 4)}'
            row['duration'] = to_text(row['duration'])
            rows.append(row)
        return rows

    def draw_overheads(self, rng):
        if rng.random() < 0.4:
            return None
        overheads = {name: rng.choice([0, 0, 1, 2, 3]) * self.scale for name in OVERHEADS}
        if rng.random() < 0.4:
            overheads['suspend_s'] = 0
        return overheads

    def policies(self):
        """label, name, options for the program, options for naive."""
        quantum = to_text(self.quantum)
        thresholds, late = (','.join(map(str, t)) for t in (self.thresholds, self.late))
        for name in ('fifo', 'fifo-skip', 'sjf', 'easy', 'srtf', 'srsf', 'priority'):
            yield name, name, '', {}
        yield 'preempt', 'priority', 'preempt=true', {'preempt': True}
        for name in ('las', '2d-las'):
            yield name, name, f'quantum_s={quantum}', {'quantum_s': quantum}
        yield ('tiresias', 'tiresias', f'thresholds_gpu_s=[{thresholds}]',
               {'thresholds_gpu_s': self.thresholds})
        yield ('promote', 'tiresias', f'thresholds_gpu_s=[{late}],promote_knob={self.knob}',
               {'thresholds_gpu_s': self.late, 'promote_knob': self.knob})

    def write_trace(self, path):
        with open(path, 'w', newline='', encoding='utf-8') as file:
            writer = csv.DictWriter(file, list(self.rows[0]))
            writer.writeheader()
            writer.writerows(self.rows)

    def arguments(self, folder, labels):
        arguments = ['run', '--trace', f'{folder}/trace.csv', '--cluster', f'1x{self.n_gpus}',
                     '--out', f'{folder}/out', '--segments', f'--timeline={to_text(self.window_ns)}', '--strict', '--paranoid',
                     '--allow-rejected', '--allow-unfinished', '-q', '-j1']
        for label, name, options, _ in self.policies():
            if label in labels:
                arguments += ['--policy', f'{name}@{label}' + (options and ':' + options)]
        for name, value in (self.overheads or {}).items():
            arguments += ['--set', f'overheads.{name}={to_text(value)}']
        if self.stop is not None:
            arguments += ['--set', f'stop_s={to_text(self.stop)}']
        if self.window:
            arguments += ['--set', f'window.from_s={self.window[0]}',
                          '--set', f'window.to_s={self.window[1]}']
        return arguments

    def replay(self, name, options):
        """What naive.py has to say: tables of rows."""
        overheads = {k: to_text(v) for k, v in (self.overheads or {}).items()}
        stop = None if self.stop is None else to_text(self.stop)
        sim = Simulation(self.rows, self.n_gpus, name, options, overheads, stop).run()
        return {'jobs': job_rows(sim), 'apps': app_rows(sim), 'segments': segment_rows(sim),
                'fairness': fairness_rows(sim, *(self.window or [])),
                'fairness_over_time': window_rows(sim, self.window_ns),
                'summary': [summary_row(sim, *(self.window or []))]}


def read(path):
    with open(path, newline='', encoding='utf-8') as file:
        return list(csv.DictReader(file))


def gpu_list(ranges):
    """0-3 8 -> 0 1 2 3 8."""
    numbers = []
    for part in ranges.split():
        low, _, high = part.partition('-')
        numbers += range(int(low), int(high or low) + 1)
    return ' '.join(map(str, numbers))


def is_same(column, wanted, found):
    wanted = cell(wanted)
    if wanted == found:
        return True
    if not column.startswith(FLOATS) or '' in (wanted, found):
        return False
    return abs(float(wanted) - float(found)) <= 1.1e-9 * max(1, abs(float(wanted)))


def compare(tables, found, with_gpus):
    """Yields what differs, in words."""
    for table, rows in tables.items():
        if len(rows) != len(found[table]):
            yield f'{table}: {len(found[table])} rows, wanted {len(rows)}'
        for i, (row, other) in enumerate(zip(rows, found[table])):
            if table == 'segments':
                other = {**other, 'gpus': gpu_list(other['gpus'])}
            for column, wanted in row.items():
                if column == 'gpus' and not with_gpus:
                    continue
                if not is_same(column, wanted, other.get(column, '(no such column)')):
                    name = row.get('job_id', row.get('app_id', ''))
                    yield (f'{table} row {i} {name} {column}: found {other.get(column)}, '
                           f'wanted {cell(wanted)}')


def run_program(program, case, folder, labels):
    case.write_trace(f'{folder}/trace.csv')
    done = subprocess.run([program] + case.arguments(folder, labels), capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        return f'status {done.returncode}: {done.stderr.strip()}'
    return None


def judge_error(case, label, error):
    """The one error that is right is that of A79."""
    name, options = next(p[1::2] for p in case.policies() if p[0] == label)
    try:
        case.replay(name, options)
    except Stalled:
        return [] if error.startswith('status 1:') and 'again and again' in error else [error]
    return [error]


def check_case(program, case, labels, with_gpus):
    """{label: list of differences}."""
    with tempfile.TemporaryDirectory() as folder:
        error = run_program(program, case, folder, labels)
        if error:
            if len(labels) == 1:
                return {labels[0]: judge_error(case, labels[0], error)}
            return {k: v for label in labels
                    for k, v in check_case(program, case, [label], with_gpus).items()}
        summary = {row['policy']: row for row in read(f'{folder}/out/summary.csv')}
        result = {}
        for label, name, _, options in case.policies():
            if label not in labels:
                continue
            found = {table: read(f'{folder}/out/{label}/{table}.csv')
                     for table in ('jobs', 'apps', 'segments', 'fairness', 'fairness_over_time')}
            found['summary'] = [summary[label]]
            try:
                result[label] = list(compare(case.replay(name, options), found, with_gpus))
            except Stalled:
                result[label] = ['the program ends, wanted an error: jobs swap for ever (A79)']
    return result


def shrink(program, case, label, with_gpus):
    """Leaves out rows, one after the other, as long as something still differs."""
    for row in list(case.rows):
        rest = [r for r in case.rows if r is not row]
        if not rest:
            break
        kept, case.rows = case.rows, rest
        if not check_case(program, case, [label], with_gpus)[label]:
            case.rows = kept
    return check_case(program, case, [label], with_gpus)[label]


def report(program, case, label, differences, arguments):
    print(f'seed {case.seed}, {label}: {len(differences)} cells differ')
    if arguments.shrink:
        differences = shrink(program, case, label, arguments.gpus)
    for line in differences[:12]:
        print('   ', line)
    if arguments.shrink:
        print('    ' + ','.join(case.rows[0]))
        for row in case.rows:
            print('    ' + ','.join(map(str, row.values())))
    shown = case.arguments('.', [label])
    print('    themis-sim ' + ' '.join(shown))


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('program', type=os.path.abspath)
    parser.add_argument('--from', dest='first', type=int, default=1)
    parser.add_argument('--cases', type=int, default=60)
    parser.add_argument('--only', action='append')
    parser.add_argument('--gpus', action='store_true', help='compare which GPUs, too')
    parser.add_argument('--shrink', action='store_true')
    arguments = parser.parse_args()
    passed = sum(check_example(*example) for example in EXAMPLES)
    failed = len(EXAMPLES) - passed
    for seed in range(arguments.first, arguments.first + arguments.cases):
        case = Case(seed)
        labels = arguments.only or [policy[0] for policy in case.policies()]
        result = check_case(arguments.program, case, labels, arguments.gpus)
        for label, differences in result.items():
            if differences:
                report(arguments.program, Case(seed), label, differences, arguments)
        failed += sum(bool(d) for d in result.values())
        passed += sum(not d for d in result.values())
    print(f'{passed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
