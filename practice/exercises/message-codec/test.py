"""Tests of `message-codec`."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from practice.judging.api import expect_equal, expect_raises, showing

RECORDED = json.loads((Path(__file__).parent / "data" / "wire.json").read_text(encoding="utf-8"))
MESSAGES = {recorded["name"]: recorded for recorded in RECORDED["messages"]}


@dataclass
class SamplingParams:
    temperature: float
    top_k: int
    top_p: float
    ignore_eos: bool
    max_tokens: int


@dataclass
class TokenizeMsg:
    uid: int
    text: Any
    sampling_params: SamplingParams


@dataclass
class DetokenizeMsg:
    uid: int
    next_token: int
    finished: bool


@dataclass
class AbortMsg:
    uid: int


@dataclass
class BatchTokenizerMsg:
    data: list[Any]


@dataclass
class UserMsg:
    uid: int
    input_ids: Any
    sampling_params: SamplingParams


@dataclass
class AbortBackendMsg:
    uid: int


@dataclass
class ExitMsg:
    pass


@dataclass
class BatchBackendMsg:
    data: list[Any]


@dataclass
class UserReply:
    uid: int
    incremental_output: str
    finished: bool


@dataclass
class BatchFrontendMsg:
    data: list[Any]


KINDS: list[type] = [
    SamplingParams,
    TokenizeMsg,
    DetokenizeMsg,
    AbortMsg,
    BatchTokenizerMsg,
    UserMsg,
    AbortBackendMsg,
    ExitMsg,
    BatchBackendMsg,
    UserReply,
    BatchFrontendMsg,
]


def built(value: Any) -> Any:
    """A recorded map as the message that it stands for."""
    if isinstance(value, list):
        return [built(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("__type__") == "Tensor":
        raw = bytearray.fromhex(value["buffer"]["hex"])
        return torch.frombuffer(raw, dtype=torch.int32)
    fields = {key: built(item) for key, item in value.items() if key != "__type__"}
    names = {kind.__name__: kind for kind in KINDS}
    return names[value["__type__"]](**fields) if "__type__" in value else fields


def shown(value: Any) -> Any:
    """A message as plain data, to compare and to show."""
    if isinstance(value, torch.Tensor):
        return [str(value.dtype), value.tolist()]
    if isinstance(value, list):
        return [shown(item) for item in value]
    if type(value) in KINDS:
        return [type(value).__name__, {k: shown(v) for k, v in vars(value).items()}]
    return value


def test_example_abort(submission: ModuleType) -> None:
    """An `AbortMsg` has the bytes of the statement, and comes back from them.

    See: lesson 06, "msgpack with types"
    """
    raw = bytes.fromhex("82a85f5f747970655f5fa841626f72744d7367a375696407")
    showing(message="AbortMsg(uid=7)")
    expect_equal(submission.encode(AbortMsg(7)), raw)
    expect_equal(shown(submission.decode(raw, [AbortMsg])), ["AbortMsg", {"uid": 7}])


@pytest.mark.parametrize("name", MESSAGES)
def test_bytes_of_mini_sglang(submission: ModuleType, name: str) -> None:
    """Each message has byte for byte what mini-sglang writes for it.

    See: lesson 06, "msgpack with types"
    """
    msg = built(MESSAGES[name]["map"])
    showing(message=shown(msg))
    expect_equal(submission.encode(msg).hex(), MESSAGES[name]["msgpack_hex"])


@pytest.mark.parametrize("name", MESSAGES)
def test_back_from_bytes(submission: ModuleType, name: str) -> None:
    """Each message comes back from its bytes as it was.

    See: lesson 06, "msgpack with types"
    """
    raw = bytes.fromhex(MESSAGES[name]["msgpack_hex"])
    showing(raw=raw)
    expect_equal(shown(submission.decode(raw, KINDS)), shown(built(MESSAGES[name]["map"])))


@given(ids=st.lists(st.integers(-(2**31), 2**31 - 1), max_size=6))
def test_tensors(submission: ModuleType, ids: list[int]) -> None:
    """A tensor comes back with its dtype and its values, also an empty one.

    See: lesson 06, "A tensor on the wire"
    """
    tensor = torch.tensor(ids, dtype=torch.int32)
    showing(input_ids=ids)
    params = SamplingParams(0.0, -1, 1.0, False, 16)
    back = submission.decode(submission.encode(UserMsg(1, tensor, params)), KINDS)
    expect_equal(back.input_ids, tensor)


pack = msgspec.msgpack.encode


def _user(buffer: Any, dtype: str) -> bytes:
    tensor = {"__type__": "Tensor", "buffer": buffer, "dtype": dtype}
    return pack({"__type__": "UserMsg", "uid": 1, "input_ids": tensor, "sampling_params": None})


FOREIGN = {
    "not_msgpack": b"\xc1",
    "empty": b"",
    "a_list": pack([1, 2]),
    "no_type": pack({"uid": 1}),
    "unknown_type": pack({"__type__": "Popen", "args": "echo"}),
    "another_queue": pack({"__type__": "ExitMsg"}),
    "field_too_many": pack({"__type__": "AbortMsg", "uid": 1, "more": 2}),
    "field_too_few": pack({"__type__": "AbortMsg"}),
    "within_a_batch": pack({"__type__": "BatchTokenizerMsg", "data": [{"__type__": "Popen"}]}),
    "type_no_text": pack({"__type__": 7}),
    "pickle": pickle.dumps({"uid": 1}),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_messages(submission: ModuleType, name: str) -> None:
    """What isn't one of the queue's messages is a ValueError.

    See: lesson 06, "What a foreign message does"
    """
    raw = FOREIGN[name]
    showing(raw=raw, kinds="AbortMsg, BatchTokenizerMsg")
    expect_raises(ValueError, lambda: submission.decode(raw, [AbortMsg, BatchTokenizerMsg]))


@pytest.mark.parametrize(
    "raw",
    [
        _user(b"123", "torch.int32"),
        _user(b"12345678", "torch.float64"),
        _user("text", "torch.int32"),
    ],
    ids=["three_bytes", "floats", "text"],
)
def test_foreign_tensors(submission: ModuleType, raw: bytes) -> None:
    """A tensor that isn't a whole number of int32 is a ValueError.

    See: lesson 06, "A tensor on the wire"
    """
    showing(raw=raw)
    expect_raises(ValueError, lambda: submission.decode(raw, KINDS))
