#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
A second opinion: the documented semantics once more, as simply and as slowly as they can be said.

One machine, rigid jobs at speed 1, no models. Every decision walks the whole queue and looks at
every job, nothing is kept that can be computed again. It is written from the specification alone,
whose rules are cited as A55, B03, C01; not from the program. tables.py makes tables of a run,
check.py compares them with the program's.

Times are integers, nanoseconds on the trace's own clock; ratios are fractions.

    naive.py TRACE.csv GPUS POLICY [KEY=VALUE]...      prints jobs, apps and summary
"""
import sys
from collections import namedtuple
from fractions import Fraction

from tables import app_rows, cell, job_rows, read_trace, segment_rows, summary_row

SECOND = 10 ** 9
OVERHEADS = ('start_s', 'suspend_s', 'resume_s', 'migrate_s')  # nothing migrates here
STALL_STOPS = 10000  # A79
Segment = namedtuple('Segment', 'start end overhead reason gpus')


class Stalled(Exception):
    """Jobs stop each other again and again without any work done."""


def to_ns(seconds):
    ns = Fraction(seconds) * SECOND
    assert ns.denominator == 1, seconds
    return int(ns)


class Job:
    def __init__(self, index, row):
        self.index = index  # in the file
        self.id = row['job_id']
        self.app = row.get('app_id') or self.id
        self.submit = to_ns(row['submit_time'])
        self.gpus = int(row['num_gpus'])
        self.duration = to_ns(row['duration'])
        self.priority = int(row.get('priority') or 0)
        self.limit = to_ns(row.get('time_limit') or 0) or None  # B11
        self.state = 'pending'
        self.left = self.duration  # work at the start of the present segment
        self.segments = []
        self.past = 0  # time on GPUs in all of them
        self.finish = None
        # of the present segment
        self.start = None
        self.overhead = 0
        self.where = ()
        self.stopped = None  # being suspended since then
        # for policies
        self.quantum_end = None
        self.served_from = 0     # attained time at the last promotion
        self.ranked = None       # first start, or last promotion (A59)

    def order(self):
        return self.submit, self.index

    def is_on_gpus(self):
        return self.start is not None

    def is_running(self):
        return self.is_on_gpus() and self.stopped is None

    def paid(self, now):
        """Overhead of the present segment up to now, suspending included."""
        until = now if self.stopped is None else self.stopped
        suspended = 0 if self.stopped is None else now - self.stopped
        return min(self.overhead, until - self.start) + suspended

    def held(self, now):
        """Time on GPUs, overhead and suspend included (A12)."""
        return self.past + (now - self.start if self.is_on_gpus() else 0)

    def remaining(self, now):
        """Work only, never overhead (A12)."""
        if not self.is_on_gpus():
            return self.left
        return self.left - ((now - self.start) - self.paid(now))

    def done_at(self):
        return self.start + self.overhead + self.left if self.is_running() else None

    def limit_at(self):
        return None if self.limit is None else self.start + self.limit - self.past


class Simulation:
    def __init__(self, rows, n_gpus, policy, options=None, overheads=None, stop_s=None):
        self.file = [Job(i, row) for i, row in enumerate(rows)]
        self.jobs = sorted(self.file, key=Job.order)
        self.n_gpus = n_gpus
        self.policy = POLICIES[policy](self, options or {})
        self.cost = {name: to_ns((overheads or {}).get(name, 0)) for name in OVERHEADS}
        self.first = self.jobs[0].submit if self.jobs else 0
        self.stop = None if stop_s is None else self.first + to_ns(stop_s)
        self.history = []  # (from, to, n, demand, jobs): contention between two instants
        self.birth = {}    # app -> (n, demand) after the arrivals of its first submit
        self.work_left = sum(j.duration for j in self.jobs)  # at the first of n_stops stops
        self.n_stops = 0

    # What a policy may see

    def active(self):
        return [j for j in self.jobs if j.state == 'active' and j.gpus > 0]

    def queued(self):
        return [j for j in self.active() if not j.is_on_gpus()]

    def running(self):
        return [j for j in self.active() if j.is_running()]

    def free(self):
        taken = {gpu for j in self.active() for gpu in j.where}
        return [gpu for gpu in range(self.n_gpus) if gpu not in taken]

    # What happens to a job

    def begin(self, job, where, overhead):
        job.start, job.overhead, job.where = self.now, overhead, tuple(where)
        if job.ranked is None:
            job.ranked = self.now

    def end_segment(self, job, reason):
        job.left = job.remaining(self.now)
        job.past += self.now - job.start
        job.segments.append(Segment(job.start, self.now, job.paid(self.now), reason, job.where))
        job.start, job.stopped, job.where = None, None, ()

    def place(self, job):
        free = self.free()
        assert not job.is_on_gpus() and job.gpus <= len(free)
        former = job.segments[-1].gpus if job.segments else ()
        free.sort(key=lambda gpu: gpu not in former)  # B22
        cost = self.cost['resume_s' if job.segments else 'start_s']  # A09
        self.begin(job, sorted(free[:job.gpus]), cost)

    def preempt(self, job):
        job.stopped = self.now
        work_left = sum(j.remaining(self.now) for j in self.jobs)
        if work_left < self.work_left:
            self.work_left, self.n_stops = work_left, 0
        self.n_stops += 1
        if self.n_stops > STALL_STOPS:
            raise Stalled
        if self.cost['suspend_s'] == 0:
            self.end_segment(job, 'preempted')

    def finish(self, job, state):
        if job.is_on_gpus():
            self.end_segment(job, state.lower())
        job.state = state
        job.finish = self.now if state in ('FINISHED', 'TIMEOUT') else None

    # The five steps

    def end_what_ends(self):
        is_news = False
        for job in [j for j in self.jobs if j.is_on_gpus()]:
            if job.done_at() == self.now:
                self.finish(job, 'FINISHED')
            elif job.limit_at() == self.now:
                self.finish(job, 'TIMEOUT')
            elif job.stopped is not None and job.stopped + self.cost['suspend_s'] == self.now:
                self.end_segment(job, 'preempted')
            else:
                continue
            is_news = is_news or job.gpus > 0
        return is_news

    def let_in(self):
        arriving = [j for j in self.jobs if j.state == 'pending' and j.submit == self.now]
        for job in arriving:
            if job.gpus > self.n_gpus:
                self.finish(job, 'REJECTED')  # A07
                continue
            job.state = 'active'
            if job.gpus == 0:
                self.begin(job, (), 0)  # A04
        for job in arriving:
            self.birth.setdefault(job.app, self.contention())
        return any(j.gpus > 0 for j in arriving if j.state == 'active')

    def contention(self):
        """(n, demand) now: A20, C04."""
        active = self.active()
        return len({j.app for j in active}), sum(j.gpus for j in active), len(active)

    def next_instant(self):
        times = [j.submit for j in self.jobs if j.state == 'pending']
        for job in [j for j in self.jobs if j.is_on_gpus()]:
            times += [job.done_at(), job.limit_at()]
            if job.stopped is not None:
                times.append(job.stopped + self.cost['suspend_s'])
        times += [t for t in self.policy.timers(self.now) if t > self.now]
        return min((t for t in times if t is not None), default=None)

    def run(self):
        self.now = self.first
        is_timer = False
        while True:
            is_news = self.end_what_ends()
            is_news = self.let_in() or is_news
            if is_news or is_timer:
                self.policy.decide(self.now)
            if any(self.now in (j.done_at(), j.limit_at()) for j in self.jobs if j.is_on_gpus()):
                is_timer = False
                continue  # A03
            then = self.next_instant()
            if then is None or (self.stop is not None and then >= self.stop):
                break
            self.history.append((self.now, then) + self.contention())
            is_timer = then in self.policy.timers(self.now)
            self.now = then
        self.stop_all()
        return self

    def stop_all(self):
        """A18. Without a stop, a job still there is one that the policy never starts."""
        if self.stop is None:
            return
        self.history.append((self.now, self.stop) + self.contention())
        self.now = max(self.now, self.stop)
        for job in self.jobs:
            if job.is_on_gpus() and job.done_at() == self.stop:
                self.finish(job, 'FINISHED')
            elif job.state in ('pending', 'active'):
                self.finish(job, 'UNFINISHED')


# Policies

class Queue:
    """Nobody is stopped: the queue in some order, strict or passing over what does not fit."""

    def __init__(self, simulation, options):
        self.sim = simulation
        self.options = options

    is_strict = True

    def key(self, job, now):
        return job.order()

    def timers(self, now):
        return []

    def sorted(self, jobs, now):
        return sorted(jobs, key=lambda j: self.key(j, now))

    def decide(self, now):
        for job in self.sorted(self.sim.queued(), now):
            if job.gpus <= len(self.sim.free()):
                self.sim.place(job)
            elif self.is_strict:
                break


class FifoSkip(Queue):
    is_strict = False


class Sjf(Queue):
    def key(self, job, now):
        return (job.duration,) + job.order()


class Easy(Queue):
    """A63."""

    def decide(self, now):
        sim, queue = self.sim, self.sorted(self.sim.queued(), now)
        while queue and queue[0].gpus <= len(sim.free()):
            sim.place(queue.pop(0))
        if not queue:
            return
        ends = {j: j.start + sim.cost['start_s'] + j.duration for j in sim.running()}

        def free_at(t):
            return len(sim.free()) + sum(j.gpus for j in ends if ends[j] <= t)

        shadow = min(t for t in ends.values() if free_at(t) >= queue[0].gpus)
        extra = free_at(shadow) - queue[0].gpus
        for job in queue[1:]:
            is_short = now + sim.cost['start_s'] + job.duration <= shadow
            if job.gpus <= len(sim.free()) and (is_short or job.gpus <= extra):
                sim.place(job)
                extra -= 0 if is_short else job.gpus


class Preemptive(Queue):
    """The walk of A55 over an empty cluster."""
    is_strict = False

    def locked(self, now):
        return []  # running jobs that may not be stopped now

    def started(self, job, now):
        pass  # or chosen again

    def choose(self, now, order):
        room = self.sim.n_gpus - sum(j.gpus for j in self.locked(now))
        is_stuck, chosen = False, []
        for job in order:
            if job.gpus > room:
                is_stuck = self.is_strict or is_stuck
            elif not is_stuck or job.is_running():  # B03
                chosen.append(job)
                room -= job.gpus
        return chosen

    def decide(self, now):
        locked = self.locked(now)
        order = [j for j in self.sorted(self.sim.active(), now) if j not in locked]
        chosen = self.choose(now, order)
        for job in order:
            if job.is_running() and job not in chosen:
                self.sim.preempt(job)
        self.start([j for j in chosen if not j.is_running()], now)
        for job in chosen:
            if job.is_running():
                self.started(job, now)

    def start(self, waiting, now):
        """Who needs GPUs that are still being released waits for them, and nobody behind it takes
        its place (A10): it sets aside what it needs to start as soon as it can, of free GPUs as
        few as that allows. On one machine any GPUs will do, so that no chosen job ever has to
        move (C01 is for several)."""
        free = len(self.sim.free())
        released = {}  # time -> GPUs
        for job in self.sim.active():
            if job.stopped is not None:
                at = job.stopped + self.sim.cost['suspend_s']
                released[at] = released.get(at, 0) + job.gpus
        for job in waiting:
            if not job.is_on_gpus() and job.gpus <= free:
                self.sim.place(job)
                free -= job.gpus
                continue
            soonest = now if job.stopped is None else job.stopped + self.sim.cost['suspend_s']
            starts = min(at for at in sorted(released) if at >= soonest and
                         free + sum(n for t, n in released.items() if t <= at) >= job.gpus)
            need = job.gpus
            for at in sorted((t for t in released if t <= starts), reverse=True):
                aside = min(need, released[at])
                released[at] -= aside
                need -= aside
            free -= need


class Srtf(Preemptive):
    """A57."""

    def key(self, job, now):
        return (job.remaining(now), not job.is_running()) + job.order()


class Srsf(Preemptive):
    def key(self, job, now):
        return (job.remaining(now) * job.gpus, not job.is_running()) + job.order()


class Priority(Preemptive):
    """A62."""
    is_strict = True

    def key(self, job, now):
        return (-job.priority,) + job.order()

    def decide(self, now):
        if self.options.get('preempt'):
            super().decide(now)
        else:
            Queue.decide(self, now)


class Las(Preemptive):
    """A56, B01."""

    def width(self, job):
        return 1

    def key(self, job, now):
        return (job.held(now) * self.width(job),) + job.order()

    def timers(self, now):
        return [j.quantum_end for j in self.sim.running()]

    def locked(self, now):
        return [j for j in self.sim.running() if j.quantum_end > now]

    def started(self, job, now):
        if job.quantum_end is None or job.quantum_end <= now or job.start == now:
            job.quantum_end = now + to_ns(self.options.get('quantum_s', 60))


class Las2d(Las):
    def width(self, job):
        return job.gpus


class Tiresias(Preemptive):
    """A58 to A60; policies.md 3.2 on promotion."""

    def thresholds(self):
        return [to_ns(t) for t in self.options.get('thresholds_gpu_s', [3250])]

    def executed(self, job, now):
        return job.held(now) - job.served_from

    def level(self, job, now):
        return sum(t <= self.executed(job, now) * job.gpus for t in self.thresholds())

    def key(self, job, now):
        is_new = job.ranked is None
        return (self.level(job, now), is_new, 0 if is_new else job.ranked) + job.order()

    def promotion(self, job, now):
        """When a job that was stopped and waits below the top queue goes back there."""
        knob = self.options.get('promote_knob')
        if knob is None or job.is_on_gpus() or not job.segments or self.level(job, now) == 0:
            return None
        wait = Fraction(knob) * self.executed(job, now)
        return job.segments[-1].end - (-wait.numerator // wait.denominator)

    def timers(self, now):
        times = []
        for job in self.sim.active():
            if job.is_on_gpus():
                gaps = [t - self.executed(job, now) * job.gpus for t in self.thresholds()]
                times += [now - (-gap // job.gpus) for gap in gaps if gap > 0]
            elif self.promotion(job, now) is not None:
                times.append(self.promotion(job, now))
        return times

    def decide(self, now):
        for job in self.sim.queued():
            due = self.promotion(job, now)
            if due is not None and due <= now:
                job.served_from, job.ranked = job.held(now), now
        super().decide(now)


POLICIES = {
    'fifo': Queue, 'fifo-skip': FifoSkip, 'sjf': Sjf, 'easy': Easy, 'srtf': Srtf, 'srsf': Srsf,
    'priority': Priority, 'las': Las, '2d-las': Las2d, 'tiresias': Tiresias,
}


def main(arguments):
    trace, n_gpus, policy = arguments[:3]
    given = dict(a.split('=', 1) for a in arguments[3:])
    overheads = {k: given.pop(k) for k in OVERHEADS if k in given}
    stop_s = given.pop('stop_s', None)
    if 'thresholds_gpu_s' in given:
        given['thresholds_gpu_s'] = given['thresholds_gpu_s'].strip('[]').split(',')
    given['preempt'] = given.get('preempt') == 'true'
    sim = Simulation(read_trace(trace), int(n_gpus), policy, given, overheads, stop_s).run()
    for rows in (segment_rows(sim), job_rows(sim), app_rows(sim), [summary_row(sim)]):
        print(*(rows[0] if rows else ()), sep=',')
        for row in rows:
            print(*map(cell, row.values()), sep=',')
        print()


if __name__ == '__main__':
    main(sys.argv[1:])
