"""What the judge hands to the process that runs a submission."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from .exercises import Exercise, Needs

KEY_BYTES = 32
SUBMISSION = "submission.py"


class Limits(msgspec.Struct, frozen=True):
    """What a submission may use.

    Attributes:
        test_seconds: processor time a test; waiting counts half.
        seconds: processor time in all; waiting counts half.
        memory_mb: beyond what the warm process has.
        processes: that the submission started, at once.
        output_bytes: of its output that are kept.
    """

    test_seconds: float = 4
    seconds: float = 30
    memory_mb: int = 1024
    processes: int = 16
    output_bytes: int = 16_000


class Job(msgspec.Struct, frozen=True):
    """One run.

    Attributes:
        test: the exercise's `test.py`.
        needs: what to have loaded.
        source: the submission's text; None only lists the tests.
        symbols: what it must define.
        hide: names in `minisgl` that it may not see.
        seed: of the property tests; 0 stands for the seed that each test has by itself.
        limits: what it may use.
        folder: the run's own folder, made and removed by the judge.
        key: signs the reports.
        exercises: the folder whose solutions it may not read.
        allow_reference: a teacher's switch: nothing is hidden.
    """

    test: str
    needs: Needs
    source: str | None
    symbols: tuple[str, ...]
    hide: tuple[str, ...]
    limits: Limits
    folder: str
    key: bytes
    seed: int = 0
    exercises: str = ""
    allow_reference: bool = False

    @property
    def submission(self) -> Path:
        """Where the submission's text lies during the run."""
        return Path(self.folder, SUBMISSION)


def make_job(
    exercise: Exercise,
    source: str | None,
    folder: Path,
    seed: int = 0,
    allow_reference: bool = False,
) -> Job:
    """The job that judges `source`, or lists the tests of `exercise` for None."""
    head = exercise.head
    return Job(
        test=str(exercise.path / "test.py"),
        needs=exercise.needs,
        source=source,
        symbols=tuple(head.symbols),
        hide=(*head.symbols, *head.hide),
        limits=Limits(head.seconds_per_test, head.seconds, head.memory_mb),
        folder=str(folder),
        key=os.urandom(KEY_BYTES),
        seed=seed,
        exercises=str(exercise.path.parent),
        allow_reference=allow_reference,
    )
