"""Where the judge's folders are. The environment can move the ones that belong to the learner."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The course's folder."""


def exercises_dir() -> Path:
    """Folder of the exercises; ``MINISGL_EXERCISES`` moves it (tests do)."""
    return _moved("MINISGL_EXERCISES", ROOT / "practice" / "exercises")


def workspace_dir() -> Path:
    """Folder of the learner's own files and progress; ``MINISGL_WORKSPACE`` moves it."""
    return _moved("MINISGL_WORKSPACE", ROOT / "practice" / "workspace")


def cache_dir() -> Path:
    """Folder of what can be found out again; ``MINISGL_JUDGE_CACHE`` moves it."""
    return _moved("MINISGL_JUDGE_CACHE", ROOT / "practice" / ".cache")


def reference_allowed() -> bool:
    """Whether a teacher let submissions import what the exercise asks for."""
    return os.environ.get("MINISGL_JUDGE_ALLOW_REFERENCE") == "1"


def shown_path(path: Path) -> str:
    """`path` as the learner would type it: relative to here or to the course where it can be."""
    for base in (Path.cwd(), ROOT):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return str(path)


def write_atomically(path: Path, text: str) -> None:
    """Writes a file so that a reader sees the old text or the new one, never a half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(text, encoding="utf-8", newline="\n")
    part.replace(path)


def _moved(variable: str, default: Path) -> Path:
    return Path(os.environ.get(variable) or default).resolve()
