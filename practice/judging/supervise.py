"""Watches a run from outside: reads what it reports, keeps the limits, ends it with all it started.

Nothing here trusts the run. Pipes are read by length and time, never to their end, since whoever
inherited them may hold them open for ever.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from .job import Job
from .killing import descendants, kill_all
from .process import Running
from .wire import DisturbedError, FrameReader

LOOK = 0.05  # seconds between looks at processor time, memory and processes
WAITING_COUNTS = 0.5


@dataclass
class RunResult:
    """What became of a run.

    Attributes:
        reports: all signed reports, in order.
        output: the first part of what was printed.
        output_bytes: how much was printed.
        ended_by: why the judge ended the run: "time", "memory", "processes", "disturbed", or
            nothing where it ended by itself.
        seconds: from start to end.
        dump: what faulthandler wrote.
    """

    reports: list[dict[str, Any]] = field(default_factory=list)
    output: bytes = b""
    output_bytes: int = 0
    ended_by: str = ""
    seconds: float = 0.0
    dump: str = ""

    def all(self, event: str) -> list[dict[str, Any]]:
        """Reports of one kind."""
        return [report for report in self.reports if report["event"] == event]

    def last(self, event: str) -> dict[str, Any] | None:
        """The last report of one kind."""
        found = self.all(event)
        return found[-1] if found else None


class Supervisor:
    """Watches one run.

    Args:
        job: what runs.
        running: its process.
        keep: processes of the judge, not to be ended.
    """

    def __init__(self, job: Job, running: Running, keep: frozenset[int] = frozenset()) -> None:
        self._job = job
        self._running = running
        self._keep = keep
        self._result = RunResult()
        self._frames = FrameReader(job.key)
        self._parent = os.getppid()
        self._known: dict[int, psutil.Process] = {}
        self._test_began: tuple[float, float] | None = None  # wall, processor seconds
        self._first: tuple[float, float, int] | None = None  # wall, processor, bytes resident

    def watch(self) -> RunResult:
        """Waits for the run's end, or brings it about."""
        began, next_look = time.monotonic(), 0.0
        result = self._result
        try:
            while not result.ended_by and not result.last("end"):
                self._take(self._running.read(LOOK))
                if time.monotonic() >= next_look:
                    self._look()
                    next_look = time.monotonic() + LOOK
                if self._running.ended():
                    self._drain()
                    break
            if result.last("end"):
                self._drain()
        finally:
            kill_all(self._running.pid, self._known, self._keep)
            self._running.close()
        result.seconds = time.monotonic() - began
        with contextlib.suppress(OSError):
            dump = Path(self._job.folder, "faulthandler.txt")
            result.dump = dump.read_text(encoding="utf-8", errors="replace")[-20_000:]
        return result

    def _take(self, chunks: list[tuple[str, bytes]]) -> None:
        result = self._result
        for source, data in chunks:
            if source == "output":
                room = self._job.limits.output_bytes - len(result.output)
                result.output += data[: max(room, 0)]
                result.output_bytes += len(data)
                continue
            try:
                for report in self._frames.feed(data):
                    result.reports.append(report)
                    self._note(report)
            except DisturbedError:
                result.ended_by = "disturbed"

    def _drain(self) -> None:
        """Reads what is still in the pipes, for a short while only."""
        until = time.monotonic() + 0.2
        while time.monotonic() < until:
            chunks = self._running.read(0)
            if not chunks:
                break
            self._take(chunks)

    def _note(self, report: dict[str, Any]) -> None:
        if report["event"] in ("start", "load"):
            self._test_began = (time.monotonic(), self._processor_seconds())
        elif report["event"] in ("case", "load_error"):
            self._test_began = None

    def _look(self) -> None:
        """Compares what the run uses with its limits."""
        limits, now = self._job.limits, time.monotonic()
        if os.getppid() != self._parent:
            self._result.ended_by = "orphaned"  # whoever asked is gone: nobody waits for a verdict
        try:
            memory = psutil.Process(self._running.pid).memory_info().rss
        except psutil.Error:
            return
        processor = self._processor_seconds()
        if self._first is None:
            self._first = (now, processor, memory)
        wall0, processor0, memory0 = self._first
        used = max(processor - processor0, (now - wall0) * WAITING_COUNTS)
        if self._test_began is not None:
            wall1, processor1 = self._test_began
            in_test = max(processor - processor1, (now - wall1) * WAITING_COUNTS)
            if in_test > limits.test_seconds:
                self._result.ended_by = "time"
        if used > limits.seconds:
            self._result.ended_by = "time"
        if memory - memory0 > limits.memory_mb << 20:
            self._result.ended_by = "memory"
        below = descendants(self._keep)
        self._known.update((process.pid, process) for process in below)
        if len(below) - 1 > limits.processes:
            self._result.ended_by = "processes"

    def _processor_seconds(self) -> float:
        try:
            times = psutil.Process(self._running.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)


def remove_folder(folder: Path) -> None:
    """Removes a run's folder, whatever permissions are set in it."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        for parent, _, _ in os.walk(folder):
            with contextlib.suppress(OSError):
                Path(parent).chmod(stat.S_IRWXU)
        shutil.rmtree(folder, ignore_errors=True)
