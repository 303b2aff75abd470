"""A recorded reply in the model's place, where the model isn't installed.

``python -m examples.recorded`` runs the model and writes ``examples/data/recorded_reply.json``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from minisgl.core import SamplingParams
from minisgl.utils import load_tokenizer

from .smollm2 import NOT_INSTALLED, model_file

FILE = Path(__file__).parent / "data" / "recorded_reply.json"
COMMAND = "python -m examples.recorded"
PROMPT = "Explain in three sentences why the sky is blue."
MAX_TOKENS = 200
TOKENIZER = "qwen3"
"""The recording is text. Without the model's package there is no SmolLM2 vocabulary either, so the
text is cut into the tokens of Qwen3."""
SECONDS_A_TOKEN = 0.05


def recording() -> dict[str, Any]:
    """What is in the file: model, prompt, text, finish_reason, command."""
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def recorded_note() -> str:
    """What a reader has to know before they see the recorded reply."""
    missing = "" if model_file() else NOT_INSTALLED + " "
    return (
        f"{missing}Whatever you ask, you now see a recorded reply of that model, to the prompt "
        f"{recording()['prompt']!r} (`{COMMAND}` records it anew)."
    )


class RecordedModel:
    """Gives the recorded text's tokens, whatever the prompt, and then the EOS token."""

    def __init__(self, seconds_a_token: float = SECONDS_A_TOKEN) -> None:
        tokenizer = load_tokenizer(TOKENIZER)
        self.ids: list[int] = tokenizer.encode(recording()["text"])
        self.eos: int = tokenizer.eos_token_id
        self.vocabulary, self.context = len(tokenizer), 1 << 15
        self.seconds_a_token = seconds_a_token

    def tokens(self, prompt: Sequence[int], params: SamplingParams) -> Iterator[int]:
        """Token after token."""
        for token in self.ids:
            time.sleep(self.seconds_a_token)  # a reader sees a stream, not a flash
            yield token
        while True:
            yield self.eos


def record() -> dict[str, Any]:
    """Lets the real model answer `PROMPT` through real processes; gives what is written down."""
    from .client import serve

    with serve(model="smollm2") as client:
        params = SamplingParams(max_tokens=MAX_TOKENS)
        replies = list(client.stream([{"role": "user", "content": PROMPT}], params))
    return {
        "about": "A reply of a real run, greedy. The command writes this file anew.",
        "command": COMMAND,
        "model": "SmolLM2-135M-Instruct",
        "prompt": PROMPT,
        "max_tokens": MAX_TOKENS,
        "text": "".join(reply.incremental_output for reply in replies),
        "finish_reason": replies[-1].finish_reason,
    }


def main() -> None:
    """Writes the file."""
    reply = record()
    FILE.write_text(json.dumps(reply, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{FILE.name}: {len(reply['text'])} characters, ended by {reply['finish_reason']!r}")


if __name__ == "__main__":
    main()
