"""Twice the text."""


def double(text: str) -> str:
    """`text` twice."""
    return text
