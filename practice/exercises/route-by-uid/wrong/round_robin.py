# caught by: test_always_the_same
"""You go round the workers in turn. The next token of a request then goes to another worker than
the one that remembers it.
"""

import itertools

_turns = itertools.count()


def route(uid: int, workers: int) -> int:
    if workers < 1:
        raise ValueError("no workers")
    return next(_turns) % workers
