"""`live`: a field to type in; what is typed is tokenized, traced and drawn as it is typed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from html import escape
from typing import Any

from .frame import Drawing
from .tracing import trace
from .window_player import WindowPlayer

LONGEST_TEXT = 200


def live(
    make_manager: Callable[..., Any],
    text: str = "鱻䨻🦩 is rare",
    tokenizer: Any = None,
    *,
    title: str | None = None,
) -> Live:
    """A field in a notebook, and the run of what is typed into it in a `WindowPlayer`.

    Args:
        make_manager: called for each text, with the tokenizer where it asks for an argument.
        text: what stands in the field at first.
        tokenizer: by default the manager's.
        title: as for `WindowPlayer`; by default the manager's name.
    """
    return Live(make_manager, text, tokenizer, title)


class Live:
    """What `live` returns. The drawing needs no kernel; only the field does.

    Attributes:
        field: the ipywidgets field; its ``value`` is the text.
        drawing: what is drawn now.
    """

    def __init__(
        self, make_manager: Callable[..., Any], text: str, tokenizer: Any, title: str | None
    ) -> None:
        import ipywidgets  # type: ignore[import-untyped]

        self._make_manager, self._tokenizer, self._title = make_manager, tokenizer, title
        self._shown: Any = None
        self.drawing = self._draw(text)
        self.field = ipywidgets.Text(
            value=text,
            description="Your text:",
            layout=ipywidgets.Layout(width="auto", max_width="960px"),
            style={"description_width": "initial"},
        )
        self.field.observe(self._typed, names="value")

    def _typed(self, change: Any) -> None:
        self.drawing = self._draw(change["new"])
        if self._shown is not None:
            self._shown.update(self.drawing)

    def _draw(self, text: str) -> Drawing:
        try:
            manager = _made(self._make_manager, self._tokenizer)
            run = trace(manager, text[:LONGEST_TEXT], tokenizer=self._tokenizer)
        except Exception as error:
            return _told(f"This text can't be traced: {type(error).__name__}: {error}")
        if not run["steps"]:
            return _told("No text, no tokens: type something into the field.")
        return WindowPlayer(run, title=self._title)

    def _ipython_display_(self) -> None:
        from IPython.display import display

        self._shown = display(self.drawing, display_id=True)  # type: ignore[no-untyped-call]
        display(self.field)  # type: ignore[no-untyped-call]

    def __repr__(self) -> str:
        return self.drawing.text


def _made(make_manager: Callable[..., Any], tokenizer: Any) -> Any:
    """A manager; the tokenizer goes in where an argument is asked for."""
    parameters = inspect.signature(make_manager).parameters.values()
    asked = [
        parameter
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if not asked:
        return make_manager()
    if tokenizer is None:
        raise TypeError("live needs tokenizer= where the manager is made with one")
    return make_manager(tokenizer)


def _told(text: str) -> Drawing:
    return Drawing(
        kind="told",
        label="Window player",
        static=f'<p style="margin: 0">{escape(text)}</p>',
        text=text,
    )
