"""The pytest plugin in the child: loads the submission, runs the tests, reports each case.

Nothing that a submission may change decides: what is used here is bound before its code runs; a
case counts as passed only where the test's own function came to its end.
"""

from __future__ import annotations

import contextlib
import functools
import re
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from . import api
from .guard import NotAllowedError
from .hiding import HiddenError
from .integrity import Snapshot
from .learner_place import place_in_traceback
from .refusals import replaced
from .visible import visible_parts
from .watchdog import Watchdog
from .wire import Report

Prepare = Callable[[list[types.ModuleType]], tuple[Watchdog, types.ModuleType | None]]
OUTCOMES = (KeyboardInterrupt, SystemExit, GeneratorExit)


class EndedItselfError(AssertionError):
    """The learner's code tried to end or skip the test."""


class CollectPlugin:
    """Only says which tests there are."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Tells an error in `test.py`."""
        if report.failed:
            self._report({"event": "broken", "text": str(report.longrepr)[-2000:]})

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Tells the tests."""
        cases = [describe(item) for item in session.items]
        self._report({"event": "tests", "tests": cases})


class JudgePlugin(CollectPlugin):
    """Runs the tests on the submission.

    Args:
        report: where cases go.
        prepare: called when `test.py` is imported; locks the process and loads the submission.
        snapshot: takes one of the functions that judge.
        path: the submission's file, in tracebacks.
        source: its lines.
    """

    def __init__(
        self,
        report: Report,
        prepare: Prepare,
        snapshot: Callable[[], Snapshot],
        path: str,
        source: list[str],
    ) -> None:
        super().__init__(report)
        self._prepare = prepare
        self._snapshot = snapshot
        self._changed: Callable[[], str] = str
        self._path = path
        self._source = source
        self._module: types.ModuleType | None = None
        self._watchdog: Watchdog | None = None
        self._finished: set[str] = set()

    @pytest.fixture(scope="session")
    def submission(self) -> types.ModuleType:
        """The learner's module."""
        assert self._module is not None
        return self._module

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Wraps each test, then loads the submission."""
        for item in session.items:
            if isinstance(item, pytest.Function):
                item.obj = self._proven(item.obj, item.name)
        modules = {
            item.module.__name__: item.module
            for item in session.items
            if isinstance(item, pytest.Function)
        }
        self._changed = self._snapshot().changed
        self._watchdog, self._module = self._prepare(list(modules.values()))
        changed = self._changed()
        if changed:
            self._report({"event": "load_error", "message": replaced(changed)})
            self._module = None
        if self._module is None:
            session.items.clear()

    def _proven(self, function: Callable[..., Any], name: str) -> Callable[..., Any]:
        """`function`, which leaves a mark where it comes to its end."""
        finished, skips = self._finished.add, (pytest.skip.Exception, pytest.xfail.Exception)
        leaving = (*OUTCOMES, *skips, pytest.exit.Exception)

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> None:
            try:
                function(*args, **kwargs)
            except leaving as error:
                raise EndedItselfError(_leaving_message(error)) from error
            finished(name)

        return run

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Tells that a test begins and has it watched."""
        api.forget_input()
        self._report({"event": "start", "case": item.name})
        assert self._watchdog is not None
        self._watchdog.begin()
        try:
            return (yield)
        finally:
            self._watchdog.end()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Iterator[None]:
        """Reports a case."""
        result = yield
        if call.when == "call" or call.excinfo is not None:
            case = {"event": "case", "case": item.name, "seconds": round(call.duration, 4)}
            if call.excinfo is None:
                proven = item.name in self._finished
                case["status"] = "passed" if proven else "error"
            else:
                case |= {"status": "failed", **self._failure(call.excinfo.value)}
                case["input"] = case["input"] or _parameters(item)
            self._report(case)
        return result

    def pytest_sessionfinish(self) -> None:
        """Tells whether the tools of the judge are as they were, and that this is the end."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        self._report({"event": "end", "changed": self._changed()})

    def _failure(self, error: BaseException) -> dict[str, Any]:
        """What a failed test has to say."""
        told: dict[str, Any] = {
            "input": api.current_input(),
            "stream": api.current_stream(),
            "kind": type(error).__name__,
        }
        if isinstance(error, api.MismatchError):
            found = api.known_failure()
            same = found is not None and found["got"] == error.got
            shown = {k: found[k] for k in ("input", "stream")} if found and same else {}
            return (
                told
                | shown
                | {"message": error.message, "expected": error.expected, "got": error.got}
            )
        cause = (
            error.__cause__ if isinstance(error, EndedItselfError) and error.__cause__ else error
        )
        place = place_in_traceback(cause.__traceback__, self._path, self._source)
        return told | {"message": explain(error, place is not None), "place": place}


def explain(error: BaseException, in_learners_code: bool) -> str:
    """One or two sentences about an exception."""
    name, text = type(error).__name__, _text_of(error)
    if isinstance(error, EndedItselfError):
        return text
    if isinstance(error, (NotAllowedError, HiddenError)):
        return f"{text[:1].upper()}{text[1:]}."
    if isinstance(error, MemoryError):
        return "Your code asked for more memory than a submission may use."
    if isinstance(error, RecursionError):
        return "Your function calls itself without end (RecursionError)."
    if in_learners_code:
        return f"Your code raised {name}" + (f": {text}" if text else ".")
    if isinstance(error, AssertionError):
        return text or "The test's assertion doesn't hold."
    return f"The test couldn't work with what your code gave it: {name}: {text}"


def describe(item: pytest.Item) -> dict[str, Any]:
    """A test's name, its property and where the lesson tells about it, from its docstring."""
    text = getattr(getattr(item, "obj", None), "__doc__", None) or ""
    see = re.search(r"(?m)^\s*See:\s*(.+)$", text)
    words = " ".join(re.sub(r"(?m)^\s*See:.*$", "", text).split("\n\n")[0].split())
    return {
        "name": item.name,
        "property": words,
        "see": see[1].strip() if see else "",
        "example": item.name.startswith("test_example_"),
    }


def _parameters(item: pytest.Item) -> dict[str, str]:
    """A parametrized test's parameters but what is expected, made visible."""
    callspec = getattr(item, "callspec", None)
    values = dict(callspec.params) if callspec else {}
    return visible_parts({k: v for k, v in values.items() if not k.startswith("expected")})


def _leaving_message(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return "Your code called sys.exit(), which ends the whole program: return a value instead."
    return f"Your code tried to leave the test by {type(error).__name__}."


def _text_of(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        return ""
    lines = [line for line in text.strip().splitlines() if line.strip()][:4]
    return "\n".join(lines)[:500]
