"""The judge as the command and the notebook use it: a warm process beside, started when needed."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import msgspec

from .assemble import source_hash
from .exercises import Exercise
from .messages import Answer, Request
from .paths import ROOT, reference_allowed
from .preload import environment
from .verdict import Verdict

LOADING_SECONDS = 120  # of torch and transformers from a slow disk
BETWEEN = 15  # the judge's own work around a run


class JudgeError(RuntimeError):
    """The judge itself can't work; says why."""


class Judge:
    """Judges submissions, one after the other, in a warm process of its own.

    Use it as a context manager; the process ends with it. Not for several threads at once.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[bytes] = queue.Queue()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def judge(self, exercise: Exercise, source: str, file: str = "", seed: int = 0) -> Verdict:
        """The verdict on `source`.

        Raises:
            JudgeError: the exercise is broken, or the judge can't be started.
        """
        untouched = source_hash(source) == source_hash(exercise.read("starter.py"))
        if untouched or not source.strip():
            return not_started(exercise, file, seed)
        request = Request(exercise.folder, source, file, seed, reference_allowed())
        answer = self._ask(request, exercise)
        if answer is None:
            answer = self._ask(request, exercise)  # the warm process had died before, or now
        if answer is None:
            return lost(exercise, source, file, seed)
        if answer.verdict is None:
            raise JudgeError(answer.error)
        return answer.verdict

    def make_ready(self, exercise: Exercise) -> None:
        """Loads what the exercise needs, so that the first verdict comes as fast as the others."""
        answer = self._ask(Request(exercise.folder), exercise)
        if answer is None or answer.error:
            raise JudgeError(answer.error if answer else "the judge's process doesn't start")

    def close(self) -> None:
        """Ends the warm process."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            if process.stdin:
                process.stdin.close()
        try:
            process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            end_with_children(process)

    def _ask(self, request: Request, exercise: Exercise) -> Answer | None:
        """The answer, or None where the warm process died or doesn't answer."""
        process = self._process or self._start()
        seconds = exercise.head.seconds * 2 + LOADING_SECONDS + BETWEEN
        try:
            assert process.stdin is not None
            process.stdin.write(msgspec.json.encode(request) + b"\n")
            process.stdin.flush()
            line = self._lines.get(timeout=seconds)
        except (OSError, queue.Empty):
            line = b""
        except BaseException:  # Ctrl-C: the answer to this would be taken for that to the next
            self._process = None
            end_with_children(process)
            raise
        if line:
            return msgspec.json.decode(line, type=Answer)
        self._process = None
        end_with_children(process)
        return None

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "practice.judging.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=environment(),
            start_new_session=True,  # Ctrl-C is the command's; it ends this process itself
        )
        lines: queue.Queue[bytes] = queue.Queue()
        assert process.stdout is not None
        threading.Thread(target=_copy_lines, args=(process.stdout, lines), daemon=True).start()
        self._process, self._lines = process, lines
        return process


def not_started(exercise: Exercise, file: str = "", seed: int = 0) -> Verdict:
    """The verdict on the untouched starter, without running anything."""
    return Verdict(
        exercise.id,
        exercise.head.title,
        "not_started",
        message="This is still the starter as it was given.",
        hint=f"hint {exercise.id}",
        file=file,
        seed=seed,
        content_hash=exercise.content_hash,
    )


def lost(exercise: Exercise, source: str, file: str, seed: int) -> Verdict:
    """The verdict on a submission that took the judge's process with it, twice."""
    return Verdict(
        exercise.id,
        exercise.head.title,
        "error",
        message="The judge's process ended while your code ran, twice. Does your code end others?",
        file=file,
        seed=seed,
        content_hash=exercise.content_hash,
        source_hash=source_hash(source),
    )


def read_submission(path: Path) -> str:
    """The text of a submission; a byte-order mark and other encodings don't stop it."""
    data = path.read_bytes()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("utf-8", errors="replace")


def _copy_lines(pipe: IO[bytes], lines: queue.Queue[bytes]) -> None:
    with contextlib.suppress(OSError, ValueError):
        for line in pipe:
            lines.put(line)
    lines.put(b"")


def end_with_children(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and all that it started."""
    import psutil

    with contextlib.suppress(psutil.Error):
        for child in psutil.Process(process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                child.kill()
    process.kill()
    process.wait()
