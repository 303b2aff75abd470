"""The recorded streams: exact pieces by bytes, exact text by either path."""

from __future__ import annotations

import pytest

from .conftest import manager_of, stream, streaming_cases, tokenizer_named, whole_text

CASES = streaming_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_byte_path_gives_the_recorded_pieces(case):
    manager = manager_of(f"{case['tokenizer']}/bytes", eos_token_ids=())
    assert stream(manager, case["ids"]) == case["pieces"]
    assert not manager.decode_map


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_windows_give_the_recorded_text(case):
    manager = manager_of(f"{case['tokenizer']}/windows", eos_token_ids=())
    assert "".join(stream(manager, case["ids"])) == case["text"]


def test_recorded_text_is_what_the_tokenizer_decodes():
    for case in CASES:
        assert whole_text(tokenizer_named(case["tokenizer"]), case["ids"]) == case["text"]


def test_windows_show_whole_characters_when_their_last_byte_comes():
    """Where nothing is invalid the two paths show the same at the same time."""
    same = [case for case in CASES if "\ufffd" not in case["text"]]
    assert len(same) > 50
    for case in same:
        manager = manager_of(f"{case['tokenizer']}/windows")
        assert stream(manager, case["ids"]) == case["pieces"], case["id"]
