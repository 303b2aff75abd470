"""`BytesView`: characters, their bytes and the tokens that spell them, one above the other."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

from minisgl.tokenizer import token_bytes

from .frame import Drawing, table_text, visible_html, visible_text

BYTES_PER_LINE = 18
LINE = "border: 1px solid; padding: 2px 6px; text-align: center; font-family: monospace"
HEAD = "text-align: left; padding: 2px 8px 2px 0; font-weight: normal"


@dataclass(frozen=True)
class Run:
    """A row of cells over bytes: each from `start` to `end`, in bytes from the text's beginning."""

    start: int
    end: int
    name: str


class BytesView(Drawing):
    """A text as characters, UTF-8 bytes and tokens, aligned, so that a cut character is seen.

    Args:
        text: what is tokenized, without special tokens.
        tokenizer: one whose description gives each token's bytes (`minisgl.tokenizer.token_bytes`).
        title: stands above; by default the text.

    Raises:
        ValueError: the tokenizer's tokens have no bytes of their own (WordPiece, Unigram).
    """

    def __init__(self, text: str, tokenizer: Any, title: str | None = None) -> None:
        data, characters, tokens = spell(text, tokenizer)
        self.characters, self.tokens = characters, tokens
        caption = title if title is not None else f"{visible_text(text)} in bytes and tokens"
        lines = break_lines(len(data), characters, tokens)
        tables = "".join(
            _line_html(data, characters, tokens, start, end, caption) for start, end in lines
        )
        cut = sum(len(parts) > 1 for _, parts in spelled_by(characters, tokens))
        told = (
            f"{len(characters)} characters, {len(data)} bytes, {len(tokens)} tokens; "
            f"characters cut over several tokens (✂): {cut}."
        )
        super().__init__(
            kind="bytes-view",
            label=caption,
            static=f'<p style="margin: 0 0 6px">{escape(caption)}</p>{tables}'
            f'<p style="margin: 6px 0 0">{told}</p>',
            text=f"{caption}\n{_text(data, characters, tokens)}\n{told}",
        )


def spell(text: str, tokenizer: Any) -> tuple[bytes, list[Run], list[Run]]:
    """The bytes of all tokens, and the characters and tokens over them.

    SentencePiece writes a space of its own before the text, and that is a character here too.

    Raises:
        ValueError: the tokenizer's tokens have no bytes.
    """
    known = token_bytes(tokenizer)
    if known is None:
        raise ValueError("this tokenizer's description gives no bytes: take a byte-level one")
    tokens: list[Run] = []
    data = b""
    for token in tokenizer.encode(text, add_special_tokens=False):
        start = len(data)
        data += known.table[token]
        tokens.append(Run(start, len(data), str(token)))
    characters: list[Run] = []
    for char in data.decode("utf-8", errors="replace"):
        start = characters[-1].end if characters else 0
        characters.append(Run(start, start + len(char.encode("utf-8")), char))
    return data, characters, tokens


def spelled_by(characters: list[Run], tokens: list[Run]) -> list[tuple[Run, list[Run]]]:
    """Each character with the tokens that hold bytes of it."""
    return [(c, [t for t in tokens if t.start < c.end and c.start < t.end]) for c in characters]


def break_lines(length: int, characters: list[Run], tokens: list[Run]) -> list[tuple[int, int]]:
    """Where the rows are broken: where a character and a token end together, if there is one."""
    ends = {char.end for char in characters}
    both = ends & {token.end for token in tokens}
    lines = []
    start = 0
    while start < length:
        limit = start + BYTES_PER_LINE
        here = [end for end in both if start < end <= limit]
        there = [end for end in ends if start < end <= limit]
        end = length if length <= limit else max(here or there or [limit])
        lines.append((start, end))
        start = end
    return lines


def _line_html(
    data: bytes, characters: list[Run], tokens: list[Run], start: int, end: int, caption: str
) -> str:
    cut = {char.start for char, parts in spelled_by(characters, tokens) if len(parts) > 1}

    def cells(runs: list[Run], extra: str) -> str:
        found = []
        for run in runs:
            first, last = max(run.start, start), min(run.end, end)
            if first < last:
                text = visible_html(run.name) if runs is characters else run.name
                mark = " ✂" if runs is characters and run.start in cut else ""
                found.append(
                    f'<td colspan="{last - first}" style="{LINE}; {extra}">{text}{mark}</td>'
                )
        return "".join(found)

    single = "".join(
        f'<td style="padding: 2px 6px; text-align: center; font-family: monospace">{byte:02x}</td>'
        for byte in data[start:end]
    )
    rows = [
        ("characters", cells(characters, "border-bottom-width: 3px; font-size: 115%")),
        ("bytes", single),
        ("tokens", cells(tokens, "border-style: dashed; border-top: 3px double")),
    ]
    body = "".join(f'<tr><th scope="row" style="{HEAD}">{n}</th>{row}</tr>' for n, row in rows)
    return (
        '<div style="overflow-x: auto" tabindex="0" role="region" '
        f'aria-label="{escape(caption)}, bytes {start + 1} to {end}">'
        f'<table style="border-collapse: separate; border-spacing: 2px 0; margin: 4px 0">{body}'
        "</table></div>"
    )


def _text(data: bytes, characters: list[Run], tokens: list[Run]) -> str:
    rows = []
    for char, parts in spelled_by(characters, tokens):
        spelled = [
            data[max(char.start, token.start) : min(char.end, token.end)].hex(" ")
            for token in parts
        ]
        names = " | ".join(token.name for token in parts)
        rows.append([visible_text(char.name), " | ".join(spelled), names])
    return table_text(["character", "bytes", "token"], rows)
