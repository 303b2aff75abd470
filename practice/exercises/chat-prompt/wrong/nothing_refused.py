# caught by: test_bad_messages
"""You make a prompt of what is none: no messages, or a message without content. The model would
answer to nothing.
"""

from typing import Any


def chat_prompt(tokenizer: Any, messages: list[dict[str, Any]]) -> str:
    """The prompt's text, with the generation prompt."""
    plain = [{**message, "content": _text_of(message)} for message in messages]
    return str(tokenizer.apply_chat_template(plain, tokenize=False, add_generation_prompt=True))


def encode_chat(tokenizer: Any, messages: list[dict[str, Any]]) -> list[int]:
    """The prompt's token ids; the template has written the special tokens."""
    return list(tokenizer.encode(chat_prompt(tokenizer, messages), add_special_tokens=False))


def _text_of(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = []
    for part in content:
        if part.get("type") != "text":
            raise ValueError(f"a part of type {part.get('type')!r} isn't text")
        texts.append(part["text"])
    return "".join(texts)
