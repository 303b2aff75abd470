"""Promise 4, by counting work: tokens decoded, characters handled, tokens pending."""

from __future__ import annotations

import pytest

from minisgl.message import DetokenizeMsg
from minisgl.tokenizer.detokenize import MAX_PENDING

from .conftest import PATHS, manager_of, tokenizer_named

LONG = 32_000
ENDLESS = {"qwen3": [222], "deepseek-v4": [100], "smollm2": None, "mistral-v1": [3 + 0x80]}
WINDOW_TOKENS = 5 * MAX_PENDING
"""Tokens that one step of the windows may decode: both windows, and a look at a new beginning."""


def dead_bytes(name: str) -> list[int]:
    """Ids whose bytes never become a character."""
    if ENDLESS.get(name):
        return ENDLESS[name]
    backend = tokenizer_named(name).get_vocab()
    return [backend["Ń"] if "Ń" in backend else backend["Ģ"]]


def counted(manager):
    """The largest number of tokens that one step decodes, and the total."""
    steps: list[int] = []
    decode = manager._decode_batch

    def counting(batch):
        steps.append(sum(map(len, batch)))
        return decode(batch)

    manager._decode_batch = counting
    return steps


@pytest.mark.parametrize("path", [path for path in PATHS if path.endswith("/windows")])
@pytest.mark.parametrize("what", ["text", "dead bytes"])
def test_windows_decode_a_bounded_number_of_tokens(path, what):
    name = path.split("/")[0]
    if what == "dead bytes" and name in ("wordpiece", "unigram"):
        pytest.skip("these tokenizers have no bytes")
    tokenizer = tokenizer_named(name)
    text = "the 推理 naïve café streams text. "
    ids = (
        dead_bytes(name)
        if what == "dead bytes"
        else tokenizer.encode(text, add_special_tokens=False)
    )
    ids = (ids * LONG)[:LONG]
    manager = manager_of(path, eos_token_ids=())
    steps = counted(manager)
    done, most_pending = 0, 0
    for token in ids:
        before = len(steps)
        manager.detokenize([DetokenizeMsg(1, token, False)])
        assert sum(steps[before:]) <= WINDOW_TOKENS
        state = manager.decode_map[1]
        most_pending = max(most_pending, len(state.decoded_ids) - state.read_offset)
        done += 1
    assert done == LONG
    assert most_pending <= MAX_PENDING


@pytest.mark.parametrize("path", [path for path in PATHS if path.endswith("/bytes")])
@pytest.mark.parametrize("what", ["text", "dead bytes"])
def test_bytes_keep_at_most_three(path, what):
    name = path.split("/")[0]
    text = "the 推理 naïve café 🦩 streams text. "
    ids = (
        dead_bytes(name)
        if what == "dead bytes"
        else tokenizer_named(name).encode(text, add_special_tokens=False)
    )
    manager = manager_of(path, eos_token_ids=())
    for token in (ids * LONG)[:LONG]:
        [piece] = manager.detokenize([DetokenizeMsg(1, token, False)])
        assert len(manager.decode_map[1].pending) <= 3
        assert len(piece) <= 80  # a piece is one token's text, never the reply's
        if what == "dead bytes" and name == "qwen3":
            assert piece == "\ufffd"  # final at once


def test_states_do_not_keep_the_text():
    """What a state holds besides ids doesn't grow: no token copies the reply."""
    for path in ("qwen3/windows", "qwen3/bytes"):
        manager = manager_of(path)
        for token in [1782] * 5000:
            manager.detokenize([DetokenizeMsg(1, token, False)])
        state = manager.decode_map[1]
        strings = [getattr(state, name) for name in state.__dataclass_fields__]
        assert not [
            value for value in strings if isinstance(value, str | bytes) and len(value) > 64
        ]
