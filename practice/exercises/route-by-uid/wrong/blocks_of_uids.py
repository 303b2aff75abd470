# caught by: test_even_spread
"""You give whole ranges of uids to one worker, so all requests of the moment, whose uids are
neighbours, go to the same one.
"""


def route(uid: int, workers: int) -> int:
    if workers < 1:
        raise ValueError("no workers")
    return (uid // 100_000) % workers
