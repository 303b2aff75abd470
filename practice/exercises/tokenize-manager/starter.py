"""Prompts to int32 tensors, in batches."""

from collections.abc import Sequence
from typing import Any

import torch


class TokenizeManager:
    """Turns many prompts into token ids at once."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def tokenize(self, msgs: Sequence[Any]) -> list[torch.Tensor]:
        """Token ids of each message, in order."""
        # One by one: the tokenizer could do all of them at once. And one bad prompt ends them all.
        return [torch.tensor(self._ids(msg), dtype=torch.int32) for msg in msgs]

    def process(self, msgs: Sequence[Any]) -> list[tuple[int, Any]]:
        """For each message its uid with a tensor, or with an error's text."""
        return [(msg.uid, ids) for msg, ids in zip(msgs, self.tokenize(msgs), strict=True)]

    def _ids(self, msg: Any) -> list[int]:
        if isinstance(msg.text, str):
            return list(self.tokenizer([msg.text])["input_ids"][0])
        text = self.tokenizer.apply_chat_template(
            msg.text, tokenize=False, add_generation_prompt=True
        )
        return list(self.tokenizer([text], add_special_tokens=False)["input_ids"][0])
