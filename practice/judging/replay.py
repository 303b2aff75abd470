"""A failing stream: a table for the terminal, and the learner's own run in the widget."""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import sys
import webbrowser
from pathlib import Path
from typing import Any

import msgspec
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from . import api, workspace
from .client import end_with_children
from .exercises import Exercise
from .paths import ROOT, workspace_dir, write_atomically
from .preload import environment
from .replay_child import ReplayAnswer, ReplayRequest
from .visible import visible, visible_text

SECONDS = 4.0  # for the learner's class; it makes a few tokens
LOADING_SECONDS = 120.0  # of torch and transformers from a slow disk


def stream_rows(ids: list[int], alias: str) -> list[tuple[int, str, str]]:
    """For each token: its id, the token decoded alone, the text of all tokens so far."""
    return [
        (token, api.true_decode(alias, [token]), api.true_decode(alias, ids[: place + 1]))
        for place, token in enumerate(ids)
    ]


def replay_table(stream: dict[str, Any]) -> RenderableType:
    """A table of the steps where `stream` has ``ids`` and ``tokenizer``, else its parts."""
    ids, alias = stream.get("ids"), stream.get("tokenizer")
    if not isinstance(ids, list) or not isinstance(alias, str):
        lines = [f"{name} = {visible(value)}" for name, value in stream.items()]
        return Text("\n".join(lines))
    table = Table(box=None, padding=(0, 2), pad_edge=False)
    for heading in ("step", "token", "decoded alone", "text so far"):
        table.add_column(heading, overflow="fold")
    for place, (token, alone, so_far) in enumerate(stream_rows(ids, alias), start=1):
        table.add_row(str(place), str(token), Text(visible_text(alone)), Text(visible_text(so_far)))
    return table


def can_be_played(stream: dict[str, Any]) -> bool:
    """Whether it is a stream of tokens."""
    return isinstance(stream.get("ids"), list) and isinstance(stream.get("tokenizer"), str)


def trace_both(
    exercise: Exercise, stream: dict[str, Any], seconds: float = SECONDS
) -> ReplayAnswer:
    """The learner's run of the stream and the reference's, traced in a process of their own.

    Args:
        exercise: whose file in the workspace is run.
        stream: with ``ids`` and ``tokenizer``.
        seconds: until a class that doesn't end is given up.
    """
    head = exercise.head
    request = ReplayRequest(
        [int(token) for token in stream["ids"]],
        stream["tokenizer"],
        "transformers" in head.needs,
        list(head.symbols),
        str(exercise.path / "solution.py"),
        str(workspace.submission_path(exercise)),
        seconds,
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "practice.judging.replay_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=environment(),
        start_new_session=True,
    )
    try:
        data, _ = process.communicate(msgspec.json.encode(request), LOADING_SECONDS + seconds)
        return msgspec.json.decode(data, type=ReplayAnswer)
    except (subprocess.TimeoutExpired, msgspec.DecodeError):
        return ReplayAnswer(problem="its process ended or didn't answer")
    finally:
        end_with_children(process)


def drawing_of(exercise: Exercise, stream: dict[str, Any]) -> Any:
    """The widget with the learner's run beside the reference; None where there is none to draw."""
    if not can_be_played(stream):
        return None
    with contextlib.suppress(ImportError):
        widget = importlib.import_module("notebooks.widgets").replay
        answer = trace_both(exercise, stream)
        if answer.reference is None:
            return None
        title = f"{exercise.id}: your run beside the reference"
        if answer.yours is None:
            title = f"{exercise.id}: the reference alone. Yours can't be traced: {answer.problem}"
        return widget(stream, yours=answer.yours, reference=answer.reference, title=title)
    return None


def write_page(exercise: Exercise, drawing: Any) -> Path:
    """Writes a page with the drawing into the workspace; it needs nothing beside it."""
    path = workspace_dir() / f"replay-{exercise.id}.html"
    write_atomically(path, drawing.page(f"Replay of {exercise.id}"))
    return path


def show_page(path: Path) -> bool:
    """Opens the page in a browser where there is a screen and somebody at it."""
    screen = sys.platform in ("win32", "darwin") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if not screen or not sys.stdout.isatty():
        return False
    try:
        return webbrowser.open(path.as_uri())
    except webbrowser.Error:
        return False
