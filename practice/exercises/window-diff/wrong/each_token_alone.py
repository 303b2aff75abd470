# caught by: test_nothing_lost
"""You decode each token by itself. A character that is cut over two tokens becomes two U+FFFD,
and SentencePiece drops each word's space.
"""

from typing import Any


class Window:
    """One reply: its ids, the two offsets, and how much of the new text was sent."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.ids: list[int] = []
        self.surr_offset = 0
        self.read_offset = 0
        self.sent = 0

    def push(self, token: int) -> str:
        """The text to send now."""
        self.ids.append(token)
        new = self._new_text()
        piece = new[self.sent :]
        if new:
            self.surr_offset, self.read_offset = self.read_offset, len(self.ids)
            self.sent = 0
        return piece

    def finish(self) -> str:
        """What was held at the end."""
        return ""

    def _new_text(self) -> str:
        return self.tokenizer.decode(self.ids[-1:])
