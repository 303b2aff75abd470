"""The tokenizer process: real processes over real ZeroMQ."""

from __future__ import annotations

import multiprocessing as mp
import os
import random
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from minisgl.core import SamplingParams
from minisgl.message import (
    AbortBackendMsg,
    AbortMsg,
    BaseBackendMsg,
    BaseFrontendMsg,
    BatchTokenizerMsg,
    DetokenizeMsg,
    TokenizeMsg,
    UserMsg,
    UserReply,
    WireError,
)
from minisgl.tokenizer import launch, tokenize_worker
from minisgl.tokenizer.worker import Worker
from minisgl.utils import ZmqPullQueue, ZmqPushQueue, local_address

from .conftest import tokenizer_named

WAIT_MS = 60_000  # so long a test waits for an answer before it fails; no speed is judged


class Peers:
    """The API server's and the scheduler's ends of the queues."""

    def __init__(self, running):
        self.prompts, self.tokens = running.push_prompts(), running.push_tokens()
        self.backend = ZmqPullQueue(running.backend_addr, True, BaseBackendMsg.decode_each)
        self.frontend = ZmqPullQueue(running.frontend_addr, True, BaseFrontendMsg.decode_each)
        self.frames = {"backend": 0, "frontend": 0}

    def take(self, side, count):
        """`count` single messages from the scheduler's or the API server's queue."""
        queue, taken = getattr(self, side), []
        while len(taken) < count:
            assert queue.socket.poll(timeout=WAIT_MS), f"only {taken} came to the {side}"
            taken += queue.get()
            self.frames[side] += 1
        assert len(taken) == count
        return taken

    def stop(self):
        for queue in (self.prompts, self.tokens, self.backend, self.frontend):
            queue.stop()


@contextmanager
def running_worker(**options):
    with launch("qwen3", **options) as running:
        peers = Peers(running)
        try:
            yield peers, running
        finally:
            peers.stop()


@pytest.fixture(scope="module")
def shared():
    """One process for the tests that leave it as it was."""
    with running_worker() as (peers, _):
        yield peers


UIDS = iter(range(1, 10**6))


def test_text_in_tokens_out(shared):
    uid = next(UIDS)
    shared.prompts.put(TokenizeMsg(uid, [{"role": "user", "content": "你好"}], SamplingParams()))
    [msg] = shared.take("backend", 1)
    assert isinstance(msg, UserMsg) and msg.uid == uid
    expected = "<|im_start|>user\n你好<|im_end|>\n<|im_start|>assistant\n"
    assert tokenizer_named("qwen3").decode(msg.input_ids) == expected


def test_64_requests_at_once_with_bad_messages_between(shared):
    tokenizer = tokenizer_named("qwen3")
    texts = {next(UIDS): f"{n} 推理引擎 😀 鱻䨻🦩 naïve café" for n in range(64)}
    bad_prompt, bad_token, bad_frame = next(UIDS), next(UIDS), next(UIDS)
    for uid, text in texts.items():
        shared.prompts.put(TokenizeMsg(uid, text, SamplingParams()))
    shared.prompts.put(TokenizeMsg(bad_prompt, [], SamplingParams()))
    shared.prompts.socket.send(b"\xc1 this is not msgpack")
    shared.prompts.socket.send(
        b"\x82\xa8__type__\xabTokenizeMsg\xa3uid\xcd" + bad_frame.to_bytes(2, "big")
    )
    prompts = {msg.uid: msg.input_ids.tolist() for msg in shared.take("backend", 64)}
    errors = {reply.uid: reply for reply in shared.take("frontend", 2)}
    assert set(errors) == {bad_prompt, bad_frame}
    assert all(r.finished and r.finish_reason == "error" and r.error for r in errors.values())
    assert prompts == {uid: tokenizer.encode(text) for uid, text in texts.items()}

    # Each prompt's tokens come back as its reply: in random order, in frames of random size.
    left = {uid: list(ids) for uid, ids in prompts.items()}
    chance, messages = random.Random(0), []
    while left:
        uid = chance.choice(list(left))
        token = left[uid].pop(0)
        messages.append(DetokenizeMsg(uid, token, not left[uid]))
        if not left[uid]:
            del left[uid]
    messages.insert(len(messages) // 2, DetokenizeMsg(bad_token, -1, False))
    count = len(messages)
    while messages:
        size = chance.randint(1, 70)
        call, messages = messages[:size], messages[size:]
        shared.tokens.put(call[0] if len(call) == 1 else BatchTokenizerMsg(call))
    out: dict[int, str] = {}
    for reply in shared.take("frontend", count):
        out[reply.uid] = out.get(reply.uid, "") + reply.incremental_output
        if reply.uid == bad_token:
            assert reply.finish_reason == "error" and "-1" in reply.error
    assert {uid: out[uid] for uid in texts} == texts
    [abort] = shared.take("backend", 1)
    assert abort == AbortBackendMsg(bad_token)


def test_a_batch_comes_as_one_frame_and_a_single_message_bare(shared):
    uids = [next(UIDS) for _ in range(5)]
    before = dict(shared.frames)
    shared.tokens.put(BatchTokenizerMsg([DetokenizeMsg(uid, 64, True) for uid in uids]))
    assert [reply.uid for reply in shared.take("frontend", 5)] == uids
    assert shared.frames["frontend"] == before["frontend"] + 1
    shared.tokens.put(DetokenizeMsg(next(UIDS), 64, True))
    assert shared.frontend.socket.poll(timeout=WAIT_MS)
    assert isinstance(BaseFrontendMsg.decoder(shared.frontend.socket.recv()), UserReply)


def test_abort_in_the_middle(shared):
    uid = next(UIDS)
    shared.prompts.put(TokenizeMsg(uid, "Hi", SamplingParams()))
    shared.take("backend", 1)
    shared.tokens.put(DetokenizeMsg(uid, 64, False))
    assert shared.take("frontend", 1)[0].incremental_output == "a"
    shared.prompts.put(AbortMsg(uid))
    assert shared.take("backend", 1) == [AbortBackendMsg(uid)]
    assert shared.take("frontend", 1) == [UserReply(uid, "", True, "abort")]
    other = next(UIDS)
    shared.tokens.put(DetokenizeMsg(uid, 64, False))  # late: gives nothing
    shared.tokens.put(DetokenizeMsg(other, 64, True))
    assert [reply.uid for reply in shared.take("frontend", 1)] == [other]


def test_a_stop_string_ends_the_reply_and_tells_the_scheduler_once(shared):
    uid = next(UIDS)
    shared.prompts.put(TokenizeMsg(uid, "Hi", SamplingParams(stop="wo th")))
    [msg] = shared.take("backend", 1)
    assert msg.sampling_params.stop == "wo th"
    for token in (832, 1378, 2326, 3040):
        shared.tokens.put(DetokenizeMsg(uid, token, False))
    assert shared.take("backend", 1) == [AbortBackendMsg(uid)]
    replies = shared.take("frontend", 3)
    assert "".join(reply.incremental_output for reply in replies) == "led t"
    assert (replies[-1].finished, replies[-1].finish_reason) == (True, "stop")


def test_the_same_uid_while_the_first_still_runs(shared):
    uid = next(UIDS)
    for _ in range(2):
        shared.prompts.put(TokenizeMsg(uid, "Hi", SamplingParams()))
    assert [type(msg) for msg in shared.take("backend", 1)] == [UserMsg]
    [error] = shared.take("frontend", 1)
    assert "still running" in error.error
    shared.tokens.put(DetokenizeMsg(uid, 64, True))  # the first goes on
    assert shared.take("frontend", 1)[0].incremental_output == "a"


def test_a_bad_stop_string_is_an_error_and_no_request(shared):
    uid, other = next(UIDS), next(UIDS)
    shared.prompts.put(TokenizeMsg(uid, "Hi", SamplingParams(stop=["ok", ""])))
    shared.prompts.put(TokenizeMsg(other, "Hi", SamplingParams()))
    assert [msg.uid for msg in shared.take("backend", 1)] == [other]
    assert "stop string is empty" in shared.take("frontend", 1)[0].error


@pytest.mark.parametrize("num_tokenizer", [0, 2])
def test_nothing_is_left_behind(num_tokenizer):
    with running_worker(num_tokenizer=num_tokenizer) as (peers, running):
        uids = [next(UIDS) for _ in range(8)]
        for uid in uids:
            peers.prompts.put(TokenizeMsg(uid, "Hi", SamplingParams()))
        assert sorted(msg.uid for msg in peers.take("backend", 8)) == uids
        peers.tokens.put(DetokenizeMsg(uids[0], 64, False))
        assert peers.take("frontend", 1)[0].incremental_output == "a"
        peers.prompts.put(AbortMsg(uids[0]))
        assert peers.take("backend", 1) == [AbortBackendMsg(uids[0])]
        # The abort reaches the detokenizer too, by way of the process that took it.
        assert peers.take("frontend", 1) == [UserReply(uids[0], "", True, "abort")]
        assert len(running.processes) == num_tokenizer + 1
        folder = Path(running.detokenizer_addr.removeprefix("ipc://")).parent
    assert [process.exitcode for process in running.processes] == [0] * (num_tokenizer + 1)
    assert not folder.exists()


def _start(tmp_path, context, **changed):
    ack = context.Queue()
    options = {
        "tokenizer_path": "qwen3",
        "addr": local_address(tmp_path, "in"),
        "create": True,
        "backend_addr": local_address(tmp_path, "backend"),
        "frontend_addr": local_address(tmp_path, "frontend"),
        "local_bs": 1,
        "tokenizer_id": 5,
        "ack_queue": ack,
    } | changed
    process = context.Process(target=tokenize_worker, kwargs=options)
    process.start()
    return process, ack, options


def test_mini_sglangs_arguments_and_bytes(tmp_path):
    """Started as mini-sglang starts it, it answers with the fields that mini-sglang knows."""
    process, ack, options = _start(tmp_path, mp.get_context("spawn"))
    assert ack.get(timeout=60) == "Tokenize server 5 is ready"
    push = ZmqPushQueue(options["addr"], False, lambda msg: msg.encoder())
    pull = ZmqPullQueue(options["frontend_addr"], True, bytes)
    for msg in (DetokenizeMsg(1, 64, False), DetokenizeMsg(1, 65, True)):
        push.put(msg)
    replies = []
    for _ in range(2):
        assert pull.socket.poll(timeout=WAIT_MS)
        replies.append(pull.get())
    assert replies == [UserReply(1, "a", False).encoder(), UserReply(1, "b", True).encoder()]
    process.terminate()  # SIGTERM ends it in good order
    process.join(30)
    assert process.exitcode == (0 if sys.platform != "win32" else -signal.SIGTERM)
    push.stop()
    pull.stop()
    assert not (tmp_path / "in").exists()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [({"tokenizer_path": "/no/such/folder"}, "no tokenizer at"), ({"local_bs": 0}, "local_bs")],
)
def test_it_fails_at_once_with_the_reason(tmp_path, changed, reason):
    process, ack, _ = _start(tmp_path, mp.get_context("spawn"), **changed)
    message = ack.get(timeout=60)
    assert message.startswith("Tokenize server 5 failed: ") and reason in message
    process.join(30)
    assert process.exitcode == 1


def test_launch_raises_what_the_process_said():
    with (
        pytest.raises(RuntimeError, match="no tokenizer at '/no/such/folder'"),
        launch("/no/such/folder"),
    ):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_it_ends_when_its_parent_is_killed(tmp_path):
    """A restarted kernel leaves no process and no socket file."""
    code = (
        "from minisgl.tokenizer import launch\n"
        "import time\n"
        "if __name__ == '__main__':\n"
        "    with launch('qwen3') as it:\n"
        "        backend = it.pull_backend()\n"
        "        print(it.processes[0].pid, it.tokenizer_addr, flush=True)\n"
        "        time.sleep(600)\n"
    )
    script = tmp_path / "kernel.py"
    script.write_text(code, encoding="utf-8")
    root = str(Path(__file__).parents[1])
    kernel = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    pid, addr = kernel.stdout.readline().split()
    worker, folder = psutil.Process(int(pid)), Path(addr.removeprefix("ipc://")).parent
    assert folder.exists()
    kernel.kill()
    kernel.wait()
    psutil.wait_procs([worker], timeout=60)
    assert not worker.is_running()
    assert not folder.exists()


def test_the_command_prints_its_addresses_and_ends_on_sigterm():
    command = [sys.executable, "-m", "minisgl.tokenizer", "--tokenizer", "qwen3"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    lines = [process.stdout.readline().split()[0] for _ in range(5)]
    assert lines == ["tokenizer_addr", "detokenizer_addr", "backend_addr", "frontend_addr", "ready"]
    children = psutil.Process(process.pid).children(recursive=True)
    assert children
    process.terminate()
    process.wait(60)
    _, alive = psutil.wait_procs(children, timeout=60)
    assert not alive


def test_a_turn_without_a_process():
    """What `Worker.turn` sorts, without sockets."""
    worker = Worker(tokenizer_named("qwen3"))
    backend, frontend = worker.turn(
        [
            WireError("why", uid=9),
            WireError("nobody"),
            DetokenizeMsg(1, 64, True),
            TokenizeMsg(2, "Hi", SamplingParams()),
            AbortMsg(3),
        ]
    )
    assert [type(msg) for msg in backend] == [UserMsg, AbortBackendMsg]
    assert [(reply.uid, reply.finish_reason) for reply in frontend] == [(9, "error"), (1, "length")]
    assert worker.turn([]) == ([], [])


def test_a_process_that_only_tokenizes_keeps_no_requests():
    worker = Worker(tokenizer_named("qwen3"), detokenizes=False, max_states=4)
    for uid in range(20):
        worker.turn([TokenizeMsg(uid, "Hi", SamplingParams())])
    assert not worker.detokenize_manager._waiting
    # And one started by mini-sglang, which can't say so, keeps a bounded number.
    worker = Worker(tokenizer_named("qwen3"), max_states=4)
    for uid in range(20):
        backend, frontend = worker.turn([TokenizeMsg(uid, "Hi", SamplingParams())])
        assert len(backend) == 1 and not frontend
    assert len(worker.detokenize_manager._waiting) == 4
