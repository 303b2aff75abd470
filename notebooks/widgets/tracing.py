"""A run of a detokenizer as plain data: what came, where the offsets stood, what was sent."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from minisgl.message import DetokenizeMsg
from minisgl.tokenizer import BaseDetokenizeManager, token_bytes
from minisgl.tokenizer.detokenize import batch_decoder

from .state_reader import OFFSETS, StateReader, kind_of, plain_int

Trace = dict[str, Any]
"""What `trace` returns; see there."""

VERSION = 1
_UIDS = itertools.count()  # a manager may refuse a uid that has ended


class CallError(Exception):
    """What a detokenizer gave back is no text."""


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
        manager: has ``detokenize([DetokenizeMsg])`` and a ``decode_map`` of states with offsets (or
            with ``pending`` bytes), or is one reply's window with ``push`` and ``finish``.
        source: a text, which is tokenized, or token ids.
        tokenizer: by default the manager's.
        name: whose run it is; by default the class's name.
        finished: the last token ends the reply.

    Returns:
        Plain, JSON-able data: ``version``, ``name``, ``tokenizer`` (its name or None), ``kind``
        ("windows", "bytes" or "calls"), ``ids``, ``tokens`` (for each id ``id``, its ``bytes`` in
        hex, its lone decoding ``alone``), ``steps`` and ``error``.

        Two steps a token, with ``phase`` "arrives" and then "committed" (or "failed"), ``token``
        (its place), ``surr_offset``, ``read_offset`` (tokens), ``sent_offset`` (characters),
        ``surr_text`` and ``read_text`` (the two decodes), ``new_text`` (what the second has beyond
        the first), ``sent`` (in this step), ``output`` (so far), ``pending`` (ids, or bytes in
        hex), and ``ended`` (the request's state is gone). ``error`` is None, or ``step``,
        ``message`` and ``line`` of what the class raised or gave back wrongly.

    Raises:
        TypeError: `manager` is of neither kind, or no tokenizer is to be had.
    """
    tokenizer = tokenizer_of(manager, tokenizer)
    if not hasattr(manager, "detokenize") and not hasattr(manager, "push"):
        raise TypeError(
            f"{type(manager).__name__} has neither detokenize() nor push(): nothing to trace"
        )
    ids = ids_of(tokenizer, source)
    run = _Run(manager, tokenizer)
    for place, token in enumerate(ids):
        if not run.step(place, token, last=finished and place == len(ids) - 1):
            break
    run.settle()
    return {
        "version": VERSION,
        "name": name or type(manager).__name__,
        "tokenizer": name_of(tokenizer),
        "kind": run.kind,
        "ids": ids,
        "tokens": [token_facts(tokenizer, token) for token in ids],
        "steps": run.steps,
        "error": run.error,
    }


class _Run:
    """One reply on its way through a detokenizer."""

    def __init__(self, manager: Any, tokenizer: Any) -> None:
        self.manager = manager
        self.decode = _decoder(tokenizer, isinstance(manager, BaseDetokenizeManager))
        self.uid = free_uid(manager)
        self.reader = StateReader(manager, self.uid)
        self.kind = "calls"
        self.steps: list[dict[str, Any]] = []
        self.error: dict[str, Any] | None = None
        self.ids: list[int] = []  # that the reply holds
        self.output = ""

    def step(self, place: int, token: int, last: bool) -> bool:
        """Two steps for a token; False where the class failed."""
        before = self.reader.look()
        output, ids = self.output, [*self.ids, token]
        try:
            sent = self._feed(token, last)
        except (Exception, SystemExit) as error:
            self._note("arrives", place, ids, before, output, "")
            message, line = error_facts(error, self.manager)
            self.error = {"step": len(self.steps), "message": message, "line": line}
            self._note("failed", place, ids, self.reader.look(), output, "")
            return False
        after = self.reader.look()
        kept = after["ids"]
        if kept is not None and kept == self.ids:
            ids = kept  # an EOS or a special token that the manager leaves out
        self._note("arrives", place, ids, before, output, "")
        self.ids, self.output = ids, output + sent
        self._note("committed", place, ids, after, self.output, sent)
        return True

    def _feed(self, token: int, last: bool) -> str:
        if not self.reader.by_push:
            return one_text(self.manager.detokenize([DetokenizeMsg(self.uid, token, last)]))
        piece = text_of(self.manager.push(token), "push")
        return piece + text_of(self.manager.finish(), "finish") if last else piece

    def _note(
        self, phase: str, place: int, ids: list[int], state: dict[str, Any], output: str, sent: str
    ) -> None:
        kind = kind_of(state)
        if kind != "calls":
            self.kind = kind
        surr, read = state["surr_offset"] or 0, state["read_offset"] or 0
        surr_text, read_text = self.decode(ids[surr:read]), self.decode(ids[surr:])
        pending: Any = state["pending"].hex(" ") if kind == "bytes" else ids[read:]
        self.steps.append(
            {
                "phase": phase,
                "token": place,
                "surr_offset": surr,
                "read_offset": read,
                "sent_offset": len(output)
                if state["sent_offset"] is None
                else state["sent_offset"],
                "surr_text": surr_text,
                "read_text": read_text,
                "new_text": read_text[len(surr_text) :],
                "sent": sent,
                "output": output,
                "pending": pending,
                "ended": state["ended"] and phase == "committed",
            }
        )

    def settle(self) -> None:
        """Takes windows away where the class turned out to have none: known after its first step."""
        for step in self.steps if self.kind != "windows" else []:
            step.update(surr_text="", read_text="", new_text="")
            if self.kind == "calls" or isinstance(step["pending"], list):
                step["pending"] = "" if self.kind == "bytes" else []


def batch_trace(
    manager: Any,
    requests: Mapping[int, str | Sequence[int]],
    *,
    tokenizer: Any = None,
    starts: Mapping[int, int] | None = None,
    name: str | None = None,
) -> Trace:
    """Feeds several replies side by side, one token of each a call, and writes down what happens.

    Args:
        manager: has ``detokenize`` and ``decode_map``.
        requests: uid → text or token ids. A reply ends with its last token.
        tokenizer: by default the manager's.
        starts: uid → the call in which its first token comes; 0 where it isn't given.
        name: whose run it is; by default the class's name.

    Returns:
        ``version``, ``name``, ``tokenizer``, ``requests`` (uid as text → its ``tokens`` as in
        `trace`), ``steps`` and ``error``. One step a call: ``uids`` in ``decode_map`` after it, and
        ``rows``, for each uid that had a token: ``token`` (its place), the three offsets after the
        call, ``sent``, ``output``, ``pending`` (how many tokens wait) and ``ended``.
    """
    tokenizer = tokenizer_of(manager, tokenizer)
    starts = starts or {}
    ids = {uid: ids_of(tokenizer, source) for uid, source in requests.items()}
    readers = {uid: StateReader(manager, uid) for uid in ids}
    outputs, error = dict.fromkeys(ids, ""), None
    steps: list[dict[str, Any]] = []
    for call in range(max((starts.get(uid, 0) + len(row) for uid, row in ids.items()), default=0)):
        places = {uid: call - starts.get(uid, 0) for uid in ids}
        msgs = [
            DetokenizeMsg(uid, ids[uid][place], place == len(ids[uid]) - 1)
            for uid, place in places.items()
            if 0 <= place < len(ids[uid])
        ]
        for reader in readers.values():
            reader.look()
        try:
            pieces = texts_of(manager.detokenize(msgs), len(msgs))
        except (Exception, SystemExit) as problem:
            message, line = error_facts(problem, manager)
            error = {"step": len(steps), "message": message, "line": line}
            break
        rows = {}
        for msg, piece in zip(msgs, pieces, strict=True):
            outputs[msg.uid] += piece
            state = readers[msg.uid].look()
            rows[str(msg.uid)] = {
                "token": places[msg.uid],
                **{offset: state[offset] for offset in OFFSETS},
                "sent": piece,
                "output": outputs[msg.uid],
                "ended": state["ended"],
            }
        steps.append({"uids": running_uids(manager), "rows": rows})
    return {
        "version": VERSION,
        "name": name or type(manager).__name__,
        "tokenizer": name_of(tokenizer),
        "requests": {
            str(uid): {"tokens": [token_facts(tokenizer, token) for token in row]}
            for uid, row in ids.items()
        },
        "steps": steps,
        "error": error,
    }


def first_difference(ours: Trace, theirs: Trace) -> int | None:
    """The first step of `ours` where the runs sent something else, or one failed; else None."""
    other = {step["token"]: step for step in theirs["steps"] if step["phase"] != "arrives"}
    for place, step in enumerate(ours["steps"]):
        if step["phase"] == "arrives":
            continue
        its = other.get(step["token"])
        if its is None or (its["sent"], its["phase"]) != (step["sent"], step["phase"]):
            return place
    return None


def tokenizer_of(manager: Any, tokenizer: Any) -> Any:
    """The tokenizer that was given, or the manager's own."""
    found = tokenizer if tokenizer is not None else getattr(manager, "tokenizer", None)
    if found is None:
        raise TypeError("the manager has no attribute `tokenizer`: give one with tokenizer=")
    return found


def ids_of(tokenizer: Any, source: str | Sequence[int]) -> list[int]:
    """Token ids of a text, without special tokens around it; or the ids as they are."""
    if not isinstance(source, str):
        return [int(token) for token in source]
    encoded = tokenizer.encode(source, add_special_tokens=False)
    return [int(token) for token in getattr(encoded, "ids", encoded)]


def name_of(tokenizer: Any) -> str | None:
    """The name that a tokenizer was loaded by, without the folders before it."""
    name = getattr(tokenizer, "name_or_path", None)
    return PurePath(name).name or None if isinstance(name, str) else None


def token_facts(tokenizer: Any, token: int) -> dict[str, Any]:
    """A token's id, its bytes in hex where they are known, and its lone decoding."""
    try:
        table = token_bytes(tokenizer)
    except TypeError:  # a stand-in for a tokenizer
        table = None
    raw = table.table.get(token) if table is not None else None
    known = raw.hex(" ") if raw is not None else None
    return {"id": token, "bytes": known, "alone": _decoder(tokenizer)([token])}


def _decoder(tokenizer: Any, course: bool = False) -> Callable[[list[int]], str]:
    """Ids to text, special tokens included; "" for ids that can't be decoded.

    Args:
        tokenizer: whose text it is.
        course: as the course's own managers decode.
    """
    many = batch_decoder(tokenizer) if course else None

    def decode(ids: list[int]) -> str:
        try:
            if many is not None:
                return many([ids])[0]
            return str(tokenizer.decode(ids, skip_special_tokens=False))
        except TypeError:  # a stand-in that takes ids only
            return str(tokenizer.decode(ids))
        except Exception:  # an id out of the vocabulary: the manager says so itself
            return ""

    return decode


def free_uid(manager: Any) -> int:
    """A uid that this manager hasn't seen."""
    running = running_uids(manager)
    return next(uid for uid in _UIDS if uid not in running)


def running_uids(manager: Any) -> list[int]:
    """The keys of ``decode_map``, where it is there."""
    states = getattr(manager, "decode_map", None)
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
