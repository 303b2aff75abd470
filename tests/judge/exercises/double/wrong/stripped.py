# caught by: test_any
"""You take the spaces off the ends."""


def double(text):
    return text.strip() * 2
