"""Two pairs of id lists for which decoding is not additive."""

# Whole English words in Qwen3: here the two sides are equal.
QWEN3 = ([14990], [1879])
MISTRAL = ([14990], [1879])
