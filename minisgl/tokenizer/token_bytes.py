"""Which bytes a token stands for, out of the tokenizer's own description (``tokenizer.json``).

Two kinds of tokenizers say so:

- ByteLevel (GPT-2, Qwen, DeepSeek, Llama 3): each character of a vocabulary entry stands for one
  byte, by GPT-2's table (openai/gpt-2, ``src/encoder.py``, ``bytes_to_unicode``).
- SentencePiece with byte fallback (Llama 2, Mistral, Gemma): entries are text with "▁" for a space,
  and ``<0xE9>`` for a byte.

Not handled: decoders that look at neighbours (WordPiece, Metaspace, CTC); windows remain for those.
"""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True, eq=False)
class TokenBytes:
    """Token id → bytes for one tokenizer.

    Attributes:
        table: the bytes of each known id.
        special: ids of special tokens.
        strip_space: SentencePiece drops the space that begins a text.
        byte_fallback: SentencePiece; where bytes are invalid, `decode` differs from Hugging Face's.
    """

    table: dict[int, bytes]
    special: frozenset[int]
    strip_space: bool
    byte_fallback: bool

    @cached_property
    def whole(self) -> dict[int, str]:
        """The text of each token that is whole characters by itself."""
        texts = {}
        for token, raw in self.table.items():
            with suppress(UnicodeDecodeError):
                texts[token] = raw.decode("utf-8")
        return texts

    def decode(self, ids: Iterable[int]) -> str:
        """The text of a whole reply: what the streamed pieces must join to.

        Equals ``tokenizer.decode(ids)``, but for SentencePiece where bytes are invalid: there
        Hugging Face rewrites text before them, and this is the UTF-8 decoding with U+FFFD.

        Raises:
            KeyError: an id that isn't in the vocabulary.
        """
        text = b"".join([self.table[token] for token in ids]).decode("utf-8", errors="replace")
        return text.removeprefix(" ") if self.strip_space else text


_CACHE: weakref.WeakKeyDictionary[Any, TokenBytes | None] = weakref.WeakKeyDictionary()


def token_bytes(tokenizer: Any) -> TokenBytes | None:
    """The table of a tokenizer, or None where its decoder isn't of the two kinds.

    Args:
        tokenizer: of transformers (a fast one) or of tokenizers. The table is made once for it.
    """
    if tokenizer not in _CACHE:
        text = description(tokenizer)
        _CACHE[tokenizer] = None if text is None else read_description(text)
    return _CACHE[tokenizer]


def description(tokenizer: Any) -> str | None:
    """The tokenizer's ``tokenizer.json`` as text; None for a tokenizer in pure Python."""
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    return backend.to_str() if hasattr(backend, "to_str") else None


def read_description(text: str) -> TokenBytes | None:
    """The table out of the text of a ``tokenizer.json``; None for another kind of decoder."""
    parsed = json.loads(text)
    decoder = _steps(parsed.get("decoder"))
    kinds = [step["type"] for step in decoder]
    if kinds == ["ByteLevel"]:
        to_bytes, strip_space, byte_fallback = _byte_level, False, False
    elif kinds in (
        ["Replace", "ByteFallback", "Fuse"],
        ["Replace", "ByteFallback", "Fuse", "Strip"],
    ):
        if not _is_sentencepiece(decoder):
            return None
        to_bytes, strip_space, byte_fallback = _sentencepiece, len(kinds) == 4, True
    else:
        return None
    vocabulary = parsed["model"]["vocab"]  # BPE: entry → id; Unigram: pairs of entry and score
    pairs = (
        vocabulary.items()
        if isinstance(vocabulary, dict)
        else ((entry, number) for number, (entry, _) in enumerate(vocabulary))
    )
    table = {number: to_bytes(entry) for entry, number in pairs}
    added = parsed.get("added_tokens", [])
    table.update((token["id"], to_bytes(token["content"])) for token in added)
    special = frozenset(token["id"] for token in added if token["special"])
    return TokenBytes(table, special, strip_space, byte_fallback)


def _steps(decoder: dict[str, Any] | None) -> list[dict[str, Any]]:
    if decoder is None:
        return []
    return decoder["decoders"] if decoder["type"] == "Sequence" else [decoder]


def _is_sentencepiece(steps: list[dict[str, Any]]) -> bool:
    replace = steps[0]["pattern"] == {"String": "▁"} and steps[0]["content"] == " "
    strip = [(step["content"], step["start"], step["stop"]) for step in steps[3:]]
    return replace and strip in ([], [(" ", 1, 0)])


def _byte_alphabet() -> dict[str, int]:
    """GPT-2's character for each byte, the other way round.

    Printable bytes of Latin-1 stand for themselves; the others take the characters from U+0100 on.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    alphabet = {chr(byte): byte for byte in printable}
    alphabet.update((chr(0x100 + place), byte) for place, byte in enumerate(others))
    return alphabet


BYTE_ALPHABET = _byte_alphabet()
"""Character of a byte-level vocabulary entry → byte."""


def _byte_level(entry: str) -> bytes:
    try:
        return bytes([BYTE_ALPHABET[char] for char in entry])
    except KeyError:  # an added token, such as DeepSeek's <｜User｜>: it stands for its own text
        return entry.encode("utf-8")


_BYTE_ENTRY = re.compile("<0x([0-9A-Fa-f]{2})>")


def _sentencepiece(entry: str) -> bytes:
    byte = _BYTE_ENTRY.fullmatch(entry)
    return bytes([int(byte[1], 16)]) if byte else entry.replace("▁", " ").encode("utf-8")
