# caught by: test_nothing_lost
"""You decode each token by itself. A character that is cut over two tokens is lost."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Status:
    """How far one reply is."""

    ids: list[int] = field(default_factory=list)
    surr_offset: int = 0
    read_offset: int = 0
    sent: int = 0  # of the new text


class DetokenizeManager:
    """Tokens of many requests to text."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.decode_map: dict[int, Status] = {}

    def detokenize(self, msgs: Sequence[Any]) -> list[str]:
        """The new text of each message."""
        pieces = [""] * len(msgs)
        left = list(range(len(msgs)))
        while left:
            now: dict[int, int] = {}
            later = [place for place in left if now.setdefault(msgs[place].uid, place) != place]
            places = list(now.values())
            for place, piece in zip(places, self._round([msgs[p] for p in places]), strict=True):
                pieces[place] = piece
            left = later
        return pieces

    def _round(self, msgs: list[Any]) -> list[str]:
        states = []
        for msg in msgs:
            state = self.decode_map.setdefault(msg.uid, Status())
            if not (msg.finished and msg.next_token == self.tokenizer.eos_token_id):
                state.ids.append(msg.next_token)
            states.append(state)
        known = [""] * len(states)
        texts = self.tokenizer.batch_decode([s.ids[-1:] for s in states])
        pieces = []
        for msg, state, before, text in zip(msgs, states, known, texts, strict=True):
            pieces.append(self._piece(state, text[len(before) :], msg.finished))
            if msg.finished:
                del self.decode_map[msg.uid]
        return pieces

    @staticmethod
    def _piece(state: Status, new: str, finished: bool) -> str:
        if new.endswith("\ufffd") and not finished:
            piece = new[state.sent : -1]
            state.sent += len(piece)
            return piece
        piece = new[state.sent :]
        if new:
            state.surr_offset, state.read_offset = state.read_offset, len(state.ids)
            state.sent = 0
        return piece
