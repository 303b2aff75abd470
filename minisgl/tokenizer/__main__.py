"""``python -m minisgl.tokenizer --tokenizer qwen3``: the tokenizer processes of an engine."""

from __future__ import annotations

import argparse
import signal
import sys

from .launch import launch


def main(arguments: list[str] | None = None) -> int:
    """Starts the processes, prints where they listen and send, and waits for Ctrl-C or SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m minisgl.tokenizer", description=__doc__)
    parser.add_argument("--tokenizer", required=True, help="a folder, an alias (qwen3) or a hub id")
    parser.add_argument(
        "--num-tokenizer",
        type=int,
        default=0,
        help="0: one process for both directions; N: N tokenizing processes, one detokenizer",
    )
    parser.add_argument("--local-bs", type=int, default=256, help="messages taken together at most")
    for name in ("tokenizer", "detokenizer", "backend", "frontend"):
        parser.add_argument(f"--{name}-addr", help=f"ipc://… or tcp://…, of the {name}")
    parser.add_argument(
        "--mini-sglang-wire",
        action="store_true",
        help="no finish_reason where mini-sglang's API server wouldn't understand it",
    )
    args = parser.parse_args(arguments)
    addresses = {key: value for key, value in vars(args).items() if key.endswith("_addr") and value}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with launch(
            args.tokenizer,
            num_tokenizer=args.num_tokenizer,
            local_bs=args.local_bs,
            finish_reasons=not args.mini_sglang_wire,
            addresses=addresses,
        ) as running:
            for name in ("tokenizer", "detokenizer", "backend", "frontend"):
                print(f"{name}_addr {getattr(running, f'{name}_addr')}", flush=True)
            print("ready", flush=True)
            for process in running.processes:
                process.join()
    except (RuntimeError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    print("the tokenizer processes have ended", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
