"""Tests of `stop-strings`."""

from __future__ import annotations

from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from practice.judging.api import expect_equal, expect_raises, showing

STOPS = st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=3)
PIECES = st.lists(st.text("ab", max_size=5), min_size=1, max_size=5)


def wanted(text: str, stops: list[str]) -> tuple[str, bool]:
    """By brute force on the whole text: what is shown in the end, and whether there is a hit."""
    places = [text.find(stop) for stop in stops if stop in text]
    return (text[: min(places)], True) if places else (text, False)


def test_example_step(submission: ModuleType) -> None:
    """The statement's example comes out as in the table.

    See: lesson 08, "Hold back, then show"
    """
    pieces = ["one ST", "EP ", "two STOP three", " four"]
    showing(stops=["STOP"], pieces=pieces)
    checker = submission.StopChecker(["STOP"])
    expected = [("one ", False), ("STEP ", False), ("two ", True), ("", False)]
    expect_equal([checker.feed(piece) for piece in pieces], expected)


def test_over_borders(submission: ModuleType) -> None:
    """A stop string is found although it comes in several pieces.

    See: lesson 08, "Over the borders of tokens"
    """
    pieces = ["x<", "/", "e", "nd>y"]
    showing(stops=["</end>"], pieces=pieces)
    checker = submission.StopChecker(["</end>"])
    expected = [("x", False), ("", False), ("", False), ("", True)]
    expect_equal([checker.feed(piece) for piece in pieces], expected)


@given(stops=STOPS, pieces=PIECES)
def test_first_hit_wins(submission: ModuleType, stops: list[str], pieces: list[str]) -> None:
    """Shown is the text before the stop string that starts first, however the text was cut.

    See: lesson 08, "The one that starts first"
    """
    showing(stops=stops, pieces=pieces)
    checker = submission.StopChecker(stops)
    shown = "".join([*(checker.feed(piece)[0] for piece in pieces), checker.finish()])
    expect_equal(shown, wanted("".join(pieces), stops)[0])


@given(stops=STOPS, pieces=PIECES)
def test_exact_hold_back(submission: ModuleType, stops: list[str], pieces: list[str]) -> None:
    """Held back is the longest end of the text with which a stop string begins, no more, no less.

    See: lesson 08, "How much to hold back"
    """
    checker, text, shown = submission.StopChecker(stops), "", ""
    for place, piece in enumerate(pieces):
        showing(stops=stops, pieces=pieces[: place + 1])
        new, abort = checker.feed(piece)
        text, shown = text + piece, shown + new
        if abort or any(stop in text for stop in stops):
            return
        ends = [text[start:] for start in range(len(text) + 1)]
        held = next(end for end in ends if any(stop.startswith(end) for stop in stops))
        expect_equal(shown, text.removesuffix(held))


@given(stops=STOPS, pieces=PIECES)
def test_abort_is_told_once(submission: ModuleType, stops: list[str], pieces: list[str]) -> None:
    """The scheduler is told once where there is a hit, and never where there is none.

    See: lesson 08, "The abort"
    """
    pieces = [*pieces, "bbb", "aaa"]
    showing(stops=stops, pieces=pieces)
    checker = submission.StopChecker(stops)
    told = sum(checker.feed(piece)[1] for piece in pieces)
    expect_equal(told, int(_is_decided("".join(pieces), stops)))


def _is_decided(text: str, stops: list[str]) -> bool:
    """Whether there was a hit: at some point nothing earlier could still become a stop string."""
    return any(_decided_at_end(text[:end], stops) for end in range(len(text) + 1))


def _decided_at_end(text: str, stops: list[str]) -> bool:
    places = [text.find(stop) for stop in stops if stop in text]
    if not places:
        return False
    start = min(places)
    return not any(
        stop.startswith(text[place:]) and stop != text[place:]
        for place in range(start)
        for stop in stops
    )


def test_nothing_after_the_hit(submission: ModuleType) -> None:
    """What comes after the hit is dropped, also the rest of the same piece.

    See: lesson 08, "The abort"
    """
    showing(stops=["."], pieces=["one. two", " three"])
    checker = submission.StopChecker(["."])
    expect_equal([checker.feed("one. two"), checker.feed(" three")], [("one", True), ("", False)])
    expect_equal(checker.finish(), "")


def test_held_text_is_shown_at_the_end(submission: ModuleType) -> None:
    """What was held back and didn't become a stop string is shown when the reply ends.

    See: lesson 08, "How much to hold back"
    """
    showing(stops=["STOP"], pieces=["go ST"])
    checker = submission.StopChecker(["STOP"])
    expect_equal((checker.feed("go ST"), checker.finish()), (("go ", False), "ST"))


@pytest.mark.parametrize("stops", [[""], ["a", ""]], ids=["alone", "among others"])
def test_empty_stop_string(submission: ModuleType, stops: list[str]) -> None:
    """An empty stop string would end every reply at once: it is a ValueError.

    See: lesson 08, "Stop strings that can't be"
    """
    showing(stops=stops)
    expect_raises(ValueError, lambda: submission.StopChecker(stops))
