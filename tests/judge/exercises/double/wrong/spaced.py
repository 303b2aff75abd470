# caught by: test_example_word
"""You put a space between the two."""


def double(text):
    return f"{text} {text}"
