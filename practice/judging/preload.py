"""Loads what submissions need into the warm process, once."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import warnings
from typing import Any

from . import api
from .exercises import Needs
from .integrity import Snapshot
from .paths import cache_dir

PYTEST_OPTIONS = (
    "-c", os.devnull, "--noconftest", "--import-mode=importlib", "--strict-markers",
    *(f"-pno:{name}" for name in (
        "cacheprovider", "terminal", "capture", "faulthandler", "logging", "doctest", "unittest",
        "junitxml", "pastebin", "stepwise", "unraisableexception", "threadexception", "debugging",
    )),
)  # fmt: skip
QUIET = {
    "TOKENIZERS_PARALLELISM": "false",  # a fork after a parallel batch deadlocks
    "OMP_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
KEPT = (
    "PATH", "LANG", "LC_", "TZ", "TMP", "TEMP", "HOME", "VIRTUAL_ENV", "PYTHON", "MINISGL_",
    "HF_HOME", "HF_HUB_CACHE", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    "SYSTEMROOT", "WINDIR", "COMSPEC", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
)  # fmt: skip
_loaded: set[str] = set()
_classes: set[type] = set()


def environment() -> dict[str, str]:
    """Variables for the warm process: none that could hold a password of whoever judges."""
    kept = {name: value for name, value in os.environ.items() if name.upper().startswith(KEPT)}
    moved = {"HYPOTHESIS_STORAGE_DIRECTORY": str(cache_dir() / "hypothesis")}
    return {**kept, **QUIET, **moved}


def preload(needs: Needs) -> None:
    """Imports the modules, loads the tokenizers and makes hypothesis ready; a second time is free.

    Raises:
        ImportError: a module isn't installed.
    """
    _load_hypothesis()
    wanted = {*needs.modules, *(f"tokenizer {alias}" for alias in needs.tokenizers)}
    if wanted <= _loaded:
        return
    for name in needs.modules:
        importlib.import_module(name)
    for alias in needs.tokenizers:
        _load_tokenizer(alias, needs)
    _loaded.update(wanted)
    _classes.update(type(tokenizer) for tokenizer in _tokenizers(needs))
    gc.collect()
    gc.freeze()  # what is loaded isn't looked at again, so that forks share its pages


def snapshot() -> Snapshot:
    """The functions and methods that judge, as they are now, before the submission's code runs."""
    return Snapshot(tuple(_classes))


def _load_tokenizer(alias: str, needs: Needs) -> None:
    """Loads a tokenizer, and what is worked out of its vocabulary once and then kept."""
    if "transformers" in needs.modules:
        api.tokenizer(alias).decode([1])
        if "minisgl.tokenizer" in needs.modules:
            from minisgl.tokenizer import DetokenizeManager

            DetokenizeManager(api.tokenizer(alias))
    api.raw_tokenizer(alias)
    api.true_decode(alias, [1])
    api.token_ids(alias)


def _tokenizers(needs: Needs) -> list[Any]:
    found = [api.raw_tokenizer(alias) for alias in needs.tokenizers]
    if "transformers" in needs.modules:
        found += [api.tokenizer(alias) for alias in needs.tokenizers]
    return found


def _load_hypothesis() -> None:
    if "hypothesis" in _loaded:
        return
    import pytest
    from hypothesis import HealthCheck, Phase, find, settings

    settings.register_profile(
        "judge",
        database=None,
        deadline=None,
        derandomize=True,
        max_examples=100,
        report_multiple_bugs=False,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("judge")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        find(api.texts(), lambda text: "\u00e9" in text)  # reads its tables of Unicode once
    _take_no_constants()
    assert pytest.__version__
    _loaded.add("hypothesis")


def _take_no_constants() -> None:
    """Stops hypothesis from trying numbers and texts that it reads in the submission's own source.

    Otherwise a comment could change which example is found, and the verdict with it.
    """
    with contextlib.suppress(ImportError, AttributeError):
        from hypothesis.internal.conjecture import providers

        none = providers._local_constants
        providers._get_local_constants = lambda: none
