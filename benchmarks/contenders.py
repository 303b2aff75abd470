"""The ways to turn tokens into text that are compared, each behind the same call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minisgl.message import DetokenizeMsg
from minisgl.tokenizer import ByteDetokenizeManager, DetokenizeManager

from .published import PublishedDetokenizeManager

Step = Callable[[Sequence[DetokenizeMsg]], list[str]]


def floor(tokenizer: Any) -> Step:
    """A loop that looks the uid up and appends a string: no detokenizer in Python is faster."""
    states: dict[int, str] = {}
    table = dict.fromkeys(tokenizer.get_vocab().values(), "text")

    def step(msgs: Sequence[DetokenizeMsg]) -> list[str]:
        texts: list[str] = []
        for msg in msgs:
            states.get(msg.uid)
            texts.append(table[msg.next_token])
        return texts

    return step


def decode_stream(tokenizer: Any) -> Step:
    """Hugging Face tokenizers' DecodeStream, one for each request."""
    from tokenizers.decoders import DecodeStream

    backend = tokenizer.backend_tokenizer
    streams: dict[int, Any] = {}

    def step(msgs: Sequence[DetokenizeMsg]) -> list[str]:
        texts = []
        for msg in msgs:
            stream = streams.get(msg.uid)
            if stream is None:
                stream = streams[msg.uid] = DecodeStream(skip_special_tokens=False)
            texts.append(stream.step(backend, msg.next_token) or "")
        return texts

    return step


def text_iterator_streamer(tokenizer: Any) -> Step:
    """Hugging Face transformers' TextIteratorStreamer, one for each request."""
    import torch
    from transformers import TextIteratorStreamer

    streamers: dict[int, Any] = {}

    def step(msgs: Sequence[DetokenizeMsg]) -> list[str]:
        texts = []
        for msg in msgs:
            if msg.uid not in streamers:
                streamers[msg.uid] = TextIteratorStreamer(tokenizer)
            streamer = streamers[msg.uid]
            streamer.put(torch.tensor([msg.next_token]))
            texts.append(streamer.text_queue.get())
        return texts

    return step


def naive(tokenizer: Any) -> Step:
    """The whole reply decoded at every token."""
    replies: dict[int, list[int]] = {}
    sent: dict[int, int] = {}

    def step(msgs: Sequence[DetokenizeMsg]) -> list[str]:
        texts = []
        for msg in msgs:
            ids = replies.setdefault(msg.uid, [])
            ids.append(msg.next_token)
            text = tokenizer.decode(ids)
            texts.append(text[sent.get(msg.uid, 0) :])
            sent[msg.uid] = len(text)
        return texts

    return step


CONTENDERS: dict[str, Callable[[Any], Step]] = {
    "floor": floor,
    "our bytes": lambda tokenizer: ByteDetokenizeManager(tokenizer).detokenize,
    "our windows": lambda tokenizer: DetokenizeManager(tokenizer).detokenize,
    "published windows": lambda tokenizer: PublishedDetokenizeManager(tokenizer).detokenize,
    "DecodeStream": decode_stream,
    "TextIteratorStreamer": text_iterator_streamer,
    "naive": naive,
}
