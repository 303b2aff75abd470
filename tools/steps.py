"""``python tools/steps.py check``: the package, rebuilt lesson by lesson from the notebooks alone.

For each lesson a tree of files is put together from the cells up to there, its main is run on that
tree and must print what the notebook shows. At the end the tree must equal ``minisgl/``. Prints for
each lesson the tree with what is new and what changed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from minisgl.utils.models import models_dir
from tools.cells import (
    APPENDIX,
    PACKAGE,
    CellError,
    Piece,
    lessons,
    main_of,
    number_of,
    pieces_of,
    printed,
)
from tools.source import Units, file_of, units_of

SECONDS_FOR_A_MAIN = 120
MARKS = {"new": "+ new", "changed": "~ changed", "given": "+ given", "same": "  as before"}


@dataclass
class Tree:
    """The files so far, and how each came: as a whole, or unit by unit."""

    whole: dict[str, str] = field(default_factory=dict)
    built: dict[str, Units] = field(default_factory=dict)

    def files(self) -> dict[str, str]:
        """Path under ``minisgl/`` → text. A folder that no cell has made a package yet is one."""
        files = {**self.whole, **{path: file_of(units) for path, units in self.built.items()}}
        folders = {parent.as_posix() for path in files for parent in Path(path).parents}
        for folder in folders:
            files.setdefault(f"{folder}/__init__.py" if folder != "." else "__init__.py", "")
        return files

    def add(self, piece: Piece) -> None:
        """Puts a piece into its file.

        Raises:
            CellError: the cell doesn't hold what its metadata says.
        """
        if not piece.symbols:
            self.whole[piece.path] = piece.text
            self.built.pop(piece.path, None)
            return
        units = _checked_units(piece)
        if piece.path in self.whole:
            if not piece.published:
                return  # the whole file is there already, and the cell equals its part of it
            self.built[piece.path] = units_of(self.whole.pop(piece.path))
        self.built.setdefault(piece.path, {}).update(units)


def _checked_units(piece: Piece) -> Units:
    """The units of a cell, which must be those that its metadata names.

    Raises:
        CellError: they aren't, or the text isn't the package's where it should be.
    """
    units = units_of(piece.text)
    if set(units) != set(piece.symbols):
        raise CellError(
            f"{piece.where}: named are {', '.join(piece.symbols)}, there are {', '.join(units)}"
        )
    if not piece.published:
        ours = units_of((PACKAGE / piece.path).read_text(encoding="utf-8"))
        for name, text in units.items():
            if name not in ours:
                raise CellError(f"{piece.where}: minisgl/{piece.path} has no {name}")
            if text != ours[name]:
                raise CellError(
                    f"{piece.where}: {name} isn't the text of minisgl/{piece.path}: "
                    f'copy it from there, or mark the cell "form": "published"'
                )
    return units


def package_files() -> dict[str, str]:
    """The package as it is: path → text."""
    return {
        path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def differences(files: dict[str, str]) -> list[str]:
    """What is not as in ``minisgl/``, one line each."""
    ours = package_files()
    lines = [f"minisgl/{path} is in no notebook" for path in ours if path not in files]
    lines += [f"minisgl/{path} is in a notebook only" for path in files if path not in ours]
    both = [path for path in ours if path in files]
    return lines + [f"minisgl/{path} differs" for path in both if files[path] != ours[path]]


def run_main(lesson: Path, files: dict[str, str]) -> str | None:
    """Runs a lesson's main on a tree of its own; says what is wrong, or None."""
    cell = main_of(lesson)
    if cell is None:
        return f"{lesson.name} has no main"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for path, text in files.items():
            target = root / "minisgl" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8", newline="\n")
        (root / "main.py").write_text(cell.source, encoding="utf-8", newline="\n")
        env = {
            **os.environ,
            "PYTHONPATH": str(root),
            "PYTHONUTF8": "1",
            "MINISGL_MODELS": str(models_dir()),
            "MINISGL_LOG_LEVEL": "ERROR",
        }
        try:
            ran = subprocess.run(
                [sys.executable, "main.py"],
                cwd=root,
                env=env,
                capture_output=True,
                encoding="utf-8",
                timeout=SECONDS_FOR_A_MAIN,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"the main of {lesson.name} doesn't end"
    if ran.returncode != 0:
        return f"the main of {lesson.name} fails on the lesson's tree:\n{ran.stderr[-2000:]}"
    if ran.stdout != printed(cell):
        return (
            f"the main of {lesson.name} prints on the lesson's tree\n{ran.stdout}\n"
            f"and in the notebook\n{printed(cell)}"
        )
    return None


def show_tree(
    console: Console, title: str, files: dict[str, str], before: dict[str, str], given: set[str]
) -> None:
    """The files with what is new and what changed since the lesson before."""
    console.print(f"\n[bold]{title}[/bold]")
    folder = ""
    for path in sorted(files, key=lambda path: (Path(path).parent.as_posix(), path)):
        parent = Path(path).parent.as_posix()
        if parent != folder:
            folder = parent
            console.print("  minisgl/" if folder == "." else f"  minisgl/{folder}/")
        if path not in before:
            state = "given" if path in given else "new"
        else:
            state = "same" if files[path] == before[path] else "changed"
        lines = files[path].count("\n")
        colour = {"new": "green", "changed": "yellow", "given": "cyan", "same": "dim"}[state]
        mark = f"[{colour}]{MARKS[state]}[/{colour}]"
        console.print(f"    {Path(path).name:<24}{lines:>5} lines  {mark}", highlight=False)


def check(console: Console, run: bool = True) -> int:
    """Goes through all lessons; the number of things that are wrong."""
    wrong: list[str] = []
    tree = Tree()
    before: dict[str, str] = {}
    last = 0
    appendix = list(pieces_of(APPENDIX))
    for lesson in lessons():
        number = number_of(lesson)
        given = [piece for piece in appendix if last < piece.lesson <= number]
        last = number
        try:
            for piece in [*given, *pieces_of(lesson)]:
                tree.add(piece)
        except (CellError, SyntaxError) as error:
            wrong.append(str(error))
        files = tree.files()
        if number > 0:
            show_tree(console, lesson.stem, files, before, {piece.path for piece in given})
        before = files
        if run and number > 0 and (fault := run_main(lesson, files)) is not None:
            wrong.append(fault)
        elif run and number > 0:
            console.print("  its main runs there, and prints what the notebook shows")
    for piece in appendix:
        tree.add(piece)
    files = tree.files()
    show_tree(console, APPENDIX.stem, files, before, set())
    wrong += differences(files)
    for line in wrong:
        console.print(line, style="red", markup=False)
    if not wrong:
        console.print("\nThe tree equals minisgl/.")
    return len(wrong)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 where something is wrong."""
    parser = argparse.ArgumentParser(prog="python tools/steps.py", description=__doc__)
    parser.add_argument("command", choices=["check", "show"], help="show: without running mains")
    asked = parser.parse_args(arguments)
    return 1 if check(Console(), run=asked.command == "check") else 0


if __name__ == "__main__":
    sys.exit(main())
