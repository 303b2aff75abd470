# caught by: test_whole_text
"""You decode only the last two tokens."""


class DetokenizeManager:
    def __init__(self, tokenizer):
        self.tokenizer, self.ids = tokenizer, []

    def detokenize(self, msgs):
        self.ids += [msg.next_token for msg in msgs]
        return [self.tokenizer.decode(self.ids[-2:]) if msgs[0].finished else ""]
