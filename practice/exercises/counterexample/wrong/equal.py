# caught by: test_not_additive
"""You put the border between whole words of Mistral where the space belongs to neither: both
sides are equal.
"""

QWEN3 = ([100024], [119])  # the two tokens of 鱻
MISTRAL = ([6312], [28709])  # "hello", " world": the second loses its space alone
