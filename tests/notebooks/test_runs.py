"""Every notebook again with its exercises solved. (With nothing solved, nbval runs them all.)"""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.cells import lessons, read_notebook
from tools.run_notebooks import execute, fresh_workspace, solve

LESSONS = lessons()


@pytest.mark.slow
@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_solved(path: Path) -> None:
    """Each ``%%judge`` passes, and what comes after it works with the learner's own."""
    notebook = read_notebook(path)
    count = solve(notebook)
    with fresh_workspace() as workspace:
        execute(notebook)
        handed_in = {file.stem for file in workspace.glob("*.py")}
    judged = [cell for cell in notebook.cells if "exercise" in cell.metadata]
    assert len(judged) == count
    for cell in judged:
        shown = " ".join(out.get("data", {}).get("text/plain", "") for out in cell.outputs)
        assert "Right" in shown, f"{cell.id}: {shown}"
        assert cell.metadata["exercise"] in handed_in
    printed = "".join(out.get("text", "") for c in notebook.cells for out in c.get("outputs", []))
    for cell in judged:
        assert f"since {cell.metadata['exercise']} isn't passed yet" not in printed
