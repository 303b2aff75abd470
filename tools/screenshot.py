"""``python tools/screenshot.py``: makes the README's picture of the window player anew.

Needs Chromium and the packages of ``python3 start.py setup --dev``. The run is that of the sentence
in lesson 03, with the published window beside `minisgl`'s, a few steps on.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.published import PublishedDetokenizeManager
from minisgl.tokenizer import DetokenizeManager
from minisgl.utils import load_tokenizer
from notebooks.widgets import WindowPlayer, trace
from tests.browser.lab import chromium
from tools.cells import ROOT

PICTURE = ROOT / "notebooks" / "images" / "window-player.png"
SENTENCE = "鱻䨻🦩 is rare, 推理 naïve"
STEPS = 19  # within 推: two tokens, the first of which also brings a space


def main() -> None:
    """Writes `PICTURE`."""
    tokenizer = load_tokenizer("qwen3")
    ours = trace(DetokenizeManager(tokenizer), SENTENCE, name="minisgl")
    theirs = trace(PublishedDetokenizeManager(tokenizer), SENTENCE, name="published")
    drawing = WindowPlayer(ours, against=theirs, title="One sentence, token by token")
    PICTURE.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(drawing.page("Window player"), encoding="utf-8")
        with chromium(viewport={"width": 900, "height": 800}, color_scheme="light") as page:
            page.goto(path.as_uri())
            player = page.locator(".msw-window-player")
            player.focus()
            for _ in range(STEPS):
                page.keyboard.press("ArrowRight")
            player.screenshot(path=PICTURE, animations="disabled")
    print(f"written: {PICTURE.relative_to(ROOT).as_posix()}")


if __name__ == "__main__":
    main()
