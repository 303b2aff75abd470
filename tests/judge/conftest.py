"""The judge under test: one warm process for all tests that don't need their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from practice.judging.client import Judge
from practice.judging.exercises import Exercise, load_exercise
from practice.judging.paths import ROOT
from practice.judging.verdict import Verdict

HERE = Path(__file__).parent
OWN_EXERCISES = HERE / "exercises"

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session", autouse=True)
def _own_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Neither the learner's workspace nor the judge's cache is touched by tests.

    Folders of runs have a place of their own, so that those of other judges aren't taken for ours.
    """
    folder = tmp_path_factory.mktemp("judge")
    moved = {"MINISGL_WORKSPACE": "workspace", "MINISGL_JUDGE_CACHE": "cache"}
    moved |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), "runs")
    (folder / "runs").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for variable, name in moved.items():
            patch.setenv(variable, str(folder / name))
        patch.delenv("MINISGL_JUDGE_ALLOW_REFERENCE", raising=False)
        yield


@pytest.fixture(scope="session")
def judge(_own_folders: None) -> Iterator[Judge]:
    with Judge() as warm:
        yield warm


@pytest.fixture(scope="session")
def double() -> Exercise:
    """The exercise of the tests: short limits, three tests, three known mistakes."""
    return load_exercise(OWN_EXERCISES / "double")


@pytest.fixture
def verdict_on(judge: Judge, double: Exercise) -> Callable[[str], Verdict]:
    return lambda source: judge.judge(double, source, "double.py")


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """Runs the command as a learner would, from another folder, through pipes."""

    def run(
        *arguments: str, exercises: Path = OWN_EXERCISES, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        workspace = {"MINISGL_WORKSPACE": str(tmp_path / "ws"), "MINISGL_EXERCISES": str(exercises)}
        return subprocess.run(
            [sys.executable, str(ROOT / "practice" / "judge.py"), *arguments],
            capture_output=True,
            encoding="utf-8",
            cwd=tmp_path,
            env={**os.environ, **workspace, **(env or {})},
            timeout=120,
        )

    return run
