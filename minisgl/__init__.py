"""minisgl: the tokenizer process of an LLM inference engine, as the notebooks build it.

Nothing is imported here on purpose: ``minisgl.message`` and the detokenizers work without torch,
which takes seconds to load.
"""

__version__ = "0.1.0"
