"""What the README says is so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from examples import ch13_tokenizer

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_lines_of_the_example_are_its_output(capsys: Any) -> None:
    ch13_tokenizer.main()
    output = capsys.readouterr().out.splitlines()
    shown = re.search(r"<!-- lines of the example -->\n```text\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    lines = shown[1].splitlines()
    first = output.index(lines[0])
    assert output[first : first + len(lines)] == lines


def test_lessons_that_exist_are_not_called_coming() -> None:
    """Each row of the map tells the truth about its notebook, and each notebook has a row."""
    rows = dict(re.findall(r"^\| `(\d\d_\w+)` \| \d+ \| .*? \| ?(\w*) ?\|$", README, re.MULTILINE))
    there = {path.stem for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb")}
    assert {name for name, state in rows.items() if state != "coming"} == there
    assert len(rows) == 13


def test_commands_of_the_judge_are_known() -> None:
    """Each subcommand that the README names is one of the judge's."""
    named = set(re.findall(r"python practice/judge\.py ([a-z]+)", README))
    judge = [sys.executable, "practice/judge.py", "--help"]
    told = subprocess.run(judge, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert named == {name for name in named if f"    {name} " in told.stdout}


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert [target for target in targets if not (ROOT / target).exists()] == []
