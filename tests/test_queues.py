"""Queues: real ZeroMQ sockets on this machine."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path

import pytest

from minisgl.utils import (
    QueueError,
    ZmqAsyncPullQueue,
    ZmqAsyncPushQueue,
    ZmqPullQueue,
    ZmqPushQueue,
    local_address,
)


def test_messages_arrive_in_order_whoever_comes_first(tmp_path):
    for push_first in (True, False):
        addr = local_address(tmp_path, f"q{push_first}")
        ends = [
            lambda addr=addr: ZmqPushQueue(addr, False, str.encode),
            lambda addr=addr: ZmqPullQueue(addr, True, bytes.decode),
        ]
        made = [make() for make in (ends if push_first else ends[::-1])]
        push, pull = made if push_first else made[::-1]
        for number in range(100):
            push.put(f"推理 {number}")
        assert [pull.get() for _ in range(100)] == [f"推理 {number}" for number in range(100)]
        assert pull.empty()
        push.stop()
        pull.stop()


def test_empty_sees_what_waits(tmp_path):
    addr = local_address(tmp_path, "q")
    pull, push = ZmqPullQueue(addr, True, bytes), ZmqPushQueue(addr, False, bytes)
    assert pull.empty()
    push.put(b"x")
    assert pull.socket.poll(timeout=10_000)
    assert not pull.empty()
    assert pull.get() == b"x"
    push.stop()
    pull.stop()


def test_stop_delivers_what_was_put_and_removes_the_socket_file(tmp_path):
    addr = local_address(tmp_path, "q")
    pull, push = ZmqPullQueue(addr, True, bytes), ZmqPushQueue(addr, False, bytes)
    for number in range(1000):
        push.put(bytes([number % 256]) * 1000)
    taken: list[bytes] = []
    reader = threading.Thread(target=lambda: taken.extend(pull.get() for _ in range(1000)))
    reader.start()
    push.stop()
    reader.join()
    pull.stop()
    assert len(taken) == 1000
    if addr.startswith("ipc://"):
        assert not Path(addr.removeprefix("ipc://")).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no Unix sockets")
@pytest.mark.parametrize("addr", ["ipc:///no/such/folder/q", "nonsense", "ipc:///" + "x" * 200])
def test_an_impossible_address_is_told(addr):
    with pytest.raises(QueueError, match="can't bind"):
        ZmqPullQueue(addr, True, bytes)


def test_an_address_in_use_is_told():
    addr = "tcp://127.0.0.1:*"
    first = ZmqPullQueue(addr, True, bytes)
    taken = first.socket.last_endpoint.decode().rstrip("\0")
    with pytest.raises(QueueError, match="another process"):
        ZmqPullQueue(taken, True, bytes)
    first.stop()


def test_the_asyncio_twins(tmp_path):
    addr = local_address(tmp_path, "q")

    async def talk():
        pull = ZmqAsyncPullQueue(addr, True, bytes.decode)
        push = ZmqAsyncPushQueue(addr, False, str.encode)
        assert await pull.empty()
        waiting = asyncio.create_task(pull.get())  # waits without holding up others
        await push.put("你好")
        assert await waiting == "你好"
        push.stop()
        pull.stop()

    asyncio.run(talk())
