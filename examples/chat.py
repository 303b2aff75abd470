"""A chat in the terminal: ``python examples/chat.py``.

Ctrl-C stops the answer, ``/new`` begins another conversation, Ctrl-D or ``/quit`` ends the program.
What you type goes through the tokenizer process to the model, and its tokens come back as text.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.console import Console

from examples.client import Client, serve
from examples.recorded import recorded_note
from examples.smollm2 import NOT_INSTALLED, model_file
from minisgl.core import SamplingParams
from minisgl.message import UserReply, WireError
from minisgl.utils.logger import LEVEL_VARIABLE

PROMPT = "[bold]you[/] ▸ "
HELP = "Ctrl-C stops an answer, /new begins another conversation, Ctrl-D or /quit ends."


@contextmanager
def children_ignore_ctrl_c() -> Iterator[None]:
    """Ctrl-C reaches every process of a terminal; those started in the body don't mind it."""
    if sys.platform == "win32":
        import ctypes

        ctypes.windll.kernel32.SetConsoleCtrlHandler(None, True)
        yield
        ctypes.windll.kernel32.SetConsoleCtrlHandler(None, False)
    else:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def answer(
    client: Client, console: Console, chat: list[dict[str, Any]], params: SamplingParams
) -> str:
    """Streams one answer to the terminal; gives its text, also where Ctrl-C cut it short."""
    pieces: list[str] = []
    last: UserReply | None = None
    stopped = False
    console.print("[bold cyan]model[/] ▸ ", end="")
    began = time.perf_counter()
    try:
        for last in client.stream(chat, params):
            pieces.append(last.incremental_output)
            console.out(last.incremental_output, end="", highlight=False)
    except KeyboardInterrupt:
        stopped = True  # `stream` has sent the abort
    except (WireError, TimeoutError) as error:
        console.print(f"[red]{error}[/]", end="")
    rate = len(pieces) / (time.perf_counter() - began)
    reason = "stopped" if stopped else last.finish_reason if last else "no answer"
    console.print(f"\n[dim]{reason} · {len(pieces)} tokens · {rate:.1f} tokens/s[/]")
    if last is not None and last.error:
        console.print(f"[red]{last.error}[/] /new begins another conversation.")
    return "".join(pieces)


def talk(client: Client, console: Console, params: SamplingParams) -> None:
    """Question and answer, until there are no more questions."""
    chat: list[dict[str, Any]] = []
    while True:
        try:
            question = console.input(PROMPT).strip()
        except KeyboardInterrupt:
            console.print(f"\n[dim]{HELP}[/]")
            continue
        except EOFError:
            console.print()
            return
        if question == "/quit":
            return
        if question == "/new":
            chat.clear()
            console.print("[dim]A new conversation.[/]")
        elif question.startswith("/"):
            console.print(f"[dim]{HELP}[/]")
        elif question:
            chat.append({"role": "user", "content": question})
            chat.append({"role": "assistant", "content": answer(client, console, chat, params)})


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python examples/chat.py", description=__doc__)
    parser.add_argument("--model", choices=["smollm2", "recorded"], help="default: what there is")
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--temperature", type=float, default=0.2, help="0: always the likeliest")
    parser.add_argument("--stop", action="append", help="a stop string; may be given again")
    asked = parser.parse_args(arguments)
    console = Console(highlight=False, soft_wrap=True)
    os.environ.setdefault(LEVEL_VARIABLE, "ERROR")
    if asked.model == "smollm2" and model_file() is None:
        console.print(NOT_INSTALLED)
        return 1
    model = asked.model or ("smollm2" if model_file() else "recorded")
    if model == "recorded":
        console.print(recorded_note() + "\n")
    params = SamplingParams(
        temperature=asked.temperature, top_p=0.9, max_tokens=asked.max_tokens, stop=asked.stop
    )
    console.print("[dim]Starting the tokenizer process and the model …[/]")
    with ExitStack() as stack:
        try:
            with children_ignore_ctrl_c():
                client = stack.enter_context(serve(model=model))
        except RuntimeError as error:
            console.print(f"[red]{error}[/]")
            return 1
        console.print(f"[dim]{HELP}[/]")
        talk(client, console, params)
    return 0


if __name__ == "__main__":
    for stream in (sys.stdin, sys.stdout):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")
    sys.exit(main())
