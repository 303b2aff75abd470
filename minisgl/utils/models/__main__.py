"""``python -m minisgl.utils.models``: builds the bundled tokenizers, or says how they stand."""

from __future__ import annotations

import argparse
import sys

from . import MODELS, OPTIONAL, ModelError, build_model, check_models


def main(arguments: list[str] | None = None) -> int:
    """Builds all models whose package is there, or with ``--check`` says how each stands."""
    parser = argparse.ArgumentParser(prog="python -m minisgl.utils.models", description=__doc__)
    parser.add_argument("--check", action="store_true", help="build nothing, say how things stand")
    if not parser.parse_args(arguments).check:
        for alias in MODELS:
            try:
                build_model(alias)
            except ModelError as error:
                if alias not in OPTIONAL:
                    print(f"bad {alias} {error}")
                    return 1
    states = list(check_models())
    for alias, well, message in states:
        print("ok" if well else "bad", alias, message)
    return 0 if all(well for _, well, _ in states) else 1


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    sys.exit(main())
