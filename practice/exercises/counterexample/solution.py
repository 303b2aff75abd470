"""Two pairs of id lists for which decoding is not additive."""

QWEN3 = ([100024], [119])  # the two tokens of 鱻
MISTRAL = ([6312, 28709], [1526])  # "hello", " world": the second loses its space alone
