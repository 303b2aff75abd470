"""The way for systems that can't fork: a spawned process stands ready for the next submission."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from practice.judging.client import Judge
from practice.judging.exercises import Exercise


@pytest.fixture(scope="module")
def spawning(_own_folders: None) -> Iterator[Judge]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINISGL_JUDGE_SPAWN", "1")
        with Judge() as judge:
            yield judge


def test_right_wrong_endless_and_dead(spawning: Judge, double: Exercise) -> None:
    right = spawning.judge(double, "def double(text): return text + text")
    wrong = spawning.judge(double, "def double(text): return text")
    endless = spawning.judge(double, "def double(text):\n    while True: pass")
    dead = spawning.judge(double, "import os\ndef double(text): os._exit(0)")
    again = spawning.judge(double, "def double(text): return 2 * text")
    statuses = [verdict.status for verdict in (right, wrong, endless, dead, again)]
    assert statuses == ["passed", "failed", "timeout", "error", "passed"]
    case = endless.first_failure
    assert case is not None and case.place is not None and case.place.line == 2


def test_output_is_kept_apart_from_reports(spawning: Judge, double: Exercise) -> None:
    source = "import os\nos.write(1, b'5 passed')\ndef double(text): return text + text"
    verdict = spawning.judge(double, source)
    assert (verdict.status, verdict.output) == ("passed", "5 passed")
