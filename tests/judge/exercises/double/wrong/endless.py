# caught by: test_any
"""Your loop ends only where there is something to double."""


def double(text):
    result = text
    while len(result) < 2 * len(text) or not result:
        result += text
    return result
