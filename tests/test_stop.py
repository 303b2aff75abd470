"""Stop strings: found anywhere, held back exactly, in one pass."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minisgl.core import SamplingParams
from minisgl.message import DetokenizeMsg
from minisgl.tokenizer import StopChecker, StopStrings

from .conftest import PATHS, manager_of, tokenizer_named

STOPS = st.lists(st.text("ab\ufffd", min_size=1, max_size=4), min_size=1, max_size=4)
TEXT = st.text("ab\ufffd", max_size=24)


def first_hit(text: str, stops: list[str]) -> tuple[int, int] | None:
    """By brute force: the stop string that starts first, of those the shortest."""
    found = [(text.find(stop), len(stop)) for stop in stops if stop in text]
    if not found:
        return None
    start, length = min(found)
    return start, start + length


def pieces_of(data: st.DataObject, text: str) -> list[str]:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(stops=STOPS, text=TEXT, include=st.booleans(), data=st.data())
def test_the_first_hit_cuts_the_text_wherever_it_was_divided(stops, text, include, data):
    checker = StopChecker(StopStrings(stops), include)
    shown = "".join(checker.feed(piece) for piece in pieces_of(data, text)) + checker.finish()
    hit = first_hit(text, stops)
    assert checker.hit == (hit is not None)
    assert shown == (text if hit is None else text[: hit[1] if include else hit[0]])


@given(stops=STOPS, text=TEXT, data=st.data())
def test_held_back_is_exactly_what_could_become_a_stop_string(stops, text, data):
    checker = StopChecker(StopStrings(stops))
    fed = ""
    for piece in pieces_of(data, text):
        checker.feed(piece)
        fed += piece
        if checker.hit:
            return
        suffixes = [fed[len(fed) - n :] for n in range(len(fed) + 1)]
        longest = max(len(s) for s in suffixes if any(stop.startswith(s) for stop in stops))
        assert len(checker.held) == longest


def test_after_a_hit_nothing_is_shown():
    checker = StopChecker(StopStrings("."))
    assert checker.feed("one. two") == "one"
    assert (checker.feed(" three"), checker.finish(), checker.hit) == ("", "", True)


def test_an_earlier_start_is_waited_for():
    checker = StopChecker(StopStrings(["abcd", "bc"]))
    assert checker.feed("xabc") == "x" and not checker.hit
    assert checker.feed("e") == "a" and checker.hit


@pytest.mark.parametrize("stops", ["", ["ok", ""]])
def test_an_empty_stop_string_is_an_error(stops):
    with pytest.raises(ValueError, match="stop string is empty"):
        StopStrings(stops)


def test_a_lone_surrogate_is_an_error():
    with pytest.raises(ValueError, match="lone surrogate"):
        StopStrings("\ud800")


def test_each_character_is_read_once_for_many_stop_strings():
    stops = StopStrings([f"<stop{number}>" for number in range(500)])
    steps = 0
    step = stops.step

    def counting(state, char):
        nonlocal steps
        steps += 1
        return step(state, char)

    stops.step = counting
    checker = StopChecker(stops)
    text = "a <stop b <stopx " * 2000
    shown = "".join(checker.feed(text[i : i + 3]) for i in range(0, len(text), 3))
    assert shown + checker.finish() == text
    assert steps <= len(text)


BY_PATH = [path for path in PATHS if path.split("/")[0] != "wordpiece"]


@pytest.mark.parametrize("path", BY_PATH)
def test_a_stop_string_over_several_tokens_ends_the_reply(path):
    tokenizer = tokenizer_named(path.split("/")[0])
    ids = tokenizer.encode("the quick brown fox is lazy", add_special_tokens=False)
    manager = manager_of(path)
    manager.register(1, SamplingParams(stop=["k brown f", "lazy"]))
    replies = [r for token in ids for r in manager.process([DetokenizeMsg(1, token, False)])]
    assert "".join(reply.incremental_output for reply in replies) == "the quic"
    assert (replies[-1].finished, replies[-1].finish_reason) == (True, "stop")
    assert len(replies) < len(ids)  # later tokens of the uid give nothing
    assert manager.take_aborts() == [1]  # and the scheduler is told once
    assert 1 not in manager.decode_map


@pytest.mark.parametrize("path", BY_PATH)
def test_held_text_is_shown_at_the_end(path):
    tokenizer = tokenizer_named(path.split("/")[0])
    ids = tokenizer.encode("the quick", add_special_tokens=False)
    manager = manager_of(path)
    manager.register(1, SamplingParams(stop="quickly"))
    last = len(ids) - 1
    replies = manager.process([DetokenizeMsg(1, i, n == last) for n, i in enumerate(ids)])
    assert "".join(reply.incremental_output for reply in replies) == "the quick"
    assert replies[-1].finish_reason == "length"
    assert manager.take_aborts() == []


def test_stop_strings_may_come_with_the_tokens(qwen3):
    ids = qwen3.encode("one. two. three")
    manager = manager_of("qwen3/bytes")
    replies = manager.process([DetokenizeMsg(1, token, False, stop=".") for token in ids])
    assert "".join(reply.incremental_output for reply in replies) == "one"
    manager = manager_of("qwen3/bytes")
    msgs = [DetokenizeMsg(1, i, False, stop=".", include_stop_str_in_output=True) for i in ids]
    assert "".join(reply.incremental_output for reply in manager.process(msgs)) == "one."


def test_a_bad_stop_string_on_a_token_hurts_only_its_request(qwen3):
    manager = manager_of("qwen3/bytes")
    bad, good = manager.process([DetokenizeMsg(1, 64, False, stop=""), DetokenizeMsg(2, 64, False)])
    assert bad.finish_reason == "error" and "stop string is empty" in bad.error
    assert good.incremental_output == "a"


def test_the_replacement_character_can_be_a_stop_string():
    manager = manager_of("qwen3/bytes")
    manager.register(1, SamplingParams(stop="\ufffd"))
    replies = manager.process([DetokenizeMsg(1, 64, False), DetokenizeMsg(1, 222, False)])
    assert "".join(reply.incremental_output for reply in replies) == "a"
    assert replies[-1].finish_reason == "stop"


def test_the_hit_is_looked_for_in_the_reply_not_in_the_prompt():
    manager = manager_of("qwen3/bytes")
    manager.register(1, SamplingParams(stop="a"))  # a prompt that has it never comes here
    [reply] = manager.process([DetokenizeMsg(1, 65, False)])
    assert (reply.incremental_output, reply.finished) == ("b", False)
