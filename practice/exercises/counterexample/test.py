"""Tests of `counterexample`."""

from __future__ import annotations

from types import ModuleType

import pytest
from practice.judging.api import expect, raw_tokenizer, showing, true_decode

PAIRS = {"QWEN3": "qwen3", "MISTRAL": "mistral-v1"}


@pytest.mark.parametrize("name", PAIRS)
def test_example_form(submission: ModuleType, name: str) -> None:
    """Each name is a pair of lists of token ids, with 1 to 8 ids that the vocabulary has.

    See: lesson 02, "Find it by hand"
    """
    pair = getattr(submission, name)
    showing(name=name, value=pair)
    expect(
        type(pair) in (tuple, list) and len(pair) == 2 and all(type(part) is list for part in pair),
        "It isn't a pair of lists.",
        expected="([...], [...])",
        got=pair,
    )
    size = raw_tokenizer(PAIRS[name]).get_vocab_size()
    for part in pair:
        expect(1 <= len(part) <= 8, "A list has 1 to 8 ids.", expected="1 to 8 ids", got=part)
        expect(
            all(type(token) is int and 0 <= token < size for token in part),
            "An id lies outside of the vocabulary.",
            expected=f"0 to {size - 1}",
            got=part,
        )


@pytest.mark.parametrize("name", PAIRS)
def test_not_additive(submission: ModuleType, name: str) -> None:
    """`decode(a + b)` differs from `decode(a) + decode(b)`.

    See: lesson 02, "Decoding is not additive"
    """
    a, b = getattr(submission, name)
    showing(a=a, b=b, tokenizer=PAIRS[name])
    alone = true_decode(PAIRS[name], a) + true_decode(PAIRS[name], b)
    together = true_decode(PAIRS[name], a + b)
    expect(alone != together, "Both sides are equal.", expected="a difference", got=together)


@pytest.mark.parametrize("name", PAIRS)
def test_sound_together(submission: ModuleType, name: str) -> None:
    """Together the ids are sound text, without U+FFFD.

    See: lesson 02, "Find it by hand"
    """
    a, b = getattr(submission, name)
    showing(a=a, b=b, tokenizer=PAIRS[name])
    text = true_decode(PAIRS[name], a + b)
    expect("\ufffd" not in text, "The whole has a U+FFFD.", expected="sound text", got=text)


def test_mistral_is_about_the_space(submission: ModuleType) -> None:
    """For Mistral each part is sound by itself: the reason is not a cut character.

    See: lesson 02, "A space that disappears"
    """
    for part in submission.MISTRAL:
        showing(part=part, tokenizer="mistral-v1")
        text = true_decode("mistral-v1", part)
        expect("\ufffd" not in text, "A part has a U+FFFD.", expected="sound text", got=text)
