"""Lesson 03 in real JupyterLab: all cells run, the player plays, a wrong class is replayed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from .lab import PRESS_AGAIN_MS, ROOT, WAIT_MS, artifacts, chromium, jupyterlab, open_notebook

LESSON = "03_the_moving_window.ipynb"
WRONG = ROOT / "practice" / "exercises" / "window-diff" / "wrong" / "each_token_alone.py"
FACTS = ("phase", "token", "surr_offset", "read_offset", "sent_offset", "sent")
TRACE = "import json\nprint('TRACE', json.dumps(run['steps']))"
REPLAY = 'import practice; practice.replay("window-diff")'
ACTIVE = "node => [...node.parentElement.children].indexOf(node)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two copies of the lesson: as it is saved, and one that prints the trace at its end."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copy(ROOT / "notebooks" / LESSON, folder / "saved.ipynb")
    notebook = nbformat.read(ROOT / "notebooks" / LESSON, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.cells.append(nbformat.v4.new_code_cell(TRACE))
    nbformat.write(notebook, folder / "lesson.ipynb")
    return folder


@pytest.fixture(scope="module")
def lab(folder: Path) -> Iterator[tuple[Any, str]]:
    """A page, and the server's address."""
    size = {"width": 1200, "height": 1000}
    with jupyterlab(folder) as address, chromium(viewport=size) as page:
        # Where the page hasn't found its kernel yet it asks for one; an answer starts another.
        asked = page.locator("dialog.jp-Dialog .jp-mod-reject")
        page.add_locator_handler(asked, lambda cancel: cancel.click(), no_wait_after=True)
        yield page, address


def facts(player: Any) -> dict[str, Any]:
    data = player.evaluate("node => ({...node.dataset})")
    found = {name: data[re.sub("_(.)", lambda m: m[1].upper(), name)] for name in FACTS}
    return {n: int(v) if n.endswith("offset") or n == "token" else v for n, v in found.items()}


def menu(page: Any, *names: str) -> None:
    """Chooses an item of JupyterLab's menus."""
    for name in names:
        item = page.locator(".lm-MenuBar-item, .lm-Menu-item").get_by_text(name, exact=True)
        item.last.hover()
        if name in (names[0], names[-1]):
            item.last.click()


def run_all(page: Any, sign: Any) -> None:
    """Runs all cells, until `sign` is there; again where JupyterLab wasn't ready for it."""
    from playwright.sync_api import TimeoutError as GaveUp

    begun = page.locator(".jp-InputPrompt", has_text=re.compile(r"\[(\*|\d+)\]"))
    for _ in range(WAIT_MS // PRESS_AGAIN_MS):
        menu(page, "Run", "Run All Cells")
        try:
            begun.first.wait_for(timeout=PRESS_AGAIN_MS)
            break
        except GaveUp:
            continue
    sign.first.wait_for()


def test_the_lesson_from_a_fresh_start(lab: tuple[Any, str], tmp_path: Path) -> None:
    from playwright.sync_api import expect

    page, address = lab
    open_notebook(page, address, "lesson.ipynb")
    printed = page.locator(".jp-OutputArea-output", has_text="TRACE")
    run_all(page, printed)
    expect(printed).to_have_count(1, timeout=WAIT_MS)
    steps = json.loads(printed.text_content().removeprefix("TRACE"))

    player = page.locator(".jp-Notebook .msw-window-player").first
    player.scroll_into_view_if_needed()
    player.locator(".msw-say").click()
    active = page.locator(".jp-Notebook .jp-Cell.jp-mod-active")
    before, cells = active.evaluate(ACTIVE), page.locator(".jp-Notebook .jp-Cell").count()
    for step in range(len(steps)):
        assert facts(player) == {name: steps[step][name] for name in FACTS}
        page.keyboard.press("ArrowRight")
    for key in ("Home", "ArrowDown", "ArrowUp", "b", "d", "d", "ArrowLeft"):
        page.keyboard.press(key)
    assert facts(player)["token"] == 0
    assert active.evaluate(ACTIVE) == before  # the keys were the player's
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
    page.keyboard.press("Space")
    expect(player).to_have_attribute("data-step", "2", timeout=WAIT_MS)
    page.keyboard.press("Space")
    page.screenshot(path=artifacts(tmp_path) / "lesson-03-player.png")


def test_a_wrong_class_is_judged_and_replayed(lab: tuple[Any, str], tmp_path: Path) -> None:
    from playwright.sync_api import expect

    page, _ = lab
    cell = page.locator(".jp-CodeCell", has_text="%%judge window-diff").first
    cell.scroll_into_view_if_needed()
    write_and_run(page, cell, f"%%judge window-diff\n{WRONG.read_text(encoding='utf-8')}")
    expect(cell.locator(".jp-OutputArea")).to_contain_text("Not yet", timeout=WAIT_MS)
    expect(cell.locator(".jp-OutputArea")).to_contain_text(REPLAY)
    cells = page.locator(".jp-CodeCell")
    last = cells.nth(cells.count() - 1)  # running it adds one below
    last.scroll_into_view_if_needed()
    write_and_run(page, last, REPLAY)
    player = last.locator(".msw-window-player")
    expect(player).to_contain_text("your run beside the reference", timeout=WAIT_MS)
    player.get_by_role("button", name="Where the runs part").click()
    expect(player).to_have_attribute("data-step", "1")
    expect(player.locator(".msw-facts")).to_contain_text("the reference≠ sent")
    page.screenshot(path=artifacts(tmp_path) / "lesson-03-replay.png")


def write_and_run(page: Any, cell: Any, source: str) -> None:
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)
    page.keyboard.press("Shift+Enter")


def test_dark_theme_and_no_kernel(lab: tuple[Any, str], tmp_path: Path) -> None:
    from playwright.sync_api import expect

    page, _ = lab
    menu(page, "Settings", "Theme", "JupyterLab Dark")
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false", timeout=WAIT_MS)
    menu(page, "Kernel", "Shut Down Kernel")
    expect(page.locator(".jp-Notebook-ExecutionIndicator")).not_to_have_attribute(
        "data-status", "idle", timeout=WAIT_MS
    )
    player = page.locator(".jp-Notebook .msw-window-player").last
    player.scroll_into_view_if_needed()
    assert player.evaluate("n => getComputedStyle(n).backgroundColor") == "rgb(22, 24, 28)"
    player.locator(".msw-say").click()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(player).to_have_attribute("data-step", "1")
    page.screenshot(path=artifacts(tmp_path) / "lesson-03-dark.png")


def test_untrusted(lab: tuple[Any, str], tmp_path: Path) -> None:
    """The saved lesson before it is trusted or run: the table, no buttons, no style of ours."""
    from playwright.sync_api import expect

    page, address = lab
    open_notebook(page, f"{address}&reset", "saved.ipynb")  # without the tabs of before
    cell = page.locator(".jp-CodeCell", has_text="WindowPlayer(run").first
    cell.scroll_into_view_if_needed()
    rows = cell.locator(".jp-OutputArea table tr:has(td)")
    expect(rows).to_have_count(14, timeout=WAIT_MS)
    expect(rows.nth(1)).to_contain_text("鱻")
    assert cell.get_by_role("button", name="Play").count() == 0
    page.screenshot(path=artifacts(tmp_path) / "lesson-03-untrusted.png")
