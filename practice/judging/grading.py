"""Judging a class: what was handed in, in parallel over the cores, resumable."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .assemble import source_hash
from .client import Judge, JudgeError
from .exercises import Exercise, ExerciseError
from .find import known_exercises
from .gathering import Entry, gather
from .grade_report import write_reports
from .mistakes import diagnose
from .paths import write_atomically
from .terminal import make_console
from .verdict import Verdict


class Graded(msgspec.Struct):
    """One cell of the table.

    Attributes:
        learner: a name from the files.
        exercise: its ID.
        verdict: on what was handed in.
    """

    learner: str
    exercise: str
    verdict: Verdict


def grade_folder(folder: Path, out: Path | None, jobs: int, again: bool) -> int:
    """Judges all that lies in `folder` and writes the results; returns the exit status.

    What was judged before, with the same exercise and the same text, is taken from the last run.
    """
    if not folder.is_dir():
        raise ExerciseError(f"there is no folder {folder}")
    exercises = known_exercises()
    out = out or folder / "results"
    entries, useless = gather(folder, exercises, ignore=out)
    if not entries:
        raise ExerciseError(
            f"nothing to judge in {folder}: put in one file, notebook, folder or zip per learner; "
            "files are named by exercise ID"
        )
    done = {} if again else _load_done(out)
    results = _judge_all(entries, exercises, done, out, jobs or os.cpu_count() or 1)
    write_reports(out, results, exercises)
    console = make_console()
    passed = sum(graded.verdict.passed for graded in results)
    learners = len({graded.learner for graded in results})
    console.print(f"{learners} learners, {len(results)} submissions, {passed} passed.")
    for name in useless:
        console.print(f"Nothing to judge in {name}", soft_wrap=True)
    console.print(f"See {out / 'results.html'}", soft_wrap=True)
    return 0 if passed == len(results) else 1


def _judge_all(
    entries: Sequence[Entry],
    exercises: Sequence[Exercise],
    done: dict[str, Verdict],
    out: Path,
    jobs: int,
) -> list[Graded]:
    """All verdicts, in the order of `entries`; each is kept on disk as soon as it is there."""
    by_id = {exercise.id: exercise for exercise in exercises}
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    found: dict[int, Verdict] = {}
    for place, entry in enumerate(entries):
        kept = done.get(_key(by_id[entry.exercise], entry.source))
        if kept is not None:
            found[place] = kept
    # One exercise after the other: then no process has to load what another exercise needs.
    open_places = [place for place in range(len(entries)) if place not in found]
    for place in sorted(open_places, key=lambda p: list(by_id).index(entries[p].exercise)):
        waiting.put(place)
    jobs = max(1, min(jobs, len(open_places)))
    columns = (TextColumn("judging"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=make_console()) as bar:
        task = bar.add_task("judging", total=len(entries), completed=len(found))

        def work() -> None:
            with Judge() as judge:
                while True:
                    try:
                        place = waiting.get_nowait()
                    except queue.Empty:
                        return
                    entry = entries[place]
                    verdict = _judge_one(by_id[entry.exercise], entry, judge)
                    found[place] = verdict
                    _keep(out, verdict, _key(by_id[entry.exercise], entry.source))
                    bar.advance(task)

        threads = [threading.Thread(target=work, daemon=True) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():  # in short steps, so that Ctrl-C is heard
                thread.join(0.2)
    return [
        Graded(entry.learner, entry.exercise, found[place])
        for place, entry in enumerate(entries)
        if place in found
    ]


def _judge_one(exercise: Exercise, entry: Entry, judge: Judge) -> Verdict:
    """One verdict; whatever goes wrong costs only this cell."""
    try:
        verdict = judge.judge(exercise, entry.source, entry.file)
        verdict.diagnosis = diagnose(exercise, verdict, judge)
        return verdict
    except (JudgeError, OSError) as error:
        return Verdict(
            exercise.id,
            exercise.head.title,
            "error",
            message=str(error),
            file=entry.file,
            content_hash=exercise.content_hash,
            source_hash=source_hash(entry.source),
        )


def _key(exercise: Exercise, source: str) -> str:
    return f"{exercise.id}-{exercise.content_hash}-{source_hash(source)}"


def _keep(out: Path, verdict: Verdict, key: str) -> None:
    write_atomically(out / ".done" / f"{key}.json", msgspec.json.encode(verdict).decode())


def _load_done(out: Path) -> dict[str, Verdict]:
    done = {}
    for path in (out / ".done").glob("*.json"):
        with contextlib.suppress(msgspec.DecodeError, OSError):
            done[path.stem] = msgspec.json.decode(path.read_bytes(), type=Verdict)
    return done
