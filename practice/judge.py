#!/usr/bin/env python3
"""The judge's command: ``python practice/judge.py``; ``--help`` lists what it can do."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def main() -> int:
    """Runs the command with this Python, or with the course's own where this one lacks packages."""
    # From here `practice/` would be on the path, and `import judging` another module than ours.
    sys.path[:] = [
        str(ROOT),
        *(p for p in sys.path if Path(p or ".").resolve() != ROOT / "practice"),
    ]
    try:
        from practice.judging.cli import run
    except (ImportError, SyntaxError) as error:
        elsewhere = PYTHON.is_file() and Path(sys.prefix).resolve() != (ROOT / ".venv").resolve()
        if elsewhere:
            return subprocess.call([str(PYTHON), __file__, *sys.argv[1:]])
        print(f"{error}. Run `python3 start.py setup` in {ROOT} first.", file=sys.stderr)
        return 2
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
