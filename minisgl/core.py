"""What a request asks of the sampler."""

from __future__ import annotations

from typing import TypeVar

import msgspec

T = TypeVar("T")


def written_always(default: T) -> T:
    """A field default that is put on the wire although it is the default.

    mini-sglang (20fcd7f) writes every field of its dataclasses. Fields that are ours and not its
    have plain defaults, and ``omit_defaults`` leaves those out.
    """
    return msgspec.field(default_factory=lambda: default)


class SamplingParams(msgspec.Struct, tag_field="__type__", tag=True, omit_defaults=True):
    """How the next token is chosen and when a reply ends.

    Source: ``minisgl/core.py`` of sgl-project/mini-sglang; ``stop`` and
    ``include_stop_str_in_output`` are named as in vLLM and the OpenAI API, and are not on the wire
    unless they are set.

    Attributes:
        temperature: 0 is greedy.
        top_k: how many of the likeliest tokens take part; -1 is all.
        top_p: the likeliest tokens up to this share of probability take part.
        ignore_eos: an EOS token doesn't end the reply and is text like any other.
        max_tokens: the reply's length limit, in tokens.
        stop: a stop string or several; the reply ends before the first that appears in its text.
        include_stop_str_in_output: the stop string itself is shown too.
    """

    temperature: float = written_always(0.0)
    top_k: int = written_always(-1)
    top_p: float = written_always(1.0)
    ignore_eos: bool = written_always(False)
    max_tokens: int = written_always(1024)
    stop: str | list[str] | None = None
    include_stop_str_in_output: bool = False

    @property
    def is_greedy(self) -> bool:
        """True where sampling comes down to taking the likeliest token."""
        return (self.temperature <= 0.0 or self.top_k == 1) and self.top_p == 1.0
