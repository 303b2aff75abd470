"""Counting and ending all processes of a run, those too that went into a session of their own."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

import psutil

ROUNDS = 200


def descendants(keep: frozenset[int] = frozenset()) -> list[psutil.Process]:
    """All processes below this one, but those in `keep` and theirs.

    On Linux this process is a subreaper (`limits.become_subreaper`): orphans are found too.
    """
    me = psutil.Process()
    found: list[psutil.Process] = []
    with contextlib.suppress(psutil.Error):
        for child in me.children():
            if child.pid not in keep:
                found.append(child)
                with contextlib.suppress(psutil.Error):
                    found.extend(child.children(recursive=True))
    return found


def kill_all(pid: int, known: dict[int, psutil.Process], keep: frozenset[int]) -> bool:
    """Ends the run `pid` and all that it started; waits until they are gone.

    Args:
        pid: the run's process, the leader of its group.
        known: its descendants as far as they were seen; where orphans go elsewhere (macOS,
            Windows) only these are found.
        keep: processes of the judge itself.

    Returns:
        Whether all are gone.
    """
    for _ in range(ROUNDS):
        _kill_group(pid)
        alive = {process.pid: process for process in descendants(keep)}
        alive |= {p.pid: p for p in known.values() if p.pid not in keep and p.is_running()}
        for process in alive.values():  # all stand still first, so that none starts another
            with contextlib.suppress(psutil.Error, OSError):
                process.suspend()
        for process in alive.values():
            with contextlib.suppress(psutil.Error, OSError):
                process.kill()
        reap(keep)
        if not [process for process in alive.values() if _lives(process)]:
            return True
        time.sleep(0.005)
    return False


def reap(keep: frozenset[int] = frozenset()) -> None:
    """Takes the exit statuses of dead children, so that no zombies stay."""
    if sys.platform == "win32":
        return
    for child in psutil.Process().children():
        if child.pid not in keep:
            with contextlib.suppress(OSError):
                os.waitpid(child.pid, os.WNOHANG)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _kill_group(pid: int) -> None:
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)
