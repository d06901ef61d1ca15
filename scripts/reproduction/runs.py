# SPDX-License-Identifier: MIT
"""Runs of the simulator: planned once however many figures want them, in parallel, and remembered.

A run is one policy on one trace with one seed. What it gave is kept in a folder named by a hash of
all that it depends on: the program's bytes (which hold its version and commit), the trace, the
cluster, the models, the settings, the policy and the seed. So a second reproduction resumes the
first, and a changed program starts anew.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import FrozenSet

import yaml

from reproduction import InputError
from reproduction.experiment import read_yaml, with_overrides

PROGRESS_S = 15


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def file_digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


class Commands:
    """Runs commands, and ends those that are running when asked to."""

    def __init__(self):
        self.lock = threading.Lock()
        self.running = set()
        self.is_ended = False

    def start(self, arguments):
        with self.lock:
            if self.is_ended:
                raise InputError("interrupted")
            process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.running.add(process)
            return process

    def run(self, arguments):
        """What it prints; if it fails, an InputError with what it said."""
        process = self.start(arguments)
        try:
            out, err = process.communicate()
        except BaseException:
            process.terminate()
            raise
        finally:
            with self.lock:
                self.running.discard(process)
        if process.returncode != 0:
            said = (err.strip() or out.strip() or "nothing")[-2000:]
            raise InputError(f"{' '.join(map(str, arguments))}\n  ended with status {process.returncode} and said: {said}")
        return out

    def end(self):
        with self.lock:
            self.is_ended = True
            for process in self.running:
                process.terminate()


@dataclass(frozen=True)
class Run:
    trace: str
    cluster: str
    policy: str
    seed: int


class Simulator:
    """The program, what all runs have in common, and the folder of what they gave."""

    def __init__(self, program, models, settings, cache):
        self.program, self.models, self.settings = str(program), models, settings
        self.cache = pathlib.Path(cache)
        self.digests = {}
        self.specs = {}
        self.commands = Commands()
        self.version = self.commands.run([self.program, "--version"]).strip()

    def digest_of(self, path):
        if path not in self.digests:
            self.digests[path] = file_digest(path) if os.path.isfile(path) else str(path)
        return self.digests[path]

    def trace(self, spec_path, overrides, seed):
        """The trace that a spec with some keys replaced makes of a seed: generated once."""
        if spec_path not in self.specs:
            self.specs[spec_path] = read_yaml(spec_path)
        spec = with_overrides(self.specs[spec_path], overrides)
        load = spec.get("load", {})
        beside = spec_path.parent / str(load.get("cluster", ""))
        if "cluster" in load and beside.is_file():
            load["cluster"] = str(beside.resolve())
        # By what the spec says in the end: the same workload in two figures is one.
        key = digest(self.digest_of(self.program), json.dumps(spec, sort_keys=True), str(seed),
                     self.digest_of(str(load.get("cluster", ""))))
        path = self.cache / "traces" / f"{key}.csv"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            spec_copy, unfinished = path.with_suffix(".yaml"), path.with_suffix(".tmp")
            spec_copy.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
            self.commands.run([self.program, "trace", "generate", str(spec_copy), "--seed", str(seed), "-o", str(unfinished)])
            unfinished.rename(path)
        return str(path)

    def folder(self, run):
        key = digest(self.digest_of(self.program), self.digest_of(run.trace), self.digest_of(run.cluster),
                     self.digest_of(str(self.models or "")), json.dumps(self.settings, sort_keys=True), run.policy,
                     str(run.seed))
        return self.cache / "runs" / key

    def arguments(self, run, out):
        arguments = [self.program, "run", "--trace", run.trace, "--cluster", run.cluster, "--policy", run.policy,
                     "--seed", str(run.seed), "--out", str(out), "--quiet", "-j1"]
        if self.models:
            arguments += ["--models", str(self.models)]
        for key in sorted(self.settings):
            arguments += ["--set", f"{key}={self.settings[key]}"]
        return arguments

    def has(self, run, tables):
        folder = self.folder(run)
        return all((folder / f"{table}.csv").exists() for table in tables)

    def execute(self, run, tables):
        """Runs it and keeps the tables that somebody wants."""
        folder = self.folder(run)
        out = folder.with_suffix(".tmp")
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        self.commands.run(self.arguments(run, out / "out"))
        shutil.rmtree(folder, ignore_errors=True)
        kept = out / "kept"
        kept.mkdir()
        label = run.policy.split(":")[0]
        for table in tables:
            inside = out / "out" / f"{table}.csv"
            inside = inside if inside.exists() else out / "out" / label / f"{table}.csv"
            if not inside.exists():
                raise InputError(f"{' '.join(self.arguments(run, out / 'out'))}\n  wrote no {table}.csv")
            inside.rename(kept / inside.name)
        kept.rename(folder)
        shutil.rmtree(out)


@dataclass(frozen=True)
class Task:
    run: Run
    tables: FrozenSet[str]


class Plan:
    """All runs that the figures want, each once, with the tables that are wanted of it."""

    def __init__(self, simulator):
        self.simulator = simulator
        self.tables = {}

    def add(self, figure):
        """For each point of the figure and each seed, (point, seed, run)."""
        tables = {"summary", *(metric.table for metric in figure.metrics.values())}
        wanted = []
        for point in figure.points():
            for seed in figure.seeds:
                trace = self.simulator.trace(point.spec, point.overrides, seed)
                run = Run(trace, figure.cluster, point.policy, seed)
                self.tables.setdefault(run, set()).update(tables)
                wanted.append((point, seed, run))
        return wanted

    def tasks(self):
        return [Task(run, frozenset(tables)) for run, tables in self.tables.items()
                if not self.simulator.has(run, tables)]


def say_progress(n_done, n_all, start_s):
    print(f"reproduce: {n_done} of {n_all} runs, {time.monotonic() - start_s:.0f} s", file=sys.stderr, flush=True)


def execute_all(plan, n_workers):
    """Every run that is not remembered. The first failure ends it all, with its message."""
    tasks = plan.tasks()
    start_s = said_s = time.monotonic()
    n_remembered = len(plan.tables) - len(tasks)
    print(f"reproduce: {len(tasks)} runs to do on {n_workers} cores, {n_remembered} remembered",
          file=sys.stderr, flush=True)
    with concurrent.futures.ThreadPoolExecutor(n_workers) as pool:
        futures = [pool.submit(plan.simulator.execute, task.run, task.tables) for task in tasks]
        try:
            for n_done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                future.result()
                if time.monotonic() - said_s >= PROGRESS_S or n_done == len(tasks):
                    said_s = time.monotonic()
                    say_progress(n_done, len(tasks), start_s)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            plan.simulator.commands.end()
            raise
