"""Queues, tokenizers from disk, logging. Nothing here knows what a message is."""

from .hf import eos_token_ids, load_tokenizer
from .logger import init_logger
from .models import ModelError
from .mp import (
    QueueError,
    ZmqAsyncPullQueue,
    ZmqAsyncPushQueue,
    ZmqPullQueue,
    ZmqPushQueue,
    local_address,
)

__all__ = [
    "ModelError",
    "QueueError",
    "ZmqAsyncPullQueue",
    "ZmqAsyncPushQueue",
    "ZmqPullQueue",
    "ZmqPushQueue",
    "eos_token_ids",
    "init_logger",
    "load_tokenizer",
    "local_address",
]
