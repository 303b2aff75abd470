"""Submissions that attack the judge: each gets a right verdict, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from practice.judging import landlock
from practice.judging.client import Judge
from practice.judging.exercises import Exercise
from practice.judging.paths import ROOT
from practice.judging.verdict import Verdict

VerdictOn = Callable[[str], Verdict]
linux = pytest.mark.skipif(sys.platform != "linux", reason="what the kernel does here is Linux's")


@pytest.fixture(autouse=True)
def leaves_nothing(judge: Judge, double: Exercise) -> Iterator[None]:
    """After each attack: no process, no folder, and the next submission is judged as ever."""
    judge.make_ready(double)
    yield
    assert judge.judge(double, "def double(text):\n    return text + text").passed
    left = [process for process in _below() if "judging.server" not in _command(process)]
    assert not left
    assert not list(Path(os.environ["TMPDIR"]).glob("judge-*"))


def _below() -> list[psutil.Process]:
    return [
        process
        for process in psutil.Process().children(recursive=True)
        if process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    ]


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return "judging.server"


def body(code: str, head: str = "") -> str:
    """A submission whose function begins with `code`, and would be right otherwise."""
    lines = "\n".join(f"    {line}" for line in code.splitlines())
    return f"{head}\ndef double(text):\n{lines}\n    return text + text\n"


def test_endless_loop(verdict_on: VerdictOn) -> None:
    verdict = verdict_on(body("n = 5\nwhile True: pass"))
    case = verdict.first_failure
    assert verdict.status == "timeout" and case is not None and case.place is not None
    assert (case.place.line, case.place.text) == (4, "while True: pass")
    assert case.place.values["n"] == "5"
    assert case.input == {"text": "'ab'"}


def test_loop_that_catches_everything(verdict_on: VerdictOn) -> None:
    code = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    assert verdict_on(body(code)).status == "timeout"


def test_waiting_for_ever(verdict_on: VerdictOn) -> None:
    verdict = verdict_on(body("time.sleep(10**6)", "import time"))
    case = verdict.first_failure
    assert verdict.status == "timeout" and case is not None and case.place is not None
    assert case.place.text == "time.sleep(10**6)"


def test_hang_in_c_code_still_has_its_line(verdict_on: VerdictOn) -> None:
    verdict = verdict_on(body('re.match("(a+)+$", "a" * 60 + "b")', "import re"))
    case = verdict.first_failure
    assert verdict.status == "timeout" and case is not None and case.place is not None
    assert "re.match" in case.place.text


def test_signals_ignored_and_alarms_set(verdict_on: VerdictOn) -> None:
    code = "for n in (15, 2, 1): signal.signal(n, signal.SIG_IGN)\nwhile True: pass"
    assert verdict_on(body(code, "import signal")).status == "timeout"


def test_slow_shrinking_is_told_as_the_failure_that_it_is(verdict_on: VerdictOn) -> None:
    code = "end = time.process_time() + 0.12\nwhile time.process_time() < end: pass\n"
    code += "if len(text) > 3: return text"
    verdict = verdict_on(body(code, "import time"))
    case = verdict.first_failure
    assert verdict.status in ("failed", "timeout") and case is not None
    assert case.name == "test_any"
    assert verdict.status == "timeout" or case.expected is not None


@linux
def test_forks(verdict_on: VerdictOn) -> None:
    verdict = verdict_on(body("os.fork()", "import os"))
    case = verdict.first_failure
    assert verdict.status == "failed" and case is not None
    assert "start other processes" in case.message
    assert any("start other processes" in note for note in verdict.notes)


FORK_PAST_PYTHON = """
for _ in range(60):
    r, w = os.pipe()
    p.fork_exec([b"/bin/sleep"] * 1 + [b"1000"], [b"/bin/sleep"], True, (w,), None, None, -1, -1,
                -1, -1, -1, -1, r, w, False, True, -1, None, None, None, -1, None, False)
while True: pass
""".strip()


@linux
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="an internal call of Python 3.11")
def test_fork_bomb_past_the_audit_hook(verdict_on: VerdictOn) -> None:
    verdict = verdict_on(body(FORK_PAST_PYTHON, "import _posixsubprocess as p, os"))
    assert verdict.status == "error"
    assert "processes" in verdict.message


GRANDCHILD = """
r, w = os.pipe()
p.fork_exec([b"/bin/sleep", b"1000"], [b"/bin/sleep"], False, tuple(range(40)), None, None,
            -1, -1, -1, -1, -1, -1, r, w, False, True, -1, None, None, None, -1, None, False)
""".strip()


@linux
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="an internal call of Python 3.11")
def test_grandchild_that_holds_the_pipes(verdict_on: VerdictOn) -> None:
    began = time.monotonic()
    verdict = verdict_on(GRANDCHILD.join(["import _posixsubprocess as p, os\n", "\n"]) + body(""))
    assert verdict.status == "passed"
    assert time.monotonic() - began < 60  # it isn't waited for: it sleeps for 1,000 seconds


@linux
def test_ten_gigabytes(verdict_on: VerdictOn) -> None:
    verdict = verdict_on(body("big = bytearray(10 * 2**30)"))
    case = verdict.first_failure
    assert verdict.status == "failed" and case is not None
    assert "memory" in case.message


def test_memory_that_grows_while_errors_are_caught(verdict_on: VerdictOn) -> None:
    code = (
        "kept = []\nwhile True:\n    try: kept.append(b'x' * 2**24)\n    except BaseException: pass"
    )
    assert verdict_on(body(code)).status in ("timeout", "error")


def test_a_gigabyte_of_prints(verdict_on: VerdictOn) -> None:
    code = "if not text:\n    for _ in range(1024): os.write(1, b'5 passed' * 2**17)"
    verdict = verdict_on(body(code, "import os"))
    assert verdict.status in ("passed", "timeout")
    assert len(verdict.output) <= 16_000
    assert verdict.output_bytes > 2**24


@pytest.mark.parametrize("code", ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.abort()"])
def test_ends_its_process(verdict_on: VerdictOn, code: str) -> None:
    verdict = verdict_on(body(f"print('3 passed')\n{code}", "import os"))
    assert verdict.status == "error"
    assert "ended before the tests did" in verdict.message


@pytest.mark.parametrize(
    "code",
    [
        "sys.exit()",
        "raise SystemExit(0)",
        "raise KeyboardInterrupt",
        "raise GeneratorExit",
        "pytest.skip('no')",
        "pytest.exit('no', returncode=0)",
        "pytest.xfail('no')",
    ],
)
def test_leaves_the_test(verdict_on: VerdictOn, code: str) -> None:
    verdict = verdict_on(body(code, "import sys, pytest"))
    assert verdict.status == "failed"
    assert verdict.count("passed") == 0
    assert verdict.count("failed") == len(verdict.cases)


VICTIM = "victim.txt"


@pytest.mark.parametrize(
    "code",
    [
        "os.remove({path!r})",
        "os.rename({path!r}, 'mine')",
        "open({path!r}, 'w').write('x')",
        "open({path!r}, 'ab').write(b'x')",
        "os.truncate({path!r}, 0)",
        "os.close(os.open({path!r}, os.O_WRONLY | os.O_TRUNC))",
        "shutil.rmtree(os.path.dirname({path!r}))",
        "os.symlink(os.path.dirname({path!r}), 'd'); open('d/victim.txt', 'w').write('x')",
        "os.chmod({path!r}, 0)",
        "pathlib.Path({path!r}).unlink()",
    ],
)
def test_files_outside_stay(verdict_on: VerdictOn, tmp_path: Path, code: str) -> None:
    victim = tmp_path / VICTIM
    victim.write_text("precious", encoding="utf-8")
    attack = f"try:\n    {code.format(path=str(victim))}\nexcept OSError as error: print(error)"
    verdict = verdict_on(body(attack, "import os, pathlib, shutil"))
    assert victim.read_text(encoding="utf-8") == "precious"
    assert verdict.notes and "The judge didn't let your code" in verdict.notes[0]
    assert verdict.status == "passed"  # the answer itself is right


def test_writes_in_its_own_folder(verdict_on: VerdictOn) -> None:
    code = "open('notes.txt', 'w').write(text)\nassert open('notes.txt').read() == text"
    verdict = verdict_on(body(code))
    assert (verdict.status, verdict.notes) == ("passed", [])


CONFINED = """
import pathlib, sys
from practice.judging import landlock
inside, outside = map(pathlib.Path, sys.argv[1:])
assert landlock.confine_writes(inside)
(inside / "mine").write_text("x")
try:
    outside.write_text("x")
except PermissionError:
    print("refused")
"""


@pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
def test_the_kernel_refuses_too(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out.txt"
    inside.mkdir()
    outside.write_text("precious", encoding="utf-8")
    arguments = [sys.executable, "-c", CONFINED, str(inside), str(outside)]
    done = subprocess.run(arguments, capture_output=True, encoding="utf-8", cwd=ROOT)
    assert (done.stdout, done.stderr) == ("refused\n", "")
    assert (inside / "mine").exists()
    assert outside.read_text(encoding="utf-8") == "precious"


@pytest.mark.parametrize(
    "attack",
    [
        "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None",
        "import pytest\npytest.fail = lambda *a, **k: None",
        "import builtins\nbuiltins.isinstance = lambda *a: True",
        "import _pytest.runner as r\nr.pytest_runtest_call.__code__ = (lambda item: None).__code__",
        "import hypothesis.core as c\nc.StateForActualGivenExecution.run_engine = lambda s: None",
    ],
)
def test_changed_tools_are_noticed(verdict_on: VerdictOn, attack: str) -> None:
    verdict = verdict_on(f"{attack}\ndef double(text): return 1\n")
    assert verdict.status == "error"
    assert "replaced" in verdict.message


def test_changed_tools_are_noticed_in_a_right_solution_too(verdict_on: VerdictOn) -> None:
    attack = "import hypothesis.core as c\nc.StateForActualGivenExecution.run_engine = print"
    verdict = verdict_on(f"def double(text):\n    {attack.splitlines()[0]}\n"
                         f"    {attack.splitlines()[1]}\n    return text + text\n")  # fmt: skip
    assert not verdict.passed


def test_an_answer_that_calls_itself_equal(verdict_on: VerdictOn) -> None:
    source = "class Any(str):\n    __eq__ = lambda self, other: True\n    __hash__ = str.__hash__\n"
    verdict = verdict_on(f"{source}def double(text): return Any()\n")
    assert verdict.status == "failed"
    assert verdict.count("passed") == 0


def test_words_on_every_descriptor_are_no_pass(verdict_on: VerdictOn) -> None:
    code = (
        "for fd in range(3, 64):\n    try: os.write(fd, b'5 passed' * 9)\n    except OSError: pass"
    )
    verdict = verdict_on(body(code, "import os"))
    assert verdict.status == "error"


@pytest.mark.parametrize(
    ("code", "act"),
    [
        ("os.kill(os.getppid(), 9)", "signals"),
        ("os.system('true')", "start other processes"),
        ("subprocess.run(['true'])", "start other processes"),
        ("socket.create_connection(('127.0.0.1', 9))", "network"),
        ("ctypes.CDLL(None)", "ctypes"),
        ("gc.get_objects()", "memory"),
    ],
)
def test_is_refused_kindly(verdict_on: VerdictOn, code: str, act: str) -> None:
    verdict = verdict_on(body(code, "import os, subprocess, socket, ctypes, gc"))
    case = verdict.first_failure
    assert verdict.status == "failed" and case is not None
    assert act in case.message and "doesn't let a submission" in case.message


def test_passwords_of_whoever_judges_are_not_there(
    double: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADES_PASSWORD", "sesame")
    source = "import os\nprint(dict(os.environ))\n"
    if sys.platform == "linux":
        source += "print(open('/proc/self/environ').read())\n"
    with Judge() as judge:
        verdict = judge.judge(double, f"{source}def double(text): return text + text")
    assert verdict.passed and "PATH" in verdict.output
    assert "sesame" not in verdict.output


def test_input_is_empty(verdict_on: VerdictOn) -> None:
    assert verdict_on(body("assert sys.stdin.read() == ''", "import sys")).passed


def test_secrets_of_the_judge_are_out_of_reach(verdict_on: VerdictOn, double: Exercise) -> None:
    solution = double.path / "solution.py"
    for source in (
        f"exec(open({str(solution)!r}).read())",
        "import practice.judging.api\ndef double(text): return text + text",
        f"text = open({str(ROOT / 'minisgl' / 'core.py')!r}).read()",
        f"import sys; sys.path.insert(0, {str(double.path)!r})\nfrom solution import double",
    ):
        verdict = verdict_on(source)
        assert verdict.status == "error", source
        assert "solution" in verdict.message or "belongs to the judge" in verdict.message
