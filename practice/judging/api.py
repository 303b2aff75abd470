"""What `test.py` of an exercise is written with; `practice/exercises/AUTHORING.md` tells how.

Tests are plain pytest functions that ask for the fixture ``submission``. These helpers make a
failing test say what a learner needs: the smallest input, expected and got.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from .visible import visible, visible_parts

__all__ = [
    "Counted",
    "expect",
    "expect_equal",
    "expect_raises",
    "raw_tokenizer",
    "showing",
    "texts",
    "token_ids",
    "tokenizer",
    "true_decode",
]


class MismatchError(AssertionError):
    """What a test expected and didn't get, already made visible."""

    def __init__(self, message: str, expected: str | None, got: str | None) -> None:
        super().__init__(message or f"expected {expected}, got {got}")
        self.message = message
        self.expected = expected
        self.got = got
        _SHOWN.failure = {
            "message": message,
            "expected": expected,
            "got": got,
            "input": current_input(),
            "stream": current_stream(),
        }


class _Shown:
    """The input that the running test tries now."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.failure: dict[str, Any] | None = None


_SHOWN = _Shown()


def showing(**values: Any) -> None:
    """Says which input the test tries now; call it before each call of the learner's code.

    Shown as the smallest input when the test fails, in any way: a difference, an exception, a hang.
    ``showing(ids=ids, tokenizer="qwen3")`` can be replayed in the widget.
    """
    _SHOWN.values = values


def expect_equal(got: Any, expected: Any, message: str = "", **values: Any) -> None:
    """Fails where `got` isn't `expected`: equal, and of the same types all through.

    The types count since an object of the learner's own class could call itself equal to anything.
    Lists and tuples are told apart; torch tensors are compared by dtype, shape and values.

    Args:
        got: what the learner's code returned.
        expected: what it should have been.
        message: what this is, where the input doesn't tell it.
        values: as for `showing`.
    """
    if values:
        showing(**values)
    if not _same(got, expected):
        raise MismatchError(message, visible(expected), visible(got))


def expect(condition: bool, message: str, *, expected: Any = None, got: Any = None) -> None:
    """Fails with `message` where `condition` isn't true.

    Args:
        condition: what must hold; work it out of plain values, not of the learner's objects.
        message: one sentence to the learner: what must hold.
        expected: shown where it isn't None; a text is shown as it stands.
        got: likewise.
    """
    if condition is not True:
        raise MismatchError(message, _told(expected), _told(got))


def expect_raises(kind: type[BaseException], call: Callable[[], Any], message: str = "") -> None:
    """Fails where `call()` doesn't raise `kind`."""
    try:
        got = call()
    except kind:
        return
    except Exception as error:
        raise MismatchError(message, f"{kind.__name__} is raised", _raised(error)) from error
    raise MismatchError(message, f"{kind.__name__} is raised", f"{visible(got)} is returned")


class Counted:
    """A tokenizer (or any object) that counts the calls of its methods.

    >>> counted = Counted(tokenizer("qwen3"))
    >>> counted.decode([1]); counted.calls["decode"]
    1
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found) or name.startswith("__"):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls[name] += 1
            return found(*args, **kwargs)

        return call

    def __len__(self) -> int:
        return len(self._inner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the object itself; counted as ``__call__``."""
        self.calls["__call__"] += 1
        return self._inner(*args, **kwargs)


@cache
def tokenizer(alias: str) -> Any:
    """A bundled transformers tokenizer; loaded beforehand where the front matter lists it.

    Needs ``needs: [transformers]`` and ``tokenizers: [alias]``.
    """
    from minisgl.utils import load_tokenizer

    return load_tokenizer(alias)


@cache
def raw_tokenizer(alias: str) -> Any:
    """The same tokenizer as a ``tokenizers.Tokenizer``: without transformers and torch.

    Its ``decode`` leaves special tokens out unless told ``skip_special_tokens=False``.
    """
    return _read_tokenizer(alias)


def true_decode(alias: str, ids: Iterable[int]) -> str:
    """The text of `ids`, special tokens included, whatever the learner did to the tokenizer.

    For what is expected, never for what the learner's code gets.
    """
    text: str = _decoder(alias)(list(ids))
    return text


@cache
def _decoder(alias: str) -> Callable[[list[int]], str]:
    """A decode of its own tokenizer, with the method taken from the class beforehand."""
    from tokenizers import Tokenizer

    decode, mine = Tokenizer.decode, _read_tokenizer(alias)
    return lambda ids: decode(mine, ids, skip_special_tokens=False)


def _read_tokenizer(alias: str) -> Any:
    from tokenizers import Tokenizer

    from minisgl.utils.models import build_model

    folder = Path(alias) if os.sep in alias else build_model(alias)
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def texts(max_size: int = 20) -> Any:
    """A hypothesis strategy: texts of many scripts, emoji, line ends, U+FFFD; no surrogates."""
    from hypothesis import strategies as st

    few = "a b\n e\u0301é ß 推理鱻東 かなカナ 한글 ภาษา हिन्दी عربي 🦩👩\u200d🚀 \ufffd\u00a0\t"
    # A smallest example should be one that can be read: no control characters and the like.
    readable = st.characters(exclude_categories=("Cc", "Cf", "Cn", "Co", "Cs"))
    chars = st.one_of(st.sampled_from(few), readable)
    return st.text(chars, max_size=max_size)


def token_ids(alias: str, max_size: int = 12, min_size: int = 0) -> Any:
    """A hypothesis strategy: lists of token ids, as a model can emit them, cut characters too."""
    from hypothesis import strategies as st

    return st.lists(st.integers(0, _size(alias) - 1), min_size=min_size, max_size=max_size)


@cache
def _size(alias: str) -> int:
    return int(_read_tokenizer(alias).get_vocab_size())


def _same(got: Any, expected: Any) -> bool:
    if type(got) is not type(expected):
        return False
    if type(expected) in (list, tuple):
        pairs = zip(got, expected, strict=False)
        return len(got) == len(expected) and all(_same(a, b) for a, b in pairs)
    if type(expected) is dict:
        if len(got) != len(expected):
            return False
        return all(key in got and _same(got[key], value) for key, value in expected.items())
    if type(expected).__module__ == "torch":
        import torch

        same_kind = got.dtype == expected.dtype and got.shape == expected.shape
        return bool(same_kind and torch.equal(got, expected))
    return bool(got == expected)


def _told(value: Any) -> str | None:
    return value if value is None or type(value) is str else visible(value)


def _raised(error: BaseException) -> str:
    return f"{type(error).__name__} is raised"


def current_input() -> dict[str, str]:
    """The running test's input, made visible."""
    return visible_parts(_SHOWN.values)


def current_stream() -> dict[str, Any] | None:
    """The running test's input as plain data, where all of it is."""
    try:
        text = json.dumps(_SHOWN.values)
        return json.loads(text) if _SHOWN.values and len(text) < 20_000 else None
    except (TypeError, ValueError, RecursionError):
        return None


def known_failure() -> dict[str, Any] | None:
    """The last difference that the running test found; it may still be being made smaller."""
    return _SHOWN.failure


def forget_input() -> None:
    """A new test begins."""
    _SHOWN.values, _SHOWN.failure = {}, None
