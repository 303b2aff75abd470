"""Messages on the wire: byte for byte mini-sglang's, and nothing else gets in."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import msgspec
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from minisgl.core import SamplingParams
from minisgl.message import (
    MAX_MESSAGE_BYTES,
    AbortBackendMsg,
    AbortMsg,
    BaseBackendMsg,
    BaseFrontendMsg,
    BaseTokenizerMsg,
    BatchBackendMsg,
    BatchFrontendMsg,
    BatchTokenizerMsg,
    DetokenizeMsg,
    ExitMsg,
    TokenizeMsg,
    UserMsg,
    UserReply,
    WireError,
)

from .conftest import DATA

RECORDED = json.loads((DATA / "wire.json").read_text(encoding="utf-8"))["messages"]
QUEUES = (BaseTokenizerMsg, BaseBackendMsg, BaseFrontendMsg)
PARAMS = {"__type__": "SamplingParams"}
pack = msgspec.msgpack.encode


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded["name"])
def test_bytes_are_those_of_mini_sglang_both_ways(recorded):
    raw = bytes.fromhex(recorded["msgpack_hex"])
    accepted = []
    for queue in QUEUES:
        try:
            msg = queue.decoder(raw)
        except WireError:
            continue
        accepted.append(queue)
        assert type(msg).__name__ == recorded["map"]["__type__"]
        assert queue.encoder(msg) == raw
        assert msg.encoder() == raw
    assert len(accepted) == 1  # a message belongs to one queue


def test_a_message_built_here_equals_the_recorded_one():
    params = SamplingParams(temperature=0.7, top_k=20, top_p=0.9, max_tokens=128)
    built = {
        "TokenizeMsg chat": TokenizeMsg(8, [{"role": "user", "content": "Hi"}], params),
        "DetokenizeMsg": DetokenizeMsg(7, 100024, False),
        "UserMsg": UserMsg(7, torch.tensor([1, 2, 151645 + 0], dtype=torch.int32), params),
        "UserReply": UserReply(7, "鱻", False),
        "ExitMsg": ExitMsg(),
    }
    for recorded in RECORDED:
        if recorded["name"] in built:
            msg = built[recorded["name"]]
            raw = bytes.fromhex(recorded["msgpack_hex"])
            if isinstance(msg, UserMsg):
                msg.input_ids = BaseBackendMsg.decoder(raw).input_ids
            assert msg.encoder() == raw


def test_new_fields_are_on_the_wire_only_when_set():
    plain = msgspec.msgpack.decode(UserReply(1, "", True).encoder())
    assert set(plain) == {"__type__", "uid", "incremental_output", "finished"}
    full = UserReply(1, "", True, "error", "why")
    assert msgspec.msgpack.decode(full.encoder())["finish_reason"] == "error"
    assert BaseFrontendMsg.decoder(full.encoder()) == full
    params = SamplingParams(stop=["a", "b"], include_stop_str_in_output=True)
    prompt = TokenizeMsg(1, "x", params)
    assert BaseTokenizerMsg.decoder(prompt.encoder()).sampling_params == params
    token = DetokenizeMsg(1, 2, False, stop="x")
    assert BaseTokenizerMsg.decoder(token.encoder()) == token
    assert "stop" not in msgspec.msgpack.decode(DetokenizeMsg(1, 2, False).encoder())


def _tensor(buffer: object, dtype: object) -> bytes:
    tensor = {"__type__": "Tensor", "buffer": buffer, "dtype": dtype}
    return pack({"__type__": "UserMsg", "uid": 3, "input_ids": tensor, "sampling_params": PARAMS})


REFUSED = {
    "not msgpack": (BaseTokenizerMsg, b"\xc1junk", "$", None),
    "empty": (BaseTokenizerMsg, b"", "$", None),
    "cut": (BaseTokenizerMsg, AbortMsg(5).encoder()[:-1], "$", None),
    "no map": (BaseTokenizerMsg, pack([1, 2]), "$", None),
    "no tag": (BaseTokenizerMsg, pack({"uid": 1}), "$", 1),
    "unknown tag": (BaseTokenizerMsg, pack({"__type__": "os.system", "uid": 2}), "$.__type__", 2),
    "another queue's": (BaseTokenizerMsg, ExitMsg().encoder(), "$.__type__", None),
    "wrong type": (BaseTokenizerMsg, pack({"__type__": "AbortMsg", "uid": "x"}), "$.uid", None),
    "a flag as uid": (BaseTokenizerMsg, pack({"__type__": "AbortMsg", "uid": True}), "$.uid", None),
    "missing field": (BaseTokenizerMsg, pack({"__type__": "DetokenizeMsg", "uid": 4}), "$", 4),
    "inside a batch": (
        BaseTokenizerMsg,
        pack({"__type__": "BatchTokenizerMsg", "data": [{"__type__": "AbortMsg", "uid": 1.5}]}),
        "$.data[0].uid",
        None,
    ),
    "broken UTF-8": (
        BaseTokenizerMsg,
        b"\x83\xa8__type__\xabTokenizeMsg\xa3uid\x05\xa4text\xa1\xff",
        "$",
        5,
    ),
    "pickle": (BaseTokenizerMsg, pickle.dumps({"uid": 1}), "$", None),
    "too large": (BaseTokenizerMsg, bytes(MAX_MESSAGE_BYTES + 1), "$", None),
    "too deep": (
        BaseTokenizerMsg,
        b"\x83\xa8__type__\xabTokenizeMsg\xa3uid\x05\xa4text\x91\x81\xa1a"
        + b"\x91" * 100_000
        + b"\x90",
        "$",
        None,
    ),
    "buffer not a multiple": (BaseBackendMsg, _tensor(b"123", "torch.int32"), "$.input_ids", 3),
    "unknown dtype": (BaseBackendMsg, _tensor(b"1234", "torch.load"), "$.input_ids", 3),
    "dtype without torch": (BaseBackendMsg, _tensor(b"1234", "int32"), "$.input_ids", 3),
    "floats as ids": (BaseBackendMsg, _tensor(b"1234", "torch.float32"), "$", 3),
    "text as buffer": (BaseBackendMsg, _tensor("1234", "torch.int32"), "$.input_ids", 3),
    "list as tensor": (
        BaseBackendMsg,
        pack({"__type__": "UserMsg", "uid": 3, "input_ids": [1], "sampling_params": PARAMS}),
        "$.input_ids",
        3,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_anything_else_is_refused_and_the_place_named(name):
    queue, raw, path, uid = REFUSED[name]
    with pytest.raises(WireError) as caught:
        queue.decoder(raw)
    assert caught.value.path == path
    assert caught.value.uid == uid
    assert f"`{path}`" in str(caught.value)


@given(
    st.binary(max_size=64)
    | st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text() | st.binary(),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["__type__", "uid", "data", "text", "input_ids", "buffer", "dtype"])
                | st.text(max_size=5),
                inner,
                max_size=5,
            )
        ),
    ).map(pack)
)
def test_no_bytes_raise_anything_but_wire_error(raw):
    for queue in QUEUES:
        try:
            msg = queue.decoder(raw)
        except WireError:
            pass
        else:
            assert queue.decoder(queue.encoder(msg)) == msg
        for part in queue.decode_each(raw):
            assert isinstance(part, queue | WireError)


UIDS = st.integers(-(2**63), 2**63 - 1)
SAMPLING = st.builds(
    SamplingParams,
    temperature=st.floats(0, 2),
    top_k=st.integers(-1, 100),
    stop=st.none() | st.text() | st.lists(st.text(), max_size=3),
)
ROUND_TRIPS = {
    BaseTokenizerMsg: st.builds(TokenizeMsg, UIDS, st.text(), SAMPLING)
    | st.builds(DetokenizeMsg, UIDS, st.integers(-5, 10**6), st.booleans()),
    BaseBackendMsg: st.builds(
        UserMsg,
        UIDS,
        st.lists(st.integers(-(2**31), 2**31 - 1)).map(
            lambda ids: torch.tensor(ids, dtype=torch.int32)
        ),
        SAMPLING,
    )
    | st.builds(AbortBackendMsg, UIDS),
    BaseFrontendMsg: st.builds(UserReply, UIDS, st.text(), st.booleans(), st.none() | st.text()),
}
BATCHES = {
    BaseTokenizerMsg: BatchTokenizerMsg,
    BaseBackendMsg: BatchBackendMsg,
    BaseFrontendMsg: BatchFrontendMsg,
}


@pytest.mark.parametrize("queue", QUEUES)
@given(data=st.data())
def test_every_message_comes_back_as_it_was(queue, data):
    messages = data.draw(st.lists(ROUND_TRIPS[queue], min_size=1, max_size=4))
    for msg in messages:
        back = queue.decoder(queue.encoder(msg))
        assert back == msg
        if isinstance(msg, UserMsg):
            assert back.input_ids.dtype == torch.int32 and back.input_ids.dim() == 1
    batch = BATCHES[queue](messages)
    assert queue.decoder(queue.encoder(batch)).data == messages
    assert queue.decode_each(queue.encoder(batch)) == messages


def test_one_bad_element_takes_no_other_with_it():
    broken = b"\x83\xa8__type__\xabTokenizeMsg\xa3uid\x05\xa4text\xa1\xff"
    raw = (
        b"\x82\xa8__type__\xb1BatchTokenizerMsg\xa4data\x93"
        + AbortMsg(3).encoder()
        + broken
        + DetokenizeMsg(1, 2, True).encoder()
    )
    first, bad, last = BaseTokenizerMsg.decode_each(raw)
    assert first == AbortMsg(3) and last == DetokenizeMsg(1, 2, True)
    assert isinstance(bad, WireError) and bad.uid == 5


@pytest.mark.parametrize(
    ("queue", "msg", "reason"),
    [
        (BaseTokenizerMsg, UserReply(1, "", True), "UserReply is not a BaseTokenizerMsg"),
        (BaseTokenizerMsg, TokenizeMsg(1, "a\ud800", SamplingParams()), "Unicode"),
        (BaseTokenizerMsg, TokenizeMsg(1, [{"content": object()}], SamplingParams()), "object"),
        (BaseBackendMsg, AbortBackendMsg(2**70), "serialize ints"),
    ],
)
def test_what_has_no_form_on_the_wire_is_refused_by_the_encoder(queue, msg, reason):
    with pytest.raises(WireError, match=reason):
        queue.encoder(msg)


@pytest.mark.parametrize("ids", [torch.zeros(2, 2, dtype=torch.int32), torch.zeros(3)])
def test_input_ids_are_one_dimensional_integers(ids):
    with pytest.raises(ValueError, match="1-D integers"):
        UserMsg(1, ids, SamplingParams())


def test_a_wire_error_survives_a_queue_between_processes():
    error = WireError("why", path="$.uid", uid=3)
    back = pickle.loads(pickle.dumps(error))  # multiprocessing does this with exceptions
    assert (str(back), back.path, back.uid) == (str(error), "$.uid", 3)


def test_messages_and_detokenizers_work_without_torch():
    code = (
        "import sys; import minisgl.message as m, minisgl.tokenizer as t;"
        "m.BaseTokenizerMsg.decoder(m.DetokenizeMsg(1, 2, True).encoder());"
        "m.UserReply(1, '', True).encoder();"
        "assert 'torch' not in sys.modules and 'transformers' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
