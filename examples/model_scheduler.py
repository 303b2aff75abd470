"""A small scheduler: prompts as token ids in, a reply's tokens out, several requests in turn.

It stands where an engine's scheduler does, in a process of its own, and speaks the same messages:
`UserMsg`, `AbortBackendMsg` and `ExitMsg` come in, a `DetokenizeMsg` a token goes out. Every step
brings each running request one token further. (A real scheduler computes all requests of a step in
one batch, and shares one memory of KV blocks among them; here each request has its own KV cache.)
"""

from __future__ import annotations

import multiprocessing as mp
import queue
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from minisgl.core import SamplingParams
from minisgl.message import (
    AbortBackendMsg,
    BaseBackendMsg,
    BaseTokenizerMsg,
    BatchTokenizerMsg,
    DetokenizeMsg,
    ExitMsg,
    UserMsg,
    WireError,
)
from minisgl.tokenizer import TokenizerProcesses
from minisgl.tokenizer.lifetime import ended_by_signal, ending_with_parent
from minisgl.utils import ZmqPullQueue, ZmqPushQueue, eos_token_ids, init_logger, load_tokenizer

START_SECONDS = 120.0
STOP_SECONDS = 5.0
NO_TOKEN = -1
"""Sent as the last token of a request that can't go on: the detokenizer makes an error of it."""

logger = init_logger(__name__, "scheduler")


class Model(Protocol):
    """What the scheduler needs of a model."""

    vocabulary: int
    context: int

    def tokens(self, prompt: Sequence[int], params: SamplingParams) -> Iterator[int]:
        """Token after token, without an end."""


@dataclass
class Request:
    """A running request: where its tokens come from, and how many more there may be."""

    tokens: Iterator[int]
    left: int
    ignore_eos: bool


class Scheduler:
    """The running requests. Sends nothing itself.

    Args:
        model: gives the tokens.
        eos: the token ids that end a reply.
    """

    def __init__(self, model: Model, eos: frozenset[int]) -> None:
        self.model, self.eos = model, eos
        self.running: dict[int, Request] = {}

    def take(self, messages: Sequence[BaseBackendMsg | WireError]) -> list[DetokenizeMsg]:
        """Begins and ends requests; gives a last message for each that can't begin."""
        refused = []
        for msg in messages:
            if isinstance(msg, AbortBackendMsg):
                self.running.pop(msg.uid, None)  # and its KV cache with it
            elif isinstance(msg, UserMsg):
                try:
                    self.begin(msg)
                except ValueError as error:
                    logger.warning("uid %d was refused: %s", msg.uid, error)
                    refused.append(DetokenizeMsg(msg.uid, NO_TOKEN, True))
            elif isinstance(msg, WireError):
                logger.warning("a message was refused: %s", msg)
                if msg.uid is not None:
                    refused.append(DetokenizeMsg(msg.uid, NO_TOKEN, True))
        return refused

    def begin(self, msg: UserMsg) -> None:
        """Adds a request.

        Raises:
            ValueError: it can't run; says why.
        """
        prompt, params = msg.input_ids.tolist(), msg.sampling_params
        room = self.model.context - len(prompt)
        if msg.uid in self.running:
            raise ValueError("this uid is still running")
        if not prompt or not all(0 <= token < self.model.vocabulary for token in prompt):
            raise ValueError("the prompt is empty, or has ids that the model doesn't know")
        if room < 1:
            raise ValueError(f"the prompt has {len(prompt)} tokens, {self.model.context} fit")
        if params.max_tokens < 1 or not 0 < params.top_p <= 1 or not params.temperature >= 0:
            raise ValueError("wanted: max_tokens >= 1, 0 < top_p <= 1, temperature >= 0")
        tokens = self.model.tokens(prompt, params)
        self.running[msg.uid] = Request(tokens, min(params.max_tokens, room), params.ignore_eos)

    def step(self) -> list[DetokenizeMsg]:
        """One token of each running request; those that end here are forgotten."""
        messages = []
        for uid, request in list(self.running.items()):
            try:
                token = next(request.tokens)
            except Exception as error:  # whatever goes wrong hurts this request only
                logger.warning("uid %d ends: %s: %s", uid, type(error).__name__, error)
                token, request.left = NO_TOKEN, 1
            request.left -= 1
            finished = request.left == 0 or (token in self.eos and not request.ignore_eos)
            messages.append(DetokenizeMsg(uid, token, finished))
            if finished:
                del self.running[uid]
        return messages


def load_model(name: str) -> Model:
    """``smollm2``, or ``recorded``: a reply that was written down (`examples.recorded`)."""
    if name == "recorded":
        from .recorded import RecordedModel

        return RecordedModel()
    from .smollm2 import NOT_INSTALLED, SmolLM2, model_file

    file = model_file()
    if name != "smollm2" or file is None:
        raise ValueError(NOT_INSTALLED if name == "smollm2" else f"no model {name!r}")
    return SmolLM2(file)


def run_scheduler(
    *, model: str, tokenizer: str, backend_addr: str, detokenizer_addr: str, ack_queue: Any
) -> None:
    """Runs until an `ExitMsg`, SIGTERM, Ctrl-C or its parent's end.

    Args:
        model: as `load_model`.
        tokenizer: whose EOS ids end a reply; as `load_tokenizer`.
        backend_addr: where `BaseBackendMsg` come in; it binds that.
        detokenizer_addr: where tokens go.
        ack_queue: told "ready", or "failed: why".
    """
    with ended_by_signal(), ending_with_parent(backend_addr), ExitStack() as stack:
        try:
            recv = ZmqPullQueue(backend_addr, True, BaseBackendMsg.decode_each)
            stack.callback(recv.stop)
            send: ZmqPushQueue[BaseTokenizerMsg]
            send = ZmqPushQueue(detokenizer_addr, False, BaseTokenizerMsg.encoder)
            stack.callback(send.stop)
            scheduler = Scheduler(load_model(model), eos_token_ids(load_tokenizer(tokenizer)))
        except Exception as error:
            ack_queue.put(f"failed: {error}")
            raise SystemExit(1) from error
        ack_queue.put("ready")
        while True:
            messages = [] if scheduler.running else recv.get()  # nothing to do: wait
            while not recv.empty():
                messages += recv.get()
            if any(isinstance(msg, ExitMsg) for msg in messages):
                return
            tokens = scheduler.take(messages) + scheduler.step()
            if tokens:
                send.put(tokens[0] if len(tokens) == 1 else BatchTokenizerMsg(list(tokens)))


@contextmanager
def scheduler_process(running: TokenizerProcesses, model: str, tokenizer: str) -> Iterator[Any]:
    """The scheduler in a process of its own for as long as the body runs; gives the process.

    Raises:
        RuntimeError: it couldn't start; says why.
    """
    context = mp.get_context("spawn")
    ack = context.Queue()
    options = {
        "model": model,
        "tokenizer": tokenizer,
        "backend_addr": running.backend_addr,
        "detokenizer_addr": running.detokenizer_addr,
        "ack_queue": ack,
    }
    process = context.Process(target=run_scheduler, kwargs=options, name="scheduler", daemon=True)
    process.start()
    try:
        _wait_for_ack(ack, process)
        yield process
    finally:
        process.terminate()
        process.join(STOP_SECONDS)
        if process.is_alive():
            process.kill()
            process.join()


def _wait_for_ack(ack: Any, process: Any) -> None:
    for _ in range(int(START_SECONDS * 10)):
        try:
            message: str = ack.get(timeout=0.1)
        except queue.Empty:
            if process.exitcode is not None and ack.empty():
                raise RuntimeError(f"the scheduler ended with status {process.exitcode}") from None
        else:
            if message != "ready":
                raise RuntimeError(f"the scheduler {message}")
            return
    raise RuntimeError(f"the scheduler wasn't ready after {START_SECONDS:.0f} s")
