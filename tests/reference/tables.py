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


LATER = ('n_jobs_avg', 'n_at_work', 'rho_gavel', 'rho_sia', 'rho_shockwave_static',
         'rho_shockwave_themis', 'received_ratio')


def spans_in(sim, begin, end):
    """(length, n, demand, jobs) of what of the history is in [begin, end)."""
    return [(min(b, end) - max(a, begin), n, demand, jobs)
            for a, b, n, demand, jobs in sim.history if a < end and b > begin]


def n_at_work(sim, jobs):
    """Mean over the work of max(n, GPUs / d), which is a mean over time within a segment."""
    least = Fraction(sim.n_gpus, sum(j.gpus for j in jobs))
    work = total = Fraction(0)
    for j in jobs:
        for s in j.segments:
            own = (s.end - s.start - s.overhead) * j.gpus
            if own > 0:
                total += own * sum(span * max(Fraction(n), least) for span, n, _, _
                                   in spans_in(sim, s.start, s.end)) / (s.end - s.start)
                work += own
    return total / work


def later_values(sim, jobs, alone, part, n_jobs):
    """One GPU type of speed 1: policies.md 6.2 comes down to this."""
    shared = max(j.finish for j in jobs) - min(j.submit for j in jobs)
    work = sum(j.gpus * j.duration for j in jobs)
    crowd = n_at_work(sim, jobs)
    n_in_trace = sum(j.gpus > 0 for j in sim.file)
    held = sum((s.end - s.start) * j.gpus for j in jobs for s in j.segments)
    return {'n_at_work': crowd, 'rho_gavel': shared / (Fraction(work, sim.n_gpus) * crowd),
            'rho_sia': shared / (work / part),
            'rho_shockwave_static': shared / (alone * max(1, Fraction(n_in_trace, sim.n_gpus))),
            'rho_shockwave_themis': shared / (alone * max(1, n_jobs / sim.n_gpus)),
            'received_ratio': held / (shared * part)}


def app_row(sim, name, jobs):
    begin = min(j.submit for j in jobs)
    row = dict.fromkeys(('finish_s', 'jct_s', 'n_avg', 't_shared_s', 't_independent_s', 'rho',
                         'rho_capped', 'contention', 'rho_contention', *LATER))
    row.update({'app_id': name, 'jobs': len(jobs), 'submit_s': seconds(begin),
                'state': app_state(jobs),
                'service_gpu_s': seconds(sum((s.end - s.start) * j.gpus
                                             for j in jobs for s in j.segments))})
    if row['state'] != 'FINISHED':
        return row  # A22
    end = max(j.finish for j in jobs)
    row.update(finish_s=seconds(end), jct_s=seconds(end - begin))
    # A20, A21, C04
    n, demand, n_jobs = sim.birth[name]
    n, demand = Fraction(n), max(Fraction(1), Fraction(demand, sim.n_gpus))
    n_jobs = Fraction(n_jobs)
    if end > begin:
        spans = spans_in(sim, begin, end)
        n = Fraction(sum(span * n for span, n, _, _ in spans), end - begin)
        n_jobs = Fraction(sum(span * jobs for span, _, _, jobs in spans), end - begin)
        demand = sum(span * max(Fraction(1), Fraction(d, sim.n_gpus))
                     for span, _, d, _ in spans) / (end - begin)
    work = sum(j.gpus * j.duration for j in jobs)
    width = sum(j.gpus for j in jobs)
    row.update(n_avg=n, t_shared_s=seconds(end - begin), contention=demand, n_jobs_avg=n_jobs)
    if width == 0:
        return row  # A04: it has no W, no d, no rho
    alone = Fraction(work, min(sim.n_gpus, width))
    row.update(t_independent_s=alone * n / SECOND, rho=ratio(end - begin, alone * n),
               rho_capped=ratio(end - begin, work / min(sim.n_gpus / n, Fraction(width))),
               rho_contention=ratio(end - begin, alone * demand))
    if alone > 0:
        row.update(later_values(sim, jobs, alone, min(sim.n_gpus / n, Fraction(width)), n_jobs))
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
               rho_contention_max=max(contended, default=None),
               rho_excess_mean=mean([max(Fraction(0), r - 1) for r in rho]),
               gini_rho=gini(rho) if rho else None)
    held = sum(j['service_gpu_s'] for j in jobs)
    row.update(alloc_gpu_s=held,
               useful_gpu_s=seconds(sum((j.duration - j.left) * j.gpus for j in sim.file)),
               util_frac=None if until is None or first is None
               else ratio(held, max(0, until - first) * sim.n_gpus),
               preemptions=sum(j['preemptions'] for j in jobs),
               migrations=sum(j['migrations'] for j in jobs))
    return row


VARIANTS = ('rho', 'rho_capped', 'rho_contention', 'rho_gavel', 'rho_sia', 'rho_shockwave_static',
            'rho_shockwave_themis', 'received_ratio')


def jain(values):
    return ratio(sum(values) ** 2, len(values) * sum(v * v for v in values))


def gini(values):
    """Half the mean absolute difference, over the mean."""
    return ratio(sum(abs(a - b) for a in values for b in values), 2 * len(values) * sum(values))


def fairness_row(scope, group, variant, values):
    inverse = [1 / v for v in values]
    row = {'scope': scope, 'group': group, 'variant': variant, 'apps': len(values),
           'mean': mean(values), 'min': min(values), 'max': max(values),
           'spread': quantile(values, 95) - quantile(values, 5),
           'jain': jain(values), 'gini': gini(values),
           'jain_inverse': jain(inverse), 'gini_inverse': gini(inverse),
           'over_1': None, 'over_1_frac': None, 'over_1_1_frac': None, 'excess_mean': None}
    row.update({f'p{p}': quantile(values, p) for p in (5, 50, 90, 95, 99)})
    if variant != 'received_ratio':
        tolerance = Fraction(1, SECOND)
        over = sum(v > 1 + tolerance for v in values)
        row.update(over_1=over, over_1_frac=ratio(over, len(values)),
                   over_1_1_frac=mean([int(v > Fraction(11, 10) + tolerance) for v in values]),
                   excess_mean=mean([max(Fraction(0), v - 1) for v in values]))
    return row


def size_class(jobs, _alone):
    widest = max(j.gpus for j in jobs)
    return next((name for name, most in (('1', 1), ('2-4', 4), ('5-8', 8)) if widest <= most), '>8')


def duration_class(_jobs, alone):
    bounds = (('<=10min', 600), ('10min-1h', 3600), ('1h-6h', 21600), ('6h-24h', 86400))
    return next((name for name, most in bounds if alone <= most), '>24h')


CLASSES = (('all', lambda *_: '', ['']), ('size', size_class, ['1', '2-4', '5-8', '>8']),
           ('duration', duration_class, ['<=10min', '10min-1h', '1h-6h', '6h-24h', '>24h']))


def fairness_rows(sim, from_s=0, to_s=None):
    """Every value, by class, of the apps that A25 measures."""
    fair = []
    for app in app_rows(sim):
        at = app['submit_s'] - seconds(sim.first)
        if app['rho'] is not None and at >= Fraction(from_s) and (to_s is None or at < Fraction(to_s)):
            jobs = [j for j in sim.file if j.app == app['app_id']]
            fair.append((app, jobs, app['t_independent_s'] / app['n_avg']))
    rows = []
    for scope, class_of, names in CLASSES:
        for name in names:
            group = [app for app, jobs, alone in fair if class_of(jobs, alone) == name]
            rows += [fairness_row(scope, name, v, [app[v] for app in group])
                     for v in VARIANTS if group]
    return rows


def window_row(sim, begin, end):
    """What each app received in [begin, end), and what it was entitled to."""
    received, entitled = {}, {}
    for j in sim.file:
        for s in j.segments:
            span = min(s.end, end) - max(s.start, begin)
            received[j.app] = received.get(j.app, 0) + max(0, span) * j.gpus
    for a, b, n, _, _ in sim.history:
        span = min(b, end) - max(a, begin)
        demand = {}
        for j in sim.file:
            if (j.submit <= a and j.state not in ('REJECTED', 'pending') and j.gpus > 0
                    and (j.finish is None or j.finish > a)):
                demand[j.app] = demand.get(j.app, 0) + j.gpus
        for app, width in demand.items() if span > 0 else ():
            entitled[app] = entitled.get(app, 0) + span * min(Fraction(sim.n_gpus, n), Fraction(width))
    if not entitled:
        return None
    ratios = [received.get(app, 0) / entitled[app] for app in entitled]
    return {'time_s': seconds(begin), 'scope': 'app', 'parties': len(ratios),
            'ratio_min': min(ratios), 'ratio_p50': quantile(ratios, 50), 'ratio_mean': mean(ratios),
            'jain_ratio': jain(ratios) if any(ratios) else None,
            'received_gpu_s': seconds(sum(received.get(app, 0) for app in entitled)),
            'entitled_gpu_s': sum(entitled.values()) / SECOND,
            'deficit_gpu_s': sum(max(Fraction(0), entitled[app] - received.get(app, 0))
                                 for app in entitled) / SECOND}


def window_rows(sim, window):
    """From the first submit to the end, windows in which somebody was there."""
    begin, rows = sim.first, []
    end = max((b for _, b, *_ in sim.history), default=sim.first)
    while begin < end:
        rows.append(window_row(sim, begin, min(begin + window, end)))
        begin += window
    return [row for row in rows if row]


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
