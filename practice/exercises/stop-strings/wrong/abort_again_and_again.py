# caught by: test_abort_is_told_once
"""You tell the abort again with every piece after the hit. The scheduler is told once."""


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
            return "", True
        self.held += text
        start, wait = self._first_hit(), self._first_beginning()
        if start is not None and start <= wait:
            self.ended = True
            return self.held[:start], True
        shown, self.held = self.held[:wait], self.held[wait:]
        return shown, False

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
