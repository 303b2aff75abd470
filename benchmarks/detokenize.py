"""``python -m benchmarks.detokenize [--quick]``: µs a token, ours beside the peers, in one run.

The contenders take turns, several rounds, and the median counts, so that a busy machine slows all
of them alike. What matters are the ratios; the bars at the end say which of them we hold to.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from minisgl.message import DetokenizeMsg
from minisgl.utils import load_tokenizer

from .contenders import CONTENDERS, Step
from .texts import TEXTS, token_stream

RESULTS = Path(__file__).parent / "results"
LARGEST_BATCH = {"naive": 1, "TextIteratorStreamer": 64}  # they would take minutes
OURS = ("floor", "our bytes", "our windows")
QUADRATIC_TOKENS = 1_000  # on dead bytes the peers decode all of them again for each

Frames = list[list[DetokenizeMsg]]


def frames_of(ids: Sequence[int], batch: int) -> Frames:
    """For each step one message of each of `batch` requests, which are out of step."""
    length = len(ids)
    return [
        [DetokenizeMsg(uid, ids[(step + uid * 7) % length], False) for uid in range(batch)]
        for step in range(length)
    ]


def seconds_of(step: Step, frames: Frames) -> float:
    """How long a contender takes for all frames."""
    gc.collect()
    gc.disable()
    began = time.perf_counter()
    for msgs in frames:
        step(msgs)
    taken = time.perf_counter() - began
    gc.enable()
    return taken


def measure(tokenizer: Any, frames: Frames, names: Sequence[str], rounds: int) -> dict[str, float]:
    """Median µs a token of each contender; they take turns."""
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            seconds[name].append(seconds_of(CONTENDERS[name](tokenizer), frames))
    tokens = sum(map(len, frames))
    return {name: statistics.median(taken) / tokens * 1e6 for name, taken in seconds.items()}


def by_text_and_batch(
    tokenizer: Any, batches: Sequence[int], rounds: int
) -> dict[tuple[str, int], dict[str, float]]:
    """Every contender, every kind of text, several batch sizes."""
    results = {}
    for kind in TEXTS:
        for batch in batches:
            frames = frames_of(token_stream(tokenizer, kind, 512), batch)
            names = [name for name in CONTENDERS if batch <= LARGEST_BATCH.get(name, batch)]
            results[kind, batch] = measure(tokenizer, frames, names, rounds)
    return results


def by_length(
    tokenizer: Any, lengths: Sequence[int], rounds: int
) -> dict[tuple[str, int], dict[str, float]]:
    """How the cost of a token grows with the length of a reply; 8 requests.

    The lengths take turns too, and a short reply is run often enough to be as many tokens as a
    long one: its few milliseconds alone would say more about the machine than about the code.
    """
    results = {}
    for kind in ("English", "dead bytes"):
        frames = {length: frames_of(token_stream(tokenizer, kind, length), 8) for length in lengths}
        seconds: dict[tuple[int, str], list[float]] = {}
        for _ in range(rounds):
            for name in ("floor", "our bytes", "our windows", "published windows", "DecodeStream"):
                for length in lengths:
                    if name not in OURS and kind != "English" and length > QUADRATIC_TOKENS:
                        continue
                    runs = max(1, lengths[-1] // length) if name in OURS else 1
                    steps = [CONTENDERS[name](tokenizer) for _ in range(runs)]
                    taken = sum(seconds_of(step, frames[length]) for step in steps)
                    seconds.setdefault((length, name), []).append(taken / runs / length / 8 * 1e6)
        for length in lengths:
            results[kind, length] = {
                name: statistics.median(taken)
                for (of, name), taken in seconds.items()
                if of == length
            }
    return results


def show(console: Console, title: str, results: dict[tuple[str, int], dict[str, float]]) -> None:
    """A table of µs a token."""
    names = [name for name in CONTENDERS if any(name in row for row in results.values())]
    table = Table("text", "n", *names, title=title)
    for (kind, number), row in results.items():
        table.add_row(kind, str(number), *(f"{row[n]:.2f}" if n in row else "–" for n in names))
    console.print(table)


def bars(
    texts: dict[tuple[str, int], dict[str, float]], lengths: dict[tuple[str, int], dict[str, float]]
) -> list[tuple[str, float, str, float]]:
    """What we hold to: name, ratio, "≥" or "≤", and the bar."""
    held = []
    for kind in TEXTS:
        row = texts[kind, 64]
        ours = row["our bytes"]
        bar = 3.0 if kind == "emoji" else 5.0
        held.append((f"{kind}: DecodeStream / our bytes", row["DecodeStream"] / ours, "≥", bar))
        held.append((f"{kind}: published / our bytes", row["published windows"] / ours, "≥", 25.0))
        ratio = row["published windows"] / row["our windows"]
        held.append((f"{kind}: published / our windows", ratio, "≥", 2.0))
    row = texts["English", 64]
    held.append(("English: our bytes / floor", row["our bytes"] / row["floor"], "≤", 1.5))
    shortest, longest = min(n for _, n in lengths), max(n for _, n in lengths if n <= 16_384)
    for kind in ("English", "dead bytes"):
        for name in ("our bytes", "our windows"):
            ratio = lengths[kind, longest][name] / lengths[kind, shortest][name]
            held.append((f"{kind}: {name}, {longest} / {shortest} tokens", ratio, "≤", 1.5))
    return held


def plot(texts: dict[tuple[str, int], dict[str, float]], path: Path) -> None:
    """µs a token at batch 64, as bars on a logarithmic axis."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    names = [name for name in CONTENDERS if name in texts["English", 64]]
    figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
    width = 0.8 / len(TEXTS)
    for number, kind in enumerate(TEXTS):
        places = [place + number * width for place in range(len(names))]
        axes.bar(places, [texts[kind, 64][name] for name in names], width, label=kind)
    axes.set_yscale("log")
    axes.set_ylabel("µs a token, batch 64")
    axes.set_xticks([place + 0.3 for place in range(len(names))], names, rotation=15)
    axes.legend()
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the tables and the bars; 1 where a bar isn't reached."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.detokenize", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds")
    quick = parser.parse_args(arguments).quick
    tokenizer = load_tokenizer("qwen3")
    console = Console(width=None if sys.stdout.isatty() else 140)
    rounds = 3 if quick else 5
    texts = by_text_and_batch(tokenizer, (64,) if quick else (1, 8, 64, 256), rounds)
    show(console, "µs a token by kind of text; n = requests in a batch", texts)
    sizes = (512, 16_384) if quick else (512, 4_096, 16_384, 32_768)
    lengths = by_length(tokenizer, sizes, 3)
    show(console, "µs a token by length of the reply; n = tokens, 8 requests", lengths)

    missed = 0
    table = Table("bar", "ratio", "held to", "", title="What we hold to")
    for name, ratio, sign, bar in bars(texts, lengths):
        reached = ratio >= bar if sign == "≥" else ratio <= bar
        missed += not reached
        table.add_row(name, f"{ratio:.2f}", f"{sign} {bar:g}", "reached" if reached else "MISSED")
    console.print(table)
    plot(texts, RESULTS / "detokenize.svg")
    console.print(f"plot: {RESULTS / 'detokenize.svg'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
