"""How many tokens at the end hold an unfinished character."""

import codecs


def cut_tail(tokens: list[bytes]) -> int:
    """The number of tokens at the end with bytes of a character that can still be completed."""
    data = b"".join(tokens[-4:])  # an unfinished character has three bytes at the most
    waiting = len(data) - codecs.utf_8_decode(data, "replace", False)[1]
    count = 0
    while waiting > 0:
        count += 1
        waiting -= len(tokens[-count])
    return count
