"""Text of a stream."""


class DetokenizeManager:
    """Decodes each token alone, so characters that are cut are lost."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def detokenize(self, msgs):
        """The text of each message."""
        return [self.tokenizer.decode([msg.next_token]) for msg in msgs]
