"""`replay`: a stream that failed, in the player, beside the reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .frame import Drawing
from .tracing import Trace, trace
from .window_player import WindowPlayer


def replay(
    stream: Mapping[str, Any],
    *,
    yours: Trace | None = None,
    reference: Trace | None = None,
    title: str | None = None,
) -> Drawing:
    """A player for a stream of token ids.

    Args:
        stream: ``ids``, and ``tokenizer``, the alias of a bundled one.
        yours: the learner's run of it; without one, the course's own manager is shown.
        reference: the run to show beside it.
        title: stands above.

    Raises:
        KeyError: the stream has no ids or no tokenizer.
    """
    if yours is not None:
        return WindowPlayer(yours, against=reference, title=title)
    return WindowPlayer(reference or _reference(stream), title=title)


def _reference(stream: Mapping[str, Any]) -> Trace:
    from minisgl.tokenizer import DetokenizeManager
    from minisgl.utils import load_tokenizer

    manager = DetokenizeManager(load_tokenizer(stream["tokenizer"]))
    return trace(manager, stream["ids"], name="the course's own")
