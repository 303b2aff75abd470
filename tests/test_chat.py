"""The chat in the terminal: through a pipe, and typed into a terminal with Ctrl-C."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from examples import chat
from examples.recorded import recordings
from examples.smollm2 import NOT_INSTALLED

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "examples/chat.py", "--model", "recorded"]
WAIT = 90  # so long a test waits before it fails; no speed is judged


@pytest.mark.slow
def test_through_a_pipe():
    result = subprocess.run(
        COMMAND,
        input="Hi 🦩\n/new\n/what\n/quit\n",
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        timeout=WAIT,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "What you see now are replies that were recorded" in result.stdout
    assert recordings()[0]["text"] in result.stdout
    assert "stop · 55 tokens" in result.stdout
    assert "A new conversation." in result.stdout
    assert result.stdout.count(chat.HELP) == 2


def test_without_the_model_it_says_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(chat, "model_file", lambda: None)
    assert chat.main(["--model", "smollm2"]) == 1
    said = capsys.readouterr().out
    assert said.strip() == NOT_INSTALLED
    assert "python3 start.py setup --with-model" in said and "93 MB" in said


@pytest.mark.skipif(sys.platform == "win32", reason="pexpect drives Unix terminals")
@pytest.mark.slow
def test_ctrl_c_stops_the_answer_not_the_program():
    import pexpect

    terminal = pexpect.spawn(
        COMMAND[0],
        COMMAND[1:],
        cwd=str(ROOT),
        env={**os.environ, "NO_COLOR": "1", "TERM": "dumb"},
        encoding="utf-8",
        timeout=WAIT,
        dimensions=(40, 200),
    )
    try:
        terminal.expect("you ▸ ")
        children = psutil.Process(terminal.pid).children(recursive=True)
        terminal.sendintr()  # at the prompt: says how to leave
        terminal.expect("Ctrl-D or /quit ends")
        terminal.expect("you ▸ ")
        terminal.sendline("Why?")
        terminal.expect("model ▸ The sky is")
        terminal.sendintr()
        terminal.expect("stopped · ")
        assert "natural world" not in terminal.before
        terminal.expect("you ▸ ")
        terminal.sendline("Again, please")
        terminal.expect("The sky is blue")
        terminal.expect("natural world.")
        terminal.expect("stop · 55 tokens")
        terminal.expect("you ▸ ")
        terminal.sendeof()
        terminal.expect(pexpect.EOF)
        terminal.close()
        assert terminal.exitstatus == 0
    finally:
        terminal.close(force=True)
    _, alive = psutil.wait_procs(children, timeout=60)
    assert not alive
