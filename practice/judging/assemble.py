"""From a run's reports to the verdict."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from .exercises import Exercise
from .job import Job
from .learner_place import place_in_dump
from .refusals import replaced
from .supervise import RunResult
from .verdict import Case, Place, Verdict

ENDED = {
    "memory": "Your code used more than {memory} MB of memory, so it was ended.",
    "processes": "Your code started more than {processes} processes, so all of them were ended.",
    "disturbed": "Something in your code wrote into the judge's own channel, so the run doesn't "
    "count.",
    "time": "Your code ran longer than {seconds:g} seconds in all.",
}


def source_hash(source: str) -> str:
    """Tells submissions apart; line ends don't count."""
    return hashlib.sha256("\n".join(source.splitlines()).encode()).hexdigest()[:16]


def assemble(
    exercise: Exercise, job: Job, tests: list[dict[str, Any]], result: RunResult, file: str
) -> Verdict:
    """The verdict on a run.

    Args:
        exercise: what was asked.
        job: the run.
        tests: the tests of the exercise, known from listing them before.
        result: what became of the run.
        file: the submission's name, as the learner knows it.
    """
    source = job.source or ""
    verdict = Verdict(
        exercise=exercise.id,
        title=exercise.head.title,
        status="error",
        notes=_notes(result),
        output=result.output.decode("utf-8", errors="replace"),
        output_bytes=result.output_bytes,
        seed=job.seed,
        seconds=round(result.seconds, 3),
        file=file,
        content_hash=exercise.content_hash,
        source_hash=source_hash(source),
        hint=f"hint {exercise.id}",
    )
    told = {report["case"]: report for report in result.all("case")}
    verdict.cases = [_case(test, told.get(test["name"])) for test in tests]
    if not _load_failed(verdict, result) and not _broken(verdict, result):
        _judge(verdict, job, result, source.splitlines())
    return verdict


def _notes(result: RunResult) -> list[str]:
    acts = dict.fromkeys(report["act"] for report in result.all("refused"))
    return [f"The judge didn't let your code {act}." for act in acts]


def _case(test: dict[str, Any], report: dict[str, Any] | None) -> Case:
    case = Case(test["name"], "not_run", test["property"], test["example"], see=test["see"])
    if report is not None:
        case.status = report["status"]
        case.seconds = report["seconds"]
        _fill(case, report)
        if case.status == "error":
            case.message = "This test didn't come to its end."
    return case


def _fill(case: Case, report: dict[str, Any]) -> None:
    case.input = report.get("input") or {}
    case.expected = report.get("expected")
    case.got = report.get("got")
    case.message = report.get("message") or ""
    case.stream = report.get("stream")
    case.place = _place(report.get("place"))


def _place(found: dict[str, Any] | None) -> Place | None:
    return msgspec.convert(found, Place) if found else None


def _load_failed(verdict: Verdict, result: RunResult) -> bool:
    problem = result.last("load_error")
    if problem is None:
        return False
    verdict.message = problem["message"]
    verdict.place = _place(problem.get("place"))
    return True


def _broken(verdict: Verdict, result: RunResult) -> bool:
    problem = result.last("broken")
    if problem is None:
        return False
    verdict.message = (
        "The exercise itself is broken, not your code; please tell whoever gave it to you. "
        f"{problem['text']}"
    )
    return True


def _judge(verdict: Verdict, job: Job, result: RunResult, lines: list[str]) -> None:
    end = result.last("end")
    if end is None:
        _judge_unfinished(verdict, job, result, lines)
    elif end["changed"]:
        verdict.message = replaced(end["changed"])
    elif verdict.cases and all(case.status == "passed" for case in verdict.cases):
        verdict.status = "passed"
    elif verdict.first_failure is None:
        verdict.message = "Not all tests were run, so the run doesn't count."
    else:
        only_errors = all(case.status != "failed" for case in verdict.cases)
        verdict.status = "error" if only_errors else "failed"


def _judge_unfinished(verdict: Verdict, job: Job, result: RunResult, lines: list[str]) -> None:
    """The run was ended from outside, or its process went away."""
    started, stuck = result.last("start"), result.last("stuck")
    case = _running_case(verdict, started)
    if result.ended_by == "time" and case is not None:
        verdict.status = "timeout"
        case.status = "timeout"
        case.seconds = job.limits.test_seconds
        limit = f"{job.limits.test_seconds:g} second{'' if job.limits.test_seconds == 1 else 's'}"
        case.message = f"This test was still running after {limit}."
        known = (stuck or {}).get("failure")
        if known:  # a difference was found, and time ran out while it was being made smaller
            verdict.status = case.status = "failed"
            _fill(case, known)
            return
    elif result.ended_by == "time" and started is None:
        verdict.status = "timeout"
        verdict.message = "Loading your file doesn't come to an end."
    elif result.ended_by == "time":
        verdict.status = "timeout"
    case_tells = verdict.status == "timeout" and case is not None
    if result.ended_by in ENDED and not (verdict.message or case_tells):
        limits = job.limits
        verdict.message = ENDED[result.ended_by].format(
            memory=limits.memory_mb, processes=limits.processes, seconds=limits.seconds
        )
    elif not result.ended_by:
        verdict.message = (
            "The process ended before the tests did. os._exit(), a signal or a crash in C code "
            "does that; the run doesn't count."
        )
    place = (stuck or {}).get("place") or place_in_dump(result.dump, str(job.submission), lines)
    if case is not None:
        if case.status == "not_run":
            case.status, case.message = "error", verdict.message
        if stuck:
            case.input, case.stream = stuck["input"], stuck["stream"]
        case.place = _place(place)
    else:
        verdict.place = _place(place)


def _running_case(verdict: Verdict, started: dict[str, Any] | None) -> Case | None:
    if started is None:
        return None
    for case in verdict.cases:
        if case.name == started["case"] and case.status == "not_run":
            return case
    return None
