"""Limits that the operating system keeps, and what only Linux has.

Memory is limited relative to what the process has already: torch alone takes 800 MB of address
space. Where the OS doesn't keep the limit (macOS, Windows), the supervisor watches from outside.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

if sys.platform != "win32":
    import resource

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
OPEN_FILES = 256
PROCESSES_MORE = 512
BIGGEST_FILE = 64 << 20


def limit_process(memory_mb: int) -> None:
    """Limits this process; its children inherit that.

    Args:
        memory_mb: how much more than now it may use, in MB.
    """
    if sys.platform == "win32":
        return
    if sys.platform == "linux":
        _lower(resource.RLIMIT_AS, _address_space() + (memory_mb << 20))
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, BIGGEST_FILE)
    _lower(resource.RLIMIT_NOFILE, OPEN_FILES)
    # Counts all of the user's processes and threads, and doesn't bind root: a wide fence only. The
    # supervisor counts this run's own processes.
    with contextlib.suppress(OSError):
        mine = sum(1 for path in Path("/proc").iterdir() if path.name.isdigit())
        _lower(resource.RLIMIT_NPROC, mine * 8 + PROCESSES_MORE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def become_subreaper() -> bool:
    """Makes orphaned grandchildren ours, so that none gets away; Linux only."""
    return _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Asks the kernel to end this process when its parent dies; Linux only."""
    _prctl(PR_SET_PDEATHSIG, 9)


def _prctl(option: int, value: int) -> bool:
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _address_space() -> int:
    """Bytes of address space that this process has now (Linux)."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def _lower(which: int, value: int) -> None:
    if sys.platform == "win32":
        return
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(which, (value, value))
