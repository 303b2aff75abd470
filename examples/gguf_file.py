"""Reads a GGUF file, llama.cpp's format, as far as SmolLM2's needs it.

The file is: a header; keys with values (sizes, and the vocabulary); for each weight its name,
shape, kind and place; then the weights. Numbers are little-endian. A weight of kind Q4_1 or Q8_0
stands in blocks of 32 numbers of 4 or 8 bits, each block with a scale. The package `gguf` reads all
kinds, and takes four seconds for the keys of this file; `tests/test_model_scheduler.py` compares.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

_NUMBERS = dict(zip(range(13), "BbHhIif?  Qqd", strict=True))  # by type; 8 is text, 9 an array
_TEXT, _ARRAY = 8, 9
_F32, _Q4_1, _Q8_0 = 0, 3, 8


class GGUFFile:
    """The keys and weights of a file.

    Args:
        path: the file.

    Attributes:
        fields: key → number or text. Of an array only its length is kept.

    Raises:
        ValueError: no GGUF of version 2 or 3.
    """

    def __init__(self, path: Path) -> None:
        self._raw = path.read_bytes()
        self._at = 0
        magic, version = self._take("4sI")
        if magic != b"GGUF" or version not in (2, 3):
            raise ValueError(f"{path.name} is no GGUF file of version 2 or 3")
        weights, keys = self._take("QQ")
        self.fields: dict[str, Any] = {}
        for _ in range(keys):
            name = self._text()
            self.fields[name] = self._value(self._take("I")[0])
        self._infos = [self._info() for _ in range(weights)]
        alignment = self.fields.get("general.alignment", 32)
        self._data = -(-self._at // alignment) * alignment

    def weights(self) -> Iterator[tuple[str, Floats]]:
        """Name and numbers of each weight, unpacked to float32.

        Raises:
            ValueError: a kind that isn't known here.
        """
        for name, shape, kind, offset in self._infos:
            count = int(np.prod(shape))
            numbers = _unpack(self._raw, self._data + offset, count, kind)
            yield name, numbers.reshape(shape)

    def _take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self._raw, self._at)
        self._at += struct.calcsize("<" + layout)
        return values

    def _text(self) -> str:
        [length] = self._take("Q")
        self._at += length
        return self._raw[self._at - length : self._at].decode("utf-8")

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind != _ARRAY:
            return self._take(_NUMBERS[kind])[0]
        inner, length = self._take("IQ")
        for _ in range(length):
            self._value(inner)
        return length

    def _info(self) -> tuple[str, list[int], int, int]:
        name = self._text()
        [dimensions] = self._take("I")
        shape = list(self._take(f"{dimensions}Q"))
        kind, offset = self._take("IQ")
        return name, shape[::-1], kind, offset  # the last dimension comes first in the file


def _unpack(raw: bytes, start: int, count: int, kind: int) -> Floats:
    if kind == _F32:
        return np.frombuffer(raw, "<f4", count, start).astype(np.float32)
    if kind == _Q8_0:
        blocks = np.frombuffer(raw, [("scale", "<f2"), ("q", "i1", 32)], count // 32, start)
        return np.asarray(_floats(blocks["scale"]) * blocks["q"].astype(np.float32))
    if kind == _Q4_1:
        layout = [("scale", "<f2"), ("least", "<f2"), ("q", "u1", 16)]
        blocks = np.frombuffer(raw, layout, count // 32, start)
        # The first half of a block is in the lower four bits, the second half in the upper.
        q = np.concatenate([blocks["q"] & 15, blocks["q"] >> 4], axis=1).astype(np.float32)
        return np.asarray(_floats(blocks["scale"]) * q + _floats(blocks["least"]))
    raise ValueError(f"weights of kind {kind} are not known here, only F32, Q4_1 and Q8_0")


def _floats(column: Any) -> Floats:
    floats: Floats = np.asarray(column, dtype=np.float32)[:, None]
    return floats
