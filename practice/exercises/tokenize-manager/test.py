"""Tests of `tokenize-manager`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from minisgl.core import SamplingParams
from minisgl.message import TokenizeMsg
from practice.judging.api import expect, expect_equal, showing, texts, tokenizer


class Calls:
    """The tokenizer, with its calls counted."""

    def __init__(self, alias: str) -> None:
        self.inner = tokenizer(alias)
        self.calls = 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.calls += 1
        return self.inner(*args, **options)

    def encode(self, *args: Any, **options: Any) -> Any:
        self.calls += 1
        return self.inner.encode(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def messages(prompts: list[Any]) -> list[TokenizeMsg]:
    return [TokenizeMsg(uid, prompt, SamplingParams()) for uid, prompt in enumerate(prompts, 1)]


def user(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


def wanted(alias: str, prompt: Any) -> torch.Tensor:
    whole = tokenizer(alias)
    if isinstance(prompt, str):
        ids = whole.encode(prompt)
    else:
        text = whole.apply_chat_template(prompt, tokenize=False, add_generation_prompt=True)
        ids = whole.encode(text, add_special_tokens=False)
    return torch.tensor(ids, dtype=torch.int32)


def test_example_hi(submission: ModuleType) -> None:
    """A plain prompt becomes a 1-D tensor of int32.

    See: lesson 01, "Tensors for the scheduler"
    """
    showing(prompts=["hi"])
    got = submission.TokenizeManager(tokenizer("qwen3")).tokenize(messages(["hi"]))
    expect_equal(got, [torch.tensor([6023], dtype=torch.int32)])


@pytest.mark.parametrize("alias", ["qwen3", "mistral-v1"])
def test_text_and_chat_in_order(submission: ModuleType, alias: str) -> None:
    """Plain prompts and conversations come back in the order of the messages.

    See: lesson 01, "Batch encoding"
    """
    prompts = ["one", user("two"), "three", user("four")]
    showing(prompts=prompts, tokenizer=alias)
    got = submission.TokenizeManager(tokenizer(alias)).tokenize(messages(prompts))
    expect_equal(got, [wanted(alias, prompt) for prompt in prompts])


@settings(max_examples=20)
@given(plain=st.lists(texts(8).filter(str.strip), min_size=1, max_size=4))
def test_any_text(submission: ModuleType, plain: list[str]) -> None:
    """A batch gives what each prompt gives alone, in every script.

    See: lesson 01, "Batch encoding"
    """
    prompts = [text if place % 2 else user(text) for place, text in enumerate(plain)]
    showing(prompts=prompts)
    got = submission.TokenizeManager(tokenizer("qwen3")).tokenize(messages(prompts))
    expect_equal(got, [wanted("qwen3", prompt) for prompt in prompts])


def test_encoded_in_batches(submission: ModuleType) -> None:
    """The tokenizer is called twice at the most, once for each kind of prompt.

    See: lesson 01, "Batch encoding"
    """
    prompts = [user(f"turn {n}") if n % 2 else f"prompt {n}" for n in range(16)]
    showing(prompts="8 plain prompts and 8 conversations")
    counted = Calls("qwen3")
    submission.TokenizeManager(counted).tokenize(messages(prompts))
    expect(
        counted.calls <= 2,
        "The tokenizer was called more than twice.",
        expected="2 calls at the most",
        got=counted.calls,
    )


BAD = {"no_messages": [], "no_content": [{"role": "user"}], "empty": ""}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_prompt_spoils_no_other(submission: ModuleType, name: str) -> None:
    """`process` gives an error's text for a bad prompt, and tensors for all others.

    See: lesson 01, "Prompts that can't be"
    """
    prompts = ["one", BAD[name], user("two")]
    showing(prompts=prompts)
    got = submission.TokenizeManager(tokenizer("qwen3")).process(messages(prompts))
    expect_equal([uid for uid, _ in got], [1, 2, 3])
    expect_equal([got[0][1], got[2][1]], [wanted("qwen3", "one"), wanted("qwen3", user("two"))])
    told = got[1][1]
    expect(
        type(told) is str and len(told) > 0,
        "The bad prompt has no error's text.",
        expected="a text",
        got=told,
    )


def test_a_template_that_refuses(submission: ModuleType) -> None:
    """A template that refuses a conversation gives an error's text for this uid.

    See: lesson 01, "Prompts that can't be"
    """
    prompts = [[{"role": "system", "content": "Be kind."}, *user("Hi")], user("Hi")]
    showing(prompts=prompts, tokenizer="mistral-v1")
    got = submission.TokenizeManager(tokenizer("mistral-v1")).process(messages(prompts))
    expect(type(got[0][1]) is str, "It isn't a text.", expected="a text", got=got[0][1])
    expect_equal(got[1][1], wanted("mistral-v1", user("Hi")))
