"""A run of a detokenizer as plain data: what came, where the offsets stood, what was sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minisgl.message import DetokenizeMsg
from minisgl.tokenizer import BaseDetokenizeManager

from .calls import error_facts, free_uid, one_text, text_of
from .state_reader import StateReader, kind_of
from .token_facts import decoder_of, ids_of, name_of, token_facts, tokenizer_of

Trace = dict[str, Any]
"""What `trace` returns; see there."""

VERSION = 1


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
    run = Run(manager, source, tokenizer, name)
    run.go(finished)
    return run.result()


class Run:
    """One reply on its way through a detokenizer; arguments as `trace`.

    Attributes:
        steps: those that are done.
        error: what ended it early, or None.
    """

    def __init__(
        self,
        manager: Any,
        source: str | Sequence[int],
        tokenizer: Any = None,
        name: str | None = None,
    ) -> None:
        if not hasattr(manager, "detokenize") and not hasattr(manager, "push"):
            kind = type(manager).__name__
            raise TypeError(f"{kind} has neither detokenize() nor push(): nothing can be traced")
        self.manager = manager
        self.tokenizer = tokenizer_of(manager, tokenizer)
        self.name = name or type(manager).__name__
        self.decode = decoder_of(self.tokenizer, isinstance(manager, BaseDetokenizeManager))
        self.uid = free_uid(manager)
        self.reader = StateReader(manager, self.uid)
        self.kind = "calls"
        self.source = ids_of(self.tokenizer, source)
        self.steps: list[dict[str, Any]] = []
        self.error: dict[str, Any] | None = None
        self.ids: list[int] = []  # that the reply holds
        self.output = ""
        self._before = self.reader.look()

    def go(self, finished: bool = True) -> None:
        """Feeds all tokens, or those before the class fails."""
        for place, token in enumerate(self.source):
            if not self.step(place, token, last=finished and place == len(self.source) - 1):
                break

    def result(self) -> Trace:
        """The trace as it is now."""
        return {
            "version": VERSION,
            "name": self.name,
            "tokenizer": name_of(self.tokenizer),
            "kind": self.kind,
            "ids": self.source,
            "tokens": [token_facts(self.tokenizer, token) for token in self.source],
            "steps": self._settled(),
            "error": self.error,
        }

    def fail(self, message: str, line: str | None = None) -> None:
        """Ends the run at the token that it is at, also from another thread."""
        place = len(self.steps) // 2
        if self.error is not None or place >= len(self.source):
            return
        ids = [*self.ids, self.source[place]]
        self._note("arrives", place, ids, self._before, self.output, "")
        self.error = {"step": len(self.steps), "message": message, "line": line}
        self._note("failed", place, ids, self.reader.look(), self.output, "")

    def step(self, place: int, token: int, last: bool) -> bool:
        """Two steps for a token; False where the class failed."""
        before = self._before = self.reader.look()
        output, ids = self.output, [*self.ids, token]
        try:
            sent = self._feed(token, last)
        except (Exception, SystemExit) as error:
            self.fail(*error_facts(error, self.manager))
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

    def _settled(self) -> list[dict[str, Any]]:
        """The steps, without windows where the class turned out to have none."""
        for step in self.steps if self.kind != "windows" else []:
            step.update(surr_text="", read_text="", new_text="")
            if self.kind == "calls" or isinstance(step["pending"], list):
                step["pending"] = "" if self.kind == "bytes" else []
        return self.steps


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
