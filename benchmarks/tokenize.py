"""``python -m benchmarks.tokenize``: a batch of prompts against one by one, as a ratio."""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any

from minisgl.core import SamplingParams
from minisgl.message import TokenizeMsg
from minisgl.tokenizer import TokenizeManager
from minisgl.utils import load_tokenizer

from .texts import CHINESE, ENGLISH

BAR = 1.5
PROMPTS = 64


def measure_batch(tokenizer: Any, prompts: int, rounds: int) -> tuple[float, float]:
    """Median seconds for `prompts` prompts one by one, and in one batch; they take turns."""
    manager = TokenizeManager(tokenizer)
    msgs = [
        TokenizeMsg(uid, f"{uid} {(ENGLISH + CHINESE) * 8}", SamplingParams())
        for uid in range(prompts)
    ]
    singles, batches = [], []
    for _ in range(rounds):
        began = time.perf_counter()
        for msg in msgs:
            manager.tokenize([msg])
        singles.append(time.perf_counter() - began)
        began = time.perf_counter()
        manager.tokenize(msgs)
        batches.append(time.perf_counter() - began)
    return statistics.median(singles), statistics.median(batches)


def main() -> int:
    """Prints the ratio; 1 where the bar isn't reached."""
    one_by_one, batch = measure_batch(load_tokenizer("qwen3"), PROMPTS, 9)
    ratio = one_by_one / batch
    print(f"{PROMPTS} prompts: one by one {one_by_one * 1e3:.1f} ms, batch {batch * 1e3:.1f} ms")
    print(f"ratio {ratio:.2f}, held to ≥ {BAR}: {'reached' if ratio >= BAR else 'MISSED'}")
    return 0 if ratio >= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
