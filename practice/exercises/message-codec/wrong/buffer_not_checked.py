# caught by: test_foreign_tensors
"""You take any buffer for a tensor. One whose length isn't a multiple of four, or whose dtype
isn't int32, is no token ids.
"""

import dataclasses
from typing import Any

import msgspec
import torch


def encode(msg: Any) -> bytes:
    """The message's bytes."""
    return msgspec.msgpack.encode(_plain(msg))


def decode(raw: bytes, kinds: list[type]) -> Any:
    """The message in the bytes, an instance of one of `kinds`."""
    try:
        value = msgspec.msgpack.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"these bytes are no msgpack: {error}") from error
    if not isinstance(value, dict) or "__type__" not in value or value["__type__"] == "Tensor":
        raise ValueError("this is no message: there is no map with __type__ at the top")
    return _built(value, {kind.__name__: kind for kind in kinds})


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        fields = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"__type__": type(value).__name__, **fields}
    if isinstance(value, torch.Tensor):
        buffer = value.numpy().tobytes()
        return {"__type__": "Tensor", "buffer": buffer, "dtype": str(value.dtype)}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def _built(value: Any, kinds: dict[str, type]) -> Any:
    if isinstance(value, list):
        return [_built(item, kinds) for item in value]
    if not isinstance(value, dict):
        return value
    fields = {key: _built(item, kinds) for key, item in value.items() if key != "__type__"}
    if "__type__" not in value:
        return fields
    name = value["__type__"]
    if name == "Tensor":
        return _tensor(fields)
    if not isinstance(name, str) or name not in kinds:
        raise ValueError(f"{name!r} is no message of this queue")
    kind = kinds[name]
    if {f.name for f in dataclasses.fields(kind)} != set(fields):
        raise ValueError(f"these are not the fields of {name}: {sorted(fields)}")
    return kind(**fields)


def _tensor(fields: dict[str, Any]) -> torch.Tensor:
    buffer = fields.get("buffer")
    if fields.get("dtype") != "torch.int32" and not isinstance(buffer, bytes):
        raise ValueError("this is no 1-D int32 tensor")
    if not buffer:
        return torch.empty(0, dtype=torch.int32)
    raw = bytearray(buffer if isinstance(buffer, bytes) else b"")
    return torch.frombuffer(raw[: len(raw) // 4 * 4] or bytearray(4), dtype=torch.int32)
