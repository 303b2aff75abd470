"""What start.py decides, on a copy of it in a folder of its own; nothing is downloaded."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[1]


@pytest.fixture
def course(tmp_path: Path) -> ModuleType:
    """start.py of a checkout whose path has spaces and characters from everywhere."""
    root = tmp_path / "my cöurse 推理"
    (root / "minisgl").mkdir(parents=True)
    for name in ("start.py", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, root)
    spec = importlib.util.spec_from_file_location("start_of_a_copy", root / "start.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Machine:
    """Plays the programs that start.py runs: venv, pip and the course's own."""

    def __init__(self, course: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        self.course = course
        self.venvs = 0
        self.installed: list[str] = []
        self.groups: set[str] = set()
        self.refuse: dict[str, BaseException] = {}  # what an installer's name leads to
        self.packages_fit = True
        self.torch_there = False
        self.cpu_build = True
        monkeypatch.setattr(course, "ask", self.ask)
        monkeypatch.setattr(course, "install_with", self.install_with)

    def ask(self, *command: object) -> tuple[bool, str]:
        words = [str(part) for part in command]
        if words[1:3] == ["-m", "venv"]:
            self.venvs += 1
            self.course.PYTHON.parent.mkdir(parents=True)
            self.course.PYTHON.touch()
        if "--dry-run" in words:
            return self.cpu_build, f"about {words[-1]}"  # pip names it, found or not
        if any("version('torch')" in word for word in words):
            return self.torch_there, self.course.TORCH if self.torch_there else ""
        if any("packages.py" in word for word in words):
            wanted = set(words[words.index("--groups") + 1 :])
            return self.packages_fit and wanted <= self.groups, ""
        return True, "3 11"

    def install_with(self, what: str, *command: object) -> None:
        words = [str(part) for part in command]
        package = words[-1]
        for name, error in self.refuse.items():
            if name in package:
                raise error
        self.installed.append(f"uv {package}" if words[1:3] == ["-m", "uv"] else package)
        self.torch_there = self.torch_there or package == self.course.TORCH
        if package.startswith(".["):
            self.groups.update(package[2:-1].split(","))


@pytest.fixture
def machine(course: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(course, monkeypatch)


# ---------------------------------------------------------------- Python's version


@pytest.mark.parametrize("version", [(3, 6), (3, 10), (3, 14), (4, 0)])
def test_other_pythons_are_told_which_to_take(course: Any, version: tuple[int, int]) -> None:
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 to 3\.13, this is"):
        course.check_python(version)


@pytest.mark.parametrize("version", [(3, 11), (3, 12), (3, 13)])
def test_fitting_pythons_go_on(course: Any, version: tuple[int, int]) -> None:
    course.check_python(version)


def test_old_pythons_can_parse_it() -> None:
    source = (REPOSITORY / "start.py").read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 6))
    guard = next(i for i, node in enumerate(tree.body) if isinstance(node, ast.If))
    before = [node for node in tree.body[:guard] if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [alias.name for node in before for alias in node.names] == ["sys"]
    newer = (ast.Match, ast.NamedExpr, ast.TryStar)
    assert [type(node).__name__ for node in ast.walk(tree) if isinstance(node, newer)] == []


# ---------------------------------------------------------------- set-up and stamp


def test_set_up_then_nothing_to_do(course: Any, machine: Machine) -> None:
    course.set_up(set())
    assert machine.installed == [course.TORCH, "."]
    course.set_up(set())
    assert (machine.venvs, machine.installed) == (1, [course.TORCH, "."])


def test_tests_need_more_and_later_set_ups_take_nothing_away(course: Any, machine: Machine) -> None:
    course.set_up(set())
    course.set_up({"dev"})
    assert machine.installed[2:] == [".[dev]", *course.no_deps_requirements()]
    course.set_up(set())
    assert len(machine.installed) == 3 + len(course.no_deps_requirements())
    assert course.read_stamp()["groups"] == {"dev"}


def test_changed_pyproject_asks_again_and_installs_only_what_is_missing(
    course: Any, machine: Machine
) -> None:
    course.set_up(set())
    pyproject = course.ROOT / "pyproject.toml"
    pyproject.write_text(pyproject.read_text(encoding="utf-8") + "\n# more\n", encoding="utf-8")
    assert not course.is_set_up(set())
    course.set_up(set())
    assert course.is_set_up(set())
    assert len(machine.installed) == 2, "the packages fit: there was nothing to install"


def test_changed_requirements_are_installed(course: Any, machine: Machine) -> None:
    course.set_up(set())
    (course.ROOT / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    answers = iter([False, True])
    course.packages_missing = lambda groups: not next(answers)
    course.set_up(set())
    assert machine.installed == [course.TORCH, ".", "."]


def test_a_new_importable_folder_is_made_known(course: Any, machine: Machine) -> None:
    course.set_up(set())
    (course.ROOT / "practice").mkdir()
    course.set_up(set())
    assert machine.installed == [course.TORCH, ".", "."]


def test_setup_repairs_what_was_deleted_since(course: Any, machine: Machine) -> None:
    course.main(["setup"])
    course.main(["setup"])
    assert machine.installed == [course.TORCH, "."]
    answers = iter([False, False, False, True])
    course.packages_missing = lambda groups: not next(answers)
    course.main(["setup"])
    assert machine.installed == [course.TORCH, ".", "."]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '"x"', '{"root": "/elsewhere", "project": "x", "groups": []}']
)
def test_a_damaged_or_foreign_stamp_counts_as_none(
    course: Any, machine: Machine, text: str
) -> None:
    course.set_up(set())
    course.STAMP.write_text(text, encoding="utf-8")
    assert not course.is_set_up(set())
    course.set_up(set())
    assert machine.venvs == 2


def test_killed_while_the_venv_is_made(course: Any, machine: Machine) -> None:
    course.PYTHON.parent.mkdir(parents=True)
    course.PYTHON.touch()
    rest = course.VENV / "half"
    rest.touch()
    course.set_up(set())
    assert machine.venvs == 1
    assert not rest.exists()


def test_killed_while_packages_are_installed(course: Any, machine: Machine) -> None:
    machine.refuse = {".": KeyboardInterrupt()}
    machine.torch_there = True
    with pytest.raises(KeyboardInterrupt):
        course.set_up(set())
    assert not course.is_set_up(set())
    machine.refuse = {}
    course.set_up(set())
    assert (machine.venvs, machine.installed) == (1, ["."])
    assert course.is_set_up(set())


def test_what_is_downloaded_is_told_before(
    course: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    told = []
    monkeypatch.setattr(course, "install_torch", lambda _: told.append(capsys.readouterr().out))
    course.set_up({"dev"})
    assert "350 MB" in told[0]
    assert course.SIZES["dev"] in told[0]


def test_every_group_has_a_size(course: Any) -> None:
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    assert set(course.SIZES) == set(tomllib.loads(text)["project"]["optional-dependencies"])


def test_half_copied_packages_are_forgotten(course: Any) -> None:
    packages = course.VENV / "lib/python3.11/site-packages"
    for name, files in {
        "whole-1": ["METADATA", "RECORD", "INSTALLER"],
        "half-1": ["METADATA"],
    }.items():
        (packages / f"{name}.dist-info").mkdir(parents=True)
        for file in files:
            (packages / f"{name}.dist-info" / file).touch()
    course.forget_half_installed()
    assert [path.name for path in packages.iterdir()] == ["whole-1.dist-info"]


# ---------------------------------------------------------------- what can go wrong


def fake_installer(*lines: str) -> list[str]:
    """A program that prints these lines and fails."""
    return [sys.executable, "-c", f"print({chr(10).join(lines)!r}); raise SystemExit(1)"]


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by ...",
        "ERROR: Could not find a version that satisfies the requirement x (from versions: none)",
    ],
)
def test_no_network_is_told_in_words(course: Any, line: str) -> None:
    with pytest.raises(course.OfflineError, match=r"No network.*run the same command again"):
        course.install_with("the packages", *fake_installer(line))


def test_pip_without_an_index_is_recognised(course: Any) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--isolated"]
    with pytest.raises(course.OfflineError):
        course.install_with("a package", *pip, "no-such-package-on-this-disk")


def test_other_failures_show_the_installers_last_lines(course: Any) -> None:
    with pytest.raises(course.SetupError, match="compiler is missing") as caught:
        course.install_with("the packages", *fake_installer("a", "the compiler is missing"))
    assert not isinstance(caught.value, course.OfflineError)


def test_without_network_the_last_set_up_goes_on_working(
    course: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    course.set_up(set())
    (course.ROOT / "practice").mkdir()
    machine.packages_fit = False
    machine.refuse = {".": course.OfflineError("No network")}
    opened = []
    monkeypatch.setattr(course, "open_lab", lambda *options: opened.append(options) or 0)
    assert course.main(["--no-browser"]) == 0
    assert opened == [(False, course.PORT)]
    assert "going on with those of the last set-up" in capsys.readouterr().out
    assert course.is_set_up(set()) is False
    for command in (["test"], ["setup"]):
        with pytest.raises(course.OfflineError, match="the lessons open as before"):
            course.main(command)


def test_without_network_the_first_set_up_says_so(course: Any, machine: Machine) -> None:
    machine.refuse = {"torch": course.OfflineError("No network")}
    for _ in range(2):
        with pytest.raises(course.OfflineError, match="can be read, not run"):
            course.main([])


def test_folder_that_cant_be_written(course: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(course.SetupError, match=r"can't be written to.*[Cc]opy the course"):
        course.set_up(set())


def test_full_disk(course: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(course.ROOT)._replace(free=10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(course.SetupError, match=r"needs 2\.5 GB of free disk, there are 1\.0"):
        course.set_up(set())
    assert machine.venvs == 0


def test_python_without_venv(course: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(course, "ask", lambda *_: (False, "No module named ensurepip"))
    with pytest.raises(course.SetupError, match="apt install python3-venv") as caught:
        course.set_up(set())
    assert "No module named ensurepip" in str(caught.value)
    assert not course.VENV.exists()


def test_tokenizers_that_cant_be_built(
    course: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*command: object) -> tuple[bool, str]:
        return (False, "bad sha256") if "minisgl.utils.models" in command else machine.ask(*command)

    monkeypatch.setattr(course, "ask", ask)
    with pytest.raises(course.SetupError, match="bad sha256"):
        course.set_up(set())
    assert not course.is_set_up(set())


# ---------------------------------------------------------------- two set-ups at once


def test_a_second_set_up_waits_for_the_first(course: Any, machine: Machine) -> None:
    with course.only_one():
        second = threading.Thread(target=course.set_up, args=(set(),), daemon=True)
        second.start()
        second.join(0.3)
        assert second.is_alive()
        assert machine.venvs == 0
    second.join(30)
    assert not second.is_alive()
    assert machine.venvs == 1


@pytest.mark.skipif(sys.platform == "win32", reason="locks aren't inherited on Windows")
def test_a_child_keeps_the_lock_of_a_killed_set_up(course: Any) -> None:
    with course.only_one():
        child = course.start(sys.executable, "-c", "import time; time.sleep(60)")
    handle = os.open(course.LOCK, os.O_RDWR)
    try:
        assert not course.lock(handle)
        child.kill()
        child.communicate()
        assert course.lock(handle)
    finally:
        os.close(handle)


# ---------------------------------------------------------------- PyTorch's build


def test_pip_is_taken_where_it_finds_a_cpu_build(
    course: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    course.install_torch([])
    assert machine.installed == [course.TORCH]


def test_else_uv_fetches_the_cpu_build(
    course: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    machine.cpu_build = False
    course.install_torch(["python", "-m", "pip"])
    assert machine.installed == ["uv>=0.9,<1", f"uv {course.TORCH}"]


def test_the_cuda_build_comes_last_and_with_a_word_on_its_size(
    course: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    machine.cpu_build = False
    machine.refuse = {"uv": course.SetupError("no uv for this machine")}
    course.install_torch(["python", "-m", "pip"])
    assert machine.installed == [course.TORCH]
    assert "5.4 GB on disk" in capsys.readouterr().out


def test_no_cuda_build_without_network_or_room(
    course: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    machine.cpu_build = False
    machine.refuse = {"uv": course.OfflineError("No network")}
    with pytest.raises(course.OfflineError):
        course.install_torch([])
    machine.refuse = {"uv": course.SetupError("no uv")}
    usage = shutil.disk_usage(course.ROOT)._replace(free=4 * 10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(course.SetupError, match="free disk"):
        course.install_torch([])
    assert machine.installed == []


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_other_systems_have_the_cpu_build_in_the_index(
    course: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    machine.cpu_build = False
    course.install_torch([])
    assert machine.installed == [course.TORCH]


# ---------------------------------------------------------------- progress, variables, commands


def test_progress_counts_packages_and_megabytes(course: Any) -> None:
    progress = course.Progress("the packages")
    for line in (
        "Collecting torch==2.13.0",
        "Processing /wheels/rich-15.0.0-py3-none-any.whl (from minisgl==0.1.0)",
        "  Downloading torch-2.13.0-cp311-cp311-linux.whl (190.5 MB)",
        "  Downloading rich-15.0.0-py3-none-any.whl.metadata (18 kB)",
        "  Downloading rich-15.0.0-py3-none-any.whl (500 kB)",
        "Requirement already satisfied: numpy in ./lib (2.3.5)",
    ):
        progress.read(line)
    assert "2 packages, 191 MB" in progress.text()


def test_programs_get_utf8_and_nothing_of_another_python(
    course: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("PYTHONHOME", "/elsewhere")
    monkeypatch.setenv("PIP_USER", "1")
    code = "import os, sys; print(sys.flags.utf8_mode, '推理', os.environ.get('PYTHONPATH'))"
    well, output = course.ask(sys.executable, "-c", code)
    assert (well, output.split()) == (True, ["1", "推理", "None"])
    assert course.environment()["PIP_USER"] == "0"


def notebook(course: Any, name: str, text: str) -> None:
    """A file in the copy's notebooks/."""
    path = course.ROOT / "notebooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_notebooks_are_trusted_once_and_again_after_a_change(
    course: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[list[str]] = []

    def ask(*command: object) -> tuple[bool, str]:
        calls.append([str(part) for part in command[3:]])
        return True, ""

    monkeypatch.setattr(course, "ask", ask)
    course.VENV.mkdir()
    course.trust_notebooks()
    assert calls == [], "with no file `jupyter trust` would wait for standard input"
    notebook(course, "00_start_here.ipynb", "{}")
    course.trust_notebooks()
    course.trust_notebooks()
    assert [Path(name).name for (name,) in calls] == ["00_start_here.ipynb"]
    notebook(course, "00_start_here.ipynb", '{"cells": []}')
    course.trust_notebooks()
    assert len(calls) == 2


@pytest.fixture
def handed_over(
    course: Any, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[tuple[list[str], dict[str, str]]]]:
    """The programs that start.py ends with, which are not started."""
    calls: list[tuple[list[str], dict[str, str]]] = []

    def hand_over(command: list[str], **variables: str) -> int:
        calls.append((command, variables))
        return 5

    monkeypatch.setattr(course, "hand_over", hand_over)
    yield calls


def test_arguments_after_test_go_to_pytest(
    course: Any, handed_over: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false")
    arguments = ["-x", "--port", "tests/test_wire.py", "--dev", "-h"]
    assert course.main(["test", *arguments]) == 5, "pytest's exit status is ours"
    assert handed_over == [(["-m", "pytest", *arguments], {"HF_HUB_OFFLINE": "1"})]
    assert "TOKENIZERS_PARALLELISM" not in course.environment()
    assert course.read_stamp()["groups"] == {"dev"}


def test_the_whole_suite_runs_side_by_side(course: Any, handed_over: Any) -> None:
    assert course.main(["test"]) == 5
    ((command, _),) = handed_over
    assert command[:2] == ["-m", "pytest"]
    assert "loadscope" in command, "nbval: a notebook's cells stay together, in their order"


def test_lab_opens_the_first_notebook(course: Any, handed_over: Any) -> None:
    course.main(["--no-browser", "--port", "9999"])
    ((command, _),) = handed_over
    assert command[:2] == ["-m", "jupyterlab"]
    assert {"--no-browser", "--port=9999", f"--ServerApp.root_dir={course.ROOT}"} <= set(command)
    assert f"--LabApp.default_url=/lab/tree/{course.FIRST_NOTEBOOK}" in command


@pytest.mark.parametrize(
    ("arguments", "groups"),
    [([], []), (["--dev"], ["dev"]), (["--with-model"], ["model"])],
)
def test_setup_takes_groups(
    course: Any, handed_over: Any, arguments: list[str], groups: list[str]
) -> None:
    assert course.main(["setup", *arguments]) == 0
    assert json.loads(course.STAMP.read_text(encoding="utf-8"))["groups"] == groups
    assert handed_over == []


@pytest.mark.parametrize("arguments", [["nonsense"], ["--prot", "1"], ["doctor", "--force"]])
def test_unknown_arguments_are_refused(course: Any, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        course.main(arguments)
    assert caught.value.code == 2


def test_runs_from_any_folder(course: Any, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, course.ROOT / "start.py", "doctor"],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "bad  environment" in done.stdout
