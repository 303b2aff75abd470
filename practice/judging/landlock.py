"""Landlock: the Linux kernel itself refuses writing outside of one folder, also for root.

A second fence behind the audit hook (`guard`), for code that goes past Python. Where the kernel has
no Landlock (before 5.13, other systems) the audit hook stands alone. Source: the kernel's
``Documentation/userspace-api/landlock.rst``.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from pathlib import Path

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG = 1
RULE_PATH_BENEATH = 1
PR_SET_NO_NEW_PRIVS = 38

WRITE_FILE = 1 << 1
MAKE_AND_REMOVE = sum(1 << bit for bit in range(4, 13))
TRUNCATE = 1 << 14  # from version 3
NETWORK = 0b11  # TCP bind and connect, from version 4
SCOPES = 0b11  # abstract sockets and signals to processes outside, from version 6


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def version() -> int:
    """What the kernel knows of Landlock: 0 for nothing."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        return 0
    try:
        libc = ctypes.CDLL(None)
        return max(0, int(libc.syscall(CREATE_RULESET, None, 0, VERSION_FLAG)))
    except (OSError, AttributeError):
        return 0


def confine_writes(folder: Path) -> bool:
    """From now on this process and its children write only in `folder` and to ``/dev/null``.

    They have no TCP and can't signal processes outside, where the kernel is new enough. Can't be
    undone. Returns whether the kernel does it.
    """
    known = version()
    if not known or sys.platform != "linux":
        return False
    files = WRITE_FILE | MAKE_AND_REMOVE | (TRUNCATE if known >= 3 else 0)
    rules = _Ruleset(files, NETWORK if known >= 4 else 0, SCOPES if known >= 6 else 0)
    size = 8 if known < 4 else 16 if known < 6 else 24
    libc = ctypes.CDLL(None)
    ruleset = libc.syscall(CREATE_RULESET, ctypes.byref(rules), size, 0)
    if ruleset < 0:
        return False
    try:
        _allow(libc, ruleset, folder, files)
        _allow(libc, ruleset, Path(os.devnull), WRITE_FILE | (files & TRUNCATE))
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            return False
        return bool(libc.syscall(RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: Path, allowed: int) -> None:
    if sys.platform != "linux":
        return
    opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _PathBeneath(allowed, opened)
        libc.syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(opened)
