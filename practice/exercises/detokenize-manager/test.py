"""Tests of `detokenize-manager`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from minisgl.message import DetokenizeMsg
from practice.judging.api import (
    Counted,
    expect,
    expect_equal,
    showing,
    texts,
    tokenizer,
    true_decode,
)

EOS = 151645


def call(manager: Any, *parts: tuple[int, int, bool]) -> list[str]:
    return list(manager.detokenize([DetokenizeMsg(*part) for part in parts]))


def stream(manager: Any, ids: list[int], uid: int = 1) -> list[str]:
    last = len(ids) - 1
    return [call(manager, (uid, token, n == last))[0] for n, token in enumerate(ids)]


def test_example_one_request(submission: ModuleType) -> None:
    """One request comes out piece by piece as in the statement.

    See: lesson 05, "A state for each request"
    """
    showing(ids=[100024, 119, 374], tokenizer="qwen3")
    manager = submission.DetokenizeManager(tokenizer("qwen3"))
    expect_equal(
        [call(manager, (1, token, False)) for token in (100024, 119, 374)], [[""], ["鱻"], [" is"]]
    )


@settings(max_examples=25)
@given(text=texts(10))
def test_nothing_lost(submission: ModuleType, text: str) -> None:
    """All pieces of a request together are the text of its tokens.

    See: lesson 05, "What must hold"
    """
    ids = tokenizer("qwen3").encode(text)
    showing(ids=ids, tokenizer="qwen3")
    pieces = stream(submission.DetokenizeManager(tokenizer("qwen3")), ids)
    expect_equal("".join(pieces), true_decode("qwen3", ids))


@settings(max_examples=15)
@given(first=texts(6), second=texts(6))
def test_requests_do_not_mix(submission: ModuleType, first: str, second: str) -> None:
    """Requests that run side by side each get their own text.

    See: lesson 05, "A state for each request"
    """
    whole = tokenizer("qwen3")
    replies = {7: whole.encode(first), 8: whole.encode(second)}
    showing(replies=replies)
    manager = submission.DetokenizeManager(whole)
    out = dict.fromkeys(replies, "")
    for step in range(max(map(len, replies.values()))):
        parts = [
            (uid, ids[step], step == len(ids) - 1)
            for uid, ids in replies.items()
            if step < len(ids)
        ]
        for (uid, _, _), piece in zip(parts, call(manager, *parts), strict=True):
            out[uid] += piece
    expect_equal(out, {uid: true_decode("qwen3", ids) for uid, ids in replies.items()})


def test_never_half_a_character(submission: ModuleType) -> None:
    """A cut character is held back, and whole ones before it are shown.

    See: lesson 05, "What must hold"
    """
    manager = submission.DetokenizeManager(tokenizer("qwen3"))
    showing(ids=[54699], tokenizer="qwen3")
    expect_equal(call(manager, (1, 54699, False)), ["обра"])


def test_tail(submission: ModuleType) -> None:
    """With the last token everything is shown, also what was held back.

    See: lesson 05, "The end of a request"
    """
    showing(ids=[64, 136516], tokenizer="qwen3")
    manager = submission.DetokenizeManager(tokenizer("qwen3"))
    expect_equal(stream(manager, [64, 136516]), ["a", "インター\ufffd"])


def test_eos_is_not_text(submission: ModuleType) -> None:
    """The EOS that ends a reply isn't shown; in the middle it is text like any other.

    See: lesson 05, "The end of a request"
    """
    manager = submission.DetokenizeManager(tokenizer("qwen3"))
    showing(ids=[64, EOS], finished="with the last")
    expect_equal(stream(manager, [64, EOS]), ["a", ""])
    showing(ids=[EOS, 64], finished="with the last")
    expect_equal(stream(manager, [EOS, 64], uid=2), ["<|im_end|>", "a"])


def test_eos_shows_what_was_held(submission: ModuleType) -> None:
    """An EOS after a cut character shows what there is of it.

    See: lesson 05, "The end of a request"
    """
    showing(ids=[100024, EOS], tokenizer="qwen3")
    manager = submission.DetokenizeManager(tokenizer("qwen3"))
    expect_equal(stream(manager, [100024, EOS]), ["", "\ufffd"])


def test_finish_frees_the_state(submission: ModuleType) -> None:
    """A request is in `decode_map` while it runs, and not after its end.

    See: lesson 05, "The leak"
    """
    manager = submission.DetokenizeManager(tokenizer("qwen3"))
    showing(uids=[1, 2], finished=[2])
    call(manager, (1, 64, False), (2, 64, False))
    expect_equal(sorted(manager.decode_map), [1, 2])
    call(manager, (2, 65, True))
    expect_equal(sorted(manager.decode_map), [1])


@settings(max_examples=15)
@given(size=st.integers(2, 4))
def test_two_tokens_of_one_request(submission: ModuleType, size: int) -> None:
    """Several tokens of one request in one call give each text once.

    See: lesson 05, "Two tokens of one request in one call"
    """
    ids = [832, 1378, 2326, 3040][:size]
    showing(ids=ids, in_one_call=True)
    manager = submission.DetokenizeManager(tokenizer("qwen3"))
    pieces = call(manager, *[(1, token, False) for token in ids])
    expect_equal("".join(pieces), true_decode("qwen3", ids))


def test_finish_in_the_same_call(submission: ModuleType) -> None:
    """The last token may come in one call with the one before it, and beside other requests.

    See: lesson 05, "Two tokens of one request in one call"
    """
    showing(messages=[(1, 832, False), (2, 64, False), (1, 1378, True)])
    manager = submission.DetokenizeManager(tokenizer("qwen3"))
    pieces = call(manager, (1, 832, False), (2, 64, False), (1, 1378, True))
    expect_equal((pieces[0] + pieces[2], pieces[1]), ("led two", "a"))
    expect_equal(sorted(manager.decode_map), [2])


def test_one_pair_of_batch_decodes(submission: ModuleType) -> None:
    """Where each uid comes once, a call decodes all of them with two batch decodes at the most.

    See: lesson 05, "batch_decode for many"
    """
    counted = Counted(tokenizer("qwen3"))
    manager = submission.DetokenizeManager(counted)
    call(manager, *[(uid, 64, False) for uid in range(20)])
    before = sum(counted.calls.values())
    showing(requests=20, messages="one of each request")
    call(manager, *[(uid, 65, False) for uid in range(20)])
    used = sum(counted.calls.values()) - before
    expect(
        used <= 2,
        "The tokenizer was called more than twice.",
        expected="2 calls at the most",
        got=used,
    )


def test_bounded_window(submission: ModuleType) -> None:
    """A state doesn't make a call decode the whole reply again.

    See: lesson 05, "What it costs"
    """

    class Measured:
        eos_token_id = EOS
        tokens = 0

        def batch_decode(self, batch: Any, **_: Any) -> Any:
            batch = list(batch)
            self.tokens += sum(map(len, batch))
            return tokenizer("qwen3").batch_decode(batch)

    measured = Measured()
    manager = submission.DetokenizeManager(measured)
    showing(ids="300 tokens of English in one request")
    for _ in range(300):
        call(manager, (1, 832, False))
    expect(
        measured.tokens <= 8 * 300,
        "The calls decoded more than eight tokens each, taken together.",
        expected="2400 at the most",
        got=measured.tokens,
    )
