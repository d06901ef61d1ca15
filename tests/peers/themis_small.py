#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Where preset=authors and the program that it follows part, each on a few jobs.

    themis_small.py PROGRAM

"Theirs" is tests/reference/authors.py. Both run the jobs of a case, and both must give the times that
the case says; results/themis-authors/README.md explains them. The last line is "N passed, M failed".
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'reference'))
import authors

TOLERANCE_MIN = 1e-6


def job(number, arrival, iterations, minutes, widest, across=1):
    """across: speed across slots and further; minutes an iteration on one GPU."""
    return {'job_id': str(number), 'job_group_id': str(number), 'start_time': str(arrival),
            'total_iterations': str(iterations), 'time_per_iteration': str(minutes), 'max_parallelism': str(widest),
            'cross_slot_slowdown': str(across), 'cross_machine_slowdown': str(across),
            'cross_rack_slowdown': str(across), 'random_seed': '1', 'loss_function_type': 'sublinear'}


# Name, policy, lease, GPUs by machine (one rack, one slot each), jobs; when which job is done, theirs, ours.
CASES = (
    # 2 gets a second GPU at 50. Theirs goes on with one to the end of the iteration, at 200, and uses two for
    # the other four; ours has done 50 of its 1000 GPU-minutes, and does the rest on two.
    ('a GPU that joins', 'gandiva-greedy', 10000, (2,), [job(1, 0, 1, 50, 1), job(2, 0, 5, 200, 2)],
     {1: 50, 2: 600}, {1: 50, 2: 525}),
    # At 1000 the two GPUs of 1 are released, 2 keeps one, and one is free. 3, which comes, is first offered
    # the free one, then one of the two, on the other machine: 20 iterations at speed 1.5, the first of
    # them, theirs, at speed 1. 4 gets the last. In one offer of all three 3 would take the two, until 1200.
    ('two offers in an instant', 'gandiva-greedy', 1000, (2, 2),
     [job(1, 0, 6, 400, 2), job(2, 20, 40, 50, 1), job(3, 1000, 20, 20, 2, .75), job(4, 1000, 10, 20, 1)],
     {3: 1020 + 19 * 20 / 1.5, 4: 1200}, {3: 1000 + 20 * 20 / 1.5, 4: 1200}),
    # As a sum of floats ten times 0.1 is less than 1: 1 gives its GPU up before 2 is there, and wins it again,
    # until 1.9, for its twentieth iteration would end after the lease. Ours counts nanoseconds.
    ('a sum of floats', 'gandiva-greedy', 1, (1,), [job(1, 0, 20, .1, 1), job(2, 1, 5, .1, 1)],
     {1: 2.5, 2: 2.4}, {1: 2.5, 2: 1.5}),
    # Twice 0.5 is 1 in floats too.
    ('no rounding', 'gandiva-greedy', 1, (1,), [job(1, 0, 4, .5, 1), job(2, 1, 1, .5, 1)],
     {1: 2.5, 2: 1.5}, {1: 2.5, 2: 1.5}),
)


def theirs(policy, lease, machines, jobs):
    gpus, number = [], 0
    for machine, size in enumerate(machines):
        for _ in range(size):
            gpus.append((0, machine, machine, number))
            number += 1
    return {job.id: job.finish for job in authors.Simulator(jobs, gpus, policy, lease).run()}


def ours(program, policy, lease, machines, jobs):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / 'jobs.json').write_text(json.dumps(jobs))
        rows = ''.join(f'      - {{gpus: {size}}}\n' for size in machines)
        (folder / 'cluster.yaml').write_text(f'racks:\n  - machines:\n{rows}')
        done = subprocess.run([program, 'run', '--quiet', '--trace', folder / 'jobs.json', '--format', 'themis',
                               '--cluster', folder / 'cluster.yaml', '--out', folder / 'out',
                               '--policy', f'{policy}:preset=authors,lease_s={lease * 60}'],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f'{policy}: status {done.returncode}: {done.stderr[-1000:]}')
        with open(next((folder / 'out').glob('*/jobs.csv')), newline='') as file:
            return {int(row['job_id']): float(row['finish_s']) / 60 for row in csv.DictReader(file)}


def main():
    failed = 0
    for name, policy, lease, machines, jobs, wanted_theirs, wanted_ours in CASES:
        for who, got, wanted in (('theirs', theirs(policy, lease, machines, jobs), wanted_theirs),
                                 ('ours', ours(sys.argv[1], policy, lease, machines, jobs), wanted_ours)):
            fails = any(abs(got[j] - wanted[j]) > TOLERANCE_MIN for j in wanted)
            failed += fails
            print(f"{'FAIL' if fails else 'ok  '} {name}, {who}:", ', '.join(f'{j} at {got[j]:.6f}' for j in sorted(got)))
    print(f'{2 * len(CASES) - failed} passed, {failed} failed')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
