"""The chat panel without a browser, on a client that needs no processes."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from minisgl.message import UserReply
from notebooks.widgets.chat import Answer, ChatPanel


class FakeClient:
    """Gives the pieces that it was made with, the last one only when it may."""

    def __init__(self, *pieces, note=""):
        self.pieces, self.note = pieces, note
        self.may_end = threading.Event()
        self.asked, self.aborted = [], []

    def stream(self, messages, params=None, timeout=120):
        self.asked.append(messages)
        finished = False
        try:
            for place, piece in enumerate(self.pieces):
                finished = place == len(self.pieces) - 1
                if finished:
                    assert self.may_end.wait(60)
                yield UserReply(7, piece, finished, "length" if finished else None)
        finally:
            if not finished:
                self.aborted.append(7)

    def ids(self, uid):
        return [uid, 1, 2]


def free(*pieces, note=""):
    client = FakeClient(*pieces, note=note)
    client.may_end.set()
    return client


def test_a_conversation():
    client = free("Hello", "", " <b>🦩</b>")
    panel = ChatPanel(client)
    panel.say("Hi")
    assert panel.wait() == "Hello <b>🦩</b>"
    assert (panel.answer.reason, panel.running) == ("length", False)
    panel.say("And?")
    panel.wait()
    assert client.asked[1] == [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello <b>🦩</b>"},
        {"role": "user", "content": "And?"},
    ]
    assert "&lt;b&gt;🦩&lt;/b&gt;" in panel.screen.value and "<b>🦩" not in panel.screen.value
    assert repr(panel).splitlines()[-1] == "assistant: Hello <b>🦩</b>"
    panel.new()
    assert panel.messages == [] and "Nothing said yet." in panel.screen.value


def test_stop_sends_an_abort_and_keeps_what_has_come():
    client = FakeClient("Hello", " wor", "ld")
    panel = ChatPanel(client)
    panel.say("Hi")
    with pytest.raises(RuntimeError, match="still coming"):
        panel.say("Again")
    panel.stop()
    client.may_end.set()
    panel.wait()
    assert panel.answer.reason in ("abort", "length")  # it may have ended by itself before
    assert client.aborted == ([7] if panel.answer.reason == "abort" else [])
    assert panel.messages[-1]["content"] == panel.answer.text


def test_enter_sends_and_in_the_empty_field_stops():
    client = FakeClient("Hello", " world")
    panel = ChatPanel(client)
    panel.field.value = "  Hi  "
    panel._typed()
    assert panel.field.value == "" and panel.messages[0]["content"] == "Hi"
    panel.field.value = "too early"
    panel._typed()
    assert panel.field.value == "too early" and not panel._stopping.is_set()
    panel.field.value = ""
    panel._typed()
    assert panel._stopping.is_set()
    client.may_end.set()
    panel.wait()


def test_held_back_tokens():
    answer = Answer()
    for piece, held in (("a", 0), ("", 1), ("", 2), ("🦩", 0), ("", 1)):
        answer.add(UserReply(1, piece, False))
        assert answer.held == held
    assert answer.facts(with_speed=False) == "5 tokens · held back: 1"
    answer.add(UserReply(1, "�", True, "length"))
    assert answer.held == 0
    assert answer.facts(with_speed=False) == "6 tokens · ended by 'length'"


def test_what_is_left_without_a_kernel_and_without_the_model():
    panel = ChatPanel(free("Hi", note="A recorded reply."), title="Talk")
    panel.say("Hello")
    panel.wait()
    bundle = panel._repr_mimebundle_()
    for text in ("A recorded reply.", "Hello", "Hi"):
        assert text in bundle["text/html"] and text in bundle["text/plain"]
    assert "needs a kernel" in bundle["text/html"] and "<script" not in bundle["text/html"]
    assert "tokens/s" not in bundle["text/html"] + bundle["text/plain"]  # a time would differ


def test_watch_shows_the_tokens_of_an_answer():
    seen = []

    def watch(ids):
        seen.append(ids)
        return SimpleNamespace(_repr_mimebundle_=lambda: {"text/plain": f"{len(ids)} tokens"})

    panel = ChatPanel(free("Hi"), watch=watch)
    panel.say("Hello")
    panel.wait()
    assert seen == [[7, 1, 2]]
    [output] = panel.below.outputs
    assert output["data"] == {"text/plain": "3 tokens"}


def test_an_error_is_told():
    class Broken(FakeClient):
        def stream(self, messages, params=None, timeout=120):
            raise TimeoutError("nothing came")
            yield

    panel = ChatPanel(Broken())
    panel.say("Hi")
    panel.wait()
    assert (panel.answer.reason, panel.answer.error) == ("error", "nothing came")
    assert "nothing came" in panel.status.value
