"""Recorded replies in the model's place, where the model isn't installed.

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
PROMPTS = (  # the first one's reply answers whatever else is asked
    "Explain in three sentences why the sky is blue.",
    "What is the capital of France?",
    "Count from one to ten.",
    "Write five emoji: 🦩",
)
MAX_TOKENS = 60
TOKENIZER = "qwen3"
"""The recording is text. Without the model's package there is no SmolLM2 vocabulary either, so the
text is cut into the tokens of Qwen3."""
SECONDS_A_TOKEN = 0.05


def recordings() -> list[dict[str, Any]]:
    """The recorded replies: prompt, text, finish_reason."""
    return list(json.loads(FILE.read_text(encoding="utf-8"))["replies"])


def recorded_note() -> str:
    """What a reader has to know before they see a recorded reply."""
    missing = "" if model_file() else NOT_INSTALLED + " "
    first, *others = [repr(reply["prompt"]) for reply in recordings()]
    return (
        f"{missing}What you see now are replies that were recorded from that model (`{COMMAND}` "
        f"records them anew): to {', '.join(others)}, and to all else that to {first}."
    )


class RecordedModel:
    """Gives the tokens of the recorded reply to the prompt, and then the EOS token."""

    def __init__(self, seconds_a_token: float = SECONDS_A_TOKEN) -> None:
        self.tokenizer: Any = load_tokenizer(TOKENIZER)
        self.eos: int = self.tokenizer.eos_token_id
        self.vocabulary, self.context = len(self.tokenizer), 1 << 15
        self.seconds_a_token = seconds_a_token

    def tokens(self, prompt: Sequence[int], params: SamplingParams) -> Iterator[int]:
        """Token after token."""
        asked = self.tokenizer.decode(list(prompt)).rpartition("<|im_start|>user")[2]
        replies = recordings()
        reply = next((reply for reply in replies if reply["prompt"] in asked), replies[0])
        for token in self.tokenizer.encode(reply["text"]):
            time.sleep(self.seconds_a_token)  # a reader sees a stream, not a flash
            yield token
        while True:
            yield self.eos


def record() -> dict[str, Any]:
    """Lets the real model answer `PROMPTS` through real processes; gives what is written down."""
    from .client import serve

    replies = []
    with serve(model="smollm2") as client:
        for prompt in PROMPTS:
            params = SamplingParams(max_tokens=MAX_TOKENS)
            pieces = list(client.stream([{"role": "user", "content": prompt}], params))
            text = "".join(piece.incremental_output for piece in pieces)
            reason = pieces[-1].finish_reason
            replies.append({"prompt": prompt, "text": text, "finish_reason": reason})
    return {
        "about": "Replies of a real run, greedy. The command writes this file anew.",
        "command": COMMAND,
        "model": "SmolLM2-135M-Instruct",
        "max_tokens": MAX_TOKENS,
        "replies": replies,
    }


def main() -> None:
    """Writes the file."""
    recorded = record()
    FILE.write_text(json.dumps(recorded, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    for reply in recorded["replies"]:
        print(f"{reply['prompt']!r}: {len(reply['text'])} characters, {reply['finish_reason']!r}")


if __name__ == "__main__":
    main()
