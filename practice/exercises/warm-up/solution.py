"""Bytes and code points of a text."""


def count(text: str) -> tuple[int, int]:
    """How many bytes `text` takes in UTF-8, and how many code points it has."""
    return len(text.encode("utf-8")), len(text)
