"""The verdict as HTML for a notebook.

Inline styles only, no script, no colours but half-transparent ones and the text's own: so it looks
right in light and dark, in an untrusted notebook, and in nbconvert's pages.
"""

from __future__ import annotations

from html import escape

from .story import Part, Story, tell
from .verdict import Verdict

EDGES = {"✓": "#2e9e5b", "✗": "#d64545", "⏱": "#c98a00", "○": "#4a90d9"}
MONO = "font-family: monospace; white-space: pre-wrap; word-break: break-word"
SMALL = "font-size: 90%; opacity: 0.75"


def to_html(verdict: Verdict, command: str = "") -> str:
    """The verdict as one HTML element; `command` as for `story.tell`."""
    story = tell(verdict, command) if command else tell(verdict)
    return story_html(story)


def story_html(story: Story) -> str:
    """A story as one HTML element."""
    edge = EDGES[story.mark]
    rows = "".join(_row(part) for part in story.parts)
    case = f'<div style="{MONO}; {SMALL}">{escape(story.case)}</div>' if story.case else ""
    return (
        f'<div role="status" style="border-left: 4px solid {edge}; padding: 4px 12px; '
        'margin: 4px 0">'
        f'<div><span style="color: {edge}; font-weight: bold">{story.mark} '
        f"{escape(story.title)}</span> <b>{escape(story.about)}</b> "
        f'<span style="{SMALL}">{escape(story.score)}</span></div>'
        f"{case}"
        f'<table style="border-collapse: collapse; margin: 4px 0">{rows}</table>'
        f"{_rest(story)}{_steps(story)}</div>"
    )


def _row(part: Part) -> str:
    text = escape("\n".join(part.lines))
    style = MONO if part.kind in ("value", "code", "quiet") else "white-space: pre-wrap"
    if part.kind == "quiet":
        style += f"; {SMALL}"
    cell = "padding: 2px 12px 2px 0; text-align: left; vertical-align: top"
    return (
        f'<tr><th scope="row" style="{cell}; font-weight: normal; opacity: 0.75">'
        f"{escape(part.label)}</th>"
        f'<td style="{cell}"><span style="{style}">{text}</span></td></tr>'
    )


def _rest(story: Story) -> str:
    if not story.rest:
        return ""
    items = "".join(f"<li>{escape(line)}</li>" for line in story.rest)
    return f'<div style="{SMALL}">Also<ul style="margin: 0">{items}</ul></div>'


def _steps(story: Story) -> str:
    steps = [
        f"{escape(what)}: <code>{escape(command)}</code>" for command, what in story.next_steps
    ]
    return f'<div style="{SMALL}">{"<br>".join(steps)}</div>' if steps else ""
