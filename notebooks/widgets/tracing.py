"""A run of a detokenizer as plain data: what came, where the offsets stood, what was sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minisgl.message import DetokenizeMsg
from minisgl.tokenizer import BaseDetokenizeManager, token_bytes
from minisgl.tokenizer.detokenize import batch_decoder

Trace = dict[str, Any]
"""What `trace` returns; see there."""

VERSION = 1
OFFSETS = ("surr_offset", "read_offset", "sent_offset")


def trace(
    manager: Any,
    source: str | Sequence[int],
    *,
    tokenizer: Any = None,
    name: str | None = None,
    finished: bool = True,
) -> Trace:
    """Feeds one reply to a detokenizer, token by token, and writes down what happens.

    Args:
        manager: has ``detokenize([DetokenizeMsg])`` and a ``decode_map`` of states with the three
            offsets (or ``pending`` bytes), or is one reply's window with ``push`` and ``finish``.
        source: a text, which is tokenized, or token ids.
        tokenizer: by default the manager's.
        name: whose run it is; by default the class's name.
        finished: the last token ends the reply (by its length, not by EOS).

    Returns:
        Plain, JSON-able data: ``version``, ``name``, ``kind`` ("windows", "bytes" or "calls"),
        ``ids``, ``tokens`` (for each id its bytes in hex and its lone decoding), ``steps``, two a
        token: ``phase`` "arrives" and "committed", the place of the ``token``, the three offsets
        (tokens, tokens, characters), ``surr_text`` and ``read_text`` (the two decodes),
        ``new_text``, what was ``sent`` in this step, ``output`` so far, ``pending`` (ids, or bytes
        in hex); and ``error``: None, or the step in which the class raised and what it said.

    Raises:
        TypeError: `manager` is neither of the two kinds, or no tokenizer is to be had.
    """
    tokenizer = tokenizer if tokenizer is not None else getattr(manager, "tokenizer", None)
    if tokenizer is None:
        raise TypeError("give trace a tokenizer=, since the manager has no attribute of that name")
    ids = tokenizer.encode(source, add_special_tokens=False) if isinstance(source, str) else source
    ids = [int(token) for token in ids]
    run = _Run(manager, tokenizer, ids)
    for place in range(len(ids)):
        if not run.step(place, last=finished and place == len(ids) - 1):
            break
    return {
        "version": VERSION,
        "name": name or type(manager).__name__,
        "kind": run.kind,
        "ids": ids,
        "tokens": [_token(tokenizer, token) for token in ids],
        "steps": run.steps,
        "error": run.error,
    }


def _token(tokenizer: Any, token: int) -> dict[str, Any]:
    known = token_bytes(tokenizer)
    raw = known.table.get(token) if known is not None else None
    try:
        alone = tokenizer.decode([token])
    except Exception as error:  # an id out of the vocabulary: the run tells what comes of it
        alone = f"⟨{type(error).__name__}⟩"
    return {"id": token, "bytes": raw.hex(" ") if raw is not None else None, "alone": alone}


class _Run:
    """One reply on its way through a detokenizer."""

    UID = 0

    def __init__(self, manager: Any, tokenizer: Any, ids: list[int]) -> None:
        self.manager = manager
        self.ids = ids
        self.decode = _decoder(manager, tokenizer)
        self.by_push = not hasattr(manager, "detokenize")
        if self.by_push and not hasattr(manager, "push"):
            raise TypeError(f"{type(manager).__name__} has neither detokenize() nor push()")
        self.state: Any = manager if self.by_push else None
        self.kind = "calls"
        self.steps: list[dict[str, Any]] = []
        self.error: dict[str, Any] | None = None
        self.output = ""
        self.offsets = dict.fromkeys(OFFSETS, 0)
        self.held = b""

    def step(self, place: int, last: bool) -> bool:
        """Two steps for the token at `place`; False where the class failed."""
        self._look()
        self._note("arrives", place, "")
        try:
            sent = self._feed(self.ids[place], last)
        except Exception as error:  # the learner's class may raise anything
            return self._failed(f"{type(error).__name__}: {error}")
        if not isinstance(sent, str):
            return self._failed(f"gave {type(sent).__name__} where a str belongs")
        self.output += sent
        self._look()
        self._note("committed", place, sent)
        return True

    def _feed(self, token: int, last: bool) -> Any:
        if self.by_push:
            piece = self.manager.push(token)
            return piece + self.manager.finish() if last else piece
        pieces = self.manager.detokenize([DetokenizeMsg(self.UID, token, last)])
        if not isinstance(pieces, list) or len(pieces) != 1:
            raise TypeError(f"detokenize gave {pieces!r} for one message: one string is asked for")
        return pieces[0]

    def _failed(self, message: str) -> bool:
        self.error = {"step": len(self.steps) - 1, "message": message}
        return False

    def _look(self) -> None:
        """Reads the offsets. A state that has ended keeps those that it had."""
        states = getattr(self.manager, "decode_map", None)
        if not self.by_push and isinstance(states, dict):
            self.state = states.get(self.UID, self.state)
        found = {name: getattr(self.state, name, None) for name in OFFSETS}
        if isinstance(found["surr_offset"], int) and isinstance(found["read_offset"], int):
            self.kind = "windows"
            sent = found["sent_offset"]
            found["sent_offset"] = sent if isinstance(sent, int) else len(self.output)
            self.offsets = found
        elif isinstance(getattr(self.state, "pending", None), bytes):
            self.kind = "bytes"
            self.held = self.state.pending
            self.offsets["sent_offset"] = len(self.output)
        else:
            self.offsets["sent_offset"] = len(self.output)

    def _note(self, phase: str, place: int, sent: str) -> None:
        ids = self.ids[: place + 1]
        surr, read = self.offsets["surr_offset"], self.offsets["read_offset"]
        windows = self.kind == "windows" or not self.steps
        surr_text = self.decode(ids[surr:read]) if windows else ""
        read_text = self.decode(ids[surr:]) if windows else ""
        pending: list[int] | str = self.held.hex(" ") if self.kind == "bytes" else ids[read:]
        self.steps.append(
            {
                "phase": phase,
                "token": place,
                **self.offsets,
                "surr_text": surr_text,
                "read_text": read_text,
                "new_text": read_text[len(surr_text) :],
                "sent": sent,
                "output": self.output,
                "pending": pending if self.kind != "calls" else [],
            }
        )


def _decoder(manager: Any, tokenizer: Any) -> Callable[[list[int]], str]:
    """How the manager itself decodes ids; "" where it can't be done."""
    many = batch_decoder(tokenizer) if isinstance(manager, BaseDetokenizeManager) else None

    def decode(ids: list[int]) -> str:
        try:
            return many([ids])[0] if many is not None else str(tokenizer.decode(ids))
        except Exception:  # an id out of the vocabulary: the class tells it, if it looks
            return ""

    return decode


def first_difference(ours: Trace, theirs: Trace) -> int | None:
    """The first step in which two runs sent something else, or one of them failed; else None."""
    for place, (left, right) in enumerate(zip(ours["steps"], theirs["steps"], strict=False)):
        if left["sent"] != right["sent"]:
            return place
    ends = len(ours["steps"]), len(theirs["steps"])
    return min(ends) - 1 if ends[0] != ends[1] else None


def batch_trace(
    manager: Any, requests: dict[int, str | Sequence[int]], *, tokenizer: Any = None
) -> dict[str, Any]:
    """Feeds several replies at once, one token of each a call, and writes down what happens.

    Args:
        manager: has ``detokenize`` and ``decode_map``.
        requests: uid → text or token ids. A reply ends with its last token.
        tokenizer: by default the manager's.

    Returns:
        ``version``, ``name``, ``requests`` (uid as text → its ids) and ``steps``, one a call: the
        ``uids`` in ``decode_map`` after it, and for each uid that had a token ``token`` (its
        place), the three offsets, ``sent`` and ``output``.
    """
    tokenizer = tokenizer if tokenizer is not None else manager.tokenizer
    ids = {
        uid: tokenizer.encode(source, add_special_tokens=False)
        if isinstance(source, str)
        else [int(token) for token in source]
        for uid, source in requests.items()
    }
    outputs = dict.fromkeys(ids, "")
    states: dict[int, Any] = {}
    steps = []
    for place in range(max(map(len, ids.values()), default=0)):
        msgs = [
            DetokenizeMsg(uid, row[place], place == len(row) - 1)
            for uid, row in ids.items()
            if place < len(row)
        ]
        pieces = manager.detokenize(msgs)
        states |= manager.decode_map
        rows = {}
        for msg, piece in zip(msgs, pieces, strict=True):
            outputs[msg.uid] += piece
            offsets = {name: getattr(states.get(msg.uid), name, None) for name in OFFSETS}
            output = outputs[msg.uid]
            rows[str(msg.uid)] = {"token": place, **offsets, "sent": piece, "output": output}
        steps.append({"uids": list(manager.decode_map), "rows": rows})
    return {
        "version": VERSION,
        "name": type(manager).__name__,
        "requests": {str(uid): row for uid, row in ids.items()},
        "steps": steps,
    }
