#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Compares preset=authors with what the simulator of Themis's authors made of the same workloads.

    themis_authors.py PROGRAM SHARED [--variants N] [--write FOLDER] [--sweep]

SHARED holds data/themis-nsdi20/ (their workloads and clusters) and reference/themis-authors/ (what
their program gave, a row a job). Every workload and policy runs in N variants: as it is, and with
iterations longer and shorter by 1, 2, ... millionths, each with a seed of its own. Their results, and
ours, hang on which of two things that happen at the same time, or miss each other by less than an
iteration, comes first; the variants say by how much. Ours is the mean over them.

Checked are the mean JCT and the GPU time within 3 %, the largest rho_contention within 5 %, and that
all jobs finish. Where that is known not to hold, DIFFERS says by how much, and the page why, and it is
checked that this has not moved. --write FOLDER writes agreement.csv and the tables of
FOLDER/README.md between its markers; --sweep compares, and writes, their sweep of d instead, which
takes long and is checked against nothing.
"""
import argparse
import bisect
import collections
import concurrent.futures
import csv
import gzip
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

MINUTE_S = 60
HOUR_S = 3600
GPUS = 64
LEASE_S = 1200

WORKLOADS = ('online_workload_comparison', 'online_hyperdrive_trace_workload_large', 'small_offline_debug')
# Their name of a policy and ours. Their Themis-dX lets the part X of the jobs bid: X = 1 - f.
POLICIES = {
    'Themis-d0.2': 'themis:fairness_knob=0.8',
    'Themis-d0.0': 'themis:fairness_knob=1',
    'Gandiva': 'gandiva-greedy:',
    'Tiresias': 'tiresias-app:',
    'Optimus': 'optimus:',
    'SJF': 'srtf-app:',
    'SRSF': 'srsf-app:',
    'SLAQ': 'slaq:',
}
# What is compared: the name, the unit, and how far apart the two may be, in percent.
MEASURES = (('jct_mean', 'min', 3), ('gpu_time', 'GPU-h', 3), ('rho_contention_max', '', 5))

# Where the two are further apart than that: by how much, the standard deviation over the variants, both in
# percent of theirs and over VARIANTS variants, and what it hangs on, see the page. What moves by more than
# that deviation fails, to the better as well: then this is to be measured anew.
VARIANTS = 15
DIFFERS = {(workload, policy, 'rho_contention_max'): known for workload, policy, *known in (
    ('online_workload_comparison', 'Themis-d0.2', -10.9, 8.4, 'drawn among the jobs that were never served'),
    ('online_workload_comparison', 'Gandiva', -19.0, 7.1, 'instants that coincide, and open'),
    ('online_workload_comparison', 'Optimus', 6.3, 5.4, 'instants that coincide'),
    ('online_workload_comparison', 'SLAQ', 5.7, 2.6, 'loss curves, open'),
    ('online_hyperdrive_trace_workload_large', 'Gandiva', -6.0, 7.7, 'instants that coincide'),
    ('online_hyperdrive_trace_workload_large', 'Tiresias', -19.9, 5.9, 'instants that coincide'),
    ('small_offline_debug', 'Themis-d0.2', -6.9, 13.4, 'drawn among the jobs that were never served'),
    ('small_offline_debug', 'Themis-d0.0', 6.1, 2.4, 'drawn among the jobs that were never served'),
    ('small_offline_debug', 'SLAQ', 8.5, 3.6, 'loss curves, open'),
)}

SWEEP = 'offline_hyperdrive_trace_workload'
SWEEP_GPUS = 256
# Lease in minutes -> d -> their largest rho_contention and GPU hours.
SWEPT = {
    10: {0: (1.052, 2160), .2: (1.041, 2279), .5: (1.099, 2387), .7: (1.591, 2595), .8: (3.009, 2754), 1: (5.119, 2853)},
    20: {0: (1.730, 2162), .1: (1.165, 2266), .2: (1.157, 2278), .4: (1.107, 2332), .6: (1.415, 2456), .8: (2.415, 2791),
         1: (5.336, 2852)},
}


class Outcome:
    """What a program made of the jobs of a workload; times in seconds."""

    def __init__(self, jobs, n_gpus):
        """jobs: {job_id: (arrival, finish, work in GPU-s, GPUs wanted, GPU-s used, placement score)}"""
        self.jct_s = {job: finish - arrival for job, (arrival, finish, *_) in jobs.items()}
        self.gpu_s = sum(job[4] for job in jobs.values())
        self.placement = sum(job[5] for job in jobs.values()) / len(jobs)
        self.rho = contended_rho(jobs, n_gpus)

    def measure(self, name):
        if name == 'jct_mean':
            return sum(self.jct_s.values()) / len(self.jct_s) / MINUTE_S
        if name == 'gpu_time':
            return self.gpu_s / HOUR_S
        return max(self.rho.values())


def contended_rho(jobs, n_gpus):
    """Their fairness as it was meant: JCT over ideal time times the mean, over the job's life, of
    max(1, GPUs wanted by the jobs that are here / GPUs of the cluster)."""
    changes = sorted([(arrival, wants) for arrival, _, _, wants, *_ in jobs.values()]
                     + [(finish, -wants) for _, finish, _, wants, *_ in jobs.values()])
    times, areas, wanted, area = [], [], 0, 0.0
    for time, change in changes:
        if times:
            area += max(1, wanted / n_gpus) * (time - times[-1])
        times.append(time)
        areas.append(area)
        wanted += change
    until = lambda time: areas[bisect.bisect_right(times, time) - 1]
    rho = {}
    for job, (arrival, finish, work, wants, *_) in jobs.items():
        contention = (until(finish) - until(arrival)) / (finish - arrival)
        rho[job] = (finish - arrival) / (work / wants * contention)
    return rho


def read_theirs(path):
    with gzip.open(path, 'rt') as file:
        return Outcome({row['job_id']: (
            float(row['arrival_min']) * MINUTE_S, float(row['finish_min']) * MINUTE_S,
            int(row['iterations']) * float(row['min_per_iteration']) * MINUTE_S, int(row['max_gpus']),
            float(row['gpu_min']) * MINUTE_S, float(row['mean_placement'])) for row in csv.DictReader(file)}, GPUS)


def read_ours(path, n_gpus):
    with open(path, newline='') as file:
        rows = list(csv.DictReader(file))
    unfinished = [row['job_id'] for row in rows if row['state'] != 'FINISHED']
    if unfinished:
        raise RuntimeError(f'{path}: jobs {" ".join(unfinished)} did not finish')
    return Outcome({row['job_id']: (
        float(row['submit_s']), float(row['finish_s']), float(row['duration_s']) * int(row['num_gpus']),
        int(row['num_gpus']), float(row['service_gpu_s']), float(row['placement_score'])) for row in rows}, n_gpus)


class Simulator:
    def __init__(self, program, data, folder):
        self.program, self.data, self.folder = program, data, pathlib.Path(folder)

    def vary(self, workload, variant):
        """The workload with its iterations 0, 1, -1, 2, -2, ... millionths longer."""
        longer = (variant + 1) // 2 * (1 if variant % 2 else -1) * 1e-6
        path = self.folder / f'{workload}.{variant}.json'
        with gzip.open(self.data / 'workloads' / f'{workload}.json.gz', 'rt') as file:
            jobs = json.load(file)
        for job in jobs:
            job['time_per_iteration'] = f"{float(job['time_per_iteration']) * (1 + longer):.15f}"
        path.write_text(json.dumps(jobs))
        return path

    def run(self, workload, variant, policy, n_gpus, lease_s=LEASE_S):
        out = self.folder / re.sub(r'\W', '-', f'{workload}.{variant}.{policy}.{n_gpus}.{lease_s}')
        spec = f'{policy}{"" if policy.endswith(":") else ","}preset=authors,lease_s={lease_s}'
        command = [self.program, 'run', '--quiet', '--trace', self.vary(workload, variant), '--format', 'themis',
                   '--cluster', self.data / 'clusters' / f'themis-{n_gpus}.yaml', '--policy', spec,
                   '--seed', str(variant + 1), '--threads', '1', '--out', out]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f'{workload} {spec}: status {done.returncode}: {done.stderr[-1000:]}')
        return read_ours(next(out.glob('*/jobs.csv')), n_gpus)


def compare(workload, policy, theirs, variants):
    """A row for each measure."""
    within = sum(abs(variants[0].jct_s[job] - jct_s) <= jct_s / 100 for job, jct_s in theirs.jct_s.items())
    for name, unit, target in MEASURES:
        their = theirs.measure(name)
        values = [variant.measure(name) for variant in variants]
        ours = statistics.fmean(values)
        difference = 100 * (ours / their - 1)
        yield {'workload': workload, 'policy': policy, 'measure': name, 'unit': unit, 'theirs': f'{their:.3f}',
               'ours': f'{ours:.3f}', 'lowest': f'{min(values):.3f}', 'highest': f'{max(values):.3f}',
               'plain': f'{values[0]:.3f}', 'deviation_percent': f'{100 * statistics.pstdev(values) / their:.1f}',
               'difference_percent': f'{difference:+.1f}', 'target_percent': target,
               'agrees': 'yes' if abs(difference) <= target else 'no', 'jobs': len(theirs.jct_s),
               'jobs_within_1_percent': within, 'theirs_placement': f'{theirs.placement:.3f}',
               'placement': f'{statistics.fmean(v.placement for v in variants):.3f}'}


def compare_all(simulator, reference, n_variants, pool):
    runs = {(workload, policy): [pool.submit(simulator.run, workload, variant, ours, GPUS) for variant in range(n_variants)]
            for workload in WORKLOADS for policy, ours in POLICIES.items()}
    rows = []
    for (workload, policy), futures in runs.items():
        theirs = read_theirs(reference / f'{workload}.h{GPUS}.l{LEASE_S // MINUTE_S}.{policy}.jobs.csv.gz')
        rows += compare(workload, policy, theirs, [future.result() for future in futures])
    return rows


def judge(row):
    """What is to be said of a row: ok, known or FAIL, and a remark."""
    known = DIFFERS.get((row['workload'], row['policy'], row['measure']))
    if known is None:
        return ('ok', '') if row['agrees'] == 'yes' else ('FAIL', '')
    difference, deviation, reason = known
    if abs(float(row['difference_percent']) - difference) > deviation:
        return 'FAIL', f': was {difference:+.1f} %, give or take {deviation} %'
    return 'known', f': {reason}'


def check(rows):
    """Prints a line for each row, and how many there are of each; the number of those that fail."""
    count = collections.Counter()
    for row in rows:
        verdict, remark = judge(row)
        count[verdict] += 1
        print(f"{verdict:5} {row['workload']:38} {row['policy']:12} {row['measure']:18} "
              f"theirs {row['theirs']:>8} ours {row['ours']:>8} ({row['lowest']} to {row['highest']}) "
              f"{row['difference_percent']:>6} %, wanted {row['target_percent']} %{remark}")
    print(f"{count['ok']} within target, {count['known']} known differences, {count['FAIL']} failed")
    return count['FAIL']


def sweep(simulator, n_variants, pool):
    runs = {(lease, d): [pool.submit(simulator.run, SWEEP, variant, f'themis:fairness_knob={1 - d:g}', SWEEP_GPUS, lease * MINUTE_S)
                         for variant in range(n_variants)] for lease, swept in SWEPT.items() for d in swept}
    rows = []
    for (lease, d), futures in runs.items():
        outcomes = [future.result() for future in futures]
        rhos = [outcome.measure('rho_contention_max') for outcome in outcomes]
        their_rho, their_gpu_h = SWEPT[lease][d]
        rows.append({'lease_min': lease, 'd': d, 'f': f'{1 - d:g}', 'theirs_rho_contention_max': their_rho,
                     'rho_contention_max': f'{statistics.fmean(rhos):.3f}', 'lowest': f'{min(rhos):.3f}',
                     'highest': f'{max(rhos):.3f}', 'theirs_gpu_time_h': their_gpu_h,
                     'gpu_time_h': f"{statistics.fmean(o.measure('gpu_time') for o in outcomes):.0f}"})
    return rows


def write_csv(path, rows):
    with open(path, 'w', newline='') as file:
        writer = csv.DictWriter(file, rows[0], lineterminator='\n')
        writer.writeheader()
        writer.writerows(rows)


def table(head, rows):
    return '\n'.join(f'| {" | ".join(map(str, row))} |' for row in (head, ['---'] * len(head), *rows))


def agreement_table(rows, workload):
    lines = []
    for policy in POLICIES:
        cells = []
        for name, _, _ in MEASURES:
            row = next(r for r in rows if (r['workload'], r['policy'], r['measure']) == (workload, policy, name))
            digits = 3 if name.startswith('rho') else 1
            theirs, ours, low, high = (f'{float(row[k]):.{digits}f}' for k in ('theirs', 'ours', 'lowest', 'highest'))
            mark = '' if row['agrees'] == 'yes' else ' **no**'
            cells += [theirs, f'{ours} ({low}..{high})', f"{row['difference_percent']} %{mark}"]
        lines.append([policy, *cells, f"{row['theirs_placement']} / {row['placement']}",
                      f"{row['jobs_within_1_percent']} of {row['jobs']}"])
    return table(['policy', 'JCT, min', 'ours', '', 'GPU-h', 'ours', '', 'max rho', 'ours', '', 'placement', 'jobs within 1 %'], lines)


def sweep_table(rows):
    return table(['lease, min', 'd', 'f', 'max rho', 'ours', 'GPU-h', 'ours'],
                 [[r['lease_min'], r['d'], r['f'], f"{r['theirs_rho_contention_max']:.3f}",
                   r['rho_contention_max'] + (f" ({r['lowest']}..{r['highest']})" if r['lowest'] != r['highest'] else ''),
                   r['theirs_gpu_time_h'], r['gpu_time_h']] for r in rows])


def rewrite(path, tables):
    """The page with each table between its markers replaced."""
    page = path.read_text()
    for name, text in tables.items():
        page, n = re.subn(rf'(<!-- {name} -->\n).*?(<!-- end -->)', lambda match: f'{match[1]}{text}\n{match[2]}', page, flags=re.S)
        if n != 1:
            sys.exit(f'{path}: found {n} places for the table {name}, wanted one')
    path.write_text(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('shared', type=pathlib.Path)
    parser.add_argument('--variants', type=int, default=VARIANTS)
    parser.add_argument('--write', type=pathlib.Path, metavar='FOLDER')
    parser.add_argument('--sweep', action='store_true')
    arguments = parser.parse_args()
    data = arguments.shared / 'data/themis-nsdi20'
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        simulator = Simulator(os.path.abspath(arguments.program), data, folder)
        if arguments.sweep:
            rows = sweep(simulator, arguments.variants, pool)
            failed = 0
        else:
            rows = compare_all(simulator, arguments.shared / 'reference/themis-authors', arguments.variants, pool)
            failed = check(rows)
    if arguments.write:
        write_csv(arguments.write / ('sweep.csv' if arguments.sweep else 'agreement.csv'), rows)
        rewrite(arguments.write / 'README.md', {'sweep': sweep_table(rows)} if arguments.sweep
                else {workload: agreement_table(rows, workload) for workload in WORKLOADS})
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
