"""Windows for many requests."""

from collections.abc import Sequence
from typing import Any


class DetokenizeManager:
    """Tokens of many requests to text."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.decode_map: dict[int, list[int]] = {}

    def detokenize(self, msgs: Sequence[Any]) -> list[str]:
        """The new text of each message."""
        # Each token alone: cut characters become U+FFFD. And no state ever ends.
        for msg in msgs:
            self.decode_map.setdefault(msg.uid, []).append(msg.next_token)
        return list(self.tokenizer.batch_decode([[msg.next_token] for msg in msgs]))
