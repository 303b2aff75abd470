"""Stop strings in text that arrives piece by piece.

An Aho-Corasick automaton (Aho and Corasick, "Efficient string matching", CACM 1975) reads each
character of the reply once, for any number of stop strings. Its state is the longest suffix of the
text that a stop string begins with, which is exactly what has to be held back.

Of several stop strings the one that starts first wins, and of those the shortest, wherever the text
was cut into pieces. So "abcd" is waited for after "abc" although "bc" is already complete.
"""

from __future__ import annotations

import re
from collections import deque


class StopStrings:
    """The automaton of a request's stop strings; shared by requests that have the same.

    Args:
        stops: a stop string or several.

    Raises:
        ValueError: an empty stop string, or one with a lone surrogate, which no text contains.
    """

    def __init__(self, stops: str | list[str]) -> None:
        self.stops = list(dict.fromkeys([stops] if isinstance(stops, str) else stops))
        for stop in self.stops:
            if not stop:
                raise ValueError(
                    "a stop string is empty: leave it out, or give at least a character"
                )
            if any("\ud800" <= char <= "\udfff" for char in stop):
                raise ValueError(f"the stop string {stop!a} has a lone surrogate")
        self.next: list[dict[str, int]] = [{}]
        self.depth: list[int] = [0]
        self.match: list[int] = [0]  # length of the longest stop string that ends in this state
        for stop in self.stops:
            self._insert(stop)
        self.fail = [0] * len(self.next)
        self._link()
        first = "".join(re.escape(char) for char in self.next[0])
        self.first = re.compile(f"[{first}]") if first else None

    def _insert(self, stop: str) -> None:
        state = 0
        for char in stop:
            if char not in self.next[state]:
                self.next[state][char] = len(self.next)
                self.next.append({})
                self.depth.append(self.depth[state] + 1)
                self.match.append(0)
            state = self.next[state][char]
        self.match[state] = len(stop)

    def _link(self) -> None:
        """Fail links, breadth first: each state's longest proper suffix that is a state too."""
        queue = deque(self.next[0].values())
        while queue:
            state = queue.popleft()
            self.match[state] = self.match[state] or self.match[self.fail[state]]
            for char, child in self.next[state].items():
                self.fail[child] = self.step(self.fail[state], char)
                queue.append(child)

    def step(self, state: int, char: str) -> int:
        """The state after one more character."""
        while char not in self.next[state]:
            if state == 0:
                return 0
            state = self.fail[state]
        return self.next[state][char]


class StopChecker:
    """Looks for stop strings in one reply's text and says what may be shown.

    Args:
        strings: the automaton.
        include: show the stop string itself too.

    Attributes:
        hit: a stop string was found; nothing more is shown.
        held: text that isn't shown yet, since a stop string could begin in it.
    """

    def __init__(self, strings: StopStrings, include: bool = False) -> None:
        self.strings = strings
        self.include = include
        self.hit = False
        self.held = ""
        self._state = 0
        self._found: tuple[int, int] | None = None  # start and end of a match, from held's start

    def feed(self, text: str) -> str:
        """Takes new text, gives what may be shown now.

        Each character of `text` is read once. Returns "" after a hit.
        """
        if self.hit:
            return ""
        strings, state, read = self.strings, self._state, len(self.held)
        self.held += text
        while read < len(self.held):
            if state == 0 and self._found is None and strings.first:
                candidate = strings.first.search(self.held, read)
                if candidate is None:
                    break
                read = candidate.start()
            state = strings.step(state, self.held[read])
            read += 1
            self._note_match(state, read)
            if self._found and read - strings.depth[state] >= self._found[0]:
                return self._end()  # nothing that began earlier can still become a stop string
        self._state = state
        keep = strings.depth[state]  # a match that waits lies within what an earlier start holds
        shown = self.held[: len(self.held) - keep]
        if self._found:
            self._found = (self._found[0] - len(shown), self._found[1] - len(shown))
        self.held = self.held[len(shown) :]
        return shown

    def finish(self) -> str:
        """The text that is still held, at the end of the reply; a waiting match counts."""
        if self.hit:
            return ""
        if self._found:
            return self._end()
        shown, self.held = self.held, ""
        return shown

    def _note_match(self, state: int, read: int) -> None:
        length = self.strings.match[state]
        if length and (self._found is None or read - length < self._found[0]):
            self._found = (read - length, read)

    def _end(self) -> str:
        assert self._found is not None
        start, end = self._found
        shown, self.held, self.hit = self.held[: end if self.include else start], "", True
        return shown
