"""The verdict as plain text: the notebook's twin for screen readers and for where HTML is off."""

from __future__ import annotations

from .story import Story, tell
from .verdict import Verdict


def to_text(verdict: Verdict, command: str = "python practice/judge.py") -> str:
    """The verdict in lines of text."""
    return story_text(tell(verdict, command))


def story_text(story: Story) -> str:
    """A story in lines of text."""
    lines = [f"{story.mark} {story.title} {story.about}"]
    if story.score:
        lines.append(story.score)
    if story.case:
        lines += ["", story.case]
    for part in story.parts:
        first, *more = part.lines or [""]
        lines.append(f"{part.label + ':':<15}{first}")
        lines += [f"{'':<15}{line}" for line in more]
    if story.rest:
        lines += ["Also:", *(f"- {line}" for line in story.rest)]
    lines += [f"{what}: {step}" for step, what in story.next_steps]
    return "\n".join(lines)
