"""The one loader of exercise folders. Anything missing or odd is an error that names it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec

from .front_matter import FrontMatterError, split_front_matter
from .paths import exercises_dir

FILES = ("exercise.md", "starter.py", "solution.py", "test.py", "hints.md")
ALLOWED_BESIDE = ("wrong", "data", "__pycache__")
DIFFICULTIES = ("easy", "medium", "hard")
HINT_LEVELS = 3
JUDGE_VERSION = 1  # part of the content hash: raise it when verdicts may differ


class ExerciseError(Exception):
    """An exercise folder that can't be used, or an ID that names none."""


class Needs(msgspec.Struct, frozen=True):
    """What must be loaded in the warm process before a submission runs.

    Attributes:
        modules: packages to import (``tokenizers``, ``torch``, ``transformers``).
        tokenizers: aliases of bundled tokenizers to load.
    """

    modules: tuple[str, ...] = ()
    tokenizers: tuple[str, ...] = ()


class Head(msgspec.Struct, forbid_unknown_fields=True):
    """The front matter of `exercise.md`; `AUTHORING.md` tells what each key means."""

    id: str
    title: str
    lesson: str
    difficulty: str
    minutes: int
    symbols: list[str]
    order: int = 0
    needs: list[str] = []
    tokenizers: list[str] = []
    hide: list[str] = []
    seconds_per_test: float = 4
    seconds: float = 30
    memory_mb: int = 1024


class Mistake(msgspec.Struct, frozen=True):
    """A wrong solution: its name, what to tell whoever makes it, the test that must catch it."""

    name: str
    diagnosis: str
    caught_by: str
    path: str


class Exercise(msgspec.Struct, frozen=True):
    """An exercise as its folder has it.

    Attributes:
        head: the front matter.
        statement: the text of `exercise.md` below it.
        hints: three texts, each saying more than the one before.
        mistakes: what is in `wrong/`.
        content_hash: changes with anything that can change a verdict.
    """

    folder: str
    head: Head
    statement: str
    hints: tuple[str, ...]
    mistakes: tuple[Mistake, ...]
    content_hash: str

    @property
    def id(self) -> str:
        """The folder's name."""
        return self.head.id

    @property
    def path(self) -> Path:
        """The folder."""
        return Path(self.folder)

    @property
    def needs(self) -> Needs:
        """What to load before."""
        return Needs(tuple(self.head.needs), tuple(self.head.tokenizers))

    def read(self, name: str) -> str:
        """The text of one of its files."""
        return (self.path / name).read_text(encoding="utf-8")


def load_exercises(folder: Path | None = None, problems: list[str] | None = None) -> list[Exercise]:
    """All exercises, in the order in which they are solved.

    Args:
        folder: where they are; by default the course's.
        problems: where given, what is wrong with a folder is added here and the others are loaded.

    Raises:
        ExerciseError: a folder is incomplete or odd.
    """
    folder = folder or exercises_dir()
    if not folder.is_dir():
        raise ExerciseError(f"there is no folder {folder}: is the course complete?")
    inside = sorted(p for p in folder.iterdir() if p.is_dir() and p.name[0] not in "._")
    exercises = []
    for path in inside:
        try:
            exercises.append(load_exercise(path))
        except ExerciseError as error:
            if problems is None:
                raise
            problems.append(str(error))
    return sorted(exercises, key=lambda e: (e.head.lesson, e.head.order, e.id))


def load_exercise(folder: Path) -> Exercise:
    """One exercise.

    Raises:
        ExerciseError: says the file and what is wrong with it.
    """
    folder = folder.resolve()  # it is read from other folders too
    for name in FILES:
        if not (folder / name).is_file():
            raise ExerciseError(f"{folder.name}: {name} is missing")
    for path in sorted(folder.iterdir()):
        if path.name not in (*FILES, *ALLOWED_BESIDE):
            raise ExerciseError(f"{folder.name}: {path.name} doesn't belong here")
    head, statement = _read_statement(folder)
    return Exercise(
        folder=str(folder),
        head=head,
        statement=statement,
        hints=_read_hints(folder),
        mistakes=_read_mistakes(folder),
        content_hash=_content_hash(folder),
    )


def _read_statement(folder: Path) -> tuple[Head, str]:
    where = f"{folder.name}: exercise.md"
    try:
        values, statement = split_front_matter((folder / "exercise.md").read_text("utf-8"))
        head = msgspec.convert(values, Head, strict=False)
    except (FrontMatterError, msgspec.ValidationError) as error:
        raise ExerciseError(f"{where}: {error}") from None
    checks: list[tuple[bool, str]] = [
        (head.id == folder.name, f"id is {head.id!r}, the folder is {folder.name!r}"),
        (head.difficulty in DIFFICULTIES, f"difficulty must be one of {', '.join(DIFFICULTIES)}"),
        (bool(head.symbols), "symbols must name what the learner defines"),
        (bool(statement.strip()), "there is no statement below the front matter"),
    ]
    for holds, problem in checks:
        if not holds:
            raise ExerciseError(f"{where}: {problem}")
    return head, statement


def _read_hints(folder: Path) -> tuple[str, ...]:
    parts = re.split(r"(?m)^## .*$", (folder / "hints.md").read_text("utf-8"))
    hints = tuple(part.strip() for part in parts[1:])
    if len(hints) != HINT_LEVELS or not all(hints):
        raise ExerciseError(
            f"{folder.name}: hints.md must have {HINT_LEVELS} parts, each with a heading '## ...' "
            f"and text below, it has {len([hint for hint in hints if hint])}"
        )
    return hints


def _read_mistakes(folder: Path) -> tuple[Mistake, ...]:
    paths = sorted((folder / "wrong").glob("*.py"))
    return tuple(_read_mistake(folder.name, path) for path in paths)


def _read_mistake(exercise: str, path: Path) -> Mistake:
    text = path.read_text("utf-8")
    where = f"{exercise}: wrong/{path.name}"
    caught = re.search(r"(?m)^# caught by: (test_\w+)$", text)
    if caught is None:
        raise ExerciseError(f"{where}: a line '# caught by: test_...' is missing")
    docstring = re.match(r'(?s)(?:#[^\n]*\n|\s)*"""(.+?)(?:\n\s*\n|""")', text)
    if docstring is None:
        raise ExerciseError(f"{where}: its docstring, the diagnosis, is missing")
    diagnosis = " ".join(docstring.group(1).split())
    return Mistake(path.stem, diagnosis, caught.group(1), str(path))


def _content_hash(folder: Path) -> str:
    """Of what a verdict depends on; the statement and hints may be reworded freely."""
    digest = hashlib.sha256(f"judge {JUDGE_VERSION}".encode())
    head, _ = split_front_matter((folder / "exercise.md").read_text("utf-8"))
    judged: dict[str, Any] = {k: v for k, v in head.items() if k not in ("title", "minutes")}
    digest.update(repr(sorted(judged.items())).encode())
    data = sorted(p for p in (folder / "data").rglob("*") if p.is_file())
    for path in [folder / "test.py", folder / "starter.py", *data]:
        digest.update(path.read_text("utf-8").encode() + b"\0")  # text: line ends don't count
    return digest.hexdigest()[:16]
