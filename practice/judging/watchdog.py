"""A thread in the child that says, shortly before the deadline, where the learner's code is.

It takes a look at the main thread's stack from beside, so no ``except`` around a loop can catch it.
Ending the process is the supervisor's business. Where C code keeps all threads from running,
faulthandler, which needs no Python, writes the lines to a file; only the values are missing then.
"""

from __future__ import annotations

import faulthandler
import sys
import threading
import time
from collections.abc import Callable
from typing import IO, Any

from . import api
from .learner_place import place_in_stack
from .wire import Report

EARLY = 0.85  # of the deadline
WAITING_COUNTS = 0.5  # a second of waiting, against a second of computing


class Watchdog:
    """Watches the main thread.

    Args:
        report: where to tell it.
        seconds: the deadline of a test.
        path: the submission's file.
        source: its lines.
        dump: file for faulthandler.
    """

    def __init__(
        self, report: Report, seconds: float, path: str, source: list[str], dump: IO[str]
    ) -> None:
        self._report = report
        self._seconds = seconds * EARLY
        self._path = path
        self._source = source
        self._dump = dump
        self._main = threading.get_ident()
        self._started: tuple[float, float] | None = None
        self._told = False

    def start(self) -> None:
        """Starts the thread; all that it uses is bound before the learner's code runs."""
        clocks = (time.monotonic, time.process_time)
        arguments = (time.sleep, clocks, sys._current_frames)
        threading.Thread(target=self._watch, args=arguments, daemon=True).start()

    def begin(self) -> None:
        """A test begins."""
        self._told = False
        self._started = (time.monotonic(), time.process_time())
        faulthandler.dump_traceback_later(self._seconds, repeat=True, file=self._dump)

    def end(self) -> None:
        """It has ended."""
        self._started = None
        faulthandler.cancel_dump_traceback_later()

    def _watch(
        self,
        sleep: Callable[[float], None],
        clocks: tuple[Callable[[], float], Callable[[], float]],
        frames: Callable[[], dict[int, Any]],
    ) -> None:
        while True:
            sleep(0.03)
            started = self._started
            if started is None or self._told:
                continue
            wall, computed = (clock() - then for clock, then in zip(clocks, started, strict=True))
            if max(computed, wall * WAITING_COUNTS) > self._seconds:
                self._told = True
                self._tell(frames)

    def _tell(self, frames: Callable[[], dict[int, Any]]) -> None:
        try:
            place = place_in_stack(frames().get(self._main), self._path, self._source)
        except Exception:  # the stack moves while it is read: then without a place
            place = None
        try:
            seen, stream = api.current_input(), api.current_stream()
        except Exception:
            seen, stream = {}, None
        told = {"event": "stuck", "place": place, "input": seen, "stream": stream}
        self._report({**told, "failure": api.known_failure()})
