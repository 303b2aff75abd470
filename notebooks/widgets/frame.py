"""What all widgets share: one self-contained HTML output with a text twin, and visible text.

A `Drawing` is a static table that needs nothing, plus a style and a script that make more of it.
Where a notebook is untrusted, style and script are taken away and the table stays. There is no
kernel behind it and no network: the script gets its data with the output and looks at its own
element only, so the same output may stand twice on a page.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CELL = "border:1px solid #8888;padding:3px 8px;text-align:left"
SIGNS = {" ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥"}
JOINERS = "\u200c\u200d"  # stay as they are between two characters: an emoji, a Persian word
ESCAPED = re.compile("[<>&\x7f-\xa0\xad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ud800-\udfff]")
REPLACEMENT = "\ufffd"
DOTTED_CIRCLE = "\u25cc"

BOOT = """(function () {
"use strict";
const at = document.currentScript && document.currentScript.closest("[data-msw]");
const roots = at ? [at] : document.querySelectorAll('[data-msw="%(hash)s"]');
const data = %(data)s;
const draw = %(script)s;
for (const root of roots) {
  if (root.dataset.ready) continue;
  root.dataset.ready = "1";
  draw(root, data);
}
})();"""


class Drawing:
    """Something to show as the last value of a cell, or with ``display``.

    Args:
        kind: the widget's name in the page, such as ``window-player``.
        label: what a screen reader calls it.
        static: HTML that stands by itself, with inline styles only.
        text: the same facts as plain text.
        data: what the script gets; plain JSON data.
        style: CSS; selectors begin with ``.msw-KIND`` or a class of its own.
        script: JavaScript, one function expression ``function (root, data) { … }``.
    """

    def __init__(
        self,
        *,
        kind: str,
        label: str,
        static: str,
        text: str,
        data: Any = None,
        style: str = "",
        script: str = "",
    ) -> None:
        self.kind = kind
        self.text = text
        self.data = data
        parts = [kind, label, static, style, script, script_json(data)]
        self.hash = hashlib.sha256("\0".join(parts).encode("utf-8")).hexdigest()[:12]
        css = read_asset("frame.css") + style
        self.html = (
            f'<div class="msw msw-{kind}" data-msw="{self.hash}" role="group" '
            f'aria-label="{escape(label)}"><style>{css}</style>{static}'
            f"{self._script_element(script)}</div>"
        )

    def _script_element(self, script: str) -> str:
        if not script:
            return ""
        fields = {"hash": self.hash, "data": script_json(self.data), "script": script.strip()}
        return f"<script>{BOOT % fields}</script>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text

    def page(self, title: str) -> str:
        """A whole HTML page with this drawing, to be opened in a browser."""
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(title)}</title>\n"
            "<style>:root { color-scheme: light dark } body { font-family: system-ui, sans-serif; "
            "margin: 16px auto; max-width: 1000px; padding: 0 12px } "
            "h1 { font-size: 20px }</style>\n</head>\n<body>\n<main>\n"
            f"<h1>{escape(title)}</h1>\n{self.html}\n</main>\n</body>\n</html>\n"
        )


def read_asset(name: str) -> str:
    """The text of a file beside this one, such as ``player.js``."""
    return (HERE / name).read_text(encoding="utf-8").strip() + "\n"


def script_json(data: Any) -> str:
    """JSON that may stand within a script: nothing in it ends the element or begins a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def table_html(
    headings: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", mono: bool = True
) -> str:
    """A table with inline styles. Headings and caption are text, cells are HTML already."""
    font = "; font-family: monospace" if mono else ""
    head = "".join(f'<th scope="col" style="{CELL}">{escape(text)}</th>' for text in headings)
    body = "".join(
        "<tr>" + "".join(f'<td style="{CELL}">{cell}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    title = f'<caption style="text-align: left; padding: 4px 0">{escape(caption)}</caption>'
    return (
        '<div class="msw-scroll" style="overflow-x: auto" tabindex="0" role="region" '
        f'aria-label="{escape(caption or "table")}">'
        f'<table class="msw-table" style="border-collapse: collapse; margin: 4px 0{font}">'
        f"{title if caption else ''}<thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def table_text(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The same as lines of text, in columns."""
    lines = [list(headings), *(list(row) for row in rows)]
    widths = [max(_width(line[place]) for line in lines) for place in range(len(headings))]
    return "\n".join(
        "  ".join(
            cell + " " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def _width(text: str) -> int:
    """Columns that a terminal takes for it."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def text_parts(text: str) -> list[tuple[str, str]]:
    """`text` in pieces ``(kind, shown)``; player.js does the same.

    Kinds: "text"; "sign" for a space or a line end; "bad" for U+FFFD; "code" for a character that
    has no form of its own, shown as its number; "empty" where there is no text.
    """
    if not text:
        return [("empty", "empty")]
    parts: list[tuple[str, str]] = []
    for place, char in enumerate(text):
        kind, shown = _part(text, place, char)
        if kind == "text" and parts and parts[-1][0] == "text":
            parts[-1] = ("text", parts[-1][1] + shown)
        elif kind == "text" and unicodedata.category(char).startswith("M"):
            parts.append(("text", DOTTED_CIRCLE + shown))
        else:
            parts.append((kind, shown))
    return parts


def _part(text: str, place: int, char: str) -> tuple[str, str]:
    if char in SIGNS:
        return "sign", SIGNS[char]
    if char == REPLACEMENT:
        return "bad", char
    between = 0 < place < len(text) - 1 and not (text[place - 1] + text[place + 1]).isspace()
    if char in JOINERS and between:
        return "text", char
    if unicodedata.category(char)[0] in "CZ":
        return "code", f"{ord(char):04X}"
    return "text", char


INLINE = {
    "sign": "color: #767676",
    "bad": "border: 1px solid #c0392b; color: #c0392b; border-radius: 3px",
    "code": "border: 1px dotted; border-radius: 3px; font-size: 80%",
    "empty": "font-style: italic",
}


def visible_html(text: str) -> str:
    """A text as HTML, with what one can't see drawn; directions don't leak out of it."""
    shown = "".join(
        escape(part)
        if kind == "text"
        else f'<span class="msw-{kind}" style="{INLINE[kind]}">{escape(part)}</span>'
        for kind, part in text_parts(text)
    )
    return f"<bdi>{shown}</bdi>"


def visible_text(text: str) -> str:
    """The same as plain text, in quotes."""
    if not text:
        return "'' (empty)"
    shown = (f"⟨{part}⟩" if kind == "code" else part for kind, part in text_parts(text))
    return "'" + "".join(shown) + "'"


def hex_bytes(data: bytes) -> str:
    """Bytes as people write them: ``e9 b1 bb``."""
    return data.hex(" ")
