# caught by: test_any_bytes
"""You count every token at the end that decodes to U+FFFD. Dead bytes are final: they wait for
nothing.
"""


def cut_tail(tokens: list[bytes]) -> int:
    """The number of tokens at the end with bytes of a character that can still be completed."""
    if b"".join(tokens).decode("utf-8", "replace")[-1:] != "\ufffd":
        return 0
    count = 0
    while count < len(tokens) and "\ufffd" in tokens[-count - 1].decode("utf-8", "replace"):
        count += 1
    return count
