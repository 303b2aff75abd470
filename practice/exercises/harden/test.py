"""Tests of `harden`: an example, then a test for each promise."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from minisgl.message import DetokenizeMsg
from practice.judging.api import (
    expect,
    expect_equal,
    showing,
    texts,
    token_ids,
    tokenizer,
    true_decode,
)

EOS = {151643, 151645}


def make(submission: ModuleType, **options: Any) -> Any:
    return submission.HardenedManager(tokenizer("qwen3"), EOS, **options)


def call(manager: Any, *parts: tuple[int, int, bool]) -> list[str]:
    return list(manager.detokenize([DetokenizeMsg(*part) for part in parts]))


def stream(manager: Any, ids: list[int], uid: int = 1) -> list[str]:
    last = len(ids) - 1
    return [call(manager, (uid, token, n == last))[0] for n, token in enumerate(ids)]


def encoded(text: str) -> list[int]:
    return list(tokenizer("qwen3").encode(text))


class Measured:
    """A tokenizer that counts the tokens it decodes."""

    def __init__(self, whole: Any) -> None:
        self.whole = whole
        self.tokens = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.whole, name)

    def __len__(self) -> int:
        return len(self.whole)

    def batch_decode(self, batch: Any, **options: Any) -> Any:
        batch = [list(ids) for ids in batch]
        self.tokens += sum(map(len, batch))
        return self.whole.batch_decode(batch, **options)

    def decode(self, ids: Any, **options: Any) -> Any:
        ids = [ids] if isinstance(ids, int) else list(ids)
        self.tokens += len(ids)
        return self.whole.decode(ids, **options)


def kept_text(state: Any) -> int:
    """The length of the longest text that a state keeps."""
    slots = [name for kind in type(state).__mro__ for name in getattr(kind, "__slots__", ())]
    values = [getattr(state, name, None) for name in [*slots, *getattr(state, "__dict__", {})]]
    return max((len(value) for value in values if isinstance(value, str | bytes)), default=0)


def test_example_two_in_a_call(submission: ModuleType) -> None:
    """Two tokens of a request in one call, then one more, come out as in the statement.

    See: lesson 09, "Two tokens in one call"
    """
    showing(calls=[[825, 1378], [2326]], tokenizer="qwen3")
    manager = make(submission)
    answers = [call(manager, (1, 825, False), (1, 1378, False)), call(manager, (1, 2326, False))]
    expect_equal(answers, [[" one", " two"], [" three"]])


@settings(max_examples=40)
@given(ids=token_ids("qwen3").filter(lambda ids: bool(ids) and ids[-1] not in EOS))
def test_1_nothing_lost(submission: ModuleType, ids: list[int]) -> None:
    """Promise 1: all pieces of a reply together are the text of its tokens.

    See: lesson 09, "The tail that was lost"
    """
    showing(ids=ids, tokenizer="qwen3")
    expect_equal("".join(stream(make(submission), ids)), true_decode("qwen3", ids))


@settings(max_examples=25)
@given(text=texts(10).filter(lambda text: "\ufffd" not in text))
def test_2_never_half_a_character(submission: ModuleType, text: str) -> None:
    """Promise 2: of a text without U+FFFD no piece holds one.

    See: lesson 09, "Half a character"
    """
    ids = tokenizer("qwen3").encode(text)
    showing(ids=ids, tokenizer="qwen3")
    manager = make(submission)
    pieces = [call(manager, (1, token, False))[0] for token in ids]
    expect_equal([piece for piece in pieces if "\ufffd" in piece], [])


@settings(max_examples=25)
@given(ids=st.one_of(st.sampled_from([[54699], [136516, 100024]]), texts(10).map(encoded)))
def test_3_as_early_as_certain(submission: ModuleType, ids: list[int]) -> None:
    """Promise 3: after each token all but one U+FFFD at the end is shown.

    See: lesson 09, "Held until a space"
    """
    manager, shown = make(submission), ""
    for place, token in enumerate(ids):
        showing(ids=ids[: place + 1], tokenizer="qwen3")
        shown += call(manager, (1, token, False))[0]
        whole = true_decode("qwen3", ids[: place + 1])
        expect_equal(len(shown), len(whole) - whole.endswith("\ufffd"), "characters shown so far")


def test_4_flat_cost(submission: ModuleType) -> None:
    """Promise 4: invalid bytes are shown, and no token costs more than the one before.

    See: lesson 09, "Invalid bytes without end"
    """
    measured = Measured(tokenizer("qwen3"))
    manager = submission.HardenedManager(measured, EOS)
    showing(ids="token 222, a byte that is no character, 300 times")
    shown = "".join(call(manager, (1, 222, False))[0] for _ in range(300))
    expect(len(shown) >= 290, "They wait.", expected="290 U+FFFD at least", got=f"{len(shown)}")
    expect(
        measured.tokens <= 20 * 300,
        "The calls decoded more than twenty tokens each, taken together.",
        expected="6000 at the most",
        got=measured.tokens,
    )
    showing(ids="token 825, which is ' one', 300 times")
    for _ in range(300):
        call(manager, (2, 825, False))
    longest = kept_text(manager.decode_map[2])
    expect(
        longest <= 64, "The state keeps the reply's text.", expected="64 at the most", got=longest
    )


@settings(max_examples=15)
@given(text=texts(8).filter(bool), size=st.integers(2, 4))
def test_5_grouping_does_not_matter(submission: ModuleType, text: str, size: int) -> None:
    """Promise 5: several tokens of a request in one call give each text once.

    See: lesson 09, "Two tokens in one call"
    """
    ids = tokenizer("qwen3").encode(text)
    showing(ids=ids, tokens_a_call=size)
    manager, shown = make(submission), ""
    for start in range(0, len(ids), size):
        part = range(start, min(start + size, len(ids)))
        messages = [(1, ids[place], place == len(ids) - 1) for place in part]
        pieces = call(manager, (start + 2, 64, True), *messages)
        shown += "".join(pieces[1:])
    expect_equal(shown, true_decode("qwen3", ids))


def test_6_state_ends(submission: ModuleType) -> None:
    """Promise 6: an ended request is gone, and a late token brings nothing back.

    See: lesson 09, "Late tokens"
    """
    manager = make(submission, max_states=3)
    showing(messages=[(1, 64, True), (1, 64, False)])
    call(manager, (1, 64, True))
    expect_equal(call(manager, (1, 64, False)), [""])
    expect_equal(sorted(manager.decode_map), [])
    showing(messages=[(2, 64, False)], then="abort(2), abort(99)", last=[(2, 64, False)])
    call(manager, (2, 64, False))
    manager.abort(2)
    manager.abort(99)
    expect_equal(call(manager, (2, 64, False)), [""])
    expect_equal(sorted(manager.decode_map), [])
    showing(max_states=3, messages=[(uid, 64, False) for uid in (3, 4, 5, 6)])
    for uid in (3, 4, 5, 6):
        call(manager, (uid, 64, False))
    expect_equal(sorted(manager.decode_map), [4, 5, 6])
    expect_equal(sorted(manager.errors), [3])


@settings(max_examples=10)
@given(token=st.sampled_from([-1, -(2**31), 151669, 2**31, 2**40]))
def test_7_one_bad_request(submission: ModuleType, token: int) -> None:
    """Promise 7: a token id that doesn't exist ends its own request; all others go on.

    See: lesson 09, "One bad request"
    """
    manager = make(submission)
    showing(messages=[(1, 825, False), (2, token, False), (3, 1378, False)])
    expect_equal(
        call(manager, (1, 825, False), (2, token, False), (3, 1378, False)), [" one", "", " two"]
    )
    expect_equal(sorted(manager.decode_map), [1, 3])
    expect_equal(sorted(manager.errors), [2])
    expect(isinstance(manager.errors[2], str), "errors[2] is not a sentence.", expected="a str")


def test_8_eos_is_not_text(submission: ModuleType) -> None:
    """Promise 8: any EOS that ends a reply isn't shown; in the middle it is text.

    See: lesson 09, "The second EOS"
    """
    for uid, eos in enumerate(sorted(EOS)):
        showing(ids=[64, eos], finished="with the last")
        expect_equal("".join(stream(make(submission), [64, eos], uid)), "a")
    showing(ids=[151645, 64], finished="with the last")
    expect_equal("".join(stream(make(submission), [151645, 64])), "<|im_end|>a")
