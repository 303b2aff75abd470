"""The judge in real JupyterLab, in a real browser: an exercise is judged on Shift+Enter."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run"
).split()
WAIT_MS = 90_000  # until a test gives up; no speed is judged

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not Path(CHROMIUM).exists(), reason="there is no Chromium here"),
]

WRONG = "def count(text):\n    return len(text), len(text.encode())"
RIGHT = "def count(text):\n    return len(text.encode()), len(text)"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """The address of JupyterLab in a folder that holds the notebook with three hand-ins."""
    notebook = nbformat.v4.new_notebook()
    starter = (ROOT / "practice/exercises/warm-up/starter.py").read_text(encoding="utf-8")
    sources = ["%load_ext practice", *(f"%%judge warm-up\n{s}" for s in (starter, WRONG, RIGHT))]
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.metadata["kernelspec"] = kernel  # else JupyterLab asks for one
    nbformat.write(notebook, tmp_path / "lesson.ipynb")
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "MINISGL_WORKSPACE": str(tmp_path / "workspace"),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "JUPYTER_DATA_DIR": str(tmp_path / "data"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "HOME": str(tmp_path),
    }
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"),
            *("--ip=127.0.0.1", f"--ServerApp.root_dir={tmp_path}"),
            "--LabApp.news_url=None",
        ],
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=env,
        cwd=tmp_path,
    )
    assert server.stderr is not None
    address = ""
    for line in server.stderr:
        found = re.search(r"http://127\.0\.0\.1:\d+/lab\?token=\w+", line)
        if found:
            address = found[0]
            break
    assert address
    try:
        yield address.replace("/lab?", "/lab/tree/lesson.ipynb?")
    finally:
        server.terminate()
        server.communicate(timeout=30)


def test_verdicts_appear_under_the_cells(lab: str, tmp_path: Path) -> None:
    from playwright.sync_api import expect, sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1100, "height": 1400})
        page.goto(lab, timeout=WAIT_MS)
        cells = page.locator(".jp-Notebook .jp-CodeCell")
        cells.first.wait_for(timeout=WAIT_MS)
        cells.first.locator(".cm-content").click()
        # Before the kernel is ready a key press runs nothing, so each waits for the one before.
        page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').wait_for(
            state="attached", timeout=WAIT_MS
        )
        for number in range(4):
            page.keyboard.press("Shift+Enter")
            prompt = cells.nth(number).locator(".jp-InputPrompt")
            expect(prompt).to_contain_text(f"[{number + 1}]", timeout=WAIT_MS)
        verdicts = page.locator(".jp-OutputArea-output")
        expect(verdicts.nth(0)).to_contain_text("Not started", timeout=WAIT_MS)
        expect(verdicts.nth(1)).to_contain_text("Not yet", timeout=WAIT_MS)
        expect(verdicts.nth(1)).to_contain_text("changed places")  # the known mistake, by name
        expect(verdicts.nth(2)).to_contain_text("Right", timeout=WAIT_MS)
        folder = Path(os.environ.get("CI_ARTIFACTS") or tmp_path)
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / "judge-in-jupyterlab.png")
        browser.close()
    kept = (tmp_path / "workspace" / "warm-up.py").read_text(encoding="utf-8")
    assert kept.strip() == RIGHT  # the terminal judges the same file
