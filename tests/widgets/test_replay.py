"""The learner's own failing stream: traced in a process of its own, whatever the class does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from practice.judging.exercises import Exercise, load_exercise
from practice.judging.paths import exercises_dir
from practice.judging.replay import drawing_of, trace_both
from practice.judging.verdict import Case, Verdict
from practice.judging.workspace import keep_failure, submission_path

STREAM = {"ids": [100024, 119, 374], "tokenizer": "qwen3"}
CLASS = "class Window:\n    def __init__(self, tokenizer):\n        self.n = 0\n"
METHODS = "    def push(self, token):\n        {}\n    def finish(self):\n        return ''\n"


@pytest.fixture
def exercise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Exercise:
    monkeypatch.setenv("MINISGL_WORKSPACE", str(tmp_path))
    return load_exercise(exercises_dir() / "window-diff")


def write(exercise: Exercise, source: str) -> None:
    submission_path(exercise).write_text(source, encoding="utf-8")


def run(exercise: Exercise, source: str, **options: Any) -> Any:
    write(exercise, source)
    return trace_both(exercise, STREAM, **options)


def sent(trace: dict[str, Any]) -> list[str]:
    return [step["sent"] for step in trace["steps"] if step["phase"] == "committed"]


def test_a_known_mistake_beside_the_reference(exercise: Exercise) -> None:
    answer = run(exercise, exercise.read("wrong/each_token_alone.py"))
    assert sent(answer.reference) == ["", "鱻", " is"]
    assert sent(answer.yours) == ["\ufffd", "\ufffd", " is"]
    assert (answer.yours["name"], answer.reference["name"]) == ("yours", "the reference")


def test_a_stream_that_was_judged_before_its_end(exercise: Exercise) -> None:
    """At the end both show the cut character; before it the reference doesn't."""
    write(exercise, exercise.read("wrong/replacement_sent.py"))
    answer = trace_both(exercise, {"ids": [100024], "tokenizer": "qwen3"})
    assert (sent(answer.yours), sent(answer.reference)) == (["\ufffd"], [""])


def test_a_class_that_never_ends_is_stopped_at_its_line(exercise: Exercise) -> None:
    endless = METHODS.format("self.n += 1\n        while self.n > 1: pass\n        return ''")
    error = run(exercise, CLASS + endless, seconds=0.5).yours["error"]
    assert error["step"] == 3 and error["message"].startswith("It did not end within 0.5 seconds")
    assert error["line"] == "line 6: while self.n > 1: pass"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("x = (\n", "SyntaxError: '(' was never closed"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
        ("x = 1\n", "has no attribute 'Window'"),
        ("import os\nos._exit(3)\n", "its process ended or didn't answer"),
    ],
    ids=["syntax", "exit", "missing", "gone"],
)
def test_a_file_that_does_not_load(source: str, problem: str, exercise: Exercise) -> None:
    answer = run(exercise, source)
    assert answer.yours is None and problem in answer.problem


def test_an_error_and_output_of_the_learner(exercise: Exercise) -> None:
    source = "print('noise' * 100_000)\n" + CLASS + METHODS.format("return [token]")
    answer = run(exercise, source)
    assert answer.yours["error"]["message"] == "push returned list, a str is asked for"


def test_what_is_drawn(exercise: Exercise) -> None:
    write(exercise, exercise.read("wrong/each_token_alone.py"))
    drawing = drawing_of(exercise, STREAM)
    assert drawing.text.startswith("window-diff: your run beside the reference")
    assert drawing_of(exercise, {"text": "a"}) is None
    write(exercise, "x = (\n")
    told = drawing_of(exercise, STREAM).text.splitlines()[0]
    assert told.startswith("window-diff: the reference alone. Yours can't be traced: SyntaxError")


def test_an_exercise_without_a_reply_to_trace(exercise: Exercise) -> None:
    other = load_exercise(exercises_dir() / "byte-table")
    write(other, other.read("solution.py"))
    assert drawing_of(other, STREAM) is None


def test_the_command_writes_a_page(
    exercise: Exercise, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from practice.judging.cli import run as judge

    write(exercise, exercise.read("wrong/each_token_alone.py"))
    case = Case("test_x", "failed", "A property.", stream=STREAM)
    keep_failure(exercise, Verdict("window-diff", "A title", "failed", cases=[case]))
    assert judge(["replay", "window-diff", "--no-browser"]) == 0
    page = tmp_path / "replay-window-diff.html"
    assert "replay-window-diff.html" in capsys.readouterr().out
    html = page.read_text(encoding="utf-8")
    assert html.startswith("<!DOCTYPE html>") and "your run beside the reference" in html
