"""What a lesson measures: cells, lines, words, and what its outputs may not hold.

``python tools/shape.py`` prints the measures of all lessons.
"""

from __future__ import annotations

import getpass
import json
import re
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.cells import ROOT, lessons, read_notebook

LARGEST_OUTPUT = 100_000  # bytes

WIDGETS = re.compile(
    r"^\s*(?:display\()?(?:WindowPlayer|BatchPlayer|BytesView|LatencyChart|QueueDiagram|HeldTail"
    r"|live|ChatPanel)\(",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Shape:
    """The measures of style.md.

    Lines a cell: without the exercises' cells, whose starters are given. Words a line: prose that
    is read on the way, without folded answers, pictures and tables, for each line of any code.
    """

    cells: int
    mean_lines: float
    median_lines: float
    max_lines: int
    words_per_line: float
    first_typing: int | None
    widgets: int
    code_cells: int
    ignored: int


def shape_of(notebook: Any) -> Shape:
    """Measures a lesson."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    lines = [len(c.source.splitlines()) for c in code if "exercise" not in c.metadata]
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    prose = re.sub(r"```.*?```|<details>.*?</details>", " ", prose, flags=re.DOTALL)
    prose = re.sub(r"^\|.*$", " ", prose, flags=re.MULTILINE)
    return Shape(
        cells=len(notebook.cells),
        mean_lines=statistics.mean(lines),
        median_lines=statistics.median(lines),
        max_lines=max(lines),
        words_per_line=len(prose.split()) / sum(len(c.source.splitlines()) for c in code),
        first_typing=first_typing(notebook),
        widgets=sum(len(WIDGETS.findall(cell.source)) for cell in code),
        code_cells=len(code),
        ignored=sum(is_ignored(cell) for cell in code),
    )


def first_typing(notebook: Any) -> int | None:
    """The number, from 1, of the first cell in which the learner types."""
    for number, cell in enumerate(notebook.cells, start=1):
        if "exercise" in cell.metadata or cell.metadata.get("typing"):
            return number
    return None


def is_ignored(cell: Any) -> bool:
    """Whether nbval passes over what the cell gives."""
    return "nbval-ignore-output" in cell.metadata.get("tags", [])


def outputs_text(cell: Any) -> str:
    """All that a cell gave, as one text."""
    return json.dumps(cell.get("outputs", []), ensure_ascii=False)


def traces_of_this_machine(text: str) -> list[str]:
    """Paths, user names and addresses of the machine on which a notebook ran."""
    strange = {str(ROOT), ROOT.as_posix(), str(Path.home())} - {"/", "/root"}
    user = getpass.getuser()
    if len(user) > 4:
        strange.add(user)
    found = [name for name in strange if name in text]
    patterns = (
        r"/tmp/[\w./-]+",
        r"/home/\w+",
        r"\b0x[0-9a-f]{8,}\b",
        r"ipc://\S+",
        r"127\.0\.0\.1:\d+",
    )
    return found + [match[0] for p in patterns for match in re.finditer(p, text)]


def main() -> None:
    """Prints a table."""
    table = Table(
        "lesson",
        "cells",
        "lines: mean",
        "median",
        "max",
        "words a line",
        "typing",
        "widgets",
        "ignored",
    )
    for path in lessons():
        s = shape_of(read_notebook(path))
        table.add_row(
            path.stem,
            str(s.cells),
            f"{s.mean_lines:.1f}",
            f"{s.median_lines:g}",
            str(s.max_lines),
            f"{s.words_per_line:.1f}",
            str(s.first_typing),
            str(s.widgets),
            f"{s.ignored} of {s.code_cells}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
