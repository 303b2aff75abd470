"""New text as the difference of two decodes."""

from typing import Any


class Window:
    """One reply."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.ids: list[int] = []
        self.sent = 0

    def push(self, token: int) -> str:
        """The text to send now."""
        self.ids.append(token)
        # This decodes the whole reply at every token, and sends a cut character as U+FFFD.
        text = self.tokenizer.decode(self.ids)
        piece = text[self.sent :]
        self.sent = len(text)
        return piece

    def finish(self) -> str:
        """What was held at the end."""
        return ""
