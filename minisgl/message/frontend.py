"""Messages from the tokenizer process to the API server (the frontend)."""

from __future__ import annotations

import msgspec

from .utils import Codec, WireError


class BaseFrontendMsg(msgspec.Struct, tag_field="__type__", tag=True, omit_defaults=True):
    """Base of all that the API server receives."""

    def encoder(self) -> bytes:
        """This message as msgpack bytes; also ``BaseFrontendMsg.encoder(msg)``."""
        return CODEC.encode(self)

    @staticmethod
    def decoder(raw: bytes) -> BaseFrontendMsg:
        """The message in `raw`; raises `WireError` for anything else."""
        return CODEC.decode(raw)

    @staticmethod
    def decode_each(raw: bytes) -> list[BaseFrontendMsg | WireError]:
        """The single messages in `raw`, with a `WireError` in the place of each bad one."""
        return CODEC.decode_each(raw)


class UserReply(BaseFrontendMsg):
    """Detokenizer to API server: the next piece of a reply.

    Attributes:
        uid: the request's id.
        incremental_output: text that is new; may be empty while a character is incomplete.
        finished: nothing more comes for this uid.
        finish_reason: with `finished`: "stop" (EOS or a stop string), "length", "abort", "error".
        error: with "error": what was wrong and what to do.
    """

    uid: int
    incremental_output: str
    finished: bool
    finish_reason: str | None = None
    error: str | None = None


class BatchFrontendMsg(BaseFrontendMsg):
    """Several messages in one frame."""

    data: list[UserReply]


CODEC = Codec(BaseFrontendMsg, lambda: UserReply, BatchFrontendMsg)
