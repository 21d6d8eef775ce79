"""The result of a check as JUnit XML, which GitHub, GitLab and Jenkins read."""

import re
import xml.etree.ElementTree as ET

from app.services.checking.views import CheckReport, CheckResult
from core.text import unturned

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Signs that no XML document may hold, not even escaped."""
_CLASSES = {"pin": "pins", "floor": "floors", "champion": "champion", "limit": "limits"}


def junit_xml(report: CheckReport) -> bytes:
    """Write one test case for each check and each pin; UTF-8."""
    counts = {
        "tests": str(len(report.checks)),
        "failures": str(len(report.of("failed"))),
        "errors": "0",
        "skipped": str(len(report.of("skipped"))),
        "time": str(report.seconds),
    }
    root = ET.Element("testsuites", {"name": "checks of a model", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": _sound(report.model), **counts})
    for one in report.checks:
        _add_case(suite, one)
    ET.SubElement(suite, "system-out").text = _sound("\n".join(_said(report)))
    content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _said(report: CheckReport) -> list[str]:
    return [report.verdict, f"Judged on: {report.judged_on}.", *report.notes]


def _add_case(suite: ET.Element, one: CheckResult) -> None:
    names = {"classname": _CLASSES[one.kind], "name": _sound(one.name), "time": "0"}
    case = ET.SubElement(suite, "testcase", names)
    details = [one.found, *([one.why] if one.why else []), *(e.words for e in one.examples)]
    said = _sound("\n".join(details))
    if one.state == "failed":
        failure = ET.SubElement(case, "failure", {"message": _sound(one.found), "type": one.kind})
        failure.text = said
    elif one.state == "skipped":
        ET.SubElement(case, "skipped", {"message": _sound(one.found)})
    else:
        ET.SubElement(case, "system-out").text = said


def _sound(words: str) -> str:
    return _NO_XML.sub("\ufffd", unturned(words))
