# caught by: test_over_borders
"""You look for stop strings in the new piece only, so one that lies over two pieces is never
found.
"""


class StopChecker:
    """Looks for stop strings in one reply."""

    def __init__(self, stops: list[str]) -> None:
        if not all(stops):
            raise ValueError("a stop string must have at least one character")
        self.stops = stops
        self.held = ""
        self.ended = False

    def feed(self, text: str) -> tuple[str, bool]:
        """Text that may be shown now, and whether the scheduler is to abort."""
        if self.ended:
            return "", False
        self.held = text
        start = self._first_hit()
        if start is not None:
            self.ended = True
            return self.held[:start], True
        self.held = ""
        return text, False

    def finish(self) -> str:
        """What is still held at the end."""
        if self.ended:
            return ""
        start = self._first_hit()
        return self.held if start is None else self.held[:start]

    def _first_hit(self) -> int | None:
        places = [self.held.find(stop) for stop in self.stops]
        return min((place for place in places if place >= 0), default=None)

    def _first_beginning(self) -> int:
        for place in range(len(self.held)):
            rest = self.held[place:]
            if any(stop.startswith(rest) and stop != rest for stop in self.stops):
                return place
        return len(self.held)
