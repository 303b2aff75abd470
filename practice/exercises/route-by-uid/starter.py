"""To which detokenizer a request belongs."""


def route(uid: int, workers: int) -> int:
    """Which of `workers` detokenizers the request `uid` belongs to."""
    if workers < 1:
        raise ValueError(f"there must be at least one worker, got {workers}")
    # Always the same, but uneven for uids in steps, and one worker more moves nearly every uid.
    return uid % workers
