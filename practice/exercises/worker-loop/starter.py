"""One turn of the worker's loop."""

from collections.abc import Sequence
from typing import Any

from minisgl.message import (
    AbortBackendMsg,
    AbortMsg,
    BatchBackendMsg,
    BatchFrontendMsg,
    DetokenizeMsg,
    TokenizeMsg,
    UserMsg,
    UserReply,
)


def turn(frames: Sequence[Any], tokenizer: Any, detokenizer: Any) -> tuple[Any, Any]:
    """What goes to the scheduler, and what to the API server."""
    backend: list[Any] = []
    frontend: list[Any] = []
    # One call for each message, batches aren't unwrapped, and an error ends the whole worker.
    for msg in frames:
        if isinstance(msg, DetokenizeMsg):
            [text] = detokenizer.detokenize([msg])
            frontend.append(UserReply(msg.uid, text, msg.finished))
        elif isinstance(msg, TokenizeMsg):
            [ids] = tokenizer.tokenize([msg])
            backend.append(UserMsg(msg.uid, ids, msg.sampling_params))
        elif isinstance(msg, AbortMsg):
            backend.append(AbortBackendMsg(msg.uid))
    return BatchBackendMsg(backend), BatchFrontendMsg(frontend)
