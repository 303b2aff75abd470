"""``python -m benchmarks.judge``: from handing in to the verdict, cold and warm.

Cold is a judge that has to start its process and load what the exercise needs; warm is the next
submission in the same process, as in a notebook. The reference solution of each exercise is judged,
so its own tests' time is in it; "judge" is what the judge itself adds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from practice.judging.client import Judge
from practice.judging.exercises import Exercise
from practice.judging.find import find_exercise, known_exercises

COLD_BAR, WARM_BAR = 10.0, 1.0  # seconds


def measure(exercise: Exercise, rounds: int) -> tuple[float, float, float]:
    """Seconds: cold, warm (median), and what of the warm ones was spent in the tests (median)."""
    source = exercise.read("solution.py")
    with Judge() as judge:
        began = time.perf_counter()
        if not judge.judge(exercise, source).passed:
            raise SystemExit(f"{exercise.id}: the solution doesn't pass")
        cold = time.perf_counter() - began
        warm, tests = [], []
        for _ in range(rounds):
            began = time.perf_counter()
            verdict = judge.judge(exercise, source)
            warm.append(time.perf_counter() - began)
            tests.append(sum(case.seconds for case in verdict.cases))
    return cold, statistics.median(warm), statistics.median(tests)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a table; the exit status is 1 where an exercise is slower than its bar."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judge", description=__doc__)
    parser.add_argument("ids", nargs="*", help="exercises; by default all")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args(arguments)
    exercises = known_exercises()
    chosen = [find_exercise(name, exercises) for name in options.ids] or exercises
    table = Table("exercise", "cold", "warm", "of it tests", "judge", title="seconds")
    slow = []
    for exercise in chosen:
        cold, warm, tests = measure(exercise, options.rounds)
        row = [f"{value:.2f}" for value in (cold, warm, tests, warm - tests)]
        table.add_row(exercise.id, *row)
        if cold > COLD_BAR or warm > WARM_BAR:
            slow.append(exercise.id)
    Console().print(table)
    if slow:
        print(f"slower than {COLD_BAR:g} s cold or {WARM_BAR:g} s warm: {', '.join(slow)}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
