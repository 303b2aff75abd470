"""How a worker process ends: on a signal, and when its parent is gone."""

from __future__ import annotations

import multiprocessing as mp
import multiprocessing.connection
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..utils.mp import SOCKET_FOLDER_PREFIX

GRACE_SECONDS = 2.0
"""What a worker whose parent is gone gets for its orderly end."""


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """SIGTERM ends the body as Ctrl-C does, and neither shows a traceback.

    A receive that waits is interrupted too. In a thread other than the main one, where Python
    allows no signal handlers, only the body's own end counts.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM)
    if in_main_thread:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        if in_main_thread:
            signal.signal(signal.SIGTERM, before)


@contextmanager
def ending_with_parent(addr: str | None) -> Iterator[None]:
    """Ends this process within seconds of its parent's end, even while a send or receive waits.

    Args:
        addr: the address that this process binds; the file of an ``ipc://`` address is removed.

    Outside `multiprocessing` there is no parent to watch, and nothing happens.
    """
    parent = mp.parent_process()
    if parent is not None:
        watch = threading.Thread(
            target=_end_after, args=(parent.sentinel, addr), name="watch-parent", daemon=True
        )
        watch.start()
    yield


def _end_after(sentinel: int, addr: str | None) -> None:
    mp.connection.wait([sentinel])
    if addr is not None and addr.startswith("ipc://"):
        _remove_socket_files(Path(addr.removeprefix("ipc://")))
    if os.name == "posix":
        os.kill(os.getpid(), signal.SIGTERM)
        threading.Event().wait(GRACE_SECONDS)
    os._exit(1)


def _remove_socket_files(path: Path) -> None:
    """Removes the file of a bound address, and the folder that a launcher made for its sockets."""
    path.unlink(missing_ok=True)
    if path.parent.name.startswith(SOCKET_FOLDER_PREFIX):
        shutil.rmtree(path.parent, ignore_errors=True)
