# caught by: test_one_worker_more
"""You take a hash modulo the number of workers: even, but with one worker more nearly every
request moves and loses what was held for it.
"""

import hashlib


def route(uid: int, workers: int) -> int:
    if workers < 1:
        raise ValueError("no workers")
    digest = hashlib.blake2b(str(uid).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % workers
