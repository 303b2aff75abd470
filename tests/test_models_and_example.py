"""The bundled tokenizers, and the chapter's program."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from minisgl.utils import eos_token_ids, load_tokenizer, models
from minisgl.utils.models import ModelError, build_model, check_models, source_path

ROOT = Path(__file__).parents[1]
TEXT = "鱻䨻🦩 is rare, 推理 naïve"
IDS = [100024, 119, 128237, 119, 123918, 102, 374, 8848, 11, 46602, 101, 21887, 94880, 586]
TURN = "<|im_start|>user\n你好<|im_end|>\n<|im_start|>assistant\n"


def test_the_built_folder_loads_with_auto_tokenizer():
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(ROOT / "models" / "Qwen3-0.6B"))
    assert tokenizer.encode(TEXT) == IDS
    assert tokenizer.eos_token_id == 151645
    turn = [{"role": "user", "content": "你好"}]
    text = tokenizer.apply_chat_template(turn, tokenize=False, add_generation_prompt=True)
    assert text == TURN


@pytest.mark.parametrize("name", ["qwen3", "Qwen/Qwen3-0.6B", "models/Qwen3-0.6B"])
def test_names_of_qwen3(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # wherever the program runs
    assert load_tokenizer(name).encode(TEXT) == IDS


def test_qwen3s_added_tokens(qwen3):
    added = {token: qwen3.convert_tokens_to_ids(token) for token in qwen3.get_added_vocab()}
    assert sorted(added.values()) == list(range(151643, 151669))
    assert (added["<|im_start|>"], added["<think>"], added["</think>"]) == (151644, 151667, 151668)


def test_eos_ids_come_from_the_folder_too(qwen3, mistral):
    assert eos_token_ids(qwen3) == {151645, 151643}
    assert eos_token_ids(mistral) == {2}


def test_an_unknown_name_says_what_there_is():
    with pytest.raises(ModelError, match="an alias: qwen3, deepseek-v4, mistral-v1, smollm2"):
        load_tokenizer("/no/such/folder")


def test_a_source_that_is_another_file_is_refused(monkeypatch):
    model = models.MODELS["qwen3"]
    other = replace(model, source=replace(model.source, sha256="0" * 64))
    monkeypatch.setitem(models.MODELS, "qwen3", other)
    with pytest.raises(ModelError) as caught:
        source_path("qwen3")
    assert "tokenizer.json" in str(caught.value)  # the file, what it should be, what it is
    assert f"expected {'0' * 64}" in str(caught.value)
    assert model.source.sha256 in str(caught.value)
    assert not {name: well for name, well, _ in check_models()}["qwen3"]


def test_a_model_is_built_whole_or_not_at_all(monkeypatch, tmp_path):
    monkeypatch.setenv("MINISGL_MODELS", str(tmp_path))
    folder = build_model("qwen3")
    assert load_tokenizer(folder).encode(TEXT) == IDS
    (folder / "source.json").unlink()  # as after a killed build of another version
    assert build_model("qwen3") == folder
    assert json.loads((folder / "source.json").read_text(encoding="utf-8"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Qwen3-0.6B"]
    shutil.rmtree(folder)


@pytest.mark.parametrize(
    "command", [["-m", "examples.ch13_tokenizer"], ["examples/ch13_tokenizer.py"]]
)
def test_the_example_prints_the_chapters_table(command):
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, encoding="utf-8", cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert " ".join(map(str, IDS)) in done.stdout
    rows = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    pieces = ["", "鱻", "", "䨻", "", "🦩", " is", " rare", ",", " ", "推", "理", " naï", "ve"]
    table = [row[1] for row in rows if row and row[0].isdigit()]
    assert len(table) == len(IDS)
    for token, piece, row in zip(IDS, pieces, table, strict=True):
        alone = load_tokenizer("qwen3").decode([token])
        assert row.startswith(repr(alone)) and row.endswith(repr(piece)), row
    assert f"joined: {TEXT}" in done.stdout
    assert "equal to decoding all at once: True" in done.stdout
    assert repr(TURN) in done.stdout


def test_benchmarks_run_and_their_bars_can_fail():
    """The ratios are for an idle machine; here it counts that they are computed from the runs."""
    from benchmarks.detokenize import bars, frames_of, measure

    tokenizer = load_tokenizer("qwen3")
    frames = frames_of(tokenizer.encode(TEXT), 4)
    assert len(frames) == len(IDS) and {len(frame) for frame in frames} == {4}
    names = ["floor", "our bytes", "our windows", "published windows", "DecodeStream"]
    row = measure(tokenizer, frames, names, 1)
    assert set(row) == set(names) and min(row.values()) > 0
    kinds = ("English", "Chinese", "emoji", "code")
    lengths = {(kind, n): row for kind in ("English", "dead bytes") for n in (512, 16_384)}
    slow = {**row, "our bytes": 1e9}
    held = bars({(kind, 64): slow for kind in kinds}, lengths)
    assert [name for name, ratio, sign, bar in held if sign == "≥" and ratio < bar]


def test_a_batch_of_prompts_is_measured():
    from benchmarks.tokenize import measure_batch

    one_by_one, batch = measure_batch(load_tokenizer("qwen3"), 8, 1)
    assert one_by_one > 0 and batch > 0
