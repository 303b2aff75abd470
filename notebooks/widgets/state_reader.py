"""Reads how far a detokenizer is, out of whatever state its class keeps; changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OFFSETS = ("surr_offset", "read_offset", "sent_offset")
IDS = ("decoded_ids", "ids")


class StateReader:
    """Follows the state of one request.

    A state that was taken out of ``decode_map`` is still read: it holds where the request ended.

    Args:
        manager: with a ``decode_map``, or one reply's window, which is its own state.
        uid: the request's.
    """

    def __init__(self, manager: Any, uid: int) -> None:
        self.by_push = not hasattr(manager, "detokenize")
        self._manager = manager
        self._uid = uid
        self._state: Any = manager if self.by_push else None

    def look(self) -> dict[str, Any]:
        """The offsets, ``ids`` and ``pending`` bytes, each None where there is none; ``ended``."""
        ended = False
        if not self.by_push:
            states = attribute_of(self._manager, "decode_map")
            found = states.get(self._uid) if isinstance(states, Mapping) else None
            ended = found is None and isinstance(states, Mapping)
            self._state = found if found is not None else self._state
        state = self._state
        ids = next((attribute_of(state, name) for name in IDS if attribute_of(state, name)), [])
        pending = attribute_of(state, "pending")
        return {
            **{name: plain_int(attribute_of(state, name)) for name in OFFSETS},
            "ids": plain_ids(ids),
            "pending": bytes(pending) if isinstance(pending, bytes | bytearray) else None,
            "ended": ended,
        }


def kind_of(state: dict[str, Any]) -> str:
    """What of a state can be drawn: "windows", "bytes", or only the "calls"."""
    if state["surr_offset"] is not None and state["read_offset"] is not None:
        return "windows"
    return "bytes" if state["pending"] is not None else "calls"


def plain_int(value: Any) -> int | None:
    """An int, also where it is numpy's; None for anything else."""
    try:
        return None if isinstance(value, str) else value.__index__()
    except Exception:
        return None


def plain_ids(value: Any) -> list[int] | None:
    """A list of ints of its own, or None."""
    if not isinstance(value, list | tuple):
        return None
    ids = [plain_int(item) for item in value]
    return None if None in ids else [token for token in ids if token is not None]


def attribute_of(thing: Any, name: str) -> Any:
    """An attribute, or an item where the state is a dict; None where there is none."""
    if isinstance(thing, Mapping):
        return thing.get(name)
    try:
        return getattr(thing, name, None)
    except Exception:  # a property of the learner's
        return None
