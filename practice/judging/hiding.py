"""Takes the finished classes of `minisgl` out of a submission's sight, and the judge itself.

Trusted code (the test's module, `minisgl`'s own modules) goes on using them: functions find their
globals in the module's dictionary, which is left as it is. Only asking the *module* for a hidden
name, as ``from minisgl.tokenizer import DetokenizeManager`` does, is answered with a kind error.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterable, Sequence
from importlib import _bootstrap as bootstrap
from typing import Any

from .guard import Guard

PACKAGE = "minisgl"
OURS = ("practice", "tests")


class HiddenError(ImportError):
    """A name that the exercise asks the learner to write."""


def hide_reference(names: Iterable[str], trusted: Iterable[types.ModuleType], guard: Guard) -> None:
    """From now on only trusted modules see `names` in `minisgl`.

    Args:
        names: the symbols that the learner writes.
        trusted: modules that may see them: the exercise's test.
        guard: is told while a module of `minisgl` is being read.
    """
    trusted_globals = {id(vars(module)): vars(module) for module in trusted}
    covered = _covered_class(frozenset(names), trusted_globals)
    for name, module in list(sys.modules.items()):
        if _is_in(name, (PACKAGE,)):
            trusted_globals[id(vars(module))] = vars(module)
    for name, module in list(sys.modules.items()):
        if _is_in(name, (PACKAGE,)):
            module.__class__ = covered
    sys.meta_path.insert(0, _Finder(covered, trusted_globals, guard))


def forget_judge() -> None:
    """Takes the judge's own modules out of `sys.modules`: the submission gets no hold of them."""
    for name in list(sys.modules):
        if _is_in(name, OURS):
            del sys.modules[name]


def _is_in(name: str, packages: Sequence[str]) -> bool:
    return name.partition(".")[0] in packages


def _covered_class(
    names: frozenset[str], trusted: dict[int, dict[str, Any]]
) -> type[types.ModuleType]:
    frame_of, import_machine = sys._getframe, vars(bootstrap)
    get = types.ModuleType.__getattribute__

    class Covered(types.ModuleType):
        def __getattribute__(self, name: str) -> Any:
            if name in names:
                asking = frame_of(1).f_globals
                if asking is import_machine:  # asks before the import statement itself does
                    raise AttributeError(name)
                if id(asking) not in trusted:
                    raise HiddenError(
                        f"{name} is what this exercise asks you to write, so the judge hides "
                        "minisgl's own. Write yours in your file"
                    )
            if name == "__dict__" and id(frame_of(1).f_globals) not in trusted:
                return {k: v for k, v in get(self, name).items() if k not in names}
            return get(self, name)

    return Covered


class _Finder(importlib.abc.MetaPathFinder):
    """Covers modules of `minisgl` that are imported later, and refuses the judge's own."""

    def __init__(
        self, covered: type[types.ModuleType], trusted: dict[int, dict[str, Any]], guard: Guard
    ) -> None:
        self._covered = covered
        self._trusted = trusted
        self._guard = guard

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        if _is_in(fullname, OURS):
            raise HiddenError(f"{fullname} belongs to the judge: a submission doesn't need it")
        if not _is_in(fullname, (PACKAGE,)):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._covered, self._trusted, self._guard)
        return spec


class _Loader(importlib.abc.Loader):
    """Runs a module's own loader, then covers the module."""

    def __init__(
        self,
        inner: Any,
        covered: type[types.ModuleType],
        trusted: dict[int, dict[str, Any]],
        guard: Guard,
    ) -> None:
        self._inner = inner
        self._covered = covered
        self._trusted = trusted
        self._guard = guard

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        found: types.ModuleType | None = self._inner.create_module(spec)
        return found

    def exec_module(self, module: types.ModuleType) -> None:
        self._trusted[id(vars(module))] = vars(module)
        self._guard.importing += 1
        try:
            self._inner.exec_module(module)
        finally:
            self._guard.importing -= 1
        module.__class__ = self._covered
