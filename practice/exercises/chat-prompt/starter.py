"""A conversation through the model's chat template."""

from typing import Any


def chat_prompt(tokenizer: Any, messages: list[dict[str, Any]]) -> str:
    """The prompt's text, with the generation prompt."""
    # Home-made: this is no model's form, and the model was never trained on it.
    return "\n".join(f"{message['role']}: {message['content']}" for message in messages)


def encode_chat(tokenizer: Any, messages: list[dict[str, Any]]) -> list[int]:
    """The prompt's token ids."""
    return list(tokenizer.encode(chat_prompt(tokenizer, messages)))
