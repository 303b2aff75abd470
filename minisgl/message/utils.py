"""The wire: msgpack maps tagged ``__type__`` with the class name, as mini-sglang writes them.

A tensor travels as ``{"__type__": "Tensor", "buffer": bytes, "dtype": "torch.int32"}``; it is 1-D,
so its length is that of the buffer. Never pickle: unpickling a frame runs whatever code its sender
chose (the "ShadowMQ" advisories of 2025-26 against engines with pickle on ZeroMQ).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

import msgspec

if TYPE_CHECKING:
    import torch

M = TypeVar("M")

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""A longer frame is refused unread: 64 MiB hold a batch of 16 million int32 token ids."""

_DTYPES = frozenset(
    [
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "bool",
        "float16",
        "bfloat16",
        "float32",
        "float64",
    ]
)


class WireError(ValueError):
    """A message that can't be encoded, or bytes that aren't a message of this queue.

    Attributes:
        path: where in the message, as in ``$.data[2].uid``; ``$`` is the whole.
        uid: the uid that the bytes name all the same, so that its sender can be told; else None.
    """

    def __init__(self, reason: str, *, path: str = "$", uid: int | None = None) -> None:
        super().__init__(f"{reason} - at `{path}`")
        self.reason = reason
        self.path = path
        self.uid = uid

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_wire_error, (self.reason, self.path, self.uid)


def _rebuild_wire_error(reason: str, path: str, uid: int | None) -> WireError:
    return WireError(reason, path=path, uid=uid)


class Codec(Generic[M]):
    """Encodes and decodes the messages of one queue.

    Args:
        base: the class that all of this queue's messages inherit from.
        single: gives the union of the messages that may stand alone. A function, called at the
            first decoding, since naming ``torch.Tensor`` imports torch.
        batch: the class whose ``data`` is a list of them.
    """

    def __init__(self, base: type[M], single: Callable[[], Any], batch: Any) -> None:
        self._base, self._single, self._batch = base, single, batch
        self._encode = msgspec.msgpack.Encoder(enc_hook=_encode_tensor).encode

    @cached_property
    def _any(self) -> msgspec.msgpack.Decoder[M]:
        return msgspec.msgpack.Decoder(self._single() | self._batch, dec_hook=_decode_tensor)

    @cached_property
    def _one(self) -> msgspec.msgpack.Decoder[M]:
        return msgspec.msgpack.Decoder(self._single(), dec_hook=_decode_tensor)

    def encode(self, msg: M) -> bytes:
        """The message as msgpack bytes.

        Raises:
            WireError: not one of this queue's messages, or a value in it has no form on the wire
                (a lone surrogate, a tensor that isn't 1-D on the CPU).
        """
        if not isinstance(msg, self._base):
            raise WireError(f"{type(msg).__name__} is not a {self._base.__name__}")
        try:
            return self._encode(msg)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise WireError(_text_of(error), uid=getattr(msg, "uid", None)) from error

    def decode(self, raw: bytes) -> M:
        """The message that the bytes hold.

        Raises:
            WireError: anything else than one of this queue's messages.
        """
        return self._checked(self._any, raw)

    def decode_each(self, raw: bytes) -> list[M | WireError]:
        """The single messages that the bytes hold, unwrapped from their batch.

        A message that doesn't decode gives its `WireError` in its place, so one bad element of a
        batch takes no other with it.
        """
        try:
            msg: Any = self.decode(raw)
        except WireError as error:
            parts = _elements(raw) if len(raw) <= MAX_MESSAGE_BYTES else None
            return [error] if parts is None else [self._decode_one(part) for part in parts]
        return msg.data if isinstance(msg, self._batch) else [msg]

    def _decode_one(self, raw: bytes) -> M | WireError:
        try:
            return self._checked(self._one, raw)
        except WireError as error:
            return error

    @staticmethod
    def _checked(decoder: msgspec.msgpack.Decoder[M], raw: bytes) -> M:
        if len(raw) > MAX_MESSAGE_BYTES:
            raise WireError(f"a message of {len(raw)} bytes is over the limit {MAX_MESSAGE_BYTES}")
        try:
            return decoder.decode(raw)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            reason, path = _split_path(_text_of(error))
            raise WireError(reason, path=path, uid=_uid_of(raw)) from error


def _text_of(error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return f"a string isn't valid Unicode ({error.reason})"  # type: ignore[attr-defined]
    if isinstance(error, RecursionError):
        return "the message is nested too deep"
    return str(error)


def _split_path(text: str) -> tuple[str, str]:
    """Splits what msgspec says: it ends with " - at `$.a.b`" where it knows the place."""
    found = re.fullmatch(r"(.*) - at `(.*)`", text, flags=re.DOTALL)
    return (found[1], found[2]) if found else (text, "$")


def _uid_of(raw: bytes) -> int | None:
    # Raw skips over values unread: a broken string beside the uid doesn't hide it.
    try:
        uid = msgspec.msgpack.decode(raw, type=dict[str, msgspec.Raw])["uid"]
        return msgspec.msgpack.decode(uid, type=int)
    except (msgspec.MsgspecError, KeyError, UnicodeDecodeError, RecursionError):
        return None


def _elements(raw: bytes) -> list[bytes] | None:
    """The undecoded elements of a batch, or None where the bytes are no batch."""
    try:
        data = msgspec.msgpack.decode(raw, type=dict[str, msgspec.Raw])["data"]
        parts = msgspec.msgpack.decode(data, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, KeyError, UnicodeDecodeError, RecursionError):
        return None
    return [bytes(part) for part in parts]


def _encode_tensor(value: object) -> dict[str, object]:
    torch = sys.modules.get("torch")  # a tensor can't come from a process that never imported it
    if torch is None or not isinstance(value, torch.Tensor):
        raise TypeError(f"{type(value).__name__} has no form on the wire")
    if value.dim() != 1 or value.device.type != "cpu":
        raise ValueError(f"a tensor must be 1-D on the CPU, got {value.dim()}-D on {value.device}")
    buffer = bytes(value.detach().contiguous().view(torch.uint8).numpy())
    return {"__type__": "Tensor", "buffer": buffer, "dtype": str(value.dtype)}


class _TensorOnWire(msgspec.Struct, tag_field="__type__", tag="Tensor", forbid_unknown_fields=True):
    buffer: bytes
    dtype: str


def _decode_tensor(wanted: type, value: Any) -> torch.Tensor:
    import torch

    if wanted is not torch.Tensor:
        _refuse(f"{wanted.__name__} has no form on the wire")
    try:
        parts = msgspec.convert(value, _TensorOnWire)
    except msgspec.ValidationError as error:
        _refuse(f"not a tensor: {error}")
    name = parts.dtype.removeprefix("torch.")
    if name == parts.dtype or name not in _DTYPES:
        _refuse(f"unknown tensor dtype {parts.dtype[:40]!r}")
    dtype: torch.dtype = getattr(torch, name)
    if len(parts.buffer) % dtype.itemsize:
        _refuse(f"a buffer of {len(parts.buffer)} bytes doesn't hold {parts.dtype} values")
    if not parts.buffer:
        return torch.empty(0, dtype=dtype)
    return torch.frombuffer(bytearray(parts.buffer), dtype=dtype)  # a copy that may be written to


def _refuse(reason: str) -> NoReturn:
    raise ValueError(reason)  # msgspec adds the path
