"""The published class, to be hardened."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Status:
    """How far one reply is."""

    ids: list[int] = field(default_factory=list)
    text: str = ""
    surr_offset: int = 0
    read_offset: int = 0
    sent_offset: int = 0


class HardenedManager:
    """Tokens of many requests to text, with every fault of the published form."""

    def __init__(
        self, tokenizer: Any, eos_token_ids: Collection[int], max_states: int = 65536
    ) -> None:
        self.tokenizer = tokenizer
        self.eos_token_id = tokenizer.eos_token_id  # only one of them
        self.decode_map: dict[int, Status] = {}  # without a limit
        self.errors: dict[int, str] = {}

    def abort(self, uid: int) -> None:
        """Ends a request."""

    def detokenize(self, msgs: Sequence[Any]) -> list[str]:
        """The new text of each message."""
        for msg in msgs:  # all ids of a call at once, also two of one uid
            s = self.decode_map.setdefault(msg.uid, Status())
            if not (msg.finished and msg.next_token == self.eos_token_id):
                s.ids.append(msg.next_token)
        states = [self.decode_map[msg.uid] for msg in msgs]
        decode = self.tokenizer.batch_decode
        known = decode([s.ids[s.surr_offset : s.read_offset] for s in states])
        whole = decode([s.ids[s.surr_offset :] for s in states])
        pieces = []
        for msg, s, before, after in zip(msgs, states, known, whole, strict=True):
            pieces.append(self._send(s, after[len(before) :]))
            if msg.finished:
                del self.decode_map[msg.uid]
        return pieces

    @staticmethod
    def _send(s: Status, new: str) -> str:
        if new and not new.endswith("\ufffd"):
            text = s.text = s.text + new  # keeps and copies the whole reply
            s.surr_offset, s.read_offset = s.read_offset, len(s.ids)
        else:
            text = s.text + new[: new.rfind(" ") + 1]  # up to a space, also at the end
        piece = text[s.sent_offset :]
        s.sent_offset = len(text)
        return piece
