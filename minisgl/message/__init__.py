"""What travels between the API server, the tokenizer process and the scheduler.

Three queues, one base class each; a queue's decoder builds only that queue's messages.
"""

from .backend import AbortBackendMsg, BaseBackendMsg, BatchBackendMsg, ExitMsg, UserMsg
from .frontend import BaseFrontendMsg, BatchFrontendMsg, UserReply
from .tokenizer import (
    AbortMsg,
    BaseTokenizerMsg,
    BatchTokenizerMsg,
    DetokenizeMsg,
    TokenizeMsg,
)
from .utils import MAX_MESSAGE_BYTES, WireError

__all__ = [
    "MAX_MESSAGE_BYTES",
    "AbortBackendMsg",
    "AbortMsg",
    "BaseBackendMsg",
    "BaseFrontendMsg",
    "BaseTokenizerMsg",
    "BatchBackendMsg",
    "BatchFrontendMsg",
    "BatchTokenizerMsg",
    "DetokenizeMsg",
    "ExitMsg",
    "TokenizeMsg",
    "UserMsg",
    "UserReply",
    "WireError",
]
