"""Text of a stream."""


class DetokenizeManager:
    """Gives everything with the last token: never half a character."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.ids = {}

    def detokenize(self, msgs):
        """The text of each message."""
        texts = []
        for msg in msgs:
            ids = self.ids.setdefault(msg.uid, [])
            ids.append(msg.next_token)
            texts.append(self.tokenizer.decode(ids) if msg.finished else "")
            if msg.finished:
                del self.ids[msg.uid]
        return texts
