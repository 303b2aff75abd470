"""The process that traces the learner's class: ``python -m practice.judging.replay_child``.

A request comes on standard input, the two traces go to standard output, as JSON. The reference is
traced before the learner's file is loaded. Code that never ends is told with the line it is in.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from . import api, limits
from .learner_place import place_in_stack

MEMORY_MB = 1024
MODULE = "submission"


class ReplayRequest(msgspec.Struct):
    """What to trace.

    Attributes:
        ids: the tokens.
        alias: of the tokenizer.
        transformers: whether the class gets a transformers tokenizer, or a plain ``decode``.
        symbols: names that the exercise asks for; the first that can be traced is.
        solution: the reference's file.
        path: the learner's file.
        seconds: until a class that doesn't end is given up.
    """

    ids: list[int]
    alias: str
    transformers: bool
    symbols: list[str]
    solution: str
    path: str
    seconds: float


class ReplayAnswer(msgspec.Struct):
    """Both traces; without a reference there is nothing that can be traced.

    Attributes:
        reference: of the reference.
        yours: of the learner's class.
        problem: why there is no trace of it.
    """

    reference: dict[str, Any] | None = None
    yours: dict[str, Any] | None = None
    problem: str = ""


class PlainTokenizer:
    """A ``decode`` for classes that are written against that only."""

    def __init__(self, alias: str) -> None:
        self.backend_tokenizer = api.raw_tokenizer(alias)

    def decode(self, ids: list[int], **_: Any) -> str:
        """The text of `ids`, special tokens included."""
        return str(self.backend_tokenizer.decode(list(ids), skip_special_tokens=False))

    def batch_decode(self, batch: Any, **_: Any) -> list[str]:
        """`decode` for many."""
        return [self.decode(ids) for ids in batch]


class Replay:
    """Traces the reference, then the learner's class."""

    def __init__(self, request: ReplayRequest, send: Callable[[ReplayAnswer], None]) -> None:
        self._request = request
        self._send = send
        self._tracing = importlib.import_module("notebooks.widgets.tracing")
        self._answer = ReplayAnswer()
        self._run: Any = None  # that runs now
        self._main = threading.get_ident()

    def go(self) -> None:
        """Sends the answer; it may be the watching thread that does."""
        request = self._request
        tokenizer = api.tokenizer(request.alias) if request.transformers else None
        tokenizer = tokenizer or PlainTokenizer(request.alias)
        theirs = _load(request.solution, "reference")
        symbol = self._choose(theirs, tokenizer)
        if symbol is not None:
            limits.limit_process(MEMORY_MB)
            threading.Thread(target=self._watch, args=(time.sleep,), daemon=True).start()
            self._trace_yours(symbol, getattr(theirs, symbol), tokenizer)
        self._send(self._answer)

    def _trace_yours(self, symbol: str, theirs: Any, tokenizer: Any) -> None:
        try:
            kind = getattr(_load(self._request.path, MODULE), symbol)
            self._answer.yours = self._trace(kind, tokenizer, "yours", finished=True)
            if self._parts(self._answer.yours) is None:
                # The reply may have been judged before its end.
                yours = self._trace(kind, tokenizer, "yours", finished=False)
                reference = self._trace(theirs, tokenizer, "the reference", finished=False)
                if self._tracing.first_difference(yours, reference) is not None:
                    self._answer.yours, self._answer.reference = yours, reference
        except (Exception, SystemExit) as error:
            self._answer.problem = f"{type(error).__name__}: {error}"

    def _choose(self, module: types.ModuleType, tokenizer: Any) -> str | None:
        """The first symbol whose reference can be traced from begin to end."""
        for symbol in self._request.symbols:
            try:
                found = self._trace(getattr(module, symbol), tokenizer, "the reference", True)
            except Exception:
                continue
            if found["error"] is None and found["steps"]:
                self._answer.reference = found
                return symbol
        return None

    def _trace(self, kind: Any, tokenizer: Any, name: str, finished: bool) -> dict[str, Any]:
        self._run = self._tracing.Run(kind(tokenizer), self._request.ids, tokenizer, name)
        self._run.go(finished)
        result: dict[str, Any] = self._run.result()
        return result

    def _parts(self, yours: dict[str, Any]) -> int | None:
        place: int | None = self._tracing.first_difference(yours, self._answer.reference)
        return place

    def _watch(self, sleep: Callable[[float], None]) -> None:
        """After the deadline, tells how far the class came and the line it is in."""
        sleep(self._request.seconds)
        path = self._request.path
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
        place = place_in_stack(sys._current_frames().get(self._main), path, lines)
        told = f"It did not end within {self._request.seconds:g} seconds and was stopped."
        line = f"line {place['line']}: {place['text']}" if place else None
        if self._run is None or self._run.name != "yours":
            self._answer.problem = f"{told} {line or ''}".strip()
        else:
            self._run.fail(told, line)
            self._answer.yours = self._run.result()
        self._send(self._answer)


def _load(path: str, name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module  # dataclasses look for their module there
    text = Path(path).read_bytes().decode("utf-8-sig", errors="replace")
    exec(compile(text, path, "exec"), vars(module))
    return module


def main() -> None:
    """One request, one answer; what the learner's code prints goes nowhere."""
    limits.die_with_parent()
    answers = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    lock, leave = threading.Lock(), os._exit

    def send(answer: ReplayAnswer) -> None:
        with lock:
            data = memoryview(msgspec.json.encode(answer))
            while data:
                data = data[os.write(answers, data) :]
            leave(0)  # whatever threads of the learner's still run

    request = msgspec.json.decode(sys.stdin.buffer.read(), type=ReplayRequest)
    Replay(request, send).go()


if __name__ == "__main__":
    main()
