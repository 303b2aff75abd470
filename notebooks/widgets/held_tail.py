"""`HeldTail`: a reply watched for stop strings: what is shown, held back and cut."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .frame import Drawing, read_asset, table_html, table_text, visible_html, visible_text
from .window_player import player_script

HEADINGS = ("piece", "shown so far", "held back", "cut", "what happens")

Step = dict[str, Any]
"""After one piece: piece, shown (all so far), held, cut, hit, ended."""


def held_steps(checker: Any, pieces: Iterable[str]) -> list[Step]:
    """Feeds the pieces and notes after each what of the text is shown, held back and cut.

    Args:
        checker: its ``feed(piece)`` gives the text to show, or that and whether there was a hit; an
            attribute ``hit`` counts too. ``finish()`` gives what was held at the end.
        pieces: the reply, as it comes.
    """
    fed, shown, hit = "", "", False
    steps: list[Step] = []
    for piece in pieces:
        got = checker.feed(piece)
        new, told = got if isinstance(got, tuple) else (got, False)
        hit = hit or told or bool(getattr(checker, "hit", False))
        fed, shown = fed + piece, shown + new
        steps.append(_step(piece, fed, shown, hit, ended=False))
    shown += checker.finish()
    steps.append(_step("", fed, shown, hit or shown != fed, ended=True))
    return steps


def _step(piece: str, fed: str, shown: str, hit: bool, *, ended: bool) -> Step:
    rest = fed[len(shown) :]
    held, cut = ("", rest) if hit else (rest, "")
    return {"piece": piece, "shown": shown, "held": held, "cut": cut, "hit": hit, "ended": ended}


class HeldTail(Drawing):
    """A player for one reply; a step is a piece of text, the last one is the reply's end.

    Args:
        checker: as `held_steps`; a fresh one, since it is fed here.
        pieces: the reply, as it comes.
        title: stands above.
    """

    def __init__(self, checker: Any, pieces: Iterable[str], title: str | None = None) -> None:
        caption = title if title is not None else "A reply and its held-back tail"
        self.steps = held_steps(checker, pieces)
        befores = [None, *self.steps[:-1]]
        told = [_told(*pair) for pair in zip(self.steps, befores, strict=True)]
        rows = [
            (*(step[name] for name in ("piece", "shown", "held", "cut")), said)
            for step, said in zip(self.steps, told, strict=True)
        ]
        super().__init__(
            kind="held-tail",
            label=caption,
            static=table_html(
                HEADINGS, [[*map(visible_html, row[:4]), row[4]] for row in rows], caption
            ),
            text=f"{caption}\n"
            + table_text(HEADINGS, [[*map(visible_text, row[:4]), row[4]] for row in rows]),
            data={"title": caption, "rows": rows},
            style=read_asset("player.css") + read_asset("held_tail.css"),
            script=player_script("held_tail.js"),
        )


def _told(step: Step, before: Step | None) -> str:
    """What happens at a step, in words."""
    if step["ended"]:
        if step["hit"]:
            return "the reply has ended at a stop string"
        late = before is not None and before["held"]
        return "the reply ends: what was held is shown" if late else "the reply ends"
    if step["hit"]:
        first = before is None or not before["hit"]
        return "a stop string: cut, abort" if first else "dropped"
    if step["held"]:
        return "held back: a stop string could begin here"
    return "shown"
