"""The still pictures: their facts against the same facts computed another way."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minisgl.tokenizer import ByteDetokenizeManager, DetokenizeManager
from minisgl.utils import load_tokenizer
from notebooks.widgets import BytesView, LatencyChart, QueueDiagram, trace
from notebooks.widgets.bytes_view import break_lines, spell, spelled_by
from notebooks.widgets.latency_chart import held_tokens
from notebooks.widgets.queue_diagram import fold

TEXT = "鱻䨻🦩 is rare, 推理 naïve"
QWEN = load_tokenizer("qwen3")
HARD = "<b>&</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def qwen() -> Any:
    return QWEN


class Checked(HTMLParser):
    """Collects text; fails where an element isn't closed."""

    VOID = frozenset({"meta", "br", "hr", "img"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.words = ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += f" {data}"


@given(text=st.text(st.characters(codec="utf-8"), max_size=30))
def test_characters_and_tokens_spell_the_same_bytes(text: str) -> None:
    tokenizer = QWEN
    data, characters, tokens = spell(text, tokenizer)
    assert data == tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)).encode(
        "utf-8"
    )
    for runs in (characters, tokens):
        assert [run.start for run in runs] == [0, *(run.end for run in runs)][: len(runs)]
        assert (runs[-1].end if runs else 0) == len(data)
    for char, parts in spelled_by(characters, tokens):
        assert parts[0].start <= char.start < char.end <= parts[-1].end
    lines = break_lines(len(data), characters, tokens)
    assert b"".join(data[start:end] for start, end in lines) == data


def test_bytes_view_shows_where_a_character_is_cut(qwen: Any) -> None:
    view = BytesView(TEXT, qwen)
    lines = view.text.splitlines()
    assert lines[1].split() == ["character", "bytes", "token"]
    assert re.split(r"  +", lines[2]) == ["'鱻'", "e9 b1 | bb", "100024 | 119"]
    assert (
        lines[-1]
        == "21 characters, 33 bytes, 14 tokens; characters cut over several tokens (✂): 4."
    )
    words = Checked(view.html).words.split()
    assert words.count("✂") == 4
    for part in ("100024", "e9", "b1", "bb"):
        assert part in words


def test_bytes_view_of_sentencepiece_shows_its_own_space() -> None:
    view = BytesView("🦩", load_tokenizer("mistral-v1"))
    assert [run.name for run in view.characters] == [" ", "🦩"]
    assert "f0 | 9f | a6 | a9" in view.text


def test_bytes_view_says_what_it_needs() -> None:
    from tests.conftest import _trained

    with pytest.raises(ValueError, match="take a byte-level one"):
        BytesView("hi", _trained("wordpiece"))


def test_held_tokens_of_a_cut_character(qwen: Any) -> None:
    """鱻 and 🦩 are two tokens each: held is one, after the first of them."""
    run = trace(DetokenizeManager(qwen), "鱻a🦩")
    assert held_tokens(run) == [1, 0, 0, 1, 0]
    assert held_tokens(trace(ByteDetokenizeManager(qwen), "鱻a🦩")) == [1, 0, 0, 1, 0]


def test_held_tokens_of_one_who_waits_for_the_end(qwen: Any) -> None:
    class AtTheEnd:
        tokenizer = qwen

        def __init__(self) -> None:
            self.ids: list[int] = []

        def push(self, token: int) -> str:
            self.ids.append(token)
            return ""

        def finish(self) -> str:
            return str(qwen.decode(self.ids))

    assert held_tokens(trace(AtTheEnd(), [832, 1378, 2326])) == [1, 2, 0]


def test_held_tokens_without_bytes() -> None:
    from tests.conftest import _trained

    tokenizer = _trained("wordpiece")
    run = trace(DetokenizeManager(tokenizer), "the quick fox")
    assert held_tokens(run) == [0] * len(run["ids"])


def test_latency_chart_says_its_figures_as_text(qwen: Any) -> None:
    chart = LatencyChart(
        {"cut": trace(DetokenizeManager(qwen), "鱻a"), HARD: trace(DetokenizeManager(qwen), "b")}
    )
    assert re.split(r"  +", chart.text.splitlines()[2]) == ["cut", "1 0 0", "0.3", "1"]
    assert "held after each token: 1 0 0" in chart.html
    assert Checked(chart.html).tags.count("script") == 0


def test_queue_diagram_folds_runs_of_equal_messages() -> None:
    token = {"source": "scheduler", "target": "tokenizer", "label": "DetokenizeMsg"}
    events = [{**token, "detail": f"token {n}"} for n in range(3)]
    events.append({"source": "tokenizer", "target": HARD, "label": "UserReply"})
    diagram = QueueDiagram(events)
    assert [arrow.told for arrow in fold(events)] == [
        "DetokenizeMsg × 3: token 0 … token 2",
        "UserReply",
    ]
    assert diagram.text.splitlines()[1:] == [
        "scheduler → tokenizer   DetokenizeMsg × 3: token 0 … token 2",
        f"tokenizer → {HARD}   UserReply",
    ]
    page = Checked(diagram.html)
    assert page.tags.count("script") == 0
    assert page.tags.count("tr") == 1 + 2
    assert "▶" in page.words


def test_queue_diagram_names_what_an_event_lacks() -> None:
    with pytest.raises(ValueError, match="event 0 has no 'target'"):
        QueueDiagram([{"source": "a", "label": "x"}])


def test_same_facts_same_output(qwen: Any) -> None:
    """A notebook test compares outputs as text."""
    assert BytesView(TEXT, qwen).html == BytesView(TEXT, qwen).html
