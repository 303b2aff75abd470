"""The results of a class: CSV, JSON and an HTML page."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from .exercises import Exercise
from .exports import summary
from .paths import write_atomically
from .story import MARKS

if TYPE_CHECKING:
    from .grading import Graded

COLUMNS = (
    "learner",
    "exercise",
    "status",
    "passed",
    "tests",
    "seconds",
    "file",
    "diagnosis",
    "why",
)
STYLE = """
:root { color-scheme: light dark; font-family: system-ui, sans-serif }
body { margin: 2rem auto; max-width: 80rem; padding: 0 1rem }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: center }
th[scope=row], td.text { text-align: left; font-weight: normal }
td { white-space: nowrap } td.text { white-space: normal }
.passed { background: #2e9e5b33 } .failed { background: #d6454533 }
.error { background: #d6454566 } .timeout { background: #c98a0055 }
"""


def write_reports(out: Path, results: Sequence[Graded], exercises: Sequence[Exercise]) -> None:
    """Writes `results.csv`, `results.json` and `results.html` into `out`."""
    write_atomically(out / "results.csv", to_csv(results))
    whole = json.dumps(msgspec.to_builtins(list(results)), ensure_ascii=False, indent=1)
    write_atomically(out / "results.json", whole + "\n")
    write_atomically(out / "results.html", to_page(results, exercises))


def to_csv(results: Sequence[Graded]) -> str:
    """One line a submission."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for graded in results:
        verdict = graded.verdict
        writer.writerow(
            [
                _safe(graded.learner),
                graded.exercise,
                verdict.status,
                verdict.count("passed"),
                len(verdict.cases),
                f"{verdict.seconds:.3f}",
                _safe(verdict.file),
                verdict.diagnosis,
                _safe(_why(graded)),
            ]
        )
    return text.getvalue()


def to_page(results: Sequence[Graded], exercises: Sequence[Exercise]) -> str:
    """A page with the table learner × exercise, and the tests that most fail."""
    used = {graded.exercise for graded in results}
    columns = [exercise for exercise in exercises if exercise.id in used]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Results</title><style>{STYLE}</style></head><body><h1>Results</h1>\n"
        f"{_matrix(results, columns)}\n<h2>Tests that most fail</h2>\n{_failing(results)}\n"
        f"<h2>Mistakes that were seen</h2>\n{_diagnoses(results)}\n</body></html>\n"
    )


def _matrix(results: Sequence[Graded], columns: Sequence[Exercise]) -> str:
    cells = {(graded.learner, graded.exercise): graded for graded in results}
    heads = "".join(f'<th scope="col">{escape(e.id)}</th>' for e in columns)
    rows = []
    for learner in dict.fromkeys(graded.learner for graded in results):
        mine = [graded for graded in results if graded.learner == learner]
        passed = sum(graded.verdict.passed for graded in mine)
        seconds = sum(graded.verdict.seconds for graded in mine)
        inside = "".join(_cell(cells.get((learner, exercise.id))) for exercise in columns)
        rows.append(
            f'<tr><th scope="row">{escape(learner)}</th>{inside}'
            f"<td>{passed}</td><td>{seconds:.1f} s</td></tr>"
        )
    head = f'<tr><th scope="col">learner</th>{heads}<th>passed</th><th>time</th></tr>'
    return f"<table>{head}{''.join(rows)}</table>"


def _cell(graded: Graded | None) -> str:
    if graded is None:
        return "<td>–</td>"
    verdict = graded.verdict
    score = f"{verdict.count('passed')}/{len(verdict.cases)}"
    return (
        f'<td class="{verdict.status}" title="{escape(_why(graded) or verdict.status)}">'
        f"{MARKS[verdict.status]} {score if not verdict.passed else ''}</td>"
    )


def _failing(results: Sequence[Graded]) -> str:
    counts: Counter[tuple[str, str, str]] = Counter()
    for graded in results:
        failed = {
            (graded.exercise, case.name.partition("[")[0], case.property)
            for case in graded.verdict.cases
            if case.status in ("failed", "timeout", "error")
        }
        counts.update(failed)
    rows = [
        f'<tr><td>{count}</td><td class="text">{escape(exercise)}</td>'
        f'<td class="text">{escape(name)}</td><td class="text">{escape(words)}</td></tr>'
        for (exercise, name, words), count in counts.most_common(15)
    ]
    return f"<table>{''.join(rows)}</table>" if rows else "<p>None.</p>"


def _diagnoses(results: Sequence[Graded]) -> str:
    counts = Counter(
        (graded.exercise, graded.verdict.diagnosis)
        for graded in results
        if graded.verdict.diagnosis
    )
    rows = [
        f'<tr><td>{count}</td><td class="text">{escape(exercise)}</td>'
        f'<td class="text">{escape(words)}</td></tr>'
        for (exercise, words), count in counts.most_common()
    ]
    return f"<table>{''.join(rows)}</table>" if rows else "<p>None.</p>"


def _why(graded: Graded) -> str:
    case = graded.verdict.first_failure
    if graded.verdict.message or case is None:
        return graded.verdict.message
    return f"{case.name}: {summary(case)}"


def _safe(text: str) -> str:
    """A cell that a spreadsheet doesn't take for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text
