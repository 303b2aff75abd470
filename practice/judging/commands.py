"""The learner's commands. Each takes the parsed options and returns an exit status."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.markdown import Markdown
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from . import exports, workspace
from .client import Judge, not_started, read_submission
from .exercises import Exercise, ExerciseError
from .find import find_exercise, known_exercises
from .mistakes import diagnose
from .paths import exercises_dir, shown_path
from .progress import (
    Progress,
    export_progress,
    import_progress,
    load_progress,
    now,
    save_progress,
)
from .replay import drawing_of, replay_table, show_page, write_page
from .terminal import draw, make_console, show
from .verdict import Verdict, to_json

SIGNS = {
    "passed": ("✓", "green"),
    "passed_before": ("✓", "yellow"),
    "trying": ("✗", "red"),
    "started": ("·", "cyan"),
    "new": (" ", ""),
}
STATUS_CODES = {"passed": 0, "failed": 1, "error": 1, "timeout": 1, "not_started": 1}
WATCH_SECONDS = 0.5


def overview(options: Namespace) -> int:
    """Where you are, and the next step."""
    exercises, progress = known_exercises(), load_progress()
    console = make_console()
    show(console, _table(exercises, progress, console))
    passed = sum(progress.state(exercise) == "passed" for exercise in exercises)
    console.print(f"\n{passed} of {len(exercises)} passed.")
    todo = [e for e in exercises if progress.state(e) != "passed"]
    if not todo:
        console.print("All done. `solution ID` shows how we did it.")
        return 0
    begun = [e for e in todo if progress.state(e) in ("trying", "started", "passed_before")]
    current = begun[0] if begun else todo[0]
    verb = "test" if progress.state(current) != "new" else "start"
    console.print(f"Next: {options.command} {verb} {current.id}", soft_wrap=True)
    return 0


def show_list(options: Namespace) -> int:
    """All exercises."""
    console = make_console()
    show(console, _table(known_exercises(), load_progress(), console))
    return 0


def start(options: Namespace) -> int:
    """Puts the starter into the workspace and shows the statement."""
    exercise = find_exercise(options.id, known_exercises())
    path, fresh = workspace.start(exercise)
    console = make_console()
    show(console, Markdown(exercise.statement))
    told = "Your file is" if fresh else "You have begun already; your file stays as it is:"
    console.print(f"\n{told} {shown_path(path)}", soft_wrap=True)
    console.print(f"Then: {options.command} test {exercise.id}", soft_wrap=True)
    return 0


def test(options: Namespace) -> int:
    """Judges one file, all begun ones, or one again and again."""
    exercises = known_exercises()
    if options.all:
        chosen = [e for e in exercises if workspace.submission_path(e).exists()]
        if not chosen:
            raise ExerciseError("you have begun no exercise yet; `start ID` begins one")
    elif options.id is None:
        raise ExerciseError("which exercise? Give its ID, or --all for all that you have begun")
    else:
        chosen = [find_exercise(options.id, exercises)]
    with Judge() as judge:
        if options.watch and not options.all:
            return _watch(chosen[0], options, judge)
        verdicts = [_judge(exercise, options, judge) for exercise in chosen]
    _show(verdicts, options)
    return max(STATUS_CODES[verdict.status] for verdict in verdicts)


def hint(options: Namespace) -> int:
    """Shows the next hint; the last one again and again."""
    exercise, progress = find_exercise(options.id, known_exercises()), load_progress()
    record = progress.of(exercise)
    level = min(record.hints + 1, len(exercise.hints))
    record.hints = level
    save_progress(progress)
    console = make_console()
    console.print(f"Hint {level} of {len(exercise.hints)} for {exercise.id}", style="bold")
    show(console, Markdown(exercise.hints[level - 1]))
    return 0


def solution(options: Namespace) -> int:
    """Shows the reference where the exercise was passed, or on demand."""
    exercise, progress = find_exercise(options.id, known_exercises()), load_progress()
    record = progress.of(exercise)
    if not progress.has_passed(exercise):
        if not options.reveal:
            left = len(exercise.hints) - record.hints
            more = f" {left} of {len(exercise.hints)} hints are left." if left else ""
            print(
                f"You haven't passed {exercise.id} yet.{more} To see the solution all the same "
                f"(it is noted): {options.command} solution {exercise.id} --reveal"
            )
            return 1
        record.revealed = record.revealed or now()
        save_progress(progress)
    console, text = make_console(), exercise.read("solution.py")
    console.print(Syntax(text, "python", theme="ansi_dark") if console.is_terminal else text)
    return 0


def reset(options: Namespace) -> int:
    """Puts the starter back."""
    exercise = find_exercise(options.id, known_exercises())
    path, backup = workspace.reset(exercise)
    print(f"{shown_path(path)} is the starter again.")
    if backup is not None:
        print(f"What was there is kept in {shown_path(backup)}")
    return 0


def replay(options: Namespace) -> int:
    """Shows the input that failed last, a stream token by token."""
    exercise = find_exercise(options.id, known_exercises())
    case = workspace.kept_failure(exercise)
    if case is None or case.stream is None:
        print(f"No failing input is kept for {exercise.id}: test it first.")
        return 1
    console = make_console()
    console.print(Text.assemble((case.name, "bold"), "  ", case.property))
    show(console, replay_table(case.stream))
    if case.expected is not None:
        console.print(Text(f"expected  {case.expected}\ngot       {case.got}"))
    drawing = drawing_of(exercise, case.stream)
    if drawing is not None:
        path = write_page(exercise, drawing)
        print(f"\nYour run beside the reference, step by step: {shown_path(path)}")
        if not options.no_browser:
            show_page(path)
    return 0


def progress(options: Namespace) -> int:
    """Writes progress and files to one file, or takes them from one."""
    if options.action == "export":
        count = export_progress(options.file)
        print(f"Your progress and {count} file(s) are in {shown_path(options.file.resolve())}")
        return 0
    added, left = import_progress(options.file)
    print(f"Imported: your progress and {added} file(s).")
    for name in left:
        print(f"{name} is here already and differs: left as it is.")
    return 0


def _judge(exercise: Exercise, options: Namespace, judge: Judge) -> Verdict:
    """Judges the file that is asked for, and remembers the verdict where it is the workspace's."""
    path = options.file or workspace.submission_path(exercise)
    own = not path.resolve().is_relative_to(exercises_dir())
    if options.file is None and not path.exists():
        return not_started(exercise, shown_path(path), options.seed)
    if not path.is_file():
        raise ExerciseError(f"there is no file {path}")
    return judge_source(exercise, read_submission(path), judge, shown_path(path), options.seed, own)


def judge_source(
    exercise: Exercise, source: str, judge: Judge, file: str, seed: int = 0, own: bool = True
) -> Verdict:
    """A verdict with its diagnosis; `own` says that it is the learner's and is to be remembered."""
    verdict = judge.judge(exercise, source, file, seed)
    verdict.diagnosis = diagnose(exercise, verdict, judge)
    if own:
        remembered = load_progress()
        remembered.note(exercise, verdict)
        save_progress(remembered)
        workspace.keep_failure(exercise, verdict)
    return verdict


def _show(verdicts: Sequence[Verdict], options: Namespace) -> None:
    if options.form == "json":
        one = len(verdicts) == 1 and not options.all
        text = to_json(verdicts[0]) if one else _json_of(verdicts)
        sys.stdout.write(text + "\n")
    elif options.form == "junit":
        sys.stdout.write(exports.to_junit(verdicts))
    elif options.form == "gradescope":
        sys.stdout.write(exports.to_gradescope(verdicts))
    else:
        console = make_console()
        for place, verdict in enumerate(verdicts):
            show(console, *([""] if place else []), draw(verdict, options.command))


def _json_of(verdicts: Sequence[Verdict]) -> str:
    return json.dumps(msgspec.to_builtins(list(verdicts)), ensure_ascii=False, indent=2)


def _watch(exercise: Exercise, options: Namespace, judge: Judge) -> int:
    """Judges on each save, looking at the file's text: works where the OS tells of no changes."""
    path = options.file or workspace.submission_path(exercise)
    if options.file is None:
        workspace.start(exercise)
    console, seen, code = make_console(), None, 1
    judge.make_ready(exercise)
    while True:
        text = path.read_bytes() if path.is_file() else None
        if text is not None and text != seen:
            seen = text
            if console.is_terminal:
                console.clear()
            verdict = _judge(exercise, options, judge)
            _show([verdict], options)
            code = STATUS_CODES[verdict.status]
            if verdict.passed:
                return code
            console.print(f"\nWatching {shown_path(Path(path))}; Ctrl-C ends.", style="dim")
        time.sleep(WATCH_SECONDS)


def _table(exercises: Sequence[Exercise], progress: Progress, console: Console) -> Table:
    """Exercises by lesson, with how far each is."""
    narrow = console.width < 60
    table = Table(box=None, padding=(0, 1), show_header=False, pad_edge=False)
    lesson = ""
    for number, exercise in enumerate(exercises, start=1):
        if exercise.head.lesson != lesson:
            lesson = exercise.head.lesson
            table.add_row("", "", Text(f"Lesson {lesson}", "bold"))
        state = progress.state(exercise)
        sign, style = SIGNS[state]
        about = exercise.head.title
        if state == "passed_before":
            about += " (its tests have changed since you passed)"
        row = [Text(f"{number:>2}", "dim"), Text(sign, style), Text(exercise.id)]
        if not narrow:
            effort = f"{exercise.head.difficulty}, {exercise.head.minutes} min"
            row += [Text(about), Text(effort, "dim")]
        table.add_row(*row)
    return table
