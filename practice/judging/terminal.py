"""The verdict on a terminal, or in a pipe: then without colours."""

from __future__ import annotations

import sys
from typing import IO

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .story import Part, Story, tell
from .verdict import Verdict

STYLES = {"✓": "bold green", "✗": "bold red", "⏱": "bold yellow", "○": "bold cyan"}
KINDS = {"words": "", "value": "bold", "code": "", "quiet": "dim"}
LABELS = {"Expected": "green", "Got": "red", "Looks like": "yellow"}
NARROW = 60


def make_console(file: IO[str] | None = None) -> Console:
    """A console that keeps to what rich finds out: NO_COLOR, pipes, the terminal's width."""
    stream = file or sys.stdout
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:  # a pipe on Windows speaks cp1252, which has no ✓
        reconfigure(encoding="utf-8", errors="replace")
    return Console(file=stream, highlight=False, emoji=False, markup=False)


def show(console: Console, *things: RenderableType) -> None:
    """Prints; into a pipe without the spaces that fill the lines up."""
    if console.is_terminal:
        console.print(*things, sep="\n")
        return
    with console.capture() as captured:
        console.print(*things, sep="\n")
    lines = [line.rstrip() for line in captured.get().split("\n")]
    console.file.write("\n".join(lines))


def draw(verdict: Verdict, command: str = "python practice/judge.py") -> RenderableType:
    """The verdict for a console."""
    return draw_story(tell(verdict, command))


def draw_story(story: Story) -> RenderableType:
    """A story for a console."""
    style = STYLES[story.mark]
    head = Text.assemble((f"{story.mark} {story.title}", style), "  ", (story.about, "bold"))
    blocks: list[RenderableType] = [head]
    if story.score:
        blocks.append(Padding(Text(story.score, "dim"), (0, 0, 0, 2), expand=False))
    if story.case:
        blocks.append(Padding(Text(story.case, style), (1, 0, 0, 2), expand=False))
    if story.parts:
        blocks.append(Padding(_Parts(story.parts), (0 if story.case else 1, 0, 0, 2), expand=False))
    if story.rest:
        listed = Table.grid(padding=(0, 1))
        for line in story.rest:
            listed.add_row(Text("·", "dim"), Text(line, "dim"))
        blocks.append(Padding(Group(Text("Also", "dim"), listed), (1, 0, 0, 2), expand=False))
    if story.next_steps:
        blocks.append(Padding(_steps(story.next_steps), (1, 0, 0, 2), expand=False))
    return Group(*blocks)


class _Parts:
    """Labels on the left, their lines on the right; one below the other where it is narrow."""

    def __init__(self, parts: list[Part]) -> None:
        self._parts = parts

    def __rich_console__(self, console: Console, options: object) -> list[RenderableType]:
        """What rich prints."""
        if console.width < NARROW:
            below: list[RenderableType] = []
            for part in self._parts:
                below += [_label(part), Padding(_body(part), (0, 0, 0, 2), expand=False)]
            return below
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow="fold")
        for part in self._with_marker(console.width - 20):
            grid.add_row(_label(part), _body(part))
        return [grid]

    def _with_marker(self, width: int) -> list[Part]:
        """The parts, and below Expected and Got a mark where they begin to differ."""
        by_label = {part.label: part for part in self._parts}
        expected, got = by_label.get("Expected"), by_label.get("Got")
        if expected is None or got is None:
            return self._parts
        mark = _difference(expected.lines[0], got.lines[0], width)
        if not mark:
            return self._parts
        place = self._parts.index(got) + 1
        return [*self._parts[:place], Part("", [mark], "quiet"), *self._parts[place:]]


def _difference(expected: str, got: str, width: int) -> str:
    """A caret below the first character that differs, where both fit on a line."""
    if max(cell_len(expected), cell_len(got)) > width or expected == got:
        return ""
    pairs = zip(expected, got, strict=False)
    same = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(expected), len(got)))
    return " " * cell_len(expected[:same]) + "^" if same > 1 else ""


def _label(part: Part) -> Text:
    return Text(part.label, LABELS.get(part.label, "dim"))


def _body(part: Part) -> Text:
    return Text("\n".join(part.lines), KINDS[part.kind])


def _steps(steps: list[tuple[str, str]]) -> RenderableType:
    lines = [Text.assemble(command, (f"  {what}", "dim")) for command, what in steps]
    return Text("\n").join(lines)
