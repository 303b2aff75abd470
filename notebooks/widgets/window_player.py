"""`WindowPlayer`: one reply, token by token, drawn from its trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from .frame import Drawing, read_asset, table_html, table_text, visible_html, visible_text
from .tracing import Trace, first_difference

LARGEST_HTML = 95_000
MOST_TOKENS = 300
MOST_ROWS = 60
LONGEST = 80
"""Characters of one decode that are drawn; a naive class decodes the whole reply at every token."""


class WindowPlayer(Drawing):
    """A player for a run: tokens over an axis, the offsets, both decodes, what was sent.

    Args:
        trace: what `trace` recorded.
        against: another run of the same tokens; both are compared at each step.
        predict: the reader says what will be sent before each step; a score is kept.
        title: stands above; by default the name of the run.
    """

    def __init__(
        self,
        trace: Trace,
        against: Trace | None = None,
        predict: bool = False,
        title: str | None = None,
    ) -> None:
        if "steps" not in trace or "tokens" not in trace:
            raise TypeError("WindowPlayer draws what trace(...) returns: give it that")
        if against is not None and against["ids"] != trace["ids"]:
            raise ValueError("the two runs have different tokens: trace both with the same ids")
        self.trace, self.against = trace, against
        shown = title if title is not None else default_title(trace, against)
        label = f"Token by token: {shown}"
        most = min(MOST_TOKENS, len(trace["tokens"]))
        rows = min(MOST_ROWS, most)
        while True:
            self._fill(player_data(trace, against, predict, shown, most), label, rows, shown)
            if len(self.html.encode("utf-8")) <= LARGEST_HTML or not rows:
                break
            rows, most = rows // 2, max(most * 2 // 3, 1)

    def _fill(self, data: Any, label: str, rows: int, title: str) -> None:
        lines = table_rows(self.trace, self.against)
        headings = table_headings(self.trace, self.against)
        left = len(lines) - rows
        more = f" The first {rows} of {len(lines)} tokens." if left > 0 else ""
        text = "\n".join(part for part in (title, self._text(headings, lines)) if part)
        super().__init__(
            kind="window-player",
            label=label,
            static=table_html(headings, [show_cells(line, visible_html) for line in lines[:rows]],
                              f"{title}.{more}") + _error_html(self.trace),
            text=text,
            data=data,
            style=read_asset("player.css"),
            script=player_script("player.js"),
        )  # fmt: skip

    def _text(self, headings: Sequence[str], lines: list[list[Any]]) -> str:
        error = self.trace["error"]
        text = table_text(headings, [show_cells(line, visible_text) for line in lines[:MOST_ROWS]])
        if len(lines) > MOST_ROWS:
            text += f"\n… {len(lines) - MOST_ROWS} more tokens"
        return text + (f"\n{_error_text(error)}" if error else "")


def player_script(name: str) -> str:
    """A player's script with what all players share."""
    return f"function (root, data) {{\n{read_asset('common.js')}{read_asset(name)}}}"


class Shown(str):
    """A text of the run, to be made visible in a table."""


def default_title(trace: Trace, against: Trace | None) -> str:
    """Whose run it is, and beside whose."""
    return (
        f"{trace['name']} beside {against['name']}" if against is not None else str(trace["name"])
    )


def player_data(
    trace: Trace, against: Trace | None, predict: bool, title: str, most: int
) -> dict[str, Any]:
    """What player.js gets of the first `most` tokens: steps as rows, each text once in a pool."""
    pool: dict[str, int] = {}
    steps = [_step_row(step, pool) for step in trace["steps"] if step["token"] < most]
    tokens = [[t["id"], t["bytes"], t["alone"]] for t in trace["tokens"][:most]]
    part = first_difference(trace, against) if against is not None else None
    data = {
        "title": title,
        "left": len(trace["tokens"]) - len(tokens),
        "kind": trace["kind"],
        "tokens": tokens,
        "steps": steps,
        "error": trace["error"],
        "predict": predict,
        "part": part if part is not None and part < len(steps) else None,
        "against": _against(against, pool, most) if against is not None else None,
    }
    return {**data, "pool": list(pool)}


def _step_row(step: dict[str, Any], pool: dict[str, int]) -> list[Any]:
    surr, read = _clip(step["surr_text"], step["read_text"])
    pending = step["pending"] if isinstance(step["pending"], str) else len(step["pending"])
    texts = [pool.setdefault(text, len(pool)) for text in (surr, read, step["sent"])]
    offsets = [step[name] for name in ("surr_offset", "read_offset", "sent_offset")]
    return [step["phase"], step["token"], *offsets, *texts, pending, step["ended"]]


def _clip(surr: str, read: str) -> tuple[str, str]:
    """Both texts without what is far before their end."""
    cut = max(len(surr), len(read) if not surr else 0) - LONGEST
    if cut <= 0:
        return surr, read
    return f"…{surr[cut:]}" if surr else surr, f"…{read[cut:]}"


def _against(trace: Trace, pool: dict[str, int], most: int) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    for step in trace["steps"]:
        if step["phase"] != "arrives" and step["token"] < most:
            row = _step_row(step, pool)
            rows[str(step["token"])] = [*row[:7], None if step["phase"] == "failed" else row[7]]
    return {"name": trace["name"], "tokens": rows}


def table_headings(trace: Trace, against: Trace | None) -> list[str]:
    """Of the table that stands for the player."""
    windows = ["surr", "read", "decode(surr)", "decode(read)"] if trace["kind"] == "windows" else []
    waiting = ["waiting"] if trace["kind"] == "bytes" else []
    other = [f"{against['name']} sent"] if against is not None else []
    return ["token", "id", "bytes", "alone", *windows, "sent", *waiting, "sent_offset", *other]


def table_rows(trace: Trace, against: Trace | None) -> list[list[Any]]:
    """One row a token: offsets when it comes, the two decodes of its step, what was sent."""
    rows = []
    other = {s["token"]: s for s in against["steps"] if s["phase"] != "arrives"} if against else {}
    for place, token in enumerate(trace["tokens"]):
        steps = trace["steps"][2 * place : 2 * place + 2]
        if len(steps) < 2:
            break
        first, last = steps
        row: list[Any] = [str(place), str(token["id"]), token["bytes"] or "", Shown(token["alone"])]
        if trace["kind"] == "windows":
            surr, read = _clip(first["surr_text"], first["read_text"])
            row += [str(first["surr_offset"]), str(first["read_offset"]), Shown(surr), Shown(read)]
        row.append("failed" if last["phase"] == "failed" else Shown(last["sent"]))
        row += [last["pending"]] if trace["kind"] == "bytes" else []
        row.append(str(last["sent_offset"]))
        if against is not None:
            its = other.get(place)
            row.append("-" if its is None or its["phase"] == "failed" else Shown(its["sent"]))
        rows.append(row)
    return rows


def show_cells(line: list[Any], show: Callable[[str], str]) -> list[str]:
    """Cells of a table, with `show` for those that are texts of the run."""
    return [show(str(cell)) if isinstance(cell, Shown) else cell for cell in line]


def _error_text(error: dict[str, Any]) -> str:
    place = f" ({error['line']})" if error["line"] else ""
    return f"It ended here: {error['message']}{place}"


def _error_html(trace: Trace) -> str:
    if not trace["error"]:
        return ""
    return f'<p style="margin: 4px 0">{escape(_error_text(trace["error"]))}</p>'
