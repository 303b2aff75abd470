"""The package is what the notebooks say it is."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tools.appendix import appendix
from tools.cells import APPENDIX, PACKAGE, CellError, Piece, pieces_of, read_notebook
from tools.source import file_of, units_of
from tools.steps import Tree, check, differences

FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.slow
def test_lessons_build_the_package() -> None:
    out = StringIO()
    assert check(Console(file=out, width=120)) == 0, out.getvalue()


def test_appendix_is_the_package() -> None:
    """After a change in ``minisgl/``: ``python tools/appendix.py``."""
    ours = [(c.id, dict(c.metadata), c.source) for c in appendix().cells]
    assert [(c.id, dict(c.metadata), c.source) for c in read_notebook(APPENDIX).cells] == ours


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_units_hold_every_line_of_a_file(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    lines = [line for line in source.splitlines() if line.strip()]
    kept = [line for line in file_of(units_of(source)).splitlines() if line.strip()]
    assert sorted(kept) == sorted(lines)


@given(st.lists(st.from_regex(r"[a-z]{3,8}", fullmatch=True), min_size=1, max_size=6, unique=True))
def test_units_are_found_by_name(names: list[str]) -> None:
    functions = {f"f_{n}": f"def f_{n}() -> str:\n    return {n!r}" for n in names}
    source = "import sys\n\n\n" + "\n\n\n".join(functions.values()) + "\n"
    assert units_of(source) == {"imports": "import sys", **functions}
    assert file_of(units_of(source)) == source


def test_cell_that_differs_from_the_package_is_told() -> None:
    text = units_of((PACKAGE / "core.py").read_text(encoding="utf-8"))["SamplingParams"]
    good = Piece("core.py", ("SamplingParams",), text, False, 1, "a.ipynb, cell b")
    Tree().add(good)
    changed = text.replace("temperature", "heat")
    assert changed != text
    with pytest.raises(CellError, match=r"a\.ipynb, cell b: SamplingParams isn't the text"):
        Tree().add(Piece("core.py", ("SamplingParams",), changed, False, 1, "a.ipynb, cell b"))
    with pytest.raises(CellError, match="named are Other, there are SamplingParams"):
        Tree().add(Piece("core.py", ("Other",), text, False, 1, "a.ipynb, cell b"))


def test_tree_that_lacks_something_is_told() -> None:
    tree = Tree()
    for piece in pieces_of(APPENDIX):
        tree.add(piece)
    assert differences(tree.files()) == []
    tree.whole["core.py"] += "x = 1\n"
    del tree.whole["tokenizer/stop.py"]
    assert differences(tree.files()) == [
        "minisgl/tokenizer/stop.py is in no notebook",
        "minisgl/core.py differs",
    ]
