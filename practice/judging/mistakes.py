"""Known mistakes: what each wrong solution of an exercise fails, and whose failures look the same.

Learned by judging `wrong/*.py`, and kept in the cache by the content of the exercise and of these
files; never typed by hand.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

import msgspec

from .client import Judge
from .exercises import Exercise
from .paths import cache_dir, write_atomically
from .verdict import Verdict

Signature = dict[str, str]
"""Case → what came out of it, for each case that didn't pass."""

ALIKE = 0.5  # at least this part of the failing cases must come out the very same


def signature(verdict: Verdict) -> Signature:
    """How a submission fails."""
    found = {}
    for case in verdict.cases:
        if case.status not in ("passed", "not_run"):
            found[case.name] = f"{case.status} {case.got or case.message}"
    return found


def learn(exercise: Exercise, judge: Judge) -> dict[str, Signature]:
    """The signature of each wrong solution, from the cache or by judging it."""
    path = cache_dir() / "mistakes" / f"{exercise.id}-{_key(exercise)}.json"
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Signature])
    known = {}
    for mistake in exercise.mistakes:
        source = Path(mistake.path).read_text(encoding="utf-8")
        known[mistake.name] = signature(judge.judge(exercise, source, mistake.path))
    write_atomically(path, msgspec.json.encode(known).decode())
    return known


def diagnose(exercise: Exercise, verdict: Verdict, judge: Judge) -> str:
    """The diagnosis of the one mistake whose failures look like these, or an empty text."""
    if verdict.status not in ("failed", "timeout") or not exercise.mistakes:
        return ""
    found = signature(verdict)
    known = learn(exercise, judge)
    alike = {name: _alikeness(found, other) for name, other in known.items()}
    best = max(alike.values())
    names = [name for name, value in alike.items() if value == best]
    if best < ALIKE or len(names) > 1:
        return ""
    return next(m.diagnosis for m in exercise.mistakes if m.name == names[0])


def _alikeness(found: Signature, other: Signature) -> float:
    """0 where other cases fail, else the part of them that come out the same."""
    if not found or found.keys() != other.keys():
        return 0.0
    return sum(found[name] == other[name] for name in found) / len(found)


def _key(exercise: Exercise) -> str:
    digest = hashlib.sha256(exercise.content_hash.encode())
    for mistake in exercise.mistakes:
        digest.update(mistake.name.encode() + Path(mistake.path).read_bytes())
    return digest.hexdigest()[:16]
