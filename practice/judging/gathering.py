"""Finds what learners handed in: files, notebooks, folders and zips, by learner and exercise.

``alice.ipynb``, ``alice/warm-up.py``, ``alice.zip`` with any of these in it, ``alice_warm-up.py``.
Nothing is unpacked to disk, and nothing of it is run here.
"""

from __future__ import annotations

import ast
import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from .exercises import Exercise, ExerciseError
from .find import find_exercise

BIGGEST = 5 << 20
MOST_FILES = 2000


@dataclass(frozen=True)
class Entry:
    """One submission: whose, for which exercise, its text, and the file that it is from."""

    learner: str
    exercise: str
    source: str
    file: str


def gather(
    folder: Path, exercises: Sequence[Exercise], ignore: Path | None = None
) -> tuple[list[Entry], list[str]]:
    """All submissions in `folder`, by learner; the later file of one exercise counts.

    Returns:
        The submissions, and the names of what lies there and holds none.
    """
    found: dict[tuple[str, str], Entry] = {}
    useless = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "__")) or (ignore and path.resolve() == ignore.resolve()):
            continue
        before = len(found)
        for learner, name, text in _texts(path):
            for exercise, source in _submissions(name, text, exercises):
                who = _without_id(learner, exercise)
                found[who, exercise] = Entry(who, exercise, source, name)
        if len(found) == before:
            useless.append(path.name)
    order = [exercise.id for exercise in exercises]
    entries = sorted(found.values(), key=lambda e: (_natural(e.learner), order.index(e.exercise)))
    return entries, useless


def _natural(name: str) -> list[tuple[int, str]]:
    """Sorts learner2 before learner10."""
    parts = re.findall(r"\d+|\D+", name.lower())
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _without_id(learner: str, exercise: str) -> str:
    """``alice`` for ``alice_warm-up``."""
    stem = re.sub(rf"[-_. ]+{re.escape(exercise).replace('-', '[-_]')}$", "", learner, flags=re.I)
    return "".join(stem.splitlines()) or learner


def _texts(path: Path) -> Iterator[tuple[str, str, str]]:
    """Learner, file name and text of each file in one thing that was handed in."""
    if path.is_dir():
        for inner in sorted(path.rglob("*"))[:MOST_FILES]:
            if inner.suffix in (".py", ".ipynb") and inner.stat().st_size < BIGGEST:
                yield path.name, inner.name, _decoded(inner.read_bytes())
    elif path.suffix == ".zip":
        yield from _zipped(path)
    elif path.suffix in (".py", ".ipynb") and path.stat().st_size < BIGGEST:
        yield path.stem, path.name, _decoded(path.read_bytes())


def _zipped(path: Path) -> Iterator[tuple[str, str, str]]:
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist()[:MOST_FILES]:
                name = PurePosixPath(info.filename).name
                if name.endswith((".py", ".ipynb")) and info.file_size < BIGGEST:
                    with archive.open(info) as inner:
                        yield path.stem, name, _decoded(inner.read(BIGGEST))
    except (zipfile.BadZipFile, RuntimeError, OSError, NotImplementedError):
        return


def _submissions(name: str, text: str, exercises: Sequence[Exercise]) -> Iterator[tuple[str, str]]:
    """Exercise and source of each submission in one file."""
    if name.endswith(".ipynb"):
        yield from notebook_submissions(text, exercises)
        return
    stem = name.removesuffix(".py").lower().replace("_", "-")
    exact = [exercise.id for exercise in exercises if stem == exercise.id]
    within = [exercise.id for exercise in exercises if stem.endswith(f"-{exercise.id}")]
    chosen = exact or sorted(within, key=len)[-1:]
    chosen = chosen or [e.id for e in exercises if _defines(text, e.head.symbols)]
    for exercise in chosen:
        yield exercise, text


def notebook_submissions(text: str, exercises: Sequence[Exercise]) -> Iterator[tuple[str, str]]:
    """Submissions in a notebook: cells with ``%%judge ID``, else cells that define the symbols."""
    try:
        cells = json.loads(text).get("cells", [])
        sources = ["".join(c.get("source", "")) for c in cells if c.get("cell_type") == "code"]
    except (ValueError, AttributeError, TypeError):
        return
    judged: dict[str, str] = {}
    others: list[str] = []
    for source in sources:
        match = re.match(r"\s*%%judge[ \t]+(\S+).*\n?", source)
        if match is None:
            others.append(_without_magics(source))
            continue
        try:
            judged[find_exercise(match[1], exercises).id] = source[match.end() :]
        except ExerciseError:
            continue
    for exercise in exercises:
        if exercise.id not in judged:
            whole = _defining_cells(others, exercise.head.symbols)
            if whole:
                judged[exercise.id] = whole
    yield from judged.items()


def _defining_cells(sources: Sequence[str], symbols: Sequence[str]) -> str:
    """The cells that import something or define one of the symbols, if all are defined."""
    wanted, kept = set(symbols), []
    for source in sources:
        defined = _defined(source)
        imports = bool(re.search(r"(?m)^(?:import|from)\s", source))
        if defined & wanted or imports:
            kept.append(source)
    whole = "\n\n".join(kept)
    return whole if wanted <= _defined(whole) else ""


def _defines(source: str, symbols: Sequence[str]) -> bool:
    return set(symbols) <= _defined(source)


def _defined(source: str) -> set[str]:
    """Names that a source defines at its top."""
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(t.id for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def _without_magics(source: str) -> str:
    return re.sub(r"(?m)^\s*[%!].*$", "", source)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8-sig", errors="replace")
