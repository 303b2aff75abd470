"""How far the learner is: one JSON file in the workspace.

Kept by exercise ID and content hash, so it survives updates of the course: what was passed stays
passed, and where the exercise's tests have changed since, that is said.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from .exercises import Exercise
from .paths import workspace_dir, write_atomically
from .verdict import Verdict

State = Literal["passed", "passed_before", "trying", "started", "new"]


class Record(msgspec.Struct):
    """What is remembered of one exercise.

    Attributes:
        passed: content hash → when it was first passed.
        attempts: how many verdicts there were.
        last_status: of the last verdict.
        passed_source: hash of the text that passed last.
        hints: how many levels were shown.
        revealed: when the solution was shown before passing, or an empty text.
    """

    passed: dict[str, str] = {}
    attempts: int = 0
    last_status: str = ""
    passed_source: str = ""
    hints: int = 0
    revealed: str = ""


class Progress(msgspec.Struct):
    """All that is remembered.

    Attributes:
        records: by exercise ID; those of exercises that are gone are kept.
        version: of this structure.
    """

    records: dict[str, Record] = {}
    version: int = 1

    def of(self, exercise: Exercise) -> Record:
        """The record of an exercise."""
        return self.records.setdefault(exercise.id, Record())

    def state(self, exercise: Exercise) -> State:
        """How far an exercise is."""
        record = self.records.get(exercise.id, Record())
        if exercise.content_hash in record.passed:
            return "passed"
        if record.passed:
            return "passed_before"
        if record.attempts:
            return "trying"
        return "started" if (workspace_dir() / f"{exercise.id}.py").exists() else "new"

    def has_passed(self, exercise: Exercise) -> bool:
        """Whether the exercise was ever passed."""
        return bool(self.records.get(exercise.id, Record()).passed)

    def note(self, exercise: Exercise, verdict: Verdict) -> None:
        """Remembers a verdict."""
        if verdict.status == "not_started":
            return
        record = self.of(exercise)
        record.attempts += 1
        record.last_status = verdict.status
        if verdict.passed:
            record.passed.setdefault(verdict.content_hash, now())
            record.passed_source = verdict.source_hash

    def merge(self, other: Progress) -> None:
        """Adds what `other` knows; nothing is taken back."""
        for name, theirs in other.records.items():
            mine = self.records.setdefault(name, Record())
            mine.passed = {**theirs.passed, **mine.passed}
            mine.attempts = max(mine.attempts, theirs.attempts)
            mine.hints = max(mine.hints, theirs.hints)
            mine.revealed = mine.revealed or theirs.revealed
            mine.passed_source = mine.passed_source or theirs.passed_source
            mine.last_status = mine.last_status or theirs.last_status


class ProgressError(ValueError):
    """A file that doesn't hold progress."""


def progress_path() -> Path:
    """Where it is kept."""
    return workspace_dir() / "progress.json"


def load_progress() -> Progress:
    """What is remembered; a file that can't be read is put aside, never thrown away."""
    path = progress_path()
    try:
        return msgspec.json.decode(path.read_bytes(), type=Progress)
    except FileNotFoundError:
        return Progress()
    except (msgspec.DecodeError, OSError):
        path.replace(path.with_name(f"progress.broken-{now().replace(':', '')}.json"))
        return Progress()


def save_progress(progress: Progress) -> None:
    """Writes it, atomically."""
    write_atomically(progress_path(), _text(progress))


def export_progress(target: Path) -> int:
    """Writes progress and the learner's files to one JSON file; returns how many files."""
    files = {p.name: p.read_text(encoding="utf-8", errors="replace")
             for p in sorted(workspace_dir().glob("*.py"))}  # fmt: skip
    export = {"progress": msgspec.to_builtins(load_progress()), "files": files}
    write_atomically(target, msgspec.json.format(msgspec.json.encode(export)).decode() + "\n")
    return len(files)


def import_progress(source: Path) -> tuple[int, list[str]]:
    """Adds what an export holds; files that are here already stay as they are.

    Returns:
        How many files were added, and the names of those that were left alone.

    Raises:
        ProgressError: `source` isn't an export.
    """
    try:
        export = msgspec.json.decode(source.read_bytes(), type=Export)
    except (msgspec.DecodeError, OSError) as error:
        raise ProgressError(f"{source} can't be imported: {error}") from None
    progress = load_progress()
    progress.merge(export.progress)
    added, left = 0, []
    for name, text in export.files.items():
        path = workspace_dir() / Path(name).name
        if path.exists():
            if path.read_text(encoding="utf-8", errors="replace") != text:
                left.append(path.name)
        elif path.suffix == ".py":
            write_atomically(path, text)
            added += 1
    save_progress(progress)
    return added, left


class Export(msgspec.Struct):
    """The file of `export_progress`."""

    progress: Progress
    files: dict[str, str] = {}


def now() -> str:
    """The time, as it is kept."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _text(progress: Progress) -> str:
    return msgspec.json.format(msgspec.json.encode(progress)).decode() + "\n"
