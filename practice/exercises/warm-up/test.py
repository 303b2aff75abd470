"""Tests of `warm-up`."""

from __future__ import annotations

from types import ModuleType

import pytest
from hypothesis import given
from practice.judging.api import expect_equal, showing, texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [("hello", (5, 5)), ("naïve", (6, 5)), ("推理", (6, 2)), ("🦩", (4, 1))],
    ids=["english", "accent", "chinese", "emoji"],
)
def test_example_table(submission: ModuleType, text: str, expected: tuple[int, int]) -> None:
    """The statement's examples come out as in the table.

    See: lesson 00, "How the judge works"
    """
    showing(text=text)
    expect_equal(submission.count(text), expected)


def test_empty(submission: ModuleType) -> None:
    """An empty text has no bytes and no code points.

    See: lesson 00, "How the judge works"
    """
    showing(text="")
    expect_equal(submission.count(""), (0, 0))


@given(text=texts())
def test_bytes(submission: ModuleType, text: str) -> None:
    """The first number is how many bytes the text takes in UTF-8, in every script.

    See: lesson 00, "A character is not a byte"
    """
    showing(text=text)
    expect_equal(submission.count(text)[0], len(text.encode("utf-8")))


@given(text=texts())
def test_code_points(submission: ModuleType, text: str) -> None:
    """The second number is how many code points the text has, in every script.

    See: lesson 00, "A character is not a byte"
    """
    showing(text=text)
    expect_equal(submission.count(text)[1], len(text))
