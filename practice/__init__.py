"""Exercises and their judge.

``python practice/judge.py`` is the command; in a notebook ``%load_ext practice`` brings
``%%judge ID``. `use` gives the learner's own class where it passes, `replay` shows the stream that
failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["load_ipython_extension", "replay", "use"]


def use(symbol: str) -> Any:
    """The learner's `symbol` where its exercise is passed, else the course's; prints which.

    Args:
        symbol: a class or function that an exercise asks for, ``"DetokenizeManager"``.

    Raises:
        LookupError: no exercise asks for it.
    """
    from .judging.using import use_symbol

    return use_symbol(symbol)


def replay(exercise: str) -> Any:
    """The input that failed last in `exercise`: a stream in the widget, anything else as text."""
    from .judging.using import replay_exercise

    return replay_exercise(exercise)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Called by ``%load_ext practice``."""
    from .judging.notebook import load

    load(shell)
