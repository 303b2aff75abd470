"""Detokenizing with windows: two decodes and their difference.

The algorithm is that of SGLang and mini-sglang (``tokenizer/detokenize.py``, 20fcd7f): the new text
is what ``decode(ids[surr_offset:])`` has beyond ``decode(ids[surr_offset:read_offset])``. Both
decodes begin at the same token, so whatever a decoder does to a first token cancels out. It works
with every tokenizer. Hardened here:

- Held back is only the last U+FFFD, which the next token may complete, never whole characters
  before it, and never until a space comes.
- The last decode shows everything, so no tail is lost.
- Not more than `MAX_PENDING` tokens stay pending, so invalid bytes without end cost no more.
- The reply's text isn't kept, only its length, so no token copies what was sent.
- Several tokens of one uid in a call go one after the other.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .manager import BaseDetokenizeManager
from .token_bytes import token_bytes

REPLACEMENT = "\ufffd"

MAX_PENDING = 4
"""Tokens after `read_offset` at the most. A UTF-8 character has four bytes, a token at least one:
what is still U+FFFD after four tokens began before them, or will never be a character."""

CJK_RANGES = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
"""CJK ideographs, as the published heuristic counts them; kana and hangul aren't among them."""


def find_printable_text(text: str) -> str:
    """The part of `text` that the published algorithm shows while a character is incomplete.

    All of it after a newline or an ideograph, all but the last character after an ideograph before
    that, else up to the last space. Japanese kana, Korean and Thai wait, for want of spaces; our
    managers don't use it. Source: transformers ``generation/streamers.py``, by way of SGLang and
    mini-sglang.
    """
    if text.endswith("\n"):
        return text
    if text and _is_cjk(text[-1]):
        return text
    if len(text) > 1 and _is_cjk(text[-2]):
        return text[:-1]
    return text[: text.rfind(" ") + 1]


def _is_cjk(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in CJK_RANGES)


@dataclass(slots=True)
class DecodeStatus:
    """How far one reply is.

    Attributes:
        decoded_ids: all its tokens so far.
        surr_offset: where both decodes begin, in tokens.
        read_offset: up to here tokens are text that is done, in tokens.
        sent_offset: how much text was sent, in characters.
        decoded_len: how long the text of ``decoded_ids[:read_offset]`` is, in characters. One more
            than `sent_offset` while a U+FFFD at its end is held back.
    """

    decoded_ids: list[int] = field(default_factory=list)
    surr_offset: int = 0
    read_offset: int = 0
    sent_offset: int = 0
    decoded_len: int = 0


class DetokenizeManager(BaseDetokenizeManager[DecodeStatus]):
    """Tokens to text with windows, for every tokenizer; arguments as `BaseDetokenizeManager`."""

    def __init__(self, tokenizer: Any, **options: Any) -> None:
        super().__init__(tokenizer, **options)
        self._decode_batch = batch_decoder(tokenizer)
        self._vocabulary = vocabulary_ids(tokenizer)
        self._special = _special_ids(tokenizer) if self.skip_special_tokens else frozenset()

    def _new_state(self) -> DecodeStatus:
        return DecodeStatus()

    def _knows(self, token: int) -> bool:
        return token in self._vocabulary

    def _decode(
        self, states: list[DecodeStatus], tokens: list[int | None], last: list[bool]
    ) -> list[str]:
        for state, token in zip(states, tokens, strict=True):
            if token is not None and token not in self._special:
                state.decoded_ids.append(token)
        surr_ids = [s.decoded_ids[s.surr_offset : s.read_offset] for s in states]
        read_ids = [s.decoded_ids[s.surr_offset :] for s in states]
        texts = self._decode_batch(surr_ids + read_ids)
        surr_texts, read_texts = texts[: len(states)], texts[len(states) :]
        return [
            self._new_text(*parts)
            for parts in zip(states, surr_texts, read_texts, last, strict=True)
        ]

    def _new_text(self, s: DecodeStatus, surr_text: str, read_text: str, last: bool) -> str:
        """What of the window's text is new and final; moves the offsets on."""
        held = read_text.endswith(REPLACEMENT) and not last
        end = len(read_text) - held
        start = len(surr_text) + s.sent_offset - s.decoded_len
        new_text = read_text[start:end]
        s.sent_offset += len(new_text)
        if end > len(surr_text) and not held:
            self._advance(s, s.read_offset, len(read_text) - len(surr_text))
        elif len(s.decoded_ids) - s.read_offset > MAX_PENDING:
            surr_offset = len(s.decoded_ids) - MAX_PENDING
            [text] = self._decode_batch([s.decoded_ids[surr_offset:]])
            if not held or text.endswith(REPLACEMENT):
                self._advance(s, surr_offset, len(read_text) - len(surr_text))
        return new_text

    @staticmethod
    def _advance(s: DecodeStatus, surr_offset: int, length: int) -> None:
        s.surr_offset = surr_offset
        s.read_offset = len(s.decoded_ids)
        s.decoded_len += length


def batch_decoder(tokenizer: Any) -> Callable[[Sequence[list[int]]], list[str]]:
    """A function that decodes many id lists, verbatim.

    Not transformers' ``batch_decode``: most of its time is a wrapper, and its clean-up of spaces
    takes text away. SentencePiece with byte fallback is decoded here, since Hugging Face's decode
    of invalid bytes changes text that stood already (vllm#17448).
    """
    table = token_bytes(tokenizer)
    if table is not None and table.byte_fallback:
        return lambda batch: [table.decode(ids) for ids in batch]
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(backend, "to_str"):
        return lambda batch: [backend.decode(ids, skip_special_tokens=False) for ids in batch]

    def decode(batch: Sequence[list[int]]) -> list[str]:
        return [
            tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
            for ids in batch
        ]

    return decode


_VOCABULARIES: weakref.WeakKeyDictionary[Any, frozenset[int]] = weakref.WeakKeyDictionary()


def vocabulary_ids(tokenizer: Any) -> frozenset[int]:
    """All ids of a tokenizer; made once for it, which takes a tenth of a second."""
    if tokenizer not in _VOCABULARIES:
        _VOCABULARIES[tokenizer] = frozenset(tokenizer.get_vocab().values())
    return _VOCABULARIES[tokenizer]


def _special_ids(tokenizer: Any) -> frozenset[int]:
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if hasattr(backend, "get_added_tokens_decoder"):
        added = backend.get_added_tokens_decoder()
        return frozenset(number for number, token in added.items() if token.special)
    return frozenset(tokenizer.all_special_ids)
