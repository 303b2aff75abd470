"""All exercises of the course are as they should be: what ``judge.py check`` finds."""

from __future__ import annotations

import pytest

from practice.judging.client import Judge
from practice.judging.exercises import Exercise, load_exercises
from practice.judging.maintain import check_exercise
from practice.judging.paths import ROOT

EXERCISES = load_exercises(ROOT / "practice" / "exercises")


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.id)
def test_exercise_is_complete_and_judged_right(exercise: Exercise, judge: Judge) -> None:
    assert list(check_exercise(exercise, judge)) == []
