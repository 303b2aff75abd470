"""Starts the tokenizer processes of an engine and ends them again."""

from __future__ import annotations

import multiprocessing as mp
import queue
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from ..message import BaseBackendMsg, BaseFrontendMsg, BaseTokenizerMsg
from ..utils import ZmqPullQueue, ZmqPushQueue, local_address
from ..utils.mp import SOCKET_FOLDER_PREFIX
from .server import tokenize_worker

START_SECONDS = 60.0
STOP_SECONDS = 5.0


@dataclass
class TokenizerProcesses:
    """Running tokenizer processes and where they listen and send.

    With ``num_tokenizer = 0`` one process works in both directions, and `tokenizer_addr` equals
    `detokenizer_addr`; it binds that. With N > 0 the API server binds `tokenizer_addr`, since it
    spreads prompts over N processes, and the one detokenizer binds `detokenizer_addr`.
    """

    tokenizer_addr: str
    detokenizer_addr: str
    backend_addr: str
    frontend_addr: str
    num_tokenizer: int = 0
    processes: list[BaseProcess] = field(default_factory=list)

    def push_prompts(self) -> ZmqPushQueue[BaseTokenizerMsg]:
        """The API server's queue to the tokenizer: prompts and aborts."""
        bind = self.num_tokenizer > 0
        return ZmqPushQueue(self.tokenizer_addr, bind, BaseTokenizerMsg.encoder)

    def push_tokens(self) -> ZmqPushQueue[BaseTokenizerMsg]:
        """The scheduler's queue to the detokenizer: tokens."""
        return ZmqPushQueue(self.detokenizer_addr, False, BaseTokenizerMsg.encoder)

    def pull_backend(self) -> ZmqPullQueue[BaseBackendMsg]:
        """The scheduler's queue of prompts as token ids, and of aborts."""
        return ZmqPullQueue(self.backend_addr, True, BaseBackendMsg.decoder)

    def pull_frontend(self) -> ZmqPullQueue[BaseFrontendMsg]:
        """The API server's queue of text."""
        return ZmqPullQueue(self.frontend_addr, True, BaseFrontendMsg.decoder)

    def stop(self) -> None:
        """Ends the processes: SIGTERM, then SIGKILL for one that doesn't obey."""
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.join(STOP_SECONDS)
            if process.is_alive():
                process.kill()
                process.join()


@contextmanager
def launch(
    tokenizer: str,
    *,
    num_tokenizer: int = 0,
    local_bs: int = 256,
    finish_reasons: bool = True,
    addresses: dict[str, str] | None = None,
) -> Iterator[TokenizerProcesses]:
    """Tokenizer processes for as long as the body runs.

    Args:
        tokenizer: as `load_tokenizer`.
        num_tokenizer: 0 is one process for both directions; N > 0 is N tokenizing processes beside
            one detokenizer, as in mini-sglang.
        local_bs: as `tokenize_worker`.
        finish_reasons: as `tokenize_worker`.
        addresses: `TokenizerProcesses` addresses by name; those not given are made up.

    Raises:
        RuntimeError: a process couldn't start; says why.
    """
    if num_tokenizer < 0:
        raise ValueError(f"num_tokenizer must be 0 or more, got {num_tokenizer}")
    folder = Path(tempfile.mkdtemp(prefix=SOCKET_FOLDER_PREFIX))
    try:
        running = _addresses(folder, num_tokenizer, addresses or {})
        try:
            _start(running, tokenizer, {"local_bs": local_bs, "finish_reasons": finish_reasons})
            yield running
        finally:
            running.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _addresses(folder: Path, num_tokenizer: int, given: dict[str, str]) -> TokenizerProcesses:
    made = {
        f"{name}_addr": local_address(folder, name)
        for name in ("detokenizer", "backend", "frontend")
    }
    made["tokenizer_addr"] = local_address(folder, "tokenizer")
    made |= given
    if num_tokenizer == 0:
        shared = given.get("tokenizer_addr", made["detokenizer_addr"])
        made |= {"tokenizer_addr": shared, "detokenizer_addr": shared}
    return TokenizerProcesses(**made, num_tokenizer=num_tokenizer, processes=[])


def _start(running: TokenizerProcesses, tokenizer: str, options: dict[str, Any]) -> None:
    # spawn, not fork: tokenizers and torch have threads, and Windows knows nothing else.
    context = mp.get_context("spawn")
    ack = context.Queue()
    options |= {
        "tokenizer_path": tokenizer,
        "backend_addr": running.backend_addr,
        "frontend_addr": running.frontend_addr,
        "ack_queue": ack,
    }
    n = running.num_tokenizer
    workers = [{"addr": running.detokenizer_addr, "create": True, "tokenizer_id": n}]
    workers += [
        {
            "addr": running.tokenizer_addr,
            "create": False,
            "tokenizer_id": number,
            "detokenizer_addr": running.detokenizer_addr,
        }
        for number in range(n)
    ]
    for worker in workers:
        process = context.Process(
            target=tokenize_worker,
            kwargs=options | worker,
            name=f"minisgl-tokenizer-{worker['tokenizer_id']}",
            daemon=True,
        )
        process.start()
        running.processes.append(process)
    for _ in workers:
        _wait_for_ack(ack, running.processes)


def _wait_for_ack(ack: Any, processes: list[BaseProcess]) -> None:
    for _ in range(int(START_SECONDS * 10)):
        try:
            message: str = ack.get(timeout=0.1)
        except queue.Empty:
            dead = [p for p in processes if p.exitcode not in (None, 0)]
            if dead and ack.empty():
                raise RuntimeError(
                    f"{dead[0].name} ended with status {dead[0].exitcode} before it was ready"
                ) from None
        else:
            if " failed: " in message:
                raise RuntimeError(message)
            return
    raise RuntimeError(f"the tokenizer process wasn't ready after {START_SECONDS:.0f} s")
