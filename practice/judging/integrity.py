"""Notices when a submission replaced a function or method that its verdict depends on.

A snapshot of the functions, classes and methods of the modules that judge is taken in the clean
process; after the submission ran, each must still be the same object.
"""

from __future__ import annotations

import builtins
import os
import posixpath
import sys
import types
from collections.abc import Iterator
from typing import Any

WATCHED = ("pytest", "_pytest", "pluggy", "hypothesis", "practice")
FUNCTIONS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.ClassMethodDescriptorType,
    type,
    staticmethod,
    classmethod,
    property,
)


class Snapshot:
    """The functions and methods as they are now.

    Args:
        classes: further classes to watch, each with its bases: tokenizers, say.
    """

    def __init__(self, classes: tuple[type, ...] = ()) -> None:
        self._owners: list[tuple[str, dict[str, Any] | types.MappingProxyType[str, Any]]] = []
        for name, module in list(sys.modules.items()):
            if module is not None and name.partition(".")[0] in WATCHED:
                self._add_module(name, module)
        for module in (builtins, os, posixpath):
            self._owners.append((module.__name__, vars(module)))
        self._kinds = [(kind, frozenset(vars(kind))) for kind in classes]
        watched = {base: None for kind in classes for base in kind.__mro__ if base is not object}
        self._owners.extend((kind.__name__, vars(kind)) for kind in watched)
        self._before = [
            (label, owner, [item for item in list(owner.items()) if _counts(label, item[1])])
            for label, owner in self._owners
        ]
        self._missing = object()
        self._codes = [
            (f"{label}.{name}", value, value.__code__)
            for label, _, entries in self._before
            for name, value in entries
            if isinstance(value, types.FunctionType)
        ]

    def _add_module(self, name: str, module: types.ModuleType) -> None:
        owner = vars(module)
        self._owners.append((name, owner))
        for value in list(owner.values()):
            if isinstance(value, type) and value.__module__ == name:
                self._owners.append((f"{name}.{value.__name__}", vars(value)))

    def changed(self) -> str:
        """The first thing that isn't as it was, or an empty text."""
        return next(self._changes(), "")

    def _changes(self) -> Iterator[str]:
        missing = self._missing
        for label, owner, entries in self._before:
            for name, value in entries:
                if owner.get(name, missing) is not value:
                    yield f"{label}.{name}"
        for kind, names in self._kinds:  # a method put before the one that a base class has
            for name in vars(kind).keys() - names:
                if callable(vars(kind)[name]):
                    yield f"{kind.__name__}.{name}"
        for label, function, code in self._codes:
            if function.__code__ is not code:
                yield label


def _counts(owner: str, value: object) -> bool:
    return isinstance(value, FUNCTIONS) or (owner == "pytest" and callable(value))
