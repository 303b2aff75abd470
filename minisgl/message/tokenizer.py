"""Messages to the tokenizer process, from the API server and the scheduler."""

from __future__ import annotations

from typing import Any

import msgspec

from ..core import SamplingParams
from .utils import Codec, WireError


class BaseTokenizerMsg(msgspec.Struct, tag_field="__type__", tag=True, omit_defaults=True):
    """Base of all that the tokenizer process receives."""

    def encoder(self) -> bytes:
        """This message as msgpack bytes; also ``BaseTokenizerMsg.encoder(msg)``."""
        return CODEC.encode(self)

    @staticmethod
    def decoder(raw: bytes) -> BaseTokenizerMsg:
        """The message in `raw`; raises `WireError` for anything else."""
        return CODEC.decode(raw)

    @staticmethod
    def decode_each(raw: bytes) -> list[BaseTokenizerMsg | WireError]:
        """The single messages in `raw`, with a `WireError` in the place of each bad one."""
        return CODEC.decode_each(raw)


class TokenizeMsg(BaseTokenizerMsg):
    """API server to tokenizer: a prompt, as text or as a conversation.

    Attributes:
        uid: the request's id; its tokens and its text carry it too.
        text: a plain prompt, or messages ``[{"role": …, "content": …}, …]`` for the chat template.
        sampling_params: passed on to the scheduler; stop strings are the detokenizer's.
    """

    uid: int
    text: str | list[dict[str, Any]]
    sampling_params: SamplingParams


class DetokenizeMsg(BaseTokenizerMsg):
    """Scheduler to detokenizer: the next token of a reply.

    Attributes:
        uid: the request's id.
        next_token: the token id.
        finished: the scheduler ends the reply with this token (EOS or length).
        stop: the request's stop strings, for a detokenizer that hasn't seen its `TokenizeMsg`.
            This and the next two are read with the first token of a uid.
        include_stop_str_in_output: as in `SamplingParams`.
        ignore_eos: as in `SamplingParams`.
    """

    uid: int
    next_token: int
    finished: bool
    stop: str | list[str] | None = None
    include_stop_str_in_output: bool = False
    ignore_eos: bool = False


class AbortMsg(BaseTokenizerMsg):
    """API server to tokenizer: the client is gone, end this request."""

    uid: int


class BatchTokenizerMsg(BaseTokenizerMsg):
    """Several messages in one frame."""

    data: list[TokenizeMsg | DetokenizeMsg | AbortMsg]


CODEC = Codec(BaseTokenizerMsg, lambda: TokenizeMsg | DetokenizeMsg | AbortMsg, BatchTokenizerMsg)
