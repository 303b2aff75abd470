"""What all widgets share: one piece of HTML that needs no kernel, and the same facts as text.

The HTML is a styled static table; a script turns it into something that moves. An untrusted
notebook strips scripts and styles, and shows the table. Colours come from the page around, so that
light and dark both work; nothing is said by colour alone.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

LARGEST_HTML = 95_000  # bytes; notebooks stay small, and style.md bounds an output at 100 kB
REPLACEMENT = "\ufffd"

MARKS = {
    " ": "␣",
    "\n": "⏎",
    "\r": "␍",
    "\t": "⇥",
    "\u00a0": "⍽",
    "\u200d": "⟨ZWJ⟩",
    "\u200b": "⟨ZWSP⟩",
}
"""Characters that one can't see, and what is drawn in their place."""

CELL = "padding:2px 8px;text-align:left;vertical-align:top;border-bottom:1px solid rgba(128,128,128,.35)"
MONO = "font-family:var(--jp-code-font-family,ui-monospace,Menlo,Consolas,monospace)"
MARK = "opacity:.75"
BROKEN = "outline:1px dashed currentColor;font-weight:bold"


class Drawing:
    """A widget's output: `html` for a notebook, `text` for a terminal and for `repr`."""

    def __init__(self, html: str, text: str) -> None:
        self.html = html
        self.text = text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def data_id(kind: str, data: Any) -> str:
    """The id of a widget's root: a hash of what it shows, so that a run gives the same output."""
    text = json.dumps(data, ensure_ascii=False, sort_keys=True)
    return f"{kind}-{hashlib.sha256(text.encode('utf-8')).hexdigest()[:12]}"


def visible_text(text: str) -> str:
    """A text on one line with what can't be seen drawn; ``∅`` for the empty one."""
    return "".join(_visible(char, place) for place, char in enumerate(text)) or "∅"


def visible_html(text: str) -> str:
    """As `visible_text`, escaped; marks and U+FFFD set apart, each text in its own direction."""
    if not text:
        return f'<span style="{MARK}">∅</span>'
    parts = []
    for place, char in enumerate(text):
        shown = escape(_visible(char, place))
        if char == REPLACEMENT:
            shown = f'<span style="{BROKEN}">{shown}</span>'
        elif char in MARKS:
            shown = f'<span style="{MARK}">{shown}</span>'
        parts.append(shown)
    return f"<bdi>{''.join(parts)}</bdi>"


def _visible(char: str, place: int) -> str:
    if char in MARKS:
        return MARKS[char]
    if place == 0 and unicodedata.combining(char):
        return f"◌{char}"  # by itself it would sit on whatever stands before it
    if unicodedata.category(char) == "Cc":
        return f"⟨{ord(char):02X}⟩"
    return char


def static_table(caption: str, heads: list[str], rows: list[list[str]]) -> str:
    """A table with inline styles only; `rows` hold HTML."""
    top = "".join(f'<th scope="col" style="{CELL}">{escape(head)}</th>' for head in heads)
    body = "".join(
        "<tr>" + "".join(f'<td style="{CELL};{MONO}">{cell}</td>' for cell in row) + "</tr>"
        for row in rows
    )
    return (
        '<div style="overflow-x:auto"><table style="border-collapse:collapse;font-size:90%">'
        f'<caption style="text-align:left;padding:4px 8px">{escape(caption)}</caption>'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def text_table(heads: list[str], rows: list[list[str]]) -> str:
    """The same for a terminal, columns aligned by the width that characters take there."""
    table = [heads, *rows]
    widths = [max(_columns(row[place]) for row in table) for place in range(len(heads))]
    return "\n".join(
        "  ".join(
            cell + " " * (width - _columns(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in table
    )


def _columns(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(bool(unicodedata.combining(char)) for char in text)


@cache
def asset(name: str) -> str:
    """A file beside this one: script or style."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8").strip()


def script_json(data: Any) -> str:
    """Data for a script, which no text in it can end."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def moving(kind: str, data: Any, static: str, *, style: str, script: str) -> str:
    """The HTML of a widget: `static` until `script` (a function's body, see player.js) takes over.

    Args:
        kind: names the widget in its root's id and class.
        data: what the script draws, JSON-able.
        static: HTML that says the same without a script.
        style: name of a CSS file in this folder.
        script: name of a JavaScript file that is one function expression ``(root, data) => …``.
    """
    name = data_id(kind, data)
    return (
        f'<div id="{name}" class="minisgl-widget {kind}"><style>{asset(style)}</style>'
        f'<div class="mw-static">{static}</div>'
        "<script>(()=>{const id=" + json.dumps(name) + ",me=document.currentScript,"
        "draw=" + asset(script) + ",data=" + script_json(data) + ";"
        "const go=n=>{const roots=me&&me.closest?[me.closest('#'+id)]:[...document.querySelectorAll('#'+id)];"
        "const todo=roots.filter(r=>r&&!r.dataset.ready);"
        "todo.forEach(r=>{r.dataset.ready='1';draw(r,data)});"
        "if(!todo.length&&n&&!(roots[0]&&roots[0].dataset.ready))setTimeout(()=>go(n-1),100)};go(50)})()"
        "</script></div>"
    )
