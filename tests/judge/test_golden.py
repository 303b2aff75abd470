"""One folder an outcome: a submission and the verdict on it.

``MINISGL_WRITE_GOLDEN=1`` writes the verdicts anew; read the difference before you commit it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from practice.judging.client import Judge
from practice.judging.exercises import Exercise
from practice.judging.mistakes import diagnose
from practice.judging.verdict import SCHEMA_FILE, Verdict, from_json, schema_text, to_json

GOLDEN = Path(__file__).parent / "golden"
FOLDERS = sorted(path for path in GOLDEN.iterdir() if (path / "submission.py").exists())


def normalised(verdict: Verdict) -> dict[str, Any]:
    """Without what differs from run to run or with the exercise's files."""
    plain: dict[str, Any] = msgspec.to_builtins(verdict)
    for name in ("seconds", "content_hash", "source_hash"):
        del plain[name]
    for case in plain["cases"]:
        case.pop("seconds", None)
    return plain


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_verdict_is_the_golden_one(folder: Path, judge: Judge, double: Exercise) -> None:
    source = (folder / "submission.py").read_text(encoding="utf-8")
    verdict = judge.judge(double, source, "double.py")
    verdict.diagnosis = diagnose(double, verdict, judge)
    got, path = normalised(verdict), folder / "verdict.json"
    if os.environ.get("MINISGL_WRITE_GOLDEN"):
        text = json.dumps(got, ensure_ascii=False, indent=2) + "\n"
        path.write_text(text, encoding="utf-8", newline="\n")
    assert got == json.loads(path.read_text(encoding="utf-8"))


def test_same_seed_same_verdict(judge: Judge, double: Exercise) -> None:
    source = (GOLDEN / "failed" / "submission.py").read_text(encoding="utf-8")
    first, again = (normalised(judge.judge(double, source, "", seed=7)) for _ in range(2))
    assert first == again
    assert first["seed"] == 7


def test_known_example_does_not_depend_on_the_source(judge: Judge, double: Exercise) -> None:
    source = (GOLDEN / "failed" / "submission.py").read_text(encoding="utf-8")
    plain = judge.judge(double, source)
    longer = judge.judge(double, source + "\nUNUSED = ['ab\\n\\nab', 'aaaa', 123456789]\n")
    assert plain.cases[1].input == longer.cases[1].input


def test_json_there_and_back(judge: Judge, double: Exercise) -> None:
    verdict = judge.judge(double, "def double(text): return text * 3")
    assert from_json(to_json(verdict)) == verdict


def test_schema_file_is_that_of_the_code() -> None:
    assert SCHEMA_FILE.read_text(encoding="utf-8") == schema_text()
