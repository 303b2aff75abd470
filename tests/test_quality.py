"""The linters and the type checker are tests among the others."""

from __future__ import annotations

import re
import shutil
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


@pytest.fixture
def bare_clone(tmp_path: Path) -> Path:
    """README.md and .ci/run in a folder, beside programs that only write down how they are run."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    shutil.copy(ROOT / "README.md", tmp_path)
    (tmp_path / "bin").mkdir()
    for name, status in {"python3": 0, "chromium": 0, "dpkg": 0, "apt-get": 0}.items():
        program(tmp_path, name, status)
    return tmp_path


def program(folder: Path, name: str, status: int) -> None:
    """A stand-in for a program of the system; for ``python3 start.py`` its status is given too."""
    lines = [f'echo {name} "$@" >> "{folder}/log"', f"exit {status}"]
    path = folder / "bin" / name
    path.write_text("\n".join(["#!/bin/bash", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)


def run_ci(folder: Path) -> tuple[int, list[str]]:
    """Exit status of .ci/run and the commands that it gave."""
    path = f"{folder / 'bin'}:/usr/bin:/bin"
    done = subprocess.run(["bash", folder / ".ci" / "run"], env={"PATH": path}, check=False)
    log = (folder / "log").read_text(encoding="utf-8").splitlines()
    return done.returncode, [line for line in log if not line.startswith("dpkg")]


needs_bash = pytest.mark.skipif(sys.platform == "win32", reason="CI runs on Linux")


@needs_bash
def test_ci_runs_the_command_that_the_readme_gives(bare_clone: Path) -> None:
    readme = (bare_clone / "README.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"<!-- test command -->\n```\w*\n(.*?)\n```\n", readme, re.DOTALL)
    assert run_ci(bare_clone) == (0, ["python3 -c import venv, ensurepip", command])


@needs_bash
@pytest.mark.parametrize("status", [1, 5])
def test_ci_fails_with_the_tests_and_without_any(bare_clone: Path, status: int) -> None:
    script = f'[ "$1" = -c ] && exit 0; echo python3 >> "{bare_clone}/log"; exit {status}\n'
    (bare_clone / "bin" / "python3").write_text(f"#!/bin/bash\n{script}", encoding="utf-8")
    assert run_ci(bare_clone) == (status, ["python3"])


@needs_bash
def test_ci_installs_what_is_missing(bare_clone: Path) -> None:
    program(bare_clone, "dpkg", 1)
    commands = run_ci(bare_clone)[1]
    assert commands[1] == "apt-get update -qq"
    assert {"fonts-noto-cjk", "fonts-noto-color-emoji"} <= set(commands[2].split())
    assert commands[-1] == "python3 start.py test"


@needs_bash
def test_ci_fails_where_the_readme_has_no_command(bare_clone: Path) -> None:
    (bare_clone / "README.md").write_text("# nothing\n", encoding="utf-8")
    status, commands = run_ci(bare_clone)
    assert status != 0
    assert not any("start.py" in command for command in commands)


def test_text_files_end_their_lines_alike() -> None:
    """A carriage return would change the hash of a notebook, and with it JupyterLab's trust."""
    names = ["README.md", "start.py", "pyproject.toml", "environment.yml", ".ci/run"]
    assert [name for name in names if b"\r" in (ROOT / name).read_bytes()] == []
