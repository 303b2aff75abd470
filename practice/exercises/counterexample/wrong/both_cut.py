# caught by: test_mistral_is_about_the_space
"""For Mistral you cut a character in two as for Qwen3. Look for its other reason: the space that
begins a text.
"""

QWEN3 = ([100024], [119])  # the two tokens of 鱻
MISTRAL = ([236], [180, 190])  # "hello", " world": the second loses its space alone
