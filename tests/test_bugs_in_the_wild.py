"""Each kind of fault that a real engine had (../shared/bugs.md), as a test of its own.

Where the published window algorithm (``benchmarks/published.py``) has the fault, the test shows
that too: a proof of absence is worth something only beside the presence. The process's rows are in
``test_worker.py``, those of tokenizing in ``test_tokenize.py``, stop strings in ``test_stop.py``.
"""

from __future__ import annotations

import pytest

from benchmarks.published import PublishedDetokenizeManager
from minisgl.message import DetokenizeMsg
from minisgl.tokenizer import DetokenizeManager, find_printable_text
from minisgl.utils import eos_token_ids

from .conftest import manager_of, stream, tokenizer_named, whole_text

QWEN3 = ("qwen3/bytes", "qwen3/windows")


def published(name="qwen3"):
    return PublishedDetokenizeManager(tokenizer_named(name))


@pytest.mark.parametrize("path", QWEN3)
def test_two_tokens_of_one_request_in_one_call(path):
    ids = [832, 1378, 2326, 3040]
    calls = [[ids[0]], ids[1:3], [ids[3]]]

    def texts(manager):
        messages = [[DetokenizeMsg(1, token, False) for token in call] for call in calls]
        return "".join(piece for call in messages for piece in manager.detokenize(call))

    assert texts(manager_of(path)) == whole_text(tokenizer_named("qwen3"), ids)
    assert texts(published()) != whole_text(tokenizer_named("qwen3"), ids)


@pytest.mark.parametrize("path", QWEN3)
def test_finish_in_the_same_call_as_an_earlier_token(path):
    call = [DetokenizeMsg(1, 832, False), DetokenizeMsg(1, 1378, True)]
    manager = manager_of(path)
    assert "".join(manager.detokenize(call)) == tokenizer_named("qwen3").decode([832, 1378])
    assert 1 not in manager.decode_map
    with pytest.raises(KeyError):  # sglang#2812
        published().detokenize([call[1], DetokenizeMsg(1, 2326, True), call[0]][::-1] + call)


@pytest.mark.parametrize("path", QWEN3)
@pytest.mark.parametrize(("ids", "text"), [([136516], "インター\ufffd"), ([64, 5691], "a\ufffd")])
def test_the_tail_is_not_lost_at_the_end(path, ids, text):
    """Cut by the length limit, and a U+FFFD that the model really prints."""
    assert "".join(stream(manager_of(path), ids)) == text
    assert "".join(stream(published(), ids)) != text
    eos = tokenizer_named("qwen3").eos_token_id
    manager = manager_of(path)
    pieces = stream(manager, ids, finish=False) + manager.detokenize([DetokenizeMsg(1, eos, True)])
    assert "".join(pieces) == text


@pytest.mark.parametrize("path", QWEN3)
def test_no_text_is_taken_back_and_sent_twice(path):
    """A part is shown; then a longer part comes of which less is printable (sglang#31598)."""
    tokenizer = tokenizer_named("qwen3")
    ids = [*tokenizer.encode("推"), 46602]  # whole, then a blank and two bytes of another
    text = "".join(stream(manager_of(path), [*ids, 101]))
    assert text == tokenizer.decode([*ids, 101])


@pytest.mark.parametrize("name", ["qwen3", "deepseek-v4"])
def test_endless_invalid_bytes_are_shown_at_once(name):
    token = {"qwen3": 222, "deepseek-v4": 100}[name]
    pieces = stream(manager_of(f"{name}/bytes"), [token] * 500)
    shown = "".join(pieces[:400])
    assert len(shown) >= 399 and set(shown) == {"\ufffd"}
    windows = "".join(stream(manager_of(f"{name}/windows"), [token] * 500)[:400])
    assert len(windows) == 399  # the last may still become a character, for all that a decode tells
    assert stream(published(name), [token] * 500)[:400] == [""] * 400


@pytest.mark.parametrize("path", QWEN3)
@pytest.mark.parametrize(
    "text",
    ["ストリーミングです", "토크나이저는", "ภาษาไทย", "हिन्दी", "العربية"],
    ids=["Japanese", "Korean", "Thai", "Hindi", "Arabic"],
)
def test_no_script_is_held_until_a_space(path, text):
    """One token with whole letters and a cut one: the letters come now."""
    tokenizer = tokenizer_named("qwen3")
    ids = tokenizer.encode(text)
    shown = ""
    for place, piece in enumerate(stream(manager_of(path), ids, finish=False)):
        shown += piece
        assert shown == tokenizer.decode(ids[: place + 1]).rstrip("\ufffd")


@pytest.mark.parametrize("path", QWEN3)
def test_whole_characters_are_not_held_with_a_cut_one(path):
    assert stream(manager_of(path), [54699], finish=False) == ["обра"]
    assert stream(published(), [54699], finish=False) == [""]


@pytest.mark.parametrize("path", ["mistral-v1/bytes", "mistral-v1/windows"])
def test_byte_fallback_does_not_rewrite_earlier_text(path):
    ids = [12014, 198, 172, 258, 264]
    pieces = stream(manager_of(path), ids)
    assert "".join(pieces) == "hié\ufffd a"
    assert "é" not in tokenizer_named("mistral-v1").decode(ids)  # Hugging Face takes it back


@pytest.mark.parametrize("manager", [DetokenizeManager])
def test_clean_up_of_spaces_eats_no_letters(manager):
    tokenizer = tokenizer_named("qwen3")
    tokenizer.clean_up_tokenization_spaces = True
    try:
        for text in ("{ 's'}", "for 'manual'", "a , b . c", "I 'm do n't"):
            assert "".join(stream(manager(tokenizer), tokenizer.encode(text))) == text
    finally:
        tokenizer.clean_up_tokenization_spaces = False


@pytest.mark.parametrize("path", ["mistral-v1/bytes", "mistral-v1/windows", "unigram/windows"])
def test_spaces_are_neither_glued_nor_doubled(path):
    tokenizer = tokenizer_named(path.split("/")[0])
    for text in ("hello world", "the  quick   brown", " leading", "streaming text: naïve"):
        ids = tokenizer.encode(text, add_special_tokens=False)
        assert "".join(stream(manager_of(path), ids)) == tokenizer.decode(ids)


def test_sentencepiece_pieces_join_to_words(mistral):
    ids = mistral.convert_tokens_to_ids(["▁hell", "o", "▁world"])
    assert "".join(stream(manager_of("mistral-v1/bytes"), ids)) == "hello world"


@pytest.mark.parametrize("path", QWEN3)
def test_special_tokens_in_the_middle(path):
    ids = [9707, 151644, 1879]
    assert "".join(stream(manager_of(path), ids)) == "Hello<|im_start|> world"
    skipping = manager_of(path, skip_special_tokens=True)
    assert "".join(stream(skipping, ids)) == "Hello world"


@pytest.mark.parametrize("path", QWEN3)
def test_any_eos_id_ends_and_none_is_shown(path):
    assert eos_token_ids(tokenizer_named("qwen3")) == {151643, 151645}
    for eos in (151643, 151645):
        manager = manager_of(path)
        first, last = manager.process([DetokenizeMsg(1, 64, False), DetokenizeMsg(1, eos, True)])
        assert first.incremental_output + last.incremental_output == "a"
        assert last.finish_reason == "stop"
    assert "<|endoftext|>" in "".join(stream(published(), [64, 151643]))  # vllm#4180


def test_a_late_token_brings_no_state_back():
    """Overlap scheduling sends one more token after the end (sglang PR#12205)."""
    for path in QWEN3:
        manager = manager_of(path)
        for uid in range(100):
            manager.process([DetokenizeMsg(uid, 64, True)])
            manager.process([DetokenizeMsg(uid, 64, False)])
        assert manager.decode_map == {}
    leaking = published()
    for uid in range(100):
        leaking.detokenize([DetokenizeMsg(uid, 64, True)])
        leaking.detokenize([DetokenizeMsg(uid, 64, False)])
    assert len(leaking.decode_map) == 100


def test_the_published_heuristic_stays_as_published():
    assert find_printable_text("two words") == "two "
    assert find_printable_text("line\n") == "line\n"
    assert find_printable_text("推理") == "推理"
    assert find_printable_text("推理a") == "推理"
    assert find_printable_text("インター") == ""  # kana wait for a space that never comes
    assert find_printable_text("") == ""
