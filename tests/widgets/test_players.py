"""The players' output: stable, small, safe, with a text twin. The browser tests see it move."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from benchmarks.published import PublishedDetokenizeManager
from minisgl.tokenizer import ByteDetokenizeManager, DetokenizeManager
from notebooks.widgets import BatchPlayer, Drawing, WindowPlayer, batch_trace, live, replay, trace
from notebooks.widgets.frame import read_asset, script_json, text_parts, visible_html, visible_text

SEED = "鱻䨻🦩 is rare, 推理 naïve"
HOSTILE = "</script><script>alert(1)</script><!-- &amp; \u2028 ' \" \\ {{x}} %(data)s"


class Parts(HTMLParser):
    """Which elements there are, and the data of the script."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.script = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "script":
            self.script += data


def drawings(tokenizer: Any) -> dict[str, Drawing]:
    right = trace(PublishedDetokenizeManager(tokenizer), SEED)
    byte = trace(ByteDetokenizeManager(tokenizer), SEED)
    return {
        "windows": WindowPlayer(right),
        "beside": WindowPlayer(byte, against=right),
        "predict": WindowPlayer(right, predict=True, title="Guess"),
        "batch": BatchPlayer(
            batch_trace(PublishedDetokenizeManager(tokenizer), {1: SEED, 5: "two words"})
        ),
    }


@pytest.mark.parametrize("name", ["windows", "beside", "predict", "batch"])
def test_a_run_gives_the_same_output_each_time(name: str, qwen3: Any) -> None:
    first, second = drawings(qwen3)[name], drawings(qwen3)[name]
    assert first.html == second.html and repr(first) == repr(second)
    bundle = first._repr_mimebundle_()
    assert sorted(bundle) == ["text/html", "text/plain"]
    assert bundle["text/plain"] == first.text


def test_different_runs_have_different_names(qwen3: Any) -> None:
    assert len({drawing.hash for drawing in drawings(qwen3).values()}) == 4


@pytest.mark.parametrize("name", ["windows", "beside", "predict", "batch"])
def test_nothing_is_fetched(name: str, qwen3: Any) -> None:
    html = drawings(qwen3)[name].html
    assert not re.search(r"https?:|src=|@import|url\(|\bfetch\b|XMLHttp|eval\(", html)
    assert 'id="' not in html  # the same output may stand twice on a page


@pytest.mark.parametrize("name", ["common.js", "player.js", "batch.js"])
def test_scripts_look_at_their_root_only(name: str) -> None:
    script = read_asset(name)
    assert not re.search(r"document\.(?!createElement)|localStorage|innerHTML|cookie", script)
    assert len(read_asset("common.js")) + len(read_asset("player.js")) < 15_000


def test_the_text_has_the_facts(qwen3: Any) -> None:
    run = trace(PublishedDetokenizeManager(qwen3), SEED)
    lines = repr(WindowPlayer(run, title="Seed")).splitlines()
    assert lines[0] == "Seed" and len(lines) == 2 + len(run["ids"])
    assert lines[2].split()[:4] == ["0", "100024", "e9", "b1"] and lines[2].endswith("(empty)  0")
    assert lines[-1].split()[-2:] == ["'ve'", "21"]


def test_an_error_is_told_in_both(qwen3: Any) -> None:
    class Broken:
        tokenizer = qwen3

        def push(self, token: int) -> str:
            raise ValueError("<b>no</b>")

    drawing = WindowPlayer(trace(Broken(), SEED))
    assert "It ended here: ValueError: <b>no</b> (line " in drawing.text
    assert "It ended here: ValueError: &lt;b&gt;no&lt;/b&gt; (line " in drawing.html


def test_texts_can_not_leave_the_script(qwen3: Any) -> None:
    run = trace(DetokenizeManager(qwen3), HOSTILE, name=HOSTILE)
    parts = Parts(WindowPlayer(run).html)
    assert parts.tags.count("script") == 1 and "b" not in parts.tags
    assert json.loads(script_json({"text": HOSTILE})) == {"text": HOSTILE}
    assert not set(script_json(HOSTILE)) & set("<>&\u2028")


@pytest.mark.parametrize("against", [False, True])
def test_a_long_reply_stays_small(against: bool, qwen3: Any) -> None:
    class Whole:
        """Decodes the whole reply at every token."""

        def __init__(self) -> None:
            self.tokenizer, self.ids = qwen3, []
            self.surr_offset = self.read_offset = self.sent = 0

        def push(self, token: int) -> str:
            self.ids.append(token)
            text = self.tokenizer.decode(self.ids)
            piece, self.sent = text[self.sent :], len(text)
            return piece

        def finish(self) -> str:
            return ""

    text = SEED * 40
    other = trace(PublishedDetokenizeManager(qwen3), text) if against else None
    drawing = WindowPlayer(trace(Whole(), text), against=other)
    assert len(drawing.html.encode()) < 100_000 and len(drawing.text) < 20_000
    batch = batch_trace(PublishedDetokenizeManager(qwen3), dict.fromkeys(range(16), SEED * 2))
    assert len(BatchPlayer(batch).html.encode()) < 100_000


def test_wrong_arguments_are_told(qwen3: Any) -> None:
    run = trace(DetokenizeManager(qwen3), SEED)
    with pytest.raises(ValueError, match="different tokens"):
        WindowPlayer(run, against=trace(DetokenizeManager(qwen3), "other"))
    with pytest.raises(TypeError, match="batch_trace"):
        BatchPlayer(run)
    with pytest.raises(TypeError, match="trace"):
        WindowPlayer({})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", "'' (empty)"),
        ("a b\n", "'a␣b⏎'"),
        ("\u0301a\u0301", "'◌\u0301a\u0301'"),
        (" \u0947", "'␣◌\u0947'"),
        ("\ufffd", "'\ufffd'"),
        ("👩\u200d🚀", "'👩\u200d🚀'"),
        ("\u200d", "'⟨200D⟩'"),
        ("\x00\ufeff\u202e", "'⟨0000⟩⟨FEFF⟩⟨202E⟩'"),
        ("مرحبا", "'مرحبا'"),
    ],
)
def test_what_cannot_be_seen_is_drawn(text: str, shown: str) -> None:
    assert visible_text(text) == shown
    html = visible_html(text)
    assert html.startswith("<bdi") and html.endswith("</bdi>")
    assert "".join(part for _, part in text_parts(text)) in re.sub("<[^>]*>", "", html)


def test_live_traces_what_is_typed(qwen3: Any) -> None:
    shown = live(PublishedDetokenizeManager, "a", qwen3)
    shown.field.value = "a🦩"
    drawing = shown.drawing
    assert isinstance(drawing, WindowPlayer)
    run = trace(PublishedDetokenizeManager(qwen3), "a🦩")
    assert drawing.html == WindowPlayer(run).html and repr(shown) == drawing.text
    shown.field.value = ""
    assert "type something" in repr(shown)
    assert "1 / 0" not in repr(live(lambda: 1 / 0, "a")) and "division" in repr(
        live(lambda: 1 / 0, "a")
    )


def test_replay_of_a_stream_alone() -> None:
    drawing = replay({"ids": [100024, 119], "tokenizer": "qwen3"})
    assert "the course's own" in drawing.text and "'鱻'" in drawing.text
    page = drawing.page("A <page>")
    assert page.startswith("<!DOCTYPE html>") and "A &lt;page&gt;" in page
