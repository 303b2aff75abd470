"""One turn of the tokenizer process: messages in, messages out, sorted by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..message import (
    AbortBackendMsg,
    AbortMsg,
    BaseBackendMsg,
    BaseTokenizerMsg,
    DetokenizeMsg,
    TokenizeMsg,
    UserMsg,
    UserReply,
    WireError,
)
from ..utils import init_logger
from .byte_detokenize import make_detokenize_manager
from .tokenize import TokenizeManager

logger = init_logger(__name__)


class Worker:
    """Both managers behind one door; sends nothing itself.

    Args:
        tokenizer: of transformers.
        detokenizes: False where another process does; then requests aren't registered here.
        options: for the detokenize manager, as `BaseDetokenizeManager`.
    """

    def __init__(self, tokenizer: Any, *, detokenizes: bool = True, **options: Any) -> None:
        self.tokenize_manager = TokenizeManager(tokenizer)
        self.detokenize_manager = make_detokenize_manager(tokenizer, **options)
        self.detokenizes = detokenizes

    def turn(
        self, messages: Sequence[BaseTokenizerMsg | WireError]
    ) -> tuple[list[BaseBackendMsg], list[UserReply]]:
        """What goes to the scheduler and what to the API server; an error stays with its uid.

        Args:
            messages: single messages, and a `WireError` in the place of each that didn't decode.
        """
        errors = [m for m in messages if isinstance(m, WireError)]
        tokens = [m for m in messages if isinstance(m, DetokenizeMsg)]
        prompts = [m for m in messages if isinstance(m, TokenizeMsg)]
        aborts = [m for m in messages if isinstance(m, AbortMsg)]

        frontend = [reply for error in errors for reply in self._refuse(error)]
        frontend += self.detokenize_manager.process(tokens)
        backend: list[BaseBackendMsg] = []
        backend += [AbortBackendMsg(uid) for uid in self.detokenize_manager.take_aborts()]
        for result in self.tokenize_manager.process(prompts):
            if isinstance(result, UserMsg):
                result = self._register(result)
            (frontend if isinstance(result, UserReply) else backend).append(result)  # type: ignore[arg-type]
        for msg in aborts:
            backend.append(AbortBackendMsg(msg.uid))
            frontend += self._abort(msg.uid)
        return backend, frontend

    def _register(self, msg: UserMsg) -> UserMsg | UserReply:
        if self.detokenizes:
            try:
                self.detokenize_manager.register(msg.uid, msg.sampling_params)
            except ValueError as error:
                return UserReply(msg.uid, "", True, "error", str(error))
        return msg

    def _abort(self, uid: int) -> list[UserReply]:
        reply = self.detokenize_manager.abort(uid)
        # mini-sglang's API server has forgotten a uid that it aborts, and expects no reply.
        return [reply] if reply is not None and self.detokenize_manager.finish_reasons else []

    def _refuse(self, error: WireError) -> list[UserReply]:
        logger.warning("a message was refused: %s", error)
        return [] if error.uid is None else [UserReply(error.uid, "", True, "error", str(error))]
