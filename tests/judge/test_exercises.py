"""All exercises of the course are as they should be: what ``judge.py check`` finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from practice.judging.client import Judge
from practice.judging.exercises import load_exercise, load_exercises
from practice.judging.maintain import check_exercise
from practice.judging.paths import ROOT

COURSE = ROOT / "practice" / "exercises"
FOLDERS = sorted(path for path in COURSE.iterdir() if path.is_dir() and path.name[0] not in "._")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_exercise_is_complete_and_judged_right(folder: Path, judge: Judge) -> None:
    assert list(check_exercise(load_exercise(folder), judge)) == []


def test_order_is_that_of_the_lessons() -> None:
    exercises = load_exercises(COURSE)
    assert len(exercises) == len(FOLDERS)
    places = [(exercise.head.lesson, exercise.head.order) for exercise in exercises]
    assert places == sorted(places)
    assert exercises[0].id == "warm-up"
