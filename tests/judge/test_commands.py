"""The commands, driven as a learner would: through pipes, and on a terminal."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from practice.judging.paths import ROOT
from practice.judging.verdict import from_json

from .conftest import OWN_EXERCISES, Command

RIGHT = "def double(text):\n    return text + text\n"
WRONG = "def double(text):\n    return text.strip() * 2\n"


def work_on(tmp_path: Path, source: str) -> Path:
    path = tmp_path / "ws" / "double.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(source, encoding="utf-8")
    return path


def test_alone_it_says_where_you_are(command: Command) -> None:
    done = command()
    assert done.returncode == 0
    assert "Lesson 01" in done.stdout and "0 of 2 passed" in done.stdout
    assert "start double" in done.stdout


def test_the_way_of_a_learner(command: Command, tmp_path: Path) -> None:
    started = command("start", "d")
    assert started.returncode == 0
    path = tmp_path / "ws" / "double.py"
    starter = path.read_text(encoding="utf-8")
    assert starter == (OWN_EXERCISES / "double" / "starter.py").read_text(encoding="utf-8")

    untouched = command("test", "1")
    assert untouched.returncode == 1 and "Not started" in untouched.stdout

    path.write_text(WRONG, encoding="utf-8")
    assert "stays as it is" in command("start", "double").stdout
    assert path.read_text(encoding="utf-8") == WRONG
    wrong = command("test", "double")
    assert wrong.returncode == 1
    assert "You take the spaces off the ends." in wrong.stdout
    assert "text = '␣'" in wrong.stdout and "\x1b" not in wrong.stdout
    replayed = command("replay", "double")
    assert replayed.returncode == 0 and "text = '␣'" in replayed.stdout

    assert "haven't passed" in command("solution", "double").stdout
    levels = [command("hint", "double").stdout for _ in range(4)]
    assert ["added" in levels[0], "itself" in levels[1], "text + text" in levels[2]] == [True] * 3
    assert levels[3] == levels[2]

    path.write_text(RIGHT, encoding="utf-8")
    right = command("test", "double")
    assert right.returncode == 0 and "Right." in right.stdout
    assert "return text + text" in command("solution", "double").stdout
    overview = command().stdout
    assert "1 of 2 passed" in overview and "✓" in overview and "start stream" in overview

    reset = command("reset", "double")
    assert reset.returncode == 0 and path.read_text(encoding="utf-8") == starter
    [backup] = (tmp_path / "ws" / "backups").glob("double.*.py")
    assert backup.read_text(encoding="utf-8") == RIGHT
    assert "1 of 2 passed" in command().stdout  # what was passed stays passed


def test_a_solution_that_is_revealed_is_noted(command: Command, tmp_path: Path) -> None:
    shown = command("solution", "double", "--reveal")
    assert shown.returncode == 0 and "return text + text" in shown.stdout
    progress = json.loads((tmp_path / "ws" / "progress.json").read_text(encoding="utf-8"))
    assert progress["records"]["double"]["revealed"]


def test_progress_goes_to_another_computer(command: Command, tmp_path: Path) -> None:
    work_on(tmp_path, RIGHT)
    assert command("test", "double").returncode == 0
    assert command("progress", "export", "out.json").returncode == 0
    other = {"MINISGL_WORKSPACE": str(tmp_path / "other")}
    assert command("progress", "import", "out.json", env=other).returncode == 0
    assert "1 of 2 passed" in command(env=other).stdout
    assert (tmp_path / "other" / "double.py").read_text(encoding="utf-8") == RIGHT
    (tmp_path / "other" / "double.py").write_text("mine", encoding="utf-8")
    again = command("progress", "import", "out.json", env=other)
    assert "left as it is" in again.stdout
    assert (tmp_path / "other" / "double.py").read_text(encoding="utf-8") == "mine"
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    bad = command("progress", "import", "bad.json")
    assert bad.returncode == 2 and "can't be imported" in bad.stderr


def test_broken_progress_is_put_aside(command: Command, tmp_path: Path) -> None:
    work_on(tmp_path, RIGHT)
    (tmp_path / "ws" / "progress.json").write_text("{half", encoding="utf-8")
    assert command("test", "double").returncode == 0
    assert "1 of 2 passed" in command().stdout
    [kept] = (tmp_path / "ws").glob("progress.broken-*.json")
    assert kept.read_text(encoding="utf-8") == "{half"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("duoble", "Did you mean double?"),
        ("7", "numbered 1 to 2"),
        ("zzz", "`judge.py list` shows"),
    ],
)
def test_a_typo_is_told_the_nearest(command: Command, typed: str, told: str) -> None:
    done = command("test", typed)
    assert done.returncode == 2 and told in done.stderr and not done.stdout


def test_a_mistyped_command_is_told_the_nearest(command: Command) -> None:
    done = command("tets", "double")
    assert done.returncode == 2 and not done.stdout
    assert done.stderr == "judge.py: there is no command 'tets'. Did you mean test?\n"


def test_formats(command: Command, tmp_path: Path) -> None:
    file = str(work_on(tmp_path, WRONG))
    as_json = command("test", "double", file, "--json")
    assert as_json.returncode == 1
    verdict = from_json(as_json.stdout)
    assert (verdict.status, verdict.diagnosis[:8]) == ("failed", "You take")

    suite = ET.fromstring(command("test", "double", "--junit").stdout).find("testsuite")
    assert suite is not None and (suite.get("tests"), suite.get("failures")) == ("3", "1")

    graded = json.loads(command("test", "--all", "--gradescope").stdout)
    assert sum(test["score"] for test in graded["tests"]) == pytest.approx(200 / 3, abs=0.01)
    assert sum(test["max_score"] for test in graded["tests"]) == pytest.approx(100, abs=0.01)


def test_narrow_and_without_colour(command: Command, tmp_path: Path) -> None:
    work_on(tmp_path, WRONG)
    done = command("test", "double", env={"COLUMNS": "34", "NO_COLOR": "1"})
    assert max(len(line) for line in done.stdout.splitlines()) <= 34
    assert "\x1b" not in done.stdout


def test_check_is_silent_where_all_is_well_and_names_what_is_not(
    command: Command, tmp_path: Path
) -> None:
    fine = command("check", "double")
    assert (fine.returncode, fine.stdout) == (0, "")
    spoilt = tmp_path / "exercises" / "double"
    shutil.copytree(OWN_EXERCISES / "double", spoilt)
    (spoilt / "solution.py").write_text(WRONG, encoding="utf-8")
    (spoilt / "starter.py").write_text(RIGHT, encoding="utf-8")
    wrong = (spoilt / "wrong" / "spaced.py").read_text(encoding="utf-8")
    (spoilt / "wrong" / "spaced.py").write_text(wrong.replace("{text} ", "{text}"), "utf-8")
    (spoilt / "wrong" / "notes.txt").write_text("?", encoding="utf-8")
    found = command("check", exercises=spoilt.parent)
    assert found.returncode == 1
    for problem in (
        "the solution doesn't pass: test_any",
        "the starter must fail a test, it is passed",
        "wrong/spaced.py isn't caught by test_example_word, but by no test",
        "wrong/notes.txt doesn't belong there",
    ):
        assert problem in found.stdout


def test_a_broken_exercise_does_not_stop_the_others(command: Command, tmp_path: Path) -> None:
    shutil.copytree(OWN_EXERCISES / "double", tmp_path / "exercises" / "double")
    (tmp_path / "exercises" / "half").mkdir()
    listed = command("list", exercises=tmp_path / "exercises")
    assert listed.returncode == 0 and "double" in listed.stdout
    assert "left out: half: exercise.md is missing" in listed.stderr
    checked = command("check", exercises=tmp_path / "exercises")
    assert checked.returncode == 1 and "half: exercise.md is missing" in checked.stdout


def test_doctor(command: Command) -> None:
    done = command("doctor")
    assert done.returncode == 0, done.stdout
    assert "double judged: passed" in done.stdout


def test_help_has_examples(command: Command) -> None:
    assert "judge.py test warm-up" in command("--help").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="pexpect needs a pseudo-terminal")
def test_watch_judges_on_save(tmp_path: Path) -> None:
    import pexpect

    path = work_on(tmp_path, WRONG)
    env = {**os.environ, "MINISGL_WORKSPACE": str(path.parent), "TERM": "xterm-256color"}
    env |= {"MINISGL_EXERCISES": str(OWN_EXERCISES), "COLUMNS": "90"}
    env.pop("NO_COLOR", None)
    script = str(ROOT / "practice" / "judge.py")
    child = pexpect.spawn(
        sys.executable, [script, "test", "d", "--watch"], env=env, cwd=str(tmp_path),
        encoding="utf-8", timeout=30, dimensions=(40, 90),
    )  # fmt: skip
    child.expect("Not yet")
    assert "\x1b[" in child.before + child.after  # a terminal has colours
    child.expect("Watching")
    time.sleep(0.1)  # a save after the look that the first verdict came from
    path.write_text(RIGHT, encoding="utf-8")
    child.expect("Right")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


@pytest.mark.skipif(sys.platform == "win32", reason="pexpect needs a pseudo-terminal")
def test_ctrl_c_ends_it_with_all_that_it_started(tmp_path: Path) -> None:
    import pexpect
    import psutil

    path = work_on(tmp_path, "def double(text):\n    while True: pass\n")
    env = {**os.environ, "MINISGL_WORKSPACE": str(path.parent)}
    env["MINISGL_EXERCISES"] = str(OWN_EXERCISES)
    script = str(ROOT / "practice" / "judge.py")
    arguments = [script, "test", "d", "--watch"]
    child = pexpect.spawn(sys.executable, arguments, env=env, encoding="utf-8", timeout=30)
    child.expect("come to an end")
    below = psutil.Process(child.pid).children(recursive=True)
    assert below
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    _gone, alive = psutil.wait_procs(below, timeout=10)
    assert not alive and re.search("130|2|1", str(child.exitstatus))
