"""The cells of the lessons that hold a piece of the package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
PACKAGE = ROOT / "minisgl"
APPENDIX = NOTEBOOKS / "appendix_minisgl.ipynb"

FENCE = re.compile(r"^~~~~python\n(.*?)^~~~~$", re.DOTALL | re.MULTILINE)


class CellError(ValueError):
    """A cell whose metadata promises what it doesn't hold; names notebook and cell."""


@dataclass(frozen=True)
class Piece:
    """A piece of a package file, as a cell has it.

    Attributes:
        path: relative to ``minisgl/``, with slashes.
        symbols: which top-level names; empty for a whole file.
        published: the lesson's own earlier form, which the package's text replaces later.
        lesson: from this lesson on it is in the tree.
        where: notebook and cell, for errors.
    """

    path: str
    symbols: tuple[str, ...]
    text: str
    published: bool
    lesson: int
    where: str


def lessons() -> list[Path]:
    """The notebooks ``NN_name.ipynb``, in their order."""
    return sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))


def number_of(lesson: Path) -> int:
    """7 for ``07_the_worker.ipynb``."""
    return int(lesson.name[:2])


def read_notebook(path: Path) -> Any:
    """A notebook of format 4."""
    return nbformat.read(path, as_version=4)


def pieces_of(path: Path) -> Iterator[Piece]:
    """The pieces that a notebook's cells hold, in order.

    Raises:
        CellError: metadata that can't be read.
    """
    for cell in read_notebook(path).cells:
        named = cell.metadata.get("minisgl")
        if named is None:
            continue
        where = f"{path.name}, cell {cell.id}"
        if not isinstance(named, str):
            raise CellError(f'{where}: "minisgl" must be "path.py" or "path.py:Symbol, Symbol"')
        file, _, symbols = named.partition(":")
        text = cell.source
        if cell.cell_type == "markdown":
            found = FENCE.search(text)
            if found is None:
                raise CellError(f"{where}: holds no ~~~~python block for {named}")
            text = found[1]
        yield Piece(
            path=file,
            symbols=tuple(name.strip() for name in symbols.split(",") if name.strip()),
            text=text,
            published=cell.metadata.get("form") == "published",
            lesson=cell.metadata.get("lesson") or number_of(path),
            where=where,
        )


def main_of(path: Path) -> Any:
    """The cell that is the lesson's main, or None.

    Raises:
        CellError: there are several.
    """
    found = [cell for cell in read_notebook(path).cells if cell.metadata.get("main")]
    if len(found) > 1:
        raise CellError(f"{path.name}: several cells are its main")
    return found[0] if found else None


def printed(cell: Any) -> str:
    """What a code cell printed."""
    return "".join(out.text for out in cell.outputs if out.get("name") == "stdout")
