"""Traces: plain data, true to what the class did, and never in its way."""

from __future__ import annotations

import importlib.util
import json
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.published import PublishedDetokenizeManager
from minisgl.message import DetokenizeMsg
from minisgl.tokenizer import ByteDetokenizeManager, DetokenizeManager
from notebooks.widgets import batch_trace, trace
from notebooks.widgets.tracing import first_difference
from tests.conftest import streaming_cases, tokenizer_named, whole_text

SEED = "鱻䨻🦩 is rare, 推理 naïve"
EXERCISES = Path(__file__).parents[2] / "practice" / "exercises"
OFFSETS = ("surr_offset", "read_offset", "sent_offset")
MANAGERS = [PublishedDetokenizeManager, DetokenizeManager, ByteDetokenizeManager]


@cache
def code_of(exercise: str, name: str = "solution") -> ModuleType:
    path = EXERCISES / exercise / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"traced_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def committed(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for step in run["steps"] if step["phase"] == "committed"]


@pytest.mark.parametrize("kind", [PublishedDetokenizeManager, DetokenizeManager])
def test_offsets_are_those_of_the_manager(kind: Any, qwen3: Any) -> None:
    run = trace(kind(qwen3), SEED)
    manager, before = kind(qwen3), dict.fromkeys(OFFSETS, 0)
    for place, token in enumerate(run["ids"][:-1]):
        [sent] = manager.detokenize([DetokenizeMsg(9, token, False)])
        arrives, done = run["steps"][2 * place : 2 * place + 2]
        state = manager.decode_map[9]
        assert {name: arrives[name] for name in OFFSETS} == before
        before = {name: getattr(state, name) for name in OFFSETS}
        assert {name: done[name] for name in OFFSETS} == before
        assert (arrives["phase"], done["phase"], done["sent"]) == ("arrives", "committed", sent)
        assert done["pending"] == state.decoded_ids[state.read_offset :]
    assert [step["ended"] for step in run["steps"]] == [False] * (len(run["steps"]) - 1) + [True]


@pytest.mark.parametrize("kind", MANAGERS)
def test_the_seed_sentence(kind: Any, qwen3: Any) -> None:
    run = trace(kind(qwen3), SEED, name="mine")
    expected = ["", "鱻", "", "䨻", "", "🦩", " is", " rare", ",", " ", "推", "理", " naï", "ve"]
    assert [step["sent"] for step in committed(run)] == expected
    assert (run["name"], run["tokenizer"], run["error"]) == ("mine", "Qwen3-0.6B", None)
    assert run["tokens"][0] == {"id": 100024, "bytes": "e9 b1", "alone": "\ufffd"}
    assert json.loads(json.dumps(run)) == run


@settings(max_examples=40)
@given(data=st.data(), kind=st.sampled_from(MANAGERS))
def test_what_holds_for_every_run(data: st.DataObject, kind: Any) -> None:
    qwen3 = tokenizer_named("qwen3")
    ids = data.draw(st.lists(st.integers(0, 151_000), min_size=1, max_size=12))
    run = trace(kind(qwen3), ids)
    assert run["ids"] == ids and len(run["steps"]) == 2 * len(ids)
    output = ""
    for place, step in enumerate(run["steps"]):
        output += step["sent"]
        assert step["token"] == place // 2 and step["output"] == output
        assert step["phase"] == ("arrives", "committed")[place % 2]
        assert not (step["phase"] == "arrives" and step["sent"])
        if run["kind"] == "windows":
            surr, read, end = step["surr_offset"], step["read_offset"], step["token"] + 1
            assert 0 <= surr <= read <= end
            assert step["surr_text"] == qwen3.decode(ids[surr:read])
            assert step["read_text"] == qwen3.decode(ids[surr:end])
            assert step["new_text"] == step["read_text"][len(step["surr_text"]) :]
    if kind is not PublishedDetokenizeManager:
        assert output == whole_text(qwen3, ids)
    assert trace(kind(qwen3), ids) == run


def test_a_manager_can_be_traced_again_and_keeps_its_other_requests(qwen3: Any) -> None:
    manager = DetokenizeManager(qwen3)
    manager.detokenize([DetokenizeMsg(0, 832, False)])
    first = trace(manager, SEED)
    assert trace(manager, SEED) == first
    assert list(manager.decode_map) == [0]


def test_an_unfinished_reply_stays(qwen3: Any) -> None:
    manager = PublishedDetokenizeManager(qwen3)
    run = trace(manager, [100024], finished=False)
    assert len(manager.decode_map) == 1 and not run["steps"][-1]["ended"]
    assert run["steps"][-1]["pending"] == [100024]


def test_bytes_that_wait_stand_in_place_of_windows(qwen3: Any) -> None:
    run = trace(ByteDetokenizeManager(qwen3), "鱻")
    assert run["kind"] == "bytes"
    assert [step["pending"] for step in run["steps"]] == ["", "e9 b1", "e9 b1", ""]
    assert {step["read_text"] for step in run["steps"]} == {""}


def test_an_eos_that_is_left_out_is_not_decoded(qwen3: Any) -> None:
    run = trace(PublishedDetokenizeManager(qwen3), [64, 151645])
    assert run["steps"][-2]["read_text"] == run["steps"][-2]["surr_text"] == "a"
    assert run["tokens"][1]["alone"] == "<|im_end|>"


def test_the_window_of_the_exercise(qwen3: Any) -> None:
    run = trace(code_of("window-diff").Window(qwen3), [*qwen3.encode("a🦩"), 100024])
    assert run["kind"] == "windows"
    assert [step["sent"] for step in committed(run)] == ["a", "", "🦩", "\ufffd"]
    assert committed(run)[2]["surr_offset"] == 1 and committed(run)[2]["read_offset"] == 3


def test_a_state_of_another_shape(qwen3: Any) -> None:
    manager = code_of("detokenize-manager").DetokenizeManager(qwen3)
    ours, theirs = trace(manager, SEED), trace(PublishedDetokenizeManager(qwen3), SEED)
    for mine, its in zip(ours["steps"], theirs["steps"], strict=True):
        assert {**mine, "sent_offset": 0} == {**its, "sent_offset": 0}


def test_a_sentencepiece_run(mistral: Any) -> None:
    run = trace(DetokenizeManager(mistral), "hello world")
    assert "".join(step["sent"] for step in run["steps"]) == "hello world"
    assert run["tokens"][1]["bytes"] is not None


class Broken:
    def __init__(self, tokenizer: Any, answers: list[Any]) -> None:
        self.tokenizer, self.answers = tokenizer, answers

    def push(self, token: int) -> Any:
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def finish(self) -> str:
        return ""


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (KeyError("no such\nthing"), "KeyError: 'no such\\nthing'"),
        (RecursionError("deep"), "RecursionError: deep"),
        (SystemExit(3), "SystemExit: 3"),
        (None, "push returned NoneType, a str is asked for"),
        (b"a", "push returned bytes, a str is asked for"),
    ],
)
def test_an_error_ends_the_trace_at_its_step(answer: Any, message: str, qwen3: Any) -> None:
    run = trace(Broken(qwen3, ["", answer]), SEED)
    assert [step["phase"] for step in run["steps"]] == ["arrives", "committed", "arrives", "failed"]
    assert run["error"]["step"] == 3 and run["error"]["message"] == message
    if isinstance(answer, BaseException):
        assert run["error"]["line"].endswith("raise answer")
    json.dumps(run)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("text", "detokenize returned str, a list of str is asked for"),
        (["a", "b"], "detokenize returned 2 texts for 1 message(s)"),
        ([1], "detokenize returned int, a str is asked for"),
    ],
)
def test_a_wrong_list(answer: Any, message: str, qwen3: Any) -> None:
    class Manager:
        decode_map = property(lambda self: 1 / 0)

        def detokenize(self, msgs: Any) -> Any:
            return answer

    run = trace(Manager(), [1], tokenizer=qwen3)
    assert run["error"]["message"] == message and run["kind"] == "calls"


def test_an_interrupt_is_not_swallowed(qwen3: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        trace(Broken(qwen3, [KeyboardInterrupt()]), SEED)


def test_what_can_not_be_traced(qwen3: Any) -> None:
    with pytest.raises(TypeError, match="neither detokenize"):
        trace(object(), SEED, tokenizer=qwen3)
    with pytest.raises(TypeError, match="tokenizer="):
        trace(type("Bare", (), {"push": None})(), SEED)
    assert trace(DetokenizeManager(qwen3), "")["steps"] == []


@pytest.mark.parametrize("case", streaming_cases()[:20], ids=lambda case: str(case["id"]))
def test_recorded_streams(case: dict[str, Any]) -> None:
    tokenizer = tokenizer_named(case["tokenizer"])
    run = trace(DetokenizeManager(tokenizer), case["ids"])
    assert "".join(step["sent"] for step in run["steps"]) == whole_text(tokenizer, case["ids"])


def test_where_two_runs_part(qwen3: Any) -> None:
    right = trace(PublishedDetokenizeManager(qwen3), SEED)
    wrong = trace(code_of("window-diff", "wrong/each_token_alone").Window(qwen3), SEED)
    place = first_difference(wrong, right)
    assert place == 1 and wrong["steps"][place]["sent"] != right["steps"][place]["sent"]
    assert first_difference(right, trace(DetokenizeManager(qwen3), SEED)) is None
    broken = trace(Broken(qwen3, ["", ValueError()]), SEED)
    assert first_difference(broken, right) == 3


def test_many_requests(qwen3: Any) -> None:
    replies = {1: "鱻 is", 2: "hello there", 7: "a"}
    run = batch_trace(PublishedDetokenizeManager(qwen3), replies, starts={7: 2})
    assert [step["uids"] for step in run["steps"]] == [[1, 2], [1], [], []][: len(run["steps"])]
    outputs: dict[str, str] = {}
    for step in run["steps"]:
        for uid, row in step["rows"].items():
            outputs[uid] = outputs.get(uid, "") + row["sent"]
            assert row["output"] == outputs[uid]
    assert outputs == {str(uid): text for uid, text in replies.items()}
    assert run["steps"][0]["rows"]["1"]["surr_offset"] == 0
    assert json.loads(json.dumps(run)) == run


def test_an_error_with_many_requests(qwen3: Any) -> None:
    class Manager(PublishedDetokenizeManager):
        def detokenize(self, msgs: Any) -> list[str]:
            return super().detokenize(msgs)[: 2 - len(self.decode_map) // 2]

    run = batch_trace(Manager(qwen3), {1: "鱻 is", 2: "東京 is"})
    assert len(run["steps"]) == 0 and "1 texts for 2" in run["error"]["message"]
