"""JupyterLab as a learner has it: a server of its own on a folder, and Chromium."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run"
).split()
WAIT_MS = 90_000  # until a test gives up; no speed is judged
PRESS_AGAIN_MS = 4_000  # a key that came before the page was ready is lost


@contextmanager
def jupyterlab(folder: Path) -> Iterator[str]:
    """Serves `folder`; gives the address, to which ``/lab/tree/NAME`` belongs before its query."""
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "MINISGL_WORKSPACE": str(folder / "workspace"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "HOME": str(folder),
    }
    log = folder / "jupyterlab.log"
    # Into a file: a server whose pipe nobody empties stops when the pipe is full.
    with log.open("w", encoding="utf-8") as stderr:
        server = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"),
                *("--ip=127.0.0.1", f"--ServerApp.root_dir={folder}", "--LabApp.news_url=None"),
            ],
            stderr=stderr,
            env=env,
            cwd=folder,
        )
    try:
        yield _address(server, log)
    finally:
        server.terminate()
        try:
            server.wait(timeout=30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    """Waits for the address that JupyterLab prints when it serves."""
    give_up = time.monotonic() + WAIT_MS / 1000
    while time.monotonic() < give_up and server.poll() is None:
        found = re.search(
            r"http://127\.0\.0\.1:\d+/lab\?token=\w+\n", log.read_text(encoding="utf-8")
        )
        if found:
            return found[0].strip()
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab printed no address:\n{log.read_text(encoding='utf-8')}")


def start_kernel(address: str, name: str) -> None:
    """Starts a notebook's kernel, so that its page finds a session and makes none.

    JupyterLab answers "Run All" with a dialog that asks for a kernel as long as the session is
    being made, and every answer to it starts another kernel.
    """
    server, token = address.split("/lab?token=")
    session = {"path": name, "name": name, "type": "notebook", "kernel": {"name": "python3"}}
    request = urllib.request.Request(
        f"{server}/api/sessions",
        data=json.dumps(session).encode(),
        headers={"Authorization": f"token {token}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=WAIT_MS / 1000) as answer:
        answer.read()


@contextmanager
def chromium(**options: Any) -> Iterator[Any]:
    """A page of a fresh browser; `options` as Playwright's ``new_page``."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=WAIT_MS)  # its own 5 s are few on a busy machine
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            page = browser.new_page(**options)
            page.set_default_timeout(WAIT_MS)
            yield page
        finally:
            browser.close()


def open_notebook(page: Any, address: str, name: str) -> Any:
    """Opens a notebook and waits for its kernel; gives the locator of its code cells."""
    start_kernel(address.partition("&")[0], name)
    page.goto(address.replace("/lab?", f"/lab/tree/{name}?"), timeout=WAIT_MS)
    cells = page.locator(".jp-Notebook .jp-CodeCell")
    cells.first.wait_for()
    idle = page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
    idle.wait_for(state="attached")
    return cells


def run_cell(page: Any, cell: Any) -> None:
    """Runs a code cell as a learner does, and waits until it has run."""
    from playwright.sync_api import TimeoutError as GaveUp
    from playwright.sync_api import expect

    prompt = cell.locator(".jp-InputPrompt")
    for _ in range(WAIT_MS // PRESS_AGAIN_MS):
        cell.locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        try:
            expect(prompt).not_to_have_text("[ ]:", timeout=PRESS_AGAIN_MS)
            break
        except (AssertionError, GaveUp):
            continue
    expect(prompt).to_have_text(re.compile(r"\[\d+\]:"), timeout=WAIT_MS)


def artifacts(tmp_path: Path) -> Path:
    """Where screenshots go: ``CI_ARTIFACTS``, else the test's own folder."""
    folder = Path(os.environ.get("CI_ARTIFACTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
