"""An audit hook that refuses, kindly, what a submission has no business with.

Python tells the hook before it opens, deletes, starts or connects anything; an error raised there
stops the act. It can't be taken out again. It isn't a prison: C code that Python doesn't audit goes
past it (for that there is `landlock` on Linux, and the supervisor), and the process's own memory
can't be kept from code that runs in it. This is a judge for learning, not for exams with an enemy.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Refused = Callable[[str], None]

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

CHANGES = {  # event -> which of its arguments are paths that change
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.mkdir": (0,),
    "os.rename": (0, 1),
    "os.link": (0, 1),
    "os.symlink": (0, 1),
    "os.truncate": (0,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.chflags": (0,),
    "os.utime": (0,),
    "os.setxattr": (0,),
    "os.removexattr": (0,),
    "shutil.rmtree": (0,),
    "shutil.move": (0, 1),
    "shutil.chown": (0,),
}
PROCESSES = {
    "os.fork",
    "os.forkpty",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "os.startfile",
    "os.system",
    "subprocess.Popen",
    "pty.spawn",
}
NETWORK = {"socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo"}
INSIDES = {
    "ctypes.dlopen": "call C functions by ctypes",
    "ctypes.dlsym": "call C functions by ctypes",
    "gc.get_objects": "go through Python's memory",
    "gc.get_referrers": "go through Python's memory",
    "gc.get_referents": "go through Python's memory",
    "resource.setrlimit": "change the limits",
    "resource.prlimit": "change the limits",
    "syslog.syslog": "write to the system's log",
}


class NotAllowedError(PermissionError):
    """Something that a submission may not do; says what."""


class Guard:
    """What the hook knows.

    Attributes:
        armed: nothing is refused before.
        importing: above 0 while a module of `minisgl` is being imported.
    """

    def __init__(self, folder: Path, secrets: tuple[Path, ...], source: Path | None) -> None:
        """Args: the run's folder; files and folders not to be read; the package's source."""
        self.armed = False
        self.importing = 0
        normal = os.path.normcase
        self._folder = normal(str(folder.resolve()))
        self._temp = normal(str(folder))
        self._secrets = tuple(normal(str(path)) for path in secrets)
        self._source = normal(str(source)) if source else ""
        self._null = (os.devnull, "/dev/tty", "nul", "NUL")

    def install(self, refused: Refused) -> None:
        """Adds the hook for the rest of this process's life; `refused` hears each refusal."""
        checks: dict[str, Callable[[tuple[Any, ...]], str]] = {"open": self._check_open}
        for event, places in CHANGES.items():
            checks[event] = self._change_check(places)
        for event in PROCESSES:
            checks[event] = lambda _: "start other processes"
        for event in NETWORK:
            checks[event] = lambda _: "use the network"
        for event, act in INSIDES.items():
            checks[event] = lambda _, act=act: act  # type: ignore[misc]
        checks["os.kill"] = checks["os.killpg"] = _check_kill
        find, error, me = checks.get, NotAllowedError, self

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            check = find(event)
            if check is None or not me.armed:
                return
            act = check(arguments)
            if act:
                refused(act)
                raise error(f"the judge doesn't let a submission {act}")

        sys.addaudithook(hook)

    def _check_open(self, arguments: tuple[Any, ...]) -> str:
        path, flags = self._absolute(arguments[0]), arguments[2]
        if path is None:
            return ""
        if type(flags) is int and flags & WRITING:
            inside = self._is_mine(path) or arguments[0] in self._null
            return "" if inside else f"write to {path}"
        for secret in self._secrets:
            if path == secret or path.startswith(secret + os.sep):
                return f"read the solution or the course's own code ({path})"
        if self._source and not self.importing and path.startswith(self._source + os.sep):
            return f"read the source of minisgl ({path}), where the solution is"
        return ""

    def _change_check(self, places: tuple[int, ...]) -> Callable[[tuple[Any, ...]], str]:
        def check(arguments: tuple[Any, ...]) -> str:
            for place in places:
                path = self._absolute(arguments[place])
                if path is None or not self._is_mine(path):
                    return f"change or delete {path or 'an open file'}"
            return ""

        return check

    def _is_mine(self, path: str) -> bool:
        roots = (self._folder, self._temp)
        return any(path == root or path.startswith(root + os.sep) for root in roots)

    def _absolute(
        self,
        path: Any,
        fspath: Callable[[Any], Any] = os.fspath,
        fsdecode: Callable[[Any], str] = os.fsdecode,
        abspath: Callable[[str], str] = os.path.abspath,
        normal: Callable[[str], str] = os.path.normcase,
    ) -> str | None:
        if path is None or isinstance(path, int):
            return None
        try:
            return normal(abspath(fsdecode(fspath(path))))
        except (TypeError, ValueError):
            return None


def _check_kill(arguments: tuple[Any, ...], getpid: Callable[[], int] = os.getpid) -> str:
    return "" if arguments[0] == getpid() else "send signals to other processes"


def secrets_of(exercises: Path, root: Path) -> tuple[Path, ...]:
    """Files and folders where finished solutions can be read."""
    solutions = exercises.glob("*/solution.py")
    wrong = exercises.glob("*/wrong")
    caches = exercises.glob("*/__pycache__")
    beside = (root / name for name in ("notebooks", "tools", "examples", ".git"))
    return (*solutions, *wrong, *caches, *beside)
