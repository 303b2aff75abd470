"""Rendezvous hashing: every worker bids for a uid, the highest bid wins."""

import hashlib


def route(uid: int, workers: int) -> int:
    """Which of `workers` detokenizers the request `uid` belongs to."""
    if workers < 1:
        raise ValueError(f"there must be at least one worker, got {workers}")

    def bid(worker: int) -> bytes:
        return hashlib.blake2b(f"{uid}/{worker}".encode(), digest_size=8).digest()

    return max(range(workers), key=bid)
