# caught by: test_any_bytes
"""You go back over continuation bytes to a lead byte, and don't look whether the character is
complete or can still become one.
"""


def cut_tail(tokens: list[bytes]) -> int:
    """The number of tokens at the end with bytes of a character that can still be completed."""
    data = b"".join(tokens[-4:])  # an unfinished character has three bytes at the most
    waiting = 0
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:
            size = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            waiting = back if back < size else 0
            break
        if byte < 0x80:
            break
    count = 0
    while waiting > 0:
        count += 1
        waiting -= len(tokens[-count])
    return count
