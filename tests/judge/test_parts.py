"""The judge's parts by themselves."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from practice.judging import api, workspace
from practice.judging.exercises import Exercise, ExerciseError, load_exercise
from practice.judging.find import find_exercise
from practice.judging.front_matter import FrontMatterError, split_front_matter
from practice.judging.page import to_html
from practice.judging.plain import to_text
from practice.judging.progress import Progress, Record
from practice.judging.verdict import Case, Place, Verdict
from practice.judging.visible import visible
from practice.judging.wire import DisturbedError, FrameReader, make_reporter

from .conftest import OWN_EXERCISES


def copy_of(folder: Path, target: Path) -> Path:
    return Path(shutil.copytree(folder, target / folder.name))


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("exercise.md", "id: double", "id: dubble", "id is 'dubble', the folder is 'double'"),
        ("exercise.md", "minutes: 1", "minutes: soon", "minutes"),
        ("exercise.md", "order: 1", "odrer: 1", "odrer"),
        ("exercise.md", "title: Twice the text\n", "", "title"),
        ("exercise.md", "easy", "trivial", "difficulty must be one of"),
        ("exercise.md", "symbols: [double]", "symbols: []", "symbols"),
        ("hints.md", "## The idea", "The idea", "hints.md must have 3 parts"),
        ("wrong/spaced.py", "# caught by: test_example_word", "", "caught by"),
        ("wrong/spaced.py", '"""You put a space between the two."""', "", "docstring"),
    ],
)
def test_loader_names_what_is_odd(tmp_path: Path, name: str, old: str, new: str, told: str) -> None:
    folder = copy_of(OWN_EXERCISES / "double", tmp_path)
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ExerciseError) as caught:
        load_exercise(folder)
    assert told in str(caught.value) and "double" in str(caught.value)


def test_loader_names_what_is_missing_or_too_much(tmp_path: Path) -> None:
    folder = copy_of(OWN_EXERCISES / "double", tmp_path)
    (folder / "notes.txt").write_text("", encoding="utf-8")
    with pytest.raises(ExerciseError, match=r"notes\.txt doesn't belong here"):
        load_exercise(folder)
    (folder / "notes.txt").rename(folder / "starter.py")
    (folder / "test.py").unlink()
    with pytest.raises(ExerciseError, match=r"test\.py is missing"):
        load_exercise(folder)


def test_content_hash_is_of_what_a_verdict_depends_on(tmp_path: Path) -> None:
    folder = copy_of(OWN_EXERCISES / "double", tmp_path)
    before = load_exercise(folder).content_hash
    statement = folder / "exercise.md"
    statement.write_text(statement.read_text("utf-8") + "More words.\n", "utf-8")
    windows = (folder / "test.py").read_text("utf-8").replace("\n", "\r\n")
    (folder / "test.py").write_bytes(windows.encode())
    assert load_exercise(folder).content_hash == before
    (folder / "test.py").write_text(windows.replace("abab", "abba"), "utf-8")
    assert load_exercise(folder).content_hash != before


@pytest.mark.parametrize(
    "text", ["id: x\n", "---\nid: x\n", "---\nid x\n---\n", "---\nid: x\nid: y\n---\n"]
)
def test_front_matter_that_cannot_be_read(text: str) -> None:
    with pytest.raises(FrontMatterError):
        split_front_matter(text)


def test_find_exercise(double: Exercise) -> None:
    stream = load_exercise(OWN_EXERCISES / "stream")
    both = [double, stream]
    for typed in ("double", "1", "d", "DOUBLE", "double.py"):
        assert find_exercise(typed, both) is double
    with pytest.raises(ExerciseError, match="could be"):
        find_exercise("s", [stream, msgspec.structs.replace(stream)])


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("", "'' (empty)"),
        ("a b\n\t", "'a␣b⏎⇥'"),
        ("\ufffd", "'�⟨U+FFFD⟩'"),
        ("e\u0301\u200d", "'e\u0301⟨U+200D⟩'"),
        ([1, "x y"], "[1, 'x␣y']"),
        ((1,), "(1,)"),
        ({"a": {1}}, "{'a': {1}}"),
        (None, "None"),
        (b"\xff", "b'\\xff'"),
    ],
)
def test_visible(value: Any, shown: str) -> None:
    assert visible(value) == shown


def test_visible_never_runs_code_of_the_value_and_is_short() -> None:
    class Loud:
        def __init__(self) -> None:
            self.ids = list(range(1000))
            self.itself = self

        def __repr__(self) -> str:
            raise AssertionError("this must not run")

    shown = visible({"loud": Loud()})
    assert "Loud(ids=[0, 1" in shown and "1000 in all" in shown and len(shown) <= 400
    assert "(5000 characters)" in visible("x" * 5000)


@pytest.mark.parametrize(
    ("got", "expected"),
    [(True, 1), ([1], (1,)), ({"a": 1}, {"a": True}), (1.0, 1), ("a", None), ([1, 2], [1])],
)
def test_expect_equal_looks_at_types(got: Any, expected: Any) -> None:
    with pytest.raises(AssertionError):
        api.expect_equal(got, expected)
    api.expect_equal(expected, expected)


def test_frames_that_are_not_signed_are_noticed() -> None:
    key = os.urandom(32)
    inside, outside = os.pipe()
    make_reporter(outside, key)({"event": "end", "n": 1})
    data = os.read(inside, 1 << 16)
    assert list(FrameReader(key).feed(data)) == [{"event": "end", "n": 1}]
    for forged in (data[:-1] + b"?", b"5 passed" * 20, data.replace(b"end", b"bad")):
        with pytest.raises(DisturbedError):
            list(FrameReader(key).feed(forged))
    reader = FrameReader(key)
    list(reader.feed(data))
    with pytest.raises(DisturbedError):  # a frame that is played again
        list(reader.feed(data))
    os.close(inside)
    os.close(outside)


def test_progress_survives_a_change_of_the_exercise(double: Exercise) -> None:
    progress = Progress({"double": Record(passed={"older hash": "2026-01-01"}), "gone": Record()})
    assert progress.state(double) == "passed_before"
    progress.note(double, Verdict("double", "", "passed", content_hash=double.content_hash))
    assert progress.state(double) == "passed"
    assert "gone" in msgspec.json.decode(msgspec.json.encode(progress), type=Progress).records


def test_a_cell_never_overwrites_what_was_typed_in_an_editor(
    double: Exercise, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINISGL_WORKSPACE", str(tmp_path))
    path = workspace.save(double, "first")
    workspace.save(double, "second")
    assert not (tmp_path / "backups").exists()  # both were the cell's own
    path.write_text("edited outside", encoding="utf-8")
    workspace.save(double, "third")
    assert path.read_text(encoding="utf-8") == "third"
    [backup] = (tmp_path / "backups").iterdir()
    assert backup.read_text(encoding="utf-8") == "edited outside"


EVIL = "<script>alert(1)</script>"


def verdict_with(text: str) -> Verdict:
    place = Place(3, text, text, {text: text})
    case = Case("test_a", "failed", text, False, {text: text}, text, text, text, text, 0.1, place)
    return Verdict("double", text, "failed", [case], text, place, text, "hint double", [text], text)


def test_html_is_inert_and_has_no_style_sheet() -> None:
    page = to_html(verdict_with(EVIL))
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "<style" not in page and "class=" not in page and " id=" not in page
    assert not any(name in page for name in ("background: #", "color: black", "color: white"))


def test_plain_twin_says_what_the_page_says() -> None:
    words = "the difference that matters"
    verdict = verdict_with(words)
    assert to_text(verdict).count(words) >= 8
    assert to_html(verdict).count(words) >= 8


def test_every_public_helper_is_told_to_authors() -> None:
    from practice.judging.paths import ROOT

    told = (ROOT / "practice" / "exercises" / "AUTHORING.md").read_text(encoding="utf-8")
    assert isinstance(api, ModuleType)
    assert not [name for name in api.__all__ if name not in told]
