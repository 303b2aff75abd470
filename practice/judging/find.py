"""From what the learner typed to an exercise: its ID, its number, a unique beginning."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence

from .exercises import Exercise, ExerciseError, load_exercises


def known_exercises() -> list[Exercise]:
    """All exercises that can be used; one that can't is told of, and doesn't stop the others."""
    problems: list[str] = []
    exercises = load_exercises(problems=problems)
    for problem in problems:
        print(f"judge.py: left out: {problem}", file=sys.stderr)
    return exercises


def find_exercise(typed: str, exercises: Sequence[Exercise]) -> Exercise:
    """The exercise that `typed` means.

    Raises:
        ExerciseError: none or several; says the nearest.
    """
    ids = [exercise.id for exercise in exercises]
    word = typed.strip().lower().replace("_", "-").removesuffix(".py")
    if word in ids:
        return exercises[ids.index(word)]
    if word.isdecimal():
        if 1 <= int(word) <= len(ids):
            return exercises[int(word) - 1]
        raise ExerciseError(f"there is no exercise {word}: they are numbered 1 to {len(ids)}")
    matches = [name for name in ids if word and name.startswith(word)]
    if len(matches) == 1:
        return exercises[ids.index(matches[0])]
    if matches:
        raise ExerciseError(f"{typed!r} could be {_either(matches)}: type some more of it")
    near = difflib.get_close_matches(word, ids, n=2, cutoff=0.5)
    near = near or [name for name in ids if word and word in name]
    if near:
        raise ExerciseError(f"there is no exercise {typed!r}. Did you mean {_either(near)}?")
    raise ExerciseError(f"there is no exercise {typed!r}. `judge.py list` shows all of them")


def _either(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
