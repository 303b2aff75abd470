"""A verdict told in the order in which a learner reads: what was asked, on what, what came, where.

The terminal, the notebook and the plain text draw the same story.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from .verdict import Case, Place, Verdict

Kind = Literal["words", "value", "code", "quiet"]

MARKS = {"passed": "✓", "failed": "✗", "error": "✗", "timeout": "⏱", "not_started": "○"}
TITLES = {
    "passed": "Right.",
    "failed": "Not yet.",
    "error": "It doesn't run.",
    "timeout": "It doesn't come to an end.",
    "not_started": "Not started.",
}
MOST_LISTED = 6
MOST_OUTPUT_LINES = 12


@dataclass
class Part:
    """A label and what belongs to it."""

    label: str
    lines: list[str]
    kind: Kind = "words"


@dataclass
class Story:
    """What a renderer draws.

    Attributes:
        mark: one character for the status.
        title: the status in words.
        about: exercise and title.
        score: how many tests passed.
        case: the name of the test that is told about.
        parts: in reading order.
        rest: what else failed, one line each.
        next_steps: commands that help now, with what each does.
    """

    mark: str
    title: str
    about: str
    score: str
    case: str = ""
    parts: list[Part] = field(default_factory=list)
    rest: list[str] = field(default_factory=list)
    next_steps: list[tuple[str, str]] = field(default_factory=list)


def tell(verdict: Verdict, command: str = "python practice/judge.py") -> Story:
    """The story of a verdict; `command` is how the learner calls the judge."""
    story = Story(
        MARKS[verdict.status],
        TITLES[verdict.status],
        f"{verdict.exercise} · {verdict.title}",
        _score(verdict),
    )
    case = verdict.first_failure
    if verdict.message and (case is None or case.message != verdict.message):
        story.parts.append(Part("What happened", verdict.message.splitlines()))
    _add_place(story, verdict.place, verdict.file)
    if case is not None and not verdict.passed:
        story.case = case.name
        _add_case(story, case, verdict)
        story.rest = _rest(verdict, case)
    if verdict.diagnosis:
        story.parts.append(Part("Looks like", [verdict.diagnosis]))
    for note in verdict.notes:
        story.parts.append(Part("Note", [note]))
    _add_output(story, verdict)
    story.next_steps = _next_steps(verdict, command)
    return story


def _score(verdict: Verdict) -> str:
    if not verdict.cases:
        return ""
    passed, all_of_them = verdict.count("passed"), len(verdict.cases)
    seconds = f"{verdict.seconds:.1f} s" if verdict.seconds >= 0.05 else ""
    noun = "test" if all_of_them == 1 else "tests"
    told = f"{passed} of {all_of_them} {noun} passed"
    return f"{told} · {seconds}" if seconds else told


def _add_case(story: Story, case: Case, verdict: Verdict) -> None:
    if case.property:
        story.parts.append(Part("Asked for", [case.property]))
    if case.input:
        width = max(len(name) for name in case.input)
        lines = [f"{name.ljust(width)} = {value}" for name, value in case.input.items()]
        story.parts.append(Part("Input", lines, "value"))
    if case.message:
        story.parts.append(Part("What happened", case.message.splitlines()))
    if case.expected is not None:
        story.parts.append(Part("Expected", [case.expected], "value"))
    if case.got is not None:
        story.parts.append(Part("Got", [case.got], "value"))
    _add_place(story, case.place, verdict.file)
    if case.see:
        story.parts.append(Part("Look at", [case.see]))


def _add_place(story: Story, place: Place | None, file: str) -> None:
    if place is None:
        return
    inside = "" if place.function in ("", "<module>") else f", in {place.function}"
    lines = [f"{file or 'your code'}, line {place.line}{inside}"]
    if place.text:
        lines.append(f"    {place.text}")
    lines += [f"    {name} = {value}" for name, value in place.values.items()]
    story.parts.append(Part("Your line", lines, "code"))


def _rest(verdict: Verdict, told: Case) -> list[str]:
    others = [case for case in verdict.cases if case is not told]
    bad = [case for case in others if case.status in ("failed", "error", "timeout")]
    same = told.name.partition("[")[0]
    counts = Counter(case.name.partition("[")[0] for case in bad)
    properties = {case.name.partition("[")[0]: case.property for case in bad}
    lines = [f"{same} with {counts.pop(same)} more inputs"] if same in counts else []
    lines += [f"{name}: {properties[name]}" for name in list(counts)[:MOST_LISTED]]
    if len(counts) > MOST_LISTED:
        lines.append(f"and {len(counts) - MOST_LISTED} more")
    waiting = sum(case.status == "not_run" for case in others)
    if waiting:
        lines.append(f"{waiting} {'test was' if waiting == 1 else 'tests were'} not run any more")
    return lines


def _add_output(story: Story, verdict: Verdict) -> None:
    if not verdict.output.strip():
        return
    lines = [line if len(line) <= 200 else f"{line[:200]}…" for line in verdict.output.splitlines()]
    shown = lines[:MOST_OUTPUT_LINES]
    if len(lines) > len(shown) or verdict.output_bytes > len(verdict.output.encode()):
        shown.append(f"… {verdict.output_bytes:,} bytes in all")
    story.parts.append(Part("Printed", shown, "quiet"))


def _next_steps(verdict: Verdict, command: str) -> list[tuple[str, str]]:
    name = verdict.exercise
    if verdict.passed:
        return [
            (f"{command} solution {name}", "compare with ours"),
            (command, "what comes next"),
        ]
    if verdict.status == "not_started":
        return [(f"{command} hint {name}", "a nudge"), (f"{command} test {name}", "judge it")]
    steps = [(f"{command} {verdict.hint}", "a hint")] if verdict.hint else []
    failing = verdict.first_failure
    if failing is not None and failing.stream and "ids" in failing.stream:
        steps.append((f"{command} replay {name}", "this stream, token by token"))
    return steps
