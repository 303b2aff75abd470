"""Commands for those who make and run the course: `check`, `doctor`, `grade`."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from . import landlock
from .client import Judge
from .exercises import Exercise, ExerciseError, load_exercises
from .find import find_exercise, known_exercises
from .grading import grade_folder
from .paths import cache_dir, exercises_dir, workspace_dir
from .process import can_fork
from .verdict import Verdict

LEAST_MISTAKES = 3


def check(options: Namespace) -> int:
    """Says what is wrong with the exercises; nothing where all is well."""
    if options.id:
        chosen = [find_exercise(options.id, known_exercises())]
        problems = 0
    else:
        broken: list[str] = []
        chosen = load_exercises(problems=broken)
        problems = len(broken)
        print("".join(f"{problem}\n" for problem in broken), end="")
    with Judge() as judge:
        for exercise in chosen:
            found = list(check_exercise(exercise, judge))
            problems += len(found)
            for problem in found:
                print(f"{exercise.id}: {problem}")
    return 1 if problems else 0


def check_exercise(exercise: Exercise, judge: Judge) -> Iterator[str]:
    """What is wrong with an exercise beyond what the loader finds."""
    solution = judge.judge(exercise, exercise.read("solution.py"), "solution.py")
    if not solution.passed:
        yield f"the solution doesn't pass: {_why(solution)}"
    for case in solution.cases:
        if not case.property or not case.see:
            yield f"{case.name} lacks a property or a 'See:' line in its docstring"
    if not any(case.example for case in solution.cases):
        yield "no test begins with test_example_"
    # A comment more, or the judge would call it untouched without running it.
    starter = judge.judge(exercise, exercise.read("starter.py") + "# run\n", "starter.py")
    if starter.status != "failed":
        yield f"the starter must fail a test, it is {starter.status}: {_why(starter)}"
    if len(exercise.mistakes) < LEAST_MISTAKES:
        yield f"wrong/ has {len(exercise.mistakes)} files, {LEAST_MISTAKES} are needed"
    yield from _check_mistakes(exercise, judge)
    yield from _check_files(exercise)


def _check_mistakes(exercise: Exercise, judge: Judge) -> Iterator[str]:
    from .mistakes import signature

    seen: dict[str, str] = {}
    for mistake in exercise.mistakes:
        source = Path(mistake.path).read_text(encoding="utf-8")
        verdict = judge.judge(exercise, source, mistake.path)
        failing = {case.name.partition("[")[0] for case in verdict.cases
                   if case.status in ("failed", "timeout", "error")}  # fmt: skip
        if mistake.caught_by not in failing:
            known = {case.name.partition("[")[0] for case in verdict.cases}
            more = "" if mistake.caught_by in known else " (there is no such test)"
            yield (
                f"wrong/{mistake.name}.py isn't caught by {mistake.caught_by}{more}, but by "
                f"{', '.join(sorted(failing)) or 'no test'}. {verdict.message}"
            )
        key = repr(sorted(signature(verdict).items()))
        if key in seen:
            yield f"wrong/{mistake.name}.py fails just as wrong/{seen[key]}.py does"
        seen[key] = mistake.name


def _check_files(exercise: Exercise) -> Iterator[str]:
    for path in sorted((exercise.path / "wrong").iterdir()):
        if path.suffix != ".py" and path.name != "__pycache__":
            yield f"wrong/{path.name} doesn't belong there"
    tests = exercise.read("test.py")
    packages = ("torch", "transformers")
    for package in packages:
        if f"import {package}" in tests and package not in exercise.head.needs:
            yield f"test.py imports {package}, which `needs` doesn't name"


def _why(verdict: Verdict) -> str:
    case = verdict.first_failure
    if verdict.message or case is None:
        return verdict.message
    told = case.message or f"expected {case.expected}, got {case.got}"
    return f"{case.name}: {told} {case.input or ''}"


def doctor(options: Namespace) -> int:
    """One line for each thing that the judge needs."""
    bad = 0
    for right, told in _findings():
        bad += not right
        print(f"{'ok  ' if right else 'BAD '} {told}")
    return 1 if bad else 0


def _findings() -> Iterator[tuple[bool, str]]:
    python = platform.python_version()
    yield sys.version_info[:2] >= (3, 11), f"Python {python} on {platform.system()}"
    how = "forked from a warm process" if can_fork() else "spawned; the next one stands ready"
    yield True, f"submissions are {how}"
    if sys.platform == "linux":
        known = landlock.version()
        told = f"version {known}" if known else "not in this kernel: the audit hook alone guards"
        yield True, f"Landlock: {told}"
    for name, folder in (("workspace", workspace_dir()), ("cache", cache_dir())):
        yield _can_write(folder), f"the {name} can be written: {folder}"
    free = shutil.disk_usage(tempfile.gettempdir()).free >> 20
    yield free > 200, f"{free:,} MB free for temporary files"
    try:
        exercises = load_exercises()
    except ExerciseError as error:
        yield False, str(error)
        return
    yield bool(exercises), f"{len(exercises)} exercises in {exercises_dir()}"
    yield from _try_it(exercises[0])


def _try_it(exercise: Exercise) -> Iterator[tuple[bool, str]]:
    with Judge() as judge:
        began = time.perf_counter()
        verdict = judge.judge(exercise, exercise.read("solution.py"), "solution.py")
        cold = time.perf_counter() - began
        began = time.perf_counter()
        judge.judge(exercise, exercise.read("solution.py"), "solution.py")
        warm = time.perf_counter() - began
    told = f"{exercise.id} judged: {verdict.status}, {cold:.1f} s, then {warm:.1f} s"
    yield verdict.passed, told if verdict.passed else f"{told}. {_why(verdict)}"


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def grade(options: Namespace) -> int:
    """Judges a class."""
    return grade_folder(options.folder, options.out, options.jobs, options.again)
