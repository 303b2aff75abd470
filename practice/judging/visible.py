"""Values made visible: what one can't see in a text is drawn, and long values are cut.

Only values of Python's own types are printed by their `repr`: a learner's class could do anything
in its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

LONGEST = 400
DEEPEST = 3
MOST_ITEMS = 40
MARKS = {
    " ": "␣",
    "\n": "⏎",
    "\r": "␍",
    "\t": "⇥",
    "\u00a0": "⟨U+00A0⟩",
    "\u3000": "⟨U+3000⟩",
    "\ufffd": "�⟨U+FFFD⟩",
    "\ufeff": "⟨U+FEFF⟩",
    "\u200b": "⟨U+200B⟩",
    "\u200d": "⟨U+200D⟩",
}
PLAIN = (int, float, complex, bool, type(None), bytes, range)


def visible_text(text: str) -> str:
    """A text with its spaces, line ends, joiners and U+FFFD drawn, in quotes."""
    if not text:
        return "'' (empty)"
    return "'" + "".join(_visible_char(char) for char in text) + "'"


def visible(value: Any, depth: int = 0) -> str:
    """A value made visible, at most `LONGEST` characters."""
    if type(value) is str:
        shown = visible_text(value if len(value) <= LONGEST else value[:LONGEST])
        return shown if len(value) <= LONGEST else f"{shown} … ({len(value)} characters)"
    return _cut(_visible_value(value, depth))


def _visible_value(value: Any, depth: int) -> str:
    kind = type(value)
    if kind in PLAIN:
        return repr(value if kind is not bytes else value[:LONGEST])
    if kind in (list, tuple, set, frozenset, dict):
        return _visible_collection(value, depth)
    if kind.__module__ == "torch" and kind.__name__ == "Tensor":
        return f"tensor({_cut(str(value.tolist()))}, dtype={str(value.dtype)[6:]})"
    if isinstance(value, type):
        return f"class {type.__dict__['__name__'].__get__(value)}"
    return _visible_object(value, depth)


def _visible_collection(value: Any, depth: int) -> str:
    if depth >= DEEPEST:
        return f"<{type(value).__name__} of {len(value)}>"
    if type(value) is dict:
        pairs = list(value.items())[:MOST_ITEMS]
        items = [f"{visible(k, depth + 1)}: {visible(v, depth + 1)}" for k, v in pairs]
    else:
        items = [visible(item, depth + 1) for item in list(value)[:MOST_ITEMS]]
    if len(value) > MOST_ITEMS:
        items.append(f"… {len(value)} in all")
    inside = ", ".join(items)
    if type(value) is tuple:
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if type(value) is list:
        return f"[{inside}]"
    if type(value) is dict or value:
        return "{" + inside + "}"
    return f"{type(value).__name__}()"


def _visible_object(value: Any, depth: int) -> str:
    name = type(value).__name__
    if depth >= DEEPEST - 1:
        return f"<{name}>"
    found: dict[str, Any] = {}
    with contextlib.suppress(AttributeError, TypeError):
        found.update(object.__getattribute__(value, "__dict__"))
    for slot in _slots(type(value)):
        try:
            found[slot] = object.__getattribute__(value, slot)
        except AttributeError:
            continue
    if not found:
        return f"<{name}>"
    inside = ", ".join(f"{k}={visible(v, depth + 1)}" for k, v in list(found.items())[:8])
    return f"{name}({inside})"


def _slots(kind: type) -> list[str]:
    if kind.__module__ in ("builtins", "torch"):
        return []
    slots = (getattr(base, "__slots__", ()) for base in kind.__mro__)
    names = [(s,) if isinstance(s, str) else tuple(s) for s in slots]
    return [name for group in names for name in group if not name.startswith("__")]


def visible_parts(values: Mapping[str, Any]) -> dict[str, str]:
    """Each of the named values made visible."""
    return {name: visible(value) for name, value in values.items()}


def _visible_char(char: str) -> str:
    if char in MARKS:
        return MARKS[char]
    if char.isprintable():
        return char
    return f"⟨U+{ord(char):04X}⟩"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
