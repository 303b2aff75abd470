"""The shape of the lessons, as style.md measures it, and what a saved notebook may hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tools.cells import APPENDIX, NOTEBOOKS, ROOT, lessons, number_of, read_notebook
from tools.run_notebooks import METADATA
from tools.shape import (
    LARGEST_OUTPUT,
    is_ignored,
    outputs_text,
    shape_of,
    traces_of_this_machine,
)

ALL = sorted(NOTEBOOKS.glob("*.ipynb"))
LESSONS = [path for path in lessons() if number_of(path) > 0]  # 00 is a page to look around

all_notebooks = pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


@each_lesson
def test_measures(path: Path) -> None:
    shape = shape_of(read_notebook(path))
    assert 40 <= shape.cells <= 80
    assert shape.median_lines <= 6
    assert shape.max_lines <= 25
    assert 4 <= shape.words_per_line <= 8
    assert shape.first_typing is not None
    assert shape.first_typing <= 10
    assert shape.widgets <= 4
    assert shape.ignored <= shape.code_cells * 0.1


@each_lesson
def test_beat(path: Path) -> None:
    """The parts of a lesson that every reader looks for."""
    notebook = read_notebook(path)
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert prose.startswith("# ")
    assert re.search(r"\d+ minutes", prose)
    for part in ("Where we are", "Self-test", "What the real engines do", "two minutes", "Summary"):
        assert part.lower() in prose.lower(), f"no part {part!r}"
    assert prose.count("<details>") >= 5
    assert prose.count("<details>") == prose.count("</details>")


@all_notebooks
def test_metadata_is_clean(path: Path) -> None:
    notebook = read_notebook(path)
    nbformat.validate(notebook)
    assert notebook.metadata == METADATA
    known = {"tags", "reason", "minisgl", "form", "lesson", "main", "exercise", "typing"}
    for cell in notebook.cells:
        assert set(cell.metadata) <= known, cell.id
        assert re.fullmatch(r"[a-z0-9-]{2,64}", cell.id), "a random id: give it a name"
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)


@all_notebooks
def test_run_from_top_to_bottom(path: Path) -> None:
    """The saved outputs are those of one run in a fresh kernel."""
    code = [cell for cell in read_notebook(path).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))


@all_notebooks
def test_outputs(path: Path) -> None:
    for cell in read_notebook(path).cells:
        text = outputs_text(cell)
        assert len(text.encode("utf-8")) <= LARGEST_OUTPUT, cell.id
        assert traces_of_this_machine(text) == [], cell.id
        assert '"output_type": "error"' not in text, cell.id
        if is_ignored(cell):
            assert cell.metadata.get("reason"), f"{cell.id}: say why its output varies"


@all_notebooks
def test_words(path: Path) -> None:
    """No word that tells a learner how easy it should be."""
    for cell in read_notebook(path).cells:
        if cell.cell_type == "markdown" and path != APPENDIX:
            found = re.findall(r"\b(?:simply|obviously|trivially|of course|just)\b", cell.source)
            assert found == [], cell.id


@each_lesson
def test_exercises_are_the_starters(path: Path) -> None:
    cells = [cell for cell in read_notebook(path).cells if "exercise" in cell.metadata]
    named = [cell.metadata["exercise"] for cell in cells]
    for cell, name in zip(cells, named, strict=True):
        starter = ROOT / "practice" / "exercises" / name / "starter.py"
        assert cell.source == f"%%judge {name}\n{starter.read_text(encoding='utf-8').rstrip()}"
    ours = re.compile(rf"^lesson: {path.name[:2]}$", re.MULTILINE)
    heads = {
        head.parent.name: head.read_text(encoding="utf-8")
        for head in (ROOT / "practice" / "exercises").glob("*/exercise.md")
    }
    assert set(named) == {name for name, text in heads.items() if ours.search(text)}


@all_notebooks
def test_links_lead_somewhere(path: Path) -> None:
    for cell in read_notebook(path).cells:
        if cell.cell_type == "markdown" and path != APPENDIX:
            for target in re.findall(r"\]\((?!http|#)([^)#\s]+)", cell.source):
                assert (NOTEBOOKS / target).exists(), f"{cell.id}: {target}"


def test_places_that_verdicts_name_exist() -> None:
    """Each ``See: lesson NN, "Heading"`` of an exercise is a heading of that lesson."""
    headings: dict[str, Any] = {
        path.name[:2]: re.findall(
            r"^#{1,4} (.+?)\s*$",
            "\n".join(c.source for c in read_notebook(path).cells if c.cell_type == "markdown"),
            re.MULTILINE,
        )
        for path in lessons()
    }
    missing = []
    for test in sorted((ROOT / "practice" / "exercises").glob("*/test.py")):
        for lesson, heading in re.findall(
            r'lesson (\d\d), "([^"]+)"', test.read_text(encoding="utf-8")
        ):
            if lesson in headings and heading not in headings[lesson]:
                missing.append(f"{test.parent.name}: lesson {lesson}, {heading!r}")
    assert missing == []


def test_map_is_the_readmes() -> None:
    """The first notebook's map names the README's lessons, with their minutes."""
    row = re.compile(r"^\| `?(\d\d)[ _]([\w ]+?)`? \| (\d+) \|", re.MULTILINE)
    readme = row.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    first = next(path for path in lessons() if number_of(path) == 0)
    page = "\n".join(cell.source for cell in read_notebook(first).cells)
    ours = [(number, name.lower().replace(" ", "_"), m) for number, name, m in row.findall(page)]
    assert ours == readme
    assert len(ours) == 13
