"""The published rule of thumb, and what is certain."""


def find_printable_text(text: str) -> str:
    """What the published algorithm shows."""
    # Rule 4 alone: an ideograph or a newline at the end waits for a space too.
    return text[: text.rfind(" ") + 1]


def certain_text(text: str) -> str:
    """Everything but one U+FFFD at the end."""
    # This makes kana, hangul and Thai wait as the rule of thumb does.
    return find_printable_text(text)
