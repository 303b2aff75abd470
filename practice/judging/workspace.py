"""The learner's own files: one for each exercise, never overwritten."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

from .exercises import Exercise
from .paths import workspace_dir, write_atomically
from .verdict import Case, Verdict


def submission_path(exercise: Exercise) -> Path:
    """Where the learner's file for an exercise is."""
    return workspace_dir() / f"{exercise.id}.py"


def start(exercise: Exercise) -> tuple[Path, bool]:
    """Puts the starter into the workspace; returns its path and whether it is new there."""
    path = submission_path(exercise)
    if path.exists():
        return path, False
    write_atomically(path, exercise.read("starter.py"))
    return path, True


def save(exercise: Exercise, source: str) -> Path:
    """Writes a notebook cell as the learner's file; another text that is there goes to a backup."""
    path = submission_path(exercise)
    if path.exists() and path.read_text(encoding="utf-8", errors="replace") != source:
        last = _last_saved(exercise)
        if last is None or last != path.read_text(encoding="utf-8", errors="replace"):
            back_up(path)
    write_atomically(path, source)
    write_atomically(_saved_path(exercise), source)
    return path


def reset(exercise: Exercise) -> tuple[Path, Path | None]:
    """Puts the starter back; returns its path and the backup of what was there."""
    path = submission_path(exercise)
    backup = back_up(path) if path.exists() else None
    write_atomically(path, exercise.read("starter.py"))
    return path, backup


def back_up(path: Path) -> Path:
    """Copies a file to ``backups/``, with the date and time in its name."""
    stamp = datetime.now().strftime("%Y-%m-%d-%H%M%S")
    folder = path.parent / "backups"
    for number in range(1000):
        more = f"-{number}" if number else ""
        backup = folder / f"{path.stem}.{stamp}{more}{path.suffix}"
        if not backup.exists():
            break
    folder.mkdir(parents=True, exist_ok=True)
    backup.write_bytes(path.read_bytes())
    return backup


def keep_failure(exercise: Exercise, verdict: Verdict) -> None:
    """Keeps the first failing input for `replay`, or forgets the one before when all is well."""
    path = _failure_path(exercise)
    failing = next((c for c in verdict.cases if c.status != "passed" and c.stream), None)
    if failing is None:
        path.unlink(missing_ok=True)
        return
    kept = {"case": failing.name, "property": failing.property, "stream": failing.stream,
            "expected": failing.expected, "got": failing.got}  # fmt: skip
    write_atomically(path, json.dumps(kept, ensure_ascii=False, indent=1))


def kept_failure(exercise: Exercise) -> Case | None:
    """The input that failed last, as `keep_failure` kept it."""
    try:
        kept = json.loads(_failure_path(exercise).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return Case(kept["case"], "failed", kept["property"], expected=kept["expected"],
                got=kept["got"], stream=kept["stream"])  # fmt: skip


def _failure_path(exercise: Exercise) -> Path:
    return workspace_dir() / ".judge" / f"{exercise.id}.failing.json"


def _saved_path(exercise: Exercise) -> Path:
    return workspace_dir() / ".judge" / f"{exercise.id}.saved.py"


def _last_saved(exercise: Exercise) -> str | None:
    try:
        return _saved_path(exercise).read_text(encoding="utf-8")
    except OSError:
        return None
