"""A chat: a field to type in, the answer as it comes, a stop button, and what is held back.

Keys: Enter in the field sends; Enter in the empty field stops an answer. What answers is a client
with ``stream``, ``abort`` and ``ids`` (`examples.client.Client` is one), so this needs a kernel;
without one, the conversation stands there as it was.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets

from minisgl.core import SamplingParams
from minisgl.message import UserReply, WireError

UPDATE_SECONDS = 0.05  # the page is drawn again so often at the most
SETTLE_SECONDS = 0.2
WAIT_SECONDS = 120.0
FRAME = (
    "border: 1px solid var(--jp-border-color1, #888); border-radius: 6px; padding: 8px 12px; "
    "min-height: 3em; max-height: 24em; overflow-y: auto; overflow-wrap: anywhere; "
    "line-height: 1.5; color: var(--jp-ui-font-color1, inherit); font-size: 14px"
)
QUIET = "color: var(--jp-ui-font-color2, inherit)"
KEYS = "Enter sends; Enter in the empty field stops an answer."


class Answer:
    """What is known of one answer while it comes.

    Attributes:
        pieces: the text that each token brought; "" where it was held back.
        reason: why it ended: "stop", "length", "abort", "error"; empty while it runs.
        error: with "error": what was wrong.
        uid: the request's id.
    """

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.reason = self.error = ""
        self.uid = 0
        self.began = self.took = 0.0

    def add(self, reply: UserReply) -> None:
        """One more piece."""
        now = time.perf_counter()
        self.began = self.began or now
        self.took = now - self.began
        self.uid = reply.uid
        self.pieces.append(reply.incremental_output)
        if reply.finished:
            self.reason, self.error = reply.finish_reason or "stop", reply.error or ""

    @property
    def text(self) -> str:
        """All that was shown."""
        return "".join(self.pieces)

    @property
    def held(self) -> int:
        """So many of the latest tokens have shown nothing yet."""
        count = 0
        while not self.reason and count < len(self.pieces) and not self.pieces[-1 - count]:
            count += 1
        return count

    def facts(self, with_speed: bool = True) -> str:
        """One line: tokens, tokens a second, how many are held back, how it ended."""
        parts = [f"{len(self.pieces)} tokens"]
        if with_speed and self.took > 0:
            parts.append(f"{(len(self.pieces) - 1) / self.took:.1f} tokens/s")
        parts.append(f"ended by {self.reason!r}" if self.reason else f"held back: {self.held}")
        return " · ".join(parts) + (f" · {self.error}" if self.error else "")


class ChatPanel(ipywidgets.VBox):
    """A conversation with a model.

    Args:
        client: answers.
        params: how; `SamplingParams()` takes the likeliest token each time.
        watch: given the tokens of an answer that has ended, something to show below the chat.
        title: stands above it, and is what a screen reader calls it.

    Attributes:
        messages: the conversation, as it goes to the model.
        answer: the last answer.
        running: whether it is still coming.
    """

    def __init__(
        self,
        client: Any,
        params: SamplingParams | None = None,
        *,
        watch: Callable[[list[int]], Any] | None = None,
        title: str = "Chat",
    ) -> None:
        self.client, self.params, self.watch, self.title = client, params, watch, title
        self.messages: list[dict[str, str]] = []
        self.answer, self.running = Answer(), False
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        wide = ipywidgets.Layout(width="auto", flex="1 1 auto")
        self.screen, self.status = ipywidgets.HTML(), ipywidgets.HTML()
        self.field = ipywidgets.Text(placeholder="Say something", description="You:", layout=wide)
        self.send_button = ipywidgets.Button(description="Send", button_style="primary")
        self.stop_button = ipywidgets.Button(description="Stop", disabled=True)
        self.new_button = ipywidgets.Button(description="New chat")
        self.below = ipywidgets.Output()
        with warnings.catch_warnings():  # the way without a warning sends on Tab too
            warnings.simplefilter("ignore", DeprecationWarning)
            self.field.on_submit(lambda _: self._soon())
        self.send_button.on_click(lambda _: self._soon())
        self.stop_button.on_click(lambda _: self.stop())
        self.new_button.on_click(lambda _: self.new())
        row = [self.field, self.send_button, self.stop_button, self.new_button]
        wrap = ipywidgets.Layout(display="flex", flex_flow="row wrap")
        boxes = [self.screen, ipywidgets.HBox(row, layout=wrap), self.status, self.below]
        super().__init__(boxes, layout=ipywidgets.Layout(max_width="960px"))
        self._draw()

    def say(self, text: str) -> None:
        """Says `text` to the model; the answer comes by itself.

        Raises:
            RuntimeError: the last answer is still coming.
        """
        if self.running:
            raise RuntimeError("the last answer is still coming: wait for it, or stop it")
        self.wait()
        self.messages.append({"role": "user", "content": text})
        self.answer, self.running = Answer(), True
        self._stopping.clear()
        self._thread = threading.Thread(target=self._take, name="chat", daemon=True)
        self._draw()
        self._thread.start()

    def stop(self) -> None:
        """Ends the answer that is coming; what has come stays."""
        self._stopping.set()

    def wait(self, seconds: float = WAIT_SECONDS) -> str:
        """Waits for the answer's end; gives its text."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self.answer.text

    def new(self) -> None:
        """Ends the answer that is coming and begins another conversation."""
        self.stop()
        self.wait()
        self.messages, self.answer = [], Answer()
        self.below.outputs = ()
        self._draw()

    def ids(self) -> list[int]:
        """The tokens of the last answer."""
        return list(self.client.ids(self.answer.uid))

    def _soon(self) -> None:
        """The page holds letters back while the kernel is busy, but not the Enter after them."""
        threading.Timer(SETTLE_SECONDS, self._typed).start()

    def _typed(self) -> None:
        text = self.field.value.strip()
        if text and not self.running:
            self.field.value = ""
            self.say(text)
        elif not text:
            self.stop()

    def _take(self) -> None:
        """Runs in a thread of its own: the page stays alive while an answer comes."""
        answer, drawn = self.answer, 0.0
        try:
            for reply in self.client.stream(list(self.messages), self.params, WAIT_SECONDS):
                answer.add(reply)
                if self._stopping.is_set() and not answer.reason:
                    answer.reason = "abort"  # leaving the loop sends it
                    break
                if time.perf_counter() - drawn > UPDATE_SECONDS:
                    self._draw()
                    drawn = time.perf_counter()
        except (RuntimeError, TimeoutError, WireError) as error:  # told, not raised in a thread
            answer.reason, answer.error = "error", str(error)
        self.messages.append({"role": "assistant", "content": answer.text})
        self.running = False
        self._draw()
        if self.watch is not None and answer.pieces:
            self._show_below(self.watch(self.ids()))

    def _show_below(self, drawing: Any) -> None:
        bundle = drawing._repr_mimebundle_()
        output = {"output_type": "display_data", "data": bundle, "metadata": {}}
        self.below.outputs = (output,)

    def _draw(self) -> None:
        self.screen.value = self._conversation()
        self.stop_button.disabled = not self.running
        self.send_button.disabled = self.running
        known = self.answer.pieces or self.answer.reason
        facts = escape(self.answer.facts()) if known else KEYS
        self.status.value = f'<div role="status" style="{QUIET}">{facts}</div>'

    def _conversation(self) -> str:
        """As HTML with inline styles, which is also what is left without a kernel."""
        turns = [(m["role"], m["content"]) for m in self.messages]
        if self.running and self.answer.pieces:
            turns.append(("assistant", self.answer.text + " ▍"))
        names = {"user": "You", "assistant": "Model"}
        lines = [
            f'<p style="margin: 4px 0"><b>{names[role]}:</b> '
            f'<bdi style="white-space: pre-wrap">{escape(text)}</bdi></p>'
            for role, text in turns
        ] or [f'<p style="margin: 4px 0; {QUIET}">Nothing said yet.</p>']
        note = self.client.note
        if note:
            lines.insert(0, f'<p style="margin: 4px 0"><em>{escape(note)}</em></p>')
        return (
            f'<div role="log" aria-busy="{str(self.running).lower()}" tabindex="0" '
            f'aria-label="{escape(self.title)}" style="{FRAME}">{"".join(lines)}</div>'
        )

    def __repr__(self) -> str:
        lines = [f"{self.title}: {len(self.messages)} messages"]
        lines += [self.client.note] if self.client.note else []
        lines += [f"{m['role']}: {m['content']}" for m in self.messages]
        return "\n".join(lines)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        bundle = dict(super()._repr_mimebundle_(**options))
        again = f'<p style="{QUIET}">Run the cell to chat: the panel needs a kernel.</p>'
        return bundle | {"text/html": self._conversation() + again, "text/plain": repr(self)}
