"""The verdict for other programs: JUnit XML, and Gradescope's `results.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from .verdict import Case, Verdict

POINTS = 100.0


def to_junit(verdicts: Sequence[Verdict]) -> str:
    """JUnit XML, one suite an exercise, as CI systems read it."""
    root = ET.Element("testsuites")
    for verdict in verdicts:
        cases = verdict.cases or [Case("submission", "error", message=verdict.message)]
        failures = sum(case.status == "failed" for case in cases)
        skipped = sum(case.status == "not_run" for case in cases)
        errors = sum(case.status in ("error", "timeout") for case in cases)
        suite = ET.SubElement(
            root,
            "testsuite",
            name=verdict.exercise,
            tests=str(len(cases)),
            failures=str(failures),
            errors=str(errors),
            skipped=str(skipped),
            time=f"{verdict.seconds:.3f}",
        )
        for case in cases:
            _junit_case(suite, verdict, case)
        if verdict.message:
            ET.SubElement(suite, "system-err").text = _xml_text(verdict.message)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _junit_case(suite: ET.Element, verdict: Verdict, case: Case) -> None:
    element = ET.SubElement(
        suite,
        "testcase",
        classname=verdict.exercise,
        name=case.name,
        time=f"{case.seconds:.3f}",
    )
    tags = {"failed": "failure", "error": "error", "timeout": "error", "not_run": "skipped"}
    tag = tags.get(case.status)
    if tag:
        told = ET.SubElement(element, tag, message=_xml_text(summary(case)))
        told.text = _xml_text(details(case))


def to_gradescope(verdicts: Sequence[Verdict]) -> str:
    """Gradescope's `results.json`: each exercise 100 points, spread over its tests."""
    tests = []
    for verdict in verdicts:
        cases = verdict.cases or [Case("submission", "error", message=verdict.message)]
        counts = verdict.status in ("passed", "failed", "timeout")
        for case in cases:
            worth = POINTS / len(cases)
            right = counts and case.status == "passed"
            tests.append(
                {
                    "name": f"{verdict.exercise}: {case.property or case.name}",
                    "number": verdict.exercise,
                    "score": round(worth if right else 0.0, 4),
                    "max_score": round(worth, 4),
                    "status": "passed" if right else "failed",
                    "output": "" if right else details(case) or verdict.message,
                    "visibility": "visible" if case.example else "after_published",
                }
            )
    whole = {
        "execution_time": round(sum(verdict.seconds for verdict in verdicts), 3),
        "output": "\n".join(verdict.message for verdict in verdicts if verdict.message),
        "tests": tests,
    }
    return json.dumps(whole, ensure_ascii=False, indent=2) + "\n"


def summary(case: Case) -> str:
    """A case in one line."""
    if case.message:
        return case.message.splitlines()[0]
    return f"expected {case.expected}, got {case.got}" if case.expected is not None else case.status


def details(case: Case) -> str:
    """A case in a few lines."""
    lines = [f"asked for: {case.property}"] if case.property else []
    lines += [f"input: {name} = {value}" for name, value in case.input.items()]
    if case.message:
        lines.append(case.message)
    if case.expected is not None:
        lines += [f"expected: {case.expected}", f"got: {case.got}"]
    if case.place:
        lines.append(f"your line {case.place.line}: {case.place.text}")
    return "\n".join(lines)


def _xml_text(text: str) -> str:
    """Text that XML 1.0 can hold."""
    return "".join(char if char in "\t\n" or char.isprintable() else "?" for char in text)
