# caught by: test_sound_together
"""Together your ids for Qwen3 are no sound text. A border within a character is right, but the
whole must be complete.
"""

QWEN3 = ([100024], [100024])  # the two tokens of 鱻
MISTRAL = ([6312, 28709], [1526])  # "hello", " world": the second loses its space alone
