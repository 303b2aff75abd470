"""`LatencyChart`: how many tokens are held back at each step, one row a run."""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Mapping
from html import escape
from itertools import groupby

from .frame import CELL, Drawing, table_text
from .tracing import Trace

TOKEN_PX = 7
HELD_PX = 8
HIGHEST_PX = 64


class LatencyChart(Drawing):
    """For each run a bar chart over its tokens: how many were held when this one had come.

    A token is held from its arrival until all of its characters were sent.

    Args:
        traces: label → what `trace` recorded.
        title: stands above.
    """

    def __init__(self, traces: Mapping[str, Trace], title: str | None = None) -> None:
        caption = title if title is not None else "Tokens held back"
        self.held = {label: held_tokens(run) for label, run in traces.items()}
        highest = max((max(row, default=0) for row in self.held.values()), default=0)
        heads = ("run", "held after each token", "mean", "largest")
        top = "".join(f'<th scope="col" style="{CELL}">{h}</th>' for h in heads)
        body = "".join(_row_html(label, row, highest) for label, row in self.held.items())
        rows = [
            [label, " ".join(map(str, row)), f"{_mean(row):.1f}", str(max(row, default=0))]
            for label, row in self.held.items()
        ]
        super().__init__(
            kind="latency-chart",
            label=caption,
            static='<div style="overflow-x: auto" tabindex="0" role="region" '
            f'aria-label="{escape(caption)}"><table style="border-collapse: collapse">'
            f'<caption style="text-align: left; padding: 4px 0">{escape(caption)}</caption>'
            f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>",
            text=f"{caption}\n{table_text(heads, rows)}",
        )


def held_tokens(run: Trace) -> list[int]:
    """After each token of a run: how many tokens have characters that weren't sent yet."""
    sent = [len(step["output"]) for step in run["steps"] if step["phase"] == "committed"]
    needed = _characters_needed(run)
    if needed is None:  # tokens without bytes of their own: since when did nothing come?
        held, pieces = [], [s["sent"] for s in run["steps"] if s["phase"] == "committed"]
        for piece in pieces:
            held.append(0 if piece else (held[-1] if held else 0) + 1)
        return held
    return [sum(count > shown for count in needed[: place + 1]) for place, shown in enumerate(sent)]


def _characters_needed(run: Trace) -> list[int] | None:
    """For each token how many characters are to be sent until all of its own are."""
    data = b""
    needed = []
    for token in run["tokens"]:
        if token["bytes"] is None:
            return None
        data += bytes.fromhex(token["bytes"])
        text, used = utf_8_decode(data, "replace", False)
        needed.append(len(text) + (used < len(data)))
    dropped = bool(data[:1] == b" " and run["tokens"][0]["alone"][:1] != " ")
    return [count - dropped for count in needed]  # SentencePiece drops the space that begins a text


def _mean(row: list[int]) -> float:
    return sum(row) / len(row) if row else 0.0


def _row_html(label: str, row: list[int], highest: int) -> str:
    scale = min(HELD_PX, HIGHEST_PX / highest) if highest else HELD_PX
    bars = []
    for held, same in groupby(row):
        width, height = TOKEN_PX * len(list(same)), max(1, round(held * scale))
        bars.append(
            f'<span style="display: inline-block; vertical-align: bottom; width: {width}px; '
            f"height: {height}px; background: currentColor; "
            f'opacity: {0.85 if held else 0.4}"></span>'
        )
    told = f"held after each token: {' '.join(map(str, row))}"
    chart = (
        f'<span role="img" aria-label="{told}" style="white-space: nowrap">{"".join(bars)}</span>'
    )
    cells = (chart, f"{_mean(row):.1f}", str(max(row, default=0)))
    left = f"{CELL}; font-weight: normal"
    return (
        f'<tr><th scope="row" style="{left}">{escape(label)}</th>'
        + "".join(f'<td style="{CELL}; vertical-align: bottom">{cell}</td>' for cell in cells)
        + "</tr>"
    )
