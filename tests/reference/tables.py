# SPDX-License-Identifier: MIT
"""
The tables of a naive.Simulation that has run: each a list of dicts of column -> text, int,
Fraction, tuple or None. Nothing is summed up while the run goes on; all is taken from its jobs,
their segments and the history of n(t).
"""
import csv
from fractions import Fraction

SECOND = 10 ** 9


def seconds(ns):
    return None if ns is None else Fraction(ns, SECOND)


def ratio(above, below):
    return Fraction(above) / below if below else None


def segment_rows(sim):
    return [{'job_id': j.id, 'segment': i, 'start_s': seconds(s.start), 'end_s': seconds(s.end),
             'overhead_s': seconds(s.overhead),
             'end_reason': {'unfinished': 'stopped'}.get(s.reason, s.reason), 'gpus': s.gpus}
            for j in sim.file for i, s in enumerate(j.segments)]


def job_rows(sim):
    rows = []
    for j in sim.file:
        run = sum(s.end - s.start for s in j.segments)
        first = j.segments[0].start if j.segments else None
        jct = None if j.finish is None else j.finish - j.submit
        pending = None if jct is None else jct - run
        if j.state == 'UNFINISHED':  # A32
            pending = max(0, sim.stop - j.submit - run)
        rows.append({
            'job_id': j.id, 'app_id': j.app, 'submit_s': seconds(j.submit),
            'first_start_s': seconds(first), 'finish_s': seconds(j.finish), 'state': j.state,
            'jct_s': seconds(jct),
            'wait_s': None if first is None else seconds(first - j.submit),
            'pending_s': seconds(pending), 'run_s': seconds(run),
            'overhead_s': seconds(sum(s.overhead for s in j.segments)),
            'service_gpu_s': seconds(run * j.gpus),
            'slowdown': None if jct is None else ratio(jct, j.duration),
            'segments': len(j.segments),
            'preemptions': sum(s.reason == 'preempted' for s in j.segments),
            'migrations': sum(s.reason == 'moved' for s in j.segments),
            'placement_score': 1 if j.segments and j.gpus > 0 else None,
        })
    return rows


def app_state(jobs):
    states = [j.state for j in jobs]
    return next((s for s in ('UNFINISHED', 'FAILED', 'TIMEOUT', 'REJECTED') if s in states),
                'FINISHED')


def app_row(sim, name, jobs):
    begin = min(j.submit for j in jobs)
    row = dict.fromkeys(('finish_s', 'jct_s', 'n_avg', 't_shared_s', 't_independent_s', 'rho',
                         'rho_capped', 'contention', 'rho_contention'))
    row.update({'app_id': name, 'jobs': len(jobs), 'submit_s': seconds(begin),
                'state': app_state(jobs),
                'service_gpu_s': seconds(sum((s.end - s.start) * j.gpus
                                             for j in jobs for s in j.segments))})
    if row['state'] != 'FINISHED':
        return row  # A22
    end = max(j.finish for j in jobs)
    row.update(finish_s=seconds(end), jct_s=seconds(end - begin))
    # A20, A21, C04
    n, demand = sim.birth[name]
    n, demand = Fraction(n), max(Fraction(1), Fraction(demand, sim.n_gpus))
    if end > begin:
        spans = [(min(b, end) - max(a, begin), n, d) for a, b, n, d in sim.history
                 if a < end and b > begin]
        n = Fraction(sum(span * n for span, n, _ in spans), end - begin)
        demand = sum(span * max(Fraction(1), Fraction(d, sim.n_gpus))
                     for span, _, d in spans) / (end - begin)
    work = sum(j.gpus * j.duration for j in jobs)
    width = sum(j.gpus for j in jobs)
    row.update(n_avg=n, t_shared_s=seconds(end - begin), contention=demand)
    if width == 0:
        return row  # A04: it has no W, no d, no rho
    alone = Fraction(work, min(sim.n_gpus, width))
    row.update(t_independent_s=alone * n / SECOND, rho=ratio(end - begin, alone * n),
               rho_capped=ratio(end - begin, work / min(sim.n_gpus / n, Fraction(width))),
               rho_contention=ratio(end - begin, alone * demand))
    return row


def app_rows(sim):
    names = list(dict.fromkeys(j.app for j in sim.file))
    return [app_row(sim, name, [j for j in sim.file if j.app == name]) for name in names]


def mean(values):
    return Fraction(sum(values)) / len(values) if values else None


def quantile(values, percent):
    """A28."""
    if not values:
        return None
    values = sorted(values)
    position = Fraction(percent, 100) * (len(values) - 1)
    low = int(position)
    high = min(low + 1, len(values) - 1)
    return values[low] + (position - low) * (values[high] - values[low])


def summary_row(sim, from_s=0, to_s=None):
    def is_inside(submit_s):
        at = submit_s - seconds(sim.first)
        return at >= Fraction(from_s) and (to_s is None or at < Fraction(to_s))

    jobs, apps = job_rows(sim), app_rows(sim)
    measured = [j for j in jobs if j['state'] == 'FINISHED' and is_inside(j['submit_s'])]
    fair = [a for a in apps if a['state'] == 'FINISHED' and is_inside(a['submit_s'])]
    rho, capped, contended = ([a[name] for a in fair if a[name] is not None]
                              for name in ('rho', 'rho_capped', 'rho_contention'))
    row = {'jobs': len(jobs), 'apps': len(apps), 'measured': len(measured)}
    for state in ('finished', 'rejected', 'timeout', 'failed', 'unfinished'):
        row[state] = sum(j['state'] == state.upper() for j in jobs)
    first = min((j['submit_s'] for j in jobs if j['state'] != 'REJECTED'), default=None)
    last = max((j['finish_s'] for j in jobs if j['finish_s'] is not None), default=None)
    until = seconds(sim.stop) if row['unfinished'] else last
    row.update(first_submit_s=first, last_finish_s=last,
               makespan_s=None if last is None else last - first)
    for name, percents in (('jct', (50, 90, 95, 99)), ('wait', (50, 99))):
        values = [j[name + '_s'] for j in measured]
        row[name + '_mean_s'] = mean(values)
        row.update({f'{name}_p{p}_s': quantile(values, p) for p in percents})
        row[name + '_max_s'] = max(values, default=None)
    row['wait_max_job'] = min(((-j['wait_s'], j['submit_s'], i, j['job_id'])
                               for i, j in enumerate(measured)), default=(None,))[-1]
    for name in ('slowdown', 'placement_score'):
        row[name + '_mean'] = mean([j[name] for j in measured if j[name] is not None])
    row.update({f'rho_p{p}': quantile(rho, p) for p in (50, 90, 99)})
    row.update(rho_mean=mean(rho), rho_max=max(rho, default=None), rho_apps=len(rho),
               rho_over_1_frac=mean([int(r > 1 + Fraction(1, SECOND)) for r in rho]),  # A24
               rho_capped_max=max(capped, default=None),
               jain_rho=ratio(sum(rho) ** 2, len(rho) * sum(r * r for r in rho)),
               rho_contention_mean=mean(contended),
               rho_contention_max=max(contended, default=None))
    held = sum(j['service_gpu_s'] for j in jobs)
    row.update(alloc_gpu_s=held,
               useful_gpu_s=seconds(sum((j.duration - j.left) * j.gpus for j in sim.file)),
               util_frac=None if until is None or first is None
               else ratio(held, max(0, until - first) * sim.n_gpus),
               preemptions=sum(j['preemptions'] for j in jobs),
               migrations=sum(j['migrations'] for j in jobs))
    return row


def cell(value):
    """A31: nine places at most, half to even, no trailing zeros."""
    if value is None:
        return ''
    if not isinstance(value, Fraction):
        return ' '.join(map(str, value)) if isinstance(value, tuple) else str(value)
    whole, part = divmod(round(value * SECOND), SECOND)
    return f'{whole}.{part:09d}'.rstrip('0').rstrip('.')


def read_trace(path):
    with open(path, newline='', encoding='utf-8') as file:
        return list(csv.DictReader(file))
