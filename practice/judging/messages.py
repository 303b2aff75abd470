"""What the command and the warm process say to each other, one JSON document a line."""

from __future__ import annotations

import msgspec

from .verdict import Verdict


class Request(msgspec.Struct):
    """What the warm process is asked for.

    Attributes:
        folder: of the exercise.
        source: the submission; None only makes everything ready for it.
        file: its name, as the learner knows it.
        seed: of the property tests.
        allow_reference: a teacher's switch, see `paths.reference_allowed`.
    """

    folder: str
    source: str | None = None
    file: str = ""
    seed: int = 0
    allow_reference: bool = False


class Answer(msgspec.Struct):
    """Either a verdict, or an error of the judge itself; neither where only asked to be ready."""

    verdict: Verdict | None = None
    error: str = ""
