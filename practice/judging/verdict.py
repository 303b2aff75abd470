"""The verdict: what the judge found, as plain data. All renderers and exports draw from it.

`verdict.schema.json` is its JSON schema, written by ``python -m practice.judging.verdict``; a test
compares. `SCHEMA_VERSION` is raised when a field changes its meaning or goes away.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import msgspec

SCHEMA_VERSION = 1
SCHEMA_FILE = Path(__file__).with_name("verdict.schema.json")

Status = Literal["passed", "failed", "error", "timeout", "not_started"]
CaseStatus = Literal["passed", "failed", "error", "timeout", "not_run"]


class Place(msgspec.Struct, omit_defaults=True):
    """A line of the learner's code.

    Attributes:
        line: its number, from 1.
        text: the line itself.
        function: the function that it is in; ``<module>`` outside of any.
        values: local variables there that matter, made visible.
    """

    line: int
    text: str = ""
    function: str = ""
    values: dict[str, str] = {}


class Case(msgspec.Struct, omit_defaults=True):
    """One test.

    Attributes:
        name: of the test function, with its parameters.
        property: what is asked for, in words.
        example: whether the learner may see the test beforehand.
        input: the smallest input that shows the fault, made visible, by the name of each part.
        expected: what should have come, made visible.
        got: what came, made visible.
        message: what went wrong where it isn't a difference of values.
        see: where the lesson tells about it.
        seconds: how long it took.
        place: the learner's line.
        stream: the failing input as data, for replay.
    """

    name: str
    status: CaseStatus
    property: str = ""
    example: bool = False
    input: dict[str, str] = {}
    expected: str | None = None
    got: str | None = None
    message: str = ""
    see: str = ""
    seconds: float = 0.0
    place: Place | None = None
    stream: dict[str, Any] | None = None


class Verdict(msgspec.Struct):
    """What the judge found about one submission.

    Attributes:
        exercise: its ID.
        title: its title.
        status: `passed` only where each known test ran to its end and passed.
        cases: one for each test of the exercise, in the order of `test.py`.
        message: what went wrong where no test could tell it (an error on import, a dead process).
        place: the learner's line that `message` is about.
        diagnosis: of the known mistake that these failures look like.
        hint: the command that shows the next hint.
        notes: what the submission tried and wasn't let do.
        output: what it printed, its first part.
        output_bytes: how much it printed in all.
        seed: of the property tests; the same seed gives the same verdict.
        seconds: from the start of the submission's process to its end.
        file: where the submission came from.
        content_hash: of the exercise.
        source_hash: of the submission.
        schema_version: of this structure.
    """

    exercise: str
    title: str
    status: Status
    cases: list[Case] = []
    message: str = ""
    place: Place | None = None
    diagnosis: str = ""
    hint: str = ""
    notes: list[str] = []
    output: str = ""
    output_bytes: int = 0
    seed: int = 0
    seconds: float = 0.0
    file: str = ""
    content_hash: str = ""
    source_hash: str = ""
    schema_version: int = SCHEMA_VERSION

    @property
    def passed(self) -> bool:
        """Whether all is well."""
        return self.status == "passed"

    @property
    def first_failure(self) -> Case | None:
        """The case to talk about first."""
        bad = [case for case in self.cases if case.status in ("failed", "error", "timeout")]
        return bad[0] if bad else None

    def count(self, status: CaseStatus) -> int:
        """How many cases have this status."""
        return sum(case.status == status for case in self.cases)


def to_json(verdict: Verdict) -> str:
    """A verdict as indented JSON."""
    return json.dumps(msgspec.to_builtins(verdict), ensure_ascii=False, indent=2)


def from_json(text: str | bytes) -> Verdict:
    """The verdict that `to_json` wrote.

    Raises:
        msgspec.ValidationError: it isn't one.
    """
    return msgspec.json.decode(text, type=Verdict)


def schema_text() -> str:
    """The JSON schema as the file has it."""
    schema = msgspec.json.schema(Verdict)
    return json.dumps(schema, ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8", newline="\n")
