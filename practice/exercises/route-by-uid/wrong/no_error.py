# caught by: test_no_workers
"""You answer with worker 0 where there is no worker at all; the mistake shows up far from here."""

import hashlib


def route(uid: int, workers: int) -> int:
    def bid(worker: int) -> bytes:
        return hashlib.blake2b(f"{uid}/{worker}".encode(), digest_size=8).digest()

    return max(range(workers), key=bid, default=0)
