"""The tokenizer process: prompts go to the scheduler, tokens come back and go out as text."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from multiprocessing.queues import Queue
from typing import Any

from ..message import (
    AbortMsg,
    BaseBackendMsg,
    BaseFrontendMsg,
    BaseTokenizerMsg,
    BatchBackendMsg,
    BatchFrontendMsg,
    BatchTokenizerMsg,
)
from ..utils import ZmqPullQueue, ZmqPushQueue, init_logger, load_tokenizer
from .lifetime import ended_by_signal, ending_with_parent
from .worker import Worker


def tokenize_worker(
    *,
    tokenizer_path: str,
    addr: str,
    create: bool,
    backend_addr: str,
    frontend_addr: str,
    local_bs: int,
    tokenizer_id: int = -1,
    ack_queue: Queue[str] | None = None,
    detokenizer_addr: str | None = None,
    finish_reasons: bool = False,
) -> None:
    """Runs until SIGTERM, Ctrl-C or its parent's end. The first eight arguments are mini-sglang's.

    Args:
        tokenizer_path: as `load_tokenizer`.
        addr: where `BaseTokenizerMsg` come in; `create` binds it.
        create: bind `addr` instead of connecting to it.
        backend_addr: where `BaseBackendMsg` go, to the scheduler.
        frontend_addr: where `BaseFrontendMsg` go, to the API server.
        local_bs: so many messages at the most are waited for before a turn, 1 or more.
        tokenizer_id: which process this is, for the log.
        ack_queue: told "Tokenize server … is ready", or "Tokenize server … failed: why".
        detokenizer_addr: given where another process detokenizes; aborts are passed on to it.
        finish_reasons: every last reply has a `finish_reason`, and an abort has a last reply.
            Off, replies are byte for byte mini-sglang's where nothing new was asked for.

    Raises:
        SystemExit: with status 1 where it can't start; the reason is logged and on `ack_queue`.
    """
    logger = init_logger(__name__, f"tokenizer_{tokenizer_id}")
    with ended_by_signal(), ending_with_parent(addr if create else None), ExitStack() as stack:
        try:
            if local_bs < 1:
                raise ValueError(f"local_bs must be at least 1, got {local_bs}")
            recv = ZmqPullQueue(addr, create, BaseTokenizerMsg.decode_each)
            stack.callback(recv.stop)
            send_backend = _push(stack, backend_addr, BaseBackendMsg.encoder)
            send_frontend = _push(stack, frontend_addr, BaseFrontendMsg.encoder)
            send_detokenizer = _push(stack, detokenizer_addr, BaseTokenizerMsg.encoder)
            worker = Worker(
                load_tokenizer(tokenizer_path),
                detokenizes=detokenizer_addr is None,
                finish_reasons=finish_reasons,
            )
        except Exception as error:
            logger.error("can't start: %s", error)
            if ack_queue is not None:
                ack_queue.put(f"Tokenize server {tokenizer_id} failed: {error}")
            raise SystemExit(1) from error
        if ack_queue is not None:
            ack_queue.put(f"Tokenize server {tokenizer_id} is ready")

        while True:
            messages = recv.get()
            while len(messages) < local_bs and not recv.empty():
                messages += recv.get()
            backend, frontend = worker.turn(messages)
            _send(send_backend, backend, BatchBackendMsg)
            _send(send_frontend, frontend, BatchFrontendMsg)
            if send_detokenizer is not None:
                aborts = [m for m in messages if isinstance(m, AbortMsg)]
                _send(send_detokenizer, aborts, BatchTokenizerMsg)


def _push(stack: ExitStack, addr: str | None, encoder: Any) -> Any:
    if addr is None:
        return None
    queue: ZmqPushQueue[Any] = ZmqPushQueue(addr, False, encoder)
    stack.callback(queue.stop)
    return queue


def _send(queue: Any, messages: Sequence[Any], batch: Any) -> None:
    """One frame a turn: a single message bare, several in a batch."""
    if messages:
        queue.put(messages[0] if len(messages) == 1 else batch(list(messages)))
