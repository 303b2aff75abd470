"""The lines between two ``---`` at the head of `exercise.md`: a small part of YAML.

``key: value`` a line; a value is a text or a list in brackets. Not handled:
nesting, lists over several lines, comments after a value, several documents.
"""

from __future__ import annotations

import re

Value = str | list[str]

LINE = re.compile(r"([a-z_]+):\s*(.*)")


class FrontMatterError(ValueError):
    """The head of the file can't be read; the text says which line."""


def split_front_matter(text: str) -> tuple[dict[str, Value], str]:
    """What the head says, and the text below it."""
    lines = text.splitlines()
    if not lines or lines[0].strip() != "---":
        raise FrontMatterError("the first line must be '---'")
    try:
        end = next(n for n in range(1, len(lines)) if lines[n].strip() == "---")
    except StopIteration:
        raise FrontMatterError("a second line '---' must end the front matter") from None
    values: dict[str, Value] = {}
    for number, line in enumerate(lines[1:end], start=2):
        if not line.strip():
            continue
        match = LINE.fullmatch(line.strip())
        if match is None:
            raise FrontMatterError(f"line {number} isn't 'key: value': {line!r}")
        key, value = match.groups()
        if key in values:
            raise FrontMatterError(f"line {number} says {key!r} a second time")
        values[key] = parse_value(value)
    return values, "\n".join(lines[end + 1 :]).strip() + "\n"


def parse_value(text: str) -> Value:
    """A list in brackets, or a text with or without quotes; numbers stay text."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        items = (item.strip() for item in text[1:-1].split(","))
        return [_unquoted(item) for item in items if item]
    return _unquoted(text)


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text
