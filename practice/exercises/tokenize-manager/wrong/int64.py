# caught by: test_example_hi
"""You make tensors of int64, which is what torch makes of Python ints by default. The scheduler
and its kernels want int32.
"""

from collections.abc import Sequence
from typing import Any

import torch


class TokenizeManager:
    """Turns many prompts into token ids at once."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def tokenize(self, msgs: Sequence[Any]) -> list[torch.Tensor]:
        """Token ids of each message, in order."""
        return [torch.tensor(self._raised(ids)) for ids in self._encode(msgs)]

    def process(self, msgs: Sequence[Any]) -> list[tuple[int, Any]]:
        """For each message its uid with a tensor, or with an error's text."""
        return [
            (msg.uid, ids if isinstance(ids, str) else torch.tensor(ids))
            for msg, ids in zip(msgs, self._encode(msgs), strict=True)
        ]

    @staticmethod
    def _raised(ids: list[int] | str) -> list[int]:
        if isinstance(ids, str):
            raise ValueError(ids)
        return ids

    def _encode(self, msgs: Sequence[Any]) -> list[list[int] | str]:
        results: list[list[int] | str] = [[] for _ in msgs]
        plain: dict[int, str] = {}
        chats: dict[int, str] = {}
        for place, msg in enumerate(msgs):
            try:
                if isinstance(msg.text, str):
                    plain[place] = msg.text
                else:
                    chats[place] = self._render(msg.text)
            except Exception as error:
                results[place] = f"this prompt can't be encoded: {error}"
        for texts, add_special in ((plain, True), (chats, False)):
            if texts:
                batch = self.tokenizer(list(texts.values()), add_special_tokens=add_special)
                for place, ids in zip(texts, batch["input_ids"], strict=True):
                    results[place] = ids
        return [ids or "the prompt is empty" for ids in results]

    def _render(self, messages: list[dict[str, Any]]) -> str:
        if not messages or any("content" not in message for message in messages):
            raise ValueError("a conversation needs messages with content")
        return str(
            self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        )
