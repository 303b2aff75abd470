"""Tests of `stream`."""

from __future__ import annotations

from itertools import count
from types import ModuleType
from typing import Any

from hypothesis import given

from minisgl.message import DetokenizeMsg
from minisgl.tokenizer import DetokenizeManager
from practice.judging.api import (
    Counted,
    expect,
    expect_equal,
    showing,
    token_ids,
    tokenizer,
    true_decode,
)

UIDS = count(1)
OURS = DetokenizeManager(tokenizer("qwen3"))


def run(manager: Any, ids: list[int]) -> str:
    uid, last = next(UIDS), len(ids) - 1
    msgs = [DetokenizeMsg(uid, token, place == last) for place, token in enumerate(ids)]
    return "".join(manager.detokenize([msg])[0] for msg in msgs)


def test_example_rare(submission: ModuleType) -> None:
    """A rare character, cut over two tokens, comes out whole.

    See: lesson 02, "Half a character"
    """
    ids = [100024, 119]
    showing(ids=ids, tokenizer="qwen3")
    counted = Counted(tokenizer("qwen3"))
    got = run(submission.DetokenizeManager(counted), ids)
    expect_equal(got, true_decode("qwen3", ids))
    expect(counted.calls["decode"] <= 2, "decode is called once a token at the most")


@given(ids=token_ids("qwen3", min_size=1))
def test_whole_text(submission: ModuleType, ids: list[int]) -> None:
    """All pieces together are what the course's own manager gives.

    See: lesson 02, "What must hold"
    """
    showing(ids=ids, tokenizer="qwen3")
    ours = run(OURS, ids)
    got = run(submission.DetokenizeManager(tokenizer("qwen3")), ids)
    if ids[-1] not in (151643, 151645):
        expect_equal(got, ours)
