# caught by: test_rules
"""You count kana as ideographs. The published rule doesn't: it takes CJK ideographs only, which
is why kana wait.
"""


def _is_ideograph(char: str) -> bool:
    return "\u3040" <= char <= "\u9fff" or "\u3400" <= char <= "\u4dbf"


def find_printable_text(text: str) -> str:
    """What the published algorithm shows."""
    if text.endswith("\n"):
        return text
    if text and _is_ideograph(text[-1]):
        return text
    if len(text) > 1 and _is_ideograph(text[-2]):
        return text[:-1]
    return text[: text.rfind(" ") + 1]


def certain_text(text: str) -> str:
    """Everything but one U+FFFD at the end."""
    return text.removesuffix("\ufffd")
