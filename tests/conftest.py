"""Tokenizers and managers that many tests share; each is made once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from minisgl.message import DetokenizeMsg
from minisgl.tokenizer import ByteDetokenizeManager, DetokenizeManager, token_bytes
from minisgl.utils import load_tokenizer

DATA = Path(__file__).parent / "data"

settings.register_profile(
    "course",
    deadline=None,  # a test never judges by a clock
    derandomize=True,  # the same streams on every machine, so that a failure is everyone's
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("course")

BUNDLED = ("qwen3", "deepseek-v4", "smollm2", "mistral-v1")
TRAINED = ("wordpiece", "unigram")

CORPUS = [
    "the quick brown fox isn't jumping over the lazy dogs, is it?",
    "streaming text: naïve café, résumé. Ünïcödé words; numbers 1 23 456",
    "推理引擎 流式输出 文本 東京 ひらがな カタカナ 한국어 ภาษาไทย हिन्दी العربية русский",
    "def main(argument): return {'s': argument} # code\n\twith tabs",
] * 30


def _trained(kind: str) -> Any:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    if kind == "wordpiece":
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece(cleanup=True)
        trainer = trainers.WordPieceTrainer(
            vocab_size=700, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[EOS]"], show_progress=False
        )
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=500,
            special_tokens=["<unk>", "[EOS]"],
            unk_token="<unk>",
            show_progress=False,
        )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="[EOS]", clean_up_tokenization_spaces=False
    )


@cache
def tokenizer_named(name: str) -> Any:
    """A bundled or a trained tokenizer."""
    return _trained(name) if name in TRAINED else load_tokenizer(name)


def whole_text(tokenizer: Any, ids: Sequence[int]) -> str:
    """The truth for a stream: one decode of all ids (for byte fallback, of their bytes)."""
    table = token_bytes(tokenizer)
    if table is not None and table.byte_fallback:
        return table.decode(ids)
    return str(tokenizer.decode(list(ids), skip_special_tokens=False))


PATHS: dict[str, Callable[..., Any]] = {
    **{f"{name}/bytes": ByteDetokenizeManager for name in BUNDLED},
    **{f"{name}/windows": DetokenizeManager for name in (*BUNDLED, *TRAINED)},
}
"""Each tokenizer with each manager that works for it."""


def manager_of(path: str, **options: Any) -> Any:
    """A fresh manager, by a name out of `PATHS`."""
    return PATHS[path](tokenizer_named(path.split("/")[0]), **options)


def stream(manager: Any, ids: Sequence[int], uid: int = 1, finish: bool = True) -> list[str]:
    """Pieces of a reply that comes token by token and ends with its last token."""
    last = len(ids) - 1
    return [
        manager.detokenize([DetokenizeMsg(uid, token, finish and place == last)])[0]
        for place, token in enumerate(ids)
    ]


def streaming_cases() -> list[dict[str, Any]]:
    """The recorded streams."""
    text = (DATA / "streaming.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="session")
def qwen3() -> Any:
    return tokenizer_named("qwen3")


@pytest.fixture(scope="session")
def mistral() -> Any:
    return tokenizer_named("mistral-v1")
