"""`BatchPlayer`: many replies side by side, and the map of their states, call by call."""

from __future__ import annotations

from html import escape
from typing import Any

from .batch_tracing import Trace
from .frame import Drawing, read_asset, table_html, table_text, visible_html, visible_text
from .window_player import LARGEST_HTML, MOST_ROWS, Shown, player_script, show_cells

HEADINGS = ("call", "uid", "token", "alone", "surr", "read", "sent", "decode_map after it")
OFFSETS = ("surr_offset", "read_offset", "sent_offset")


class BatchPlayer(Drawing):
    """A player for a run with many requests; a step is a call of ``detokenize``.

    Args:
        batch_trace: what `batch_trace` recorded.
        title: stands above; by default the name of the run.
    """

    def __init__(self, batch_trace: Trace, title: str | None = None) -> None:
        if "requests" not in batch_trace:
            raise TypeError("BatchPlayer draws what batch_trace(...) returns: give it that")
        self.trace = batch_trace
        shown = title if title is not None else str(batch_trace["name"])
        lines = _rows(batch_trace)
        error = batch_trace["error"]
        told = f"The next call failed: {error['message']}" if error else ""
        text = table_text(HEADINGS, [show_cells(line, visible_text) for line in lines[:MOST_ROWS]])
        if len(lines) > MOST_ROWS:
            text += f"\n… {len(lines) - MOST_ROWS} more lines"
        rows = min(MOST_ROWS, len(lines))
        while True:
            more = f" The first {rows} of {len(lines)} lines." if rows < len(lines) else ""
            cells = [show_cells(line, visible_html) for line in lines[:rows]]
            super().__init__(
                kind="batch-player",
                label=f"Call by call: {shown}",
                static=table_html(HEADINGS, cells, f"{shown}.{more}")
                + (f'<p style="margin: 4px 0">{escape(told)}</p>' if told else ""),
                text="\n".join(part for part in (shown, text, told) if part),
                data=_data(batch_trace, shown),
                style=read_asset("player.css") + read_asset("batch.css"),
                script=player_script("batch.js"),
            )
            if len(self.html.encode("utf-8")) <= LARGEST_HTML or not rows:
                break
            rows //= 2


def _data(trace: Trace, title: str) -> dict[str, Any]:
    pool: dict[str, int] = {}
    steps = [
        {
            "uids": step["uids"],
            "rows": {
                uid: [
                    row["token"],
                    *(row[name] for name in OFFSETS),
                    pool.setdefault(row["sent"], len(pool)),
                    row["ended"],
                ]
                for uid, row in step["rows"].items()
            },
        }
        for step in trace["steps"]
    ]
    tokens = {
        uid: [[token["id"], token["bytes"], token["alone"]] for token in request["tokens"]]
        for uid, request in trace["requests"].items()
    }
    error = trace["error"]
    fields = {"title": title, "uids": list(tokens), "tokens": tokens, "steps": steps}
    return {**fields, "error": error, "pool": list(pool)}


def _rows(trace: Trace) -> list[list[Any]]:
    rows = []
    for call, step in enumerate(trace["steps"]):
        states = "{" + ", ".join(map(str, step["uids"])) + "}"
        for uid, row in step["rows"].items():
            token = trace["requests"][uid]["tokens"][row["token"]]
            offsets = ["-" if row[name] is None else str(row[name]) for name in OFFSETS[:2]]
            cells = [str(call), uid, str(row["token"]), Shown(token["alone"]), *offsets]
            rows.append([*cells, Shown(row["sent"]), states])
    return rows
