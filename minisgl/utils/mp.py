"""Queues between processes: ZeroMQ PUSH and PULL sockets with a codec.

One side binds the address (``create=True``), any number of others connect; who comes first doesn't
matter. A PUSH socket spreads its messages over the connected PULL sockets in turn, a PULL socket
takes from its peers in turn. Names and arguments are those of mini-sglang's
``minisgl/utils/mp.py``.
"""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

import zmq
import zmq.asyncio

T = TypeVar("T")

LINGER_MS = 1000
"""How long a closing queue tries to hand over what was put: a peer that is gone holds up nobody."""

SOCKET_FOLDER_PREFIX = "minisgl-"
"""How the temporary folders begin that hold nothing but socket files."""

WAKE_MS = 500
"""So often a receive that waits lets Python look for signals: one that arrives in the instant
before the wait begins would not interrupt it."""


class QueueError(OSError):
    """An address that can't be bound or connected to."""


def local_address(folder: Path | None, name: str) -> str:
    """An address on this machine that no one else uses: ``ipc://folder/name`` or loopback TCP.

    Args:
        folder: where the socket file goes; None makes a new temporary folder.
        name: the file's name. Paths of Unix sockets are limited to about 100 bytes.
    """
    if zmq.has("ipc"):
        return f"ipc://{(folder or Path(tempfile.mkdtemp(prefix=SOCKET_FOLDER_PREFIX))) / name}"
    with socket.socket() as probe:  # the operating system picks a free port
        probe.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{probe.getsockname()[1]}"


def _open(socket: zmq.Socket[Any], addr: str, create: bool) -> None:
    socket.linger = LINGER_MS
    try:
        if create:
            socket.bind(addr)
        else:
            socket.connect(addr)
    except zmq.ZMQError as error:
        socket.close(linger=0)
        action = "bind" if create else "connect to"
        raise QueueError(
            f"can't {action} {addr}: {error.strerror}. Is another process using the address, "
            f"or is its path too long or its folder missing?"
        ) from error


def _close(queue: Any) -> None:
    bound = queue.socket.last_endpoint.decode() if queue.create else ""
    queue.socket.close()
    queue._context.term()
    if bound.startswith("ipc://"):  # libzmq leaves the file behind
        path = Path(bound.removeprefix("ipc://").rstrip("\0"))
        path.unlink(missing_ok=True)
        if path.parent.name.startswith(SOCKET_FOLDER_PREFIX):
            with suppress(OSError):  # another queue's file is in it
                path.parent.rmdir()


class ZmqPushQueue(Generic[T]):
    """The sending end of a queue.

    Args:
        addr: ``ipc://…`` or ``tcp://127.0.0.1:…``.
        create: bind the address instead of connecting to it.
        encoder: message to bytes.

    Raises:
        QueueError: the address is taken or malformed.
    """

    def __init__(self, addr: str, create: bool, encoder: Callable[[T], bytes]) -> None:
        self.create, self.encoder = create, encoder
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.socket: zmq.Socket[bytes] = self._context.socket(zmq.PUSH)
        _open(self.socket, addr, create)

    def put(self, obj: T) -> None:
        """Sends a message; waits while there is no peer or its buffer is full."""
        self.socket.send(self.encoder(obj), copy=False)

    def stop(self) -> None:
        """Closes the socket; waits up to `LINGER_MS` until what was put is delivered."""
        _close(self)


class ZmqPullQueue(Generic[T]):
    """The receiving end of a queue; arguments as `ZmqPushQueue`, with a decoder."""

    def __init__(self, addr: str, create: bool, decoder: Callable[[bytes], T]) -> None:
        self.create, self.decoder = create, decoder
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self.socket: zmq.Socket[bytes] = self._context.socket(zmq.PULL)
        _open(self.socket, addr, create)

    def get(self) -> T:
        """The next message; waits for it. What the decoder raises goes through."""
        while True:
            try:
                return self.decoder(self.socket.recv(zmq.NOBLOCK))
            except zmq.Again:
                self.socket.poll(timeout=WAKE_MS)

    def empty(self) -> bool:
        """True where `get` would have to wait."""
        return not self.socket.poll(timeout=0)

    def stop(self) -> None:
        """Closes the socket; a bound ``ipc://`` file is removed."""
        _close(self)


class ZmqAsyncPushQueue(Generic[T]):
    """`ZmqPushQueue` for asyncio."""

    def __init__(self, addr: str, create: bool, encoder: Callable[[T], bytes]) -> None:
        self.create, self.encoder = create, encoder
        self._context = zmq.asyncio.Context()
        self.socket: zmq.asyncio.Socket = self._context.socket(zmq.PUSH)
        _open(self.socket, addr, create)

    async def put(self, obj: T) -> None:
        """Sends a message; waits while there is no peer or its buffer is full."""
        await self.socket.send(self.encoder(obj), copy=False)

    def stop(self) -> None:
        """Closes the socket; waits up to `LINGER_MS` until what was put is delivered."""
        _close(self)


class ZmqAsyncPullQueue(Generic[T]):
    """`ZmqPullQueue` for asyncio."""

    def __init__(self, addr: str, create: bool, decoder: Callable[[bytes], T]) -> None:
        self.create, self.decoder = create, decoder
        self._context = zmq.asyncio.Context()
        self.socket: zmq.asyncio.Socket = self._context.socket(zmq.PULL)
        _open(self.socket, addr, create)

    async def get(self) -> T:
        """The next message; waits for it. What the decoder raises goes through."""
        return self.decoder(await self.socket.recv())

    async def empty(self) -> bool:
        """True where `get` would have to wait."""
        return not await self.socket.poll(timeout=0)

    def stop(self) -> None:
        """Closes the socket; a bound ``ipc://`` file is removed."""
        _close(self)
