# caught by: test_6_state_ends
"""You don't remember which requests have ended. A token that comes late makes a new state,
for ever.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

REPLACEMENT = "\ufffd"
MAX_PENDING = 4


@dataclass(slots=True)
class Status:
    """How far one reply is."""

    ids: list[int] = field(default_factory=list)
    surr_offset: int = 0
    read_offset: int = 0
    sent: int = 0  # characters of the new text; -1 where the one before it is held


class HardenedManager:
    """Tokens of many requests to text, with eight promises."""

    def __init__(
        self, tokenizer: Any, eos_token_ids: Collection[int], max_states: int = 65536
    ) -> None:
        self.tokenizer = tokenizer
        self.eos_token_ids = frozenset(eos_token_ids)
        self.max_states = max_states
        self.size = len(tokenizer)
        self.decode_map: dict[int, Status] = {}
        self.errors: dict[int, str] = {}

    def abort(self, uid: int) -> None:
        """Ends a request."""
        self.decode_map.pop(uid, None)

    def detokenize(self, msgs: Sequence[Any]) -> list[str]:
        """The new text of each message."""
        pieces = [""] * len(msgs)
        left = list(range(len(msgs)))
        while left:
            first: dict[int, int] = {}
            later = [place for place in left if first.setdefault(msgs[place].uid, place) != place]
            ready = [place for place in first.values() if self._admit(msgs[place])]
            for place, piece in zip(ready, self._round([msgs[p] for p in ready]), strict=True):
                pieces[place] = piece
            left = later
        return pieces

    def _admit(self, msg: Any) -> bool:
        self.decode_map.setdefault(msg.uid, Status())
        if not 0 <= msg.next_token < self.size:
            self._fail(msg.uid, f"token id {msg.next_token} is not in the vocabulary")
            return False
        return True

    def _fail(self, uid: int, reason: str) -> None:
        self.errors[uid] = reason
        self.abort(uid)

    def _round(self, msgs: list[Any]) -> list[str]:
        states = [self.decode_map[msg.uid] for msg in msgs]
        for msg, s in zip(msgs, states, strict=True):
            if not (msg.finished and msg.next_token in self.eos_token_ids):
                s.ids.append(msg.next_token)
        known = self.tokenizer.batch_decode([s.ids[s.surr_offset : s.read_offset] for s in states])
        whole = self.tokenizer.batch_decode([s.ids[s.surr_offset :] for s in states])
        pieces = []
        for msg, s, before, text in zip(msgs, states, known, whole, strict=True):
            pieces.append(self._piece(s, before, text, msg.finished))
            if msg.finished:
                self.abort(msg.uid)
        while len(self.decode_map) > self.max_states:
            self._fail(next(iter(self.decode_map)), "too many requests: the oldest one was ended")
        return pieces

    def _piece(self, s: Status, before: str, text: str, last: bool) -> str:
        held = text.endswith(REPLACEMENT) and not last
        end = len(text) - held
        piece = text[len(before) + s.sent : end]
        s.sent += len(piece)
        if end > len(before) and not held:
            self._advance(s, s.read_offset, len(text) - len(before))
        elif len(s.ids) - s.read_offset > MAX_PENDING:
            surr_offset = len(s.ids) - MAX_PENDING
            [rest] = self.tokenizer.batch_decode([s.ids[surr_offset:]])
            if not held or rest.endswith(REPLACEMENT):
                self._advance(s, surr_offset, len(text) - len(before))
        return piece

    @staticmethod
    def _advance(s: Status, surr_offset: int, length: int) -> None:
        s.surr_offset, s.read_offset = surr_offset, len(s.ids)
        s.sent -= length
