"""``python tools/run_notebooks.py [NAME…]``: runs notebooks top to bottom and keeps their outputs.

Each in a fresh kernel, with nothing solved, and without what would differ on another machine.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.cells import NOTEBOOKS, ROOT, lessons, read_notebook

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
SECONDS_FOR_A_CELL = 120
WIDGET = "application/vnd.jupyter.widget-view+json"


@contextmanager
def fresh_workspace() -> Iterator[Path]:
    """Nothing solved, for what is started meanwhile; what you have solved stays where it is."""
    before = os.environ.get("MINISGL_WORKSPACE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MINISGL_WORKSPACE"] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ["MINISGL_WORKSPACE"]
            if before is not None:
                os.environ["MINISGL_WORKSPACE"] = before


def execute(notebook: Any) -> Any:
    """Runs all cells in ``notebooks/``; the first error ends it.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed.
    """
    client = NotebookClient(
        notebook,
        timeout=SECONDS_FOR_A_CELL,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(NOTEBOOKS)}},
    )
    client.execute()
    leave_widgets_out(notebook)
    notebook.metadata = nbformat.from_dict(METADATA)
    return notebook


def leave_widgets_out(notebook: Any) -> None:
    """Drops the live half of a widget's output where there is a page to show in its place.

    Without the kernel that made it, JupyterLab shows "model not found" for it and not the page.
    """
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if WIDGET in data and "text/html" in data:
                del data[WIDGET]


def solve(notebook: Any) -> int:
    """Puts the reference solution into each exercise's cell; returns how many there are."""
    count = 0
    for cell in notebook.cells:
        exercise = cell.metadata.get("exercise")
        if exercise is not None:
            path = ROOT / "practice" / "exercises" / exercise / "solution.py"
            cell.source = f"%%judge {exercise}\n{path.read_text(encoding='utf-8')}"
            count += 1
    return count


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python tools/run_notebooks.py", description=__doc__)
    parser.add_argument("names", nargs="*", help="03, or 03_the_moving_window; all without one")
    asked = parser.parse_args(arguments)
    for path in lessons():
        if asked.names and not any(path.name.startswith(Path(n).stem) for n in asked.names):
            continue
        with fresh_workspace():
            nbformat.write(execute(read_notebook(path)), path)
        print(f"run: {path.relative_to(ROOT).as_posix()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
