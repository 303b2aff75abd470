# caught by: test_example_table
"""You count bytes. What is asked for is in how many tokens they lie."""

import codecs


def cut_tail(tokens: list[bytes]) -> int:
    """The number of tokens at the end with bytes of a character that can still be completed."""
    data = b"".join(tokens[-4:])  # an unfinished character has three bytes at the most
    return len(data) - codecs.utf_8_decode(data, "replace", False)[1]
