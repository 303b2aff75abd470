"""``python -m minisgl.utils.doctor``: what of the course works inside its environment.

``python3 start.py doctor`` runs it after its own checks. One line for each check:
``ok``, ``warn`` or ``bad``, the name, and what to do.
"""

from __future__ import annotations

import socket
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import zmq

from .models import check_models

ROOT = Path(__file__).resolve().parents[2]
Check = tuple[str, str, str]


def check_memory(total: int | None = None) -> Iterator[Check]:
    """Whether JupyterLab and a notebook or two fit; `total` in bytes."""
    size = (total or psutil.virtual_memory().total) / 1e9
    if size < 3.5:
        yield "warn", "memory", f"{size:.1f} GB: close other programs, run one notebook at a time"
    else:
        yield "ok", "memory", f"{size:.1f} GB"


def check_port(port: int = 8888) -> Iterator[Check]:
    """Whether JupyterLab gets its usual port."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)):
            yield "ok", "port", f"{port} is free"
        else:
            yield "warn", "port", f"{port} is taken: JupyterLab will take the next free one"


def check_tokenizers() -> Iterator[Check]:
    """The bundled tokenizers: built, and from sources with the right checksums."""
    for alias, well, message in check_models():
        yield "ok" if well else "bad", alias, message


def check_loopback(milliseconds: int = 5000) -> Iterator[Check]:
    """Sends one message to ourselves over each transport that the worker can use."""
    with tempfile.TemporaryDirectory(prefix="minisgl-") as folder:
        addresses = {"tcp": "tcp://127.0.0.1:*"}
        if zmq.has("ipc"):
            addresses["ipc"] = f"ipc://{Path(folder, 'doctor')}"
        for transport, address in addresses.items():
            try:
                _send_to_self(address, milliseconds)
            except zmq.ZMQError as error:
                reason = f"no message gets through ({error.strerror})"
                yield "bad", transport, f"{reason}: allow Python in the firewall's settings"
            else:
                yield "ok", transport, "a message to ourselves arrives"


def _send_to_self(address: str, milliseconds: int) -> None:
    with zmq.Context() as context, context.socket(zmq.PULL) as pull:
        pull.rcvtimeo = milliseconds
        pull.bind(address)
        with context.socket(zmq.PUSH) as push:
            push.sndtimeo = milliseconds
            push.linger = 0
            push.connect(pull.getsockopt_string(zmq.LAST_ENDPOINT))
            push.send(b"hello")
            pull.recv()


def check_notebooks() -> Iterator[Check]:
    """Whether JupyterLab trusts the lessons; it shows no widget of a notebook that it doesn't."""
    import nbformat
    from nbformat.sign import NotebookNotary

    notary = NotebookNotary()  # type: ignore[no-untyped-call]
    strangers = []
    paths = [p for p in sorted((ROOT / "notebooks").rglob("*.ipynb")) if p.parent.name[0] != "."]
    for path in paths:
        notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        if not notary.check_signature(notebook):  # type: ignore[no-untyped-call]
            strangers.append(path.name)
    if strangers:
        remedy = "are not trusted yet: `python3 start.py` marks them"
        yield "warn", "notebooks", f"{', '.join(strangers)} {remedy}"
    else:
        yield "ok", "notebooks", f"{len(paths)} found, all trusted"


def check_workspace() -> Iterator[Check]:
    """Whether the learner's own files can be written."""
    folder = ROOT / "practice" / "workspace"
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder):
            yield "ok", "workspace", "your own files can be written"
    except OSError as error:
        remedy = "make it writable, or copy the course to your home folder"
        yield "bad", "workspace", f"{folder} can't be written to ({error.strerror}): {remedy}"


def main() -> int:
    """Prints a line for each check; 1 where something is bad."""
    bad = False
    found: list[Iterator[Check]] = [
        check_memory(),
        check_port(),
        check_tokenizers(),
        check_loopback(),
        check_notebooks(),
        check_workspace(),
    ]
    for checks in found:
        for state, name, message in checks:
            print(state, name, message, flush=True)
            bad = bad or state == "bad"
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
