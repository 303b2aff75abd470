# caught by: test_single_messages_are_bare
"""You wrap a single message in a batch. A single one goes out by itself."""

from collections.abc import Callable, Sequence
from typing import Any

from minisgl.message import (
    AbortBackendMsg,
    AbortMsg,
    BatchBackendMsg,
    BatchFrontendMsg,
    BatchTokenizerMsg,
    DetokenizeMsg,
    TokenizeMsg,
    UserMsg,
    UserReply,
)


def turn(frames: Sequence[Any], tokenizer: Any, detokenizer: Any) -> tuple[Any, Any]:
    """What goes to the scheduler, and what to the API server."""
    messages = [
        msg
        for frame in frames
        for msg in (frame.data if isinstance(frame, BatchTokenizerMsg) else [frame])
    ]
    backend: list[Any] = []
    frontend: list[Any] = []
    tokens = [msg for msg in messages if isinstance(msg, DetokenizeMsg)]
    for msg, text in zip(tokens, _answers(detokenizer.detokenize, tokens), strict=True):
        if isinstance(text, ValueError):
            frontend.append(_error(msg.uid, text))
        else:
            frontend.append(UserReply(msg.uid, text, msg.finished))
    prompts = [msg for msg in messages if isinstance(msg, TokenizeMsg)]
    for msg, ids in zip(prompts, _answers(tokenizer.tokenize, prompts), strict=True):
        if isinstance(ids, ValueError):
            frontend.append(_error(msg.uid, ids))
        else:
            backend.append(UserMsg(msg.uid, ids, msg.sampling_params))
    for msg in messages:
        if isinstance(msg, AbortMsg):
            detokenizer.abort(msg.uid)
            backend.append(AbortBackendMsg(msg.uid))
    return _packed(backend, BatchBackendMsg), _packed(frontend, BatchFrontendMsg)


def _answers(call: Callable[[Any], Any], msgs: list[Any]) -> list[Any]:
    if not msgs:
        return []
    try:
        return list(call(msgs))
    except ValueError as error:
        if len(msgs) == 1:
            return [error]
    return [answer for msg in msgs for answer in _answers(call, [msg])]


def _error(uid: int, error: ValueError) -> UserReply:
    return UserReply(uid, "", True, "error", error=str(error))


def _packed(messages: list[Any], batch: Any) -> Any:
    if not messages:
        return None
    return batch(messages)
