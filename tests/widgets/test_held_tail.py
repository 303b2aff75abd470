"""`HeldTail`: its steps against the texts themselves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from minisgl.tokenizer import StopChecker, StopStrings
from notebooks.widgets import HeldTail
from notebooks.widgets.held_tail import held_steps

PIECES = ["4", "2", ".</", "answer", ">", " Bye"]
HARD = "<b>&</script><script>alert(1)</script>"


def checker(*stops: str) -> StopChecker:
    return StopChecker(StopStrings(list(stops)))


def test_steps_of_a_hit() -> None:
    steps = held_steps(checker("</answer>"), PIECES)
    assert [step["held"] for step in steps] == ["", "", "</", "</answer", "", "", ""]
    assert [step["shown"] for step in steps] == ["4", "42", "42.", "42.", "42.", "42.", "42."]
    assert [step["cut"] for step in steps[4:]] == ["</answer>", "</answer> Bye", "</answer> Bye"]


def test_pairs_of_text_and_abort_are_understood() -> None:
    class Pairs:
        def __init__(self) -> None:
            self.inner = checker("</answer>")

        def feed(self, text: str) -> tuple[str, bool]:
            before = self.inner.hit
            return self.inner.feed(text), self.inner.hit and not before

        def finish(self) -> str:
            return self.inner.finish()

    assert held_steps(Pairs(), PIECES) == held_steps(checker("</answer>"), PIECES)


@given(st.lists(st.text("ab", max_size=4), max_size=6))
def test_parts_are_the_text(pieces: list[str]) -> None:
    steps = held_steps(checker("aab", "ba"), pieces)
    text = ""
    for step in steps:
        text += step["piece"]
        assert step["shown"] + step["held"] + step["cut"] == text
        assert not (step["held"] and step["cut"])
    assert steps[-1]["held"] == ""


def test_text_says_what_happens() -> None:
    lines = HeldTail(checker("STOP"), ["one ST", "EP", " ST"], title="Held").text.splitlines()
    assert lines[0] == "Held"
    assert "held back: a stop string could begin here" in lines[2]
    assert "'one␣'" in lines[2] and "'ST'" in lines[2]
    assert lines[3].endswith("shown")
    assert lines[-1].endswith("the reply ends: what was held is shown")


def test_nothing_in_a_reply_becomes_markup() -> None:
    drawing = HeldTail(checker("STOP"), [HARD], title=HARD)
    assert "<b>" not in drawing.html and "alert(1)</script>" not in drawing.html
    assert drawing.html == HeldTail(checker("STOP"), [HARD], title=HARD).html
