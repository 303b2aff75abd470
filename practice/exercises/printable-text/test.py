"""Tests of `printable-text`."""

from __future__ import annotations

from types import ModuleType

import pytest
from hypothesis import given
from practice.judging.api import expect_equal, showing, texts

TABLE = {
    "words": ("two wor", "two ", "two wor"),
    "chinese": ("推理", "推理", "推理"),
    "chinese_cut": ("推理\ufffd", "推理", "推理"),
    "kana_cut": ("インター\ufffd", "", "インター"),
    "two_replacements": ("a\ufffd\ufffd", "", "a\ufffd"),
}


@pytest.mark.parametrize("name", TABLE)
def test_example_rule_of_thumb(submission: ModuleType, name: str) -> None:
    """`find_printable_text` gives what the statement's table has.

    See: lesson 04, "The rule of thumb"
    """
    showing(text=TABLE[name][0])
    expect_equal(submission.find_printable_text(TABLE[name][0]), TABLE[name][1])


@pytest.mark.parametrize("name", TABLE)
def test_example_certain(submission: ModuleType, name: str) -> None:
    """`certain_text` gives what the statement's table has.

    See: lesson 04, "What is certain"
    """
    showing(text=TABLE[name][0])
    expect_equal(submission.certain_text(TABLE[name][0]), TABLE[name][2])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("line\n", "line\n"),
        ("\n", "\n"),
        ("㐀", "㐀"),
        ("推a", "推"),
        ("a推", "a推"),
        ("推ab", ""),
        (" one two ", " one two "),
        ("word", ""),
        ("", ""),
        ("\ufffd", ""),
        ("かな 漢", "かな 漢"),
        ("かな 漢字かな", "かな "),
    ],
    ids=lambda value: None,
)
def test_rules(submission: ModuleType, text: str, expected: str) -> None:
    """The four rules of `find_printable_text` are asked in their order.

    See: lesson 04, "The rule of thumb"
    """
    showing(text=text)
    expect_equal(submission.find_printable_text(text), expected)


@pytest.mark.parametrize(
    "text", ["ひらがな", "カタカナ", "토크나이저", "ภาษาไทย", "हिन्दी", "العربية", "word", "🦩"]
)
def test_no_script_waits(submission: ModuleType, text: str) -> None:
    """Whole characters are shown in every script, without a space.

    See: lesson 04, "What it does to other scripts"
    """
    showing(text=text)
    expect_equal(submission.certain_text(text), text)


def test_only_one_waits(submission: ModuleType) -> None:
    """Only the last U+FFFD may still become a character; those before it are final.

    See: lesson 04, "What is certain"
    """
    showing(text="\ufffd\ufffd\ufffd")
    expect_equal(submission.certain_text("\ufffd\ufffd\ufffd"), "\ufffd\ufffd")


@given(text=texts())
def test_a_replacement_in_the_middle_is_text(submission: ModuleType, text: str) -> None:
    """A U+FFFD that isn't at the end is shown like any character.

    See: lesson 04, "What is certain"
    """
    showing(text=f"{text}\ufffda")
    expect_equal(submission.certain_text(f"{text}\ufffda"), f"{text}\ufffda")
