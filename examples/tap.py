"""A tap on the way from the scheduler to the detokenizer: it writes down tokens and passes them on.

A client sees text only. A widget that shows how the text came about needs the tokens as well.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from minisgl.message import BaseTokenizerMsg, DetokenizeMsg
from minisgl.tokenizer import TokenizerProcesses
from minisgl.utils import ZmqPullQueue, ZmqPushQueue, local_address

WAIT_MS = 100


class Tap:
    """Reads at one address, sends the same bytes on to another.

    Args:
        source: where the scheduler sends; bound here.
        target: where the detokenizer listens.

    Attributes:
        ids: the tokens of each uid, in their order.
    """

    def __init__(self, source: str, target: str) -> None:
        self.ids: dict[int, list[int]] = {}
        self._pull: ZmqPullQueue[bytes] = ZmqPullQueue(source, True, bytes)
        self._push: ZmqPushQueue[bytes] = ZmqPushQueue(target, False, bytes)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._pass_on, name="tap", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Closes both queues."""
        self._closing.set()
        self._thread.join()
        self._pull.stop()
        self._push.stop()

    def _pass_on(self) -> None:
        while not self._closing.is_set():
            if not self._pull.socket.poll(timeout=WAIT_MS):
                continue
            raw = self._pull.get()
            for msg in BaseTokenizerMsg.decode_each(raw):
                if isinstance(msg, DetokenizeMsg):  # noted before anyone can see the text
                    self.ids.setdefault(msg.uid, []).append(msg.next_token)
            self._push.put(raw)


@contextmanager
def tapped(running: TokenizerProcesses) -> Iterator[tuple[TokenizerProcesses, Tap]]:
    """The same processes with a tap before the detokenizer, as the scheduler should see them."""
    addr = local_address(Path(running.detokenizer_addr.removeprefix("ipc://")).parent, "tap")
    tap = Tap(addr, running.detokenizer_addr)
    try:
        yield replace(running, detokenizer_addr=addr), tap
    finally:
        tap.stop()
