"""Detokenizing by bytes: each token's bytes into an incremental UTF-8 decoder.

Exact, since UTF-8 is what the tokens spell; early, since a character is complete with its last
byte; flat, since nothing is decoded twice and at most three bytes wait. A table of the tokens that
are whole characters makes most steps one look-up.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..message import DetokenizeMsg, UserReply
from ..utils import init_logger
from .detokenize import DetokenizeManager
from .manager import BaseDetokenizeManager
from .token_bytes import token_bytes

logger = init_logger(__name__)

STEPS_REMEMBERED = 1 << 16
"""Pairs of waiting bytes and token whose outcome is kept, at the most."""


def decode_certain(data: bytes, last: bool = False) -> tuple[str, bytes]:
    """The text of `data` as far as no further byte can change it, and the bytes that wait.

    Invalid bytes become U+FFFD, one for each longest beginning of a character that can't go on
    (Unicode 17, section 3.9, "U+FFFD Substitution of Maximal Subparts"), as Rust and Python do.

    Args:
        data: UTF-8 so far, beginning between two characters.
        last: nothing follows; an incomplete character becomes U+FFFD too.
    """
    text, used = utf_8_decode(data, "replace", last)
    pending = data[used:]
    if len(pending) == 2 and pending[0] == 0xED and pending[1] >= 0xA0:
        # Half of a surrogate pair is never a character. Python waits for its third byte all the
        # same, and then says three U+FFFD; two of them are certain now.
        return text + "\ufffd\ufffd", b""
    return text, pending


@dataclass(slots=True)
class ByteStatus:
    """How far one reply is.

    Attributes:
        pending: bytes of a character that isn't complete, three at the most.
        at_start: no text yet, and the tokenizer drops a space that begins the text.
        simple: the reply has begun, and no stop string or the like is to be watched.
    """

    pending: bytes = b""
    at_start: bool = False
    simple: bool = False


class ByteDetokenizeManager(BaseDetokenizeManager[ByteStatus]):
    """Tokens to text by their bytes; arguments as `BaseDetokenizeManager`.

    Raises:
        ValueError: the tokenizer's decoder isn't ByteLevel or SentencePiece with byte fallback.
    """

    def __init__(self, tokenizer: Any, **options: Any) -> None:
        super().__init__(tokenizer, **options)
        known = token_bytes(tokenizer)
        if known is None:
            raise ValueError(
                "this tokenizer's description doesn't say each token's bytes: "
                "use DetokenizeManager, which works with every tokenizer"
            )
        self._strip_space = known.strip_space
        self._bytes, self._whole = known.table, known.whole
        if self.skip_special_tokens:
            self._bytes = self._bytes | dict.fromkeys(known.special, b"")
            self._whole = self._whole | dict.fromkeys(known.special, "")
        self._steps: dict[tuple[bytes, int], tuple[str, bytes]] = {}
        # Running requests in which nothing waits and nothing is to be watched: the fast path.
        self._plain: set[int] = set()

    def detokenize(self, msgs: Sequence[DetokenizeMsg]) -> list[str]:
        """As `BaseDetokenizeManager.detokenize`, one look-up a token where that is enough."""
        texts: list[str] = []
        plain, whole = self._plain, self._whole.get
        for msg in msgs:
            if msg.uid in plain and not msg.finished:
                text = whole(msg.next_token)
                if text is not None:
                    texts.append(text)  # CPython calls this faster than a bound append
                    continue
            text = self._cut(msg)
            if text is None:
                reply = self._single(msg)
                text = reply.incremental_output if reply is not None else ""
            texts.append(text)
        self._log_evicted()
        return texts

    def process(self, msgs: Sequence[DetokenizeMsg]) -> list[UserReply]:
        """As `BaseDetokenizeManager.process`, one look-up a token where that is enough."""
        replies: list[UserReply] = []
        plain, whole = self._plain, self._whole.get
        for msg in msgs:
            text = whole(msg.next_token) if msg.uid in plain and not msg.finished else None
            if text is None:
                text = self._cut(msg)
            reply = UserReply(msg.uid, text, False) if text is not None else self._single(msg)
            if reply is not None:
                replies.append(reply)
        return replies + self._evict()

    def _cut(self, msg: DetokenizeMsg) -> str | None:
        """The text of a token within a reply in which nothing is to be watched, else None."""
        state = self.decode_map.get(msg.uid)
        if state is None or not state.simple or msg.finished:
            return None
        step = self._steps.get((state.pending, msg.next_token)) or self._step_of(state, msg)
        if step is None:
            return None
        text, state.pending = step
        if state.pending:
            self._plain.discard(msg.uid)
        else:
            self._plain.add(msg.uid)
        return text

    def _step_of(self, state: ByteStatus, msg: DetokenizeMsg) -> tuple[str, bytes] | None:
        """What a token does after the bytes that wait; remembered, since few pairs are common."""
        raw = self._bytes.get(msg.next_token)
        if raw is None:
            return None
        step = decode_certain(state.pending + raw)
        if len(self._steps) < STEPS_REMEMBERED:
            self._steps[state.pending, msg.next_token] = step
        return step

    def _single(self, msg: DetokenizeMsg) -> UserReply | None:
        """The reply to any message, by the way that all managers share."""
        self._seen_token = True
        try:
            if not self._admit(msg):
                return None
        except ValueError as error:
            return self._fail(msg, error)
        state = self.decode_map[msg.uid]
        reply = self._reply(msg, self._new_text(state, self._token_of(msg), msg.finished))
        if not reply.finished and not state.at_start and msg.uid not in self._options:
            state.simple = True
            if not state.pending:
                self._plain.add(msg.uid)
        return reply

    def _new_state(self) -> ByteStatus:
        return ByteStatus(at_start=self._strip_space)

    def _knows(self, token: int) -> bool:
        return token in self._bytes

    def _decode(
        self, states: list[ByteStatus], tokens: list[int | None], last: list[bool]
    ) -> list[str]:
        return [self._new_text(*parts) for parts in zip(states, tokens, last, strict=True)]

    def _new_text(self, state: ByteStatus, token: int | None, last: bool) -> str:
        data = state.pending if token is None else state.pending + self._bytes[token]
        text, state.pending = decode_certain(data, last)
        if state.at_start and text:
            state.at_start = False
            return text.removeprefix(" ")
        return text

    def _end(self, uid: int) -> None:
        super()._end(uid)
        self._plain.discard(uid)


def make_detokenize_manager(
    tokenizer: Any, **options: Any
) -> DetokenizeManager | ByteDetokenizeManager:
    """The byte path where the tokenizer's own description allows it, else windows; logs which.

    Args:
        tokenizer: of transformers, or of tokenizers.
        options: as `BaseDetokenizeManager`.
    """
    if token_bytes(tokenizer) is not None:
        logger.info("detokenizing by bytes: the description gives each token's bytes")
        return ByteDetokenizeManager(tokenizer, **options)
    logger.info("detokenizing with windows: the description doesn't give each token's bytes")
    return DetokenizeManager(tokenizer, **options)
