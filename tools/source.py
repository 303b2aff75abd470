"""A Python file as an ordered row of units: its head, then one unit a top-level name."""

from __future__ import annotations

import ast

HEAD = "imports"
"""The name of a file's first unit: docstring, imports and the comments among them."""

Units = dict[str, str]
"""Name → text, without blank lines around it, in the order of the file."""


def units_of(source: str) -> Units:
    """The units of a file. Several statements about one name, or none, make one unit.

    Raises:
        SyntaxError: the source isn't Python.
    """
    lines = source.splitlines()
    units: Units = {}
    end = 0
    name = HEAD
    for node in ast.parse(source).body:
        name = _name(node, name)
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        above = "\n".join(lines[end : first - 1]).strip("\n")
        text = "\n".join(lines[first - 1 : node.end_lineno])
        part = f"{above}\n{text}" if above else text
        blank = 0 if above or not units.get(name) else _blank_lines(lines, first - 1)
        units[name] = units[name] + "\n" * (blank + 1) + part if name in units else part
        end = node.end_lineno or end
    return units


def file_of(units: Units) -> str:
    """A file of these units, two blank lines between them."""
    return "\n\n\n".join(text.strip("\n") for text in units.values()) + "\n"


def _name(node: ast.stmt, before: str) -> str:
    """What a statement defines. A text under a constant belongs to it; imports are the head."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    return before


def _blank_lines(lines: list[str], end: int) -> int:
    count = 0
    while end - 1 - count >= 0 and not lines[end - 1 - count].strip():
        count += 1
    return count
