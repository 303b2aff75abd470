"""A failing stream drawn on the terminal, token by token."""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from . import api
from .visible import visible, visible_text


def stream_rows(ids: list[int], alias: str) -> list[tuple[int, str, str]]:
    """For each token: its id, the token decoded alone, the text of all tokens so far."""
    return [
        (token, api.true_decode(alias, [token]), api.true_decode(alias, ids[: place + 1]))
        for place, token in enumerate(ids)
    ]


def replay_table(stream: dict[str, Any]) -> RenderableType:
    """A table of the steps where `stream` has ``ids`` and ``tokenizer``, else its parts."""
    ids, alias = stream.get("ids"), stream.get("tokenizer")
    if not isinstance(ids, list) or not isinstance(alias, str):
        lines = [f"{name} = {visible(value)}" for name, value in stream.items()]
        return Text("\n".join(lines))
    table = Table(box=None, padding=(0, 2), pad_edge=False)
    for heading in ("step", "token", "decoded alone", "text so far"):
        table.add_column(heading, overflow="fold")
    for place, (token, alone, so_far) in enumerate(stream_rows(ids, alias), start=1):
        table.add_row(str(place), str(token), Text(visible_text(alone)), Text(visible_text(so_far)))
    return table
