"""The players in a real browser, on pages without network or kernel: they move, and truly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from benchmarks.published import PublishedDetokenizeManager
from minisgl.tokenizer import ByteDetokenizeManager, DetokenizeManager, StopChecker, StopStrings
from notebooks.widgets import (
    BatchPlayer,
    BytesView,
    HeldTail,
    LatencyChart,
    QueueDiagram,
    WindowPlayer,
    batch_trace,
    trace,
)
from notebooks.widgets.frame import visible_text

from .lab import artifacts, chromium

SEED = "鱻䨻🦩 is rare, 推理 naïve"
SCRIPTS = "e\u0301 हिन्दी مرحبا 👩\u200d🚀 \ufffd\n\t\u00a0x"
FACTS = ("phase", "token", "surr_offset", "read_offset", "sent_offset", "sent", "output")


class EachTokenAlone:
    """A known mistake."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    def push(self, token: int) -> str:
        return str(self.tokenizer.decode([token]))

    def finish(self) -> str:
        return ""


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    """One page for all tests of this file; any error of a script fails the test that sees it."""
    with chromium(viewport={"width": 1000, "height": 900}) as shared:
        shared.context.set_offline(True)
        yield shared


@pytest.fixture(autouse=True)
def _no_errors(page: Any) -> Iterator[None]:
    errors: list[str] = []
    page.set_viewport_size({"width": 1000, "height": 900})
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")

    def note(error: Any) -> None:
        errors.append(str(error))

    page.on("pageerror", note)
    yield
    page.remove_listener("pageerror", note)
    assert errors == []


@pytest.fixture(scope="module")
def run() -> dict[str, Any]:
    from tests.conftest import tokenizer_named

    return trace(PublishedDetokenizeManager(tokenizer_named("qwen3")), SEED)


def show(page: Any, tmp_path: Path, html: str) -> Any:
    """Opens a file and gives its first player."""
    path = tmp_path / "page.html"
    path.write_text(html, encoding="utf-8")
    page.goto(path.as_uri())
    player = page.locator("[data-msw]").first
    player.focus()
    return player


def facts(player: Any) -> dict[str, Any]:
    """The current step as the page has it, in the trace's words."""
    data = player.evaluate("node => ({...node.dataset})")
    found = {name: data[re.sub("_(.)", lambda m: m[1].upper(), name)] for name in FACTS}
    return {n: int(v) if n.endswith("offset") or n == "token" else v for n, v in found.items()}


def wanted(run: dict[str, Any], step: int) -> dict[str, Any]:
    return {name: run["steps"][step][name] for name in FACTS}


@pytest.mark.parametrize("kind", ["nbconvert", "raw"])
def test_every_step_is_the_traces(kind: str, page: Any, tmp_path: Path, run: Any) -> None:
    drawing = WindowPlayer(run)
    html = drawing.page("A page") if kind == "raw" else converted(drawing)
    player = show(page, tmp_path, html)
    for step in range(len(run["steps"])):
        assert facts(player) == wanted(run, step)
        flags = player.locator(".msw-flag").all_inner_texts()
        now = run["steps"][step]
        assert flags == [
            f"◆ surr_offset {now['surr_offset']}",
            f"▼ read_offset {now['read_offset']}",
        ]
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Home")
    assert facts(player) == wanted(run, 0)
    page.keyboard.press("End")
    assert facts(player) == wanted(run, len(run["steps"]) - 1)
    page.keyboard.press("ArrowLeft")
    assert facts(player) == wanted(run, len(run["steps"]) - 2)


def converted(drawing: Any, *, trusted: bool = True) -> str:
    """A notebook with the drawing as an output, through nbconvert."""
    from nbconvert import HTMLExporter

    cell = nbformat.v4.new_code_cell("player", execution_count=1)
    data = drawing._repr_mimebundle_()
    cell.outputs = [nbformat.v4.new_output("execute_result", data=data, execution_count=1)]
    exporter = HTMLExporter(sanitize_html=not trusted)
    html: str = exporter.from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))[0]
    return html


def test_pointers_stand_where_the_offsets_are(page: Any, tmp_path: Path, run: Any) -> None:
    page.emulate_media(reduced_motion="reduce")
    player = show(page, tmp_path, WindowPlayer(run).page("A page"))
    for now in run["steps"]:
        chips = player.locator(".msw-chip")
        lefts = chips.evaluate_all("nodes => nodes.map(n => n.getBoundingClientRect().left)")
        lefts.append(lefts[-1] + chips.last.bounding_box()["width"] + 6)
        flags = player.locator(".msw-flag").evaluate_all(
            "nodes => nodes.map(n => n.getBoundingClientRect().left)"
        )
        for flag, offset in zip(flags, (now["surr_offset"], now["read_offset"]), strict=True):
            assert abs(flag + 4 - lefts[offset]) < 2
        page.keyboard.press("ArrowRight")


def test_buttons_and_playing(page: Any, tmp_path: Path, run: Any) -> None:
    from playwright.sync_api import expect

    player = show(page, tmp_path, WindowPlayer(run).page("A page"))
    press = {name: player.get_by_role("button", name=name) for name in ("Step", "Back", "Last")}
    press["Step"].click()
    press["Step"].click()
    press["Back"].click()
    assert facts(player) == wanted(run, 1)
    player.get_by_label("Speed").select_option("4")
    player.focus()
    page.keyboard.press("Space")
    expect(player.get_by_role("button", name="Pause")).to_be_visible()
    expect(player).to_have_attribute("data-step", "4")
    page.keyboard.press("Space")
    stopped = player.get_attribute("data-step")
    expect(player.get_by_role("button", name="Play")).to_be_visible()
    assert facts(player) == wanted(run, int(stopped))
    press["Last"].click()
    expect(player).to_have_attribute("data-step", str(len(run["steps"]) - 1))
    assert press["Last"].get_attribute("aria-disabled") == "true"
    expect(player.locator("[aria-live]")).to_contain_text("its state is gone")


def test_keys_stay_inside(page: Any, tmp_path: Path, run: Any) -> None:
    """Whoever listens around the player (JupyterLab) hears no key that is pressed in it."""
    player = show(page, tmp_path, WindowPlayer(run).page("A page"))
    page.evaluate("heard = []; document.addEventListener('keydown', e => heard.push(e.key))")
    for key in ("ArrowRight", "ArrowDown", "Home", "End", "Space", "Space", "a", "d", "Enter"):
        page.keyboard.press(key)
    assert page.evaluate("heard") == []
    assert player.get_attribute("data-lm-suppress-shortcuts") == "true"
    page.keyboard.press("Tab")
    assert page.evaluate("heard") == ["Tab"]


def test_where_two_runs_part(page: Any, tmp_path: Path, run: Any, qwen3: Any) -> None:
    wrong = trace(EachTokenAlone(qwen3), SEED, name="yours")
    right = {**run, "name": "the reference"}
    player = show(page, tmp_path, WindowPlayer(wrong, against=right).page("A page"))
    page.keyboard.press("End")
    player.get_by_role("button", name="Where the runs part").click()
    assert player.get_attribute("data-step") == "1"
    told = player.locator(".msw-facts").inner_text()
    assert "the reference" in told and "≠ sent: empty" in re.sub(r"\s+", " ", told)
    page.screenshot(path=artifacts(tmp_path) / "player-beside.png")
    same = show(page, tmp_path, WindowPlayer(run, against=right).page("A page"))
    assert same.get_by_role("button", name="Where the runs part").count() == 0


def test_predict(page: Any, tmp_path: Path, run: Any) -> None:
    player = show(page, tmp_path, WindowPlayer(run, predict=True).page("A page"))
    field = player.get_by_label("What will be sent now?")
    assert "decode(" not in player.locator(".msw-facts").inner_text()
    field.focus()
    page.keyboard.press("Enter")  # nothing: right
    assert (player.get_attribute("data-step"), player.get_attribute("data-score")) == ("1", "1/1")
    player.get_by_role("button", name="Step").click()
    field.fill("x")
    page.keyboard.press("ArrowLeft")  # moves in the field, not the player
    player.get_by_role("button", name="Check").click()
    assert (player.get_attribute("data-step"), player.get_attribute("data-score")) == ("3", "1/2")
    assert "You wrote x, sent was 鱻" in player.locator(".msw-verdict").inner_text()
    player.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert player.get_attribute("data-score") == "1/2"  # an answer counts once
    page.keyboard.press("End")
    assert player.get_attribute("data-score") == "1/2"
    page.screenshot(path=artifacts(tmp_path) / "player-predict.png")


def test_texts_are_drawn_as_python_draws_them(page: Any, tmp_path: Path, qwen3: Any) -> None:
    run = trace(ByteDetokenizeManager(qwen3), SCRIPTS)
    player = show(page, tmp_path, WindowPlayer(run).page("A page"))
    alone = player.locator(".msw-alone").evaluate_all("nodes => nodes.map(n => n.textContent)")
    wanted_texts = [visible_text(token["alone"]).strip("'") for token in run["tokens"]]
    assert [text.replace("00A0", "⟨00A0⟩") for text in alone] == wanted_texts
    tags = player.locator(".msw-alone").evaluate_all("nodes => nodes.map(n => n.tagName)")
    assert set(tags) == {"BDI"}
    page.keyboard.press("End")
    page.screenshot(path=artifacts(tmp_path) / "player-scripts.png")


@pytest.mark.parametrize("name", ["windows", "beside", "predict", "bytes", "batch", "failed"])
def test_axe_finds_nothing(name: str, page: Any, tmp_path: Path, run: Any, qwen3: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.set_viewport_size({"width": 400, "height": 800})
    player = show(page, tmp_path, drawings(run, qwen3)[name].page("A page"))
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    for scheme, key in (("light", "ArrowRight"), ("dark", "End")):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.keyboard.press(key)
        if key == "End":
            player.locator("summary").click()  # the table too
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 400  # nothing sticks out
        picture = artifacts(tmp_path) / f"player-{name}-{scheme}-400.png"
        page.screenshot(path=picture, full_page=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_pictures(
    scheme: str, page: Any, tmp_path: Path, run: Any, qwen3: Any
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.set_viewport_size({"width": 400, "height": 800})
    token = {"source": "scheduler", "target": "tokenizer", "label": "DetokenizeMsg"}
    events = [{**token, "detail": str(n)} for n in range(4)]
    events.append({"source": "tokenizer", "target": "API server", "label": "UserReply"})
    pictures = [
        BytesView(f"{SEED} {SCRIPTS}", qwen3),
        LatencyChart({"one": run, "two": trace(EachTokenAlone(qwen3), SEED)}),
        QueueDiagram(events),
        HeldTail(StopChecker(StopStrings(["STOP"])), ["one ST", "EP ", "two STOP three"]),
    ]
    body = "".join(picture.html for picture in pictures)
    html = pictures[0].page("Pictures").replace(pictures[0].html, body)
    show(page, tmp_path, html)
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.screenshot(path=artifacts(tmp_path) / f"pictures-{scheme}-400.png", full_page=True)


def drawings(run: Any, tokenizer: Any) -> dict[str, Any]:
    class Fails(EachTokenAlone):
        def push(self, token: int) -> str:
            raise ValueError(f"token {token}")

    published = PublishedDetokenizeManager(tokenizer)
    return {
        "windows": WindowPlayer(run),
        "beside": WindowPlayer(trace(EachTokenAlone(tokenizer), SEED), against=run),
        "predict": WindowPlayer(run, predict=True),
        "bytes": WindowPlayer(trace(ByteDetokenizeManager(tokenizer), SCRIPTS)),
        "batch": BatchPlayer(batch_trace(published, {1: SEED, 2: "two", 9: SCRIPTS})),
        "failed": WindowPlayer(trace(Fails(tokenizer), SEED), against=run),
    }


def test_dark_and_light_follow_jupyterlab(page: Any, tmp_path: Path, run: Any) -> None:
    """JupyterLab's theme wins over the system's."""
    player = show(page, tmp_path, WindowPlayer(run).page("A page"))
    seen = {}
    for theme in ("true", "false"):
        page.evaluate(f"document.body.dataset.jpThemeLight = '{theme}'")
        seen[theme] = player.evaluate("node => getComputedStyle(node).backgroundColor")
    assert seen == {"true": "rgb(255, 255, 255)", "false": "rgb(22, 24, 28)"}


def test_reduced_motion(page: Any, tmp_path: Path, run: Any) -> None:
    moving = "document.getAnimations().length"
    player = show(page, tmp_path, WindowPlayer(run).page("A page"))
    page.evaluate("Element.prototype.animate = () => { moved = true; }; moved = false")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("moved") is True
    page.emulate_media(reduced_motion="reduce")
    page.evaluate("moved = false")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("moved") is False and page.evaluate(moving) == 0
    assert facts(player) == wanted(run, 8)


def test_without_script_the_table_stands(page: Any, tmp_path: Path, run: Any) -> None:
    drawing = WindowPlayer(run)
    stripped = re.sub(r"(?s)<(script|style)>.*?</\1>", "", drawing.html)
    for html in (stripped, converted(drawing, trusted=False)):
        (tmp_path / "page.html").write_text(html, encoding="utf-8")
        page.goto((tmp_path / "page.html").as_uri())
        rows = page.locator("table tr:has(td)")
        assert rows.count() == len(run["ids"])
        assert page.get_by_role("button", name="Step").count() == 0
        assert "鱻" in rows.nth(1).inner_text() and rows.first.is_visible()


def test_two_copies_on_a_page(page: Any, tmp_path: Path, run: Any, qwen3: Any) -> None:
    drawing, other = WindowPlayer(run), WindowPlayer(trace(DetokenizeManager(qwen3), "a b"))
    show(page, tmp_path, drawing.page("A page") + drawing.html + other.html)
    players = page.locator("[data-msw]")
    assert players.count() == 3
    players.nth(1).focus()
    page.keyboard.press("ArrowRight")
    steps = players.evaluate_all("nodes => nodes.map(n => n.dataset.step)")
    assert steps == ["0", "1", "0"]
    assert page.get_by_role("button", name="Step").count() == 3


def test_many_requests_step_together(page: Any, tmp_path: Path, qwen3: Any) -> None:
    run = batch_trace(
        PublishedDetokenizeManager(qwen3), {1: "鱻 is", 2: "hello there", 7: "a"}, starts={7: 1}
    )
    player = show(page, tmp_path, BatchPlayer(run).page("A page"))
    for step in run["steps"]:
        assert player.get_attribute("data-states") == " ".join(map(str, step["uids"]))
        for uid, row in step["rows"].items():
            reply = player.locator(f"[data-uid='{uid}']")
            shown = [reply.get_attribute(f"data-{n}-offset") for n in ("surr", "read")]
            kept = [row["surr_offset"], row["read_offset"]]
            assert shown == ["null" if value is None else str(value) for value in kept]
            output = reply.locator(".msw-paper").inner_text()
            assert output == (visible_text(row["output"]).strip("'") if row["output"] else "empty")
        page.keyboard.press("ArrowRight")
