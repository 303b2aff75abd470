"""Calls of a class that may be wrong: what it gave back, what it raised."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Mapping
from typing import Any

from .state_reader import attribute_of, plain_int

_UIDS = itertools.count()  # a manager may refuse a uid that has ended


class CallError(Exception):
    """What a detokenizer gave back is no text."""


def free_uid(manager: Any) -> int:
    """A uid that this manager hasn't seen."""
    running = running_uids(manager)
    return next(uid for uid in _UIDS if uid not in running)


def running_uids(manager: Any) -> list[int]:
    """The keys of ``decode_map``, where it is there."""
    states = attribute_of(manager, "decode_map")
    return [plain_int(uid) or 0 for uid in states] if isinstance(states, Mapping) else []


def text_of(value: Any, method: str) -> str:
    """`value` if it is a str; raises `CallError` with what to do otherwise."""
    if not isinstance(value, str):
        raise CallError(f"{method} returned {type(value).__name__}, a str is asked for")
    return str(value)


def texts_of(value: Any, count: int) -> list[str]:
    """As `text_of`, for a list with one str a message."""
    if not isinstance(value, list | tuple):
        raise CallError(f"detokenize returned {type(value).__name__}, a list of str is asked for")
    if len(value) != count:
        raise CallError(f"detokenize returned {len(value)} texts for {count} message(s)")
    return [text_of(text, "detokenize") for text in value]


def one_text(value: Any) -> str:
    """The only text of a call with one message."""
    return texts_of(value, 1)[0]


def error_facts(error: BaseException, manager: Any) -> tuple[str, str | None]:
    """What was raised, and the line of the manager's own file in which it was."""
    said = str(error)
    message = said if isinstance(error, CallError) else f"{type(error).__name__}: {said}"
    method = getattr(type(manager), "detokenize", None) or getattr(type(manager), "push", None)
    code = getattr(method, "__code__", None)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if code is not None and frame.filename == code.co_filename]
    return message[:400], f"line {own[-1].lineno}: {own[-1].line}" if own else None
