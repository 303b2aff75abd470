"""How many tokens at the end hold an unfinished character."""


def cut_tail(tokens: list[bytes]) -> int:
    """The number of tokens at the end with bytes of a character that can still be completed."""
    # This looks at the last token alone, and takes every invalid byte for the beginning of a
    # character.
    if not tokens:
        return 0
    return 1 if "\ufffd" in tokens[-1].decode("utf-8", errors="replace") else 0
