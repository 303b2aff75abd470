"""Tests of `byte-table`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hypothesis import given, settings
from practice.judging.api import (
    expect,
    expect_equal,
    raw_tokenizer,
    showing,
    texts,
    token_ids,
    true_decode,
)

_TABLES: dict[str, dict[int, bytes]] = {}


def table_of(submission: ModuleType, alias: str) -> dict[int, bytes]:
    """The learner's table of a whole vocabulary, made once in a run."""
    if alias not in _TABLES:
        whole = raw_tokenizer(alias)
        vocab = whole.get_vocab(with_added_tokens=False)
        added = {t.content: i for i, t in whole.get_added_tokens_decoder().items()}
        vocab = {entry: token for entry, token in vocab.items() if entry not in added}
        _TABLES[alias] = submission.byte_table(vocab, added)
    return _TABLES[alias]


class Lookups(dict[int, bytes]):
    """A table that counts how often it is asked."""

    count = 0

    def __getitem__(self, token: int) -> bytes:
        self.count += 1
        return super().__getitem__(token)

    def get(self, token: int, default: Any = None) -> Any:
        self.count += 1
        return super().get(token, default)


def test_example_table(submission: ModuleType) -> None:
    """Each character of an entry is one byte; an added token is its own text.

    See: lesson 10, "Token to bytes"
    """
    vocab, added = {"Ġa": 7, "é±": 8}, {"<end>": 9}
    showing(vocab=vocab, added=added)
    expect_equal(submission.byte_table(vocab, added), {7: b" a", 8: b"\xe9\xb1", 9: b"<end>"})


def test_example_cut_character(submission: ModuleType) -> None:
    """A character that is cut over two tokens comes with the second.

    See: lesson 10, "A decoder that waits"
    """
    table = {8: b"\xe9\xb1", 6: b"\xbb"}
    showing(table=table, tokens=[8, 6])
    detokenizer = submission.ByteDetokenizer(table)
    expect_equal([detokenizer.push(8), detokenizer.push(6), detokenizer.finish()], ["", "鱻", ""])


def test_added_tokens(submission: ModuleType) -> None:
    """An added token stands for its own text, whatever characters that has.

    See: lesson 10, "Token to bytes"
    """
    added = {"<｜User｜>": 3, "<end of é>": 4}
    showing(vocab={"a": 1}, added=added)
    expected = {1: b"a", 3: "<｜User｜>".encode(), 4: "<end of é>".encode()}
    expect_equal(submission.byte_table({"a": 1}, added), expected)


def test_all_256_bytes(submission: ModuleType) -> None:
    """Every byte has its character, and comes back as itself.

    See: lesson 10, "Token to bytes"
    """
    table = table_of(submission, "qwen3")
    single = sorted({raw for raw in table.values() if len(raw) == 1})
    expect_equal(len(single), 256, "the vocabulary has one token for each of the 256 bytes")


@settings(max_examples=40)
@given(ids=token_ids("qwen3"))
def test_exact(submission: ModuleType, ids: list[int]) -> None:
    """All pieces together are the text of all ids, for any ids that a model can emit.

    See: lesson 10, "Exact"
    """
    table = table_of(submission, "qwen3")
    showing(ids=ids, tokenizer="qwen3")
    detokenizer = submission.ByteDetokenizer(table)
    pieces = [detokenizer.push(token) for token in ids]
    expect_equal("".join([*pieces, detokenizer.finish()]), true_decode("qwen3", ids))


@settings(max_examples=40)
@given(text=texts())
def test_no_character_late(submission: ModuleType, text: str) -> None:
    """After each token all characters are shown whose last byte has come.

    See: lesson 10, "Early"
    """
    table = table_of(submission, "qwen3")
    ids = raw_tokenizer("qwen3").encode(text).ids
    detokenizer = submission.ByteDetokenizer(table)
    shown = ""
    for place, token in enumerate(ids):
        showing(ids=ids[: place + 1], tokenizer="qwen3")
        shown += detokenizer.push(token)
        raw = b"".join(table[seen] for seen in ids[: place + 1])
        expect_equal(shown, raw.decode("utf-8", errors="ignore") if "\ufffd" not in text else shown)


def test_invalid_bytes_are_shown(submission: ModuleType) -> None:
    """Bytes that can't become a character are U+FFFD, and the text after them goes on.

    See: lesson 10, "Exact"
    """
    table = {1: b"\x80", 2: b"a"}
    showing(table=table, tokens=[1, 2])
    detokenizer = submission.ByteDetokenizer(table)
    expect_equal(detokenizer.push(1) + detokenizer.push(2), "\ufffda")


def test_tail(submission: ModuleType) -> None:
    """What is still held when the reply ends is shown: U+FFFD for a cut character.

    See: lesson 10, "Exact"
    """
    table = {8: b"a\xe9\xb1"}
    showing(table=table, tokens=[8])
    detokenizer = submission.ByteDetokenizer(table)
    expect_equal([detokenizer.push(8), detokenizer.finish()], ["a", "\ufffd"])


def test_work_is_constant(submission: ModuleType) -> None:
    """A token is looked up once, however long the reply is.

    See: lesson 10, "Flat"
    """
    table = Lookups({0: b"word ", 1: b"\xe9", 2: b"\xb1", 3: b"\xbb"})
    detokenizer = submission.ByteDetokenizer(table)
    showing(tokens="2000 tokens", table=dict(table))
    for number in range(2000):
        detokenizer.push(number % 4)
    expect(
        table.count <= 2 * 2000,
        "The table was asked more often than twice a token.",
        expected="4000 look-ups at the most",
        got=f"{table.count} look-ups",
    )


def test_keeps_little(submission: ModuleType) -> None:
    """What is kept for a reply does not grow with it.

    See: lesson 10, "Flat"
    """
    table = {0: b"word ", 1: b"\xe9", 2: b"\xb1", 3: b"\xbb"}
    detokenizer = submission.ByteDetokenizer(table)
    showing(tokens="2000 tokens", table=table)
    for number in range(2000):
        detokenizer.push(number % 4)
    kept = {
        name: len(value)
        for name, value in vars(detokenizer).items()
        if isinstance(value, str | bytes | bytearray | list | tuple) and value is not table
    }
    longest = max(kept.values(), default=0)
    expect(
        longest <= 64,
        "After 2000 tokens an attribute of your detokenizer holds more than 64 items.",
        expected="64 at the most",
        got=kept,
    )
