"""The API server's place: asks, and sorts the text that comes back by request.

``with serve() as client`` starts all three: the tokenizer processes, the scheduler with its model,
and a client that is connected to them.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from minisgl.core import SamplingParams
from minisgl.message import (
    AbortMsg,
    BaseFrontendMsg,
    BatchFrontendMsg,
    TokenizeMsg,
    UserReply,
    WireError,
)
from minisgl.tokenizer import TokenizerProcesses, launch

from .model_scheduler import scheduler_process
from .recorded import TOKENIZER as RECORDED_TOKENIZER
from .recorded import recorded_note
from .smollm2 import model_file
from .tap import Tap, tapped

Messages = str | list[dict[str, Any]]
TOKENIZERS = {"smollm2": "smollm2", "recorded": RECORDED_TOKENIZER}
WAIT_MS = 100


class Client:
    """One thread reads the replies; any thread may ask, stop, and take a request's replies.

    Args:
        running: the tokenizer processes.
        model: what answers: ``smollm2`` or ``recorded``.
        tap: sees the tokens; without one `ids` knows none.

    Attributes:
        tokenizer: whose tokens they are, as `load_tokenizer`.
        note: what a reader should know of the model; empty where it is the real one.
    """

    def __init__(self, running: TokenizerProcesses, model: str, tap: Tap | None = None) -> None:
        self.model, self.tokenizer = model, TOKENIZERS[model]
        self.note = "" if model == "smollm2" else recorded_note()
        self._tap = tap
        self._prompts = running.push_prompts()
        self._replies = running.pull_frontend()
        self._uids = itertools.count(1)
        self._open: dict[int, queue.SimpleQueue[UserReply]] = {}
        self._lock = threading.Lock()  # a ZeroMQ socket is one thread's at a time
        self._closing = threading.Event()
        self._reader = threading.Thread(target=self._read, name="client", daemon=True)
        self._reader.start()

    def ask(self, messages: Messages, params: SamplingParams | None = None) -> int:
        """Sends a prompt or a conversation; returns the request's uid.

        Raises:
            WireError: it can't be sent; says why.
            RuntimeError: `stop` was called before.
        """
        if self._closing.is_set():
            raise RuntimeError("this client was stopped: start the model again")
        uid = next(self._uids)
        self._open[uid] = queue.SimpleQueue()
        try:
            with self._lock:
                self._prompts.put(TokenizeMsg(uid, messages, params or SamplingParams()))
        except WireError:  # a lone surrogate, an object in a message: it was never sent
            del self._open[uid]
            raise
        return uid

    def replies(self, uid: int, timeout: float = 120) -> Iterator[UserReply]:
        """The pieces of a reply as they come; the last one has ``finished``.

        Raises:
            TimeoutError: nothing came for `timeout` seconds.
        """
        pieces, waited = self._open[uid], 0.0
        while waited < timeout:
            try:
                reply = pieces.get(timeout=WAIT_MS / 1000)  # short waits: Ctrl-C gets a turn
            except queue.Empty:
                waited += WAIT_MS / 1000
                continue
            waited = 0.0
            yield reply
            if reply.finished:
                self._open.pop(uid, None)
                return
        raise TimeoutError(f"nothing came for uid {uid} in {timeout} s")

    def stream(
        self, messages: Messages, params: SamplingParams | None = None, timeout: float = 120
    ) -> Iterator[UserReply]:
        """`ask`, then `replies`. Ended early, by ``break`` or an exception, it aborts."""
        uid, finished = self.ask(messages, params), False
        try:
            for reply in self.replies(uid, timeout):
                finished = reply.finished
                yield reply
        finally:
            if not finished:
                self.abort(uid)
                self._open.pop(uid, None)

    def ids(self, uid: int) -> list[int]:
        """The tokens of a reply until now."""
        return list(self._tap.ids.get(uid, ())) if self._tap else []

    def abort(self, uid: int) -> None:
        """Ends a request; its last reply, with the reason "abort", still comes."""
        with self._lock:
            self._prompts.put(AbortMsg(uid))

    def stop(self) -> None:
        """Closes the queues."""
        self._closing.set()
        self._reader.join()
        self._prompts.stop()
        self._replies.stop()

    def _read(self) -> None:
        while not self._closing.is_set():
            if not self._replies.socket.poll(timeout=WAIT_MS):
                continue
            for reply in _single(self._replies.get()):
                pieces = self._open.get(reply.uid)
                if pieces is not None:  # else nobody waits for it any more
                    pieces.put(reply)


def _single(msg: BaseFrontendMsg) -> list[UserReply]:
    if isinstance(msg, BatchFrontendMsg):
        return msg.data
    return [msg] if isinstance(msg, UserReply) else []


@contextmanager
def serve(*, model: str | None = None, num_tokenizer: int = 0) -> Iterator[Client]:
    """Tokenizer processes, scheduler and client, for as long as the body runs.

    Args:
        model: ``smollm2`` or ``recorded``; None takes the model where it is installed.
        num_tokenizer: as `minisgl.tokenizer.launch`.

    Raises:
        RuntimeError: a process couldn't start; says why.
    """
    model = model or ("smollm2" if model_file() else "recorded")
    tokenizer = TOKENIZERS.get(model, model)
    with ExitStack() as stack:
        running = stack.enter_context(launch(tokenizer, num_tokenizer=num_tokenizer))
        seen_by_scheduler, tap = stack.enter_context(tapped(running))
        stack.enter_context(scheduler_process(seen_by_scheduler, model, tokenizer))
        client = Client(running, model, tap)
        stack.callback(client.stop)
        yield client
