# caught by: test_rules
"""You forgot the newline: a line that ends with one is shown whole."""


def _is_ideograph(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff" or "\u3400" <= char <= "\u4dbf"


def find_printable_text(text: str) -> str:
    """What the published algorithm shows."""
    if text and _is_ideograph(text[-1]):
        return text
    if len(text) > 1 and _is_ideograph(text[-2]):
        return text[:-1]
    return text[: text.rfind(" ") + 1]


def certain_text(text: str) -> str:
    """Everything but one U+FFFD at the end."""
    return text.removesuffix("\ufffd")
