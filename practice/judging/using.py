"""`practice.use` and `practice.replay`: what notebooks build on."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any

from . import workspace
from .assemble import source_hash
from .client import read_submission
from .exercises import Exercise
from .find import find_exercise, known_exercises
from .notebook import Shown
from .paths import shown_path
from .progress import load_progress
from .replay import can_be_played, drawing_of, stream_rows
from .visible import visible, visible_text

PLACES = ("minisgl.tokenizer", "minisgl.message", "minisgl.utils", "minisgl.core")


def use_symbol(symbol: str) -> Any:
    """See `practice.use`."""
    exercises = [exercise for exercise in known_exercises() if symbol in exercise.head.symbols]
    if not exercises:
        known = sorted({name for exercise in known_exercises() for name in exercise.head.symbols})
        raise LookupError(f"no exercise asks for {symbol!r}; there are {', '.join(known)}")
    exercise = exercises[0]
    path = workspace.submission_path(exercise)
    if _passes(exercise, path):
        print(f"{symbol}: yours, {shown_path(path)}")
        return getattr(_load(path, f"workspace_{exercise.id.replace('-', '_')}"), symbol)
    print(f"{symbol}: the course's own, since {exercise.id} isn't passed yet")
    return _reference(exercise, symbol)


def _passes(exercise: Exercise, path: Path) -> bool:
    """Whether the very text that is in the workspace has passed the exercise as it is now."""
    record = load_progress().of(exercise)
    if exercise.content_hash not in record.passed or not path.is_file():
        return False
    return source_hash(read_submission(path)) == record.passed_source


def _reference(exercise: Exercise, symbol: str) -> Any:
    for place in PLACES:
        module = importlib.import_module(place)
        if hasattr(module, symbol):
            return getattr(module, symbol)
    name = f"reference_{exercise.id.replace('-', '_')}"
    return getattr(_load(exercise.path / "solution.py", name), symbol)


def _load(path: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look for their module there
    spec.loader.exec_module(module)
    return module


def replay_exercise(name: str) -> Any:
    """See `practice.replay`."""
    exercise = find_exercise(name, known_exercises())
    case = workspace.kept_failure(exercise)
    if case is None or case.stream is None:
        text = f"No failing input is kept for {exercise.id}: judge it first."
        return Shown(f"<p>{escape(text)}</p>", text)
    stream = case.stream
    drawing = drawing_of(exercise, stream)
    if drawing is not None:
        return drawing
    if can_be_played(stream):
        return _stream_table(stream)
    lines = [f"{part} = {visible(value)}" for part, value in stream.items()]
    return Shown(f"<pre>{escape(chr(10).join(lines))}</pre>", "\n".join(lines))


def _stream_table(stream: dict[str, Any]) -> Shown:
    rows = stream_rows(stream["ids"], stream["tokenizer"])
    heads = ("step", "token", "decoded alone", "text so far")
    cells = [
        (str(place), str(token), visible_text(alone), visible_text(so_far))
        for place, (token, alone, so_far) in enumerate(rows, start=1)
    ]
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in cells
    )
    text = "\n".join("  ".join(row) for row in [heads, *cells])
    return Shown(f"<table><tr>{head}</tr>{body}</table>", text)
