"""The judge in real JupyterLab, in a real browser: an exercise is judged on Shift+Enter."""

from __future__ import annotations

from pathlib import Path

import nbformat

from .lab import ROOT, artifacts, chromium, jupyterlab, open_notebook, run_cell

WRONG = "def count(text):\n    return len(text), len(text.encode())"
RIGHT = "def count(text):\n    return len(text.encode()), len(text)"


def write_notebook(path: Path) -> None:
    """Three hand-ins: the starter, a known mistake, a right one."""
    notebook = nbformat.v4.new_notebook()
    starter = (ROOT / "practice/exercises/warm-up/starter.py").read_text(encoding="utf-8")
    sources = ["%load_ext practice", *(f"%%judge warm-up\n{s}" for s in (starter, WRONG, RIGHT))]
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.metadata["kernelspec"] = kernel  # else JupyterLab asks for one
    nbformat.write(notebook, path)


def test_verdicts_appear_under_the_cells(tmp_path: Path) -> None:
    from playwright.sync_api import expect

    write_notebook(tmp_path / "lesson.ipynb")
    size = {"width": 1100, "height": 1400}
    with jupyterlab(tmp_path) as address, chromium(viewport=size) as page:
        cells = open_notebook(page, address, "lesson.ipynb")
        for number in range(4):
            run_cell(page, cells.nth(number))
        verdicts = page.locator(".jp-OutputArea-output")
        expect(verdicts.nth(0)).to_contain_text("Not started")
        expect(verdicts.nth(1)).to_contain_text("Not yet")
        expect(verdicts.nth(1)).to_contain_text("changed places")  # the known mistake, by name
        expect(verdicts.nth(2)).to_contain_text("Right")
        page.screenshot(path=artifacts(tmp_path) / "judge-in-jupyterlab.png")
    kept = (tmp_path / "workspace" / "warm-up.py").read_text(encoding="utf-8")
    assert kept.strip() == RIGHT  # the terminal judges the same file
