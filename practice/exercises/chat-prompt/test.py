"""Tests of `chat-prompt`."""

from __future__ import annotations

import copy
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from practice.judging.api import (
    expect,
    expect_equal,
    expect_raises,
    showing,
    texts,
    tokenizer,
)


def user(content: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": content}]


def test_example_qwen3(submission: ModuleType) -> None:
    """One turn of a user has the form that the template writes, with the generation prompt.

    See: lesson 01, "The chat template"
    """
    showing(messages=user("你好"))
    expect_equal(
        submission.chat_prompt(tokenizer("qwen3"), user("你好")),
        "<|im_start|>user\n你好<|im_end|>\n<|im_start|>assistant\n",
    )


def test_several_turns(submission: ModuleType) -> None:
    """Every turn is there, in order, each with its header.

    See: lesson 01, "The chat template"
    """
    messages = [
        {"role": "system", "content": "Be kind."},
        *user("Hi"),
        {"role": "assistant", "content": "Hello!"},
        *user("Bye"),
    ]
    showing(messages=messages)
    expected = "".join(
        f"<|im_start|>{message['role']}\n{message['content']}<|im_end|>\n" for message in messages
    )
    got = submission.chat_prompt(tokenizer("qwen3"), messages)
    expect_equal(got, expected + "<|im_start|>assistant\n")


@pytest.mark.parametrize("alias", ["qwen3", "mistral-v1"])
def test_no_double_bos(submission: ModuleType, alias: str) -> None:
    """The ids are those of the template's text and nothing is added: one BOS at the most.

    See: lesson 01, "Double BOS"
    """
    showing(messages=user("Hi"), tokenizer=alias)
    whole = tokenizer(alias)
    text = whole.apply_chat_template(user("Hi"), tokenize=False, add_generation_prompt=True)
    expect_equal(
        submission.encode_chat(whole, user("Hi")), whole.encode(text, add_special_tokens=False)
    )


@settings(max_examples=25)
@given(text=texts())
def test_any_text(submission: ModuleType, text: str) -> None:
    """What the user wrote stands in the prompt as it was written, in every script.

    See: lesson 01, "The chat template"
    """
    showing(messages=user(text))
    got = submission.chat_prompt(tokenizer("qwen3"), user(text))
    expect_equal(got, f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n")


def test_text_parts(submission: ModuleType) -> None:
    """The texts of a content's parts belong together.

    See: lesson 01, "Content in parts"
    """
    parts = [{"type": "text", "text": "Hi "}, {"type": "text", "text": "there"}]
    showing(messages=user(parts))
    whole = tokenizer("qwen3")
    expect_equal(
        submission.chat_prompt(whole, user(parts)),
        "<|im_start|>user\nHi there<|im_end|>\n<|im_start|>assistant\n",
    )


def test_messages_stay_as_they_were(submission: ModuleType) -> None:
    """The caller's messages aren't changed.

    See: lesson 01, "Content in parts"
    """
    messages = user([{"type": "text", "text": "Hi"}])
    before = copy.deepcopy(messages)
    showing(messages=before)
    submission.chat_prompt(tokenizer("qwen3"), messages)
    expect_equal(messages, before)


@pytest.mark.parametrize(
    "messages",
    [[], [{"role": "user"}], user([{"type": "image_url", "image_url": "x"}])],
    ids=["none", "no_content", "image"],
)
def test_bad_messages(submission: ModuleType, messages: list[dict[str, Any]]) -> None:
    """What can't become a prompt is a ValueError that says what is wrong.

    See: lesson 01, "Prompts that can't be"
    """
    showing(messages=messages)
    told: list[str] = []

    def call() -> None:
        try:
            submission.chat_prompt(tokenizer("qwen3"), messages)
        except ValueError as error:
            told.append(str(error))
            raise

    expect_raises(ValueError, call)
    expect(len(told[0]) > 0, "The error says nothing.", expected="what is wrong", got=told[0])
