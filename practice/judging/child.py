"""The process that runs one submission, from its first line to its last.

Forked from the warm process, or started by ``python -m practice.judging.child`` where the OS can't
fork: then it loads what is needed, waits for its job on standard input, and runs one only.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
import types
from pathlib import Path
from typing import Any, TextIO

import msgspec
import pytest
from hypothesis import configuration, core, settings

from . import hiding, landlock, limits
from .exercises import Needs
from .guard import Guard, secrets_of
from .job import Job
from .learner_place import place_in_traceback
from .paths import ROOT
from .plugin import CollectPlugin, JudgePlugin, explain
from .preload import PYTEST_OPTIONS, preload, snapshot
from .watchdog import Watchdog
from .wire import Report, make_reporter

DUMP = "faulthandler.txt"
MODULE = "submission"


def run_job(job: Job, report_fd: int) -> None:
    """Runs the job and ends the process. Reports go to `report_fd`, all output to 1 and 2."""
    leave, report = os._exit, make_reporter(report_fd, job.key)
    try:
        _settle(job)
        collect = job.source is None
        plugin = CollectPlugin(report) if collect else Submission(job, report).plugin()
        options = [*PYTEST_OPTIONS, *(["--collect-only"] if collect else [])]
        home = str(Path(job.test).parent)
        pytest.main(
            [*options, f"--rootdir={home}", f"--confcutdir={home}", job.test], plugins=[plugin]
        )
    except BaseException:  # whatever happened, this process doesn't go on as the judge's copy
        report({"event": "broken", "text": traceback.format_exc()[-2000:]})
    finally:
        leave(0)


def _settle(job: Job) -> None:
    """Gives the process its own folder, its own streams and the default signal handlers."""
    limits.die_with_parent()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    sys.dont_write_bytecode = True
    sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115
    sys.stdout, sys.stderr = _text_to(1), _text_to(2)
    os.chdir(job.folder)
    for name in ("TMPDIR", "TEMP", "TMP", "HOME", "USERPROFILE"):
        os.environ[name] = job.folder
    configuration.set_hypothesis_home_dir(Path(job.folder, ".hypothesis"))
    if job.seed:
        core.global_force_seed = job.seed  # type: ignore[assignment]
        settings.register_profile("seeded", settings.get_profile("judge"), derandomize=False)
        settings.load_profile("seeded")


def _text_to(fd: int) -> TextIO:
    # By lines: what was printed before a crash is seen, and in its order with what went to stderr.
    return open(fd, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)


class Submission:
    """The learner's code on its way into the process."""

    def __init__(self, job: Job, report: Report) -> None:
        assert job.source is not None
        self._job = job
        self._report = report
        self._path = str(job.submission)
        self._lines = job.source.splitlines()
        self._compile = compile
        self._refusals = 0

    def plugin(self) -> JudgePlugin:
        """The plugin that loads and judges it."""
        return JudgePlugin(self._report, self._prepare, snapshot, self._path, self._lines)

    def _prepare(self, tests: list[types.ModuleType]) -> tuple[Watchdog, types.ModuleType | None]:
        """Locks the process, then loads the submission; None where that fails."""
        job = self._job
        dump = Path(job.folder, DUMP).open("w", encoding="utf-8")  # noqa: SIM115
        watchdog = Watchdog(self._report, job.limits.test_seconds, self._path, self._lines, dump)
        secrets = () if job.allow_reference else secrets_of(Path(job.exercises), ROOT)
        source = None if job.allow_reference else ROOT / "minisgl"
        guard = Guard(Path(job.folder), secrets, source)
        guard.install(self._refused)
        landlock.confine_writes(Path(job.folder))
        limits.limit_process(job.limits.memory_mb)
        watchdog.start()
        if not job.allow_reference:
            hiding.hide_reference(job.hide, tests, guard)
        hiding.forget_judge()
        self._report({"event": "load"})
        watchdog.begin()
        guard.armed = True
        try:
            return watchdog, self._load()
        finally:
            watchdog.end()

    def _load(self) -> types.ModuleType | None:
        module = types.ModuleType(MODULE)
        module.__file__ = self._path
        sys.modules[MODULE] = module
        assert self._job.source is not None
        try:
            exec(self._compile(self._job.source, self._path, "exec"), vars(module))
        except SyntaxError as error:
            self._tell(_syntax_error(error, self._path, self._lines))
            return None
        except BaseException as error:
            place = place_in_traceback(error.__traceback__, self._path, self._lines)
            self._tell({"message": _load_message(error), "place": place})
            return None
        missing = [name for name in self._job.symbols if name not in vars(module)]
        if missing:
            self._tell({"message": f"Your file doesn't define {' and '.join(missing)}."})
            return None
        return module

    def _tell(self, problem: dict[str, Any]) -> None:
        self._report({"event": "load_error", **problem})

    def _refused(self, act: str) -> None:
        self._refusals += 1
        if self._refusals <= 5:
            self._report({"event": "refused", "act": act})


def _syntax_error(error: SyntaxError, path: str, lines: list[str]) -> dict[str, Any]:
    line = error.lineno or 0
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    place = {"line": line, "text": text} if error.filename == path and line else None
    return {"message": f"Python can't read your file: {error.msg}.", "place": place}


def _load_message(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return "Your file calls sys.exit() while it is loaded: take that out."
    said = explain(error, in_learners_code=True)
    return said.replace("Your code raised", "While your file was loaded it raised", 1)


def main() -> None:
    """Waits as the judge's ready child: its needs on the first line, its job on the second."""
    report_fd = os.dup(1)
    os.dup2(2, 1)
    preload(msgspec.json.decode(sys.stdin.buffer.readline(), type=Needs))
    os.write(report_fd, b"!")
    line = sys.stdin.buffer.readline()
    if line:
        run_job(msgspec.json.decode(line, type=Job), report_fd)


if __name__ == "__main__":
    main()
