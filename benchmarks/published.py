"""The published window algorithm and a dict-based codec, written after mini-sglang (20fcd7f).

For comparison only, and for the lessons, which build this form first: it has known faults
(``tests/test_bugs_in_the_wild.py`` names them), and no promise holds for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from minisgl.core import SamplingParams
from minisgl.message import (
    BatchFrontendMsg,
    BatchTokenizerMsg,
    DetokenizeMsg,
    TokenizeMsg,
    UserReply,
)
from minisgl.tokenizer.detokenize import REPLACEMENT, find_printable_text


@dataclass
class PublishedStatus:
    """One reply: as `minisgl.tokenizer.DecodeStatus`, with the whole text kept."""

    decoded_ids: list[int] = field(default_factory=list)
    decoded_str: str = ""
    read_offset: int = 0
    surr_offset: int = 0
    sent_offset: int = 0


class PublishedDetokenizeManager:
    """Two ``batch_decode`` calls and a difference; shows up to a space while a character is cut."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.eos_token_id = tokenizer.eos_token_id
        self.decode_map: dict[int, PublishedStatus] = {}

    def detokenize(self, msgs: Sequence[DetokenizeMsg]) -> list[str]:
        """One string a message."""
        read_ids, surr_ids = [], []
        for msg in msgs:
            s = self.decode_map.setdefault(msg.uid, PublishedStatus())
            if not (msg.finished and msg.next_token == self.eos_token_id):
                s.decoded_ids.append(msg.next_token)
            read_ids.append(s.decoded_ids[s.surr_offset :])
            surr_ids.append(s.decoded_ids[s.surr_offset : s.read_offset])
        read_texts = self.tokenizer.batch_decode(read_ids)
        surr_texts = self.tokenizer.batch_decode(surr_ids)
        pieces = []
        for msg, read_text, surr_text in zip(msgs, read_texts, surr_texts, strict=True):
            s = self.decode_map[msg.uid]
            new_text = read_text[len(surr_text) :]
            if new_text and not new_text.endswith(REPLACEMENT):
                text = s.decoded_str = s.decoded_str + new_text
                s.surr_offset, s.read_offset = s.read_offset, len(s.decoded_ids)
            else:
                text = s.decoded_str + find_printable_text(new_text)
            pieces.append(text[s.sent_offset :])
            s.sent_offset = len(text)
            if msg.finished:
                del self.decode_map[msg.uid]
        return pieces


_CLASSES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        BatchFrontendMsg,
        BatchTokenizerMsg,
        DetokenizeMsg,
        SamplingParams,
        TokenizeMsg,
        UserReply,
    )
}


def _to_plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_to_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _to_plain(item) for key, item in value.items()}
    if type(value).__name__ in _CLASSES:
        fields = {name: _to_plain(getattr(value, name)) for name in value.__struct_fields__}
        return {"__type__": type(value).__name__, **fields}
    return value


def _from_plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_plain(item) for item in value]
    if isinstance(value, dict):
        fields = {key: _from_plain(item) for key, item in value.items() if key != "__type__"}
        return _CLASSES[value["__type__"]](**fields) if "__type__" in value else fields
    return value


def encode_by_dict(msg: Any) -> bytes:
    """A message through a map built field by field, as mini-sglang's codec does."""
    return msgspec.msgpack.encode(_to_plain(msg))


def decode_by_dict(raw: bytes) -> Any:
    """The way back, field by field."""
    return _from_plain(msgspec.msgpack.decode(raw))
