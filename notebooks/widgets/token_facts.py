"""What there is to say about a tokenizer's tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any

from minisgl.tokenizer import token_bytes
from minisgl.tokenizer.detokenize import batch_decoder


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
    return {"id": token, "bytes": known, "alone": decoder_of(tokenizer)([token])}


def decoder_of(tokenizer: Any, course: bool = False) -> Callable[[list[int]], str]:
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
