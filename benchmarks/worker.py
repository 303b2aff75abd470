"""``python -m benchmarks.worker``: tokens a second through the real process, and the delay it adds.

Ours beside the same loop with the published windows and a codec that builds a map for each message,
both written by us after mini-sglang's. Each answers at its own address; they take turns, several
rounds, and the median counts.
"""

from __future__ import annotations

import argparse
import multiprocessing as mp
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from minisgl.message import (
    BaseFrontendMsg,
    BaseTokenizerMsg,
    BatchFrontendMsg,
    BatchTokenizerMsg,
    DetokenizeMsg,
    UserReply,
)
from minisgl.tokenizer import tokenize_worker
from minisgl.utils import ZmqPullQueue, ZmqPushQueue, load_tokenizer, local_address

from .published import PublishedDetokenizeManager, decode_by_dict, encode_by_dict
from .texts import token_stream

BAR = 10.0
OUR_CODEC = (BaseTokenizerMsg.encoder, BaseFrontendMsg.decoder)


def published_worker(
    *, addr: str, frontend_addr: str, ack_queue: Any, local_bs: int, **_: Any
) -> None:
    """The detokenizing half of the loop with the published parts."""
    manager = PublishedDetokenizeManager(load_tokenizer("qwen3"))
    recv: ZmqPullQueue[Any] = ZmqPullQueue(addr, True, decode_by_dict)
    send: ZmqPushQueue[Any] = ZmqPushQueue(frontend_addr, False, encode_by_dict)
    ack_queue.put("ready")
    while True:
        pending = _unwrap(recv.get())
        while len(pending) < local_bs and not recv.empty():
            pending += _unwrap(recv.get())
        texts = manager.detokenize(pending)
        replies = [
            UserReply(m.uid, text, m.finished) for m, text in zip(pending, texts, strict=True)
        ]
        send.put(replies[0] if len(replies) == 1 else BatchFrontendMsg(replies))


def _unwrap(msg: Any) -> list[Any]:
    return list(msg.data) if isinstance(msg, BatchTokenizerMsg) else [msg]


class Peer:
    """One worker process and the scheduler's and API server's ends of its queues."""

    def __init__(self, target: Callable[..., None], codec: Any, stack: ExitStack) -> None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="minisgl-")))
        addresses = {name: local_address(folder, name) for name in ("in", "backend", "frontend")}
        encode, decode = codec
        self.pull: ZmqPullQueue[Any] = ZmqPullQueue(addresses["frontend"], True, decode)
        context = mp.get_context("spawn")
        ack = context.Queue()
        process = context.Process(
            target=target,
            kwargs={
                "tokenizer_path": "qwen3",
                "addr": addresses["in"],
                "create": True,
                "backend_addr": addresses["backend"],
                "frontend_addr": addresses["frontend"],
                "local_bs": 256,
                "ack_queue": ack,
            },
            daemon=True,
        )
        process.start()
        ack.get(timeout=120)
        self.push: ZmqPushQueue[Any] = ZmqPushQueue(addresses["in"], False, encode)
        stack.callback(process.join)
        stack.callback(process.terminate)
        stack.callback(self.push.stop)
        stack.callback(self.pull.stop)

    def run(self, frames: Sequence[Any]) -> tuple[float, float]:
        """Seconds for all frames, sent as fast as they are taken; and for one, there and back."""
        began = time.perf_counter()
        ahead = 0
        for frame in frames:
            self.push.put(frame)
            ahead += 1
            while ahead > 8:  # a scheduler is never far ahead of its readers
                ahead -= self._take(frame)
        while ahead > 0:
            ahead -= self._take(frames[-1])
        total = time.perf_counter() - began
        trips = []
        for frame in frames[:50]:
            began = time.perf_counter()
            self.push.put(frame)
            self._take(frame)
            trips.append(time.perf_counter() - began)
        return total, statistics.median(trips)

    def _take(self, frame: Any) -> int:
        """Takes replies of whole frames; several frames may come back as one."""
        size = len(frame.data) if isinstance(frame, BatchTokenizerMsg) else 1
        left, got = size, 0
        while left > 0:
            msg = self.pull.get()
            got += len(msg.data) if isinstance(msg, BatchFrontendMsg) else 1
            left = size - got
        return got // size


def frames_of(ids: Sequence[int], requests: int, steps: int, first_uid: int) -> list[Any]:
    """A frame a step with one token of each request, as a scheduler sends them."""
    frames: list[Any] = []
    for step in range(steps):
        msgs = [
            DetokenizeMsg(first_uid + n, ids[(step + 7 * n) % len(ids)], False)
            for n in range(requests)
        ]
        frames.append(msgs[0] if requests == 1 else BatchTokenizerMsg(list(msgs)))
    return frames


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table; 1 where the bar isn't reached."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worker", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args(arguments).rounds
    ids = token_stream(load_tokenizer("qwen3"), "English", 512)
    table = Table("requests", "loop", "tokens/s", "there and back, µs", title="Worker process")
    ratio = 0.0
    with ExitStack() as stack:
        peers = {
            "ours": Peer(
                tokenize_worker, (BaseTokenizerMsg.encoder, BaseFrontendMsg.decoder), stack
            ),
            "published": Peer(published_worker, (encode_by_dict, decode_by_dict), stack),
        }
        for requests in (1, 64, 256):
            steps = {1: 2000, 64: 200, 256: 100}[requests]
            rates: dict[str, list[float]] = {name: [] for name in peers}
            trips: dict[str, list[float]] = {name: [] for name in peers}
            for number in range(rounds):
                frames = frames_of(ids, requests, steps, 10_000 * requests + 1_000 * number)
                for name, peer in peers.items():
                    total, trip = peer.run(frames)
                    rates[name].append(requests * steps / total)
                    trips[name].append(trip * 1e6)
            for name in peers:
                rate, trip = statistics.median(rates[name]), statistics.median(trips[name])
                table.add_row(str(requests), name, f"{rate:,.0f}", f"{trip:.0f}")
            ratio = statistics.median(rates["ours"]) / statistics.median(rates["published"])
    console = Console(width=None if sys.stdout.isatty() else 100)
    console.print(table)
    reached = ratio >= BAR
    console.print(
        f"at 256 requests: {ratio:.1f} times, held to {BAR:g}: "
        + ("reached" if reached else "MISSED")
    )
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
