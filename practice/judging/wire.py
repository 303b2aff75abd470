"""Signed frames from the child to the judge.

A frame is 4 bytes length, 32 bytes HMAC-SHA256 over number and payload, and the payload as JSON.
The key is made for each run and leaves the process in no way; whoever writes to the pipe without it
(a print of "5 passed", a grandchild that holds the pipe) is noticed, not believed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

LONGEST = 1 << 20
HEAD = struct.Struct(">I32s")

Report = Callable[[dict[str, Any]], None]


class DisturbedError(Exception):
    """Somebody wrote to the pipe who doesn't have the key."""


def make_reporter(fd: int, key: bytes) -> Report:
    """A function that sends one report; safe in several threads.

    All that it uses is bound here, before the learner's code can change anything.
    """
    lock, write, encode, new_hmac = threading.Lock(), os.write, msgspec.json.encode, hmac.new
    sha256, pack, numbers, fork_id = hashlib.sha256, HEAD.pack, iter(range(1 << 60)), os.getpid
    mine = fork_id()

    def report(message: dict[str, Any]) -> None:
        if fork_id() != mine:
            return  # a copy of the process that the learner's code made speaks for nobody
        payload = encode(message)[:LONGEST]
        with lock:
            number = next(numbers)
            signature = new_hmac(key, b"%d:" % number + payload, sha256).digest()
            data = memoryview(pack(len(payload), signature) + payload)
            while data:
                data = data[write(fd, data) :]

    return report


class FrameReader:
    """Takes the bytes of the pipe, gives the reports whose signature is right."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._buffer = bytearray()
        self._number = 0

    def feed(self, data: bytes) -> Iterator[dict[str, Any]]:
        """The reports that are complete now.

        Raises:
            DisturbedError: bytes that this run's child didn't sign.
        """
        self._buffer += data
        while len(self._buffer) >= HEAD.size:
            length, signature = HEAD.unpack_from(self._buffer)
            if length > LONGEST:
                raise DisturbedError
            if len(self._buffer) < HEAD.size + length:
                return
            payload = bytes(self._buffer[HEAD.size : HEAD.size + length])
            del self._buffer[: HEAD.size + length]
            signed = b"%d:" % self._number + payload
            right = hmac.new(self._key, signed, hashlib.sha256).digest()
            if not hmac.compare_digest(right, signature):
                raise DisturbedError
            self._number += 1
            yield msgspec.json.decode(payload)
