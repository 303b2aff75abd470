"""Installed packages against ``pyproject.toml``: ``python minisgl/utils/packages.py --groups dev``.

Run by its path and with ``-I`` it needs nothing but pip, so it can look at a broken environment.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

try:
    from packaging.requirements import Requirement
except ImportError:  # an environment that lacks even this: pip brings its own copy
    from pip._vendor.packaging.requirements import Requirement  # type: ignore[assignment]

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"


def requirements(groups: Sequence[str] = (), pyproject: Path = PYPROJECT) -> list[str]:
    """The learner's dependencies and those of `groups`, as ``pyproject.toml`` lists them."""
    text = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    found = list(text["project"]["dependencies"])
    for group in groups:
        found += text["project"]["optional-dependencies"][group]
    return found + (text["tool"]["minisgl"]["no-deps"] if groups else [])


def check_packages(wanted: Sequence[str]) -> Iterator[tuple[str, bool, str]]:
    """For each requirement: the package's name, whether it is well, and what there is to say."""
    for requirement in map(Requirement, wanted):
        if requirement.marker and not requirement.marker.evaluate():
            continue
        try:
            found = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            yield requirement.name, False, "is missing: run `python3 start.py setup`"
            continue
        well = requirement.specifier.contains(found, prereleases=True)
        remedy = "" if well else f", wanted {requirement.specifier}: run `python3 start.py setup`"
        yield requirement.name, well, found + remedy


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a line for each package; 1 where one is not well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", nargs="*", default=[], help="besides the learner's packages")
    wanted = ["minisgl", *requirements(parser.parse_args(arguments).groups)]
    states = list(check_packages(wanted))
    for name, well, message in states:
        print("ok" if well else "bad", name, message)
    return 0 if all(well for _, well, _ in states) else 1


if __name__ == "__main__":
    sys.exit(main())
