"""The linters and the type checker are tests among the others."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TYPED = [folder for folder in ("minisgl", "practice") if (ROOT / folder / "__init__.py").exists()]


@pytest.mark.parametrize(
    "arguments",
    [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy", "--strict", *TYPED]],
    ids=["ruff check", "ruff format", "mypy"],
)
def test_tool_finds_nothing(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_ci_runs_the_command_that_the_readme_gives() -> None:
    """`.ci/run` takes the command out of the README: exactly one may stand at the mark."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.findall(r"<!-- test command -->\n```\w*\n(.*?)\n```\n", readme, re.DOTALL)
    assert found == ["python3 start.py test"]


def test_text_files_end_their_lines_alike() -> None:
    """A carriage return would change the hash of a notebook, and with it JupyterLab's trust."""
    names = ["README.md", "start.py", "pyproject.toml", "environment.yml", ".ci/run"]
    assert [name for name in names if b"\r" in (ROOT / name).read_bytes()] == []
