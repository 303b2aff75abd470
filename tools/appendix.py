"""``python tools/appendix.py``: writes ``notebooks/appendix_minisgl.ipynb`` out of the package.

The appendix shows every file as it is. What the lessons build is a part of it, in a first form here
and there; what they are given beforehand, and what replaces their first forms, stands here.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell, new_notebook

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.cells import APPENDIX, PACKAGE, ROOT
from tools.run_notebooks import METADATA

GIVEN_FROM = {
    "__init__.py": 1,
    "core.py": 1,
    "message": 1,
    "utils": 1,
    "tokenizer/byte_detokenize.py": 10,
    "tokenizer/detokenize.py": 9,
    "tokenizer/manager.py": 9,
    "tokenizer/segments.py": 9,
    "tokenizer/stop.py": 9,
    "tokenizer/token_bytes.py": 9,
    "tokenizer/tokenize.py": 9,
    "tokenizer": 11,
}
"""Path or folder → the lesson from which the file stands in the tree as the package has it: before
that the lessons build first forms of it, or don't need it."""

ROOMS = ("core.py", "message", "utils", "tokenizer")

TITLE = """# Appendix: the whole package

Every file of `minisgl/`, as it is, to read beside the lessons. Their cells build it up from first
forms; where a lesson's form has faults that a later lesson mends, this is the mended one.
`python tools/steps.py check` puts the package together from the cells of the lessons and of this
page, lesson by lesson, and compares.
"""


def order(path: str) -> tuple[int, bool, str]:
    """Rooms in the order in which one imports the other; a package's own file first."""
    room = path.split("/")[0]
    place = ROOMS.index(room) if room in ROOMS else -1
    return place, not path.endswith("__init__.py"), path


def appendix() -> nbformat.NotebookNode:
    """The notebook, made anew."""
    cells = [new_markdown_cell(TITLE.strip())]
    cells[0].id = "title"
    paths = [path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")]
    for path in sorted(paths, key=order):
        text = (PACKAGE / path).read_text(encoding="utf-8")
        about = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")[0]
        cell = new_markdown_cell(f"## {path}\n\n{about}\n\n~~~~python\n{text}~~~~")
        cell.id = path.removesuffix(".py").replace("/", "-").replace("_", "-").strip("-")
        cell.metadata["minisgl"] = path
        cell.metadata["lesson"] = GIVEN_FROM.get(path) or GIVEN_FROM[path.split("/")[0]]
        cells.append(cell)
    return new_notebook(cells=cells, metadata=METADATA, nbformat_minor=5)


def main() -> None:
    """Writes the file."""
    nbformat.write(appendix(), APPENDIX)
    print(f"written: {APPENDIX.relative_to(ROOT).as_posix()}")


if __name__ == "__main__":
    main()
