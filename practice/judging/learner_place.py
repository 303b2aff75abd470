"""Finds the learner's line: in a traceback, a running thread, a dump of faulthandler."""

from __future__ import annotations

import re
import types
from typing import Any

from .visible import visible

MOST_VALUES = 8
SKIPPED_TYPES = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)


def place_of_frame(frame: types.FrameType, line: int, source: list[str]) -> dict[str, Any]:
    """A frame's line, function and local values, as `verdict.Place` has them."""
    text = source[line - 1].strip() if 0 < line <= len(source) else ""
    function = frame.f_code.co_name
    values = _values(frame.f_locals, text) if function != "<module>" else {}
    return {"line": line, "text": text, "function": function, "values": values}


def place_in_traceback(
    traceback: types.TracebackType | None, path: str, source: list[str]
) -> dict[str, Any] | None:
    """The innermost line of file `path` in a traceback."""
    found = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            found = traceback
        traceback = traceback.tb_next
    return place_of_frame(found.tb_frame, found.tb_lineno, source) if found else None


def place_in_stack(
    frame: types.FrameType | None, path: str, source: list[str]
) -> dict[str, Any] | None:
    """The innermost line of file `path` in a running stack."""
    while frame is not None:
        if frame.f_code.co_filename == path:
            return place_of_frame(frame, frame.f_lineno, source)
        frame = frame.f_back
    return None


def place_in_dump(dump: str, path: str, source: list[str]) -> dict[str, Any] | None:
    """The innermost line of file `path` in what faulthandler wrote last."""
    last = dump.rpartition("Timeout (")[2]
    match = re.search(rf'File "{re.escape(path)}", line (\d+) in (.+)', last)
    if match is None:
        return None
    line = int(match[1])
    text = source[line - 1].strip() if 0 < line <= len(source) else ""
    return {"line": line, "text": text, "function": match[2].strip(), "values": {}}


def _values(values: dict[str, Any], line: str) -> dict[str, str]:
    """Values made visible; those that the line names come first."""
    named = set(re.findall(r"\w+", line))
    usable = [
        (name, value)
        for name, value in list(values.items())
        if not name.startswith("__") and not isinstance(value, SKIPPED_TYPES)
    ]
    usable.sort(key=lambda pair: pair[0] not in named)
    return {name: visible(value) for name, value in usable[:MOST_VALUES]}
