# caught by: test_spaces_of_sentencepiece
"""You decode only the new tokens, without those before them. SentencePiece drops the space that
begins a text, so the words stick together.
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
        if new.endswith("\ufffd"):
            piece = new[self.sent : -1]
            self.sent += len(piece)
            return piece
        piece = new[self.sent :]
        if new:
            self.surr_offset = self.read_offset = len(self.ids)
            self.sent = 0
        return piece

    def finish(self) -> str:
        """What was held at the end."""
        return self._new_text()[self.sent :]

    def _new_text(self) -> str:
        known = self.tokenizer.decode(self.ids[self.surr_offset : self.read_offset])
        return self.tokenizer.decode(self.ids[self.surr_offset :])[len(known) :]
