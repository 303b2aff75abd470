"""What the lessons draw with. Each needs no kernel once it is shown, and no network.

``trace`` and ``batch_trace`` record a run as plain data; the others draw. A name is imported when
it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .batch_player import BatchPlayer
    from .batch_tracing import batch_trace
    from .bytes_view import BytesView
    from .frame import Drawing
    from .held_tail import HeldTail
    from .latency_chart import LatencyChart
    from .live_player import live
    from .queue_diagram import QueueDiagram
    from .replaying import replay
    from .tracing import trace
    from .window_player import WindowPlayer

__all__ = [
    "BatchPlayer",
    "BytesView",
    "Drawing",
    "HeldTail",
    "LatencyChart",
    "QueueDiagram",
    "WindowPlayer",
    "batch_trace",
    "live",
    "replay",
    "trace",
]

_PLACES = {
    "BatchPlayer": "batch_player",
    "BytesView": "bytes_view",
    "Drawing": "frame",
    "HeldTail": "held_tail",
    "LatencyChart": "latency_chart",
    "QueueDiagram": "queue_diagram",
    "WindowPlayer": "window_player",
    "batch_trace": "batch_tracing",
    "live": "live_player",
    "replay": "replaying",
    "trace": "tracing",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_PLACES[name]}", __name__), name)
    globals()[name] = value  # from now on without this detour
    return value
