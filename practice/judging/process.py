"""Starting the process of a run: forked where the OS can, else a ready one that was spawned."""

from __future__ import annotations

import contextlib
import os
import queue
import selectors
import subprocess
import sys
import threading
from typing import IO, Protocol

import msgspec

from .exercises import Needs
from .job import Job
from .paths import ROOT

CHUNK = 1 << 16
Chunks = list[tuple[str, bytes]]


def can_fork() -> bool:
    """Whether runs are forked; ``MINISGL_JUDGE_SPAWN=1`` says no, for tests."""
    return sys.platform == "linux" and os.environ.get("MINISGL_JUDGE_SPAWN") != "1"


class Running(Protocol):
    """A run's process: its id, and what can be read from it."""

    pid: int

    def read(self, seconds: float) -> Chunks:
        """What came within `seconds`: ("report" or "output", bytes); not waiting for an end."""

    def ended(self) -> bool:
        """Whether the process itself has ended; its children may live."""

    def close(self) -> None:
        """Lets go of the pipes."""


class Forked:
    """A run forked from this process.

    Args:
        job: what to run.
        close: descriptors of this process that the run must not have.
    """

    def __init__(self, job: Job, close: tuple[int, ...] = ()) -> None:
        report_in, report_out = os.pipe()
        output_in, output_out = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            _become_child(job, report_out, output_out)
        os.close(report_out)
        os.close(output_out)
        self._fds = {report_in: "report", output_in: "output"}
        self._selector = selectors.DefaultSelector()
        for fd in self._fds:
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ)
        self._ended = False

    def read(self, seconds: float) -> Chunks:
        """See `Running`."""
        chunks: Chunks = []
        for key, _ in self._selector.select(seconds):
            fd = key.fd
            try:
                data = os.read(fd, CHUNK)
            except BlockingIOError:
                continue
            if data:
                chunks.append((self._fds[fd], data))
            else:
                self._selector.unregister(fd)
        return chunks

    def ended(self) -> bool:
        """See `Running`."""
        if not self._ended:
            with contextlib.suppress(ChildProcessError):
                pid, _ = os.waitpid(self.pid, os.WNOHANG)
                self._ended = pid == self.pid
        return self._ended

    def close(self) -> None:
        """See `Running`."""
        self._selector.close()
        for fd in self._fds:
            os.close(fd)


def _become_child(job: Job, report_fd: int, output_fd: int) -> None:
    """In the fork: a session and descriptors of its own, then the run. Doesn't return."""
    try:
        os.setsid()
        os.dup2(report_fd, 3) if report_fd != 3 else None
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        saved = os.dup(output_fd) if output_fd in (0, 1, 2, 3) else output_fd
        os.dup2(saved, 1)
        os.dup2(saved, 2)
        os.closerange(4, 1024)
        from .child import run_job

        run_job(job, 3)
    finally:
        os._exit(1)


class Spawned:
    """A process that was started beforehand, has loaded what is needed, and waits for its job."""

    def __init__(self, needs: Needs) -> None:
        self.needs = needs
        self._process = subprocess.Popen(
            [sys.executable, "-m", "practice.judging.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            start_new_session=True,
            bufsize=0,
        )
        self.pid = self._process.pid
        self._chunks: queue.Queue[tuple[str, bytes]] = queue.Queue(maxsize=64)
        assert self._process.stdout is not None and self._process.stderr is not None
        self._read_beside("report", self._process.stdout)
        self._read_beside("output", self._process.stderr)
        self._send(msgspec.json.encode(needs))
        self._ready = False

    def run(self, job: Job) -> None:
        """Hands it its job."""
        self._send(msgspec.json.encode(job))
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()

    def read(self, seconds: float) -> Chunks:
        """See `Running`."""
        chunks: Chunks = []
        with contextlib.suppress(queue.Empty):
            chunks.append(self._chunks.get(timeout=max(seconds, 0.001)))
            while len(chunks) < 32:
                chunks.append(self._chunks.get_nowait())
        if not self._ready:  # its first byte only says that it has loaded
            for place, (source, data) in enumerate(chunks):
                if source == "report":
                    chunks[place] = (source, data[1:])
                    self._ready = True
                    break
        return chunks

    def is_ready(self) -> bool:
        """Whether it has loaded what is needed."""
        return self._ready

    def ended(self) -> bool:
        """See `Running`."""
        return self._process.poll() is not None

    def close(self) -> None:
        """See `Running`. A grandchild may hold the pipes: their readers are left to it."""
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()

    def _send(self, line: bytes) -> None:
        with contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.write(line + b"\n")

    def _read_beside(self, source: str, pipe: IO[bytes]) -> None:
        def copy() -> None:
            with contextlib.suppress(OSError, ValueError):
                while data := pipe.read(CHUNK):
                    self._chunks.put((source, data))

        threading.Thread(target=copy, daemon=True).start()
