"""`QueueDiagram`: which process sent which message to which, in the order of time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from .frame import Drawing

MOST_ROWS = 80
LIFELINE = "border-right: 1px dashed rgba(128, 128, 128, 0.8)"
NAME = "padding: 2px 10px; border: 1px solid; text-align: center"
UNSEEN = "position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)"


@dataclass(frozen=True)
class Arrow:
    """Messages of one kind, one after the other between the same two."""

    source: str
    target: str
    label: str
    details: tuple[str, ...]

    @property
    def told(self) -> str:
        """What stands on the arrow."""
        shown = [detail for detail in self.details if detail]
        if len(self.details) > 1:
            ends = f": {shown[0]} … {shown[-1]}" if shown and shown[0] != shown[-1] else ""
            return f"{self.label} × {len(self.details)}{ends}"
        return f"{self.label}: {shown[0]}" if shown else self.label


class QueueDiagram(Drawing):
    """A sequence diagram: a column for each process, a row for each message or run of messages.

    Args:
        events: in the order of time; each has "source", "target", "label", and may have "detail".
        title: stands above.

    Raises:
        ValueError: an event lacks a part.
    """

    def __init__(self, events: Iterable[Mapping[str, str]], title: str | None = None) -> None:
        caption = title if title is not None else "Messages between processes"
        self.arrows = fold(events)
        names = list(dict.fromkeys(n for a in self.arrows for n in (a.source, a.target)))
        shown = self.arrows[:MOST_ROWS]
        left = len(self.arrows) - len(shown)
        more = f'<p style="margin: 4px 0">… and {left} more</p>' if left else ""
        head = "".join(
            f'<th scope="col" colspan="2" style="{NAME}">{escape(n)}</th>' for n in names
        )
        rows = "".join(_row_html(arrow, names) for arrow in shown)
        lines = [f"{a.source} → {a.target}   {a.told}" for a in self.arrows]
        super().__init__(
            kind="queue-diagram",
            label=caption,
            static='<div style="overflow-x: auto" tabindex="0" role="region" '
            f'aria-label="{escape(caption)}"><table style="border-collapse: collapse; '
            f'position: relative"><caption style="text-align: left; padding: 4px 0">'
            f"{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table></div>{more}",
            text="\n".join([caption, *lines]),
        )


def fold(events: Iterable[Mapping[str, str]]) -> list[Arrow]:
    """Equal messages one after the other become one arrow.

    Raises:
        ValueError: an event lacks a part.
    """
    listed = list(events)
    for place, event in enumerate(listed):
        missing = {"source", "target", "label"} - set(event)
        if missing:
            raise ValueError(f"event {place} has no {sorted(missing)[0]!r}")
    grouped = groupby(listed, key=lambda e: (e["source"], e["target"], e["label"]))
    return [
        Arrow(*key, tuple(str(event.get("detail", "")) for event in same)) for key, same in grouped
    ]


def _row_html(arrow: Arrow, names: Sequence[str]) -> str:
    """Two half columns for each process; its lifeline is the border between them."""
    source, target = names.index(arrow.source), names.index(arrow.target)
    first, last = sorted((source, target))
    text = f'<span dir="auto">{escape(arrow.told)}</span>'
    said = f'<span style="{UNSEEN}">{escape(arrow.source)} to {escape(arrow.target)}: </span>'
    if first == last:
        cell = f'<td style="padding: 3px 8px; white-space: nowrap">{said}↺ {text}</td>'
        span = 1
    else:
        span = 2 * (last - first)
        sign = "▶" if target > source else "◀"
        side = "right" if target > source else "left"
        cell = (
            f'<td colspan="{span}" style="padding: 3px 18px; text-align: center; '
            f'white-space: nowrap; border-bottom: 2px solid">{said}{text}'
            f'<span aria-hidden="true" style="float: {side}; margin: 0 -19px">{sign}</span></td>'
        )
    before = "".join(_half(place) for place in range(2 * first + 1))
    after = "".join(_half(place) for place in range(2 * first + 1 + span, 2 * len(names)))
    return f"<tr>{before}{cell}{after}</tr>"


def _half(place: int) -> str:
    line = LIFELINE if place % 2 == 0 else "border: 0"
    return f'<td style="min-width: 40px; height: 26px; {line}"></td>'
