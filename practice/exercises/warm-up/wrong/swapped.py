# caught by: test_bytes
"""The two numbers have changed places: bytes first, code points second."""


def count(text: str) -> tuple[int, int]:
    return len(text), len(text.encode("utf-8"))
