"""Encoding in which special tokens come from the chat template and never from a user's text."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from typing import Any


class SegmentEncoder:
    """Encodes what lies between the template's special tokens with special tokens switched off.

    A tokenizer first splits a text at its added tokens, then encodes each segment by itself. So
    the ids are those of the ordinary way wherever no user wrote the text of a special token.

    Args:
        tokenizer: a fast one of transformers.
    """

    def __init__(self, tokenizer: Any) -> None:
        from tokenizers import Tokenizer

        self._ordinary = tokenizer.backend_tokenizer
        parsed = json.loads(self._ordinary.to_str())
        self._added = {token["content"]: token["id"] for token in parsed["added_tokens"]}
        longest_first = sorted(self._added, key=len, reverse=True)
        self._split = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
        # Its only added token is a marker that nobody can guess. A segment is encoded behind it,
        # as behind the special token that really precedes it (SentencePiece treats the very first
        # segment of a text in its own way).
        self._marker = f"\ufdd0{secrets.token_hex(8)}\ufdd1"
        flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
        marker = {"id": _free_id(parsed), "content": self._marker, "special": True, **flags}
        parsed |= {"added_tokens": [marker], "post_processor": None}
        self._plain = Tokenizer.from_str(json.dumps(parsed))

    def encode_plain(self, text: str) -> list[int]:
        """Token ids of a plain prompt, with what the tokenizer adds by default around it."""
        around = self._ordinary.encode("a", add_special_tokens=True)
        special = around.special_tokens_mask
        before = special.index(0)
        after = len(special) - special[::-1].index(0)
        return [*around.ids[:before], *self._segment(text, first=True), *around.ids[after:]]

    def encode_chat(
        self, messages: list[dict[str, Any]], render: Callable[[list[dict[str, Any]]], str]
    ) -> list[int]:
        """Token ids of a conversation.

        Args:
            messages: each with a text as content.
            render: the chat template.
        """
        # Marks around each content show where in the rendered text users' words stand. A template
        # that changes contents (trims them) changes what is between the marks, and keeps them.
        key = secrets.token_hex(8)
        left, right = f"\ufdd2{key}\ufdd3", f"\ufdd4{key}\ufdd5"
        marked = [
            {**message, "content": f"{left}{message['content']}{right}"}
            if isinstance(message.get("content"), str)
            else message
            for message in messages
        ]
        ids: list[int] = []
        pending, first = "", True
        for number, piece in enumerate(re.split(f"{left}|{right}", render(marked))):
            if number % 2:  # a user's words
                pending += piece
                continue
            place = 0
            for found in self._split.finditer(piece):
                ids += self._segment(pending + piece[place : found.start()], first=first)
                ids.append(self._added[found[0]])
                pending, place, first = "", found.end(), False
            pending += piece[place:]
        return ids + self._segment(pending, first=first)

    def _segment(self, text: str, *, first: bool) -> list[int]:
        if not text:
            return []
        if first:
            return list(self._plain.encode(text, add_special_tokens=False).ids)
        return list(self._plain.encode(self._marker + text, add_special_tokens=False).ids[1:])


def _free_id(parsed: dict[str, Any]) -> int:
    vocabulary = parsed["model"]["vocab"]
    used = vocabulary.values() if isinstance(vocabulary, dict) else range(len(vocabulary))
    return max(used, default=-1) + 1
