"""What the benchmarks stream: four kinds of text, and bytes that never become a character."""

from __future__ import annotations

import inspect
import json
from typing import Any

ENGLISH = (
    "A tokenizer process stands between the people who write and the model that reads numbers. "
    "It receives a conversation, lets the template of the model arrange it, and hands over ids. "
    "Later the answer comes back one token at a time, and each has to become text at once: nobody "
    "wants to wait for the end of a sentence, and nobody wants to see half of a letter. "
)
CHINESE = (
    "推理引擎把模型生成的每一个词元立刻变成文字。一个汉字有时被切成几个词元，读者不应当看到半个字。"
    "服务器同时处理许多请求，每个请求都有自己的状态；请求结束以后，状态必须释放。生僻字如鱻和䨻更容易被切开。"
)
EMOJI = "🦩🛑😀👩‍👩‍👧‍👦🏳️‍🌈🇨🇭👍🏽🫠🧬🪐🦥🪿🫨🩷🎉🔥✨🚀🤖🧠🐉🦚🪷🍜🥮🧋🀄🎎🏮⛩️🗾"
CODE = inspect.getsource(json.JSONDecoder) + inspect.getsource(json.JSONEncoder)

TEXTS = {"English": ENGLISH, "Chinese": CHINESE, "emoji": EMOJI, "code": CODE}

DEAD_BYTE = 222
"""Qwen3's token of a lone continuation byte: without end, each is one U+FFFD."""


def token_stream(tokenizer: Any, kind: str, length: int) -> list[int]:
    """`length` ids of a kind of text, or of dead bytes.

    Args:
        tokenizer: of Qwen3.
        kind: a key of `TEXTS`, or "dead bytes".
        length: tokens.
    """
    ids = [DEAD_BYTE] if kind == "dead bytes" else tokenizer.encode(TEXTS[kind])
    return (ids * (length // len(ids) + 1))[:length]
