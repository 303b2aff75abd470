"""The command line: what can be typed, and where it goes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from . import commands, maintain
from .client import JudgeError
from .exercises import ExerciseError
from .paths import ROOT
from .progress import ProgressError

EXAMPLES = """\
examples:
  judge.py                    where you are and what comes next
  judge.py start warm-up      put the starter into practice/workspace/
  judge.py test warm-up       judge practice/workspace/warm-up.py
  judge.py test w --watch     the same, again whenever you save
  judge.py hint 1             the next hint for exercise 1
  judge.py grade handed-in/   judge a class

An exercise can be named by its ID, its number or the beginning of its ID.
"""


def run(arguments: Sequence[str]) -> int:
    """Runs a command; returns its exit status: 0 only where what was judged has passed."""
    parser, names = make_parser()
    if arguments and not arguments[0].startswith("-") and arguments[0] not in names:
        near = get_close_matches(arguments[0], names, n=1)
        help_text = f"Did you mean {near[0]}?" if near else f"There are {', '.join(names)}."
        print(f"judge.py: there is no command {arguments[0]!r}. {help_text}", file=sys.stderr)
        return 2
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except (ExerciseError, JudgeError, ProgressError, OSError) as error:
        print(f"judge.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130


def command_name() -> str:
    """How the learner called this, for messages that name a command."""
    script = ROOT / "practice" / "judge.py"
    here = Path.cwd()
    shown = os.path.relpath(script, here) if script.is_relative_to(here) else str(script)
    return f"python {shown}"


def make_parser() -> tuple[argparse.ArgumentParser, list[str]]:
    """The parser, and the names of all commands."""
    parser = argparse.ArgumentParser(
        prog="judge.py",
        description="Judges the exercises of the course.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=commands.overview, command=command_name())
    several = parser.add_subparsers(title="commands", metavar="")

    def add(name: str, run: object, text: str) -> argparse.ArgumentParser:
        sub = several.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        return sub

    def add_for_exercise(name: str, run: object, text: str) -> argparse.ArgumentParser:
        sub = add(name, run, text)
        sub.add_argument("id", help="ID, number, or beginning of an ID")
        return sub

    add("list", commands.show_list, "all exercises, passed or not")
    add_for_exercise("start", commands.start, "put the starter into your workspace")
    _add_test(add("test", commands.test, "judge your code"))
    add_for_exercise("hint", commands.hint, "the next hint; three levels")
    solution = add_for_exercise("solution", commands.solution, "our solution, after you passed")
    solution.add_argument("--reveal", action="store_true", help="before you passed; it is noted")
    add_for_exercise("reset", commands.reset, "back to the starter; yours goes to a dated backup")
    replay = add_for_exercise("replay", commands.replay, "the failing stream, token by token")
    replay.add_argument("--no-browser", action="store_true", help="don't open the page")
    progress = add("progress", commands.progress, "export or import your progress and files")
    progress.add_argument("action", choices=["export", "import"])
    progress.add_argument("file", type=Path, nargs="?", default=Path("minisgl-progress.json"))
    check = add("check", maintain.check, "for maintainers: are the exercises as they should be?")
    check.add_argument("id", nargs="?", help="only this one")
    add("doctor", maintain.doctor, "does the judge work on this computer?")
    grade = add("grade", maintain.grade, "judge a class: a folder of files, notebooks, zips")
    grade.add_argument("folder", type=Path)
    grade.add_argument("--out", type=Path, help="folder for the results (default: FOLDER/results)")
    grade.add_argument("--jobs", type=int, default=0, help="processes (default: one a core)")
    grade.add_argument("--again", action="store_true", help="judge all anew")
    return parser, list(several.choices)


def _add_test(test: argparse.ArgumentParser) -> None:
    test.add_argument("id", nargs="?", help="ID, number, or beginning of an ID")
    test.add_argument("file", nargs="?", type=Path, help="another file than the workspace's")
    test.add_argument("--all", action="store_true", help="all exercises that you have begun")
    test.add_argument("--watch", action="store_true", help="again whenever the file is saved")
    test.add_argument("--seed", type=int, default=0, help="another seed for the property tests")
    form = test.add_mutually_exclusive_group()
    form.add_argument("--json", dest="form", action="store_const", const="json")
    form.add_argument("--junit", dest="form", action="store_const", const="junit")
    form.add_argument("--gradescope", dest="form", action="store_const", const="gradescope")
