"""A submission can't pass with the course's own class, nor by bending the tokenizer."""

from __future__ import annotations

import pytest

from practice.judging.client import Judge
from practice.judging.exercises import Exercise, load_exercise

from .conftest import OWN_EXERCISES

RIGHT = """
from minisgl.message import DetokenizeMsg
from minisgl.tokenizer import StopStrings


class DetokenizeManager:
    def __init__(self, tokenizer):
        self.tokenizer, self.ids = tokenizer, []

    def detokenize(self, msgs):
        assert isinstance(msgs[0], DetokenizeMsg)
        self.ids += [msg.next_token for msg in msgs]
        return [self.tokenizer.decode(self.ids) if msgs[0].finished else ""]
"""
DELEGATES = """
class DetokenizeManager:
    def __init__(self, tokenizer):
        import minisgl.tokenizer as t
        self.inner = t.DetokenizeManager(tokenizer)

    def detokenize(self, msgs):
        return self.inner.detokenize(msgs)
"""
EMPTY = """
class DetokenizeManager:
    def __init__(self, tokenizer): pass
    def detokenize(self, msgs): return [""] * len(msgs)
"""


@pytest.fixture(scope="module")
def stream() -> Exercise:
    return load_exercise(OWN_EXERCISES / "stream")


def test_other_parts_of_the_package_can_be_used(judge: Judge, stream: Exercise) -> None:
    verdict = judge.judge(stream, RIGHT)
    assert verdict.passed, verdict


@pytest.mark.parametrize(
    "source",
    [
        "from minisgl.tokenizer import DetokenizeManager",
        "from minisgl.tokenizer import *",
        "from minisgl.tokenizer.detokenize import DetokenizeManager",
        "import minisgl.tokenizer.detokenize as d\nDetokenizeManager = d.DetokenizeManager",
        "import minisgl.tokenizer.detokenize as d\nDetokenizeManager = getattr(d, "
        "'Detokenize' + 'Manager')",
        "from minisgl.tokenizer import ByteDetokenizeManager as DetokenizeManager",
        "import sys\nfor n in [n for n in sys.modules if n.startswith('minisgl')]:\n"
        "    del sys.modules[n]\nfrom minisgl.tokenizer import DetokenizeManager",
        "import importlib, minisgl.tokenizer.detokenize as d\n"
        "DetokenizeManager = importlib.reload(d).DetokenizeManager",
    ],
)
def test_the_finished_class_is_hidden(judge: Judge, stream: Exercise, source: str) -> None:
    verdict = judge.judge(stream, source)
    assert verdict.status == "error"
    assert "is what this exercise asks you to write" in verdict.message


@pytest.mark.parametrize(
    "source",
    [
        "import minisgl.tokenizer.detokenize as d\n"
        "DetokenizeManager = vars(d)['DetokenizeManager']",
        "import inspect, minisgl.tokenizer.detokenize as d\nexec(inspect.getsource(d))",
        DELEGATES,
    ],
)
def test_nor_by_other_ways(judge: Judge, stream: Exercise, source: str) -> None:
    assert judge.judge(stream, source).status in ("error", "failed")


@pytest.mark.parametrize(
    "patch",
    [
        "from transformers import PreTrainedTokenizerBase as B\nB.decode = lambda *a, **k: ''",
        "from transformers import PreTrainedTokenizerFast as B\nB.decode = lambda *a, **k: ''",
        "import tokenizers\ntry: tokenizers.Tokenizer.decode = lambda *a, **k: ''\n"
        "except TypeError: pass",
    ],
)
def test_a_bent_tokenizer_is_no_pass(judge: Judge, stream: Exercise, patch: str) -> None:
    assert not judge.judge(stream, patch + EMPTY).passed
    assert judge.judge(stream, RIGHT).passed  # and the next one has the tokenizer as it was


def test_a_teacher_can_allow_it(
    judge: Judge, stream: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "from minisgl.tokenizer import DetokenizeManager"
    monkeypatch.setenv("MINISGL_JUDGE_ALLOW_REFERENCE", "1")
    assert judge.judge(stream, source).passed
    monkeypatch.delenv("MINISGL_JUDGE_ALLOW_REFERENCE")
    assert judge.judge(stream, source).status == "error"
