"""The magic in a real kernel."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from practice.judging.paths import ROOT

from .conftest import OWN_EXERCISES

RIGHT = "def double(text):\n    return text + text"
WRONG = "def double(text):\n    return text.strip() * 2"
STARTER = (OWN_EXERCISES / "double" / "starter.py").read_text(encoding="utf-8")


def run(monkeypatch: pytest.MonkeyPatch, workspace: Path, *cells: str) -> list[dict[str, str]]:
    """Runs the cells in one kernel; of each cell all its outputs by kind, put together."""
    exercises = workspace.parent / "exercises"
    shutil.copytree(OWN_EXERCISES / "double", exercises / "double")
    monkeypatch.setenv("MINISGL_EXERCISES", str(exercises))
    monkeypatch.setenv("MINISGL_WORKSPACE", str(workspace))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(cell) for cell in ("%load_ext practice", *cells)]
    client = nbclient.NotebookClient(book, timeout=60, kernel_name="python3", allow_errors=True)
    client.execute(cwd=str(workspace.parent))
    return [_outputs(cell) for cell in book.cells[1:]]


def _outputs(cell: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for output in cell.outputs:
        data = output.get("data") or {"text/plain": output.get("text") or output.get("ename", "")}
        for kind, text in data.items():
            found[kind] = found.get(kind, "") + text
    return found


def test_the_way_of_a_learner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    workspace = tmp_path / "ws"
    starter, wrong, hint, replayed, before, solution, right, value, after, endless, alive = run(
        monkeypatch,
        workspace,
        f"%%judge double\n{STARTER}",
        f"%%judge d\n{WRONG}",
        "%hint double",
        "import practice; practice.replay('double')",
        "practice.use('double')('xy')",
        "%solution double",
        f"%%judge double\n{RIGHT}",
        "double('ab')",
        "practice.use('double')('xyz')",
        "%%judge double\n# it waits\nwhile True: pass",
        "'the kernel lives'",
    )
    assert "Not started" in starter["text/plain"]
    assert "You take the spaces off the ends." in wrong["text/html"]
    assert "%hint double" in wrong["text/plain"]
    assert "Hint 1 of 3" in hint["text/markdown"]
    assert "text = '␣'" in replayed["text/plain"]
    assert "course's own" in before["text/plain"]
    assert "haven't passed" in solution["text/plain"]
    assert "Right." in right["text/plain"]
    assert value["text/plain"] == "'abab'"
    assert "yours" in after["text/plain"] and "'xyzxyz'" in after["text/plain"]
    assert "come to an end" in endless["text/plain"]
    assert "your cell, line 3" in endless["text/plain"]  # as the cell's lines are numbered
    assert alive["text/plain"] == "'the kernel lives'"
    saved = (workspace / "double.py").read_text(encoding="utf-8")
    assert saved == "# it waits\nwhile True: pass\n"
