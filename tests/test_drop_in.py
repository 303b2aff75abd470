"""Our worker in mini-sglang's place: its arguments, its addresses, its recorded bytes, its replies.

No message class of ours is used here: what goes in are the bytes that mini-sglang (20fcd7f) wrote
(``data/wire.json``), what has to come out is built from plain maps with mini-sglang's order of
fields. Where nothing new is asked for, replies are the same to the byte. How many messages share a
frame is left open: mini-sglang sends prompts and aborts of one turn in two frames, ours in one.
"""

from __future__ import annotations

import json
import multiprocessing as mp
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import zmq

from benchmarks.published import PublishedDetokenizeManager
from minisgl.message import DetokenizeMsg
from minisgl.tokenizer import tokenize_worker
from minisgl.utils import local_address

from .conftest import DATA, tokenizer_named

RECORDED = {
    recorded["name"]: recorded
    for recorded in json.loads((DATA / "wire.json").read_text(encoding="utf-8"))["messages"]
}
WAIT_MS = 60_000  # so long a test waits before it fails; no speed is judged
pack, unpack = msgspec.msgpack.encode, msgspec.msgpack.decode


def recorded(name: str) -> bytes:
    return bytes.fromhex(RECORDED[name]["msgpack_hex"])


def user_msg(uid: int, ids: list[int], params: Any) -> bytes:
    tensor = {
        "__type__": "Tensor",
        "buffer": b"".join(token.to_bytes(4, "little") for token in ids),
        "dtype": "torch.int32",
    }
    return pack({"__type__": "UserMsg", "uid": uid, "input_ids": tensor, "sampling_params": params})


def reply(uid: int, text: str, finished: bool) -> bytes:
    return pack(
        {"__type__": "UserReply", "uid": uid, "incremental_output": text, "finished": finished}
    )


def token(uid: int, next_token: int, finished: bool) -> bytes:
    return pack(
        {"__type__": "DetokenizeMsg", "uid": uid, "next_token": next_token, "finished": finished}
    )


def batch(*messages: bytes) -> bytes:
    return pack({"__type__": "BatchTokenizerMsg", "data": [unpack(raw) for raw in messages]})


class MiniSGLang:
    """The processes around the workers, as bare sockets.

    ``server/launch.py`` and ``args.py`` of mini-sglang: with ``num_tokenizer`` 0 one worker binds
    the address that API server and scheduler send to. Else the API server binds the tokenizers'
    address and the scheduler the detokenizer's, and all workers connect.
    """

    def __init__(self, folder: Any, num_tokenizer: int) -> None:
        self.context = zmq.Context()
        shared = num_tokenizer == 0
        addr = {
            name: local_address(folder, name)
            for name in ("backend", "frontend", "tokenizer", "detokenizer")
        }
        if shared:
            addr["tokenizer"] = addr["detokenizer"]
        self.backend, self.frontend = self.open(zmq.PULL), self.open(zmq.PULL)
        self.backend.bind(addr["backend"])
        self.frontend.bind(addr["frontend"])
        self.prompts, self.tokens = self.open(zmq.PUSH), self.open(zmq.PUSH)
        if not shared:
            self.prompts.bind(addr["tokenizer"])
            self.tokens.bind(addr["detokenizer"])
        spawn = mp.get_context("spawn")
        ack = spawn.Queue()
        self.processes = []
        places = [("detokenizer", num_tokenizer)] + [("tokenizer", n) for n in range(num_tokenizer)]
        for place, number in places:
            arguments = {
                "tokenizer_path": "models/Qwen3-0.6B",
                "addr": addr[place],
                "backend_addr": addr["backend"],
                "frontend_addr": addr["frontend"],
                "local_bs": 1,
                "create": shared,
                "tokenizer_id": number,
                "ack_queue": ack,
            }
            process = spawn.Process(target=tokenize_worker, kwargs=arguments, daemon=True)
            process.start()
            self.processes.append(process)
        said = sorted(ack.get(timeout=WAIT_MS / 1000) for _ in places)
        assert said == [f"Tokenize server {n} is ready" for n in range(num_tokenizer + 1)]
        if shared:
            self.prompts.connect(addr["tokenizer"])
            self.tokens.connect(addr["detokenizer"])

    def open(self, kind: int) -> Any:
        socket = self.context.socket(kind)
        socket.linger = 0
        return socket

    def take(self, side: str, count: int) -> list[bytes]:
        """`count` single messages, each as its own bytes."""
        socket, taken = getattr(self, side), []
        while len(taken) < count:
            assert socket.poll(timeout=WAIT_MS), f"only {len(taken)} came to the {side}"
            raw = socket.recv()
            message = unpack(raw)
            taken += [pack(m) for m in message["data"]] if "data" in message else [raw]
        assert len(taken) == count
        return taken

    def stop(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.join(30)
        self.context.destroy(linger=0)


@pytest.fixture(scope="module", params=[0, 2], ids=["one process", "two tokenizers"])
def engine(request: Any, tmp_path_factory: Any) -> Iterator[MiniSGLang]:
    engine = MiniSGLang(tmp_path_factory.mktemp("drop"), request.param)
    yield engine
    engine.stop()


def test_recorded_prompts(engine: MiniSGLang) -> None:
    tokenizer = tokenizer_named("qwen3")
    chat = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    for name, text in (("TokenizeMsg text", "你好 🦩"), ("TokenizeMsg chat", chat)):
        sent = RECORDED[name]["map"]
        engine.prompts.send(recorded(name))
        expected = user_msg(sent["uid"], tokenizer.encode(text), sent["sampling_params"])
        assert engine.take("backend", 1) == [expected]


def test_recorded_token_becomes_the_recorded_reply(engine: MiniSGLang) -> None:
    engine.tokens.send(recorded("DetokenizeMsg"))  # the first half of 鱻
    assert engine.take("frontend", 1) == [reply(7, "", False)]
    engine.tokens.send(token(7, 119, False))
    assert engine.take("frontend", 1) == [recorded("UserReply")]
    engine.tokens.send(token(7, 151645, True))
    assert engine.take("frontend", 1) == [reply(7, "", True)]


def test_recorded_abort_becomes_the_recorded_one(engine: MiniSGLang) -> None:
    engine.prompts.send(recorded("AbortMsg"))
    assert engine.take("backend", 1) == [recorded("AbortBackendMsg")]
    engine.tokens.send(token(70, 64, True))
    assert engine.take("frontend", 1) == [reply(70, "a", True)]  # and no reply to the abort


def test_recorded_batch(engine: MiniSGLang) -> None:
    """A token, an abort and a prompt in one frame, as a process for both directions has them."""
    engine.prompts.send(recorded("BatchTokenizerMsg"))
    params = RECORDED["BatchTokenizerMsg"]["map"]["data"][2]["sampling_params"]
    ids = tokenizer_named("qwen3").encode("x")
    abort = pack({"__type__": "AbortBackendMsg", "uid": 2})
    assert engine.take("backend", 2) == [user_msg(3, ids, params), abort]
    assert engine.take("frontend", 1) == [reply(1, "&", True)]


def test_a_whole_reply_is_that_of_the_published_class(engine: MiniSGLang) -> None:
    """Plain English has no cut characters: the published windows show it token by token too."""
    tokenizer = tokenizer_named("qwen3")
    ids = tokenizer.encode(
        "Streaming text is easy as long as every token is a whole word, isn't it?"
    )
    published = PublishedDetokenizeManager(tokenizer)
    ends = [place == len(ids) - 1 for place in range(len(ids))]
    for token_id, end in zip(ids, ends, strict=True):
        two = [DetokenizeMsg(uid, token_id, end) for uid in (21, 22)]
        engine.tokens.send(batch(*(token(uid, token_id, end) for uid in (21, 22))))
        texts = published.detokenize(two)
        expected = [reply(uid, text, end) for uid, text in zip((21, 22), texts, strict=True)]
        assert engine.take("frontend", 2) == expected


def test_batch_goes_out_as_mini_sglangs_batch(engine: MiniSGLang) -> None:
    engine.tokens.send(batch(token(31, 64, True), token(32, 65, True)))
    assert engine.frontend.poll(timeout=WAIT_MS)
    replies = [unpack(reply(31, "a", True)), unpack(reply(32, "b", True))]
    assert engine.frontend.recv() == pack({"__type__": "BatchFrontendMsg", "data": replies})


def test_what_kills_mini_sglang_does_not_kill_it(engine: MiniSGLang) -> None:
    engine.prompts.send(b"\xc1 this is not msgpack")
    empty = RECORDED["TokenizeMsg chat"]["map"] | {"uid": 41, "text": []}
    engine.prompts.send(pack(empty))
    engine.tokens.send(token(42, -1, False))
    answers = [unpack(raw) for raw in engine.take("frontend", 2)]
    assert {answer["uid"] for answer in answers} == {41, 42}
    assert all(answer["finished"] and answer["finish_reason"] == "error" for answer in answers)
    assert engine.take("backend", 1) == [pack({"__type__": "AbortBackendMsg", "uid": 42})]
    engine.tokens.send(token(43, 64, True))
    assert engine.take("frontend", 1) == [reply(43, "a", True)]
