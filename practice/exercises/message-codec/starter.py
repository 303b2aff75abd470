"""Dataclasses as tagged msgpack maps."""

import dataclasses
from typing import Any

import msgspec
import torch


def encode(msg: Any) -> bytes:
    """The message's bytes."""
    # Only for flat messages: no message within a message, no tensor.
    fields = {f.name: getattr(msg, f.name) for f in dataclasses.fields(msg)}
    return msgspec.msgpack.encode({"__type__": type(msg).__name__, **fields})


def decode(raw: bytes, kinds: list[type]) -> Any:
    """The message in the bytes, an instance of one of `kinds`."""
    fields = msgspec.msgpack.decode(raw)
    name = fields.pop("__type__")
    assert torch is not None  # you will need it for tensors
    return next(kind for kind in kinds if kind.__name__ == name)(**fields)
