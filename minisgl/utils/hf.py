"""Tokenizers by folder, alias or hub id, without a network."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .models import MODELS, ModelError, build_model, model_folder

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def load_tokenizer(name_or_path: str | Path) -> PreTrainedTokenizerBase:
    """The tokenizer of a model.

    Args:
        name_or_path: a folder; an alias (``qwen3``, ``deepseek-v4``, ``mistral-v1``, ``smollm2``);
            or a hub id. ``Qwen/Qwen3-0.6B`` is taken from the hub's cache where it lies there, else
            from the bundled vocabulary, whose ids are the same. Nothing is downloaded for a
            bundled model.

    Raises:
        ModelError: no such tokenizer here; the message lists what there is.
    """
    name = str(name_or_path)
    folder = Path(name)
    if not folder.is_dir():
        alias = _bundled_alias(name)
        if alias is not None:
            cached = _hub_cache_folder(name, "tokenizer_config.json")
            folder = cached.parent if cached else build_model(alias)
    return _from_pretrained(str(folder) if folder.is_dir() else name)


def eos_token_ids(tokenizer: Any) -> frozenset[int]:
    """All token ids that end a reply of this model.

    A model may have several: ``generation_config.json`` beside the tokenizer lists them (Qwen3:
    ``<|im_end|>`` and ``<|endoftext|>``), the tokenizer itself names only one (vllm#4180 is what
    happens when the others are forgotten).
    """
    found = {getattr(tokenizer, "eos_token_id", None)}
    name = str(getattr(tokenizer, "name_or_path", ""))
    path = Path(name) / "generation_config.json" if name else None
    if path is not None and not path.is_file():
        path = _hub_cache_folder(name, "generation_config.json")
    if path is not None:
        listed = json.loads(path.read_text(encoding="utf-8")).get("eos_token_id")
        found.update(listed if isinstance(listed, list) else [listed])
    return frozenset(token for token in found if isinstance(token, int))


def _bundled_alias(name: str) -> str | None:
    """The alias that `name` means: itself, a hub id, or a path to where its folder would be."""
    for alias, model in MODELS.items():
        if name in (alias, model.hub_id) or Path(name) == Path("models", model.folder):
            return alias
        if Path(name) == model_folder(alias):
            return alias
    return None


def _hub_cache_folder(name: str, filename: str) -> Path | None:
    """The file of a hub model where the hub's local cache holds it; never asks the network."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, filename)
    except (HFValidationError, OSError):
        return None
    return Path(found) if isinstance(found, str) else None


def _from_pretrained(name: str) -> PreTrainedTokenizerBase:
    from transformers import AutoTokenizer

    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(name)
    except Exception as error:  # transformers raises a dozen kinds here, each for "can't load"
        first_line = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"no tokenizer at {name!r}: {first_line[:200]} "
            f"Give a folder that holds one, or an alias: {', '.join(MODELS)}."
        ) from error
    # Clean-up takes spaces, and with some tokenizers letters, out of the text after decoding
    # (lmdeploy#2190, transformers#32575): streamed text must be verbatim.
    tokenizer.clean_up_tokenization_spaces = False
    return tokenizer
