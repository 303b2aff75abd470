"""Tests of `cut-tail`."""

from __future__ import annotations

from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from practice.judging.api import expect_equal, showing, texts

TABLE = {
    "complete": ([b"hi"], 0),
    "two_of_three": ([b"hi", b"\xe9\xb1"], 1),
    "over_two_tokens": ([b" \xf0\x9f", b"\xa6"], 2),
    "completed": ([b"\xe9\xb1", b"\xbb"], 0),
    "dead_bytes": ([b"\x80", b"\x80"], 0),
    "broken_off": ([b"\xe9", b"a"], 0),
}


@pytest.mark.parametrize("name", TABLE)
def test_example_table(submission: ModuleType, name: str) -> None:
    """The statement's examples come out as in the table.

    See: lesson 02, "Cut characters"
    """
    tokens, expected = TABLE[name]
    showing(tokens=tokens)
    expect_equal(submission.cut_tail(list(tokens)), expected)


def waiting_bytes(data: bytes) -> int:
    """How many bytes at the end begin a character that some continuation completes."""
    for size in range(min(3, len(data)), 0, -1):
        end = data[len(data) - size :]
        for more in (
            b"\x80",
            b"\xbf",
            b"\x90\x80",
            b"\xa0\x80",
            b"\x80\x80",
            b"\x90\x80\x80",
            b"\x80\x80\x80",
        ):
            try:
                if len((end + more).decode("utf-8")) == 1:
                    return size
            except UnicodeDecodeError:
                continue
    return 0


def wanted(tokens: list[bytes]) -> int:
    waiting, count = waiting_bytes(b"".join(tokens)), 0
    while waiting > 0:
        count += 1
        waiting -= len(tokens[-count])
    return count


@given(text=texts(), data=st.data())
def test_every_script(submission: ModuleType, text: str, data: st.DataObject) -> None:
    """Wherever a text of any script is cut, the tokens of the cut character are counted.

    See: lesson 02, "Cut characters"
    """
    raw = text.encode("utf-8")
    cuts = sorted(data.draw(st.sets(st.integers(0, len(raw)), max_size=6)))
    tokens = [raw[a:b] for a, b in zip([0, *cuts], cuts, strict=False) if a < b]
    showing(tokens=tokens)
    expect_equal(submission.cut_tail(list(tokens)), wanted(tokens))


PARTS = st.sampled_from(
    [b"a", b"\x80", b"\xbf", b"\xe9", b"\xb1", b"\xf0\x9f", b"\xc3", b"\xff", b"\xf4"]
)


@given(tokens=st.lists(PARTS, max_size=6))
def test_any_bytes(submission: ModuleType, tokens: list[bytes]) -> None:
    """Bytes that can't become a character any more wait for nothing.

    See: lesson 02, "Bytes that are no character"
    """
    showing(tokens=tokens)
    expect_equal(submission.cut_tail(list(tokens)), wanted(tokens))


def test_endless_dead_bytes(submission: ModuleType) -> None:
    """Dead bytes without end are final, all of them.

    See: lesson 02, "Bytes that are no character"
    """
    tokens = [b"\x80"] * 100
    showing(tokens="100 times b'\\x80'")
    expect_equal(submission.cut_tail(tokens), 0)


def test_real_replacement_character(submission: ModuleType) -> None:
    """A U+FFFD that the model printed is a complete character.

    See: lesson 02, "A real U+FFFD"
    """
    showing(tokens=[b"a", b"\xef\xbf\xbd"])
    expect_equal(submission.cut_tail([b"a", b"\xef\xbf\xbd"]), 0)


def test_no_tokens(submission: ModuleType) -> None:
    """Where there are no tokens, nothing waits.

    See: lesson 02, "Cut characters"
    """
    showing(tokens=[])
    expect_equal(submission.cut_tail([]), 0)
