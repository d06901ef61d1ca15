# SPDX-License-Identifier: MIT
"""
The greedy baselines of the program behind Themis's figures, iteration by iteration: written from a
description of it and from its results, for small inputs, to be read beside policies/greedy.c.

What it does that preset=authors does not: time is a sum of floats, and a GPU granted to a job with an
iteration in progress is idle until the next one begins. Times are in minutes.
"""
import heapq
import math


class Job:
    def __init__(self, row):
        self.id = int(row['job_id'])
        self.arrival = float(row['start_time'])
        self.total = self.left = int(row['total_iterations'])
        self.minutes = float(row['time_per_iteration'])  # an iteration on one GPU
        self.widest = int(row['max_parallelism'])
        self.speeds = [1.0] + [float(row[f'cross_{level}_slowdown']) for level in ('slot', 'machine', 'rack')]
        self.leases = {}  # GPU -> its lease's end
        self.using = ()  # the GPUs of the iteration in progress
        self.length = 0.0  # of that iteration
        self.lost = -1.0  # when it last gave up all it held
        self.start = self.finish = None
        self.gpu_minutes = 0.0  # used in iterations that are over

    def speed(self, gpus):
        """gpus: of (rack, machine, slot)."""
        spread = [len({gpu[:part] for gpu in gpus}) > 1 for part in (1, 2, 3)]  # racks, machines, slots
        factor = self.speeds[3 - spread.index(True)] if True in spread else 1.0
        return len(gpus) * factor


def bid_gandiva(job, gpus, now):
    return job.speed(gpus)


def bid_tiresias(job, gpus, now):
    """The iteration in progress counts as held in full."""
    return -(job.gpu_minutes + job.length * len(job.using))


def bid_optimus(job, gpus, now):
    """How many times longer the job would be here without the GPU."""
    if not job.leases:
        return math.inf
    time_left = lambda held: job.left * job.minutes / job.speed(held)
    return (now - job.arrival + time_left(list(job.leases))) / (now - job.arrival + time_left(gpus))


BIDS = {'gandiva-greedy': bid_gandiva, 'tiresias-app': bid_tiresias, 'optimus': bid_optimus}

ARRIVAL, BOUNDARY = range(2)


class Simulator:
    def __init__(self, rows, gpus, policy, lease):
        """rows: jobs as in their workload files; gpus: (rack, machine, slot, number), in the order in which
        they are offered."""
        self.jobs = [Job(row) for row in rows]
        self.free, self.bid, self.lease = set(gpus), BIDS[policy], lease
        self.here, self.now = [], 0.0
        self.events = [(job.arrival, ARRIVAL, job.id, job) for job in self.jobs]
        heapq.heapify(self.events)

    def run(self):
        while self.events:
            self.now = self.events[0][0]
            arrived = self.take(ARRIVAL)
            self.here += arrived
            if arrived:  # what is unleased is offered before what is released now
                self.offer()
            released = [self.end_iteration(job) for job in self.take(BOUNDARY)]
            if any(released):
                self.offer()
        return self.jobs

    def take(self, kind):
        jobs = []
        while self.events and self.events[0][:2] == (self.now, kind):
            jobs.append(heapq.heappop(self.events)[3])
        return jobs

    def end_iteration(self, job):
        """Whether GPUs were released."""
        job.gpu_minutes += job.length * len(job.using)
        job.left -= 1
        job.using, job.length = (), 0.0
        if job.left == 0:
            job.finish = self.now
            self.here.remove(job)
            self.release(job, list(job.leases))
            return True
        return self.begin_iteration(job)

    def begin_iteration(self, job):
        """No lease ends within an iteration: GPUs are given up until the rest fits."""
        released = self.release(job, [gpu for gpu, end in job.leases.items() if end <= self.now])
        while job.leases:
            length = job.minutes / job.speed(list(job.leases))
            late = [gpu for gpu, end in job.leases.items() if end < self.now + length]
            if not late:
                job.using, job.length = tuple(job.leases), length
                job.start = self.now if job.start is None else job.start
                heapq.heappush(self.events, (self.now + length, BOUNDARY, job.id, job))
                return released
            released = self.release(job, late)
        job.lost = self.now
        return released

    def release(self, job, gpus):
        for gpu in gpus:
            del job.leases[gpu]
            self.free.add(gpu)
        return len(gpus) > 0

    def offer(self):
        """Each free GPU in turn to whoever bids most for it."""
        for gpu in sorted(self.free, key=lambda gpu: gpu[3]):
            askers = [job for job in self.here if len(job.leases) < job.widest]
            if not askers:
                break
            rank = lambda job: (-self.bid(job, [*job.leases, gpu], self.now), len(job.leases), job.lost, job.id)
            best = min(askers, key=rank)
            best.leases[gpu] = self.now + self.lease
            self.free.remove(gpu)
        for job in self.here:
            if job.leases and not job.using:
                self.begin_iteration(job)
