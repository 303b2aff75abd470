"""Tests of `window-diff`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hypothesis import given, settings
from practice.judging.api import expect, expect_equal, raw_tokenizer, showing, texts, true_decode

SEED = [100024, 119, 128237, 119, 123918, 102, 374, 8848, 11, 46602, 101, 21887, 94880, 586]
SEED_PIECES = ["", "鱻", "", "䨻", "", "🦩", " is", " rare", ",", " ", "推", "理", " naï", "ve"]


class Decoder:
    """What the learner's window may call; counts the tokens that it decodes."""

    def __init__(self, alias: str) -> None:
        self.tokenizer = raw_tokenizer(alias)
        self.tokens = 0

    def decode(self, ids: list[int]) -> str:
        self.tokens += len(ids)
        return str(self.tokenizer.decode(ids, skip_special_tokens=False))


def pieces_of(window: Any, ids: list[int]) -> list[str]:
    return [*(window.push(token) for token in ids), window.finish()]


def test_example_seed(submission: ModuleType) -> None:
    """The sentence of the lesson comes out piece by piece as in the table.

    See: lesson 03, "Two decodes and their difference"
    """
    window = submission.Window(Decoder("qwen3"))
    for place, (token, piece) in enumerate(zip(SEED, SEED_PIECES, strict=True)):
        showing(ids=SEED[: place + 1], tokenizer="qwen3")
        expect_equal(window.push(token), piece)


@settings(max_examples=40)
@given(text=texts())
def test_nothing_lost(submission: ModuleType, text: str) -> None:
    """All pieces together are the text, in every script.

    See: lesson 03, "What must hold"
    """
    ids = raw_tokenizer("qwen3").encode(text).ids
    showing(ids=ids, tokenizer="qwen3")
    pieces = pieces_of(submission.Window(Decoder("qwen3")), ids)
    expect_equal("".join(pieces), true_decode("qwen3", ids))


@settings(max_examples=40)
@given(text=texts())
def test_never_half_a_character(submission: ModuleType, text: str) -> None:
    """No piece has a U+FFFD that the whole text doesn't have.

    See: lesson 03, "What a reader must never see"
    """
    if "\ufffd" in text:
        return
    ids = raw_tokenizer("qwen3").encode(text).ids
    showing(ids=ids, tokenizer="qwen3")
    pieces = pieces_of(submission.Window(Decoder("qwen3")), ids)
    wrong = [piece for piece in pieces if "\ufffd" in piece]
    expect(not wrong, "A cut character was sent.", expected="no U+FFFD", got=wrong)


def test_whole_characters_are_not_held(submission: ModuleType) -> None:
    """Whole characters before a cut one in the same token are sent at once.

    See: lesson 03, "Hold back the last one only"
    """
    showing(ids=[54699], tokenizer="qwen3")
    expect_equal(submission.Window(Decoder("qwen3")).push(54699), "обра")


def test_tail(submission: ModuleType) -> None:
    """A reply that ends within a character shows what there is of it at the end.

    See: lesson 03, "The last token"
    """
    showing(ids=[64, 136516], tokenizer="qwen3")
    expect_equal(
        pieces_of(submission.Window(Decoder("qwen3")), [64, 136516]), ["a", "インター", "\ufffd"]
    )


def test_spaces_of_sentencepiece(submission: ModuleType) -> None:
    """Spaces between words stay, although Mistral's decode drops the space that begins a text.

    See: lesson 03, "Why two decodes"
    """
    ids = raw_tokenizer("mistral-v1").encode("hello world of text", add_special_tokens=False).ids
    showing(ids=ids, tokenizer="mistral-v1")
    pieces = pieces_of(submission.Window(Decoder("mistral-v1")), ids)
    expect_equal("".join(pieces), "hello world of text")


def test_bounded_window(submission: ModuleType) -> None:
    """A step decodes a handful of tokens, however long the reply is.

    See: lesson 03, "What it costs"
    """
    ids = (raw_tokenizer("qwen3").encode("Many words, one after the other. ").ids * 50)[:400]
    showing(ids=f"{len(ids)} tokens of English", tokenizer="qwen3")
    decoder = Decoder("qwen3")
    window = submission.Window(decoder)
    for token in ids:
        window.push(token)
    expect(
        decoder.tokens <= 8 * len(ids),
        "The steps decoded more than eight tokens each, taken together.",
        expected=f"{8 * len(ids)} at the most",
        got=decoder.tokens,
    )
