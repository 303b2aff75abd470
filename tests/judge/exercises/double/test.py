"""Tests of `double`."""

from __future__ import annotations

from types import ModuleType

from hypothesis import given
from hypothesis import strategies as st

from practice.judging.api import expect_equal, showing


def test_example_word(submission: ModuleType) -> None:
    """A word comes out twice.

    See: lesson 01, "Twice"
    """
    showing(text="ab")
    expect_equal(submission.double("ab"), "abab")


@given(text=st.text("ab \n\ufffd"))
def test_any(submission: ModuleType, text: str) -> None:
    """Any text comes out twice, spaces and line ends too.

    See: lesson 01, "Twice"
    """
    showing(text=text)
    expect_equal(submission.double(text), text + text)


def test_empty(submission: ModuleType) -> None:
    """The empty text stays empty.

    See: lesson 01, "Nothing"
    """
    showing(text="")
    expect_equal(submission.double(""), "")
