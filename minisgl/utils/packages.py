"""``python -m minisgl.utils.packages --check``: installed packages against ``pyproject.toml``."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def requirements() -> list[str]:
    """The learner's dependencies, as ``pyproject.toml`` lists them."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    return list(project["dependencies"])


def check_packages() -> Iterator[tuple[str, bool, str]]:
    """For each dependency: its name, whether it is well, and what there is to say."""
    from packaging.requirements import Requirement

    for text in requirements():
        wanted = Requirement(text)
        try:
            found = metadata.version(wanted.name)
        except metadata.PackageNotFoundError:
            yield wanted.name, False, "is missing: run `python3 start.py setup`"
            continue
        well = wanted.specifier.contains(found, prereleases=True)
        remedy = "" if well else f", wanted {wanted.specifier}: run `python3 start.py setup`"
        yield wanted.name, well, found + remedy


def main() -> int:
    """Prints a line for each; 1 where one is not well."""
    states = list(check_packages())
    for name, well, message in states:
        print("ok" if well else "bad", name, message)
    return 0 if all(well for _, well, _ in states) else 1


if __name__ == "__main__":
    sys.exit(main())
