"""Chapter 13: a prompt through the chat template, tokens back to text as they arrive.

``python -m examples.ch13_tokenizer`` or ``python examples/ch13_tokenizer.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from minisgl.core import SamplingParams
from minisgl.message import DetokenizeMsg, TokenizeMsg
from minisgl.tokenizer import TokenizeManager, make_detokenize_manager
from minisgl.utils import load_tokenizer

TEXT = "鱻䨻🦩 is rare, 推理 naïve"


def main(name: str = "models/Qwen3-0.6B") -> None:
    """Prints the table: each token decoded alone beside what the reader sees."""
    tokenizer = load_tokenizer(name)
    prompt = TokenizeMsg(uid=0, text=TEXT, sampling_params=SamplingParams())
    [input_ids] = TokenizeManager(tokenizer).tokenize([prompt])
    ids = input_ids.tolist()
    print(f"text: {TEXT}")
    print(f"ids:  {' '.join(map(str, ids))}  ({input_ids.dtype}, {input_ids.dim()}-D)\n")

    manager = make_detokenize_manager(tokenizer)
    pieces: list[str] = []
    print(f"{'token':>8}  {'decoded alone':<16} incremental output")
    for place, token in enumerate(ids):
        message = DetokenizeMsg(uid=0, next_token=token, finished=place == len(ids) - 1)
        pieces += manager.detokenize([message])
        print(f"{token:>8}  {tokenizer.decode([token])!r:<16} {pieces[-1]!r}")

    joined = "".join(pieces)
    print(f"\njoined: {joined}")
    print(f"equal to decoding all at once: {joined == tokenizer.decode(ids)}")
    print(f"uid left in decode_map: {0 in manager.decode_map}\n")

    chat = [{"role": "user", "content": "你好"}]
    print("chat template of one user turn:")
    print(repr(TokenizeManager(tokenizer).render(chat)))


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")
    main(*sys.argv[1:])
