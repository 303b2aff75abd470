# caught by: test_code_points
"""You count UTF-16 units for code points, as JavaScript and Java do: an emoji becomes two."""


def count(text: str) -> tuple[int, int]:
    return len(text.encode("utf-8")), len(text.encode("utf-16-le")) // 2
