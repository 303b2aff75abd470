"""The judge in a notebook: ``%load_ext practice``, then ``%%judge ID`` on top of a cell."""

from __future__ import annotations

import atexit
import threading
from typing import TYPE_CHECKING, Any

from . import workspace
from .client import Judge, JudgeError, not_started
from .commands import judge_source
from .exercises import Exercise, ExerciseError
from .find import find_exercise, known_exercises
from .page import story_html
from .paths import shown_path
from .plain import story_text
from .progress import load_progress, now, save_progress
from .story import tell
from .verdict import Verdict

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_judge: Judge | None = None
_lock = threading.Lock()


class Shown:
    """Something to show in a notebook, as HTML and as text."""

    def __init__(self, html: str, text: str) -> None:
        self._html = html
        self._text = text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": self._html, "text/plain": self._text}

    def __repr__(self) -> str:
        return self._text


def shared_judge() -> Judge:
    """The notebook's warm judge; it ends with the kernel."""
    global _judge
    if _judge is None:
        _judge = Judge()
        atexit.register(_judge.close)
    return _judge


def load(shell: InteractiveShell) -> None:
    """Brings the magics, and starts the warm process beside what the learner does meanwhile."""
    shell.register_magic_function(judge_cell, "cell", "judge")  # type: ignore[arg-type]
    shell.register_magic_function(show_hint, "line", "hint")  # type: ignore[arg-type]
    shell.register_magic_function(reset_exercise, "line", "reset_exercise")  # type: ignore[arg-type]
    shell.register_magic_function(show_solution, "line", "solution")  # type: ignore[arg-type]
    threading.Thread(target=_warm_up, daemon=True).start()


def judge_cell(line: str, cell: str) -> None:
    """``%%judge ID``: saves the cell, runs it here, has it judged, and shows the verdict."""
    from IPython import get_ipython
    from IPython.display import display

    try:
        exercise = find_exercise(line.strip(), known_exercises())
    except ExerciseError as error:
        print(f"%%judge: {error}")
        return
    if cell.split() == exercise.read("starter.py").split():
        display(show(not_started(exercise)))  # type: ignore[no-untyped-call]
        return
    workspace.save(exercise, cell)
    with _lock:
        try:
            verdict = judge_source(exercise, cell, shared_judge(), "your cell")
        except JudgeError as error:
            print(f"%%judge: {error}")
            return
    _count_magic_line(verdict)
    shell = get_ipython()
    if shell is not None and _can_be_run_here(verdict):
        shell.run_cell(cell, store_history=False)
    display(show(verdict))  # type: ignore[no-untyped-call]


def _can_be_run_here(verdict: Verdict) -> bool:
    """Not what doesn't load or never ends: the kernel would hang or die of it."""
    return bool(verdict.cases) and any(case.status != "not_run" for case in verdict.cases)


def _count_magic_line(verdict: Verdict) -> None:
    """Numbers lines as the cell does, where ``%%judge`` is the first."""
    for place in (verdict.place, *(case.place for case in verdict.cases)):
        if place is not None:
            place.line += 1


def show(verdict: Verdict) -> Shown:
    """A verdict for the notebook."""
    story = tell(verdict)
    name = verdict.exercise
    if verdict.passed:
        story.next_steps = [(f"%solution {name}", "compare with ours")]
    else:
        story.next_steps = [(f"%hint {name}", "a hint")]
        failing = verdict.first_failure
        if failing is not None and failing.stream and "ids" in failing.stream:
            line = f'import practice; practice.replay("{name}")'
            story.next_steps.append((line, "see this stream step by step"))
    return Shown(story_html(story), story_text(story))


def show_hint(line: str) -> None:
    """``%hint ID``: the next hint."""
    exercise = _find(line)
    if exercise is None:
        return
    progress = load_progress()
    record = progress.of(exercise)
    record.hints = min(record.hints + 1, len(exercise.hints))
    save_progress(progress)
    _display_markdown(
        f"**Hint {record.hints} of {len(exercise.hints)}**\n\n{exercise.hints[record.hints - 1]}"
    )


def reset_exercise(line: str) -> None:
    """``%reset_exercise ID``: the file is the starter again; yours is kept in a backup."""
    exercise = _find(line)
    if exercise is None:
        return
    path, backup = workspace.reset(exercise)
    kept = f" What was there is kept in {shown_path(backup)}." if backup else ""
    print(f"{shown_path(path)} is the starter again.{kept}")
    from IPython import get_ipython

    shell = get_ipython()
    if shell is not None:
        shell.set_next_input(f"%%judge {exercise.id}\n{exercise.read('starter.py')}")


def show_solution(line: str) -> None:
    """``%solution ID``: ours, after you passed; ``%solution ID --reveal`` before (it is noted)."""
    reveal = "--reveal" in line
    exercise = _find(line.replace("--reveal", ""))
    if exercise is None:
        return
    progress = load_progress()
    if not progress.has_passed(exercise):
        if not reveal:
            print(
                f"You haven't passed {exercise.id} yet. To see the solution all the same "
                f"(it is noted): %solution {exercise.id} --reveal"
            )
            return
        progress.of(exercise).revealed = progress.of(exercise).revealed or now()
        save_progress(progress)
    _display_markdown(f"```python\n{exercise.read('solution.py')}```")


def _find(line: str) -> Exercise | None:
    try:
        return find_exercise(line.strip(), known_exercises())
    except ExerciseError as error:
        print(error)
        return None


def _display_markdown(text: str) -> None:
    from IPython.display import Markdown, display

    display(Markdown(text))  # type: ignore[no-untyped-call]


def _warm_up() -> None:
    """Has the judge load what most exercises need, so that the first verdict comes fast."""
    try:
        exercises = known_exercises()
        needing = sorted(exercises, key=lambda exercise: len(exercise.head.needs))
        with _lock:
            if needing:
                shared_judge().make_ready(needing[-1])
    except (ExerciseError, JudgeError, OSError):
        return  # the first %%judge tells what is wrong
