"""Tests of `route-by-uid`."""

from __future__ import annotations

from collections import Counter
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from practice.judging.api import expect, expect_equal, expect_raises, showing

UIDS = st.integers(0, 2**40)
WORKERS = st.integers(1, 16)


def test_example_one_worker(submission: ModuleType) -> None:
    """A single worker has every request.

    See: lesson 11, "Routing by uid"
    """
    showing(uid=7, workers=1)
    expect_equal(submission.route(7, 1), 0)


@given(uid=UIDS, workers=WORKERS)
def test_in_range(submission: ModuleType, uid: int, workers: int) -> None:
    """The answer is a whole number from 0 to workers - 1.

    See: lesson 11, "Routing by uid"
    """
    showing(uid=uid, workers=workers)
    got = submission.route(uid, workers)
    expect(
        type(got) is int and 0 <= got < workers,
        "The answer is no worker's number.",
        expected=f"0 to {workers - 1}",
        got=got,
    )


@given(uid=UIDS, workers=WORKERS, others=st.lists(UIDS, min_size=1, max_size=5))
def test_always_the_same(submission: ModuleType, uid: int, workers: int, others: list[int]) -> None:
    """The same uid goes to the same worker, whatever was asked in between.

    See: lesson 11, "Two detokenizers without routing"
    """
    showing(uid=uid, workers=workers, asked_in_between=others)
    first = submission.route(uid, workers)
    for other in others:
        submission.route(other, workers)
    expect_equal(submission.route(uid, workers), first)


@pytest.mark.parametrize("step", [1, 4, 1000])
def test_even_spread(submission: ModuleType, step: int) -> None:
    """No worker has more than one and a half times its share, also of uids in steps.

    See: lesson 11, "Even spread"
    """
    workers = 4
    showing(uids=f"0, {step}, {2 * step}, ... 4000 of them", workers=workers)
    load = Counter(submission.route(uid * step, workers) for uid in range(4000))
    expect(
        max(load.values()) <= 1500,
        "One worker has more than one and a half times its share.",
        expected="1500 at the most",
        got=dict(sorted(load.items())),
    )


@given(uid=UIDS, workers=WORKERS)
def test_one_worker_more(submission: ModuleType, uid: int, workers: int) -> None:
    """With one worker more a request stays where it is, or goes to the new one.

    See: lesson 11, "When the number of workers changes"
    """
    showing(uid=uid, workers=workers)
    before, after = submission.route(uid, workers), submission.route(uid, workers + 1)
    expect(
        after in (before, workers),
        "The request moved from one old worker to another.",
        expected=f"{before} or {workers}",
        got=after,
    )


def test_the_new_worker_gets_its_share(submission: ModuleType) -> None:
    """A new worker takes requests over, not none.

    See: lesson 11, "When the number of workers changes"
    """
    showing(uids="0 to 999", workers=5)
    taken = sum(submission.route(uid, 5) == 4 for uid in range(1000))
    expect(taken >= 100, "The fifth worker has nearly nothing.", expected="about 200", got=taken)


def test_no_workers(submission: ModuleType) -> None:
    """Without a worker there is nowhere to go: a ValueError.

    See: lesson 11, "Routing by uid"
    """
    showing(uid=1, workers=0)
    expect_raises(ValueError, lambda: submission.route(1, 0))
