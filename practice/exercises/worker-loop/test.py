"""Tests of `worker-loop`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from minisgl.core import SamplingParams
from minisgl.message import (
    AbortBackendMsg,
    AbortMsg,
    BatchBackendMsg,
    BatchFrontendMsg,
    BatchTokenizerMsg,
    DetokenizeMsg,
    TokenizeMsg,
    UserMsg,
    UserReply,
)
from practice.judging.api import expect, expect_equal, showing

PARAMS = SamplingParams(max_tokens=8)


class Tokenizer:
    """A stand-in: a prompt's length is its only id; "bad" is refused."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []

    def tokenize(self, msgs: list[TokenizeMsg]) -> list[torch.Tensor]:
        self.calls.append([msg.uid for msg in msgs])
        if any(msg.text == "bad" for msg in msgs):
            raise ValueError("this prompt can't be encoded")
        return [torch.tensor([len(msg.text)], dtype=torch.int32) for msg in msgs]


class Detokenizer:
    """A stand-in: a token's number is its text; a negative one is refused."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.aborted: list[int] = []

    def detokenize(self, msgs: list[DetokenizeMsg]) -> list[str]:
        self.calls.append([msg.uid for msg in msgs])
        if any(msg.next_token < 0 for msg in msgs):
            raise ValueError("this token is not in the vocabulary")
        return [f"<{msg.next_token}>" for msg in msgs]

    def abort(self, uid: int) -> None:
        self.aborted.append(uid)


def prompt(uid: int, text: str = "Hi") -> TokenizeMsg:
    return TokenizeMsg(uid, text, PARAMS)


def ready(uid: int, text: str = "Hi") -> UserMsg:
    return UserMsg(uid, torch.tensor([len(text)], dtype=torch.int32), PARAMS)


def plain(msg: Any) -> Any:
    """A message as plain data, to show and compare."""
    if msg is None:
        return None
    if isinstance(msg, BatchBackendMsg | BatchFrontendMsg):
        return [type(msg).__name__, [plain(one) for one in msg.data]]
    if isinstance(msg, UserMsg):
        return ["UserMsg", msg.uid, msg.input_ids.tolist()]
    fields = {name: getattr(msg, name) for name in msg.__struct_fields__}
    return [
        type(msg).__name__,
        {name: value for name, value in fields.items() if value is not None},
    ]


def check(submission: ModuleType, frames: list[Any], backend: Any, frontend: Any) -> Detokenizer:
    showing(frames=[repr(frame) for frame in frames])
    detokenizer = Detokenizer()
    got = submission.turn(frames, Tokenizer(), detokenizer)
    expect(type(got) is tuple and len(got) == 2, "It isn't a pair.", expected="a pair", got=got)
    expect_equal(plain(got[0]), plain(backend), "what goes to the scheduler")
    expect_equal(plain(got[1]), plain(frontend), "what goes to the API server")
    return detokenizer


def test_example_abort(submission: ModuleType) -> None:
    """An abort goes to the scheduler as it is, and the detokenizer forgets the request.

    See: lesson 07, "Aborts"
    """
    detokenizer = check(submission, [AbortMsg(7)], AbortBackendMsg(7), None)
    expect_equal(detokenizer.aborted, [7])


def test_single_messages_are_bare(submission: ModuleType) -> None:
    """A single message goes out by itself, without a batch around it.

    See: lesson 07, "Unwrap and pack"
    """
    check(submission, [prompt(1)], ready(1), None)
    check(submission, [DetokenizeMsg(1, 5, True)], None, UserReply(1, "<5>", True))


def test_several_become_a_batch(submission: ModuleType) -> None:
    """Several messages to one receiver go out as one batch, in the order in which they came.

    See: lesson 07, "Unwrap and pack"
    """
    frames = [
        prompt(1),
        DetokenizeMsg(2, 5, False),
        prompt(3),
        DetokenizeMsg(4, 6, True),
        AbortMsg(5),
    ]
    check(
        submission,
        frames,
        BatchBackendMsg([ready(1), ready(3), AbortBackendMsg(5)]),
        BatchFrontendMsg([UserReply(2, "<5>", False), UserReply(4, "<6>", True)]),
    )


def test_batches_are_unwrapped(submission: ModuleType) -> None:
    """A batch that comes in counts as its single messages.

    See: lesson 07, "Unwrap and pack"
    """
    frames = [
        BatchTokenizerMsg([prompt(1), DetokenizeMsg(2, 5, False)]),
        DetokenizeMsg(3, 6, False),
    ]
    check(
        submission,
        frames,
        ready(1),
        BatchFrontendMsg([UserReply(2, "<5>", False), UserReply(3, "<6>", False)]),
    )


def test_nothing(submission: ModuleType) -> None:
    """Where nothing came, nothing goes out.

    See: lesson 07, "Unwrap and pack"
    """
    check(submission, [], None, None)


def test_one_call_for_each_kind(submission: ModuleType) -> None:
    """Each manager is called once with all messages of its kind, and not without any.

    See: lesson 07, "Sort by kind"
    """
    frames = [prompt(1), DetokenizeMsg(2, 5, False), prompt(3), DetokenizeMsg(4, 6, False)]
    showing(frames=[repr(frame) for frame in frames])
    tokenizer, detokenizer = Tokenizer(), Detokenizer()
    submission.turn(frames, tokenizer, detokenizer)
    expect_equal((tokenizer.calls, detokenizer.calls), ([[1, 3]], [[2, 4]]))
    showing(frames=[repr(AbortMsg(1))])
    tokenizer, detokenizer = Tokenizer(), Detokenizer()
    submission.turn([AbortMsg(1)], tokenizer, detokenizer)
    expect_equal((tokenizer.calls, detokenizer.calls), ([], []))


def test_a_bad_token_hurts_one(submission: ModuleType) -> None:
    """A token that is refused gives an error reply for its uid; all others are answered.

    See: lesson 07, "One bad message"
    """
    frames = [DetokenizeMsg(1, 5, False), DetokenizeMsg(2, -1, False), DetokenizeMsg(3, 6, False)]
    error = UserReply(2, "", True, "error", "this token is not in the vocabulary")
    good = [UserReply(1, "<5>", False), UserReply(3, "<6>", False)]
    check(submission, frames, None, BatchFrontendMsg([good[0], error, good[1]]))


def test_a_bad_prompt_hurts_one(submission: ModuleType) -> None:
    """A prompt that is refused gives an error reply for its uid; all others go to the scheduler.

    See: lesson 07, "One bad message"
    """
    frames = [prompt(1), prompt(2, "bad"), prompt(3)]
    error = UserReply(2, "", True, "error", "this prompt can't be encoded")
    check(submission, frames, BatchBackendMsg([ready(1), ready(3)]), error)


KINDS = st.sampled_from(["prompt", "token", "abort"])


@settings(max_examples=30)
@given(kinds=st.lists(KINDS, max_size=6))
def test_every_message_is_answered(submission: ModuleType, kinds: list[str]) -> None:
    """Whatever comes, each message has one answer on its side.

    See: lesson 07, "Sort by kind"
    """
    make = {
        "prompt": prompt,
        "token": lambda uid: DetokenizeMsg(uid, uid, False),
        "abort": AbortMsg,
    }
    frames = [make[kind](uid) for uid, kind in enumerate(kinds)]
    of = {kind: [uid for uid, one in enumerate(kinds) if one == kind] for kind in make}
    backend = [ready(uid) for uid in of["prompt"]] + [AbortBackendMsg(uid) for uid in of["abort"]]
    frontend = [UserReply(uid, f"<{uid}>", False) for uid in of["token"]]
    check(
        submission,
        frames,
        (BatchBackendMsg(backend) if len(backend) > 1 else [*backend, None][0]),
        (BatchFrontendMsg(frontend) if len(frontend) > 1 else [*frontend, None][0]),
    )
