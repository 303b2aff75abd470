"""The chat panel in real JupyterLab: typed to with the keyboard, stopped, and seen to stream."""

from __future__ import annotations

from pathlib import Path

import nbformat

from .lab import WAIT_MS, artifacts, chromium, jupyterlab, open_notebook, run_cell

CELLS = (
    "import os\n"
    "os.environ['MINISGL_LOG_LEVEL'] = 'ERROR'\n"
    "from contextlib import ExitStack\n"
    "from examples.client import serve\n"
    "from notebooks.widgets.chat import ChatPanel\n"
    "stack = ExitStack()\n"
    "client = stack.enter_context(serve(model='recorded'))",
    "panel = ChatPanel(client, title='A chat')\npanel",
    "print(panel.wait())\nprint([m['role'] for m in panel.messages], panel.answer.reason)",
    "stack.close()",
)
END = "natural world."
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}


def write_notebook(path: Path) -> None:
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    # Else JupyterLab asks for one.
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.metadata["kernelspec"] = kernel
    nbformat.write(notebook, path)


def test_chat_with_the_keyboard(tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect

    write_notebook(tmp_path / "chat.ipynb")
    size = {"width": 1000, "height": 1300}
    with jupyterlab(tmp_path) as address, chromium(viewport=size) as page:
        cells = open_notebook(page, address, "chat.ipynb")
        run_cell(page, cells.nth(0))
        run_cell(page, cells.nth(1))
        log = page.get_by_role("log", name="A chat")
        expect(log).to_contain_text("Nothing said yet.", timeout=WAIT_MS)
        expect(log).to_contain_text("replies that were recorded from that model")
        field = page.get_by_label("You:")
        stop = page.get_by_role("button", name="Stop")
        expect(stop).to_be_disabled()

        field.click()
        page.keyboard.type("Why is the sky blue?")
        page.keyboard.press("Enter")
        expect(log).to_contain_text("Model: The sky is blue", timeout=WAIT_MS)
        expect(stop).to_be_enabled()
        expect(log).to_have_attribute("aria-busy", "true")
        page.keyboard.press("Enter")  # in the empty field: stops
        status = page.get_by_role("status").filter(has_text="tokens/s")
        expect(status).to_contain_text("ended by 'abort'", timeout=WAIT_MS)
        expect(log).not_to_contain_text(END)
        expect(log).to_have_attribute("aria-busy", "false")
        expect(stop).to_be_disabled()

        page.keyboard.type("And again")
        page.keyboard.press("Tab")  # to the button
        page.keyboard.press("Space")
        expect(log).to_contain_text("You: And again", timeout=WAIT_MS)
        expect(log).to_contain_text(END, timeout=WAIT_MS)
        expect(status).to_contain_text("55 tokens")
        page.screenshot(path=artifacts(tmp_path) / "chat-in-jupyterlab.png")
        panel = ".jp-CodeCell:nth-of-type(2) .jp-OutputArea-output"
        found = Axe().run(page, context=panel, options=RULES).response["violations"]
        assert [f"{rule['id']}: {rule['help']}" for rule in found] == []
        run_cell(page, cells.nth(2))
        output = cells.nth(2).locator(".jp-OutputArea-output")
        roles = ["user", "assistant"] * 2
        expect(output).to_contain_text(f"{roles} stop", timeout=WAIT_MS)
        run_cell(page, cells.nth(3))
