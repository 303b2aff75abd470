"""The warm process: has everything loaded, and runs one submission after the other.

``python -m practice.judging.server`` reads requests from standard input and writes answers to
standard output, one JSON document a line. It ends when its input does.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import msgspec

from .assemble import assemble
from .exercises import Exercise, ExerciseError, Needs, load_exercise
from .job import SUBMISSION, Job, make_job
from .killing import kill_all
from .limits import become_subreaper
from .messages import Answer, Request
from .paths import cache_dir, write_atomically
from .preload import preload
from .process import Forked, Running, Spawned, can_fork
from .supervise import RunResult, Supervisor, remove_folder


class Server:
    """Answers requests in this process."""

    def __init__(self) -> None:
        self._tests: dict[str, list[dict[str, Any]]] = {}
        self._ready: Spawned | None = None

    def answer(self, request: Request) -> Answer:
        """The answer to a request; never raises."""
        try:
            exercise = load_exercise(Path(request.folder))
            tests = self._tests_of(exercise)
            if request.source is None:
                return Answer()
            job, result = self._run(exercise, request)
            return Answer(assemble(exercise, job, tests, result, request.file))
        except ExerciseError as error:
            return Answer(error=str(error))
        except Exception:
            return Answer(error=f"the judge itself failed:\n{traceback.format_exc()[-3000:]}")

    def close(self) -> None:
        """Ends the process that stands ready."""
        if self._ready is not None:
            kill_all(self._ready.pid, {}, frozenset())
            self._ready = None

    def _tests_of(self, exercise: Exercise) -> list[dict[str, Any]]:
        """The tests of an exercise, listed without any submission; remembered by its content."""
        key = exercise.content_hash
        if key not in self._tests:
            path = cache_dir() / "tests" / f"{exercise.id}-{key}.json"
            with contextlib.suppress(OSError, msgspec.DecodeError):
                self._tests[key] = msgspec.json.decode(path.read_bytes(), type=list[dict[str, Any]])
        if key in self._tests:
            self._make_ready(exercise.needs)
            return self._tests[key]
        _, result = self._run(exercise, Request(exercise.folder))
        broken, found = result.last("broken"), result.last("tests")
        if broken or not found or not found["tests"]:
            why = broken["text"] if broken else "no test was found"
            raise ExerciseError(f"{exercise.id}: test.py can't be used: {why}")
        self._tests[key] = found["tests"]
        write_atomically(path, msgspec.json.encode(found["tests"]).decode())
        return self._tests[key]

    def _run(self, exercise: Exercise, request: Request) -> tuple[Job, RunResult]:
        source, seed = request.source, request.seed
        folder = Path(tempfile.mkdtemp(prefix="judge-")).resolve()
        try:
            job = make_job(exercise, source, folder, seed, request.allow_reference)
            (folder / SUBMISSION).write_text(source or "", encoding="utf-8", newline="\n")
            running = self._start(job)
            keep = frozenset([self._ready.pid] if self._ready else [])
            return job, Supervisor(job, running, keep).watch()
        finally:
            remove_folder(folder)

    def _make_ready(self, needs: Needs) -> None:
        if can_fork():
            preload(needs)
        elif self._ready is None or self._ready.needs != needs or self._ready.ended():
            self.close()
            self._ready = Spawned(needs)

    def _start(self, job: Job) -> Running:
        self._make_ready(job.needs)
        if can_fork():
            return Forked(job)
        child = self._ready
        assert child is not None
        while not child.is_ready() and not child.ended():
            child.read(0.2)
        child.run(job)
        self._ready = Spawned(job.needs)
        return child


def main() -> None:
    """Reads requests until there are no more."""
    become_subreaper()
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever a library prints isn't an answer
    server = Server()
    if can_fork():
        importlib.import_module("practice.judging.child")  # here once, not in each fork
    try:
        for line in sys.stdin.buffer:
            answer = server.answer(msgspec.json.decode(line, type=Request))
            answers.write(msgspec.json.encode(answer) + b"\n")
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    finally:
        server.close()


if __name__ == "__main__":
    main()
