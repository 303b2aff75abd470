"""The eight promises of the streaming text, as properties, for every tokenizer and both paths."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from minisgl.core import SamplingParams
from minisgl.message import DetokenizeMsg
from minisgl.tokenizer import token_bytes
from minisgl.tokenizer.byte_detokenize import decode_certain

from .conftest import PATHS, manager_of, stream, tokenizer_named, whole_text

REPLACEMENT = "\ufffd"


@cache
def known_ids(name: str) -> tuple[list[int], list[int]]:
    """All ids of a tokenizer, and those that aren't whole characters by themselves."""
    tokenizer = tokenizer_named(name)
    everything = sorted(set(tokenizer.get_vocab().values()))
    table = token_bytes(tokenizer)
    if table is None:
        return everything, everything
    cut = [i for i in everything if REPLACEMENT in table.table[i].decode("utf-8", "replace")]
    return everything, cut


def ids_of(path: str, max_size: int = 24) -> st.SearchStrategy[list[int]]:
    """Ids that a model could emit, cut characters as often as whole words."""
    everything, cut = known_ids(path.split("/")[0])
    return st.lists(
        st.sampled_from(cut) | st.sampled_from(everything), min_size=1, max_size=max_size
    )


def calls_of(data: st.DataObject, messages: list[DetokenizeMsg]) -> list[list[DetokenizeMsg]]:
    """The messages cut into calls at random places."""
    calls, left = [], list(messages)
    while left:
        size = data.draw(st.integers(1, min(6, len(left))), label="messages in this call")
        calls.append(left[:size])
        left = left[size:]
    return calls


def messages_of(uid: int, ids: list[int]) -> list[DetokenizeMsg]:
    return [DetokenizeMsg(uid, token, place == len(ids) - 1) for place, token in enumerate(ids)]


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_1_nothing_lost_twice_or_taken_back(path, data):
    ids = data.draw(ids_of(path))
    pieces = stream(manager_of(path, eos_token_ids=()), ids)
    note(f"pieces {pieces}")
    assert "".join(pieces) == whole_text(tokenizer_named(path.split("/")[0]), ids)


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_1_an_aborted_reply_is_a_prefix(path, data):
    ids = data.draw(ids_of(path))
    manager = manager_of(path, eos_token_ids=())
    pieces = stream(manager, ids, finish=False)
    manager.abort(1)
    assert whole_text(tokenizer_named(path.split("/")[0]), ids).startswith("".join(pieces))
    assert manager.detokenize([DetokenizeMsg(1, ids[0], False)]) == [""]
    assert 1 not in manager.decode_map


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_2_never_half_a_character(path, data):
    """At each moment what was shown is a prefix of the whole, U+FFFD included."""
    ids = data.draw(ids_of(path))
    whole = whole_text(tokenizer_named(path.split("/")[0]), ids)
    shown = ""
    for piece in stream(manager_of(path, eos_token_ids=()), ids):
        shown += piece
        assert whole.startswith(shown)


@pytest.mark.parametrize("path", [path for path in PATHS if path.endswith("/bytes")])
@given(data=st.data())
def test_3_as_early_as_it_is_certain(path, data):
    """What all continuations share is shown: the decoding up to what is still incomplete."""
    ids = data.draw(ids_of(path))
    table = token_bytes(tokenizer_named(path.split("/")[0]))
    manager = manager_of(path, eos_token_ids=())
    shown, raw = "", b""
    for token in ids:
        raw += table.table[token]
        shown += manager.detokenize([DetokenizeMsg(1, token, False)])[0]
        continuations = [
            (raw + more).decode("utf-8", "replace")
            for more in (
                b"a",
                b"\x80",
                b"\x80\x80",
                b"\x80\x80\x80",
                b"\xbf\xbf\xbf",
                b"\x8f",
                b"\x9f\x80",
                b"\xa0\x80",
                b"\xbf",
            )
        ]
        certain = _common_prefix(continuations)
        if table.strip_space:
            certain = certain.removeprefix(" ")
        assert shown == certain


def _common_prefix(texts: list[str]) -> str:
    shortest = min(texts, key=len)
    for place, char in enumerate(shortest):
        if any(text[place] != char for text in texts):
            return shortest[:place]
    return shortest


def test_3_bytes_wait_only_while_they_can_become_a_character():
    """For all beginnings of up to three bytes, by trying every way to go on."""
    tails = [b"", *(bytes([b]) for b in range(0x80, 0xC0))]
    complete = {
        chr(point).encode() for point in range(0x80, 0x110000) if not 0xD800 <= point < 0xE000
    }
    beginnings = {char[:size] for char in complete for size in range(1, len(char))}
    for first in range(0x80, 0x100):
        for second in tails:
            for third in tails if second else [b""]:
                data = bytes([first]) + second + third
                if data in complete:
                    continue
                text, pending = decode_certain(data)
                assert pending == next(
                    (data[start:] for start in range(len(data)) if data[start:] in beginnings), b""
                )
                assert text == data[: len(data) - len(pending)].decode("utf-8", "replace")


SCRIPTS = {
    "Japanese": "日本語のストリーミングはひらがなとカタカナを含みます。",
    "Korean": "토크나이저는 한국어 문장을 조각으로 나눕니다",
    "Thai": "ภาษาไทยไม่มีช่องว่างระหว่างคำ",
    "Hindi": "हिन्दी में अक्षर कई बाइट के होते हैं",
    "Arabic": "النص العربي يكتب من اليمين إلى اليسار",
    "Chinese": "鱻䨻是生僻字，推理引擎逐字输出",
    "English": "Plain words are shown at once, without waiting for a space.",
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈🦩👍🏽",
}


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("path", [path for path in PATHS if path.split("/")[0] != "wordpiece"])
def test_3_no_script_waits_for_a_space(path, script):
    """After each token all characters whose last byte has come are shown."""
    name = path.split("/")[0]
    tokenizer = tokenizer_named(name)
    ids = tokenizer.encode(SCRIPTS[script], add_special_tokens=False)
    manager = manager_of(path)
    shown = ""
    for place, token in enumerate(ids):
        shown += manager.detokenize([DetokenizeMsg(1, token, False)])[0]
        so_far = whole_text(tokenizer, ids[: place + 1])
        assert shown == so_far.rstrip(REPLACEMENT)


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_5_order_and_grouping_do_not_matter(path, data):
    replies = {uid: data.draw(ids_of(path, 10), label=f"uid {uid}") for uid in (1, 2, 3)}
    queues = {uid: messages_of(uid, ids) for uid, ids in replies.items()}
    mixed = []
    while any(queues.values()):
        uid = data.draw(st.sampled_from([uid for uid, queue in queues.items() if queue]))
        mixed.append(queues[uid].pop(0))
    manager = manager_of(path, eos_token_ids=())
    text = dict.fromkeys(replies, "")
    for call in calls_of(data, mixed):
        for msg, piece in zip(call, manager.detokenize(call), strict=True):
            text[msg.uid] += piece
    for uid, ids in replies.items():
        assert text[uid] == whole_text(tokenizer_named(path.split("/")[0]), ids)
    assert not manager.decode_map


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_5_process_says_what_detokenize_says(path, data):
    ids = data.draw(ids_of(path))
    pieces = stream(manager_of(path, eos_token_ids=()), ids)
    manager = manager_of(path, eos_token_ids=())
    replies = [r for call in calls_of(data, messages_of(1, ids)) for r in manager.process(call)]
    assert [reply.incremental_output for reply in replies] == pieces
    assert [reply.finished for reply in replies] == [False] * (len(ids) - 1) + [True]


@pytest.mark.parametrize("path", PATHS)
def test_6_state_ends_with_the_reply_and_stays_ended(path):
    manager = manager_of(path)
    token = known_ids(path.split("/")[0])[0][50]
    manager.process([DetokenizeMsg(1, token, False)])
    assert 1 in manager.decode_map
    manager.process([DetokenizeMsg(1, token, True)])
    assert 1 not in manager.decode_map
    assert manager.process([DetokenizeMsg(1, token, False)]) == []
    assert 1 not in manager.decode_map
    manager.register(1, SamplingParams())  # a new request may take the uid
    assert manager.process([DetokenizeMsg(1, token, False)]) != []


@pytest.mark.parametrize("path", PATHS)
def test_6_the_oldest_request_is_ended_with_an_error_beyond_the_limit(path):
    name = path.split("/")[0]
    manager = manager_of(path, max_states=2)
    token = known_ids(name)[0][50]
    replies = [
        reply
        for uid in (1, 2, 3, 1)
        for reply in manager.process([DetokenizeMsg(uid, token, False)])
    ]
    [evicted] = [reply for reply in replies if reply.finished]
    assert (evicted.uid, evicted.finish_reason) == (1, "error")
    assert "more than 2 requests" in evicted.error
    assert set(manager.decode_map) == {2, 3}
    assert manager.take_aborts() == [1]
    assert manager.take_aborts() == []


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_7_a_bad_token_hurts_only_its_own_request(path, data):
    name = path.split("/")[0]
    good = data.draw(ids_of(path, 8))
    bad = data.draw(st.sampled_from([-1, -7, 10**9, 2**62]))
    manager = manager_of(path, eos_token_ids=())
    messages = messages_of(1, good)
    place = data.draw(st.integers(0, len(messages)))
    calls = calls_of(data, [*messages[:place], DetokenizeMsg(2, bad, False), *messages[place:]])
    replies = [reply for call in calls for reply in manager.process(call)]
    text = "".join(reply.incremental_output for reply in replies if reply.uid == 1)
    assert text == whole_text(tokenizer_named(name), good)
    [error] = [reply for reply in replies if reply.uid == 2]
    assert error.finished and error.finish_reason == "error" and str(bad) in error.error
    assert manager.process([DetokenizeMsg(2, good[0], False)]) == []  # not tried again
    assert manager.take_aborts() == [2]


@pytest.mark.parametrize("path", PATHS)
def test_7_what_was_held_is_shown_with_the_error(path):
    name = path.split("/")[0]
    cut = known_ids(name)[1][0]
    manager = manager_of(path, eos_token_ids=())
    replies = manager.process([DetokenizeMsg(1, cut, False), DetokenizeMsg(1, -1, False)])
    text = "".join(reply.incremental_output for reply in replies)
    assert text == whole_text(tokenizer_named(name), [cut])


@pytest.mark.parametrize("path", PATHS)
def test_8_eos_ends_and_is_not_text(path):
    name = path.split("/")[0]
    tokenizer = tokenizer_named(name)
    eos = tokenizer.eos_token_id
    word = tokenizer.encode("the", add_special_tokens=False)
    manager = manager_of(path)
    replies = manager.process(
        [*[DetokenizeMsg(1, i, False) for i in word], DetokenizeMsg(1, eos, True)]
    )
    assert "".join(r.incremental_output for r in replies) == whole_text(tokenizer, word)
    assert replies[-1].finish_reason == "stop"

    manager.register(2, SamplingParams(ignore_eos=True))
    replies = manager.process([DetokenizeMsg(2, word[0], False), DetokenizeMsg(2, eos, True)])
    assert "".join(r.incremental_output for r in replies) == whole_text(tokenizer, [word[0], eos])
    assert replies[-1].finish_reason == "length"

    replies = manager.process([DetokenizeMsg(3, eos, False), DetokenizeMsg(3, word[0], True)])
    assert "".join(r.incremental_output for r in replies) == whole_text(tokenizer, [eos, word[0]])


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
def test_8_special_tokens_are_left_out_where_asked(path, data):
    tokenizer = tokenizer_named(path.split("/")[0])
    ids = data.draw(ids_of(path, 8))
    special = data.draw(st.sampled_from(sorted(tokenizer.all_special_ids)))
    place = data.draw(st.integers(0, len(ids)))
    mixed = [*ids[:place], special, *ids[place:]]
    pieces = stream(manager_of(path, eos_token_ids=(), skip_special_tokens=True), mixed)
    added = tokenizer.backend_tokenizer.get_added_tokens_decoder()
    left = [token for token in mixed if token not in added or not added[token].special]
    assert "".join(pieces) == whole_text(tokenizer, left)
