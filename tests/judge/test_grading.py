"""A class is judged: files, folders, notebooks and zips; one learner's crash costs one cell."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import nbformat
import pytest

from practice.judging.exercises import load_exercises
from practice.judging.gathering import gather, notebook_submissions

from .conftest import OWN_EXERCISES, Command

RIGHT = "def double(text):\n    return text + text\n"


def notebook(*cells: str) -> str:
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_markdown_cell("# hi"), *map(nbformat.v4.new_code_cell, cells)]
    return nbformat.writes(book)


@pytest.fixture
def handed_in(tmp_path: Path) -> Path:
    folder = tmp_path / "class"
    (folder / "bob").mkdir(parents=True)
    (folder / "anna.py").write_text(RIGHT, encoding="utf-8")
    (folder / "bob" / "double.py").write_text("import os\nos._exit(0)", encoding="utf-8")
    (folder / "carla_double.py").write_text("def double(text): return text", encoding="utf-8")
    book = notebook("%load_ext practice", f"%%judge double\n{RIGHT}", "1 / 0")
    (folder / "dora.ipynb").write_text(book, encoding="utf-8")
    with zipfile.ZipFile(folder / "=emil.zip", "w") as archive:
        archive.writestr("work/double.py", "def double(text):\n    while True: pass\n")
        archive.writestr("../../outside.txt", "not taken out")
    (folder / "broken.zip").write_bytes(b"PK no zip")
    (folder / "empty.ipynb").write_text("{", encoding="utf-8")
    return folder


def test_a_class(command: Command, handed_in: Path, tmp_path: Path) -> None:
    done = command("grade", str(handed_in))
    assert done.returncode == 1
    assert "5 learners, 5 submissions, 2 passed" in done.stdout
    for useless in ("broken.zip", "empty.ipynb"):
        assert f"Nothing to judge in {useless}" in done.stdout
    out = handed_in / "results"
    rows = list(csv.DictReader((out / "results.csv").open(encoding="utf-8", newline="")))
    assert {row["learner"]: row["status"] for row in rows} == {
        "'=emil": "timeout",  # an apostrophe, or a spreadsheet would take it for a formula
        "anna": "passed",
        "bob": "error",
        "carla": "failed",
        "dora": "passed",
    }
    page = (out / "results.html").read_text(encoding="utf-8")
    assert page.count('class="passed"') == 2 and "test_any" in page
    assert len(json.loads((out / "results.json").read_text(encoding="utf-8"))) == 5
    assert not list(tmp_path.rglob("outside.txt"))

    kept = {path: path.stat().st_mtime_ns for path in (out / ".done").iterdir()}
    (handed_in / "carla_double.py").write_text(RIGHT, encoding="utf-8")
    again = command("grade", str(handed_in))  # only what is new is judged
    assert "3 passed" in again.stdout
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_nothing_handed_in(command: Command, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    done = command("grade", str(tmp_path / "none"))
    assert done.returncode == 2 and "nothing to judge" in done.stderr
    assert command("grade", str(tmp_path / "missing")).returncode == 2


def test_cells_of_a_notebook() -> None:
    exercises = load_exercises(OWN_EXERCISES)
    twice = notebook("%%judge d\nfirst = 1", "%%judge double\nsecond = 2")
    assert dict(notebook_submissions(twice, exercises)) == {"double": "second = 2"}
    loose = notebook("import re\n%time 1", "x = 1 / 0", "def double(text):\n    return text")
    [(exercise, source)] = notebook_submissions(loose, exercises)
    assert exercise == "double"
    assert source.startswith("import re") and "1 / 0" not in source and "%time" not in source


def test_learners_and_files(tmp_path: Path) -> None:
    exercises = load_exercises(OWN_EXERCISES)
    for name in ("alice-double.py", "Bob_double.py", "double.py", "free text.py"):
        (tmp_path / name).write_text(RIGHT, encoding="utf-8")
    (tmp_path / "none.py").write_text("def other(): pass", encoding="utf-8")
    entries, useless = gather(tmp_path, exercises)
    assert {entry.learner for entry in entries} == {"alice", "Bob", "double", "free text"}
    assert useless == ["none.py"]
